"""The shape of a plan as a text, held against NetworkX: equal texts if and only if isomorphic graphs."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.plan.shape import EXACT, shape
from tests.build import edges
from tests.conftest import examples

Graph = list[list[int]]


def plan(needs: Graph) -> Plan:
    """A plan in which each call takes from those that it needs."""
    taken = [tuple((f"x{p}", Ref(p)) for p in needed) for needed in needs]
    calls = tuple(Call(f"c{at}", f"f{at}", given) for at, given in enumerate(taken))
    return Plan(calls, edges(calls))


def mixed(needs: Graph, random: Random) -> Graph:
    """The same graph, its calls written in another order."""
    order = random.sample(range(len(needs)), len(needs))
    found: Graph = [[] for _ in needs]
    for call, needed in enumerate(needs):
        found[order[call]] = sorted(order[p] for p in needed)
    return found


def graph(needs: Graph) -> nx.DiGraph[int]:
    made: nx.DiGraph[int] = nx.DiGraph()
    made.add_nodes_from(range(len(needs)))
    made.add_edges_from((p, call) for call, needed in enumerate(needs) for p in needed)
    return made


@st.composite
def needs(draw: st.DrawFn, most: int = 12) -> Graph:
    """A plan's graph without circles, symmetric more often than by chance."""
    count = draw(st.integers(1, most))
    found: Graph = [[] for _ in range(count)]
    for call in range(1, count):
        few = st.lists(st.integers(0, call - 1), max_size=draw(st.integers(0, 3)), unique=True)
        found[call] = sorted(draw(few))
    if 2 * count <= most and draw(st.booleans()):
        found += [[p + count for p in needed] for needed in found]
    return found


def test_pieces_stand_apart_and_a_ring_does_not() -> None:
    """Four calls that each serve two, and four that each need two: once in two pieces, once in one."""
    pieces: Graph = [[], [], [0, 1], [0, 1], [], [], [4, 5], [4, 5]]
    ring: Graph = [[], [], [0, 1], [1, 4], [], [], [4, 5], [5, 0]]
    assert shape(plan(pieces)) == "(a:()b:()) (ab) + (a:()b:()) (ab)"
    assert shape(plan(ring)) == "(a:()b:()) (ac:()) (bd:()) (cd)"
    assert shape(plan([[], [0], [0]])) == "(a:()) (a)"
    assert shape(plan([[], [], [0], [1]])) == "(()) + (())"
    assert shape(plan([[], [], []])) == "() + () + ()"
    assert shape(Plan()) == ""


@given(needs(), st.randoms(use_true_random=False))
@examples(300)
def test_the_order_of_calls_means_nothing(found: Graph, random: Random) -> None:
    assert shape(plan(found)) == shape(plan(mixed(found, random)))


@given(needs(), st.randoms(use_true_random=False))
@examples(300)
def test_texts_are_equal_if_and_only_if_graphs_are_isomorphic(found: Graph, random: Random) -> None:
    """Against a neighbour: one reference taken from another call, the rest the same, in another order."""
    other = [list(needed) for needed in found]
    takers = [call for call, needed in enumerate(other) if needed and len(needed) < call]
    if takers:
        call = random.choice(takers)
        new = random.choice([p for p in range(call) if p not in other[call]])
        other[call] = sorted([*other[call][1:], new])
    other = mixed(other, random)
    alike = nx.is_isomorphic(graph(found), graph(other))
    assert (shape(plan(found)) == shape(plan(other))) is alike


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_graph_of_few_calls(count: int) -> None:
    places = list(combinations(range(count), 2))
    by_text: dict[str, nx.DiGraph[int]] = {}
    for drawn in product((False, True), repeat=len(places)):
        found: Graph = [[] for _ in range(count)]
        for (producer, consumer), there in zip(places, drawn, strict=True):
            found[consumer] += [producer] * there
        text, one = shape(plan(found)), graph(found)
        assert nx.is_isomorphic(by_text.setdefault(text, one), one), text
    assert len(by_text) == {1: 1, 2: 2, 3: 6, 4: 31}[count]  # unlabelled acyclic graphs, OEIS A003087


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_regular_graphs_that_colours_cannot_tell_apart(step: int) -> None:
    """Six calls that serve two, and six that need two: one ring, or several, of equal colours."""

    def ring(jump: int) -> Graph:
        return [*([] for _ in range(6)), *(sorted({k, (k + jump) % 6}) for k in range(6))]

    text, random = shape(plan(ring(step))), Random(step)
    assert (text == shape(plan(ring(1)))) is (step in (1, 5))
    assert {shape(plan(mixed(ring(step), random))) for _ in range(20)} == {text}


def test_large_pieces_and_circles_have_a_text_that_order_does_not_change() -> None:
    random = Random(7)
    wide: Graph = [[], *([0] for _ in range(EXACT)), list(range(1, EXACT + 1))]
    assert shape(plan(wide)) == f"({'(()×16)' * EXACT})"
    assert shape(plan(mixed(wide, random))) == shape(plan(wide))
    assert shape(plan([[1], [0], [], [2], [2]])) == "(a:()) (a) + ((*))"
    assert shape(plan([[] for _ in range(5000)])).count("+") == 4999
