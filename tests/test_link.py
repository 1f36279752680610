"""Linking: which call a reference means, what is said when it is doubtful, and the walks over values.

Plans drawn at random, with all their notes, are lines of tests/cases/linked.jsonl; ``pytest
tests/test_link.py --update-cases`` rewrites the file: review its diff like code.
"""

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import LimitError
from planner_eval.base.json_text import RepeatedKeyDict
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import copy_containers, resolve
from planner_eval.execution.program import tree
from planner_eval.plan.arithmetic import compute
from planner_eval.plan.canonical import compare, digest, producers_of, same
from planner_eval.plan.linking import link, move_references
from planner_eval.plan.model import (
    Edge,
    Plan,
    RawCall,
    RawComputed,
    RawPlan,
    RawRef,
    RawTemplate,
    Ref,
    Template,
    Unresolved,
    contains_kind,
    fold,
    leaves,
    map_leaves,
    references,
)
from planner_eval.plan.structure import argument_kinds, nesting_patterns, shape
from planner_eval.reading.dialects.dialect import Data
from planner_eval.reading.dialects.notations import nestful, plan
from planner_eval.reading.dialects.notations.nestful import REFERENCE, read_references
from tests.conftest import ROOT, AsKept


def call(name: str, *binds: str, label: str | None = None, **arguments: object) -> RawCall:
    names = tuple((b, (b,)) for b in binds) + (((label, ()),) if label else ())
    return RawCall(name, tuple(arguments.items()), label=label, binds=names)


def linked_plan(*calls: RawCall) -> Plan:
    return link(RawPlan(calls))


def codes(plan: Plan) -> list[str]:
    return [d.code for d in plan.diagnostics]


def test_a_name_means_the_nearest_earlier_producer_and_says_when_there_are_several() -> None:
    plan = linked_plan(call("f", "city"), call("g", "city"), call("h", a=RawRef("city")))
    assert plan.edges == (Edge(1, 2, "a", (), ("city",)),)
    assert codes(plan) == ["reference.ambiguous"]
    assert "calls 1, 2" in plan.diagnostics[0].message


def test_a_label_twice_is_said_once_and_means_the_nearest() -> None:
    plan = linked_plan(call("f", label="v"), call("g", label="v"), call("h", label="w", a=RawRef("v")))
    assert [c.id for c in plan.calls] == ["v", "v_2", "w"]
    assert plan.calls[2].arguments == (("a", Ref(1)),)
    assert codes(plan) == ["label.duplicate"]
    plan = linked_plan(call("f", label="v"), call("g", label="v"), call("h", label="v_2"))  # a label is kept
    assert len({c.id for c in plan.calls}) == 3
    assert plan.calls[2].id == "v_2"


def test_a_self_reference_is_said_only_when_nobody_else_returns_the_name() -> None:
    assert codes(linked_plan(call("f", "x", a=RawRef("x")))) == ["reference.self"]
    assert codes(linked_plan(call("f", "x", a=RawRef("x")), call("g", "x"))) == ["reference.forward"]
    assert codes(linked_plan(call("g", "x"), call("f", "x", a=RawRef("x")))) == []


def test_references_inside_lists_objects_and_text() -> None:
    inner = {"k": [1, RawRef("v", ("p",)), RawTemplate(("from ", RawRef("v")))]}
    plan = linked_plan(call("f", label="v"), call("g", a=inner))
    assert [(e.at, e.path) for e in plan.edges] == [(("k", 1), ("p",)), (("k", 2, 1), ())]
    assert plan.calls[1].arguments[0][1]["k"][2] == Template(("from ", Ref(0)))
    value: object = 1
    for _ in range(50):
        value = [value]
    with pytest.raises(LimitError, match="deeper than 20"):
        link(RawPlan((RawCall("f", (("a", value),)),)), depth=20)


def test_the_graph_has_one_edge_for_each_argument_and_path() -> None:
    plan = linked_plan(call("f", "x", "y"), call("g", a=RawRef("x"), b=RawRef("y")))
    graph = plan.graph
    assert graph.number_of_nodes() == 2
    assert sorted(graph.edges(keys=True)) == [(0, 1, ("a", ())), (0, 1, ("b", ()))]
    assert graph.nodes[0]["name"] == "f"


def test_a_call_without_a_label_gives_way_to_a_name_that_no_call_returns() -> None:
    plan = linked_plan(call("f"), call("g", a=RawRef("c1")), call("h", a=RawRef("c2_2"), b=RawRef("c2")))
    assert [c.id for c in plan.calls] == ["c1_2", "c2_3", "c3"]
    assert plan.calls[1].arguments == (("a", Unresolved("c1")),)


