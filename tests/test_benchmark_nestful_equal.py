"""NESTful's number of equal calls, told without a search: held against the search, on plans of every kind."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.benchmarks.nestful import corrected
from planner_eval.benchmarks.nestful.corrected import count_equal_calls
from planner_eval.benchmarks.paired import pair_calls
from planner_eval.comparison.matching.align import match
from planner_eval.plan.canonical import compare
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading.dialects.read import parse
from tests.build import edges
from tests.conftest import examples, tabled
from tests.plant import KINDS
from tests.property.test_comparison_laws import plans


def made(calls: Sequence[Call]) -> Plan:
    given = tuple(replace(call, id=f"c{at}") for at, call in enumerate(calls))
    return Plan(given, edges(given))


def by_search(pred: Plan, gold: Plan) -> int | None:
    if compare(pred, gold).same:
        return None
    return corrected._maximize_equal_calls(pred, gold, match(pred, gold).alignment.pairs)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The predictions for which a search is asked."""
    asked: list[Plan] = []

    def counted(pred: Plan, gold: Plan) -> Sequence[tuple[int, int]] | None:
        asked.append(pred)
        return pair_calls(pred, gold)

    monkeypatch.setattr(corrected, "pair_calls", counted)
    return asked


@pytest.mark.more
@examples(1_000)
@given(plans(6), st.integers(0, 2**32))
def test_it_is_the_number_that_the_search_comes_to(gold: Plan, seed: int) -> None:
    pred, random = gold, Random(seed)
    for plant in random.choices([*KINDS.values()], k=random.choice((1, 1, 1, 2, 3))):
        found = plant(pred, random)
        pred = pred if found is None else found.plan
    if match(pred, gold).alignment.proved:
        assert count_equal_calls(pred, gold) == by_search(pred, gold)


DIVIDED = """\
a = divide(#x='20', #y='100')
b = multiply(#x='7', #y=a)
c = divide(#x='20', #y='100')
d = multiply(#x='9', #y=c)"""
"""Two calls are equal but for who uses them."""


@tabled("text, number")
def test_no_search_is_asked_about_one_mistake(text: str, number: int, searched: list[Plan]) -> None:
    gold, pred = parse(DIVIDED), parse(text)
    assert count_equal_calls(pred, gold) == number == by_search(pred, gold)
    assert not searched


def powers(used: int, *values: tuple[int, int]) -> Plan:
    """Powers of these, and the floor of one of them."""
    given = [Call("", "power", (("x", x), ("y", y))) for x, y in values]
    return made([*given, Call("", "floor", (("x", Ref(used)),))])


@pytest.mark.parametrize("used", [0, 1])
def test_of_two_pairings_with_as_many_differing_arguments_the_better_counts(used: int) -> None:
    """Two arguments differ whichever power stands for gold's; floor is right where the one it uses does."""
    assert count_equal_calls(powers(used, (3, 5), (5, 3)), powers(0, (2, 5))) == 1


def test_a_strange_name_that_is_not_like_the_right_one_is_left_to_the_search(searched: list[Plan]) -> None:
    gold, pred = parse(DIVIDED), parse(DIVIDED.replace("divide", "share", 1))
    assert count_equal_calls(pred, gold) == by_search(pred, gold)
    assert len(searched) == 1
