"""Equality of plans: the 38 pairs, and the cases that tell a careless comparison from an exact one."""

import json
import math
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base import resources
from planner_eval.plan.canonical import compare, digest, same
from planner_eval.plan.model import Call, Diagnostic, Plan, RawRef, Ref, Template, Unresolved
from tests.build import edges, plan
from tests.plant import in_order, topological

PAIRS = json.loads(resources.read("data/selftest/plan_pairs.json"))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['id']} {pair['what']}")
def test_pair(pair: dict) -> None:
    wanted = pair["id"] == "20" if pair["policy_dependent"] else pair["same"]
    verdict = compare(plan(pair["pred"]), plan(pair["gold"]))
    assert (verdict.same, verdict.proved) == (wanted, True)
    assert len(PAIRS) == 38


def one(value: object) -> Plan:
    return Plan((Call("c", "f", (("x", value),)),))


@pytest.mark.parametrize(("left", "right", "wanted"), [
    (7, 7.0, True), (-0.0, 0, True), (1e300, int(1e300), True), (10**400, 10**400, True),
    (0.1 + 0.2, 0.3, False), (True, 1, False), (False, 0.0, False), (True, True, True), (None, "null", False),
    (None, None, True), ("7", 7, False), (math.nan, math.nan, True), (math.nan, None, False),
    (math.inf, -math.inf, False), ([], {}, False), ([], None, False), ([1, 2], [2, 1], False),
    ([[1], 2], [1, [2]], False), ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, True),
    ({"a": 1}, {"a": 1, "b": None}, False), (["dict", ["a", 1]], {"a": 1}, False),
    (Unresolved("x", ("y",)), Unresolved("x", ("y",)), True), (Unresolved("x"), Unresolved("z"), False),
    (Unresolved("x"), "x", False), (Template(("a", Unresolved("x"))), Template(("a", Unresolved("x"))), True),
    (Template(("a",)), "a", False), (date(2027, 3, 1), date(2027, 3, 1), True),
    (date(2027, 3, 1), date(2027, 3, 2), False), (date(2027, 3, 1), "2027-03-01", False),
])  # fmt: skip
def test_values(left: object, right: object, wanted: bool) -> None:
    assert same(one(left), one(right)) is wanted
    assert same(one(right), one(left)) is wanted
    assert (digest(one(left)) == digest(one(right))) is wanted


def test_answer_and_app_are_part_of_the_meaning() -> None:
    calls = [{"id": "a", "name": "f"}, {"id": "b", "name": "f"}, {"id": "c", "name": "g"}]
    first = plan(calls, {"out": {"$ref": "a"}})
    assert same(first, plan(calls, {"out": {"$ref": "b"}}))  # the two f are each other's twin
    assert not same(first, plan(calls, {"out": {"$ref": "c"}}))
    assert not same(first, plan(calls))
    assert not same(plan(calls), first)
    assert same(plan(calls, {}), plan(calls))
    use = {"id": "c", "name": "g", "arguments": {"x": {"$ref": "a"}}}
    of_other = plan([*calls[:2], use], {"out": {"$ref": "b"}})  # which tells twins apart
    assert not same(plan([*calls[:2], use], {"out": {"$ref": "a"}}), of_other)
    assert same(of_other, plan([calls[1], calls[0], use], {"out": {"$ref": "b"}}))
    assert not same(Plan((Call("c", "f", app="A"),)), Plan((Call("c", "f", app="B"),)))
    assert not same(Plan((Call("c", "f", app="A"),)), Plan((Call("c", "f"),)))


def ring(sizes: list[int]) -> Plan:
    """Rings of rolled dice: add(d0, d1), add(d1, d2) … add(d_last, d0), one ring a size."""
    calls: list[Call] = []
    for size in sizes:
        start = len(calls)
        calls += [Call(f"d{start}{i}", "roll") for i in range(size)]
        calls += [
            Call(f"a{start}{i}", "add", (("a", Ref(start + i)), ("b", Ref(start + (i + 1) % size))))
            for i in range(size)
        ]
    return Plan(tuple(calls), edges(tuple(calls)))


@pytest.mark.parametrize(("left", "right"), [([6], [3, 3]), ([4, 4], [8]), ([5, 3], [4, 4]), ([12], [6, 6])])
def test_rings_that_colours_cannot_tell_apart(left: list[int], right: list[int]) -> None:
    verdict = compare(ring(left), ring(right))
    assert (verdict.same, verdict.proved) == (False, True)
    assert digest(ring(left)) == digest(ring(right))  # why a digest alone does not decide


