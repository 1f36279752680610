"""The options of a published benchmark: its variants, settings, judge and runner."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.cli.options import Scope, bundle_options, note, option, refuse_idle, split_setting
from planner_eval.cli.output import Output
from planner_eval.cli.terminal import Target

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from planner_eval.benchmarks.benchmark import Benchmark
    from planner_eval.benchmarks.judging import Judge


OVERRIDDEN_READING = (
    "dialect", "turn", "wrappers", "repair", "compute", "gold_dialect", "gold_id_field", "gold_text_field",
    "policy",
)  # fmt: skip
"""Options on reading and comparing that a benchmark's own rules leave without effect."""

OVERRIDDEN_OPTIONS = (*OVERRIDDEN_READING, "infer", "metrics", "keys", "cluster", "every", "causes")
"""These, and those on figures."""


class BenchmarkOptions(NamedTuple):
    """How a published benchmark scores; every field but the first only matters with ``--benchmark``.

    Args:
        benchmark: Its name; None where the figures are our own.
        official: Only as the published code computes it, or only as the paper defines it; None for both.
        settings: Its own options, each as ``NAME=VALUE``.
        tools: What answers are run with.
        isolation: Where these tools run.
        judge: The model that judges.
        judge_url: Its server.
        judge_cache: The file that keeps every exchange with it.
        replay: Answer for the judge from that file alone.
        prompts: The folder of the prompts that it is asked with.
        details: Show the paper's further tables as well.
    """

    benchmark: str | None
    official: bool | None
    settings: tuple[str, ...]
    tools: str | None
    isolation: str | None
    judge: str | None
    judge_url: str | None
    judge_cache: str | None
    replay: bool
    prompts: str | None
    details: bool = False


benchmark_options = bundle_options(
    "published",
    BenchmarkOptions,
    [name for name in BenchmarkOptions._fields if name != "details"],
    option("--benchmark NAME", "Score as this published benchmark does; GOLD must be its data."),
    option(
        "--official/--corrected",
        "With --benchmark: only the scores of the published code, or only those "
        "as the paper defines them (default: both).",
        "official",
        default=None,
    ),
    option(
        "--set NAME=VALUE...",
        "With --benchmark: an option of the benchmark, e.g. task=routing.",
        "settings",
    ),
    option("--tools SPEC", "With --benchmark nestful: run answers with these tools, e.g. nestful."),
    option("--isolation LEVEL"),
    option("--judge MODEL", "With --benchmark: the model that judges."),
    option("--judge-url URL", "The judge's OpenAI-compatible server."),
    option(
        "--judge-cache FILE",
        "A file that stores every exchange with the judge.",
        type=Target(unless="replay"),
    ),
    option("--replay", "Use only stored answers of the judge (--run judge.cache=FILE)."),
    option(
        "--prompts DIR",
        "The folder of the judge's prompts (default: those beside the data, else the built-in ones).",
    ),
)
"""Add ``--benchmark`` and what only matters with it; the command takes ``published``."""


def benchmark_scopes(named: bool, keys: Sequence[str]) -> tuple[Scope, ...]:
    """When options have an effect that depend on whether a benchmark scores; `keys` break figures down."""
    return (
        (BenchmarkOptions._fields[1:], named, "with --benchmark NAME"),
        ("folder", not named, "without --benchmark, whose GOLD is the folder itself"),
        (
            "infer",
            named or not {"depth", "pattern"}.isdisjoint(keys),
            "with --by depth or --by pattern: no metric counts inferred edges",
        ),
    )


def delay_garbage_collection() -> None:
    """Have circles looked for rarely: samples stay as long as the command does, and hold none."""
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 20)


