"""The walker over values, and the hot loops that keep their own: all see the same leaves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import fresh, resolve
from planner_eval.execution.program import tree
from planner_eval.plan.model import Ref, Template, Unresolved, references
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


@given(VALUES.filter(lambda value: not list(references(value))))
def test_a_fresh_value_is_the_value_and_shares_nothing_that_can_change(value: Any) -> None:
    copy = fresh(value)
    assert copy == value == map_leaves(lambda leaf: leaf, copy)
    assert not isinstance(value, (list, dict)) or copy is not value
