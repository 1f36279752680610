"""Structure figures and shapes: of one plan, and of two; by hand, and against NetworkX."""

import json
from dataclasses import asdict, fields
from itertools import pairwise
from pathlib import Path
from random import Random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics import measure
from planner_eval.comparison.metrics.facts import Counts, Share
from planner_eval.comparison.policy.policy import NO_TERMS, Terms
from planner_eval.comparison.structure_diff import Link, MovedPair, structure_of
from planner_eval.comparison.structure_figures import FigurePair, StructureFigures, structure_figures
from planner_eval.plan import graph, structure
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.plan.statistics import FIGURES, INFERRED, Stats, stats
from planner_eval.plan.structure import MAX_EXACT_CALLS, shape
from planner_eval.reading.dialects.read import parse
from tests.build import edges, summarise
from tests.conftest import examples, tables
from tests.inside import planeval
from tests.pages import Page
from tests.plant import topological
from tests.property.test_comparison_laws import plans
from tests.test_cli import DEMO

TABLES = tables(__file__)


def drawn(text: str) -> Plan:
    """A plan of calls ``a``, or ``a<bc``: a call of tool a that takes the results of those of b and c."""
    words = text.split()
    place = {word[0]: at for at, word in enumerate(words)}
    calls = tuple(
        Call(word[0], word[0], tuple((f"x{tool}", Ref(place[tool])) for tool in word[2:])) for word in words
    )
    return Plan(calls, edges(calls))


def test_figures_of_a_plan_drawn_by_hand() -> None:
    plan = drawn("a b c<ab d<c e f<e g<c")
    wanted = TABLES["figures_of_a_plan_drawn_by_hand"]
    assert {name: getattr(structure, name)(plan) for name in wanted} == wanted
    assert [getattr(stats(plan), name) for name in ("width", "roots", "sequential_scale")] == [3, 3, 5]


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
    plan = drawn("a b<ac c<b d<d")
    assert sorted(i for g in structure.topological_generations(plan) for i in g) == [0, 1, 2, 3]
    assert structure.critical_path(plan)
    assert stats(plan).components == 2


def test_what_counts_as_a_reference_to_another_call() -> None:
    figures = stats(parse("a = f(#x=a)\ng(#y=a)"))
    assert (figures.references, figures.edges, figures.max_fan_in) == (1, 1, 1)
    assert figures.argument_kinds == {"reference": 1, "unresolved": 1}
    figures = stats(parse("a, b = f(#x='1')\ng(#y=a, #z=b)"))  # several between two calls count once
    assert (figures.references, figures.edges, figures.max_fan_in) == (2, 1, 1)


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


def figures_of(pred: str, gold: str, *names: str) -> list[Counts | Share | None]:
    return list(measure(match(drawn(pred), drawn(gold)), names).values())


def test_partitions_are_compared_not_their_numbers() -> None:
    # gold {a,b} {c,d}, pred {a} {b,c,d}: two components each; cd is the only pair of both
    pred, gold = "a c b<c d<c", "a b<a c d<c"
    assert figures_of(pred, gold, "same_components", "component_pairs") == [Share(0, 1), Counts(1, 3, 2)]
    assert figures_of(gold, gold, "same_components", "component_pairs") == [Share(1, 1), Counts(2, 2, 2)]
    found = pe.compare_structure(drawn(pred), drawn(gold))
    assert found.torn == (((0,), (1,)),)  # in gold's positions
    assert found.joined == (((1, 3), (2,)),)  # in pred's
    assert str(found.figures) == "2 components, grouped differently; 1 dependency lost, 1 added"


def test_a_component_without_partners_is_not_the_same() -> None:
    apart = [("a b", "a c"), ("a b<a z", "a b<a"), ("", "a b"), ("a b<a", "a b<a z"), ("a b<a z", "a b")]
    for pred, gold in apart:  # the first: nothing says that b stands for c
        assert figures_of(pred, gold, "same_components") == [Share(0, 1)]
    assert figures_of("", "", "same_components", "component_pairs") == [Share(1, 1), Counts(0, 0, 0)]
    alike = FigurePair(2, 2)
    for torn, joined in ((1, 0), (0, 1), (1, 1), (0, 0)):
        shown = str(StructureFigures(alike, alike, alike, torn, joined, 0, 0))
        assert shown == ("2 components, grouped differently" if torn + joined else "")