@contextmanager
def open_rules(bench: Benchmark, published: BenchmarkOptions) -> Iterator[pe.BenchmarkRules]:
    """What the library takes of the user's options: variants, judge, runner and the benchmark's own."""
    from planner_eval.benchmarks.benchmark import VARIANTS

    variants: Sequence[str] = VARIANTS
    if published.official is not None:
        variants = ("official",) if published.official else ("corrected",)
    settings = parse_settings(published.settings)
    bench.checked(variants[0], settings)
    for known in bench.options:
        if known.name in settings and set(known.variants).isdisjoint(variants):
            raise click.UsageError(f"--set {known.name} applies only with --{' or --'.join(known.variants)}")
    runner: AbstractContextManager[Any] = nullcontext()
    if published.tools is not None and bench.runner is not None:
        runner = bench.runner(published.tools, level=published.isolation)
    with runner as run:
        yield pe.BenchmarkRules(variants, _open_judge(published), published.prompts, run, settings)


def say_judge_failures(judge: Judge | None, prompts: str = "") -> int:
    """Say with which prompts a judge was asked and what it left without an answer; the exit code for that.

    A figure that lacks answers is not the figure that was asked for: 1; where there is none at all: 3.

    Args:
        judge: Who was asked; None for nobody.
        prompts: With which prompts, in words.
    """
    if judge is None:
        return 0
    from planner_eval.models.judges import CountedJudge

    assert isinstance(judge, CountedJudge)
    if prompts:
        note(f"judged with {prompts}")
    if not judge.failed:
        return 0
    of = f"{judge.failed:,} of {judge.asked:,} question{'s' * (judge.asked != 1)}"
    note(f"the judge did not answer {of}, so judged scores are incomplete: {judge.reason}")
    return 3 if judge.failed == judge.asked else 1


def refuse_tsv(output: Output, bench: Benchmark | None) -> None:
    """Refuse a benchmark's own result file where there is none.

    Args:
        output: What is written.
        bench: The benchmark; None without one.

    Raises:
        UsageError: names the benchmarks that have one.
    """
    if output.shows("result_file") and (bench is None or bench.result_file is None):
        condition = describe_benchmarks(
            "with a result file of their own", lambda b: b.result_file is not None
        )()
        raise click.UsageError(
            f"--format tsv applies only {condition}, with --benchmark; tables are --format csv"
        )


def refuse_idle_options(bench: Benchmark, published: BenchmarkOptions) -> None:
    """Refuse what this benchmark has no use for, and what helps an option that was not given."""
    judging = published.judge is not None
    refuse_idle(
        ("tools", bench.executed, describe_benchmarks("that run answers", lambda b: b.executed)),
        ("judge", bench.judged, describe_benchmarks("that ask a judge", lambda b: b.judged)),
        ("isolation", published.tools is not None, "with --tools SPEC"),
        ("judge_url judge_cache replay prompts", judging, "with --judge MODEL"),
        ("judge_url", not published.replay, "without --run replay=yes, which asks nobody"),
    )


def describe_benchmarks(what: str, which: Callable[[Benchmark], bool]) -> Callable[[], str]:
    """To which benchmarks an option applies; all are loaded for it, so it is asked for only to be said."""

    def format_condition() -> str:
        from planner_eval.benchmarks.benchmark import BENCHMARKS

        return f"to benchmarks {what} ({', '.join(n for n, b in BENCHMARKS.items() if which(b))})"

    return format_condition


def parse_settings(texts: Sequence[str]) -> dict[str, str]:
    """A benchmark's own options by name, as ``--set NAME=VALUE`` gives them.

    Raises:
        InputError: a text is no ``NAME=VALUE``.
    """
    return {name: value.strip() for name, value in map(split_setting, texts)}


def _open_judge(published: BenchmarkOptions) -> Judge | None:
    if published.judge is None:
        return None
    from pathlib import Path

    from planner_eval.models.judges import CountedJudge, open_judge

    cache = Path(published.judge_cache) if published.judge_cache else None
    return CountedJudge(
        open_judge(published.judge, base_url=published.judge_url, cache=cache, replay=published.replay)
    )
