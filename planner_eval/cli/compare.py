"""planeval compare: two or more sets of predictions for the same gold plans."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.output_files import CI_FORMATS, DRAWING_FORMATS, RESULT_FORMATS, format_of_suffix
from planner_eval.base.text import format_count
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    OptionScope,
    cluster_option,
    emit,
    format_option,
    gold_doubts_option,
    note,
    output_option,
    picture_option,
    refuse_idle,
    seed_option,
)
from planner_eval.cli.outcome import emit_cases
from planner_eval.cli.pairs import (
    READING_OPTIONS,
    chosen_policy,
    missing_argument,
    say_unjudged,
    scored_pair_options,
    work_settings,
)
from planner_eval.cli.score_benchmark import (
    OVERRIDDEN_OPTIONS,
    PAGE_FORMAT,
    BenchmarkOptions,
    benchmark_options,
    delay_garbage_collection,
    infer_benchmark,
    refuse_idle_options,
    say_judge_failures,
    scoring_options,
)
from planner_eval.cli.sources import (
    benchmark_of,
    gold_of,
    is_benchmark_run,
    is_predicted,
    is_run,
    read_answers,
    read_sides,
    reading_of,
    refuse_incomplete_run,
    refuse_other_samples,
    refuse_stdin_twice,
    select_asked,
)
from planner_eval.cli.terminal import make_counter
from planner_eval.cli.workers import DEFAULT_WORK_OPTIONS

if TYPE_CHECKING:
    from planner_eval.models.judges import CountedJudge
    from planner_eval.models.predict.folder import PredictedRun
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.results.contrast import Allowance, Comparison
    from planner_eval.results.views.junit import Case


@click.command("compare", cls=Command)
@click.argument("systems", metavar="A B...", nargs=-1, required=True)
@click.option("--gold", metavar="GOLD", help="The gold plans of all; left out where A, B … are runs.")
@scored_pair_options
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="A metric or a group; may be given again."
)
@click.option(
    "--by",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Break the differences down by calls, depth, pattern or scope of the gold plan, or by a field of "
    "its record. When left out: all of these, and difficulty, domain and category where records have them.",
)
@click.option(
    "--fail-if-worse",
    multiple=True,
    metavar="METRIC[:MARGIN]",
    help="Exit with 1 when a figure is worse than A's; with a margin, when it is not sure by the interval of "
    "the difference that it is worse by no more than that. May be given again.",
)
@click.option("--all", "every", is_flag=True, help="Show figures that do not exist in these data as well.")
@cluster_option
@gold_doubts_option
@seed_option
@picture_option("--mistaken", DRAWING_FORMATS, "Draw which tool was taken for which; the suffix says how.")
@benchmark_options
@format_option(*RESULT_FORMATS, CI_FORMATS[0], PAGE_FORMAT)
@output_option
def command(
    systems: tuple[str, ...],
    gold: str | None,
    how: pe.Reading,
    policy: str | None,
    metrics: tuple[str, ...],
    keys: tuple[str, ...],
    fail_if_worse: tuple[str, ...],
    every: bool,
    cluster: str | None,
    gold_doubts: str | None,
    seed: int,
    mistaken: str | None,
    published: BenchmarkOptions,
    form: str,
    output: str | None,
) -> int:
    """Compare the predictions A, B and more for the same gold plans: are the others better than A?

    A, B and more are files of predictions, or runs: the folders that planeval predict
    keeps, or planeval score -o DIR/.

    First the verdict, then what became of the records of each: a prediction that is unreadable or absent
    counts as wrong, one that small repairs make readable does not, unless --strict is given.
    Yes-or-no figures by the exact sign test, others by a permutation test over samples, all with Holm's
    correction; then the records that flipped, and which tool was taken for which. Exit code: 0 compared,
    1 worse than --fail-if-worse allows, 2 usage, 3 nothing could be compared.
    """
    if len(systems) < 2:
        raise click.UsageError(
            f"{systems[0]} alone is nothing to compare: name two files of predictions or more"
        )
    names, predicted = _short_names(systems), [read_answers(s) for s in systems if is_predicted(s)]
    if len(predicted) == len(systems):
        refuse_other_samples(predicted)
        systems, gold = tuple(p.rows for p in predicted), gold_of(predicted[0], gold)
        how = reading_of(how, predicted)
        published = published._replace(benchmark=published.benchmark or benchmark_of(predicted[0]))
    elif predicted:
        raise InputError(
            f"{predicted[0].folder} is a run that asked a model, and others are not: name its answers, "
            f"{predicted[0].rows}, with --gold"
        )
    published, gold = infer_benchmark(published, systems, gold)
    named = published.benchmark is not None
    runs = [s for s in systems if is_run(s)]
    if runs and (gold is not None or len(runs) < len(systems)):
        raise _mixed_runs_error(runs, [s for s in systems if s not in runs], gold)
    if gold is None and (named or not runs):
        for system in systems:
            refuse_incomplete_run(system)
        raise missing_argument("gold")
    ruled = named or any(map(is_benchmark_run, runs))
    _refuse_idle(form, keys, named=named, ruled=ruled, files=gold is not None)
    if form == PAGE_FORMAT:
        return _write_page(
            systems, gold, how, policy, metrics, keys, cluster, names, predicted, output, named=named
        )
    allowed = [_parse_allowance(text) for text in fail_if_worse]
    judge = None
    if gold is None:
        from pathlib import Path

        comparison = pe.compare([Path(s) for s in systems], by=keys, seed=seed, cluster=cluster, names=names)
    elif named:
        ids = predicted[0].ids if predicted else None
        comparison, judge = _compare_benchmark(
            systems, gold, how, published, names, ids, seed=seed, cluster=cluster
        )
    else:
        predictions, golds = _read_files(systems, gold, how, predicted)
        chosen: dict[str, Any] = {"metrics": metrics} if metrics else {}
        chosen |= {"policy": chosen_policy(policy), "by": keys, "seed": seed, "cluster": cluster}
        comparison = pe.compare(
            predictions, golds, reading=how, names=names, progress=make_counter(), **chosen
        )
    from planner_eval.results.compare import unjudged_totals

    problems, cases = _check_allowances(comparison, allowed)
    _emit(comparison, form, output, metrics, cases, all_figures=every, doubts=gold_doubts)
    _say_unreadable(comparison, strict=not how.repair)
    say_unjudged(unjudged_totals(comparison))
    for problem in problems:
        note(problem)
    if mistaken:
        _draw_mistaken(comparison, mistaken)
    return max(3 if not comparison.n else int(bool(problems)), say_judge_failures(judge))


def _refuse_idle(form: str, keys: Sequence[str], *, named: bool, ruled: bool, files: bool) -> None:
    """Refuse options that would have no effect; `ruled` by a benchmark are also runs that it scored."""
    condition = "without --benchmark: a benchmark has its own notation and figures"
    refuse_idle(
        [
            OptionScope(BenchmarkOptions._fields[1:], named, "with --benchmark NAME"),
            OptionScope(("folder",), not named, "without --benchmark, whose GOLD is the folder itself"),
            OptionScope(
                ("keys",), form in ("text", "md", "json", PAGE_FORMAT), "to --format text, md, json and html"
            ),
            OptionScope(
                (*(name for name in OVERRIDDEN_OPTIONS if name not in ("cluster", "every")), "mistaken"),
                not ruled,
                condition,
            ),
            OptionScope(
                ("infer",),
                named or not keys or not {"depth", "pattern"}.isdisjoint(keys),
                "with --by depth or --by pattern: no metric counts inferred edges",
            ),
            OptionScope(("gold_doubts",), form in ("text", "md", "json"), "to --format text, md and json"),
            OptionScope(
                ("every",), form in ("text", "md"), "to --format text and md: the others have every figure"
            ),
            OptionScope(
                (*READING_OPTIONS, "policy", "wrappers", "metrics"),
                files,
                "to files of plans: runs have been scored",
            ),
        ]
    )


def _write_page(
    systems: Sequence[str],
    gold: str | None,
    how: pe.Reading,
    policy: str | None,
    metrics: tuple[str, ...],
    keys: tuple[str, ...],
    cluster: str | None,
    names: Sequence[str],
    predicted: Sequence[PredictedRun],
    output: str | None,
    *,
    named: bool,
) -> int:
    """Write a page of two systems, pair by pair."""
    from planner_eval.cli.report import diff_command, finish_page, page_of_pairs, page_of_runs
    from planner_eval.results.page.report import DEFAULT_SETTINGS

    refuse_idle(
        [
            OptionScope(("fail_if_worse", "mistaken", "seed", "every"), False, "to other formats than html"),
            OptionScope(("benchmark",), not named, "to other formats than html"),
        ]
    )
    if len(systems) > 2:
        raise click.UsageError(f"a page shows two systems, and these are {len(systems)}: name two of them")
    if gold is None:
        return finish_page(
            page_of_runs(systems, DEFAULT_SETTINGS, keys=keys, names=names, cluster=cluster), output
        )
    predictions, golds = _read_files(systems, gold, how, predicted)
    pairings = [pe.pair(prediction, golds, reading=how) for prediction in predictions]
    dataset = predicted[0].form if predicted else None
    commands = [
        diff_command(name, gold, pairing, policy, dataset=dataset)
        for name, pairing in zip(systems, pairings, strict=True)
    ]
    view = DEFAULT_SETTINGS._replace(command=commands)
    how_done = {"cluster": cluster, **work_settings(DEFAULT_WORK_OPTIONS, pairings[0])}
    return finish_page(
        page_of_pairs(pairings, chosen_policy(policy), metrics, keys, names, view, **how_done), output
    )


def _read_files(
    systems: Sequence[str], gold: str, how: pe.Reading, predicted: Sequence[PredictedRun]
) -> tuple[list[PlanFile], PlanFile]:
    """The predictions of each, and the gold plans that they were asked for."""
    predictions, golds = read_sides(systems, gold, how, predicted)
    return predictions, select_asked(golds, predicted[0]) if predicted else golds


def _mixed_runs_error(runs: Sequence[str], files: Sequence[str], gold: str | None) -> click.UsageError:
    """That runs are compared with runs alone, and what to type.

    Raises:
        InputError: one of the others was a run, and its run.json is gone.
    """
    for file in files:
        refuse_incomplete_run(file)
    if not files:
        return click.UsageError(
            f"--gold {gold} is for files of predictions, and {runs[0]} is a run, which has been scored: "
            f"planeval compare {' '.join(runs)}"
        )
    return click.UsageError(
        f"{runs[0]} is a run and {files[0]} is none: score {files[0]} into a folder of its own, "
        f"planeval score {files[0]} {gold or 'GOLD'} -o DIR/, and compare the two, "
        f"planeval compare {runs[0]} DIR/"
    )


def _compare_benchmark(
    systems: Sequence[str],
    gold: str,
    how: pe.Reading,
    published: BenchmarkOptions,
    names: Sequence[str],
    ids: Collection[str] | None,
    **sure: Any,
) -> tuple[Comparison, CountedJudge | None]:
    from planner_eval.benchmarks.benchmark import benchmark

    refuse_stdin_twice(*systems, gold)
    delay_garbage_collection()
    bench = benchmark(published.benchmark or "")
    refuse_idle_options(bench, published)
    with scoring_options(bench, published) as options:
        comparison = pe.compare_benchmark(
            systems, gold, bench.name, reading=how, names=names, ids=ids, **sure, **options
        )
        return comparison, options["judge"]


def _parse_allowance(text: str) -> Allowance:
    """What ``--fail-if-worse`` allows.

    Raises:
        InputError: the margin is no number from 0 on.
    """
    from planner_eval.results.contrast import Allowance

    metric, sign, margin = text.partition(":")
    try:
        least = float(margin) if sign else None
    except ValueError:
        least = math.nan
    if not metric.strip() or (least is not None and not (math.isfinite(least) and least >= 0)):
        raise InputError(f"--fail-if-worse {text!r}: expected METRIC or METRIC:MARGIN, e.g. exact:0.02")
    return Allowance(metric.strip(), least)


def _check_allowances(comparison: Comparison, allowed: Sequence[Allowance]) -> tuple[list[str], list[Case]]:
    """What is worse than the user allows, and each allowance and system as a test case."""
    from planner_eval.results.contrast import check_allowance
    from planner_eval.results.views.junit import limit_case

    problems, cases = [], []
    for contrast in comparison.contrasts:
        for allowance in allowed:
            verdict = check_allowance(contrast, allowance)
            cases.append(
                limit_case(f"{contrast.names[1]} {allowance.said}", met=verdict.met, said=verdict.said)
            )
            problems += [] if verdict.met else [verdict.said]
    return problems, cases


def _emit(
    comparison: Comparison,
    form: str,
    output: str | None,
    metrics: tuple[str, ...],
    cases: list[Case],
    *,
    all_figures: bool,
    doubts: str | None,
) -> None:
    from planner_eval.results.gold_doubts import leave_out_doubts
    from planner_eval.results.views.compare import compare_cases, write_comparison

    metric_names = [line.name for line in comparison.contrasts[0].lines] if all_figures else metrics
    if form == CI_FORMATS[0]:
        # Whoever reads a step wants to see what is lost, whether or not so much may be.
        test_cases = [*cases, *compare_cases(comparison, limited=False)]
        more = write_comparison(comparison, "md", every=metric_names)
        summary = (
            f"{format_count(comparison.n, 'pair')} of {format_count(len(comparison.contrasts) + 1, 'system')}"
        )
        emit_cases(test_cases, output, summary, "planeval compare", [more], limited=False)
        return
    without = leave_out_doubts(comparison, doubts) if doubts is not None else None
    emit(write_comparison(comparison, form, every=metric_names, limits=cases, without=without), output)


def _say_unreadable(comparison: Comparison, *, strict: bool) -> None:
    """Say what was read, and warn of predictions that could not be: figures are then about quotes as well."""
    first = comparison.contrasts[0]
    counts = [first.records[0], *(c.records[1] for c in comparison.contrasts)]
    for name, records in zip(comparison.names, counts, strict=True):
        if unread := records.unreadable + records.cut:
            hint = "; without --strict small faults are mended" if strict and records.unreadable else ""
            of = f"{unread} of {records.judged} predictions"
            note(f"{name}: {of} cannot be read and count as wrong{hint}")
    reads = [first.read["first"], *(c.read["second"] for c in comparison.contrasts)]
    text = ", of ".join(f"{name}: {read}" for name, read in zip(comparison.names, reads, strict=True))
    note(f"answers of {text}; gold: {first.read['gold']}")


def _short_names(files: Sequence[str]) -> list[str]:
    """The files' names without their suffixes, with as many of their folders as tell them apart."""
    from pathlib import PurePath

    paths = [PurePath("standard input" if file == "-" else file) for file in files]
    # A folder has no suffix: that of gpt-4.1 is its name.
    segments = [path.parts if os.path.isdir(path) else (*path.parts[:-1], path.stem) for path in paths]
    for deep in range(1, max(map(len, segments)) + 1):
        names = ["/".join(s[-deep:]) for s in segments]
        if len({*names}) == len({*files}):
            return names
    return list(files)


def _draw_mistaken(comparison: Comparison, file: str) -> None:
    from planner_eval.results.compare import mistaken_scene
    from planner_eval.results.drawing import render

    emit(render(mistaken_scene(comparison), format=format_of_suffix(file, DRAWING_FORMATS) or "svg"), file)