FILE = ROOT / "tests" / "cases" / "linked.jsonl"
COUNT = 100
LITERALS: tuple[Any, ...] = (0, 1.5, "a", None, True, [], {}, [1, {"k": "a"}], {"k": [None, "b"]})


def raw_value(random: Random, names: str, depth: int = 2) -> Any:
    kind = random.randrange(9)
    if kind < 4:
        return RawRef(random.choice(names), random.choice(((), (), ("o",), ("p", 0))))
    if kind == 4:
        return RawTemplate(("to ", RawRef(random.choice(names)), random.choice(("!", RawRef("lost")))))
    if kind == 5:
        return RawComputed(random.choice(("1 + 2", "2 * x", "7 / 2", "x" * 70)))
    if kind == 6 and depth:
        inner = raw_value(random, names, depth - 1)
        pairs = [("k", 1), (random.choice("kn"), inner)]
        return random.choice(([inner, 1], {"k": inner, "n": 2}, RepeatedKeyDict(pairs)))
    return random.choice(LITERALS)


def drawn(random: Random) -> RawPlan:
    """Up to twelve calls that bind few names."""
    count = random.choice((0, 1, 2, 3, 4, 5, 6, 12))
    names = random.choice(("ab", "abc", "abcdef"))
    calls = []
    for at in range(count):
        label = random.choice((None, None, random.choice(names), f"{random.choice(names)}_2", f"c{at}"))
        binds = [(label, ())] if label is not None and random.random() < 0.9 else []
        if random.random() < 0.5:
            binds.append((random.choice(names), random.choice(((), ("r",)))))
        given = [
            (random.choice("xyz"), raw_value(random, names + random.choice(("", "q"))))
            for _ in range(random.choice((0, 1, 1, 2, 3)))
        ]
        calls.append(RawCall(random.choice("fg"), tuple(given), None, label, tuple(binds)))
    if count == 12 and random.random() < 0.5:  # a circle of many
        many = random.choice((9, 10, 11, 12))
        calls = [
            RawCall("f", (("x", RawRef(f"n{to}")),), binds=((f"n{at}", ()),))
            for at, to in enumerate([*((at + 1) % many for at in range(many)), *[99] * (count - many)])
        ]
    answer = (("out", raw_value(random, names)), ("out", 1)) if random.random() < 0.3 else None
    return RawPlan(tuple(calls), answer)


def said(seed: int) -> dict[str, Any]:
    """The plan that linking makes, with all its notes."""
    random = Random(f"linked {seed}")
    raw = drawn(random)
    found: dict[str, Any] = {"seed": seed, "raw": repr([(c.label, c.name, c.arguments) for c in raw.calls])}
    try:
        plan = link(raw, compute=random.choice((None, compute)), depth=random.choice((1, 2, 200)))
    except LimitError as error:
        return {**found, "refused": str(error)}
    values = [given for call in plan.calls for _, given in call.arguments]
    return {
        **found, "calls": [[call.id, call.name, repr(call.arguments)] for call in plan.calls],
        "answer": repr(plan.answer),
        "edges": [[e.producer, e.consumer, e.argument, e.at, e.path] for e in plan.edges],
        "notes": [[n.code, n.severity, n.call, n.argument, n.message] for n in plan.diagnostics],
        "holds": [[contains_kind(one, Ref), contains_kind(one, (Template, str))] for one in values],
        "leaves": [[[at, repr(leaf)] for at, leaf in leaves(one)] for one in values],
        "changed": repr([map_leaves(lambda leaf: "new" if leaf == "a" else leaf, one) for one in values]),
        "shape": [shape(plan), nesting_patterns(plan), argument_kinds(plan)],
        "digest": [digest(plan)[:8], digest(plan, values=False)[:8]],
    }  # fmt: skip


def test_what_linking_makes_of_each(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, range(COUNT)))


def test_linking_means_the_same_each_time_and_ids_are_unique() -> None:
    plans: list[Plan] = []
    for seed in range(COUNT):
        raw = drawn(Random(f"linked {seed}"))
        plan = link(raw)
        assert len({call.id for call in plan.calls}) == len(plan.calls), seed
        assert same(plan, link(raw)), seed
        plans.append(plan)
    for one, other in pairwise(plans):
        assert compare(one, other).same is (digest(one) == digest(other))


