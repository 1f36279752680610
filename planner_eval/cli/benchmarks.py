"""A published benchmark in commands: its options, and planeval score --benchmark."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import formats_of
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import MARKDOWN, TEXT
from planner_eval.base.text import format_count
from planner_eval.cli.options import (
    Scope,
    bundle_options,
    format_condition,
    note,
    option,
    refuse_idle,
    split_setting,
)
from planner_eval.cli.output import Output, Threshold, emit, picture_format, picture_option, say_missed
from planner_eval.cli.terminal import Target
from planner_eval.cli.workers import PART_OPTIONS, Work

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from planner_eval.benchmarks.benchmark import Benchmark
    from planner_eval.benchmarks.judging import Judge
    from planner_eval.benchmarks.report import SampleScore
    from planner_eval.benchmarks.score import Scored
    from planner_eval.cli.pairs import Systems
    from planner_eval.results.drawing.charts import Chart
    from planner_eval.results.page.report import PageSettings
    from planner_eval.results.views.junit import Case


# ----------------------------------------------------------------------
# The options of a published benchmark: its variants, settings, judge and runner.
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
    of = f"{judge.failed:,} of {format_count(judge.asked, 'question')}"
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


# ----------------------------------------------------------------------
# The options of charts that stand beside those of the papers, and writing one.
class ChartOptions(NamedTuple):
    """What chart is wanted.

    Args:
        plot: The file to draw it into; None for no chart.
        figure: Which; the benchmark's first when None.
        columns: Over how many columns of a paper, as text.
    """

    plot: str | None
    figure: str | None
    columns: str | None

    @property
    def applies(self) -> Scope:
        """Its options help the one that names the file."""
        return ("figure columns", self.plot is not None, "with --plot FILE")

    def write(self, make: Callable[[], Chart]) -> Callable[[], None]:
        """Make the chart, and say how it is written: what cannot be drawn is told before anything is."""
        if self.plot is None:
            return lambda: None
        file, chart = self.plot, make()
        columns = None if self.columns is None else int(self.columns)
        drawn = chart.image(picture_format(file, "plot"), columns=columns)

        def written() -> None:
            emit(drawn, file)
            note(f"{file}: {'; '.join([chart.name, *chart.notes])}")

        return written


chart_options = bundle_options(
    "charted",
    ChartOptions,
    ChartOptions._fields,
    picture_option("--plot", "plot", "Draw the benchmark's plots as in its paper (.svg, .png, .pdf)."),
    option("--figure NAME", "With --plot: which one, e.g. nestful-6 (default: the benchmark's first)."),
    option("--columns [1|2]", "With --plot: width in columns of a paper (default: 1 for one panel, else 2)."),
)
"""Add ``--plot``, ``--figure`` and ``--columns``; the command takes ``charted``, a `ChartOptions`."""


# ----------------------------------------------------------------------
# planeval score --benchmark: figures as a published benchmark makes them.
WORK_OPTION_NAMES = (*PART_OPTIONS, "quiet")
"""Options of work that may be done in parts."""

_LARGE_BYTES = 64_000_000
"""Parts cost half as much again as one process, whose memory is that of gold and of this many bytes."""


def score_benchmark(
    systems: Systems, published: BenchmarkOptions, output: Output, work: Work, charted: ChartOptions
) -> int:
    """Score a file of answers under a benchmark; the exit code.

    Args:
        systems: The file of answers, or the run that asked a model for them; and the benchmark's data.
        published: What the user asks of the benchmark.
        output: What is written, and where.
        work: How the work is done in parts.
        charted: Which chart is wanted.
    """
    from planner_eval.benchmarks.benchmark import benchmark

    pred, gold = systems.paths[0], systems.gold or ""
    delay_garbage_collection()
    bench = benchmark(published.benchmark or "")
    refuse_tsv(output, bench)
    refuse_idle_options(bench, published)
    result_file = output.shows("result_file")
    more_tables = describe_benchmarks("with more tables", lambda b: b.details is not None)
    refuse_idle(
        ("details", bench.details is not None, more_tables),
        ("details", *format_condition(output.form, "document")),
        ("fail_under only", not result_file, "to other formats: --format tsv has no scores"),
        (
            "official",
            not result_file or published.official is not False,
            "to other formats: --format tsv is as the published code writes it",
        ),
        ("only", not output.shows("data"), "to other formats: --format json has every record"),
    )
    with open_rules(bench, published) as rules:
        if result_file:
            rules = rules._replace(variants=())
        settings = rules.settings
        needs_all_answers = (
            published.details or published.judge or published.tools or charted.plot or systems.predicted
        )
        undivided = needs_all_answers or output.shows("page", "result_file")
        divisible = not undivided and bench.scorers(rules.variants, settings) is not None
        condition = (
            f"where answers are scored one by one, and {bench.title} scores all together"
            if bench.scorers(rules.variants, {}) is None
            else f"where {bench.title} scores answers one by one: not with --judge, --tools, --details, "
            "--format tsv or --plot, not for a part of a predict run, and not if a score needs several "
            "answers"
        )
        refuse_idle((PART_OPTIONS, divisible, condition))
        if not divisible and output.folder:
            raise click.UsageError(f"-o DIR/ applies only {condition}")

        def score(
            ids: Collection[str] | None = systems.ids, repetition: int | None = None, **how: Any
        ) -> Scored:
            return pe.score_benchmark(
                pred,
                gold,
                bench.name,
                reading=systems.how,
                ids=ids,
                repetition=repetition,
                rules=rules,
                **how,
            )

        large = os.path.isfile(pred) and os.path.getsize(pred) >= _LARGE_BYTES
        if divisible and (work.wanted or output.folder or large):
            scored = score(running=work.running(output.folder), progress=work.progress("answers"))
        elif systems.predicted and not bench.several(settings):
            from planner_eval.models.predict.trials import score_repetitions

            scored = score_repetitions(systems.predicted[0], lambda number: score(repetition=number))
        else:
            scored = score()
        draw = charted.write(lambda: pe.chart({_system_name(pred): scored}, charted.figure, rules=rules))
        more, style = "", TEXT if output.shows("plain") else MARKDOWN
        if published.details:
            from planner_eval.benchmarks.compare import details

            tables = details(scored, run=rules.run)
            more = "".join(f"\n\n{title}\n\n{style.table(rows)}" for title, rows in tables)
        if output.doubts is not None:
            from planner_eval.benchmarks.doubts import format_without_doubts

            if output.shows("data"):
                raise InputError(
                    "--gold-doubts with --benchmark: --format text or md shows the scores without them"
                )
            more += format_without_doubts(scored, output.doubts, score, style)
        if output.folder:
            output = output._replace(file=None)
        code = write_scores(scored, pred, output, more, run=rules.run)
        draw()
    return max(code, say_judge_failures(rules.judge, scored.prompts))


def write_stored_run(path: str, output: Output, charted: ChartOptions) -> int:
    """Tell again what a run keeps that was scored under a benchmark: the command's exit code."""
    from planner_eval.benchmarks.runs import read_stored_benchmark, score_run_again
    from planner_eval.results.runs.stored import read_stored_run

    refuse_idle(("only", not output.shows("data"), "to other formats: --format json has every record"))
    if output.shows("result_file"):
        raise click.UsageError("--format tsv applies only to answers, which a run does not keep")
    run = read_stored_run(path, "score")
    # A page has records, of which a run keeps the verdicts alone.
    scored, pred = score_run_again(run) if output.shows("page") else read_stored_benchmark(run)
    draw = charted.write(lambda: pe.chart({_system_name(path): scored}, charted.figure))
    code = write_scores(scored, pred, output)
    draw()
    return code


