"""Laws of policies: what a policy takes for right is right in every figure, and gold is always right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_eval import compare_structure
from planner_eval.comparison.diff import diff
from planner_eval.dialects.read import parse
from planner_eval.metrics import DEFAULT_METRICS, METRICS, score
from planner_eval.metrics.counts import Counts, Tally
from planner_eval.plan.model import Call, Plan, Ref, Unresolved
from planner_eval.policy import ORDERS, Policy, Terms
from planner_eval.policy.rule import COMPARE, NOTHING, Rule
from tests.build import edges
from tests.conftest import examples

SCALARS = st.sampled_from([
    None, True, False, 0, 1, 1.0, 1.1, 2, 7, "7", "7.0", "a", "A", "a, b", "b,a", "$$$", "true", "2024-05-01",
    "May 1, 2024", "6:30 pm", "18:30", "nyc", "New York", "nyc, 7", "", {},
])  # fmt: skip
TOOLS, NAMES = ("f", "g", "h"), ("x", "y")


@st.composite
def values(draw: st.DrawFn, calls: int) -> Any:
    """A scalar, a reference to a call of the plan, or a list or an object of them."""

    def leaf() -> Any:
        if calls and draw(st.booleans()):
            return Ref(draw(st.integers(0, calls - 1)), draw(st.sampled_from([(), (), ("o",)])))
        return Unresolved("z") if draw(st.integers(0, 15)) == 0 else draw(SCALARS)

    kind = draw(st.integers(0, 5))
    if kind >= 4:
        return [leaf() for _ in range(draw(st.integers(0, 3)))]
    return {"k": leaf(), "m": leaf()} if kind == 3 else leaf()


@st.composite
def plans(draw: st.DrawFn, most: int = 5) -> Plan:
    """A plan whose calls may refer to later ones, to themselves and in circles, though seldom."""
    count = draw(st.integers(0, most))
    astray = draw(st.integers(0, 4)) == 0
    calls = []
    for at in range(count):
        reach = count if astray else at
        named = draw(st.lists(st.sampled_from(NAMES), unique=draw(st.integers(0, 9)) > 0, max_size=2))
        given_ = tuple((name, draw(values(reach))) for name in named)
        tool, app = draw(st.sampled_from(TOOLS)), draw(st.sampled_from([None, None, "A"]))
        calls.append(Call(f"c{at}", tool, given_, app))
    answer = (("out", draw(values(count))),) if draw(st.integers(0, 3)) == 0 else None
    return Plan(tuple(calls), edges(tuple(calls)), answer)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    return Rule(
        tool=draw(st.sampled_from(["*", "*", "*", "f"])),
        argument=draw(st.sampled_from(["*", "*", "x"])),
        compare=tuple(draw(st.lists(st.sampled_from(sorted(COMPARE)), unique=True, max_size=4))),
        tolerance=draw(st.sampled_from([None, None, 0.1, 1])),
        relative=draw(st.sampled_from([None, None, 0.1])),
        accepted=tuple(draw(st.lists(SCALARS, max_size=1))),
        aliases=draw(st.sampled_from([{}, {}, {"nyc": "New York"}])),
        default=draw(st.one_of(st.just(NOTHING), st.just(NOTHING), SCALARS)),
        pattern=draw(st.sampled_from([None, None, "[A-Z]"])),
        function=draw(st.sampled_from([None, None, lambda ours, theirs: type(ours) is type(theirs)])),
    )


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    return Policy(
        rules=tuple(draw(st.lists(rules(), min_size=draw(st.sampled_from([0, 1, 1])), max_size=3))),
        order=draw(st.sampled_from(sorted(ORDERS))), names=draw(st.sampled_from(["exact", "loose"])),
        answer=draw(st.booleans()), inline=draw(st.booleans()), repeats=draw(st.booleans()),
        stateful=draw(st.sampled_from([(), ("f",)])), wildcards=draw(st.sampled_from([(), ("$$$", {})])),
        defaults=draw(st.sampled_from([{}, {("f", "x"): "7"}])),
        outputs=draw(st.sampled_from([{}, {"f": "o"}])),
    )  # fmt: skip


@st.composite
def terms(draw: st.DrawFn, gold: Plan) -> Terms:
    ids = st.sampled_from([call.id for call in gold.calls] or ["none"])
    some = st.frozensets(ids, max_size=2)
    return Terms(
        optional=draw(some),
        before=tuple(draw(st.lists(st.tuples(ids, ids), max_size=3))),
        unordered=tuple(draw(st.lists(st.frozensets(ids, max_size=3), max_size=2))),
        accepted={name: {"x": (draw(SCALARS),)} for name in draw(some)},
        omittable={name: frozenset({"y"}) for name in draw(some)},
    )


@st.composite
def answers(draw: st.DrawFn, gold: Plan) -> Plan:
    """A prediction made of gold: arguments changed, added, left out, lists turned round, calls doubled."""
    calls = list(gold.calls)
    for _ in range(draw(st.integers(1, 3)) if calls else 0):
        at = draw(st.integers(0, len(calls) - 1))
        given_ = dict(calls[at].arguments)
        name = draw(st.sampled_from([*given_] or NAMES))
        change = draw(st.integers(0, 5))
        if change == 0:
            given_[draw(st.sampled_from(NAMES))] = draw(values(at))
        elif change == 1:
            given_.pop(name, None)
        elif change == 2 and isinstance(given_.get(name), list):
            given_[name] = draw(st.permutations(given_[name]))[: draw(st.integers(0, 4))]
        elif change == 3:
            calls.append(replace(calls[at], id=f"d{len(calls)}"))
            continue
        elif change == 4:
            calls[at], calls[0] = calls[0], calls[at]  # references stay where they point
            continue
        else:
            given_[name] = alike(given_.get(name), draw(st.integers(0, 1)))
        calls[at] = replace(calls[at], arguments=tuple(given_.items()))
    return Plan(tuple(calls), edges(tuple(calls)), gold.answer)


ALIKE = [
    [True, 1, "1", "true"], ["7", 7, "7.0"], [1, 1.1, 1.0], ["a", "A"], ["a, b", "b,a"], ["nyc", "New York"],
    ["2024-05-01", "May 1, 2024"], ["6:30 pm", "18:30"], ["$$$", 2, {}], [None, "", 0],
]  # fmt: skip


def alike(item: Any, which: int) -> Any:
    """Another value that some rule takes for this one."""
    if isinstance(item, list):
        return [alike(one, which) for one in item[::-1]]
    if isinstance(item, dict) and item:
        return {key: alike(one, which) for key, one in item.items()}
    others = next((group for group in ALIKE for one in group if repr(one) == repr(item)), None)
    return item if others is None else others[which] if repr(others[which]) != repr(item) else others[-1]


def wrong(found: Mapping[str, Tally | None]) -> dict[str, Tally]:
    """The figures that are not those of a plan that is right."""
    best = {name: 0 if METRICS[name].lower else 1 for name in found}
    there = {name: tally for name, tally in found.items() if tally is not None}
    return {name: tally for name, tally in there.items() if tally.value not in (None, best[name])}


@examples(300)
@given(st.data())
def test_gold_is_right_under_every_policy_and_every_terms(data: st.DataObject) -> None:
    gold = data.draw(plans())
    policy, open_ = data.draw(policies()), data.draw(terms(gold))
    for pred in (gold, Plan(gold.calls, gold.edges, gold.answer)):
        assert diff(pred, gold, policy, open_).edits == ()
        assert wrong(score(pred, gold, policy, open_)) == {}
        assert compare_structure(pred, gold, policy, open_).same


def test_a_circle_that_a_policy_takes_still_has_to_keep_golds_order() -> None:
    gold = parse("a = f(#y='1')\nb = g(#x=a)")
    said = "g (call 1, gold's 2) is written before f (call 2, gold's 1), whose output it needs"
    taken = Policy(rules=(Rule(compare=("any", "optional")),), order="data")
    circle = parse("b = g(#x=a)\na = f(#y=b)")
    for pred in (parse("b = g(#x=a)\na = f(#y='1')"), circle):
        assert [edit.message for edit in diff(pred, gold, taken).edits] == [said]
        assert wrong(score(pred, gold, taken)).keys() >= {"exact", "order_tau", "precedences"}
    assert said not in [edit.message for edit in diff(circle, gold).edits]  # its wrong argument is told


@examples(600)
@given(st.data())
def test_what_a_policy_takes_for_right_is_right_in_every_figure(data: st.DataObject) -> None:
    gold = data.draw(plans(4))
    pred = data.draw(answers(gold)) if data.draw(st.integers(0, 4)) else data.draw(plans(4))
    policy, open_ = data.draw(policies()), data.draw(terms(gold))
    found = diff(pred, gold, policy, open_)
    figures = score(pred, gold, policy, open_)
    exact = figures["exact"]
    assert exact is not None
    assert exact.value == found.same
    if found.same:
        assert wrong(figures) == {}
        assert compare_structure(pred, gold, policy, open_).same
    for name in DEFAULT_METRICS:
        tally = figures[name]
        if isinstance(tally, Counts):
            assert 0 <= tally.hit <= min(tally.pred, tally.gold), name
        if tally is not None and tally.value is not None:
            assert (-1 if name == "order_tau" else 0) <= tally.value <= 1, name
