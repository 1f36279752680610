"""planeval report: one page that shows a run, or predictions beside gold plans."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.cli.help import Command
from planner_eval.cli.options import OptionScope, bundle_options, emit, note, output_options, refuse_idle
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
    WORK_OPTION_NAMES,
    write_page_of_results,
    write_page_of_run,
)
from planner_eval.cli.sources import (
    benchmark_of_results,
    gold_of,
    is_benchmark_run,
    is_predicted,
    is_run,
    peek_run,
    read_answers,
    read_sides,
    reading_of,
    refuse_absent,
    refuse_incomplete_run,
    refuse_other_samples,
    refuse_stdin_twice,
    select_asked,
)
from planner_eval.cli.workers import DEFAULT_WORK_OPTIONS, WorkOptions, work_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from planner_eval.comparison.evaluate import PairedFiles
    from planner_eval.results.page.report import PageResult, PageSettings
    from planner_eval.results.report import Report


PAGE_OPTION_NAMES = ("title", "query", "texts", "only", "limit", "page_theme")
"""Options that say what a page shows."""


class PageOptions(NamedTuple):
    """What a page shows, as the user wants it."""

    title: str | None
    query: str | None
    texts: bool
    only: str | None
    limit: int | None
    page_theme: str


def page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what a page shows, which the command takes as ``look``."""
    for option in (
        click.option(
            "--theme",
            "page_theme",
            type=click.Choice(["auto", "light", "dark"]),
            default="auto",
            show_default=True,
            help="Colours of the page: the reader's system theme, light or dark.",
        ),
        click.option(
            "--limit",
            metavar="N",
            type=click.IntRange(min=1),
            help="List at most N pairs; figures cover all.",
        ),
        click.option("--only", type=click.Choice(["failures"]), help="List only pairs that differ."),
        click.option(
            "--no-texts",
            "texts",
            flag_value=False,
            default=True,
            help="Show plans without their original texts.",
        ),
        click.option(
            "--query",
            metavar="FIELD",
            help="The field that holds the question or conversation (default: detected).",
        ),
        click.option("--title", metavar="TEXT", help="The page's heading (default: the names)."),
    ):
        command = option(command)
    return bundle_options("look", PageOptions, PAGE_OPTION_NAMES)(command)


@click.command("report", cls=Command)
@click.argument("systems", metavar="RUN|PRED...", nargs=-1, required=True)
@click.option("--gold", metavar="GOLD", help="The gold plans; not needed with RUN.")
@scored_pair_options
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="A metric or a group of metrics; repeatable."
)
@click.option(
    "--by",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Break figures down, and filter pairs, by calls, depth, pattern or scope of the "
    "gold plan, or by a field of its record (default: calls, difficulty, domain and category).",
)
@click.option(
    "--causes",
    is_flag=True,
    help="Compute what each root cause costs and what fixing it would gain (slower).",
)
@page_options
@work_options
@output_options("html")
def command(
    systems: tuple[str, ...],
    gold: str | None,
    how: pe.Reading,
    policy: str | None,
    metrics: tuple[str, ...],
    keys: tuple[str, ...],
    causes: bool,
    look: PageOptions,
    running: WorkOptions,
    output: str | None,
) -> int:
    """Write an HTML page that shows what is right, what is wrong, and why.

    RUN is a folder that planeval predict, score or diff wrote; PRED is a file of predictions, GOLD the gold
    plans. Two systems are shown side by side, with the pairs that flipped. The page is one file, opens from
    disk and loads nothing; it holds every pair, unreadable ones with the reason. For a run of score
    --benchmark or a folder of BFCL results, it shows the benchmark's own figures and verdicts.
    Exit code: 0 written, 2 usage, 3 nothing could be compared.
    """
    benchmark = benchmark_of_results(systems, gold)
    if benchmark is not None or any(map(is_benchmark_run, systems)):
        return _write_benchmark_page(systems, how, benchmark, look, output)
    if len(systems) > 2:
        raise click.UsageError(f"a page shows one system or two, and these are {len(systems)}")
    runs = [s for s in systems if is_run(s) and not is_predicted(s)]
    if runs and (gold is not None or len(runs) < len(systems)):
        raise click.UsageError(
            f"{runs[0]} is a run, which knows its files: name runs only, without files and --gold"
        )
    refuse_idle(
        [
            OptionScope(READING_OPTIONS, not runs, "to files of plans: a run says how it was read"),
            OptionScope(("metrics", "causes"), not _is_diff_run(runs), "to files of plans and runs of score"),
        ]
    )
    if runs:
        page = page_of_runs(runs, page_settings_of(look, None), policy, metrics, keys, running, causes=causes)
    else:
        page = _page_of_files(systems, gold, how, policy, metrics, keys, look, running, causes=causes)
    return finish_page(page, output)


def _write_benchmark_page(
    systems: tuple[str, ...], how: pe.Reading, benchmark: str | None, look: PageOptions, output: str | None
) -> int:
    """The page of a benchmark's own results, or of a run that was scored under one: the exit code."""
    if len(systems) > 1:
        raise click.UsageError("a benchmark's page shows one system; use planeval compare for several")
    rules = "without --benchmark, which has its own notation and questions"
    refuse_idle(
        [
            OptionScope((*OVERRIDDEN_OPTIONS, "query", "folder", *WORK_OPTION_NAMES), False, rules),
            OptionScope(
                (*READING_OPTIONS, "gold"), benchmark is not None, "to answers: a run says how it was scored"
            ),
        ]
    )
    shown = page_settings_of(look, None)
    if benchmark is not None:
        return write_page_of_results(systems[0], benchmark, how, shown, output)
    return write_page_of_run(systems[0], shown, output)


