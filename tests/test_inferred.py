"""Inferred edges: against truth that was read by hand, as users meet them, and where nothing may be inferred.

The files of ``tests/cases/inferred`` hold ids and edges (producer, consumer, argument) as a reader of the
question, the calls and their answers sees them: of every fourth of CallNavi's 160 plans of several calls
whose later calls have holes, of the six conversations of ``data/samples``, and of the first 34 of the
reference vectors in which an argument repeats a value of an earlier observation, all by chance.
"""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import planner_eval as pe
from planner_eval.base.tables import MARKDOWN
from planner_eval.benchmarks.datasets.sources import open_sources
from planner_eval.catalogs.formats import as_catalog
from planner_eval.plan.inference import infer_edges
from planner_eval.plan.model import Call, Edge, Plan
from tests.conftest import ROOT, tables
from tests.inside import planeval

TABLES = tables(__file__)

SAMPLES = ROOT / "data" / "samples"
CASES = ROOT / "tests" / "cases" / "inferred"
PAGE = ROOT / "docs" / "statistics.md"


class Counts(NamedTuple):
    """Inferred edges against the truth."""

    plans: int
    true: int
    inferred: int
    right: int

    def row(self, what: str) -> dict[str, Any]:
        shares = [self.right / whole if whole else None for whole in (self.inferred, self.true)]
        names = ("plans", "read by hand", "edges", "inferred", "right", "precision", "recall")
        return dict(zip(names, (what, *self, *shares), strict=True))


def of_dataset(name: str, folder: Path) -> dict[str, Plan]:
    (source,) = open_sources([name], folder=str(folder))
    return {str(read.record): read.plan for read in source.read(None, infer=True) if read.plan is not None}


def of_vectors(reference: Path) -> dict[str, Plan]:
    with gzip.open(reference / "vectors" / "complexfuncbench" / "cases.jsonl.gz", "rt") as file:
        cases = [case for case in map(json.loads, file) if case["kind"] == "conv"]
    return {case["id"]: pe.parse(case["conversations"], infer=True) for case in cases}


def compared(case: str, plans: dict[str, Plan]) -> Counts:
    truth = {one["id"]: one["edges"] for one in map(json.loads, (CASES / case).read_text().splitlines())}
    wanted = [(name, *edge) for name, edges in truth.items() for edge in edges]
    assert len(set(wanted)) == len(wanted)
    edges = [(name, edge) for name in truth for edge in plans[name].edges if edge.inferred]
    found = {(name, edge.producer, edge.consumer, edge.argument) for name, edge in edges}
    return Counts(len(truth), len(wanted), len(edges), len(found & {*wanted}))


def test_the_six_conversations_have_the_edges_that_a_reader_sees() -> None:
    assert compared("samples.jsonl", of_dataset("complexfuncbench", SAMPLES)) == (6, 22, 22, 22)


def test_real_plans_are_inferred_as_the_docs_say(reference: Path) -> None:
    callnavi = of_dataset("callnavi", reference / "datasets" / "callnavi")
    samples = of_dataset("complexfuncbench", SAMPLES)
    parts = {
        "CallNavi's questions": compared("callnavi.jsonl", callnavi),
        "ComplexFuncBench's bundled conversations": compared("samples.jsonl", samples),
        "conversations of coincidences": compared("vectors.jsonl", of_vectors(reference)),
    }
    assert [counts.plans for counts in parts.values()] == [40, 6, 34]
    assert all(counts.right >= 0.95 * counts.inferred for counts in parts.values())
    assert MARKDOWN.table(each.row(what) for what, each in parts.items()) in PAGE.read_text(encoding="utf-8")
    assert sum(edge.inferred for plan in callnavi.values() for edge in plan.edges) == 61
    paper = json.loads((reference / "datasets" / "complexfuncbench" / "paper_example.json").read_text())
    found = pe.parse(paper["gold"]["conversations"], infer=True).edges
    wanted = {(0, "fromId"), (1, "toId"), (2, "latitude"), (2, "longitude")}
    assert {(edge.producer, edge.argument) for edge in found} == wanted


