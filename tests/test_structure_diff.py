"""The structure of two plans compared: by hand, its laws, the lean figures against NetworkX, in use."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.comparison.align import Alignment, Matching, match
from planner_eval.comparison.structure_diff import Link, Moved, structure_of
from planner_eval.comparison.structure_figures import Sides, StructureFigures, structure_figures
from planner_eval.metrics import METRICS, Counts, Share, measure
from planner_eval.plan import adjacency, structure
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.policy import NO_TERMS, Terms
from tests.build import edges
from tests.inside import planeval
from tests.pages import Page
from tests.plant import topological
from tests.property.test_comparison_laws import plans
from tests.test_cli import DEMO, GOLD

PRED = str(DEMO / "pred.json")


def drawn(text: str) -> Plan:
    """A plan of calls ``a``, or ``a<bc``: a call of tool a that takes the results of those of b and c."""
    words = text.split()
    place = {word[0]: at for at, word in enumerate(words)}
    calls = tuple(
        Call(word[0], word[0], tuple((f"x{tool}", Ref(place[tool])) for tool in word[2:])) for word in words
    )
    return Plan(calls, edges(calls))


def figures(pred: str, gold: str, *names: str) -> list[Counts | Share | None]:
    return list(measure(match(drawn(pred), drawn(gold)), names).values())


def test_partitions_are_compared_not_their_numbers() -> None:
    # gold {a,b} {c,d}, pred {a} {b,c,d}: two components each; cd is the only pair of both
    pred, gold = "a c b<c d<c", "a b<a c d<c"
    assert figures(pred, gold, "same_components", "component_pairs") == [Share(0, 1), Counts(1, 3, 2)]
    assert figures(gold, gold, "same_components", "component_pairs") == [Share(1, 1), Counts(2, 2, 2)]
    found = pe.compare_structure(drawn(pred), drawn(gold))
    assert found.torn == (((0,), (1,)),)  # in gold's positions
    assert found.joined == (((1, 3), (2,)),)  # in pred's
    assert str(found.figures) == "2 components, grouped otherwise; 1 dependency lost, 1 added"


def test_a_component_without_partners_is_not_the_same() -> None:
    apart = [("a b", "a c"), ("a b<a z", "a b<a"), ("", "a b"), ("a b<a", "a b<a z"), ("a b<a z", "a b")]
    for pred, gold in apart:  # the first: nothing says that b stands for c
        assert figures(pred, gold, "same_components") == [Share(0, 1)]
    assert figures("", "", "same_components", "component_pairs") == [Share(1, 1), Counts(0, 0, 0)]
    alike = Sides(2, 2)
    for torn, joined in ((1, 0), (0, 1), (1, 1), (0, 0)):
        shown = str(StructureFigures(alike, alike, alike, torn, joined, 0, 0))
        assert shown == ("2 components, grouped otherwise" if torn + joined else "")


def test_a_longer_path_in_the_place_of_an_edge_loses_no_dependency() -> None:
    pred, gold = drawn("a x<a c<x"), drawn("a c<a")
    found = pe.compare_structure(pred, gold)
    assert found.edges_lost == (Link(0, 1),)
    assert found.lost == ()
    assert found.added == (Link(0, 1), Link(1, 2))  # what the call x brings, and not a → c
    assert figures("a x<a c<x", "a c<a", "transitive_dependencies") == [Counts(1, 3, 1)]
    assert str(found.figures) == "depth 3 instead of 2; 2 dependencies added"
    assert found.moved == (Moved(2, 1, 3, 2),)
    assert figures("a x<a c<x", "a c<a", "generations") == [Share(1, 2)]
    assert (found.pred_structure.critical, found.gold_structure.critical) == ((0, 1, 2), (0, 1))


def test_a_cut_chain_loses_what_came_by_way_of_it() -> None:
    assert figures("a b<a c", "a b<a c<b", "transitive_dependencies") == [Counts(1, 1, 3)]
    assert figures("a b<a c", "a b<a c<b", "dependencies") == [Counts(1, 1, 2)]
    assert pe.compare_structure(drawn("a b<a c"), drawn("a b<a c<b")).lost == (Link(0, 2), Link(1, 2))
    assert figures("a b", "a b", "transitive_dependencies") == [Counts(0, 0, 0)]


def test_order_violations_follow_paths_and_spare_what_gold_writes_so() -> None:
    found = pe.compare_structure(drawn("c<b b<a a"), drawn("a b<a c<b"))
    assert found.violated == (Link(0, 1), Link(0, 2), Link(1, 2))
    assert found.same  # the graphs are one
    assert pe.compare_structure(drawn("a b<a c<b"), drawn("c<b b<a a")).violated == ()
    circle = drawn("a<b b<a")
    assert structure_of(_paired(drawn("b<a a<b"), circle, ((0, 1), (1, 0)))).violated == ()


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
    assert adjacency.needed(adjacency.producers(plan), [1, 2, 4, 8, 16, 32, 64]) == [0, 5, 3, 7, 0, 16, 48]
    found = pe.compare_structure(drawn("a"), drawn("a<a"))  # a call that needs itself needs no other
    assert (found.same, found.edges_lost) == (True, ())


def test_the_structure_group_begins_with_what_compares_partners() -> None:
    names = [name for name, metric in METRICS.items() if metric.group == "structure"]
    assert names[:3] == ["component_pairs", "same_components", "transitive_dependencies"]
    assert names[-2:] == ["same_depth", "same_width"]
    assert all("equally many calls, whichever these are" in METRICS[name].title for name in names[-2:])


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


def _paired(pred: Plan, gold: Plan, pairs: tuple[tuple[int, int], ...]) -> Matching:
    """A matching of given partners: laws are about structure, whichever calls were paired."""
    missing = tuple(sorted(set(range(len(gold))) - {theirs for _, theirs in pairs}))
    extra = tuple(sorted(set(range(len(pred))) - {ours for ours, _ in pairs}))
    return match(pred, gold)._replace(
        pred=pred, gold=gold, alignment=Alignment(tuple(sorted(pairs, key=lambda p: p[1])), missing, extra)
    )


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
    graph = nx.DiGraph(plan.graph)
    graph.remove_nodes_from(left_out)
    return {(a, b) for a, b in nx.transitive_closure(graph).edges if a != b}


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


@settings(deadline=None)
@given(either, either, st.randoms(use_true_random=False))
def test_the_order_of_calls_changes_no_difference(pred: Plan, gold: Plan, random: Random) -> None:
    place = list(range(len(pred)))
    random.shuffle(place)
    calls: list[Call] = [Call("", "")] * len(pred)
    for old, call in enumerate(pred.calls):
        calls[place[old]] = call
    links = tuple(e._replace(producer=place[e.producer], consumer=place[e.consumer]) for e in pred.edges)
    pairs = match(pred, gold).alignment.pairs
    before = structure_of(_paired(pred, gold, pairs))
    after = structure_of(_paired(Plan(tuple(calls), links), gold, tuple((place[p], g) for p, g in pairs)))
    assert (after.figures, after.lost, after.edges_lost) == (before.figures, before.lost, before.edges_lost)
    assert {frozenset(parts) for parts in after.torn} == {frozenset(parts) for parts in before.torn}
    assert set(after.added) == {Link(place[a], place[b]) for a, b in before.added}


@settings(deadline=None)
@given(either, either)
def test_turning_round_exchanges_lost_and_added_torn_and_joined(one: Plan, other: Plan) -> None:
    pairs = match(one, other).alignment.pairs
    found = structure_of(_paired(one, other, pairs))
    turned = structure_of(_paired(other, one, tuple((gold, pred) for pred, gold in pairs)))
    assert (found.lost, found.added) == (turned.added, turned.lost)
    assert (found.edges_lost, found.edges_added) == (turned.edges_added, turned.edges_lost)
    assert (found.torn, found.joined) == (turned.joined, turned.torn)
    assert (found.pred_structure, found.gold_structure) == (turned.gold_structure, turned.pred_structure)


def test_a_pair_that_differs_says_its_structure_and_one_that_is_the_same_none() -> None:
    done = planeval("diff", PRED, GOLD)
    assert done.stdout.splitlines()[-1] == "structure: 2 components instead of 1; 1 dependency lost"
    assert "structure" not in planeval("diff", GOLD, GOLD).stdout
    value = planeval("diff", "-", GOLD, text=Path(GOLD).read_text().replace('"EUR"', '"USD"')).stdout
    assert value.startswith("different")
    assert "structure" not in value
    shown = planeval("diff", PRED, GOLD, "--structure").stdout
    assert "torn apart: gold's get_rate (call 1), ratio (call 3) | get_rate (call 2)" in shown
    assert "dependency lost: gold's ratio (call 3) needs get_rate (call 2)" in shown
    assert "longest chain of pred: get_rate (call 1) → ratio (call 3)" in shown
    same = planeval("diff", GOLD, GOLD, "--structure").stdout
    assert "structure: the same components, depth and dependencies" in same
    whole = json.loads(planeval("diff", PRED, GOLD, "--format", "json", "--structure").stdout)["structure"]
    calls = whole.pop("calls")
    assert (calls["lost"], calls["torn"]) == ([{"producer": 1, "consumer": 2}], [[[0, 2], [1]]])
    assert whole == json.loads(planeval("diff", PRED, GOLD, "--format", "json").stdout)["structure"]
    assert whole["components"] == {"pred": 2, "gold": 1, "torn": 1, "joined": 0}
    assert (whole["depth"], whole["width"]) == ({"pred": 2, "gold": 2}, {"pred": 2, "gold": 2})
    assert whole["dependencies"] == {"lost": 1, "added": 0}


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
