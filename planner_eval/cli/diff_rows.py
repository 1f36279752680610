"""What `planeval diff` does with pairs beside telling of them: drawings, reports, effects, distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.errors import InputError, ParseError
from planner_eval.cli.drawing import Look, Named, draw_one, write_folder
from planner_eval.cli.options import note
from planner_eval.cli.terminal import colorful

if TYPE_CHECKING:
    from planner_eval.engine.diff import Effects
    from planner_eval.records.record import Record
    from planner_eval.records.rows import Row


def draw_pair(rows: Sequence[Row], form: str, look: Look, output: str | None) -> bytes:
    """The drawing of one pair."""
    diffs = [row.diff for row in rows if row.diff is not None]
    if len(rows) != 1:
        raise InputError(
            f"{len(rows)} pairs do not fit one drawing: name one with --id, or a directory with -o"
        )
    if not diffs:
        raise InputError(f"there is nothing to draw: {rows[0].error or rows[0].state.replace('_', ' ')}")
    return draw_one(diffs[0], "text" if form == "listing" else form, look, output)


def draw_each(rows: Sequence[Row], form: str, look: Look, output: str) -> None:
    """A drawing a pair into a folder; a pair that could not be compared is told."""
    from pathlib import Path

    from planner_eval.drawing.child import Drawing
    from planner_eval.records.rows import STATES

    form = "text" if form == "listing" else form
    diffs = (row.diff for row in rows if row.diff is not None)
    drawings = pe.render_many(diffs, format=form, color=colorful(output), **look._asdict())

    def drawn() -> Iterator[Named]:
        for row in rows:
            message = (
                f"{row.state.replace('_', ' ')}: {(row.error or STATES[row.state]).partition(chr(10))[0]}"
            )
            yield Named(row.id, row.id, next(drawings) if row.diff is not None else Drawing(error=message))

    write_folder(drawn(), Path(output), form, len(rows), "pairs")


def effects_of(
    tools: Any, initial: str | None, records: Sequence[Record], *, values: bool = False
) -> Effects:
    """What runs the two plans of a pair, from the state of gold's record, else of the prediction's.

    Args:
        tools: The tools.
        initial: Where the user says that states are.
        records: The records that may hold one.
        values: Say what each call came to.
    """
    from planner_eval.records.rows import STATES
    from planner_eval.records.states import states_of
    from planner_eval.verbs.running import initial_of

    states = states_of(initial, records)
    unknown = {"verdict": "unknown", "results_same": False}
    unknown |= dict.fromkeys(("state_same", "outputs_seen", "reached"))

    def effects(row: Row, pred: Record | None, gold: Record | None) -> Mapping[str, Any]:
        if row.pred is None or row.gold is None:
            return {**unknown, "said": f"unknown: {STATES[row.state]}"}
        try:
            initial_states = [initial_of(states, record, tools) for record in (gold, pred)]
        except (InputError, ParseError) as error:
            return {**unknown, "said": f"unknown: {error}"}
        if initial_states[0] is not None and initial_states[1] not in (None, initial_states[0]):
            return {**unknown, "said": "unknown: the two records begin in different states"}
        started = initial_states[0] if initial_states[0] is not None else initial_states[1]
        outcome = pe.compare_effects(row.pred, row.gold, tools, initial=started)
        return {**outcome.to_dict(), "values": outcome.values()} if values else outcome.to_dict()

    return effects


def say_effects(rows: Sequence[Row], *, many: bool) -> None:
    """Say what the plans of each pair come to, beside what has no room for it."""
    for row in rows:
        note(f"{row.id + ': ' if many else ''}{row.in_effect}")


def say_distance(rows: Sequence[Row], seconds: float) -> None:
    """Say the graph edit distance of one pair."""
    from planner_eval.metrics.edit_distance import distance_of

    if rows[0].diff is not None and rows[0].diff.matching is not None:
        distance = distance_of(rows[0].diff.matching, timeout=seconds)
        bound = (
            "proved" if distance.proved else f"at most: the search was stopped after {distance.seconds:.1f} s"
        )
        note(f"graph edit distance {distance.value:g} ({bound})")