def figures(done: Any) -> dict[str, int]:
    return {one["name"]: one["total"] for one in json.loads(done.stdout)["figures"]}


def test_steps_are_generations_as_deep_as_the_paper_counts_them() -> None:
    done = planeval("render", "complexfuncbench", "--source", str(SAMPLES), "--infer", "--id", "Attraction-0")
    told = [line for line in done.stdout.splitlines() if line.startswith("gen")]
    assert told == [f"generation {n}" for n in (1, 2, 3)]
    assert 'slug = "castle-garden-walk" ≈ Search_Attractions.data[0].slug' in done.stdout
    free = Plan((Call("a", "f", turn=1), Call("b", "g", turn=1), Call("c", "h", turn=2)))
    found = pe.stats(infer_edges(free))
    assert (pe.stats(free).depth, found.depth, found.width, found.edges) == (1, 2, 2, 0)


EQUAL = TABLES["EQUAL"]


def test_where_a_value_comes_from() -> None:
    found = told(  # an echo is no source
        [("find", {"city": "Rome"}, {"id": "x-17"})],
        [("look", {"hotel": "x-17", "day": "2027-03-03"}, {"id": "x-17", "day": "2027-03-03"})],
        [("book", {"hotel": "x-17", "day": "2027-03-03"}, {})],
    )
    assert links(found) == [(0, 1, "hotel", ()), (0, 2, "hotel", ())]
    step = (
        [("find", {}, {"id": "tk-9", "name": "Villa Blu"})],
        [("book", {"id": "tk-9", "to": "Villa Blu"}, {})],
    )  # fmt: skip
    assert links(told("Somewhere.", *step)) == [(0, 1, "id", ()), (0, 1, "to", ())]
    assert links(told("Book tk-9 in 'Villa Blu'.", *step)) == []  # what the user named
    assert links(told([("a", {}, {"id": "x-17"}), ("b", {"id": "x-17"}, {})])) == []  # calls of one step
    found = told(  # values in lists and joined by commas
        [("filters", {}, [{"id": "facility::9"}, {"id": "meal::1"}]), ("way", {}, {"id": "A.CITY"})],
        [("hotels", {"only": "facility::9, meal::1", "legs": [{"from": "A.CITY"}]}, {})],
    )
    assert links(found) == [(0, 2, "only", (0,)), (0, 2, "only", (1,)), (1, 2, "legs", (0, "from"))]
    for given, answer, linked in EQUAL:  # common values count under fitting names
        assert bool(links(told([("find", {}, answer)], [("use", given, {})]))) == linked, given