def _is_diff_run(runs: Sequence[str]) -> bool:
    """Whether the page is of a run of diff, whose rows hold no counts."""
    return any(peek_run(folder).get("kind") == "diff" for folder in runs)


def page_of_runs(
    runs: Sequence[str],
    view: PageSettings,
    policy: str | None = None,
    metrics: Sequence[str] = (),
    keys: Sequence[str] = (),
    running: WorkOptions = DEFAULT_WORK_OPTIONS,
    names: Sequence[str] = (),
    *,
    cluster: str | None = None,
    causes: bool = False,
) -> PageResult:
    """A page of one run of score or diff, or of two.

    Args:
        runs: Their folders.
        view: What the page shows; the commands that show a pair are added.
        policy: The file of their policy, where that is no preset.
        metrics: What is counted; what the runs counted when empty.
        keys: What figures are broken down by; as the runs did when empty.
        running: How the pairs are worked on.
        names: What the runs are called; as the user named them when empty.
        cluster: What says in which cluster a pair lies; as the runs did when left out.
        causes: Find what each root cause costs, also where the runs did not.
    """
    from planner_eval.models.report_runs import read_page_run, report_run

    stored_runs = [read_page_run(folder, policy) for folder in runs]
    first = stored_runs[0]
    for run in stored_runs[1:]:
        first.refuse_unlike(run)
    names = names or system_names(runs)
    how = {**work_settings(running, first.paired), "causes": causes or any(r.causes for r in stored_runs)}
    how["cluster"] = cluster or first.cluster
    named = policy or (None if first.policy.name == "default" else first.policy.name)
    commands = [diff_command(*r.given, r.paired, named, r.wrappers) for r in stored_runs]
    if len(stored_runs) > 1:
        pairs, counted = [r.paired for r in stored_runs], metrics or first.metrics
        view = view._replace(command=commands)
        return page_of_pairs(pairs, first.policy, counted, keys or first.by, names, view, **how)
    view = view._replace(command=commands[0])
    return report_run(first, metrics=metrics, by=keys, shown=view, name=names[0], **how)


def _page_of_files(
    systems: tuple[str, ...],
    gold: str | None,
    how: pe.Reading,
    policy: str | None,
    metrics: tuple[str, ...],
    keys: tuple[str, ...],
    look: PageOptions,
    running: WorkOptions,
    *,
    causes: bool,
) -> PageResult:
    names = system_names(systems)
    predicted = [read_answers(s) for s in systems if is_predicted(s)]
    if predicted and len(predicted) < len(systems):
        raise InputError(
            f"{predicted[0].folder} is a run of predict, and {systems[-1]} is not: name two "
            f"runs of predict or two of score"
        )
    if predicted:
        refuse_other_samples(predicted)
        gold, how = gold_of(predicted[0], gold), reading_of(how, predicted)
        systems = tuple(p.rows for p in predicted)
    if gold is None:
        for system in systems:
            refuse_incomplete_run(system)
            refuse_absent(system)
        raise missing_argument("gold")
    refuse_stdin_twice(*systems, gold)
    predictions, golds = read_sides(systems, gold, how, predicted)
    if predicted:
        golds = select_asked(golds, predicted[0])
    paired = [pe.pair(p, golds, reading=how) for p in predictions]
    dataset = predicted[0].form if predicted else None
    commands = [
        diff_command(name, gold, pairing, policy, dataset=dataset)
        for name, pairing in zip(systems, paired, strict=True)
    ]
    more = {"causes": causes, **work_settings(running, paired[0])}
    return page_of_pairs(
        paired, chosen_policy(policy), metrics, keys, names, page_settings_of(look, commands), **more
    )


def page_of_pairs(
    paired: Sequence[PairedFiles],
    policy: Any,
    metrics: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str],
    view: PageSettings,
    **how: Any,
) -> PageResult:
    """A page of the pairs of one system or two.

    Args:
        paired: The pairs of each.
        policy: How values compare.
        metrics: What is counted; the usual when empty.
        keys: What figures are broken down by.
        names: What the systems are called.
        view: What the page shows.
        how: How the pairs are worked on.
    """
    chosen: dict[str, Any] = {"metrics": metrics} if metrics else {}
    source: Any = paired[0] if len(paired) == 1 else list(paired)
    page: PageResult = pe.report(source, policy=policy, by=keys, shown=view, names=names, **chosen, **how)
    return page


def write_page(page: PageResult, output: str | None) -> Report:
    """Write a page, and say what is to be known of it: the figures of its first system."""
    emit(page.pieces, output, plain=True)
    for message in page.notes:
        note(message)
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


def default_page_settings(command: Sequence[str] | None, *, failures: bool) -> PageSettings:
    """What a page shows where another command writes it.

    Args:
        command: The command that shows one pair, up to its id.
        failures: List only pairs that differ.
    """
    from planner_eval.results.page.report import PageSettings

    return PageSettings(failures=failures, command=command)


def page_settings_of(look: PageOptions, command: Any) -> PageSettings:
    """What a page shows, as the library takes it."""
    from planner_eval.results.page.report import PageSettings

    return PageSettings(
        look.title, look.query, look.texts, look.only is not None, look.limit, look.page_theme, command
    )


def system_names(systems: Sequence[str]) -> list[str]:
    """What systems are called: as the user named them, without the slash behind a folder."""
    return [s.rstrip("/" + os.sep) or s for s in systems]


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
