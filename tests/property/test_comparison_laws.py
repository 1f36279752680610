"""Laws of comparison: what may not change a verdict, and what must."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from planner_eval.comparison.diff import diff
from planner_eval.comparison.matching import align
from planner_eval.comparison.metrics import METRICS, measure, score
from planner_eval.comparison.metrics.facts import Share
from planner_eval.plan.canonical import compare, digest, same
from planner_eval.plan.model import Call, Plan, Ref
from tests.build import edges, plan
from tests.conftest import examples
from tests.plant import topological
from tests.real_plans import real_plans

names = st.sampled_from(["f", "g", "h"])
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=True, allow_infinity=False, width=16),
    st.sampled_from(["", "a", "A", "1", "true"]),
)  # fmt: skip
literals = st.recursive(leaves, lambda inner: st.one_of(
    st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
), max_leaves=4)  # fmt: skip
paths = st.sampled_from([(), ("o",), ("o", 0)])


@st.composite
def plans(draw: st.DrawFn, most: int = 7) -> Plan:
    """A plan of up to `most` calls that refer to earlier ones, deep within values at times."""
    calls: list[Call] = []
    for at in range(draw(st.integers(0, most))):
        values: dict[str, object] = {}
        for name in draw(st.lists(st.sampled_from("xyz"), unique=True, max_size=3)):
            value = draw(literals)
            if at and draw(st.booleans()):
                value = Ref(draw(st.integers(0, at - 1)), draw(paths))
                if draw(st.integers(0, 4)) == 0:
                    value = [value, {"k": value}]
            values[name] = value
        calls.append(Call(f"c{at}", draw(names), tuple(values.items()), draw(st.sampled_from([None, "A"]))))
    answer = None
    if calls and draw(st.booleans()):
        answer = (("out", Ref(draw(st.integers(0, len(calls) - 1)))),)
    return Plan(tuple(calls), edges(tuple(calls)), answer)


def keys_reversed(value: object) -> object:
    if isinstance(value, dict):
        return {key: keys_reversed(item) for key, item in reversed(value.items())}
    return [keys_reversed(item) for item in value] if isinstance(value, list) else value


def arguments_reversed(original: Plan) -> Plan:
    calls = tuple(
        Call(f"other{i}", c.name, tuple((n, keys_reversed(v)) for n, v in reversed(c.arguments)), c.app)
        for i, c in enumerate(original.calls)
    )
    return Plan(calls, edges(calls), original.answer)


@settings(deadline=None)
@given(plans(), st.integers(0, 9))
def test_labels_orders_and_keys_carry_no_meaning(one: Plan, seed: int) -> None:
    other = topological(arguments_reversed(one), Random(seed))
    assert other is not None
    for same_one in (one, other):
        verdict = compare(same_one, one)
        assert (verdict.same, verdict.proved) == (True, True)
        assert diff(same_one, one).edits == ()
    assert digest(other) == digest(one)


@settings(deadline=None)
@given(plans(4), plans(4))
def test_sameness_is_symmetric_and_agrees_with_diff_and_digest(one: Plan, other: Plan) -> None:
    verdict = same(one, other)
    assert same(other, one) is verdict
    assert diff(one, other).same is verdict
    assert not verdict or digest(one) == digest(other)


_TAKES_TWICE = [{"$ref": "c0"}, {"k": {"$ref": "c0"}}]
# A call of another app is the partner of one in doubt, and its position that of a call in doubt.
_DOUBTED = plan([
    {"id": "c0", "name": "f"},
    {"id": "c1", "name": "f", "arguments": {"x": None, "y": _TAKES_TWICE, "z": None}},
    {"id": "c2", "name": "f", "arguments": {"x": None, "y": None}},
    {"id": "c3", "name": "f", "arguments": {"x": None}, "app": "A"},
    {"id": "c4", "name": "g"}, {"id": "c5", "name": "g"},
])  # fmt: skip
_OTHER = plan([
    {"id": "c0", "name": "f"}, {"id": "c1", "name": "f", "arguments": {"x": _TAKES_TWICE, "y": None}},
    {"id": "c2", "name": "f"}, {"id": "c3", "name": "f"},
])  # fmt: skip


@settings(deadline=None)
@given(plans(), plans())
@example(_DOUBTED, _OTHER)
def test_alignments_are_complete_causes_come_first_and_roles_agree(one: Plan, other: Plan) -> None:
    found = diff(one, other)
    pairs, extra, missing = found.alignment.pairs, found.alignment.extra, found.alignment.missing
    assert sorted([p for p, _ in pairs] + list(extra)) == list(range(len(one.calls)))
    assert sorted([g for _, g in pairs] + list(missing)) == list(range(len(other.calls)))
    assert [g for _, g in pairs] == sorted(g for _, g in pairs)
    for position, edit in enumerate(found.edits):
        assert edit.cause is None or 0 <= edit.cause < position
    assert bool(found.roots) is bool(found.edits)
    roles = [role.role for role in found.calls()]
    assert (roles.count("missing"), roles.count("extra")) == (len(missing), len(extra))
    drawn = list(found.edges())
    assert sum(role.gold is not None for role in drawn) == len(other.edges)
    assert sum(role.pred is not None for role in drawn) == len(one.edges)


@settings(deadline=None)
@given(plans(4), plans(4))
def test_counts_are_whole_numbers(one: Plan, other: Plan) -> None:
    """Sums keep what is counted once for all samples that have it: 2 and 2.0 would depend on their order."""
    for pred in (one, other):
        tallies = [tally for tally in score(pred, one, metrics=METRICS).values() if tally is not None]
        assert len(tallies) > 10
        for tally in tallies:
            numbers = (tally.whole,) if isinstance(tally, Share) else (tally.hit, tally.pred, tally.gold)
            assert {type(number) for number in numbers} == {int}


def test_laws_hold_for_all_real_plans(reference) -> None:
    for seed, gold in enumerate(real_plans(reference)):
        assert diff(arguments_reversed(gold), gold).same
        for other in (gold, topological(gold, Random(seed))):
            if other is not None:
                verdict = compare(other, gold)
                assert (verdict.same, verdict.proved) == (True, True)
                assert diff(other, gold).edits == ()
                assert digest(other) == digest(gold)


def both_ways(pred: Plan, gold: Plan) -> tuple[align.Matching, align.Matching]:
    """How two plans are paired, and how the search alone pairs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align, "pair_in_place", lambda _pairing: False)
        searched = align.match(pred, gold)
    return align.match(pred, gold), searched


