"""NESTful's number of equal calls, told without a search: held against the search, on plans of every kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from planner_eval.benchmarks.nestful import equal
from planner_eval.benchmarks.nestful.equal import equal_calls
from planner_eval.benchmarks.paired import paired
from planner_eval.comparison.align import match
from planner_eval.dialects.read import parse
from planner_eval.plan.canonical import compare
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import map_leaves
from tests.build import edges

SEEDS = 3000
VALUES: Sequence[Value] = (0, 1, 1.0, True, None, "1", "x", [0, 1], {"a": 1}, Unresolved("v", ()))
TOOLS = ("f", "g", "get_user", "get-user", "get_user_now")


def made(calls: Sequence[Call]) -> Plan:
    given = tuple(replace(call, id=f"c{at}") for at, call in enumerate(calls))
    return Plan(given, edges(given))


def drawn(random: Random) -> Plan:
    """A plan with many calls that are equal, or equal but for what they refer to."""
    size, tools = random.randint(1, 7), random.sample(TOOLS, random.choice((1, 1, 2, 2, 3)))
    values = random.sample(VALUES, random.choice((1, 2, 3)))
    onwards = random.random() < 0.1
    calls = []
    for at in range(size):
        reach = size if onwards else at
        given: list[tuple[str, Value]] = []
        for name in random.sample("xyz", random.randint(1, 3)):
            if reach and random.random() < 0.6:
                ref = Ref(random.randrange(reach), random.choice([(), ("o",)]))
                given.append((name, random.choice([ref, ref, [ref, Ref(random.randrange(reach))]])))
            else:
                given.append((name, random.choice(values)))
        app = random.choice((None, "A")) if random.random() < 0.1 else None
        calls.append(Call(f"c{at}", random.choice(tools), tuple(given), app=app))
    return made(calls)


def kept(plan: Plan, order: Sequence[int]) -> Plan:
    """The calls at these places, those made twice too; what refers to another is unresolved."""
    places = {at: place for place, at in reversed([*enumerate(order)])}

    def moved(leaf: Value) -> Value:
        if not isinstance(leaf, Ref):
            return leaf
        there = leaf.call in places
        return replace(leaf, call=places[leaf.call]) if there else Unresolved(f"c{leaf.call}", leaf.path)

    def of(call: Call) -> Call:
        given = tuple((name, map_leaves(moved, value)) for name, value in call.arguments)
        return replace(call, arguments=given)

    return made([of(plan.calls[at]) for at in order])


def _with(plan: Plan, at: int, call: Call) -> Plan:
    return made([*plan.calls[:at], call, *plan.calls[at + 1 :]])


def other_arguments(random: Random, plan: Plan) -> Plan:
    at = random.randrange(len(plan))
    given = [*plan.calls[at].arguments]
    value = random.choice([12345, *VALUES, *(Ref(random.randrange(len(plan))) for _ in "ab")])
    place = random.randrange(len(given)) if given else 0
    changes = (
        [(random.choice(("w", "x")), random.choice(VALUES))], [(given[place][0], value)] if given else [], [],
    )  # fmt: skip
    changed = random.choice(changes)
    given[place : place + (changed is not changes[0])] = changed
    return _with(plan, at, replace(plan.calls[at], arguments=tuple(given)))


def renamed(random: Random, plan: Plan) -> Plan:
    at = random.randrange(len(plan))
    name = random.choice((*TOOLS, plan.calls[at].name + "_now", "F", "h"))
    return _with(plan, at, replace(plan.calls[at], name=name))


def reordered(random: Random, plan: Plan) -> Plan:
    """Calls missing, made twice or in another order."""
    order = [*range(len(plan))]
    what, start = (
        random.choice(("missing", "twice", "order")),
        random.choice((0, random.randrange(len(plan)))),
    )
    if what == "missing":
        del order[start : start + random.choice((1, 1, 2))]
    elif what == "twice":
        order.insert(random.choice((len(plan), random.randint(0, len(plan)))), random.randrange(len(plan)))
    else:
        order = random.choice((order[::-1], random.sample(order, len(order))))
    return kept(plan, order) if order else plan


EDITS: Sequence[Callable[[Random, Plan], Plan]] = (*[other_arguments] * 3, renamed, *[reordered] * 3)


def by_search(pred: Plan, gold: Plan) -> int | None:
    if compare(pred, gold).same:
        return None
    return equal._most_equal(pred, gold, match(pred, gold).alignment.pairs)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The predictions for which a search is asked."""
    asked: list[Plan] = []

    def counted(pred: Plan, gold: Plan) -> Sequence[tuple[int, int]] | None:
        asked.append(pred)
        return paired(pred, gold)

    monkeypatch.setattr(equal, "paired", counted)
    return asked


@pytest.mark.more
def test_it_is_the_number_that_the_search_comes_to(searched: list[Plan]) -> None:
    tried = 0
    for seed in range(SEEDS):
        random = Random(seed)
        gold = pred = drawn(random)
        for edit in random.choices(EDITS, k=random.choice((1, 1, 1, 2, 3))):
            pred = edit(random, pred)
        if match(pred, gold).alignment.proved:
            tried += 1
            assert equal_calls(pred, gold) == by_search(pred, gold), seed
    assert tried > 0.99 * SEEDS
    assert 0.2 * SEEDS < len(searched) < 0.5 * SEEDS


DIVIDED = """\
a = divide(#x='20', #y='100')
b = multiply(#x='7', #y=a)
c = divide(#x='20', #y='100')
d = multiply(#x='9', #y=c)"""
"""Two calls are equal but for who uses them."""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (DIVIDED.replace("divide", "divide_now", 1), 3),  # what uses it is right
        (DIVIDED.partition("\n")[2], 2),  # what uses the missing call is wrong
        (DIVIDED + "\ne = divide(#x='20', #y='100')", 4),
        ("\n".join(DIVIDED.split("\n")[::-1]), 4),  # in an order in which they cannot be made
        (DIVIDED.replace("'7'", "'9'"), 3),  # another call has that value: one argument differs
        (DIVIDED.replace("'7'", "'5'").replace("'100'", "'5'", 1), 2),  # no call has these values
        (DIVIDED.replace("#x='7', ", ""), 3),
    ],
)
def test_no_search_is_asked_about_one_mistake(text: str, number: int, searched: list[Plan]) -> None:
    gold, pred = parse(DIVIDED), parse(text)
    assert equal_calls(pred, gold) == number == by_search(pred, gold)
    assert not searched


def powers(used: int, *values: tuple[int, int]) -> Plan:
    """Powers of these, and the floor of one of them."""
    given = [Call("", "power", (("x", x), ("y", y))) for x, y in values]
    return made([*given, Call("", "floor", (("x", Ref(used)),))])


@pytest.mark.parametrize("used", [0, 1])
def test_of_two_pairings_with_as_many_differing_arguments_the_better_counts(used: int) -> None:
    """Two arguments differ whichever power stands for gold's; floor is right where the one it uses does."""
    assert equal_calls(powers(used, (3, 5), (5, 3)), powers(0, (2, 5))) == 1


def test_a_strange_name_that_is_not_like_the_right_one_is_left_to_the_search(searched: list[Plan]) -> None:
    gold, pred = parse(DIVIDED), parse(DIVIDED.replace("divide", "share", 1))
    assert equal_calls(pred, gold) == by_search(pred, gold)
    assert len(searched) == 1