def _system_name(pred: str) -> str:
    """What a chart calls the system that wrote a file of answers."""
    name = os.path.basename(os.path.normpath(pred))
    return "answers" if pred == "-" else name.partition(".")[0] or name


def write_benchmark_page(systems: Systems, shown: PageSettings, output: str | None) -> int:
    """Score the results of a benchmark's own runner, or the answers of a run again, and write their page.

    Args:
        systems: The file or folder of results, or the run's folder.
        shown: What the page shows.
        output: Where it goes; None for standard output.

    Returns:
        The exit code.
    """
    from planner_eval.benchmarks.runs import score_run_again
    from planner_eval.results.runs.stored import read_stored_run

    delay_garbage_collection()
    pred, name = systems.paths[0], systems.benchmark
    if name is not None:
        scored = pe.score_benchmark(pred, f"dataset:{name}", name, reading=systems.how)
    else:
        scored, pred = score_run_again(read_stored_run(pred, "score"))
    write_scores(scored, pred, Output(formats_of("page")[0], output), shown=shown)
    return 0


def _say_matching(scored: Scored) -> None:
    """Say what is to be known of the answers: where they come from, and which do not count."""
    matched = scored.matched
    note(*scored.notes, f"answers: {scored.read}; matched by {matched.by}")
    for what, ids in (("read", matched.broken), ("judged here", unjudged_records(scored))):
        if ids:
            counts = "counts" if len(ids) == 1 else "count"
            answers = format_count(len(ids), "answer")
            note(f"{answers} cannot be {what} and {counts} as wrong: {ids[0]}" + ", …" * (len(ids) > 1))


