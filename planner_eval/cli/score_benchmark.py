"""planeval score --benchmark: figures as a published benchmark makes them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import shows
from planner_eval.base.tables import MARKDOWN, TEXT
from planner_eval.base.text import format_count
from planner_eval.cli.benchmark_options import (
    BenchmarkOptions,
    delay_garbage_collection,
    describe_benchmarks,
    open_rules,
    refuse_idle_options,
    refuse_tsv,
    say_judge_failures,
)
from planner_eval.cli.drawing import ChartOptions, is_folder
from planner_eval.cli.options import Threshold, emit, format_condition, note, refuse_idle
from planner_eval.cli.outcome import CheckedLimit, Writing, check_limit, emit_cases, say_missed
from planner_eval.cli.workers import WorkOptions

if TYPE_CHECKING:
    from planner_eval.benchmarks.benchmark import Benchmark
    from planner_eval.benchmarks.report import SampleScore
    from planner_eval.benchmarks.score import Scored
    from planner_eval.models.predict.folder import PredictedRun
    from planner_eval.results.page.report import PageSettings
    from planner_eval.results.views.junit import Case


WORK_OPTION_NAMES = ("jobs", "record_deadline", "part", "engine", "address", "quiet")
"""Options of work that is done in parts."""


def score_benchmark(
    pred: str,
    gold: str,
    how: pe.Reading,
    published: BenchmarkOptions,
    writing: Writing,
    running: WorkOptions,
    charted: ChartOptions,
    *,
    ids: Collection[str] | None = None,
    predicted: PredictedRun | None = None,
) -> int:
    """Score a file of answers under a benchmark; the exit code.

    Args:
        pred: The file of answers.
        gold: The benchmark's data.
        how: How the answers are read and matched.
        published: What the user asks of the benchmark.
        writing: What is written, and where.
        running: How the work is done in parts.
        charted: Which chart is wanted.
        ids: The samples that were asked, where that is not all of them.
        predicted: The run that asked a model, whose answers they are.
    """
    from planner_eval.benchmarks.benchmark import benchmark

    form, output, _, _, doubts = writing
    delay_garbage_collection()
    bench = benchmark(published.benchmark or "")
    refuse_tsv(form, bench)
    _refuse_idle(bench, form, published)
    folder = output if is_folder(output) else None
    with open_rules(bench, published) as rules:
        if shows(form, "result_file"):
            rules = rules._replace(variants=())
        unplotted = charted.plot is None
        separate = not shows(form, "page") and _can_score_separately(bench, published, form, rules)
        divisible = unplotted and separate and ids is None
        _refuse_parts(bench, divisible=divisible)
        if divisible and (running.wanted or folder is not None or _is_large(pred)):
            scored = pe.score_benchmark(
                pred, gold, bench.name, reading=how, rules=rules,
                running=running.running(folder), progress=running.progress("answers"),
            )  # fmt: skip
        elif predicted is not None and not bench.several(rules.settings):
            from planner_eval.models.predict.trials import score_repetitions

            def score(repetition: int | None) -> Scored:
                return pe.score_benchmark(
                    pred, gold, bench.name, reading=how, ids=ids, repetition=repetition, rules=rules
                )

            scored = score_repetitions(predicted, score)
        else:
            scored = pe.score_benchmark(pred, gold, bench.name, reading=how, ids=ids, rules=rules)
        draw = charted.write(lambda: pe.chart({_system_name(pred): scored}, charted.figure, rules=rules))
        more = _details(scored, form, rules.run) if published.details else ""
        if doubts is not None:
            from planner_eval.benchmarks.doubts import format_without_doubts

            if shows(form, "data"):
                raise InputError(
                    "--gold-doubts with --benchmark: --format text or md shows the scores without them"
                )
            more += format_without_doubts(
                scored, doubts, lambda names: pe.score_benchmark(
                    pred, gold, bench.name, reading=how, ids=names, rules=rules), form
            )  # fmt: skip
        writing = writing._replace(output=None if folder else output)
        code = write_scores(scored, pred, writing, more, run=rules.run)
        draw()
    return max(code, say_judge_failures(rules.judge, scored.prompts))


def write_page_of_results(
    pred: str, benchmark: str, how: pe.Reading, shown: PageSettings, output: str | None
) -> int:
    """Score the results of a benchmark's own runner, and write their page: the exit code.

    Args:
        pred: The file or folder of results.
        benchmark: Whose they are.
        how: How they are read and matched.
        shown: What the page shows.
        output: Where it goes; None for standard output.
    """
    delay_garbage_collection()
    scored = pe.score_benchmark(pred, f"dataset:{benchmark}", benchmark, reading=how)
    _emit_page(scored, pred, shown, output)
    _say_matching(scored)
    return 0


def write_page_of_run(path: str, shown: PageSettings, output: str | None) -> int:
    """Score the answers of a run again, and write their page: the exit code.

    Args:
        path: The run's folder.
        shown: What the page shows.
        output: Where it goes; None for standard output.
    """
    from planner_eval.benchmarks.runs import score_run_again

    delay_garbage_collection()
    scored, pred = score_run_again(path)
    _emit_page(scored, pred, shown, output)
    _say_matching(scored)
    return 0


def _emit_page(scored: Scored, pred: str, shown: PageSettings, output: str | None, run: Any = None) -> None:
    """Write the page of answers that were scored, and say what it leaves out."""
    from planner_eval.benchmarks.page import benchmark_page

    page = benchmark_page(scored, pred.rstrip("/" + os.sep) or pred, shown, run=run)
    emit(page.pieces, output, plain=True)
    for message in page.notes:
        note(message)


def _say_matching(scored: Scored) -> None:
    """Say what is to be known of the answers: where they come from, and which do not count."""
    for message in scored.notes:
        note(message)
    note(f"answers: {scored.read}; matched by {scored.matched.by}")
    matched = scored.matched
    for what, ids in (
        ("cannot be read and counts as wrong", matched.broken),
        ("cannot be judged here and counts as wrong", unjudged_records(scored)),
    ):
        if ids:
            verb = what if len(ids) == 1 else what.replace("counts", "count")
            note(f"{format_count(len(ids), 'answer')} {verb}: {ids[0]}" + ", …" * (len(ids) > 1))


def write_scores(scored: Scored, pred: str, writing: Writing, more: str = "", *, run: Any = None) -> int:
    """Write what a benchmark said, and say what else is to be known: the command's exit code.

    Args:
        scored: What it said.
        pred: The file of answers.
        writing: What is written, and where.
        more: What follows it.
        run: Runs answers, where they were scored with them run.
    """
    form, output, limits, failures, _ = writing
    checked = [_check_threshold(scored, limit) for limit in limits]
    cases = [c.case(file=pred) for c in checked]
    if shows(form, "page"):
        from planner_eval.results.page.report import PageSettings

        _emit_page(scored, pred, PageSettings(failures=failures), output, run)
    elif shows(form, "annotations"):
        message = f"{scored.benchmark.name}: {format_count(scored.matched.answers, 'answer')}"
        test_cases = _cases(scored, pred, cases, failures)
        tables = _pieces(scored, pred, MARKDOWN.form, cases, failures)
        emit_cases(test_cases, output, message, "planeval score", tables, limited=bool(cases))
    else:
        emit([*_pieces(scored, pred, form, cases, failures), more], output)
    _say_matching(scored)
    missed = say_missed(checked)
    matched = scored.matched
    wrong = (missed, matched.unknown, matched.repeated, matched.broken, scored.lost, unjudged_records(scored))
    return int(any(map(bool, wrong)))


_NOT_JUDGED = "not_judged:"
"""How the error of a record begins on which there is no verdict here, though there is one elsewhere."""


def unjudged_records(scored: Scored) -> list[str]:
    """The records without a verdict, each with the reason: figures would be others where they have one."""
    rows = next(iter(scored.reports.values())).rows if scored.reports else ()
    return [f"{row.id}: {row.error}" for row in rows if row.error and row.error.startswith(_NOT_JUDGED)]


def _system_name(pred: str) -> str:
    """What a chart calls the system that wrote a file of answers."""
    name = os.path.basename(os.path.normpath(pred))
    return "answers" if pred == "-" else name.partition(".")[0] or name


def write_stored_run(path: str, writing: Writing, charted: ChartOptions) -> int:
    """Tell again what a run keeps that was scored under a benchmark: the command's exit code."""
    form = writing.form
    from planner_eval.benchmarks.runs import read_stored_benchmark, score_run_again

    refuse_idle(("only", not shows(form, "data"), "to other formats: --format json has every record"))
    if shows(form, "result_file"):
        raise click.UsageError("--format tsv applies only to answers, which a run does not keep")
    scored, pred = read_stored_benchmark(path)
    if shows(form, "page"):  # which has records, of which a run keeps the verdicts alone
        scored = score_run_again(path).scored
    draw = charted.write(lambda: pe.chart({_system_name(path): scored}, charted.figure))
    code = write_scores(scored, pred, writing)
    draw()
    return code


