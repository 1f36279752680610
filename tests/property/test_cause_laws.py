"""A law of causes: mending a root cause mends what follows from it, and no other root cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random

import pytest
from hypothesis import given

from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.edits import Edit
from planner_eval.comparison.mending import Argument, Mending
from planner_eval.plan.canonical import Numbered
from planner_eval.plan.model import Plan
from tests.conftest import examples
from tests.plant import KINDS, ROOTS
from tests.property.test_comparison_laws import plans
from tests.real_plans import real_plans
from tests.test_diff import OURS


def broken(pairs: Iterable[tuple[Plan, Plan]]) -> Counter[str]:
    """How many root causes there are, and what mending them one by one shows to be wrong."""
    counts: Counter[str] = Counter()
    for pred, gold in pairs:
        found = diff(pred, gold)
        counts["roots"] += len(found.roots)
        counts.update(what for what, _ in laws(found, gold))
    return counts


def forward(plan: Plan) -> bool:
    return any(edge.producer >= edge.consumer for edge in plan.edges)


def mistaken(golds: Sequence[Plan], count: int) -> Iterable[tuple[Plan, Plan]]:
    """Plans with several mistakes each, some of which have consequences."""
    kinds = [*KINDS.values(), *ROOTS.values()]
    for seed, gold in enumerate(golds):
        random, pred = Random(seed), gold
        for kind in random.choices(kinds, k=count) if not forward(gold) else ():
            planted = None if forward(pred) else kind(pred, random)
            pred = planted.plan if planted is not None else pred
        yield pred, gold


def test_several_planted_mistakes_are_mended_one_by_one() -> None:
    counts = broken(mistaken(OURS * 4, 3))
    assert counts["roots"] > 150
    assert counts.keys() <= {"roots", OTHERWISE}
    assert counts[OTHERWISE] < counts["roots"] / 50


@pytest.mark.more
def test_several_mistakes_planted_in_real_plans_are_mended_one_by_one(reference) -> None:
    counts = broken(mistaken(real_plans(reference)[::3], 3))
    assert counts["roots"] > 900
    assert counts.keys() <= {"roots", OTHERWISE}
    assert counts[OTHERWISE] < counts["roots"] / 100


@pytest.mark.more
@examples(200)
@given(plans(5), plans(5))
def test_any_root_cause_is_mended_by_itself(pred: Plan, gold: Plan) -> None:
    if "nan" not in repr((pred, gold)):
        assert broken([(pred, gold)]).keys() <= {"roots", OTHERWISE}


OTHERWISE = "paired otherwise"
"""What is said where a mended plan's calls have other partners, so that edits cannot be compared."""


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
    mending = Mending(found)
    places = {id(edit): number for number, edit in enumerate(found.edits)}
    for edit, operations, touched in mending.mends:
        number, after = places[id(edit)], diff(mending.plan(operations), gold)
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
            if other.cause is None and lost[key(found, other)] and not _set(mending, other, touched):
                yield f"gone as well: {other.code}", edit


def _set(mending: Mending, edit: Edit, touched: frozenset[Argument]) -> bool:
    places = [mending.gold_place(p) for p, _ in edit.places if p is not None]
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
