"""planeval score --benchmark: figures as a published benchmark makes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.tables import table
from planner_eval.cli.options import Applies, emit, note, reading_of, refuse_idle, threshold

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from planner_eval.benchmarks.registry import Benchmark
    from planner_eval.benchmarks.score import Scored
    from planner_eval.llm import Judge


OPTIONS = (
    "official", "settings", "details", "tools", "isolation", "judge", "judge_url", "judge_cache", "replay",
)  # fmt: skip
"""Options that only matter with ``--benchmark``."""


def benchmark_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that only matter with ``--benchmark``."""
    for option in reversed(
        (
            click.option(
                "--benchmark", metavar="NAME", help="Score as a published benchmark does; GOLD is its data."
            ),
            click.option(
                "--official/--corrected",
                "official",
                default=None,
                help="With --benchmark: only as the published code computes it, or only as the paper "
                "defines it; both when left out.",
            ),
            click.option(
                "--set",
                "settings",
                multiple=True,
                metavar="NAME=VALUE",
                help="With --benchmark: one of its own options, e.g. task=routing.",
            ),
            click.option(
                "--details", is_flag=True, help="With --benchmark: the paper's further tables as well."
            ),
            click.option(
                "--tools", metavar="SPEC", help="With --benchmark nestful: run answers, e.g. nestful."
            ),
            click.option("--isolation", metavar="LEVEL", help="With --tools: strict, process or inline."),
            click.option("--judge", metavar="MODEL", help="With --benchmark: the model that judges."),
            click.option("--judge-url", metavar="URL", help="Its OpenAI-compatible server."),
            click.option("--judge-cache", metavar="FILE", help="Keeps every exchange with the judge."),
            click.option("--replay", is_flag=True, help="Answer for the judge from --judge-cache alone."),
        )
    ):
        command = option(command)
    return command


def score_benchmark(pred: str, gold: str, form: str, output: str | None, options: dict[str, Any]) -> int:
    """Score a file of answers under a benchmark; the exit code."""
    from planner_eval.benchmarks.registry import VARIANTS, benchmark

    bench = benchmark(options["benchmark"])
    _refuse_idle(bench, form, options)
    official = options["official"]
    variants = VARIANTS if official is None else ("official",) if official else ("corrected",)
    settings = _settings(options["settings"])
    for option in bench.options:
        if option.name in settings and not set(option.variants) & set(variants):
            raise click.UsageError(
                f"--set {option.name} applies only with --{' or --'.join(option.variants)}"
            )
    with _runner(bench, options) as run:
        scored = pe.score_benchmark(
            pred,
            gold,
            bench.name,
            variants=variants,
            reading=reading_of(options),
            judge=_judge(options),
            run=run,
            **settings,
        )
        below = [problem for text in options["fail_under"] if (problem := _below(scored, text))]
        emit(_written(scored, form, options, run), output)
    for said in scored.notes:
        note(said)
    note(f"answers: {scored.read}; matched by {scored.matched.by}")
    for problem in below:
        note(problem)
    left_over = scored.matched.unknown or scored.matched.repeated
    return int(bool(below) or bool(left_over))


def _refuse_idle(bench: Benchmark, form: str, options: dict[str, Any]) -> None:
    """Refuse what this benchmark has no use for, and what helps an option that was not given."""
    judging, more = options["judge"] is not None, bench.details is not None
    refuse_idle(
        [
            Applies(("tools",), bench.executed, _those("that run answers", lambda one: one.executed)),
            Applies(("judge",), bench.judged, _those("that ask a judge", lambda one: one.judged)),
            Applies(("isolation",), options["tools"] is not None, "with --tools SPEC"),
            Applies(("judge_url", "judge_cache", "replay"), judging, "with --judge MODEL"),
            Applies(("judge_url",), not options["replay"], "without --replay, which asks nobody"),
            Applies(("details",), more, _those("with more tables", lambda one: one.details is not None)),
            Applies(("details",), form in ("text", "md"), "to --format text and md"),
            Applies(("only",), form != "json", "to other formats: --format json has every record"),
        ]
    )


def _those(what: str, which: Callable[[Benchmark], bool]) -> Callable[[], str]:
    """To which benchmarks an option applies; all are loaded for it, so it is asked for only to be said."""

    def said() -> str:
        from planner_eval.benchmarks.registry import BENCHMARKS

        return f"to benchmarks {what} ({', '.join(n for n, one in BENCHMARKS.items() if which(one))})"

    return said


def _settings(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--set {text!r}: expected NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def _judge(options: dict[str, Any]) -> Judge | None:
    if options["judge"] is None:
        return None
    from pathlib import Path

    from planner_eval.llm import open_judge

    cache = options["judge_cache"]
    return open_judge(
        options["judge"],
        base_url=options["judge_url"],
        cache=Path(cache) if cache else None,
        replay=options["replay"],
    )


def _runner(bench: Benchmark, options: dict[str, Any]) -> AbstractContextManager[Any]:
    if options["tools"] is None or bench.runner is None:
        return nullcontext()
    return bench.runner(options["tools"], level=options["isolation"])


def _written(scored: Scored, form: str, options: dict[str, Any], run: Any) -> str:
    from planner_eval.benchmarks.score import shown

    if form == "junit":
        from planner_eval.scoring.row_formats import junit

        report = list(scored.reports.values())[-1]
        return junit(
            [
                (row.id, "same" if row.ok else "different", row.error or "wrong", row.error or "")
                for row in report.rows
                if not (options["only"] and row.ok)
            ],
            suite=scored.benchmark.name,
        )
    only = options["only"] is not None
    text = shown(scored, form="table" if form == "text" else form, rows=only, failures=only)
    if options["details"] and form in ("text", "md"):
        from planner_eval.benchmarks.details import details

        for title, rows in details(scored, run=run):
            text += f"\n\n{title}\n\n" + table(rows, "md" if form == "md" else "table")
    return text


def _below(scored: Scored, text: str) -> str | None:
    """What is below a threshold: the corrected figure where there is one, else the official one."""
    name, least = threshold(text)
    variant, report = list(scored.reports.items())[-1]
    try:
        value = report.value(name)
    except KeyError:
        known = ", ".join(figure.name for figure in report.figures)
        raise InputError(f"{scored.benchmark.title} has no figure {name!r}; it has {known}") from None
    if not isinstance(value, (int, float)):
        return f"{name} ({variant}) does not exist, expected at least {least:g}"
    return f"{name} ({variant}) is {value:.4f}, expected at least {least:g}" if value < least else None
