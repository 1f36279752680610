"""A law of causes: mending a root cause mends what follows from it, and no other root cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

import pytest
from hypothesis import given

from planner_eval.comparison.diff import diff
from planner_eval.plan.model import Plan, Unresolved
from planner_eval.plan.walk import holds
from tests.conftest import examples
from tests.mending import OTHERWISE, laws
from tests.plant import KINDS
from tests.plant_roots import ROOTS
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


def open_ended(plan: Plan) -> bool:
    """Whether gold refers to nothing, which a call of the prediction may be called by."""
    given = [*(plan.answer or ()), *(pair for call in plan.calls for pair in call.arguments)]
    return any(holds(value, Unresolved) for _, value in given)


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
def test_pairs_of_real_plans_are_mended_one_by_one(reference) -> None:
    random = Random(5)
    by_tool: dict[str, list[Plan]] = {}
    for plan in real_plans(reference):
        if 1 < len(plan.calls) < 9 and not forward(plan) and not open_ended(plan):
            by_tool.setdefault(min(call.name for call in plan.calls), []).append(plan)
    groups = [group for group in by_tool.values() if len(group) > 1]
    counts = broken(
        (one, other) for one, other in (random.sample(random.choice(groups), 2) for _ in range(300))
    )
    assert counts["roots"] > 1000
    assert counts.keys() <= {"roots", OTHERWISE}
    assert counts[OTHERWISE] < counts["roots"] / 50


@pytest.mark.more
@examples(200)
@given(plans(5), plans(5))
def test_any_root_cause_is_mended_by_itself(pred: Plan, gold: Plan) -> None:
    if "nan" not in repr((pred, gold)):
        assert broken([(pred, gold)]).keys() <= {"roots", OTHERWISE}
