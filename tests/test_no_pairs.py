"""Empty lists: beside one plan a plan without calls, beside many plans none of them; two are no pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError

CALL = {"name": "f", "arguments": {}}
EMPTY: list[Any] = [[], ()]


@pytest.mark.parametrize("pred", EMPTY, ids=repr)
@pytest.mark.parametrize("gold", EMPTY, ids=repr)
@pytest.mark.parametrize("verb", [pe.score, pe.pair, pe.evaluate, pe.report])
def test_two_empty_lists_are_no_pair(verb: Callable[..., Any], pred: Any, gold: Any) -> None:
    with pytest.raises(InputError, match="there are no pairs: both lists are empty"):
        verb(pred, gold)


def test_systems_beside_no_gold_are_refused() -> None:
    for systems in ([], []), (["f()"], ["g()"]):
        with pytest.raises(InputError, match="there are no pairs: gold is an empty list"):
            pe.compare(*systems, [])
        with pytest.raises(InputError, match="there are no pairs: gold is an empty list"):
            pe.compare(list(systems), [])
        with pytest.raises(InputError, match="there are no pairs: gold is an empty list"):
            pe.report(list(systems), [], names=["a", "b"])


@pytest.mark.parametrize("other", [[CALL], "f()", pe.parse("f()"), {"name": "f", "arguments": {}}], ids=str)
def test_beside_one_plan_an_empty_list_is_a_plan_without_calls(other: Any) -> None:
    assert pe.score([], other, metrics=["calls"])["calls"].gold == 1
    assert pe.score(other, [], metrics=["calls"])["calls"].pred == 1
    assert not pe.same([], other)
    assert pe.same([], [])


@pytest.mark.parametrize(
    "many", [["f()"], [[CALL]], [pe.parse("f()")], [{"output": "f()"}], ["f()", "g()"]], ids=str
)
def test_beside_many_plans_an_empty_list_is_none_of_them(many: list[Any]) -> None:
    assert pe.score([], many).states() == {"absent": len(many)}
    assert [row.state for row in pe.evaluate(many, [])] == ["gold_absent"] * len(many)


def test_lists_of_plans_are_counted_as_before() -> None:
    assert pe.score([[]], [[]]).states() == {"same": 1}
    assert pe.score([[CALL], []], [[CALL], []]).states() == {"same": 2}
    assert pe.score([CALL, CALL], [CALL, CALL], metrics=["exact"])["exact"].whole == 1


def test_a_table_without_rows_is_no_plan_without_calls() -> None:
    nothing = pe.read(one for one in ())
    assert (nothing.many, nothing.records) == (True, ())
    assert pe.stats(iter(())).plans == 0
    assert pe.score(iter(()), ["f()"]).states() == {"absent": 1}
    assert pe.score(iter(()), iter(())).figure("exact") is None
    with pytest.raises(InputError, match="holds 0 records, expected one plan"):
        pe.parse(iter(()))
