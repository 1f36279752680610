"""Pairs of records, read and compared: one row a pair, whatever became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.limits import Span
from planner_eval.comparison.diff import Diff, Edit, Place, diff_any
from planner_eval.comparison.structure_report import structure_data
from planner_eval.dialects.read import locate
from planner_eval.plan.model import Plan
from planner_eval.policy import DEFAULT_POLICY, Policy
from planner_eval.records.files import Record
from planner_eval.records.gold import Gold, read_gold

STATES = {
    "same": "the plans mean the same",
    "different": "the plans differ",
    "unreadable": "the prediction cannot be read; it counts as wrong",
    "absent": "gold has a record for which there is no prediction; it counts as wrong",
    "gold_unreadable": "the gold plan cannot be read; nothing can be said",
    "gold_absent": "there is no gold plan for this prediction; nothing can be said",
}
"""What can become of a pair."""

JUDGED = ("same", "different", "unreadable", "absent")
"""The states that count in every denominator: there was a readable gold plan."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one pair of records.

    Args:
        id: The records' id, or their position counted from 1.
        state: One of :data:`STATES`.
        diff: The comparison, where both plans could be read.
        pred: The prediction, where it could be read.
        gold: The gold plan, where it could be read; of several the one that `diff` is from.
        error: Why a plan could not be read.
        fields: The other fields of the gold record.
    """

    id: str
    state: str
    diff: Diff | None = None
    pred: Plan | None = None
    gold: Plan | None = None
    error: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def evaluate(
    pairs: Iterable[tuple[Record | None, Record | None]],
    *,
    pred_dialect: str | None = None,
    gold_dialect: str | None = None,
    policy: Policy = DEFAULT_POLICY,
    located: bool = False,
    repair: bool = False,
    compute: str | None = None,
) -> Iterator[Row]:
    """Read and compare pairs of records.

    Args:
        pairs: (prediction, gold), None for a missing partner; see :func:`planner_eval.records.pairing.pair`.
        pred_dialect: The notation of the predictions; recognised when None.
        gold_dialect: The notation of the gold plans; recognised when None.
        policy: How values compare.
        repair: Mend small faults of predictions that strict reading refuses; never of gold.
        compute: How expressions of numbers become numbers, in gold plans too.
        located: Find the places of calls and arguments in the texts, which may mean to read them twice.

    Returns:
        One row a pair, in order.
    """
    for position, (pred, gold) in enumerate(pairs):
        known = gold or pred
        name = known.id if known is not None and known.id is not None else str(position + 1)
        read = _read(pred, dialect=pred_dialect, repair=repair, compute=compute)
        wanted = _read_gold(gold, dialect=gold_dialect, compute=compute)
        row = _row(name, read, pred, (gold, *wanted), policy)
        yield _located(row) if located else row


Wanted = tuple[Record | None, Gold | None, str | None]


def _row(
    name: str, read: tuple[Plan | None, str | None], pred: Record | None, given: Wanted, policy: Policy
) -> Row:
    plan, problem = read
    gold, wanted, wrong = given
    if wanted is None and pred is not None and gold is None:
        return Row(name, "gold_absent", pred=plan, error=f"{pred.where}: {STATES['gold_absent']}")
    if wanted is None:
        return Row(name, "gold_unreadable", pred=plan, error=wrong)
    fields = gold.fields if gold is not None else {}
    if plan is None:
        state = "absent" if pred is None else "unreadable"
        return Row(name, state, gold=wanted.plan, error=problem, fields=fields)
    found, chosen = diff_any(plan, wanted.plans, policy)
    state = "same" if found.same else "different"
    return Row(name, state, found, plan, wanted.plans[chosen][0], fields=fields)


def _located(row: Row) -> Row:
    """The row with the places of calls and arguments in its plans, as far as they can be found."""
    pred, gold = (locate(plan) if plan is not None else None for plan in (row.pred, row.gold))
    found = row.diff
    if found is not None and pred is not None and gold is not None:
        sides = (
            pred if found.pred is row.pred else found.pred,
            gold if found.gold is row.gold else found.gold,
        )
        found = replace(found, pred=sides[0], gold=sides[1])
    return replace(row, diff=found, pred=pred, gold=gold)


def _read(record: Record | None, **reading: Any) -> tuple[Plan | None, str | None]:
    if record is None:
        return None, None
    try:
        return record.plan(**reading), None
    except ParseError as error:
        return None, f"{record.where}: {error}"


def _read_gold(record: Record | None, **reading: Any) -> tuple[Gold | None, str | None]:
    if record is None:
        return None, None
    try:
        return read_gold(record, **reading), None
    except ParseError as error:
        return None, f"{record.where}: {error}"
    except InputError as error:  # what stands beside the plan: it names its place itself
        return None, str(error)


def span_of(plan: Plan, place: Place) -> Span | None:
    """Where a place stands in the plan's text, in characters, as far as the reader kept places."""
    if place.call is None:
        return None
    call = plan.calls[place.call]
    if place.argument is not None:
        for at, (name, _) in enumerate(call.arguments[: len(call.spans)]):
            if name == place.argument:
                return call.spans[at]
    return call.span


def row_data(row: Row, *, structure: bool = False) -> dict[str, Any]:
    """A row as JSON data; plans and values in the interchange notation ``plan``.

    Args:
        row: The row.
        structure: Say how the structure differs call by call, not only in figures.
    """
    data: dict[str, Any] = {"id": row.id, "state": row.state}
    if row.error is not None:
        data["error"] = row.error
    if row.diff is not None:
        data |= diff_data(row.diff, structure=structure)
    return data


def diff_data(found: Diff, *, structure: bool = False) -> dict[str, Any]:
    """A comparison as JSON data.

    Args:
        found: The comparison.
        structure: Say how the structure differs call by call, not only in figures.
    """
    data = {
        "same": found.same,
        "exact": found.exact,
        "pairs": [list(pair) for pair in found.alignment.pairs],
        "missing": list(found.alignment.missing),
        "extra": list(found.alignment.extra),
        "edits": [_edit_data(edit, found) for edit in found.edits],
    }
    compared = structure_data(found, whole=structure)
    return data if compared is None else {**data, "structure": compared}


def _edit_data(edit: Edit, found: Diff) -> dict[str, Any]:
    from planner_eval.dialects.plan import value_data

    data: dict[str, Any] = {"code": edit.code, "message": edit.message}
    for side, plan, place, value in (
        ("pred", found.pred, edit.pred, edit.pred_value),
        ("gold", found.gold, edit.gold, edit.gold_value),
    ):
        if place is not None:
            data[side] = _place_data(plan, place)
            data[f"{side}_value"] = value_data(value, plan)
    if edit.cause is not None:
        data["cause"] = edit.cause
    return data


def _place_data(plan: Plan, place: Place) -> dict[str, Any]:
    data: dict[str, Any] = {"call": place.call}
    if place.call is not None:
        data["id"] = plan.calls[place.call].id
    if place.argument is not None:
        data["argument"] = place.argument
    if place.at:
        data["at"] = list(place.at)
    span = span_of(plan, place)
    if span is not None:
        data["span"] = list(span)
    return data