def test_a_longer_path_in_the_place_of_an_edge_loses_no_dependency() -> None:
    pred, gold = drawn("a x<a c<x"), drawn("a c<a")
    found = pe.compare_structure(pred, gold)
    assert found.edges_lost == (Link(0, 1),)
    assert found.lost == ()
    assert found.added == (Link(0, 1), Link(1, 2))  # what the call x brings, and not a → c
    assert figures_of("a x<a c<x", "a c<a", "transitive_dependencies") == [Counts(1, 3, 1)]
    assert str(found.figures) == "depth 3 instead of 2; 2 dependencies added"
    assert found.moved == (MovedPair(2, 1, 3, 2),)
    assert figures_of("a x<a c<x", "a c<a", "generations") == [Share(1, 2)]
    assert (found.pred_structure.critical, found.gold_structure.critical) == ((0, 1, 2), (0, 1))


def test_a_cut_chain_loses_what_came_by_way_of_it() -> None:
    assert figures_of("a b<a c", "a b<a c<b", "transitive_dependencies") == [Counts(1, 1, 3)]
    assert figures_of("a b<a c", "a b<a c<b", "dependencies") == [Counts(1, 1, 2)]
    assert pe.compare_structure(drawn("a b<a c"), drawn("a b<a c<b")).lost == (Link(0, 2), Link(1, 2))
    assert figures_of("a b", "a b", "transitive_dependencies") == [Counts(0, 0, 0)]


def test_order_violations_follow_paths_and_spare_what_gold_writes_so() -> None:
    found = pe.compare_structure(drawn("c<b b<a a"), drawn("a b<a c<b"))
    assert found.violated == (Link(0, 1), Link(0, 2), Link(1, 2))
    assert found.same  # the graphs are one
    assert pe.compare_structure(drawn("a b<a c<b"), drawn("c<b b<a a")).violated == ()


def test_optional_calls_that_were_not_made_count_as_absent() -> None:
    gold, pred = drawn("a o<a c d<co"), drawn("a c d<c")
    terms = Terms(optional=frozenset({"o"}))
    found = pe.compare_structure(pred, gold, terms=terms)
    assert found.lost == ()
    assert found.gold_structure.components == ((0,), (2, 3))  # gold's own positions
    assert not str(structure_figures(match(pred, gold, terms=terms)))
    assert pe.compare_structure(pred, gold).lost == (Link(0, 1), Link(0, 3), Link(1, 3))
    assert pe.compare_structure(drawn("a"), gold, terms=terms).lost == (Link(2, 3),)  # c and d were due
    made = pe.compare_structure(gold, gold, terms=terms)
    assert made.gold_structure.components == ((0, 1, 2, 3),)


def test_circles_come_after_what_they_need_and_before_what_hangs_on_them() -> None:
    plan = drawn("a b<ac c<b d<c e f<e g<f")
    assert structure.topological_generations(plan) == [[0, 4], [1, 2, 5], [3, 6]]
    assert structure.critical_path(plan) == [0, 1, 3]
    told = graph.needed_marks(graph.producers(plan), [1, 2, 4, 8, 16, 32, 64])
    assert told == [0, 5, 3, 7, 0, 16, 48]
    found = pe.compare_structure(drawn("a"), drawn("a<a"))  # a call that needs itself needs no other
    assert (found.same, found.edges_lost) == (True, ())


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> Plan:
    """A plan whose calls may need later ones, themselves and one another."""
    size = draw(st.integers(0, most))
    link = st.tuples(st.integers(0, max(size - 1, 0)), st.integers(0, max(size - 1, 0)))
    links = sorted(draw(st.sets(link, max_size=2 * size))) if size else []
    calls = [
        Call(f"c{i}", draw(st.sampled_from("fgh")), tuple((f"x{p}", Ref(p)) for p, c in links if c == i))
        for i in range(size)
    ]
    return Plan(tuple(calls), edges(tuple(calls)))


either = st.one_of(graphs(), plans())


@given(either)
def test_figures_agree_with_networkx(plan: Plan) -> None:
    check_against_networkx(plan)


@settings(deadline=None)
@given(either, either, st.sets(st.integers(0, 7), max_size=3))
def test_lean_figures_are_those_of_networkx(pred: Plan, gold: Plan, optional: set[int]) -> None:
    terms = Terms(optional=frozenset(f"c{at}" for at in optional)) if optional else NO_TERMS
    matching = match(pred, gold, terms=terms)
    found = structure_of(matching)
    assert structure_figures(matching) == found.figures
    if not matching.waived:
        for plan, said in ((matching.pred, found.pred_structure), (matching.gold, found.gold_structure)):
            assert list(map(list, said.components)) == structure.components(plan)
            assert list(map(list, said.generations)) == structure.topological_generations(plan)
            assert list(said.critical) == structure.critical_path(plan)
    counted = measure(matching, ["transitive_dependencies", "component_pairs"])
    closure = [_closure(matching.pred, frozenset()), _closure(matching.gold, matching.waived)]
    to_gold = dict(matching.alignment.pairs)
    both = {(to_gold.get(a), to_gold.get(b)) for a, b in closure[0]} & closure[1]
    assert counted["transitive_dependencies"] == Counts(len(both), *map(len, closure))


