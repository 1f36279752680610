"""The law of mending: to mend one cause of what is wrong lowers no reward, but where it is known to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics.facts import Facts
from planner_eval.comparison.patch import Fixes
from planner_eval.integrations.reward_parts import Weights, _find_repeated_calls, _remove_copies
from planner_eval.integrations.rewarding import Judgement
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Call, Plan, Unresolved, contains_kind
from tests.test_reward_laws import NEAR, REWARD, TOOLS, WEIGHTS, plans


@st.composite
def near(draw: st.DrawFn, gold: Plan) -> Plan:
    """Gold with faults in some of its calls, so that most of its references have something to be right by."""
    calls: list[Call] = []
    for call in gold.calls:
        tool = draw(st.sampled_from((*[call.name] * 6, *TOOLS)))
        values = [(name, draw(st.sampled_from((*[value] * 4, 1, 2, None)))) for name, value in call.arguments]
        calls.append(Call(call.id, tool, tuple(each for each in values if each[1] is not None)))
    return build_plan(calls)


PAIRS = plans(least=1).flatmap(lambda gold: st.tuples(st.just(gold), plans(least=1) | near(gold)))


@given(PAIRS, WEIGHTS)
def test_mending_a_cause_never_lowers_it(pair: tuple[Plan, Plan], weights: Weights) -> None:
    """Of root causes as the comparison names them: neither the reward nor any part, but where it may cost."""
    gold, pred = pair
    reward = pe.reward(weights=weights)
    found = pe.diff(pred, gold)
    before = reward.judge(pred, gold)
    mending = Fixes(found)
    for mend in mending.mends:
        mended = mending.plan(mend.operations)
        if may_cost(found, mended) is None:
            after = reward.judge(mended, gold)
            assert after.reward >= before.reward - NEAR, (mend.root.code, mended)
            assert not lowered(before, after), (mend.root.code, mended)


AMONG_EQUALS = "calls of one tool stand for others of gold's, or say what another one says"
TOLD_APART = "a call is told for another one of gold's than it counts for"
OF_A_MISSING_CALL = "the output of a call that is missing"
OF_ANOTHER_TOOL = "an output into or of a call of another tool"
WRITTEN_LATER = "the output of a call that is written later"


def may_cost(found: Diff, mended: Plan) -> str | None:
    """Why a mend may lower a part of the reward, as docs/training.md lists it; None where it may not."""
    pred, gold = found.pred, found.gold
    before, _, again = partners(pred, gold)
    after, right, still = partners(mended, gold)
    if not before.items() <= {pred.calls[at].id: wanted for at, wanted in found.alignment.pairs}.items():
        return TOLD_APART
    if not before.items() <= after.items() or again.intersection(call.id for call in mended.calls) != still:
        return AMONG_EQUALS
    if any(contains_kind(value, Unresolved) for call in mended.calls for _, value in call.arguments):
        return OF_A_MISSING_CALL
    old = links(pred)
    new = {link: there for link, there in links(mended).items() if link not in old}
    if not all(right.issuperset(link[:2]) for link in new):
        return OF_ANOTHER_TOOL
    return None if all(new.values()) else WRITTEN_LATER


def partners(pred: Plan, gold: Plan) -> tuple[dict[str, int], set[str], set[str]]:
    """Which call of gold's each call counts for, a copy for none; the calls of the right tool; the copies."""
    facts = Facts(match(pred, gold))
    copies = _find_repeated_calls(facts)
    again = {facts.pred.calls[at].id for at in copies}
    if copies:
        facts = Facts(match(_remove_copies(facts.pred, copies), gold))
    calls = facts.pred.calls
    counted = {calls[at].id: wanted for at, wanted in facts.matching.alignment.pairs}
    return counted, {calls[at].id for at, _ in facts.same_name}, again


def links(plan: Plan) -> dict[tuple[Any, ...], bool]:
    """Whether what a reference takes is there by then, by its two calls, its place and its path."""
    names = [call.id for call in plan.calls]
    return {
        (names[e.producer], names[e.consumer], e.argument, e.at, e.path): e.producer < e.consumer
        for e in plan.edges
    }


def lowered(before: Judgement, after: Judgement) -> set[str]:
    """The parts that are worth less, of those that there are before and after."""
    pairs = ((name, part, after.parts[name]) for name, part in before.parts.items())
    return {name for name, was, now in pairs if was is not None and now is not None and now < was - NEAR}


COSTLY = {
    "a copy": (
        "a = f()\nb = f(x=2)\ng(y=a)", "a = f(x=2, z=2)\nb = f(x=2)\ng(y=a)",
        "f (call 1): argument 'z' = 2 is not in gold",
        (AMONG_EQUALS, {"calls", "arguments", "references", "structure"}, 0.9, 0.42),
    ),
    "one too many that counts": (
        "a = f(y=1)\nb = f(x=2, z=a)", "a = f(z=3, y=2)\nb = f(x=2, y=1, z=1)\nc = f(x=a, y=2, z=2)",
        "f (call 2) with x=2, y=1, z=1 is not in gold", (TOLD_APART, {"arguments"}, 0.395, 0.4),
    ),
    "of a missing call": (
        "a = g(x=1)\ng(y=1, x=1)\ng(x=a)", "g(x=1, y=1)",
        "gold's g (gold's call 3) with x=‹gold's call 1› is missing",
        (OF_A_MISSING_CALL, {"arguments"}, 0.45, 0.511),
    ),
    "into another tool": (
        "a = f(z=1)\nb = g(x=a)\ng(x=a, z=2, y=b)", "a = f(z=1)\nb = g(x=a)\nk(x=2, z=2, y=b)",
        "k (call 3): argument 'x' is the literal 2, expected the result of f (call 1)",
        (OF_ANOTHER_TOOL, {"references", "structure"}, 0.54, 0.52),
    ),
    "written later": (
        "a = f()\nb = g(x=a)\nh(y=b)", "b = g(x=1)\na = f()\nh(y=b)",
        "g (call 1, gold's 2): argument 'x' is the literal 1, expected the result of f (call 2, gold's 1)",
        (WRITTEN_LATER, {"structure"}, 0.75, 0.95),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("gold", "pred", "said", "expected"), COSTLY.values(), ids=COSTLY)
def test_what_a_mend_may_cost(gold: str, pred: str, said: str, expected: tuple[Any, ...]) -> None:
    found = pe.diff(pe.parse(pred), pe.parse(gold))
    mending = Fixes(found)
    (mend,) = [each for each in mending.mends if each.root.message == said]
    mended = mending.plan(mend.operations)
    before, after = (REWARD.judge(plan, found.gold) for plan in (found.pred, mended))
    rewards = round(before.reward, 3), round(after.reward, 3)
    assert (may_cost(found, mended), lowered(before, after), *rewards) == expected