@examples(300)
@given(plans(), st.data())
def test_plans_that_differ_in_place_are_paired_as_by_the_search(gold: Plan, data: st.DataObject) -> None:
    calls = list(gold.calls)
    for at in data.draw(st.lists(st.integers(0, max(len(calls) - 1, 0)), max_size=3)) if calls else ():
        name = data.draw(st.sampled_from("xyzw"))
        given = dict(calls[at].arguments) | {name: data.draw(literals)}
        calls[at] = replace(calls[at], arguments=tuple(given.items()))
    pred = Plan(tuple(calls), edges(tuple(calls)), gold.answer)
    found, searched = both_ways(pred, gold)
    assert found.alignment == searched.alignment
    one, other = found.pairing, searched.pairing
    if one is not None and other is not None:
        assert (one.to_gold, one.to_pred) == (other.to_gold, other.to_pred)


@examples(300)
@given(plans(), st.data())
def test_a_call_of_another_tool_in_place_changes_no_figure(gold: Plan, data: st.DataObject) -> None:
    """None that the search gives: of equal calls another may be the partner, which only their order tells."""
    assume(gold.calls)
    calls = [*gold.calls, *(data.draw(st.lists(st.sampled_from(gold.calls), max_size=2)))]  # some are equal
    gold = Plan(tuple(calls), edges(tuple(calls)), gold.answer)
    at = data.draw(st.integers(0, len(calls) - 1))
    calls[at] = replace(calls[at], name=data.draw(st.sampled_from(["another", f"{calls[at].name}s"])))
    if data.draw(st.booleans()):
        given = dict(calls[at].arguments) | {data.draw(st.sampled_from("xyzw")): data.draw(literals)}
        calls[at] = replace(calls[at], arguments=tuple(given.items()))
    found, searched = both_ways(Plan(tuple(calls), edges(tuple(calls)), gold.answer), gold)
    names = [name for name, metric in METRICS.items() if metric.group != "order"]
    assert measure(found, names) == measure(searched, names)
    assert found.alignment.proved >= searched.alignment.proved
