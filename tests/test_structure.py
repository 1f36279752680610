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
from planner_eval.plan.model import Call, Edge, Plan, Ref
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
    wanted = {
        "components": [[0, 1, 2, 3, 6], [4, 5]], "topological_generations": [[0, 1, 4], [2, 5], [3, 6]],
        "depth": 3, "width": 3, "critical_path": [0, 2, 3], "roots": [0, 1, 4], "sinks": [3, 5, 6],
        "fan_in": [0, 0, 2, 1, 0, 1, 1], "fan_out": [1, 1, 2, 0, 1, 0, 0], "parallel_scale": 2,
        "sequential_scale": 5, "nesting_patterns": {"A→B": 1, "A→{B,C}": 1, "{A,B}→C": 1},
    }  # fmt: skip
    assert {name: getattr(structure, name)(plan) for name in wanted} == wanted


def test_no_calls_and_no_plans_have_figures() -> None:
    figures = stats(Plan())
    assert [value for value in asdict(figures).values() if isinstance(value, int)] == [0] * 17
    assert figures.critical_path == ()
    assert {each.name for each in fields(Stats) if each.type == "int"} == {*FIGURES, INFERRED}
    found = summarise([])
    assert (found.plans, found.unread, found.fan_in, found.shapes) == (0, 0, {}, {})
    none = {(one.total, one.mean, one.median, one.max, len(one.distribution)) for one in found.figures}
    assert none == {(0, None, None, None, 0)}


def test_circles_and_self_references_end() -> None:
    plan = plan_of(4, [(0, 1), (1, 2), (2, 1), (3, 3)])
    assert sorted(i for g in structure.topological_generations(plan) for i in g) == [0, 1, 2, 3]
    assert structure.critical_path(plan)
    assert stats(plan).components == 2


def test_what_counts_as_a_reference_to_another_call() -> None:
    figures = stats(parse("a = f(#x=a)\ng(#y=a)"))
    assert (figures.references, figures.edges, figures.max_fan_in) == (1, 1, 1)
    assert figures.argument_kinds == {"reference": 1, "unresolved": 1}
    figures = stats(parse("a, b = f(#x='1')\ng(#y=a, #z=b)"))  # several between two calls count once
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
    counts = {"ss": (200, 1, 1), "sm": (443, 4, 1), "ms": (549, 4, 4), "mm": (730, 7, 4)}  # of its README
    scales = [figures[f"{name}_scale"].max for name in ("sequential", "parallel")]
    assert (figures["calls"].total, *scales) == counts[part]
    assert summary.scopes == {part.upper(): len(records)}  # each of the 801 is what its file is called


@pytest.mark.parametrize(("tools", "wanted"), [
    ("", None), ("f", None), ("A.f g", None), ("A.f", "SS"), ("A.f A.f", "SM"), ("A.f A.g", "SM"),
    ("A.f B.f", "MS"), ("A.f B.f A.f", "MM"),
])  # fmt: skip
def test_scope_counts_apps_and_calls(tools: str, wanted: str | None) -> None:
    named = [tool.rpartition(".") for tool in tools.split()]
    plan = Plan(tuple(Call(f"c{n}", name, app=app or None) for n, (app, _, name) in enumerate(named)))
    assert (structure.scope(plan), stats(plan).scope) == (wanted, wanted)