def told(*messages: Any) -> Plan:
    """A conversation: a text is the user's, a list one step of (name, arguments, answer)."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, str):
            turns.append({"role": "user", "content": message})
            continue
        calls = [{"name": name, "arguments": arguments} for name, arguments, _ in message]
        turns.append({"role": "assistant", "function_call": calls})
        turns.append({"role": "observation", "content": [answer for *_, answer in message]})
    return pe.parse(turns, infer=True)


def links(plan: Plan) -> list[tuple[int, int, str, Any]]:
    return [(e.producer, e.consumer, e.argument, e.at) for e in plan.edges]


def holes(*calls: tuple[str, dict[str, Any]]) -> list[tuple[int, int, str, Any]]:
    tools = TABLES["holes"]
    plan = {"API": [name for name, _ in calls], "parameters": [given for _, given in calls]}
    return links(pe.parse(plan, tools=as_catalog(tools), infer=True))


def test_holes_are_filled_where_name_and_type_leave_no_doubt() -> None:
    one, other = (("account", {"name": name}) for name in "AB")
    balance = ("balance", {"accountID": "$$$"})
    assert holes(one, balance) == [(0, 1, "accountID", ())]
    assert holes(("balance", {"accountID": "1"}), ("open", {"balance": "$$$"})) == []  # a number, not a text
    assert holes(("open", {"balance": "1"}), ("move", {"dueDate": "$$$"})) == []  # a date is what a call sets
    assert holes(balance, one) == []  # only an earlier call
    assert holes(one, other, balance) == []
    again = holes(one, ("check", {"account_id": "$$$"}), balance)
    assert [(producer, consumer) for producer, consumer, *_ in again] == [(0, 1), (0, 2)]


def test_no_comparison_sees_them() -> None:
    calls = (Call("c1", "f", (("a", "x"),)), Call("c2", "g", (("b", "y"),)))
    bare = Plan(calls)
    guessed = Plan(calls, (Edge(0, 1, "b", (), (), inferred=True),), steps=(1, 2))
    assert pe.same(guessed, bare)
    assert pe.same(bare, guessed)
    for pred, gold in ((guessed, bare), (bare, guessed), (guessed, guessed)):
        assert pe.score(pred, gold) == pe.score(bare, bare)
        swapped = replace(pred, calls=pred.calls[::-1])  # a flat plan's order counts, guessed edges or not
        assert not pe.diff(swapped, gold, policy="callnavi").same
        assert pe.diff(pred, gold).edits == ()
        assert pe.diff(pred, gold, policy="callnavi").edits == ()
    wrong = Plan((calls[0],))
    assert pe.score(wrong, guessed) == pe.score(wrong, bare)
    assert [e.code for e in pe.diff(wrong, guessed).edits] == [e.code for e in pe.diff(wrong, bare).edits]
    assert [role.role for role in pe.diff(guessed, bare).edges()] == ["inferred"]


def test_a_deep_answer_ends() -> None:
    deep: Any = "x-17"
    for _ in range(5000):
        deep = [deep]
    plan = Plan((Call("a", "f", result=deep, has_result=True), Call("b", "g", (("x", "x-17"),))))
    assert infer_edges(plan).edges == ()


def test_an_id_that_is_used_again_takes_no_answer_from_an_earlier_call(reference: Path) -> None:
    records = pe.read(reference / "vectors/taubench/gpt-4o-airline.json.gz").records
    plans = [pe.parse(record) for record in records]
    first = plans[0].calls
    assert first[0].result["name"]["first_name"] == "Mia"
    assert (first[3].tool, first[3].result) == ("calculate", "255.0")
    assert all(call.has_result for plan in plans for call in plan.calls[:-1])


USER = {"role": "user", "content": "Go!"}
SAYS = {"role": "assistant", "content": '<tool_call>{"name": "f", "arguments": {}}</tool_call>'}
ASKS = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "tool_calls": [ASKS]}
BOTH = {"role": "assistant", "tool_calls": [ASKS, ASKS]}


@pytest.mark.parametrize(("steps", "results"), [
    ([USER, CALLS, "a", CALLS, "b"], ["a", "b"]),
    ([USER, BOTH, "a", "b"], ["a", "b"]),  # of one message the first
    ([USER, CALLS, USER, CALLS, "a"], [None, "a"]),
    (["a", USER, CALLS, "b", CALLS, "c"], ["b", "c"]),
    ([USER, BOTH, CALLS, "a", "b", "c", "d"], ["b", "c", "a"]),
    ([USER, SAYS, "a", USER, SAYS, "b"], ["a", "b"]),
], ids=["again", "one message", "unanswered", "before all", "too many", "words"])  # fmt: skip
def test_answers_find_their_calls_in_a_conversation(steps: list[Any], results: list[Any]) -> None:
    told = [{"role": "tool", "tool_call_id": "c", "content": s} if isinstance(s, str) else s for s in steps]
    assert [call.result if call.has_result else None for call in pe.parse(told).calls] == results