@pytest.mark.parametrize("sizes", [[3], [8], [3, 4], [5, 5, 5], [2, 40]])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rings_are_found_again_in_any_order(sizes: list[int], seed: int) -> None:
    verdict = compare(topological(ring(sizes), Random(seed)) or Plan(), ring(sizes))
    assert (verdict.same, verdict.proved) == (True, True)
    mapping = verdict.mapping
    assert mapping is not None
    assert sorted(mapping) == list(range(len(mapping)))


def test_circles_and_self_references() -> None:
    def circles(*sizes: int, names: str = "f") -> Plan:
        """Circles of calls, each of which takes the next of its circle."""
        calls: list[Call] = []
        for size in sizes:
            first = len(calls)
            for i in range(size):
                calls.append(
                    Call(str(first + i), names[i % len(names)], (("x", Ref(first + (i + 1) % size)),))
                )
        return Plan(tuple(calls), edges(tuple(calls)))

    assert not same(circles(6), circles(3, 3))
    assert same(circles(3, 6), circles(6, 3))
    assert same(circles(2, names="fg"), circles(2, names="fg"))
    assert same(circles(1), circles(1))
    assert not same(circles(3, names="fgh"), circles(3, names="fhg"))
    assert not same(circles(1), plan([{"id": "a", "name": "f", "arguments": {"x": {"$ref": "nobody"}}}]))


PRODUCER = {"id": "a", "name": "f", "arguments": {}}
CONSUMER = {"id": "b", "name": "g", "arguments": {"x": {"$ref": "a"}}}


def test_forward_references_count_against_the_prediction_only() -> None:
    forward, usual = plan([CONSUMER, PRODUCER]), plan([PRODUCER, CONSUMER])
    assert not same(forward, usual)
    assert same(usual, forward)
    assert same(forward, forward)


def test_plans_that_are_written_alike_are_told_as_by_their_numbers() -> None:
    values = (1, True, 1.0, math.nan, "1", None, [1], [True], Ref(0), Unresolved("a"))
    written = [
        *(ring([3, 3]), ring([6]), in_order(ring([4]), [5, 2, 7, 0, 1, 6, 3, 4]), *map(one, values)),
        *(plan([CONSUMER, PRODUCER]), plan([PRODUCER, CONSUMER]), plan([PRODUCER, PRODUCER, CONSUMER])),
        *(plan([PRODUCER, CONSUMER], {"out": {"$ref": "b"}}), plan([PRODUCER, CONSUMER], {})),
    ]
    for pred in written:
        for gold in written:
            by_numbers = compare(pred, gold, normalise=lambda _plan, _position, given: given)
            assert compare(pred, replace(gold)) == compare(pred, gold) == by_numbers


def test_what_a_call_gave_and_where_it_stood_is_no_part_of_it() -> None:
    more: Any = {"returns": ("r",), "span": (0, 4), "spans": ((2, 3),), "result": 7, "has_result": True}
    told = Call("c", "f", (("x", 1),), **more)
    assert told == Call("c", "f", (("x", 1),))
    assert same(Plan((told,)), one(1))
    note = Diagnostic("value.computed", "said")
    read = Plan((Call("a", "f", (("x", Ref(0, (), (4, 5))),)),), (), None, (note,), "plan", "text")
    assert read == Plan((Call("a", "f", (("x", Ref(0)),)),))
    assert "'text'" not in repr(read)
    assert read != Plan((Call("a", "f", (("x", Ref(1)),)),))


READ: list[tuple[Any, dict[str, Any], set[str]]] = [
    (Plan((Call("c1", "f"),)), {
        "diagnostics": (Diagnostic("a", "b"),), "dialect": "json", "text": "f()", "steps": (7,),
        "reason": "why",
    }, {"text", "steps", "reason"}),
    (Call("c1", "f"), {
        "returns": ("a",), "span": (7, 8), "spans": ((7, 8),), "result": 7, "has_result": True, "turn": 7,
    }, set()),
    (Ref(0), {"span": (7, 8)}, {"span"}), (RawRef("a"), {"span": (7, 8)}, {"span"}),
    (pe.diff("f(#x='1')", "f()"), {"matching": None, "shortest": False}, {"matching", "shortest"}),
    (pe.Rule(tool="f"), {"where": "line 7"}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("value", "fields", "hidden"), READ)
def test_how_something_was_read_is_no_part_of_what_it_is(
    value: Any, fields: dict[str, Any], hidden: set[str]
) -> None:
    for name, other in fields.items():
        changed = replace(value, **{name: other})
        assert changed == value
        assert (repr(changed) == repr(value)) == (name in hidden), name
