"""The walker over values, and the hot loops that keep their own: all see the same leaves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.jsontext import Repeated
from planner_eval.dialects import nestful, plan
from planner_eval.dialects.dialect import Data
from planner_eval.dialects.nestful import REFERENCE, to_reference
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import fresh, resolve
from planner_eval.execution.program import tree
from planner_eval.plan.canonical import producers_of, value_key
from planner_eval.plan.link import link
from planner_eval.plan.model import (
    RawCall,
    RawPlan,
    RawRef,
    RawTemplate,
    Ref,
    Template,
    Unresolved,
    references,
)
from planner_eval.plan.rewire import moved
from planner_eval.plan.walk import fold, holds, leaves, map_leaves

STEPS = st.lists(st.one_of(st.text(max_size=3), st.integers(0, 9)), max_size=2).map(tuple)
REFERENCES = st.one_of(
    st.builds(Ref, st.integers(0, 5), STEPS), st.builds(Unresolved, st.text(max_size=3), STEPS)
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)  # a plan has no others: link refuses them
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), FLOATS, st.text(max_size=4))
TEMPLATES = st.lists(st.one_of(st.text(max_size=3), REFERENCES), max_size=3).map(
    lambda parts: Template(tuple(parts))
)
VALUES = st.recursive(
    st.one_of(SCALARS, REFERENCES, TEMPLATES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)

RAW = st.recursive(
    st.one_of(SCALARS, st.lists(st.sampled_from(["$a$", "$b.x y[1]$", "$", "at "]), max_size=3).map("".join)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.tuples(inner, inner).map(lambda pair: Repeated([("k", pair[0]), ("k", pair[1])])),
    ),
    max_leaves=12,
)


def pairs(value: Any) -> Any:
    """A value in which objects are told apart by their keys' order and repetition too."""
    if isinstance(value, dict):
        found = value.pairs if isinstance(value, Repeated) else value.items()
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
        copy = fresh(value)
        assert copy == value
        assert not isinstance(value, (list, dict)) or copy is not value


@given(VALUES)
def test_moved_references_stand_where_they_stood(value: Any) -> None:
    place = {0: 3, 1: 0, 4: 1}
    after = dict(leaves(moved(value, place, {2: "lost"})))
    for way, leaf in leaves(value):
        if not isinstance(leaf, Ref):
            assert after[way] == leaf
        elif leaf.call in place:
            assert after[way] == Ref(place[leaf.call], leaf.path)
        else:
            assert after[way] == Unresolved({2: "lost"}.get(leaf.call, f"c{leaf.call + 1}"), leaf.path)


@given(VALUES)
def test_a_value_holds_what_its_leaves_are(value: Any) -> None:
    kinds = {type(leaf) for _, leaf in leaves(value)}
    for kind in (Ref, Unresolved, str, bool, type(None)):
        assert holds(value, kind) == (kind in kinds)
    assert holds(value, (Ref, Unresolved)) == bool(kinds & {Ref, Unresolved})
    texts = fold(value, lambda _: 0, items=sum, fields=lambda made: sum(made.values()), text=lambda _: 1)
    assert holds(value, Template) == (texts > 0)


@given(VALUES)
def test_a_key_is_a_fold(value: Any) -> None:
    numbers = [7, 3, 3, 9, 0, 1]

    def leaf(found: Any) -> Any:
        return value_key(found, numbers)

    folded = fold(
        value,
        leaf,
        items=lambda made: ("list", *made),
        fields=lambda made: ("dict", *sorted(made.items())),
        text=lambda parts: ("text", *map(leaf, parts)),
    )
    assert value_key(value, numbers) == folded


@given(VALUES)
def test_linking_keeps_each_leaf_in_its_place(value: Any) -> None:
    def written(leaf: Any) -> Any:
        if isinstance(leaf, Ref):
            return RawRef(f"call {leaf.call}", leaf.path)
        return RawRef(f"? {leaf.name}", leaf.path) if isinstance(leaf, Unresolved) else leaf

    def meant(leaf: Any) -> Any:
        return Unresolved(f"? {leaf.name}", leaf.path) if isinstance(leaf, Unresolved) else leaf

    raw = fold(value, written, text=lambda parts: RawTemplate(tuple(map(written, parts))))
    producers = [RawCall("f", binds=((f"call {call}", ()),)) for call in range(6)]
    plan = link(RawPlan((*producers, RawCall("g", (("x", raw),)))))
    assert plan.calls[6].arguments == (("x", map_leaves(meant, value)),)
    wanted = [(leaf.call, way, leaf.path) for way, leaf in leaves(value) if isinstance(leaf, Ref)]
    assert [(edge.producer, edge.at, edge.path) for edge in plan.edges] == wanted


@given(RAW)
def test_reading_references_is_a_change_of_leaves(value: Any) -> None:
    def leaf(item: Any) -> Any:
        return to_reference(item) if isinstance(item, str) else item

    assert pairs(to_reference(value)) == pairs(map_leaves(leaf, value))
    written = sum(len(REFERENCE.findall(item)) for _, item in leaves(value) if isinstance(item, str))
    assert sum(isinstance(item, RawRef) for _, item in leaves(to_reference(value))) == written
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
