"""planeval compare: two or more sets of predictions for the same gold plans."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.text import format_count
from planner_eval.cli.benchmarks import (
    OVERRIDDEN_OPTIONS,
    BenchmarkOptions,
    benchmark_options,
    benchmark_scopes,
    delay_garbage_collection,
    open_rules,
    refuse_idle_options,
    say_judge_failures,
)
from planner_eval.cli.options import (
    as_command,
    finite_number,
    format_condition,
    gold_doubts_option,
    note,
    option,
    refuse_idle,
    seed_option,
)
from planner_eval.cli.output import (
    RESULT_ASPECTS,
    Output,
    emit,
    output_options,
    picture_format,
    picture_option,
)
from planner_eval.cli.pairs import (
    READING_OPTIONS,
    Judging,
    Systems,
    judging_options,
    open_systems,
    say_unjudged,
    scored_pair_options,
)
from planner_eval.cli.sources import refuse_incomplete_run, refuse_stdin_twice
from planner_eval.cli.terminal import make_counter
from planner_eval.cli.workers import Work

if TYPE_CHECKING:
    from planner_eval.results.contrast import Allowance, Comparison
    from planner_eval.results.views.junit import Case


@as_command("compare", systems="A B...")
@option("--gold GOLD", "The gold plans; not needed where A, B … are runs.")
@scored_pair_options
@judging_options(
    "Break the differences down by calls, depth, pattern or scope of the gold plan, or "
    "by a field of its record (default: all of these, and difficulty, domain and category)."
)
@option(
    "--fail-if-worse METRIC[:MARGIN]...",
    "Exit with 1 if a score is worse than A's; with a margin, unless the "
    "interval of the difference rules out a larger loss. Repeatable.",
)
@option("--all", "Also show metrics that are undefined on these data.", "every")
@gold_doubts_option
@seed_option
@picture_option("--mistaken", "picture", "Draw which tools were confused; the suffix sets the format.")
@benchmark_options
@output_options(*RESULT_ASPECTS, "annotations", "page", figures=["gold_doubts"])
def command(
    systems: tuple[str, ...],
    gold: str | None,
    how: pe.Reading,
    judging: Judging,
    fail_if_worse: tuple[str, ...],
    every: bool,
    seed: int,
    mistaken: str | None,
    published: BenchmarkOptions,
    output: Output,
) -> int:
    """Compare two or more systems on the same gold plans: are the others better than A?

    A, B and more are files of predictions, or runs of planeval predict or planeval score -o DIR/. The
    report begins with the verdict and the outcomes. A missing or unreadable prediction counts as wrong;
    one that can be repaired does not, unless --strict is given. Yes-or-no metrics are tested with the
    exact sign test, others with a permutation test over samples, all with Holm's correction. Then come
    the records that flipped, and the tools that were confused.
    Exit code: 0 compared; 1 a score is worse than --fail-if-worse allows; 2 usage error; 3 nothing could
    be compared.
    """
    if len(systems) < 2:
        raise click.UsageError(
            f"there is nothing to compare {systems[0]} with: name two or more files of predictions"
        )
    compared = open_systems(systems, gold, how, published.benchmark)
    names, runs, gold = _short_names(systems), [run.path for run in compared.runs], compared.gold
    published, named = published._replace(benchmark=compared.benchmark), compared.benchmark is not None
    if runs and (gold is not None or len(runs) < len(systems)):
        raise _mixed_runs_error(runs, [s for s in systems if s not in runs], gold)
    if gold is None and (named or not runs):
        compared.refuse_without_gold()
    ruled = named or compared.scored_under is not None
    _refuse_idle(output.form, judging.keys, named=named, ruled=ruled, files=gold is not None)
    if output.shows("page"):
        return _write_page(compared, judging, names, output.file)
    allowed = [_parse_allowance(text) for text in fail_if_worse]
    judge = None
    how_sure: dict[str, Any] = {"seed": seed, "names": names}
    if gold is None:
        from pathlib import Path

        paths = [Path(s) for s in systems]
        comparison = pe.compare(paths, by=judging.keys, cluster=judging.cluster, **how_sure)
    elif named:
        from planner_eval.benchmarks.benchmark import benchmark

        refuse_stdin_twice(*compared.paths, gold)
        delay_garbage_collection()
        bench = benchmark(published.benchmark or "")
        refuse_idle_options(bench, published)
        with open_rules(bench, published) as rules:
            judge = rules.judge
            comparison = pe.compare_benchmark(
                compared.paths, gold, bench.name, reading=compared.how, ids=compared.ids, rules=rules,
                cluster=judging.cluster, **how_sure,
            )  # fmt: skip
    else:
        predictions, golds = compared.read()
        how_sure |= judging.settings()
        comparison = pe.compare(predictions, golds, reading=compared.how, progress=make_counter(), **how_sure)
    from planner_eval.results.compare import mistaken_scene, unjudged_totals

    problems, cases = _check_allowances(comparison, allowed)
    _write(comparison, output, judging.metrics, cases, all_figures=every)
    _say_unreadable(comparison, strict=not how.repair)
    say_unjudged(unjudged_totals(comparison))
    note(*problems)
    if mistaken:
        picture = pe.render(mistaken_scene(comparison), format=picture_format(mistaken, "picture"))
        emit(picture, mistaken)
    code = int(bool(problems)) if any(contrast.defined for contrast in comparison.contrasts) else 3
    return max(code, say_judge_failures(judge))


def _refuse_idle(form: str, keys: Sequence[str], *, named: bool, ruled: bool, files: bool) -> None:
    """Refuse options that would have no effect; `ruled` by a benchmark are also runs that it scored."""
    overridden = [name for name in OVERRIDDEN_OPTIONS if name not in ("cluster", "every")]
    condition = "without --benchmark: a benchmark has its own notation and metrics"
    refuse_idle(
        *benchmark_scopes(named, keys or ("depth",)),
        ("keys", *format_condition(form, "document", "data", "page")),
        ((*overridden, "mistaken"), not ruled, condition),
        ("gold_doubts", *format_condition(form, "document", "data")),
        ("every", *format_condition(form, "document", more=": the others have every metric")),
        (
            (*READING_OPTIONS, "policy", "wrappers", "metrics"),
            files,
            "to files of plans: runs have been scored",
        ),
    )


def _write_page(systems: Systems, judging: Judging, names: Sequence[str], output: str | None) -> int:
    """Write a page of two systems, pair by pair."""
    from planner_eval.cli.report import finish_page, page_of, page_settings

    refuse_idle(
        ("fail_if_worse mistaken seed every", False, "to other formats than html"),
        ("benchmark", systems.benchmark is None, "to other formats than html"),
    )
    if len(systems.paths) > 2:
        raise click.UsageError(f"a page shows two systems, not {len(systems.paths)}: name two of them")
    if systems.gold is None:
        judging = judging._replace(policy=None)
    return finish_page(page_of(systems, judging, page_settings(), Work(), names), output)


def _mixed_runs_error(runs: Sequence[str], files: Sequence[str], gold: str | None) -> click.UsageError:
    """That runs are compared with runs alone, and what to type.

    Raises:
        InputError: one of the others was a run, and its run.json is gone.
    """
    for file in files:
        refuse_incomplete_run(file)
    if not files:
        return click.UsageError(
            f"--gold {gold} applies only to files of predictions; {runs[0]} is a scored run, which names "
            f"its gold: planeval compare {' '.join(runs)}"
        )
    return click.UsageError(
        f"{runs[0]} is a run and {files[0]} is not: score {files[0]} into a folder (planeval score "
        f"{files[0]} {gold or 'GOLD'} -o DIR/), then compare the two (planeval compare {runs[0]} DIR/)"
    )


def _parse_allowance(text: str) -> Allowance:
    """What ``--fail-if-worse`` allows.

    Raises:
        InputError: the margin is no number from 0 on.
    """
    from planner_eval.results.contrast import Allowance

    metric, sign, margin = text.partition(":")
    least = finite_number(margin) if sign else None
    if not metric.strip() or (sign and (least is None or least < 0)):
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


def _write(
    comparison: Comparison, output: Output, metrics: Sequence[str], cases: list[Case], *, all_figures: bool
) -> None:
    from planner_eval.results.views.compare import compare_cases, comparison_view

    if all_figures:
        metrics = [line.name for line in comparison.contrasts[0].lines]
    without = None if output.doubts is None else pe.leave_out_doubts(comparison, output.doubts)
    systems = format_count(len(comparison.contrasts) + 1, "system")
    output.emit_result(
        comparison_view(comparison, every=metrics, limits=cases, without=without),
        # Whoever reads a step wants to see what is lost, whether or not so much may be.
        lambda: [*cases, *compare_cases(comparison, limited=False)],
        f"{format_count(comparison.n, 'pair')} of {systems}",
        limited=False,
    )


def _say_unreadable(comparison: Comparison, *, strict: bool) -> None:
    """Say what was read, and warn of predictions that could not be: figures are then about quotes as well."""
    first = comparison.contrasts[0]
    counts = [first.records[0], *(c.records[1] for c in comparison.contrasts)]
    for name, records in zip(comparison.names, counts, strict=True):
        if unread := records.unreadable + records.cut:
            hint = (
                "; without --strict small syntax errors are repaired" if strict and records.unreadable else ""
            )
            states = [state for state in ("unreadable", "cut") if getattr(records, state)]
            kind = " or ".join(states).replace("cut", "cut off")
            verbs = ("is", "counts") if unread == 1 else ("are", "count")
            of = f"{unread} of {records.judged} predictions {verbs[0]} {kind}"
            note(f"{name}: {of} and {verbs[1]} as wrong{hint}")
    reads = [first.read["first"], *(c.read["second"] for c in comparison.contrasts)]
    text = "; ".join(f"{name}: {read}" for name, read in zip(comparison.names, reads, strict=True))
    note(f"answers: {text}; gold: {first.read['gold']}")


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
