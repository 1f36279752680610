"""Pairing of calls: optimal where small, bounded and honest where large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest

from planner_eval.comparison.align import Alignment, align, match
from planner_eval.comparison.diff import diff
from planner_eval.comparison.matching.assignment import _augment, assign
from planner_eval.comparison.matching.blocks import Block, solve
from planner_eval.comparison.matching.pairing import ALONE, FREE, Pairing, Side
from planner_eval.dialects.read import parse
from planner_eval.plan.canonical import Numbered
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.policy import DEFAULT_POLICY, Policy, Terms
from planner_eval.policy.rule import Rule
from tests.build import edges


def chain(*values: object, name: str = "f") -> Plan:
    return Plan(tuple(Call(f"c{i}", name, (("x", value),)) for i, value in enumerate(values)))


@pytest.mark.parametrize("seed", range(40))
def test_assignment_is_optimal(seed: int) -> None:
    random = Random(seed)
    rows, columns = random.randint(1, 5), random.randint(1, 6)
    costs = [[random.randint(0, 6) for _ in range(columns)] for _ in range(rows)]
    pairs = assign(costs)
    assert len(pairs) == min(rows, columns)
    assert len({r for r, _ in pairs}) == len({c for _, c in pairs}) == len(pairs)
    if rows > columns:
        costs = [list(column) for column in zip(*costs, strict=True)]
        pairs = [(c, r) for r, c in pairs]
    images = permutations(range(max(rows, columns)), len(costs))
    best = min(sum(costs[r][c] for r, c in enumerate(image)) for image in images)
    assert sum(costs[r][c] for r, c in pairs) == best


def test_large_assignment_agrees_with_the_small_one() -> None:
    random = Random(5)
    costs = [[random.randint(0, 99) for _ in range(60)] for _ in range(60)]
    assert sum(costs[r][c] for r, c in assign(costs)) == sum(costs[r][c] for r, c in _augment(costs))


def test_equal_calls_first_then_the_nearest() -> None:
    found = align(chain("Rome", "Oslo", "Pari"), chain("Paris", "Rome", "Oslo"))
    assert found.pairs == ((2, 0), (0, 1), (1, 2))
    assert found.proved
    assert align(chain("rome ", "new  YORK"), chain("New York", "Rome")).pairs == ((1, 0), (0, 1))
    assert align(Plan(), Plan()) == Alignment()
    assert align(Plan(), chain(1, 2)) == Alignment(missing=(0, 1))
    assert align(chain(1, 2), Plan()) == Alignment(extra=(0, 1))
    assert match(chain(1), chain(1)).pairing is None
    assert match(chain(1), chain(2)).pairing is not None


def test_of_equally_dear_pairings_the_one_of_like_values_is_taken_in_any_order() -> None:
    given = [("Dover", "May 4 2026", "450"), ("Calais", "May 11 2026", "75"), ("Cork", "June 2 2026", "8")]
    wanted = [
        ("Dover, UK", "2026-05-04", 450), ("Calais, FR", "2026-05-11", 75), ("Cork, IE", "2026-06-02", 8),
    ]  # fmt: skip

    def ferries(calls: list[Any], places: Iterable[int]) -> Plan:
        return Plan(
            tuple(Call(f"c{at}", "ferry", tuple(zip("abc", calls[at], strict=True))) for at in places)
        )

    for order in permutations(range(3)):
        found = align(ferries(given, order), ferries(wanted, range(3)))
        assert found.pairs == tuple((order.index(at), at) for at in range(3))


def test_consumers_tell_equal_calls_apart() -> None:
    found = align(
        parse("a = roll()\nb = roll()\nleft(x=b)\nright(x=a, y=2)", dialect="code"),
        parse("a = roll()\nb = roll()\nleft(x=a)\nright(x=b, y=1)", dialect="code"),
    )
    assert found.pairs == ((1, 0), (0, 1), (2, 2), (3, 3))
    assert found.proved


def random_plan(random: Random, size: int) -> Plan:
    calls: list[Call] = []
    for i in range(size):
        given: list[tuple[str, object]] = [("x", random.randint(0, 2))]
        if i and random.random() < 0.7:
            given.append(("r", Ref(random.randrange(i), random.choice([(), ("o",)]))))
        calls.append(Call(f"c{i}", random.choice("fg"), tuple(given)))
    return Plan(tuple(calls), edges(tuple(calls)))


def cheapest(pred: Plan, gold: Plan) -> float:
    """The least cost of any pairing that keeps to names, by trying all."""
    table: dict[object, int] = {}
    pairing = Pairing(Side(Numbered(pred, table)), Side(Numbered(gold, table)))
    best = float("inf")
    count = range(len(gold.calls))
    for image in permutations(range(len(pred.calls))):
        if all(pairing.pred.tools[p] == pairing.gold.tools[g] for g, p in enumerate(image)):
            for gold_call, pred_call in enumerate(image):
                pairing.pair(pred_call, gold_call)
            best = min(best, pairing.total(count))
    return best


def changed(random: Random, gold: Plan) -> Plan:
    """The plan with some literals and some producers changed."""
    calls = []
    for at, call in enumerate(gold.calls):
        given: list[tuple[str, object]] = []
        for name, value in call.arguments:
            if random.random() < 0.25:
                value = (
                    Ref(random.randrange(at), value.path) if isinstance(value, Ref) else random.randint(0, 2)
                )
            given.append((name, value))
        calls.append(Call(call.id, call.name, tuple(given)))
    return Plan(tuple(calls), edges(tuple(calls)))


def test_alignments_called_exact_are_the_cheapest_of_all() -> None:
    exact = tried = 0
    for seed in range(400):
        random = Random(seed)
        gold = random_plan(random, 6)
        pred = changed(random, gold)
        found = match(pred, gold)
        if found.pairing is None:
            continue
        tried += 1
        exact += found.alignment.proved
        if found.alignment.proved:
            assert found.pairing.total(range(6)) == pytest.approx(cheapest(pred, gold), abs=1e-2), seed
    assert tried >= 200
    assert exact / tried >= 0.98


def test_a_changed_call_among_ten_thousand_equal_names_is_found_exactly() -> None:
    count = 10_000
    gold = Plan(tuple(Call(f"c{i}", "f", (("x", i), ("y", 1))) for i in range(count)))
    pred = Plan((*gold.calls[:500], Call("new", "f", (("x", 500), ("y", 2))), *gold.calls[501:]))
    found = align(pred, gold)
    assert found.proved
    assert found.pairs == tuple((i, i) for i in range(count))


def test_a_replaced_call_is_paired_by_its_surroundings() -> None:
    text = "a = start()\nb = {}(x=a)\nend(x=b)\naside(n=1)"
    one, other = (parse(text.format(name), dialect="code") for name in ("wrong", "right"))
    assert align(one, other).pairs == ((0, 0), (1, 1), (2, 2), (3, 3))


def test_a_call_of_gold_may_stay_alone_so_that_a_later_one_gets_the_better_partner() -> None:
    pred = (Call("a", "g", (("x", 0),)), Call("b", "g", (("x", 1), ("r", Ref(1)))))
    gold = (Call("a", "g", (("x", 1),)), *(Call(i, "g", (("x", 0), ("r", Ref(0)))) for i in "bc"))
    found = align(Plan(pred, edges(pred)), Plan(gold, edges(gold)))
    assert found == Alignment(((1, 0), (0, 1)), missing=(2,))


def test_a_second_try_that_is_dearer_is_taken_back() -> None:
    """Equal calls held together cost four arguments here, asked again without that five."""

    def calls(*given: tuple[str, int, int | None]) -> Plan:
        made = tuple(
            Call(f"c{i}", name, (("x", x), *([] if r is None else [("r", Ref(r))])))
            for i, (name, x, r) in enumerate(given)
        )
        return Plan(made, edges(made))

    pred = calls(("g", 2, None), ("f", 1, 1), ("g", 0, 1), ("g", 0, 3), ("g", 0, 0))
    gold = calls(("g", 2, None), ("g", 0, 0), ("f", 2, 1), ("g", 0, 1), ("g", 0, 3), ("g", 2, 0))
    found = align(pred, gold)
    assert found.pairs == ((0, 0), (4, 1), (1, 2), (2, 3), (3, 4))
    assert found.missing == (5,)


def optional_first(*values: object, policy: Policy = DEFAULT_POLICY) -> tuple[tuple[int, int], ...]:
    """The pairs of one call against two of gold, of which the first need not be made."""
    gold = chain(*values)
    return match(chain(1), gold, policy, Terms(optional=frozenset({"c0"}))).alignment.pairs


def test_of_equals_the_optional_call_stays_alone() -> None:
    assert optional_first(1, 1) == ((0, 1),)
    assert optional_first(2, 2) == ((0, 1),)
    assert optional_first(1, 2) == ((0, 0),)
    judged = Policy(rules=(Rule("*", compare=("any",)),))
    assert optional_first(1, 2, policy=judged) == ((0, 1),)


def exchanged(numbers: list[int]) -> tuple[Plan, Plan]:
    """Calls of f that take five of p in turn; in pred, written backwards, each takes the next but one."""

    def made(step: int, order: Sequence[int]) -> Plan:
        calls = [Call(f"p{i}", "p", (("x", i),)) for i in range(5)]
        calls += [Call(f"f{i}", "f", (("n", numbers[i]), ("r", Ref((i + step) % 5)))) for i in order]
        return Plan(tuple(calls), edges(tuple(calls)))

    return made(2, range(len(numbers))[::-1]), made(0, range(len(numbers)))


def test_in_a_large_block_calls_that_differ_only_in_their_producers_are_partners() -> None:
    found = align(*exchanged(list(range(54))))
    assert found.pairs[5:] == tuple((58 - i, 5 + i) for i in range(54))
    assert found.proved
    assert not align(*exchanged([i // 2 for i in range(54)])).proved  # several look so


@pytest.mark.parametrize(("count", "proved"), [(45, True), (190, False)])
def test_a_block_is_proved_by_its_bound_unless_it_is_large(count: int, proved: bool) -> None:
    """45 calls are too many to try everything, 190 to solve more than once."""
    gold = Plan(tuple(Call(f"c{i}", "f", (("x", i), ("y", f"v{i}"))) for i in range(count)))
    pred = Plan(tuple(Call(f"c{i}", "f", (("x", -i - 1), ("y", f"v{i}"))) for i in reversed(range(count))))
    for more in ((), (Call("more", "f", (("x", -1000), ("y", 0))),)):
        found = align(Plan((*pred.calls, *more)), gold)
        assert found.pairs == tuple((count - 1 - i, i) for i in range(count))
        assert found.proved is proved


def cheapest_of_all(pred: Plan, gold: Plan) -> float:
    """The least cost of any pairing that keeps to names and pairs as many calls as it can, by trying all."""
    table: dict[object, int] = {}
    pairing = Pairing(Side(Numbered(pred, table)), Side(Numbered(gold, table)))
    ours, theirs = range(len(pred.calls)), range(len(gold.calls))
    wanted = sum((Counter(pairing.pred.tools) & Counter(pairing.gold.tools)).values())
    best = float("inf")
    for image in permutations((*ours, *[ALONE] * len(theirs)), len(theirs)):
        pairs = [(p, g) for g, p in enumerate(image) if p != ALONE]
        if len(pairs) == wanted and all(pairing.pred.tools[p] == pairing.gold.tools[g] for p, g in pairs):
            pairing.release(ours, theirs, ALONE)
            for p, g in pairs:
                pairing.pair(p, g)
            best = min(best, pairing.total(theirs))
    return best


@pytest.mark.parametrize("seed", range(60))
def test_a_proved_pairing_of_unequal_plans_is_the_cheapest_of_all(seed: int) -> None:
    random = Random(seed)
    gold, pred = (random_plan(random, random.randint(2, 4)) for _ in "ab")
    table: dict[object, int] = {}
    pairing = Pairing(Side(Numbered(pred, table)), Side(Numbered(gold, table)))
    tools = {*pairing.gold.tools} | {*pairing.pred.tools}
    blocks = [
        Block(
            [at for at, other in enumerate(pairing.gold.tools) if other == tool],
            [at for at, other in enumerate(pairing.pred.tools) if other == tool],
        )
        for tool in sorted(tools, key=str)
    ]
    solve(pairing, blocks)
    assert FREE not in pairing.to_pred[: len(gold.calls)]
    if pairing.proved:
        cost = pairing.total(range(len(gold.calls)))
        assert cost == pytest.approx(cheapest_of_all(pred, gold), abs=1e-3)


def test_strangers_are_not_paired() -> None:
    found = align(parse("play(song='s')", dialect="code"), parse("f(x=1)\ng(y=2)", dialect="code"))
    assert found == Alignment((), (0, 1), (0,))


def test_many_replaced_calls_say_that_nothing_is_proved() -> None:
    gold = Plan(tuple(Call(f"c{i}", f"f{i}", (("x", i),)) for i in range(60)))
    pred = Plan(tuple(Call(f"c{i}", f"g{i}", (("x", i),)) for i in range(60)))
    found = align(pred, gold)
    assert found.pairs == tuple((i, i) for i in range(60))
    assert not found.proved


def test_an_order_that_names_no_call_of_gold_asks_for_nothing() -> None:
    gold = Plan((Call("a", "f"), Call("b", "g")))
    pred = Plan((Call("b", "g"), Call("a", "f")))
    for before in (("lost", "b"), ("a", "lost")):
        assert match(pred, gold, terms=Terms(before=(before,))).misplaced == ()
        assert match(gold, gold, terms=Terms(before=(before[::-1],))).misplaced == ()
    assert [m.gold for m in match(pred, gold, terms=Terms(before=(("a", "b"),))).misplaced] == [1]


@pytest.mark.parametrize(
    ("gold", "pred", "said"),
    [
        (
            "a = load(x=1)\nb = load(x=1)\ns = sum_up(left=a, right=b)",
            "a = load(x=1)\nb = load(x=2)\ns = frobnicate(left=a, right=b)",
            [
                "load (call 2): argument 'x' is 2, gold gives 1",
                "frobnicate (call 3) stands for gold's sum_up",
            ],
        ),
        (
            "a = load(x=1)\nb = load(x=1)\ns = sum_up(items=[a, b])",
            "a = load(x=1)\nb = load(x=2)\ns = frobnicate(items=[a, b])",
            [
                "load (call 2): argument 'x' is 2, gold gives 1",
                "frobnicate (call 3) stands for gold's sum_up",
            ],
        ),
        (
            "a = load(b=2)\nb = load(b=2)\nc = load(b=2)\nx = pow(p=a, q=101)\ny = merge(p=b, q=102)\n"
            "z = rank(p=c, q=103)",
            "a = load(b=502)\nb = load(b=2)\nc = load(b=2)\nx = frobnicate(p=a, q=101)\n"
            "y = merge(p=b, q=102)\nz = rank(p=b, q=103)",
            [
                "load (call 1): argument 'b' is 502, gold gives 2",
                "frobnicate (call 4) stands for gold's pow",
                "rank (call 6): argument 'p' takes the result of load (call 2), "
                "gold takes the result of load (call 3)",
            ],
        ),
    ],
    ids=["names", "a list", "one of several"],
)
def test_a_call_of_another_tool_tells_which_of_equal_calls_is_which(
    gold: str, pred: str, said: list[str]
) -> None:
    for lines in (pred, "\n".join([*pred.split("\n")[1::-1], *pred.split("\n")[2:]])):  # in any order
        found = diff(parse(lines), parse(gold))
        assert len(found.roots) == len(said)
        if lines == pred:
            assert [root.message for root in found.roots] == said