def _pieces(scored: Scored, pred: str, form: str, limits: list[Case], failures: bool) -> Iterator[str]:
    from planner_eval.benchmarks.score import write_score

    def cases() -> tuple[list[Case], None]:
        return _cases(scored, pred, limits, failures), None

    return write_score(scored, form, rows=failures, failures=failures, cases=cases)


def _can_score_separately(
    bench: Benchmark, published: BenchmarkOptions, form: str, rules: pe.BenchmarkRules
) -> bool:
    """Whether answers are scored one by one, and nothing is wanted that needs all of them together."""
    if (
        shows(form, "result_file")
        or published.details
        or published.judge is not None
        or published.tools is not None
    ):
        return False
    settings = rules.settings
    return all(bench.apart(name, bench.checked(name, settings)) is not None for name in rules.variants)


def _refuse_parts(bench: Benchmark, *, divisible: bool) -> None:
    """Refuse options of work in parts where it is not done in parts."""
    condition = (
        f"where {bench.title} scores answers one by one: not with --judge, --tools, --details, "
        "--format tsv or --plot, not for a part of a predict run, and not if a score needs several answers"
    )
    refuse_idle(("jobs record_deadline part engine address quiet", divisible, condition))
    if not divisible and is_folder(click.get_current_context().params.get("output")):
        raise click.UsageError(f"-o DIR/ applies only {condition}")


