"""planeval score: figures over files of predictions and gold plans."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.text import format_count
from planner_eval.cli.benchmarks import (
    OVERRIDDEN_OPTIONS,
    WORK_OPTION_NAMES,
    BenchmarkOptions,
    ChartOptions,
    benchmark_options,
    benchmark_scopes,
    chart_options,
    refuse_tsv,
    score_benchmark,
    write_stored_run,
)
from planner_eval.cli.options import (
    as_command,
    format_condition,
    gold_doubts_option,
    missing_argument,
    note,
    option,
    refuse_idle,
)
from planner_eval.cli.output import RESULT_ASPECTS, Output, Threshold, output_options, say_missed
from planner_eval.cli.pairs import (
    READING_OPTIONS,
    Judging,
    Systems,
    judging_options,
    open_systems,
    say_unjudged,
    scored_pair_options,
    work_settings,
)
from planner_eval.cli.sources import original_names, refuse_runs, refuse_stdin_twice
from planner_eval.cli.workers import Work, stored_work_options

if TYPE_CHECKING:
    from planner_eval.results.report import Provenance, Report
    from planner_eval.results.views.junit import Case
    from planner_eval.results.views.report import FigureView


@as_command("score", pred="PRED|RUN", gold="GOLD|DATASET?")
@scored_pair_options
@judging_options(
    "Break scores down by calls, depth, pattern or scope (single or multiple apps and calls) of the gold "
    "plan, or by a field of the gold record.",
    metric="A metric or a group: plan, calls, arguments, references, order, structure, published (those "
    "of TaskBench and WorFBench) or all; repeatable (default: the main ones with --format text, else all "
    "but published).",
    causes="Show what each root cause costs, by code, tool, argument, call and step (generation), and which "
    "fixes would gain most.",
)
@option(
    "--fail-under METRIC=X...",
    "Exit with 1 if a score is below X (above X where lower is better), e.g. calls=0.9 or "
    "references.recall=0.8.",
)
@option("--all", "Show all metrics, including those undefined on these data.", "every")
@option("--only [failures]", "List the pairs that differ.")
@gold_doubts_option
@benchmark_options
@chart_options
@option("--details", "With --benchmark: show the paper's other tables too.")
@stored_work_options
@output_options(
    *RESULT_ASPECTS,
    "annotations",
    "result_file",
    "page",
    help="Output format; tsv is FunctionChat-Bench's result file and needs --benchmark functionchat.",
    figures=("fail_under", "only", "gold_doubts"),
    folder=True,
    into="store the run in DIR/ and, if it is there already, resume it",
)
def command(
    pred: str,
    gold: str | None,
    how: pe.Reading,
    judging: Judging,
    every: bool,
    published: BenchmarkOptions,
    charted: ChartOptions,
    details: bool,
    work: Work,
    output: Output,
) -> int:
    """Score predictions against gold plans: a table of scores with confidence intervals. RUN is a folder
    written with -o DIR/ by planeval predict or score, and needs no GOLD; DATASET is a name from planeval
    data show.

    PRED and GOLD are files of plans or records, paired by id, or by position if neither has ids; or
    directories or quoted patterns of files, paired by name. GOLD is not needed if the records of PRED hold
    gold too.

    A missing or unreadable prediction counts as a plan without calls, so every readable gold plan counts,
    but in metrics of matched calls such as order_tau. Small syntax errors are repaired and reported;
    --strict counts them as wrong. Large files are split among several processes. -o DIR/ stores the run; the
    same command resumes it, and planeval score DIR shows it.
    Exit code: 0 scored; 1 a score misses its --fail-under threshold, or records are unmatched; 2 usage
    error; 3 nothing scored.
    """  # noqa: D205
    wanted, (form, file, _, _, doubts) = published.benchmark, output
    repeated = "task=stability" in published.settings
    systems = open_systems([pred], gold, how, wanted, repeated=repeated)
    published = published._replace(benchmark=systems.benchmark)
    pred, gold = systems.paths[0], systems.gold
    named, folder = systems.benchmark is not None, output.folder
    alone = gold is None and not named and os.path.isfile(pred)
    gold = pred if alone else gold
    if gold is None and (named or not systems.runs):
        systems.refuse_without_gold()
    if gold is not None:
        pred, gold = original_names(file, pred, gold)
        refuse_runs(pred, gold)
        systems = systems._replace(paths=(pred,), gold=gold)
    stored_benchmark = gold is None and systems.scored_under is not None
    unruled = "without --benchmark: a benchmark has its own notation and metrics"
    if wanted is None:
        unruled = (
            f"to other answers: these are of {systems.benchmark}, which has its own notation and metrics"
        )
    doubts_condition = format_condition(form, "document", "data", more=", and to runs without a benchmark")
    refuse_idle(
        *benchmark_scopes(named, judging.keys),
        (
            "plot",
            named or systems.scored_under is not None,
            "with --benchmark NAME, whose paper's plots it draws",
        ),
        charted.applies,
        ("every", *format_condition(form, "document", more=": the others have every metric")),
        (
            "keys",
            bool(folder) or not output.shows("table", "cases"),
            format_condition(form, "document", "data", "records")[1],
        ),
        (
            "only",
            named or stored_benchmark or not output.shows("table"),
            "to other formats: --format csv has scores alone",
        ),
        (OVERRIDDEN_OPTIONS, not named, unruled),
        ("every cluster", not stored_benchmark, "to runs without a benchmark, which has metrics of its own"),
        (
            (*READING_OPTIONS, "policy", "wrappers", "keys", "causes", *WORK_OPTION_NAMES),
            gold is not None,
            "to files of plans: a run has been scored",
        ),
        (
            "metrics",
            not stored_benchmark and (gold is not None or output.shows("document")),
            "to files of plans, and to --format text and md of a run",
        ),
        (
            "causes",
            bool(folder) or not output.shows("cases", "annotations"),
            "to other formats: JUnit has test cases alone, and github annotations",
        ),
        ("gold_doubts", doubts_condition[0] and not stored_benchmark, doubts_condition[1]),
        ("store", bool(folder) and not named, "with -o DIR/, which stores the run"),
        (
            "output",
            not folder or gold is not None,
            "with the name of a file here: the run has its folder already",
        ),
    )
    if output.shows("page") and folder:
        raise click.UsageError(
            "a stored run has no page of its own: drop --format html, then make one with planeval report DIR/"
        )
    if named and gold is not None:
        refuse_stdin_twice(pred, gold)
        code = score_benchmark(systems, published._replace(details=details), output, work, charted)
        return systems.say_unanswered() or code
    if stored_benchmark:
        return write_stored_run(pred, output, charted)
    refuse_tsv(output, None)
    view = _choose_figures(judging.metrics, output, every=every)
    report, view = _score(systems, judging, view, output, work, alone=alone)
    if folder:
        if doubts is not None:
            again = f"planeval score {file} --gold-doubts {doubts}"
            note(f"{file} holds the scores of all records; {again} shows those without doubtful gold again")
        output = output._replace(file=None)
    code = _write_report(report, output, view)
    return systems.say_unanswered() or code


def _choose_figures(metrics: Sequence[str], output: Output, *, every: bool) -> FigureView:
    """What is shown: people who name no metrics see the main ones, and those that have a threshold.

    Raises:
        InputError: a threshold is of no metric.
    """
    from planner_eval.comparison.metrics import MAIN_METRICS, METRICS, choose_metrics
    from planner_eval.results.views.report import FigureView

    if every or metrics or not output.shows("plain"):
        return FigureView(choose_metrics(metrics) if metrics else (), METRICS if every else metrics)
    wanted = choose_metrics([*MAIN_METRICS, *_limited_metrics(output.limits)])
    return FigureView(tuple(name for name in METRICS if name in wanted), brief=True)


def _counted(shown: Collection[str], limits: Sequence[Threshold]) -> tuple[str, ...]:
    """What is counted: what is named or shown, or else usual, and what has a threshold."""
    from planner_eval.comparison.metrics import choose_metrics

    usual = choose_metrics(shown)
    more = dict.fromkeys(name for name in _limited_metrics(limits) if name not in usual)
    return (*usual, *more) if more else tuple(shown)


def _choose_figures_of_run(
    view: FigureView, metrics: Sequence[str], run: str, scored: list[str]
) -> FigureView:
    """What is shown of a run, of which some metrics are known.

    Raises:
        InputError: it was not scored with a metric that is wanted.
    """
    from planner_eval.comparison.metrics import DEFAULT_METRICS, METRICS, choose_metrics

    if not metrics:  # metrics that were chosen when it was scored are all of interest
        return view if scored == [*DEFAULT_METRICS] else view._replace(shown=(), brief=False)
    wanted = tuple(name for name in choose_metrics(metrics) if name in scored)
    lacking = [name for name in metrics if name in METRICS and name not in scored]
    if lacking or not wanted:
        name = (*lacking, *metrics)[0]
        raise InputError(f"{run} was not scored with --metric {name}: score it again with that option")
    return view._replace(shown=wanted)


def _score(
    systems: Systems, judging: Judging, view: FigureView, output: Output, work: Work, *, alone: bool
) -> tuple[Report, FigureView]:
    """The figures of a file of answers or of a run, and which are shown; the page is written if asked for."""
    path, pairings = systems.paths[0], []
    report: Any = None
    if systems.gold is None:
        from pathlib import Path

        report = pe.score(Path(path), cluster=judging.cluster)
        view = _choose_figures_of_run(view, judging.metrics, path, [f.name for f in report.figures])
        judging = Judging(cluster=judging.cluster)
    else:
        answers, golds = systems.read()
        if alone and answers[0].content == golds.content:  # the file has no gold beside its plans
            raise missing_argument("gold")
        pairings = [pe.pair(answers[0], golds, reading=systems.how)]
        # A run keeps what any view may show, and a threshold needs its figure whatever is shown.
        shown = () if output.folder else view.shown
        judging = judging._replace(metrics=_counted(judging.metrics or shown, output.limits))
    if output.shows("page"):
        from planner_eval.cli.report import page_of, page_settings, write_page

        shown_pairs = page_settings(only=output.failures)
        page = page_of(systems, judging, shown_pairs, work, pairings=pairings)
        page_report = write_page(page, output.file)
        report = report or page_report
    elif report is None:
        how = {**judging.settings(), **work_settings(work, pairings[0], output.folder)}
        report = pe.score(pairings[0], **how)
    if systems.gold is None:
        note(*report.about.notes)
    return report, view


def _write_report(report: Report, output: Output, view: FigureView) -> int:
    """Write a report, and say what else is to be known of it: the command's exit code."""
    from planner_eval.results.views.report import left_out_figures, report_cases, report_view

    about, failures = report.about, output.failures
    limits = [
        limit.check(report.figure(limit.name), about.file, lower=_is_lower_better(limit))
        for limit in output.limits
    ]
    if not output.shows("page"):
        left_out = _left_out_cases(about)
        without = None if output.doubts is None else pe.leave_out_doubts(report, output.doubts)
        states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in report.states().items())
        shown: dict[str, Any] = {"failures": failures, "limits": limits, "beside": left_out}
        output.emit_result(
            report_view(report, view=view, without=without, **shown),
            partial(report_cases, report, **shown),
            f"{format_count(report.totals.pairs, 'pair')}: {states or 'none'}",
            limited=bool(limits),
        )
    note(f"answers: {about.read['answers']}; gold: {about.read['gold']}; paired by {about.pairing}")
    say_unjudged(report.totals)
    if output.shows("document") and not output.shows("plain"):
        note(*left_out_figures(report, view))
    missed = say_missed(limits)
    if not report.judged:
        note("nothing could be scored: no gold plan could be read")
        return 3
    unmatched = report.totals.pairs > report.judged or bool(report.totals.states["absent"])
    return int(missed or bool(about.repeated) or unmatched)


def _left_out_cases(about: Provenance) -> list[Case]:
    """Records that were left out for the id of an earlier one: the command does not pass with them."""
    from planner_eval.results.views.junit import Case

    message = "left out: an earlier record has the same id"
    return [
        Case(record.id or "?", "error", "repeated", message, "", record.file, record.line, "score")
        for record in about.repeated
    ]


def _is_lower_better(limit: Threshold) -> bool:
    from planner_eval.comparison.metrics import METRICS

    name = limit.name.partition(".")[0]
    return name in METRICS and METRICS[name].lower


def _limited_metrics(limits: Sequence[Threshold]) -> list[str]:
    """The metrics that have a threshold; figures of trials are counted in any case."""
    from planner_eval.results.trials import trial_figure

    return [limit.name.partition(".")[0] for limit in limits if trial_figure(limit.name) is None]