def write_scores(
    scored: Scored,
    pred: str,
    output: Output,
    more: str = "",
    *,
    run: Any = None,
    shown: PageSettings | None = None,
) -> int:
    """Write what a benchmark said, and say what else is to be known: the command's exit code.

    Args:
        scored: What it said.
        pred: The file of answers.
        output: What is written, and where.
        more: What follows it.
        run: Runs answers, where they were scored with them run.
        shown: What a page shows, where the user says more of it than the output.
    """
    from planner_eval.benchmarks.score import score_view
    from planner_eval.results.runs.model import open_run

    failures, matched = output.failures, scored.matched
    limits = [_check_threshold(scored, limit, pred) for limit in output.limits]

    def cases() -> list[Case]:
        return _cases(scored, pred, limits, failures)

    view = score_view(scored, rows=failures, failures=failures, cases=lambda: (cases(), None))
    if (document := view.document) is not None:
        view = view._replace(document=lambda style: [*document(style), more])
    if output.shows("page"):
        from planner_eval.benchmarks.page import benchmark_page
        from planner_eval.results.page.report import PageSettings

        shown = shown or PageSettings(failures=failures)
        page = benchmark_page(scored, pred.rstrip("/" + os.sep) or pred, shown, run=run)
        output.emit(page.pieces, plain=True)
        note(*page.notes)
    else:
        headline = f"{scored.benchmark.name}: {format_count(matched.answers, 'answer')}"
        output.emit_result(view, cases, headline, limited=bool(limits))
    _say_matching(scored)
    folder, name = os.path.split(pred)
    if scored.spent is None and name == "rows.jsonl" and open_run(folder).kind == "predict":
        note(f"costs and trials are known to the run alone: score {folder} for them")
    missed = say_missed(limits)
    wrong = (matched.unknown, matched.repeated, matched.broken, scored.lost, unjudged_records(scored))
    return int(missed or any(map(bool, wrong)))


_NOT_JUDGED = "not_judged:"
"""How the error of a record begins on which there is no verdict here, though there is one elsewhere."""


def unjudged_records(scored: Scored) -> list[str]:
    """The records without a verdict, each with the reason: figures would be others where they have one."""
    rows = next(iter(scored.reports.values())).rows if scored.reports else ()
    return [f"{row.id}: {row.error}" for row in rows if row.error and row.error.startswith(_NOT_JUDGED)]


def _cases(scored: Scored, pred: str, limits: list[Case], failures: bool) -> list[Case]:
    """A test case a threshold and a record: whether it counts as solved under the last variant."""
    from planner_eval.results.views.junit import Case, outcome

    variant, report = list(scored.reports.items())[-1]
    file = "standard input" if pred == "-" else pred
    group = f"{scored.benchmark.name}.{variant}"
    state = outcome("different", limited=bool(limits))
    missing = set(scored.matched.missing)
    cases = list(limits)
    for row in report.rows:
        if row.ok:
            cases += [] if failures else [Case(row.id, "passed", file=file, group=group)]
            continue
        message = "there is no answer" if row.id in missing else _unsolved_reason(row)
        code = "absent" if row.id in missing else (row.error or "wrong").split(":")[0]
        cases.append(Case(row.id, state, code, message, row.error or "", file, group=group))
    for what, ids, reason in (
        ("unknown", scored.matched.unknown, "no sample belongs to this answer"),
        ("repeated", scored.matched.repeated, "another answer to this sample came first"),
    ):
        message = f"{reason}; it does not count"
        cases += [Case(name, "error", what, message, "", file, group=group) for name in ids]
    return cases


def _unsolved_reason(row: SampleScore) -> str:
    """Why a record does not count as solved: the error, or its figures."""
    if row.error:
        return row.error.split("\n")[0]
    from planner_eval.benchmarks.score import format_counts

    figures = []
    for figure in row.figures:
        if (value := figure.value) is not None:
            number = f"{value:g}" if isinstance(value, (int, float)) else value
            figures.append(f"{figure.name} {format_counts(figure) or number}")
    return "not solved" + (f": {', '.join(figures)}" if figures else "")


def _check_threshold(scored: Scored, limit: Threshold, pred: str) -> Case:
    """A threshold beside its figure: of the column that it names, else of the last, the corrected one."""
    from planner_eval.benchmarks.benchmark import VARIANTS

    column, _, name = limit.name.partition(".")
    named = column in VARIANTS and bool(name)
    if named and column not in scored.reports:
        raise InputError(f"--fail-under {limit.name}: there are no {column} scores here")
    variant = column if named else list(scored.reports)[-1]
    name = name if named else limit.name
    report = scored.reports[variant]
    of_trials = scored.trials[variant].figures() if variant in scored.trials else {}
    if name in of_trials:
        return limit._replace(name=name).check(of_trials[name], pred, of=variant)
    try:
        value = report.value(name)
    except KeyError:
        names = ", ".join([*(figure.name for figure in report.figures), *of_trials])
        raise InputError(f"{scored.benchmark.title} has no metric {name!r}; it has {names}") from None
    if not named:
        _say_column(scored, name, variant)
    lower = scored.benchmark.less_is_better(name)
    return limit._replace(name=name).check(value, pred, lower=lower, of=variant)


def _say_column(scored: Scored, name: str, variant: str) -> None:
    """Say which column a threshold is held against, where there is another that differs."""
    from planner_eval.benchmarks.score import is_same_figure

    for other, report in scored.reports.items():
        figures = {figure.name: figure for figure in report.figures}
        if other == variant or name not in figures:
            continue
        if not is_same_figure(figures[name], scored.reports[variant].figure(name)):
            note(f"--fail-under {name} applies to the {variant} score; {other}.{name} names the other")