_LARGE_BYTES = 64_000_000
"""Parts cost half as much again as one process, whose memory is that of gold and of this many bytes."""


def _is_large(pred: str) -> bool:
    """Whether a file of answers is large enough for other processes."""
    return os.path.isfile(pred) and os.path.getsize(pred) >= _LARGE_BYTES


def _refuse_idle(bench: Benchmark, form: str, published: BenchmarkOptions) -> None:
    refuse_idle_options(bench, published)
    more = bench.details is not None
    refuse_idle(
        ("details", more, describe_benchmarks("with more tables", lambda b: b.details is not None)),
        ("details", *format_condition(form, "document")),
        (
            "fail_under only",
            not shows(form, "result_file"),
            "to other formats: --format tsv has no scores",
        ),
        (
            "official",
            not shows(form, "result_file") or published.official is not False,
            "to other formats: --format tsv is as the published code writes it",
        ),
        ("only", not shows(form, "data"), "to other formats: --format json has every record"),
    )


def _cases(scored: Scored, pred: str, limits: list[Case], failures: bool) -> list[Case]:
    """A test case a threshold and a record: whether it counts as solved under the last variant."""
    from planner_eval.results.views.junit import Case, outcome

    variant, report = list(scored.reports.items())[-1]
    file = "standard input" if pred == "-" else pred
    group = f"{scored.benchmark.name}.{variant}"
    missing = set(scored.matched.missing)
    cases = list(limits)
    for row in report.rows:
        if row.ok:
            cases += [] if failures else [Case(row.id, "passed", file=file, group=group)]
            continue
        state = outcome("different", limited=bool(limits))
        message = "there is no answer" if row.id in missing else _unsolved_reason(row)
        code = "absent" if row.id in missing else (row.error or "wrong").split(":")[0]
        cases.append(Case(row.id, state, code, message, row.error or "", file, group=group))
    for what, ids in (("unknown", scored.matched.unknown), ("repeated", scored.matched.repeated)):
        message = (
            "no sample belongs to this answer"
            if what == "unknown"
            else "another answer to this sample came first"
        )
        cases += [
            Case(name, "error", what, f"{message}; it does not count", "", file, group=group) for name in ids
        ]
    return cases


def _unsolved_reason(row: SampleScore) -> str:
    """Why a record does not count as solved: the error, or its figures."""
    if row.error:
        return row.error.split("\n")[0]
    figures = [
        f"{figure.name} {figure.numerator:g}/{figure.denominator:g}"
        if figure.numerator is not None and figure.denominator is not None
        else f"{figure.name} {figure.value:g}"
        if isinstance(figure.value, (int, float))
        else f"{figure.name} {figure.value}"
        for figure in row.figures
        if figure.value is not None
    ]
    return "not solved" + (f": {', '.join(figures)}" if figures else "")


def _details(scored: Scored, form: str, run: Any) -> str:
    from planner_eval.benchmarks.compare import details

    style = TEXT if shows(form, "plain") else MARKDOWN
    tables = ((title, style.table(rows)) for title, rows in details(scored, run=run))
    return "".join(f"\n\n{title}\n\n{text}" for title, text in tables)


def _check_threshold(scored: Scored, limit: Threshold) -> CheckedLimit:
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
        return check_limit(limit._replace(name=name), of_trials[name], lower=False, of=variant)
    try:
        value = report.value(name)
    except KeyError:
        names = ", ".join([*(figure.name for figure in report.figures), *of_trials])
        raise InputError(f"{scored.benchmark.title} has no metric {name!r}; it has {names}") from None
    if not named:
        _say_column(scored, name, variant)
    lower = scored.benchmark.less_is_better(name)
    return check_limit(limit._replace(name=name), value, lower=lower, of=variant)


def _say_column(scored: Scored, name: str, variant: str) -> None:
    """Say which column a threshold is held against, where there is another that differs."""
    from planner_eval.benchmarks.score import is_same_figure

    for other, report in scored.reports.items():
        figures = {figure.name: figure for figure in report.figures}
        if other == variant or name not in figures:
            continue
        if not is_same_figure(figures[name], scored.reports[variant].figure(name)):
            note(f"--fail-under {name} applies to the {variant} score; {other}.{name} names the other")
