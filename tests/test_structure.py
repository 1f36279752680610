"""Structure figures on hand-drawn plans, and against NetworkX on random and on real ones."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.dialects.read import parse
from planner_eval.plan import structure
from planner_eval.plan.model import Call, Diagnostic, Edge, Plan, Ref, Unresolved
from planner_eval.plan.statistics import Stats, stats
from planner_eval.plan.summary import FIGURES, INFERRED, summarise

#    0 → 2 → 3      4 → 5
#    1 ↗   ↘ 6
DIAMOND = [(0, 2), (1, 2), (2, 3), (2, 6), (4, 5)]


def plan_of(size: int, pairs: list[tuple[int, int]]) -> Plan:
    calls = tuple(
        Call(f"c{i}", "f", tuple((f"a{p}", Ref(p)) for p, c in pairs if c == i)) for i in range(size)
    )
    edges = tuple(Edge(p, c, f"a{p}") for p, c in sorted(pairs, key=lambda e: e[1]))
    return Plan(calls, edges)


def test_figures_of_a_plan_drawn_by_hand() -> None:
    plan = plan_of(7, DIAMOND)
    assert structure.components(plan) == [[0, 1, 2, 3, 6], [4, 5]]
    assert structure.topological_generations(plan) == [[0, 1, 4], [2, 5], [3, 6]]
    assert structure.depth(plan) == 3
    assert structure.width(plan) == 3
    assert structure.critical_path(plan) == [0, 2, 3]
    assert structure.roots(plan) == [0, 1, 4]
    assert structure.sinks(plan) == [3, 5, 6]
    assert structure.fan_in(plan) == [0, 0, 2, 1, 0, 1, 1]
    assert structure.fan_out(plan) == [1, 1, 2, 0, 1, 0, 0]
    assert structure.parallel_scale(plan) == 2
    assert structure.sequential_scale(plan) == 5
    assert structure.nesting_patterns(plan) == {"A→B": 1, "A→{B,C}": 1, "{A,B}→C": 1}


def test_an_empty_plan_has_figures() -> None:
    figures = stats(Plan())
    counted = [value for value in asdict(figures).values() if isinstance(value, int)]
    assert counted == [0] * 17
    assert figures.critical_path == ()


def test_circles_and_self_references_end() -> None:
    plan = plan_of(4, [(0, 1), (1, 2), (2, 1), (3, 3)])
    assert sorted(i for g in structure.topological_generations(plan) for i in g) == [0, 1, 2, 3]
    assert structure.critical_path(plan)
    assert stats(plan).components == 2


def test_a_reference_of_a_call_to_itself_is_none_to_another_call() -> None:
    figures = stats(parse("a = f(#x=a)\ng(#y=a)"))
    assert (figures.references, figures.edges, figures.max_fan_in) == (1, 1, 1)
    assert figures.argument_kinds == {"reference": 1, "unresolved": 1}


def test_several_references_between_two_calls_count_once_in_the_structure() -> None:
    plan = parse("a, b = f(#x='1')\ng(#y=a, #z=b)")
    figures = stats(plan)
    assert (figures.references, figures.edges, figures.max_fan_in) == (2, 1, 1)


edges = st.integers(0, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0))), max_size=20).map(
            lambda pairs: sorted((min(p), max(p)) for p in pairs if p[0] != p[1])
        ),
    )
)


def check_against_networkx(plan: Plan) -> None:
    graph = nx.DiGraph(plan.graph)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    assert structure.components(plan) == sorted(sorted(c) for c in nx.weakly_connected_components(graph))
    if not nx.is_directed_acyclic_graph(graph):
        return
    assert structure.topological_generations(plan) == [sorted(g) for g in nx.topological_generations(graph)]
    if len(plan):
        assert structure.depth(plan) == nx.dag_longest_path_length(graph) + 1
    path = structure.critical_path(plan)
    assert len(path) == structure.depth(plan)
    assert all(graph.has_edge(a, b) for a, b in pairwise(path))
    assert structure.fan_in(plan) == [graph.in_degree(i) for i in range(len(plan))]
    assert structure.fan_out(plan) == [graph.out_degree(i) for i in range(len(plan))]


@given(edges)
def test_figures_agree_with_networkx(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    size, pairs = drawn
    check_against_networkx(plan_of(size, [p for p in pairs if p[1] < size]))


@given(edges, st.randoms(use_true_random=False))
def test_the_order_of_calls_changes_no_figure(
    drawn: tuple[int, list[tuple[int, int]]], random: object
) -> None:
    size, pairs = drawn
    pairs = [p for p in pairs if p[1] < size]
    places = list(range(size))
    random.shuffle(places)  # type: ignore[attr-defined]
    moved = plan_of(size, [(places[a], places[b]) for a, b in pairs])
    ours, theirs = stats(plan_of(size, pairs)), stats(moved)
    for name in ("depth", "width", "components", "sequential_scale", "patterns", "shape", "roots", "sinks"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("part", ["ss", "sm", "ms", "mm"])
def test_real_plans_agree_with_networkx(reference: Path, part: str) -> None:
    records = json.loads((reference / f"datasets/appbench/test_{part}.json").read_text())
    plans = [parse(record["output"]) for record in records]
    for plan in plans:
        check_against_networkx(plan)
    summary = summarise(stats(plan) for plan in plans)
    figures = {f.name: f for f in summary.figures}
    # The counts of the data's own README.
    calls, biggest, parallel = {
        "ss": (200, 1, 1), "sm": (443, 4, 1), "ms": (549, 4, 4), "mm": (730, 7, 4),
    }[part]  # fmt: skip
    assert figures["calls"].total == calls
    assert figures["sequential_scale"].max == biggest
    assert figures["parallel_scale"].max == parallel
    assert summary.scopes == {part.upper(): len(records)}  # each of the 801 is what its file is called


@pytest.mark.parametrize(
    ("tools", "wanted"),
    [
        ("", None),
        ("f", None),
        ("A.f g", None),
        ("A.f", "SS"),
        ("A.f A.f", "SM"),
        ("A.f A.g", "SM"),
        ("A.f B.f", "MS"),
        ("A.f B.f A.f", "MM"),
    ],
)
def test_scope_counts_apps_and_calls(tools: str, wanted: str | None) -> None:
    named = [tool.rpartition(".") for tool in tools.split()]
    plan = Plan(tuple(Call(f"c{n}", name, app=app or None) for n, (app, _, name) in enumerate(named)))
    assert (structure.scope(plan), stats(plan).scope) == (wanted, wanted)


def test_every_number_of_a_plan_is_a_figure_of_many() -> None:
    assert {each.name for each in fields(Stats) if each.type == "int"} == {*FIGURES, INFERRED}


def test_what_stands_beside_a_plan_does_not_make_it_another() -> None:
    bare = Call("a", "f")
    told = Call("a", "f", returns=("x",), span=(0, 3), spans=((0, 3),), result=1, has_result=True)
    assert bare == told
    assert Plan((bare,)) == Plan((told,), dialect="json", text="f()", diagnostics=(Diagnostic("c", "m"),))
    assert Ref(0, ("x",)) == Ref(0, ("x",), span=(1, 2))
    assert Unresolved("a") == Unresolved("a", span=(1, 2))
    for hidden in (repr(Ref(0, span=(17, 19))), repr(Plan(text="the text"))):
        assert "17" not in hidden
        assert "the text" not in hidden
