"""The walker over values, and the hot loops that keep their own: all see the same leaves."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.jsontext import Repeated
from planner_eval.dialects import nestful, plan
from planner_eval.dialects.dialect import Data
from planner_eval.dialects.nestful import REFERENCE, to_reference
from planner_eval.plan.model import RawRef, Ref, Template, Unresolved, references
from planner_eval.plan.rewire import moved
from planner_eval.plan.walk import fold, leaves, map_leaves

STEPS = st.lists(st.one_of(st.text(max_size=3), st.integers(0, 9)), max_size=2).map(tuple)
REFERENCES = st.one_of(
    st.builds(Ref, st.integers(0, 5), STEPS), st.builds(Unresolved, st.text(max_size=3), STEPS)
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4))
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


@given(VALUES)
def test_references_are_the_leaves_that_refer(value: Any) -> None:
    refer = [(way, leaf) for way, leaf in leaves(value) if isinstance(leaf, (Ref, Unresolved))]
    assert list(references(value)) == refer


@given(VALUES)
def test_unchanged_leaves_give_the_same_value(value: Any) -> None:
    assert map_leaves(lambda leaf: leaf, value) == value
    assert fold(value, lambda leaf: leaf) == value


@given(VALUES)
def test_moving_references_is_a_change_of_leaves(value: Any) -> None:
    place = {0: 3, 1: 0, 4: 1}

    def change(leaf: Any) -> Any:
        return moved(leaf, place)

    assert moved(value, place) == map_leaves(change, value)


@given(VALUES)
def test_a_fold_sees_each_leaf_once(value: Any) -> None:
    counted = fold(
        value,
        lambda leaf: 1,
        items=sum,
        fields=lambda made: sum(made.values()),
        text=len,
    )
    assert counted == sum(1 for _ in leaves(value))


@given(RAW)
def test_reading_references_is_a_change_of_leaves(value: Any) -> None:
    def leaf(item: Any) -> Any:
        return to_reference(item) if isinstance(item, str) else item

    assert pairs(to_reference(value)) == pairs(map_leaves(leaf, value))
    written = sum(len(REFERENCE.findall(item)) for _, item in leaves(value) if isinstance(item, str))
    assert sum(isinstance(item, RawRef) for _, item in leaves(to_reference(value))) == written


@given(RAW)
def test_repeated_keys_stay_repeated(value: Any) -> None:
    assert pairs(map_leaves(lambda leaf: leaf, value)) == pairs(value)


@given(RAW)
def test_recognition_asks_every_leaf(value: Any) -> None:
    data = Data([{"a": value}], [{"a": value}], [{"a": value}], "")
    texts = [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]
    assert (nestful.fits(data) is not None) == any(map(REFERENCE.search, texts))


@given(
    st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["$ref", "a"]), inner)
    )
)
def test_recognition_asks_every_object(value: Any) -> None:
    data = Data([{"a": value}], [{"a": value}], [{"a": value}], "")
    found = fold(
        value, lambda leaf: False, items=any, fields=lambda made: "$ref" in made or any(made.values())
    )
    assert (plan.fits(data) is not None) == found