def _closure(plan: Plan, left_out: frozenset[int]) -> set[tuple[int, int]]:
    """The pairs of the transitive closure, by NetworkX's own."""
    graph = nx.transitive_closure(nx.subgraph(nx.DiGraph(plan.graph), set(range(len(plan))) - left_out))
    return {(a, b) for a, b in graph.edges if a != b}


@settings(deadline=None)
@given(graphs(12), st.integers(1, 5))
def test_blocks_of_the_closure_add_up(plan: Plan, block: int) -> None:
    matching = match(plan, plan)
    whole = measure(matching, ["transitive_dependencies"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planner_eval.comparison.structure_figures.BLOCK", block)
        assert measure(matching, ["transitive_dependencies"]) == whole


NOTHING = ("torn", "joined", "moved", "edges_lost", "edges_added", "lost", "added", "violated")


@settings(deadline=None)
@given(either, plans(), st.integers(0, 9))
def test_names_and_the_order_of_independent_calls_change_nothing(any_one: Plan, one: Plan, seed: int) -> None:
    other = topological(one, Random(seed))
    assert other is not None
    calls = tuple(Call(f"n{i}", c.name, c.arguments, c.app) for i, c in enumerate(other.calls))
    for pred, gold in ((any_one, any_one), (Plan(calls, other.edges), Plan(one.calls, one.edges))):
        found = pe.compare_structure(pred, gold)
        assert found.same
        assert [name for name in NOTHING if getattr(found, name)] == []


def test_rows_of_many_pairs_and_the_page_carry_it() -> None:
    many = (str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl"))
    rows = [json.loads(line) for line in planeval("diff", *many, "--format", "jsonl").stdout.splitlines()]
    said = {row["id"]: row["structure"]["dependencies"] for row in rows if "structure" in row}
    assert said["trip-missing"]["lost"] > 0
    assert "trip-same" not in said
    assert "trip-value" not in said
    page = {one["id"]: one["s"] for one in Page(planeval("diff", *many, "--format", "html").stdout).pairs()}
    assert {name for name, line in page.items() if line.startswith("structure: ")} == set(said)
    refused = planeval("diff", *many, "--structure")
    assert refused.returncode == 2
    assert "--structure applies only to one pair" in refused.stderr


def test_a_name_with_a_line_end_stays_on_its_line() -> None:
    call = '[{"id": "a", "name": "f\\ng", "arguments": {}}, {"id": "b", "name": "h", "arguments": %s}]'
    pred, gold = (pe.parse(call % given) for given in ("{}", '{"x": {"$ref": "a"}}'))
    assert "gold's h (call 2) needs f\\ng (call 1)" in str(pe.compare_structure(pred, gold))


Graph = list[list[int]]


def plan_with(needs: Graph) -> Plan:
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


def graph_of(needs: Graph) -> "nx.DiGraph[int]":
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
    assert shape(plan_with(pieces)) == "(a:()b:()) (ab) + (a:()b:()) (ab)"
    assert shape(plan_with(ring)) == "(a:()b:()) (ac:()) (bd:()) (cd)"
    assert shape(plan_with([[], [0], [0]])) == "(a:()) (a)"
    assert shape(plan_with([[], [], [0], [1]])) == "(()) + (())"
    assert shape(plan_with([[], [], []])) == "() + () + ()"
    assert shape(Plan()) == ""


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
    alike = nx.is_isomorphic(graph_of(found), graph_of(other))
    assert (shape(plan_with(found)) == shape(plan_with(other))) is alike


def test_large_pieces_and_circles_have_a_text_that_order_does_not_change() -> None:
    random = Random(7)
    wide: Graph = [[], *([0] for _ in range(MAX_EXACT_CALLS)), list(range(1, MAX_EXACT_CALLS + 1))]
    assert shape(plan_with(wide)) == f"({'(()×16)' * MAX_EXACT_CALLS})"
    assert shape(plan_with(mixed(wide, random))) == shape(plan_with(wide))
    assert shape(plan_with([[1], [0], [], [2], [2]])) == "(a:()) (a) + ((*))"
    assert shape(plan_with([[] for _ in range(5000)])).count("+") == 4999
