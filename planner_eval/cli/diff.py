"""planeval diff: is the prediction the gold plan, and if not, what differs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import DRAWN, WRITTEN, of_suffix
from planner_eval.cli.drawing import draw_one, drawing
from planner_eval.cli.options import (
    Applies,
    emit,
    note,
    output,
    pairing,
    reading,
    reading_of,
    refuse_idle,
    repairing,
)
from planner_eval.cli.policy import chosen_policy, policy_option
from planner_eval.cli.sources import dataset_places, read_sides

if TYPE_CHECKING:
    from planner_eval.records.rows import Row

SHOWN = ("listing", "boxes", *DRAWN)
REPORT = "html"


@click.command("diff")
@click.argument("pred", metavar="PRED")
@click.argument("gold", metavar="GOLD|DATASET")
@reading
@dataset_places
@repairing
@click.option("--execute", metavar="SPEC", help="Run both plans with these tools: do they agree in effect?")
@pairing
@click.option("--id", "wanted", metavar="ID", help="Compare only the records of this id.")
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
@click.option(
    "--format",
    "form",
    type=click.Choice([*WRITTEN, *SHOWN, REPORT]),
    help="How to write the result; by the suffix of -o when left out, else text.",
)
@policy_option
@drawing
@output
def command(pred: str, gold: str, form: str | None, output: str | None, patch: bool, **options: Any) -> int:
    """Compare predicted plans with gold plans, and say what differs, where and why.

    PRED and GOLD are a plan each, or files of records, which are paired by id, or by position where
    neither file has ids; or directories or quoted patterns of files, paired by name. One of them may be -
    for standard input. Labels, the order of independent calls and of arguments
    make no difference.
    Exit code: 0 the same, 1 different or unreadable, 2 usage, 3 nothing could be compared.
    """
    from planner_eval.records.rows import JUDGED

    form = form or of_suffix(output, (*WRITTEN, *SHOWN, REPORT)) or "text"
    wanted, only, how = options["wanted"], options["only"], reading_of(options)
    answers, golds = read_sides([pred], gold, how)
    paired = pe.pair(answers[0], golds, reading=how, id=wanted)
    left, right = paired.pred, paired.gold
    many = (left.many or right.many) and wanted is None
    _refuse_idle(form, patch=patch, many=many, pairs=len(paired.pairs))
    # A world must be able to answer what gold asks; nothing is known of the prediction.
    spec = options["execute"]
    tools = pe.tool_source(spec, seed="0", facts=right) if spec else None
    located = options["places"] or form in ("json", "jsonl")
    rows = list(pe.evaluate(paired, policy=chosen_policy(options["policy"]), located=located))
    if patch:
        emit(_patches(rows, many=many), output)
    elif form in SHOWN:
        emit(_drawn(rows, form, {**options, "output": output}), output)
    elif form == REPORT:
        emit(_report(rows, f"{left.name} against {right.name}", options), output)
    else:
        shown = {"places": options["places"], "structure": options["structure"]}
        emit(_written(rows, form, many=many, only=only, **shown), output)
    if options["seconds"] is not None:
        _measure(rows, options["seconds"])
    if tools is not None:
        _say_effects(rows, tools, many=many)
    if many:
        repeated = f"; {len(paired.repeated)} left out, for their id is taken" if paired.repeated else ""
        note(f"{paired.said}; paired by {paired.by}{repeated}")
    if how.dialect is None:
        _say_how(rows)
    if not any(row.state in JUDGED for row in rows):
        return 3
    return 0 if all(row.state == "same" for row in rows) and not paired.repeated else 1


def _refuse_idle(form: str, *, patch: bool, many: bool, pairs: int) -> None:
    """Refuse options that would do nothing to what is written."""
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
            Applies(("only",), report or (written and many), "to many pairs, as text or as a report"),
            Applies(("force",), drawn, "to drawings"),
            Applies(("theme", "deadline"), drawn or report, "to drawings and --format html"),
        ]
    )


def _say_effects(rows: list[Row], tools: Any, *, many: bool) -> None:
    """Say of each pair whether the two plans agree in what comes out, and where they part."""
    from planner_eval.records.rows import STATES

    for row in rows:
        if row.pred is None or row.gold is None:
            said = f"unknown: {STATES[row.state]}"
        else:
            said = str(pe.compare_effects(row.pred, row.gold, tools))
        note(f"{row.id + ': ' if many else ''}in effect {said}")


def _drawn(rows: list[Row], form: str, options: dict[str, Any]) -> bytes:
    found = [row.diff for row in rows if row.diff is not None]
    if len(rows) != 1:
        raise InputError(f"{len(rows)} pairs do not fit one drawing: name one with --id")
    if not found:
        raise InputError(f"there is nothing to draw: {rows[0].error or rows[0].state.replace('_', ' ')}")
    return draw_one(found[0], "text" if form == "listing" else form, options)


def _report(rows: list[Row], title: str, options: dict[str, Any]) -> str:
    from planner_eval.drawing.html import report

    shown = [row for row in rows if row.state != "same"] if options["only"] else rows
    how = {"theme": options["theme"], "deadline": options["deadline"], "structure": options["structure"]}
    return "".join(report(shown, title=title, **how))


def _patches(rows: list[Row], *, many: bool) -> str:
    """The repairs as JSON: one, or a line a pair with its id; where there is none, why."""
    from planner_eval.comparison.patch import make_patch
    from planner_eval.records.rows import STATES

    made: list[dict[str, Any]] = [
        make_patch(row.diff)
        if row.diff is not None
        else {"state": row.state, "error": (row.error or STATES[row.state]).split("\n")[0]}
        for row in rows
    ]
    if many:
        lines = ({"id": row.id} | patch for row, patch in zip(rows, made, strict=True))
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return json.dumps(made[0], ensure_ascii=False, indent=1)


def _measure(rows: list[Row], seconds: float) -> None:
    """Say the graph edit distance of one pair."""
    from planner_eval.metrics.edit_distance import edit_distance

    if rows[0].diff is not None:
        found = edit_distance(rows[0].diff.pred, rows[0].diff.gold, timeout=seconds)
        bound = "exact" if found.exact else f"at most: the search was stopped after {found.seconds:.1f} s"
        note(f"graph edit distance {found.value:g} ({bound})")


def _written(rows: list[Row], form: str, *, many: bool, only: str | None, **told: bool) -> str:
    from planner_eval.scoring.row_formats import summary, write_rows

    shown = [row for row in rows if row.state != "same"] if only and many else rows
    text = write_rows(shown, form, many=many, **told)
    if form == "text" and only and many:
        text = text.rpartition("\n")[0] + "\n" * bool(shown) + summary(rows)
    return text


def _say_how(rows: list[Row]) -> None:
    """Which notations were taken."""
    for side in ("pred", "gold"):
        plans = [plan for row in rows if (plan := getattr(row, side)) is not None]
        names = sorted({plan.dialect or "?" for plan in plans})
        if names:
            note(f"{side} read as {', '.join(names)}")