STEPS = st.lists(st.one_of(st.text(max_size=3), st.integers(0, 9)), max_size=2).map(tuple)
REFERENCES = st.builds(Ref, st.integers(0, 5), STEPS) | st.builds(Unresolved, st.text(max_size=3), STEPS)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)  # a plan has no others: link refuses them
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), FLOATS, st.text(max_size=4))
TEMPLATES = st.builds(Template, st.lists(st.text(max_size=3) | REFERENCES, max_size=3).map(tuple))
VALUES = st.recursive(
    st.one_of(SCALARS, REFERENCES, TEMPLATES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)

RAW = st.recursive(
    st.one_of(SCALARS, st.lists(st.sampled_from(["$a$", "$b.x y[1]$", "$", "at "]), max_size=3).map("".join)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.tuples(inner, inner).map(lambda pair: RepeatedKeyDict([("k", pair[0]), ("k", pair[1])])),
    ),
    max_leaves=12,
)  # fmt: skip


def pairs(value: Any) -> Any:
    """A value in which objects are told apart by their keys' order and repetition too."""
    if isinstance(value, dict):
        found = value.pairs if isinstance(value, RepeatedKeyDict) else value.items()
        return (type(value), [(key, pairs(item)) for key, item in found])
    return [pairs(item) for item in value] if isinstance(value, list) else (type(value), value)


def at(value: Any, way: tuple[str | int, ...]) -> Any:
    for step in way:
        value = value.parts[step] if isinstance(value, Template) else value[step]
    return value


@given(VALUES)
def test_each_leaf_stands_where_its_way_leads(value: Any) -> None:
    found = list(leaves(value))
    assert len({way for way, _ in found}) == len(found)
    for way, leaf in found:
        assert at(value, way) is leaf
        assert not isinstance(leaf, (list, dict, Template))
    refer = [(way, leaf) for way, leaf in found if isinstance(leaf, (Ref, Unresolved))]
    assert list(references(value)) == refer
    by_name = [leaf.call for _, leaf in sorted(refer, key=lambda one: one[0]) if isinstance(leaf, Ref)]
    assert list(producers_of(value)) == by_name
    assert map_leaves(lambda leaf: leaf, value) == fold(value, lambda leaf: leaf) == value
    counted = fold(value, lambda _: 1, items=sum, fields=lambda made: sum(made.values()), text=len)
    assert counted == len(found)
    if not refer:  # a worker's copy shares nothing that can change
        copy = copy_containers(value)
        assert copy == value
        assert not isinstance(value, (list, dict)) or copy is not value


@given(VALUES)
def test_moved_references_stand_where_they_stood(value: Any) -> None:
    place = {0: 3, 1: 0, 4: 1}
    after = dict(leaves(move_references(value, place, {2: "lost"})))
    for way, leaf in leaves(value):
        if not isinstance(leaf, Ref):
            assert after[way] == leaf
        elif leaf.call in place:
            assert after[way] == Ref(place[leaf.call], leaf.path)
        else:
            assert after[way] == Unresolved({2: "lost"}.get(leaf.call, f"c{leaf.call + 1}"), leaf.path)


@given(RAW)
def test_reading_references_is_a_change_of_leaves(value: Any) -> None:
    def leaf(item: Any) -> Any:
        return read_references(item) if isinstance(item, str) else item

    assert pairs(read_references(value)) == pairs(map_leaves(leaf, value))
    written = sum(len(REFERENCE.findall(item)) for _, item in leaves(value) if isinstance(item, str))
    assert sum(isinstance(item, RawRef) for _, item in leaves(read_references(value))) == written
    assert pairs(map_leaves(lambda leaf: leaf, value)) == pairs(value)  # repeated keys stay repeated


def given_by(call: int, path: tuple[str | int, ...]) -> str:
    return f"{call}{list(path)}"


@given(VALUES)
def test_what_a_worker_resolves_is_the_value_with_what_calls_gave(value: Any) -> None:
    def leaf(found: Any) -> Any:
        return given_by(found.call, found.path) if isinstance(found, Ref) else found

    def text(parts: tuple[Any, ...]) -> str:
        return "".join(leaf(part) for part in parts)

    if any(isinstance(found, Unresolved) for _, found in leaves(value)):
        with pytest.raises(CallFailed, match="the plan has no call that returns"):
            resolve(tree(value), given_by)
    else:
        assert resolve(tree(value), given_by) == fold(value, leaf, text=text)


@given(st.recursive(
    st.one_of(SCALARS, RAW), lambda of: st.lists(of) | st.dictionaries(st.sampled_from(["$ref", "a"]), of),
))  # fmt: skip
def test_recognition_asks_every_leaf_and_every_object(value: Any) -> None:
    data = Data([{"a": value}], [{"a": value}], [{"a": value}], "")
    texts = [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]
    assert (nestful.fits(data) is not None) == any(map(REFERENCE.search, texts))
    found = fold(value, lambda _: False, items=any, fields=lambda made: "$ref" in made or any(made.values()))
    assert (plan.fits(data) is not None) == found
