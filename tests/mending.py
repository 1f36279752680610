"""Mending one root cause of a difference, and nothing else, so that a test sees what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from planner_eval.comparison.causes import change
from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.edits import Edit
from planner_eval.comparison.patch import SCHEMA, apply_patch, make_patch
from planner_eval.plan.canonical import Numbered, producers_of
from planner_eval.plan.model import Plan

Argument = tuple[int | None, str | None]
"""A call by gold's position, None for the answer, and its argument; None for all of them."""


def mended(found: Diff, root: Edit) -> tuple[Plan, set[Argument]]:
    """The prediction with one root cause undone, and the arguments that this has set.

    What is undone does not ask what follows from what. A call is mended with its links: the arguments in
    which gold takes a missing call's output, or the prediction an extra one's; a tool with the arguments and
    outputs that only one of the two tools has; a change that was made again wherever it was made.
    """
    missing, extra, renamed, arguments = set[int](), set[int](), set[int](), set[Argument]()
    for edit in found.edits:
        if edit is not root and (edit.code not in AGAIN or change(edit) != change(root)):
            continue
        for pred, gold in edit.places:
            if gold is None and pred is not None and pred.call is not None:
                extra.add(pred.call)
            elif pred is None and gold is not None and gold.call is not None:
                missing.add(gold.call)
            elif gold is not None and gold.argument is None and edit.code != "order.broken":
                assert gold.call is not None
                renamed.add(gold.call)
            for place in (pred, gold):
                if place is not None and place.argument is not None:
                    call = found_gold(found, place.call) if place is pred else place.call
                    arguments.add((call, place.argument))
    if root.code != "name.spelling":
        arguments |= {*_links(found, missing, extra, renamed)}
    return _applied(found, root, missing, extra, renamed, arguments), arguments


OTHERWISE = "paired otherwise"
"""What is said where a mended plan's calls have other partners, so that edits cannot be compared."""

AGAIN = (
    "name.spelling", "argument.value", "argument.type", "reference.literal", "reference.unresolved",
    "reference.unwanted",
)  # fmt: skip


def found_gold(found: Diff, pred: int | None) -> int | None:
    return next((gold for ours, gold in found.alignment.pairs if ours == pred), None)


def _given(plan: Plan) -> Iterator[tuple[int | None, str, Any]]:
    for at, call in enumerate(plan.calls):
        yield from ((at, name, value) for name, value in call.arguments)
    yield from ((None, name, value) for name, value in plan.answer or ())


def _links(found: Diff, missing: set[int], extra: set[int], renamed: set[int]) -> Iterator[Argument]:
    to_gold = dict(found.alignment.pairs)
    for at, name, value in _given(found.gold):
        if missing.intersection(producers_of(value)):
            yield at, name
    for at, name, value in _given(found.pred):
        if (at is None or at in to_gold) and extra.intersection(producers_of(value)):
            yield (None if at is None else to_gold[at]), name
    for edit in found.edits:
        if edit.gold is None:
            continue
        if edit.code.endswith(".output") and renamed.intersection(producers_of(edit.gold_value)):
            yield edit.gold.call, edit.gold.argument
        if edit.gold.call in renamed and edit.code in (
            "argument.missing",
            "argument.extra",
            "argument.renamed",
        ):
            yield from ((edit.gold.call, p.argument) for p in (edit.pred, edit.gold) if p)


def _applied(
    found: Diff, root: Edit, missing: set[int], extra: set[int], renamed: set[int], arguments: set[Argument]
) -> Plan:
    partner = {found.pred.calls[pred].id: gold for pred, gold in found.alignment.pairs}
    left = {"add": iter(found.alignment.missing), "remove": iter(found.alignment.extra)}
    operations = []
    for each in make_patch(found)["operations"]:
        op, call = each["op"], partner.get(each.get("id"))
        if op in left:
            chosen = next(left[op]) in (missing if op == "add" else extra)
        elif op == "order":
            chosen = root.code == "order.broken"
        elif op == "rename":
            chosen = call in renamed
        elif op in ("arguments", "answer"):  # they set all at once
            chosen = any(at == call for at, _ in arguments)
            given = found.gold.answer if call is None else found.gold.calls[call].arguments
            ours = found.pred.answer if call is None else ()
            arguments.update((call, name) for name, _ in (*(given or ()), *(ours or ())) if chosen)
        else:
            chosen = (call, each["argument"]) in arguments
        if chosen:
            operations.append(each)
    return apply_patch(found.pred, {"schema": SCHEMA, "operations": operations})


def key(found: Diff, edit: Edit) -> tuple[object, ...]:
    """What an edit is about, in a way that holds when other edits are gone."""
    if edit.code == "call.missing" and edit.gold is not None and edit.gold.call is not None:
        twins = Numbered(found.gold, {}).numbers  # of equal calls it does not matter which is missing
        number = twins[edit.gold.call]
        return edit.code, edit.gold.call if number is None else twins.index(number)
    pred = edit.pred and edit.pred.call
    name = None if pred is None else found.pred.calls[pred].id
    return (
        "call.extra" if edit.code == "call.duplicated" else edit.code,  # of a call that is mended, it is none
        edit.gold and (edit.gold.call, edit.gold.argument, edit.gold.at),
        name if edit.gold is None else None,
        edit.pred and edit.pred.argument,
    )


def laws(found: Diff, gold: Plan) -> Iterator[tuple[str, Edit]]:
    """What mending one root after another shows to be wrong with the causes: what, and the root."""
    for number, edit in enumerate(found.edits):
        if edit.cause is not None:
            continue
        plan, touched = mended(found, edit)
        after = diff(plan, gold)
        if not _kept(found, after, edit):
            yield OTHERWISE, edit
            continue
        still = Counter(key(after, each) for each in after.edits)
        others = [other for at, other in enumerate(found.edits) if _root(found, at) != number]
        known = Counter(key(found, other) for other in others)
        for other in found.edits:
            there = still[key(found, other)]
            if other not in others and there > known[key(found, other)]:
                yield f"still there: {other.code}", edit
        lost = known - still
        for other in others:
            if other.cause is None and lost[key(found, other)] and not _set(found, other, touched):
                yield f"gone as well: {other.code}", edit


def _set(found: Diff, edit: Edit, touched: set[Argument]) -> bool:
    places = [(found_gold(found, p.call), p.argument) for p, _ in edit.places if p is not None]
    return bool(
        touched.intersection([*places, *((g.call, g.argument) for _, g in edit.places if g is not None)])
    )


def _root(found: Diff, at: int) -> int:
    while (cause := found.edits[at].cause) is not None:
        at = cause
    return at


def _kept(before: Diff, after: Diff, root: Edit) -> bool:
    """Whether the calls that had partners have the same ones, and no other but those that are mended."""
    was, now = (
        {found.pred.calls[pred].id: gold for pred, gold in found.alignment.pairs} for found in (before, after)
    )
    extra = {before.pred.calls[pred].id for pred in before.alignment.extra}
    added = {gold.call for pred, gold in root.places if pred is None and gold is not None}
    left = {*before.alignment.missing} - added
    same = all(now.get(name) == gold for name, gold in was.items())
    return same and extra.isdisjoint(now) and {*after.alignment.missing} == left
