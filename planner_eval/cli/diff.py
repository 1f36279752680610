"""planeval diff: is the prediction the gold plan, and if not, what differs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import DRAWN, WRITTEN, of_suffix
from planner_eval.cli.drawing import Look, Named, draw_one, drawing, is_folder, write_folder
from planner_eval.cli.options import Applies, emit, note, outputs, refuse_idle, written
from planner_eval.cli.pairs import pairs
from planner_eval.cli.policy import chosen_policy
from planner_eval.cli.sources import ids, read_sides
from planner_eval.cli.terminal import colorful, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.records.rows import Row
    from planner_eval.scoring.diff_sums import DiffSums
    from planner_eval.verbs.evaluating import Paired

SHOWN = ("listing", "boxes", *DRAWN)
REPORT = "html"
PATCHED = ("json", "jsonl", "text", None)
"""What the suffix of a file that a patch goes to may name."""


@click.command("diff")
@click.argument("pred", metavar="PRED")
@click.argument("gold", metavar="GOLD|DATASET")
@pairs
@click.option("--execute", metavar="SPEC", help="Run both plans with these tools: do they agree in effect?")
@ids("Compare only the records of this id")
@click.option("--patch", is_flag=True, help="Write the repair instead: what planeval apply takes.")
@click.option("--places", is_flag=True, help="Tell line and column of each edit in both texts (one pair).")
@click.option("--structure", is_flag=True, help="Tell how the structure differs, call by call.")
@click.option(
    "--edit-distance",
    "seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Search that long for the exact graph edit distance (one pair).",
)
@click.option("--only", type=click.Choice(["failures"]), help="Leave out what is the same.")
@written(*WRITTEN, *SHOWN, REPORT, help="How to write the result.")
@drawing
@outputs(folder=True)
def command(
    pred: str,
    gold: str,
    how: pe.Reading,
    policy: str | None,
    execute: str | None,
    wanted: tuple[str, ...],
    patch: bool,
    places: bool,
    structure: bool,
    seconds: float | None,
    only: str | None,
    form: str,
    look: Look,
    output: str | None,
) -> int:
    """Compare predicted plans with gold plans, and say what differs, where and why.

    PRED and GOLD are a plan each, or files of records, which are paired by id, or by position where
    neither file has ids; or directories or quoted patterns of files, paired by name. One of them may be -
    for standard input. Labels, the order of independent calls and of arguments
    make no difference.
    Exit code: 0 the same, 1 different or unreadable, 2 usage, 3 nothing could be compared.
    """
    from planner_eval.engine.diff import DiffJob
    from planner_eval.scoring.told_rows import PATCH, Told, told_rows
    from planner_eval.verbs.evaluating import counted as counting
    from planner_eval.verbs.evaluating import refuse_unknown_names

    answers, golds = read_sides([pred], gold, how)
    paired = pe.pair(answers[0], golds, reading=how, id=wanted)
    many = (paired.pred.many or paired.gold.many) and len(wanted) != 1
    named = of_suffix(output, (*WRITTEN, *SHOWN, REPORT))
    shape = _Shape(form, patch, many, only is not None, is_folder(output))
    _refuse_idle(shape, output if patch and named not in PATCHED else None, len(paired.pairs))
    # A world must be able to answer what gold asks; nothing is known of the prediction.
    tools = pe.tool_source(execute, seed="0", facts=golds) if execute else None
    told = Told(PATCH if patch else form, many, places, structure)
    located = places or told.form in ("json", "jsonl")
    job = DiffJob(chosen_policy(policy), how._asdict(), told, located, shape.only)
    sums = job.fold()
    rows: list[Row] = []
    if shape.pictured:
        rows += pe.evaluate(paired, policy=job.policy, located=located, progress=counted())
        for row in rows:
            sums.add(row)
    else:
        keep = rows.append if seconds is not None or tools is not None else None
        lines = list(counting(job.rows(paired.pairs, sums, keep), len(paired.pairs), counted()))
    refuse_unknown_names(paired, sums.names, job.policy)
    if not shape.pictured:
        emit(told_rows(lines, told, sums), output, plain=patch)
    elif output is not None and shape.folder:
        _draw_each(rows, shape, look, output)
    elif shape.form in SHOWN:
        emit(_drawn(rows, shape.form, look, output), output)
    else:
        emit(_report(rows, shape, f"{paired.pred.name} against {paired.gold.name}", look, structure), output)
    if seconds is not None:
        _measure(rows, seconds)
    if tools is not None:
        _say_effects(rows, tools, many=many)
    _say_how(sums, paired, many=many, recognised=how.dialect is None)
    return max(sums.code, int(bool(paired.repeated)))


class _Shape(NamedTuple):
    """What is written: a format or a patch, of one pair or of many, all or those that differ, and where."""

    form: str
    patch: bool
    many: bool
    only: bool
    folder: bool

    @property
    def pictured(self) -> bool:
        """Whether it is drawn, or a report with drawings."""
        return not self.patch and self.form in (*SHOWN, REPORT)


def _refuse_idle(shape: _Shape, misnamed: str | None, pairs: int) -> None:
    """Refuse options that would do nothing to what is written, and a file that is named as something else."""
    form, patch, many, _, folder = shape
    drawn = form in SHOWN and not patch
    report = form == REPORT and not patch
    written = not (patch or drawn or report)
    shows = not patch and (form in ("json", "jsonl") or (form == "text" and not many))
    refuse_idle(
        [
            Applies(("form", "execute"), not patch, "without --patch, which writes JSON"),
            Applies(("places",), shows, "to one pair as text (name it with --id), and to json and jsonl"),
            Applies(
                ("structure",),
                shows or report,
                "to one pair as text (name it with --id), and to json, jsonl and html",
            ),
            Applies(("seconds",), pairs == 1, f"to one pair, and these are {pairs}: name one with --id"),
            Applies(
                ("only",),
                report or ((written or folder) and many),
                "to many pairs, as text, as a report or drawn into a directory",
            ),
            Applies(("force",), drawn, "to drawings"),
            Applies(
                ("infer",),
                drawn or report,
                "to drawings and --format html: inferred edges are shown, and make no difference",
            ),
            Applies(("theme", "deadline"), drawn or report, "to drawings and --format html"),
        ]
    )
    if folder and not drawn:
        raise click.UsageError(
            "-o names a directory, which takes a drawing a pair: name their format with --format, "
            "e.g. --format svg, or a file"
        )
    if misnamed is not None:
        raise click.UsageError(f"--patch writes JSON, and {misnamed} is named as something else")


def _say_effects(rows: list[Row], tools: Any, *, many: bool) -> None:
    """Say of each pair whether the two plans agree in what comes out, and where they part."""
    from planner_eval.records.rows import STATES

    for row in rows:
        if row.pred is None or row.gold is None:
            said = f"unknown: {STATES[row.state]}"
        else:
            said = str(pe.compare_effects(row.pred, row.gold, tools))
        note(f"{row.id + ': ' if many else ''}in effect {said}")


def _drawn(rows: list[Row], form: str, look: Look, output: str | None) -> bytes:
    found = [row.diff for row in rows if row.diff is not None]
    if len(rows) != 1:
        raise InputError(
            f"{len(rows)} pairs do not fit one drawing: name one with --id, or a directory with -o"
        )
    if not found:
        raise InputError(f"there is nothing to draw: {rows[0].error or rows[0].state.replace('_', ' ')}")
    return draw_one(found[0], "text" if form == "listing" else form, look, output)


def _draw_each(rows: list[Row], shape: _Shape, look: Look, output: str) -> None:
    """A drawing a pair into a folder; a pair that could not be compared is told."""
    from planner_eval.drawing.layout import Drawing
    from planner_eval.records.rows import STATES

    shown = [row for row in rows if row.state != "same"] if shape.only else rows
    form = "text" if shape.form == "listing" else shape.form
    diffs = (row.diff for row in shown if row.diff is not None)
    made = pe.render_many(diffs, format=form, color=colorful(output), **look._asdict())

    def drawn() -> Iterator[Named]:
        for row in shown:
            said = f"{row.state.replace('_', ' ')}: {(row.error or STATES[row.state]).partition(chr(10))[0]}"
            yield Named(row.id, row.id, next(made) if row.diff is not None else Drawing(error=said))

    write_folder(drawn(), Path(output), form, len(shown), "pairs")


def _report(rows: list[Row], shape: _Shape, title: str, look: Look, structure: bool) -> str:
    from planner_eval.drawing.html import report

    shown = [row for row in rows if row.state != "same"] if shape.only else rows
    parts = report(shown, title=title, theme=look.theme, deadline=look.deadline, structure=structure)
    return "".join(parts)


def _measure(rows: list[Row], seconds: float) -> None:
    """Say the graph edit distance of one pair."""
    from planner_eval.metrics.edit_distance import edit_distance

    if rows[0].diff is not None:
        found = edit_distance(rows[0].diff.pred, rows[0].diff.gold, timeout=seconds)
        bound = "proved" if found.proved else f"at most: the search was stopped after {found.seconds:.1f} s"
        note(f"graph edit distance {found.value:g} ({bound})")


def _say_how(sums: DiffSums, paired: Paired, *, many: bool, recognised: bool) -> None:
    """How records were paired, which notations were taken, and what a catalog would tell."""
    if many:
        repeated = f"; {len(paired.repeated)} left out, for their id is taken" if paired.repeated else ""
        note(f"{paired.said}; paired by {paired.by}{repeated}")
    for side in ("pred", "gold"):
        names = sorted(name for of, name in sums.dialects if of == side)
        if names and recognised:
            note(f"{side} read as {', '.join(names)}")
        if several := sums.counts[side, "several"]:
            note(f"{side}: {several:,} with several choices or candidates, of which the first was read")
        if many and (turns := sums.counts[side, "turns"]):
            note(f"{side}: {turns:,} with calls of several turns, all of which were read (--turn takes one)")
    if sums.wholes:
        note(
            f"{sum(sums.wholes.values()):,} of these references may mean a tool's whole result "
            f'({", ".join(sums.wholes)}): a policy with catalog = "tools.json" takes its only output for it'
        )
