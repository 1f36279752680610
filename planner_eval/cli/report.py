"""planeval report: one page that shows a run, or predictions beside gold plans."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.cli.benchmarks import OVERRIDDEN_OPTIONS, WORK_OPTION_NAMES, write_benchmark_page
from planner_eval.cli.options import (
    COUNT,
    as_command,
    bundle_options,
    note,
    option,
    query_option,
    refuse_idle,
)
from planner_eval.cli.output import emit, file_option
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
from planner_eval.cli.workers import Work, work_options

if TYPE_CHECKING:
    from planner_eval.comparison.evaluate import PairedFiles
    from planner_eval.results.page.report import PageResult, PageSettings
    from planner_eval.results.report import Report


def page_settings(*, only: object = None, page_theme: str = "auto", **shown: Any) -> PageSettings:
    """What a page shows, as the library takes it; `only` pairs that differ where it is anything."""
    from planner_eval.results.page.report import PageSettings

    return PageSettings(failures=bool(only), theme=page_theme, **shown)


page_options = bundle_options(
    "view",
    page_settings,
    ("title", "query", "texts", "only", "limit", "page_theme"),
    option("--title TEXT", "The page's heading (default: the names)."),
    query_option,
    option("--no-texts", "Show plans without their original texts.", "texts", flag_value=False, default=True),
    option("--only [failures]", "List only pairs that differ."),
    option("--limit N", "List at most N pairs; scores cover all.", type=COUNT),
    option(
        "--theme [auto|light|dark]",
        "Colours of the page: the reader's system theme, light or dark.",
        "page_theme",
        default="auto",
    ),
)
"""Add the options that say what a page shows, which the command takes as ``view``."""


@as_command("report", systems="RUN|PRED...")
@option("--gold GOLD", "The gold plans; not needed with RUN.")
@scored_pair_options
@judging_options(
    "Break scores down, and filter pairs, by the gold plan's number of calls, depth, pattern or scope, or "
    "by a field of the gold record (default: calls, difficulty, domain and category).",
    cluster=False,
    causes="Compute what each root cause costs and what fixing it would gain (slower).",
)
@page_options
@work_options
@file_option("page")
def command(
    systems: tuple[str, ...],
    gold: str | None,
    how: pe.Reading,
    judging: Judging,
    view: PageSettings,
    work: Work,
    output: str | None,
) -> int:
    """Write an HTML page that shows what is right, what is wrong, and why.

    RUN is a folder that planeval predict, score or diff wrote; PRED is a file of predictions, GOLD the
    gold plans. Two systems are shown side by side, with the pairs that flipped. The page is one file,
    opens from disk and loads nothing; it holds every pair, unreadable ones with the reason. For a run of
    score --benchmark or a folder of BFCL results, it shows the benchmark's own scores and verdicts.
    Exit code: 0 written; 2 usage error; 3 nothing could be compared.
    """
    opened = open_systems(systems, gold, how)
    runs, benchmark = [run.path for run in opened.runs], opened.benchmark
    if opened.scored_under or (benchmark is not None and not opened.predicted):
        if len(systems) > 1:
            raise click.UsageError("a benchmark's page shows one system; use planeval compare for several")
        rules = "without --benchmark, which has its own notation and questions"
        refuse_idle(
            ((*OVERRIDDEN_OPTIONS, "query", "folder", *WORK_OPTION_NAMES), False, rules),
            ((*READING_OPTIONS, "gold"), benchmark is not None, "to answers: a run stores how it was scored"),
        )
        return write_benchmark_page(opened, view, output)
    if len(systems) > 2:
        raise click.UsageError(f"a page shows one system or two, not {len(systems)}")
    if runs and (gold is not None or len(runs) < len(systems)):
        raise click.UsageError(
            f"{runs[0]} is a run, which names its own files: pass runs only, without files and --gold"
        )
    refuse_idle((READING_OPTIONS, not runs, "to files of plans: a run stores how it was read"))
    if not runs and opened.gold is None:
        opened.refuse_without_gold()
    page = page_of(opened, judging, view, work)
    return finish_page(page, output)


def page_of(
    systems: Systems,
    judging: Judging,
    view: PageSettings,
    work: Work,
    names: Sequence[str] = (),
    pairings: Sequence[PairedFiles] = (),
) -> PageResult:
    """A page of one system or two: files of answers, or runs of score or diff, whose files are read again.

    Args:
        systems: What the user named.
        judging: What is counted, broken down and found, of runs as they did when left out; the file of the
            policy of runs, where that is no preset.
        view: What the page shows; the commands that show a pair are added.
        work: How the pairs are worked on.
        names: What the systems are called; as the user named them when empty.
        pairings: The pairs of each system, where they are read already.
    """
    if systems.gold is None:
        pairings, view, how = _read_runs(systems, judging, view)
    else:
        pairings, how = pairings or systems.pair(), judging.settings()
        dataset = systems.predicted[0].form if systems.predicted else None
        commands = [
            diff_command(path, systems.gold, pairing, judging.policy, dataset=dataset)
            for path, pairing in zip(systems.paths, pairings, strict=True)
        ]
        view = view._replace(command=commands)
    how |= {
        **work_settings(work, pairings[0]),
        "names": names or [name.rstrip("/" + os.sep) or name for name in systems.named],
    }
    source: Any = pairings[0] if len(pairings) == 1 else list(pairings)
    page: PageResult = pe.report(source, shown=view, **how)
    return page


def _read_runs(
    systems: Systems, judging: Judging, view: PageSettings
) -> tuple[Sequence[PairedFiles], PageSettings, dict[str, Any]]:
    """The pairs of runs, what their page shows, and how they are judged."""
    from planner_eval.models.report_runs import read_page_run

    runs = [read_page_run(folder, judging.policy) for folder in systems.paths]
    first = runs[0]
    for run in runs[1:]:
        first.refuse_unlike(run)
    if first.run.kind == "diff" and not judging.metrics:
        note(f"a run of diff is shown with {', '.join(first.metrics)} alone: name others with --metric")
    named = judging.policy or (None if first.policy.name == "default" else first.policy.name)
    metrics, causes = judging.metrics or first.metrics, judging.causes or any(run.causes for run in runs)
    view = view._replace(
        command=[
            diff_command(pred, gold, run.paired, named, run.wrappers)
            for run in runs
            for pred, gold in [run.run.given]
        ],
        stored=() if causes else [run.stored(metrics) for run in runs],
    )
    by, cluster = judging.keys or first.by, judging.cluster or first.cluster
    how = {"policy": first.policy, "metrics": metrics, "by": by, "cluster": cluster, "causes": causes}
    return [run.paired for run in runs], view, how


def write_page(page: PageResult, output: str | None) -> Report:
    """Write a page, and say what is to be known of it: the figures of its first system."""
    emit(page.pieces, output, plain=True)
    note(*page.notes)
    return page.reports[0]


def finish_page(page: PageResult, output: str | None) -> int:
    """Write a page, and say what is to be known of it: the exit code."""
    write_page(page, output)
    for report in page.reports:
        say_unjudged(report.totals)
    if not any(r.judged for r in page.reports):
        note("nothing could be compared: no gold plan could be read")
        return 3
    return 0


def diff_command(
    pred: str,
    gold: str,
    paired: PairedFiles,
    policy: str | None,
    wrappers: Sequence[str] = (),
    dataset: str | None = None,
) -> list[str] | None:
    """The command that shows one pair, up to its id; None where gold has no ids, or a file is a pipe.

    There is none either where gold is one file of a data set, which no other command reads as such.

    Args:
        pred: The predictions as the user named them.
        gold: The gold plans, likewise.
        paired: The pairs.
        policy: What the user named as policy.
        wrappers: Files of notations; those of this command when left out.
        dataset: Of which data set the gold plans are, where they are published ones in a folder.
    """
    if "-" in (pred, gold) or not paired.gold_named:
        return None
    how = paired.reading
    if paired.gold.published and os.path.exists(gold):
        if dataset is None or not os.path.isdir(gold):
            return None
        gold, how = dataset, how._replace(folder=gold)
    files = wrappers or click.get_current_context().meta.get("wrappers", ())
    words = ["planeval", "diff", pred, gold]
    for file in files:
        words += ["--wrappers", file]
    for name, value in how._asdict().items():
        if value is True:
            words.append(_FLAGS[name])
        elif value not in (None, False):
            words += [_FLAGS.get(name, f"--{name.replace('_', '-')}"), str(value)]
    if policy is not None:
        words += ["--policy", policy]
    return [*words, "--id"]


_FLAGS = {
    "dialect": "--from", "gold_dialect": "--from gold", "by": "--pair", "folder": "--source",
    "repair": "--repair", "infer": "--infer",
}  # fmt: skip
"""Fields of a reading whose options are called otherwise, or are flags."""
