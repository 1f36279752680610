"""Made plans: what is wanted is met by each, each runs again to the same, no two are alike, seeds decide."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool, Type
from planner_eval.catalogs.formats import as_catalog
from planner_eval.catalogs.value_errors import find_problem
from planner_eval.curation.make.make import MadePlans
from planner_eval.curation.make.record import Made, skeleton
from planner_eval.curation.make.run_calls import Refusal
from planner_eval.curation.make.skeletons import draw_skeleton, meets_wishes, wishes_of
from planner_eval.curation.make.values import NO_VALUE, describe_worthless_value, draw_literal
from planner_eval.execution.program import sink_calls
from planner_eval.execution.terms import symbolic
from planner_eval.plan.canonical import EquivalenceClasses
from planner_eval.plan.structure import shape
from tests.conftest import examples, tables

TABLES = tables(__file__)

NUMBER = Type(("integer", "number"))


def add(first: float, second: float) -> float:
    """Add two numbers."""
    return first + second


def twice(value: float) -> float:
    """Twice a number."""
    return 2 * value


def ran_again(found: MadePlans, tools: str) -> None:
    source = pe.tool_source(tools)
    for one in found.made:
        trace = pe.execute(one.plan, source, isolation="inline")
        assert trace.ok
        assert [call.value for call in trace] == [call.result for call in one.plan.calls]


WISHES: list[dict[str, Any]] = TABLES["WISHES"]


@pytest.mark.more
@pytest.mark.parametrize("wanted", WISHES, ids=str)
def test_every_bound_is_met_by_every_plan(wanted: dict[str, Any]) -> None:
    found = pe.make(12, tools="nestful", seed=5, **wanted)
    assert len(found) == 12
    wishes = wishes_of(**({"calls": "1..64"} | wanted if "pattern" in wanted else wanted))
    for one in found.made:
        assert meets_wishes(skeleton(one.plan), wishes), str(one.plan)
    if wanted.get("pattern", "").startswith("("):
        assert {shape(one.plan) for one in found.made} == {wanted["pattern"]}


@pytest.fixture(scope="module")
def nestful() -> MadePlans:
    return pe.make(60, preset="nestful", seed=3)


def test_each_plan_runs_to_the_answer_that_it_was_made_with(nestful: MadePlans) -> None:
    ran_again(nestful, "nestful")
    assert all(one.answer == one.plan.calls[-1].result for one in nestful.made)
    found = pe.make(5, tools="world:appbench", depth="2..", seed=6)
    ran_again(found, "world:appbench")
    for one in found.made:
        assert all(call.result for call in one.plan.calls)
        assert all(said.code == "check.unused_result" for said in pe.check(one.plan, found.catalog))
        assert one.notes["world"] == "appbench"


def test_no_call_is_dead_or_made_twice_and_the_catalog_allows_each(nestful: MadePlans) -> None:
    for one in nestful.made:
        terms = symbolic(one.plan, answer="last")
        assert (terms.dead, terms.duplicated) == ((), ())
        assert pe.check(one.plan, nestful.catalog) == pe.check(one.plan, Catalog(one.tools)) == ()
    classes = EquivalenceClasses(literals=False)
    assert len({classes.of(one.plan) for one in nestful.made}) == len(nestful)


def test_every_answer_depends_on_every_call(nestful: MadePlans) -> None:
    """Each result but the last is replaced in turn, and the answer is another then."""
    tools = pe.tool_source("nestful")

    def other(call: pe.Call, at: int, value: Any) -> pe.Call:
        said = [(n, value if getattr(one, "call", -1) == at else one) for n, one in call.arguments]
        return replace(call, arguments=tuple(said))

    for one in nestful.made:
        *inner, last = range(len(one.plan))
        for at in inner:
            calls = tuple(other(call, at, one.plan.calls[at].result * 3 + 7) for call in one.plan.calls)
            trace = pe.execute(replace(one.plan, calls=calls), tools, isolation="inline")
            assert trace.calls[last].status != "ok" or trace.result != one.answer, str(one.plan)


SEVERAL: list[dict[str, Any]] = [
    {"pattern": "independent", "calls": 3}, {"depth": 1, "calls": 3}, {"components": 3},
    {"pattern": "fan-out", "calls": 4}
]  # fmt: skip


@pytest.mark.parametrize("wanted", SEVERAL, ids=str)
def test_the_answer_is_of_every_call_that_gives_it_joined_or_not(wanted: dict[str, Any]) -> None:
    """One call's value alone is no answer to a question for three."""
    found = pe.make(4, tools="nestful", seed=1, **wanted)
    assert len(found) == 4
    for one, record in zip(found.made, found.records(), strict=True):
        ends = [one.plan.calls[at].result for at in sink_calls(one.plan)]
        assert len(record["gold"]["answer"]) == len(ends) > 1
        assert record["gold_answer"] == {f"answer_{at}": value for at, value in enumerate(ends, 1)}
        trace = pe.execute(one.plan, "nestful", isolation="inline")
        assert trace.answer == tuple(record["gold_answer"].items())
        assert symbolic(one.plan, answer="last").dead == ()
    with pytest.raises(InputError, match="layout nestful: its gold answer is of the last call alone; "):
        pe.make(2, tools="nestful", to="nestful", **wanted)


def test_a_tool_that_answers_anew_each_time_is_not_called() -> None:
    def dice(sides: float) -> float:
        return Random().random() * sides + 2

    found = pe.make(2, tools={"dice": dice}, calls=1, tries=30)
    assert len(found) == 0
    assert "another value when run again" in found.said


def test_what_has_no_effect_is_not_given_and_results_are_new() -> None:
    def least(values: list[float]) -> float:
        return min(values)

    def bounded(value: float, limit: float) -> float:
        return min(value, limit)

    def srt(values: list[float]) -> list[float]:
        return sorted(values)

    def peak(value: float, most: float = float("inf")) -> dict[str, Any]:
        """The number doubled, and one above all."""
        return {"twice": value * 2, "peak": most}

    found = pe.make(6, tools={"least": least, "bounded": bounded}, calls=1, distinct="values", tries=200)
    names = [one.plan.calls[0].name for one in found.made]
    assert "least" in names
    assert "bounded" not in names  # the larger of the two has no effect, whatever it is
    found = pe.make(4, tools={"srt": srt}, calls="1..2", distinct="values", tries=60)
    for one in found.made:
        assert not [call for call in one.plan.calls if call.result in dict(call.arguments).values()]
        assert len(one.plan) == len({str(call.result) for call in one.plan.calls})
    assert "a call returns what is already known" in found.card.refused
    found = pe.make(6, tools={"peak": peak}, distinct="values", calls=1, tries=80)
    for record in found.records():
        json.loads(json.dumps(record), parse_constant=pytest.fail)
    assert all(len(one.plan.calls[0].arguments) == 2 for one in found.made)


WORTHLESS: list[tuple[Any, str]] = TABLES["WORTHLESS"]


@pytest.mark.parametrize(("value", "why"), WORTHLESS, ids=str)
def test_what_is_worth_nothing(value: Any, why: str) -> None:
    assert describe_worthless_value(value, [[3, {"a": 0.3}], "Oslo"]) == why
    assert describe_worthless_value([7, {"b": "Rome", "c": 0}], [7, "Rome"]) is None


@pytest.mark.more
def test_the_same_seed_makes_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    def made(hashing: str, seed: str, preset: str) -> bytes:
        argv = ["data", "make", "--preset", preset, "-n", "8", "--seed", seed, "-o", "out.json"]
        whole, env = [sys.executable, "-m", "planner_eval", *argv], os.environ | {"PYTHONHASHSEED": hashing}
        assert subprocess.run(whole, cwd=tmp_path, env=env, capture_output=True, check=True).stdout == b""
        return (tmp_path / "out.json").read_bytes()

    for preset in ("nestful", "appbench:mm"):
        first = made("0", "4", preset)
        assert first == made("71", "4", preset)
        assert first != made("0", "5", preset)


def test_our_records_hold_the_plans_and_are_a_catalog(tmp_path: Path) -> None:
    found = pe.make(6, tools="nestful", seed=1)
    for one, record in zip(found.made, found.records(), strict=True):
        assert pe.same(pe.parse(record["gold"]), one.plan)
        assert record["gold_answer"] == one.answer
        named = {tool.name for tool in pe.read_catalog(record["tools"]).tools}
        assert named == {tool.name for tool in one.tools}
    written(tmp_path, "made.jsonl", found)
    catalog = pe.read_catalog(str(tmp_path / "made.jsonl"))
    assert {tool.name for tool in catalog.tools} == {tool.name for one in found.made for tool in one.tools}
    assert all(pe.check(one.plan, catalog) == () for one in found.made)


def written(tmp_path: Path, name: str, found: MadePlans) -> str:
    records = found.records()
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (tmp_path / name).write_text(json.dumps(records) if name.endswith(".json") else lines, encoding="utf-8")
    return str(tmp_path)


@pytest.mark.parametrize(("dataset", "file", "wanted"), [
    pytest.param("nestful-v2", "nestful_data.jsonl", {"preset": "nestful"}, marks=pytest.mark.more),
    pytest.param("appbench", "test_mm.json", {"preset": "appbench:mm"}, marks=pytest.mark.more),
    ("functionchat", "FunctionChat-Singlecall.jsonl", {"preset": "functionchat", "tools": "nestful"}),
    ("complexfuncbench", "ComplexFuncBench.jsonl", {"tools": "nestful", "to": "complexfuncbench"})
])  # fmt: skip
def test_benchmark_records_come_back(dataset: str, file: str, wanted: dict[str, Any], tmp_path: Path) -> None:
    found = pe.make(10, seed=9, **wanted)
    folder = written(tmp_path, file, found)
    source = str(tmp_path / file) if dataset in ("nestful-v2", "complexfuncbench") else folder
    checked = pe.check_dataset(dataset, reading=pe.Reading(folder=source))
    assert checked.checked.samples >= 10
    assert checked.perfect
    assert checked.clean
    plans = [read.plan for one in pe.open_sources([dataset], folder=source) for read in one.read(None)]
    if dataset in ("nestful-v2", "appbench"):
        assert all(pe.same(back, one.plan) for back, one in zip(plans, found.made, strict=True) if back)
    assert None not in plans


def test_plans_like_given_ones_have_their_calls_and_other_values(tmp_path: Path) -> None:
    given_ = pe.make(3, tools="nestful", seed=1)
    file = tmp_path / "given.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in given_.records()), encoding="utf-8")
    found = pe.make(9, tools="nestful", like=str(file), seed=2)
    skeletons, whole = EquivalenceClasses(literals=False), EquivalenceClasses()
    assert {skeletons.of(one.plan) for one in found.made} == {skeletons.of(one.plan) for one in given_.made}
    every = [whole.of(one.plan) for one in (*given_.made, *found.made)]
    assert len(set(every)) == 12


def test_what_no_plan_touches_is_touched_first(tmp_path: Path) -> None:
    catalog = pe.read_catalog("data/catalogs/nestful.json")
    few = pe.make(4, tools="nestful", seed=1)
    touched = pe.coverage([one.plan for one in few.made], catalog)
    wishes = touched.to_make()
    left = len(touched.aspect("tools").never or ())
    assert left > 20
    wishes |= {"shapes": [], "depths": [], "parameters": [], "pairs": [], "edges": []}
    found = pe.make(left, tools="nestful", seed=2, fill=wishes)
    assert found.card.filled == (left, left)
    after = pe.coverage([one.plan for one in (*few.made, *found.made)], catalog)
    assert after.aspect("tools").never == ()


def test_a_space_that_is_exhausted_ends_and_says_why() -> None:
    found = pe.make(50, tools={"add": add, "twice": twice}, calls="1..2", tries=200)
    assert len(found) == 11  # 2 calls alone, 3 pairs, and 6 ways from one into another
    assert found.said.startswith(f"{len(found)} of 50 made: 200 attempts in a row produced nothing new: ")
    assert "it was made before" in found.said
    assert found.card.made == len(found)


FIELD = Type(("object",), fields=(Parameter("b"),))
ALONE = Tool("alone", parameters=(Parameter("a", NUMBER),), returns=FIELD)
PAY = Tool("pay", parameters=(Parameter("b", Type()),), returns=Type(("boolean",)))

IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    *TABLES["IMPOSSIBLE"],
    ({"catalog": Catalog((ALONE,), "t"), "depth": 5}, "depth 5: plans of t are at most 1 deep: no"),
    ({"catalog": Catalog((ALONE, PAY), "t"), "depth": 5}, "plans of t are at most 2 deep: alone → pay"),
    ({"catalog": Catalog((), "t")}, "t has no tools to make plans of"),
    ({"catalog": Catalog((ALONE,), "t"), "reuse": 1}, "reuse 1: no output of t fits a parameter"),
    ({"catalog": Catalog((ALONE,), "t"), "to": "complexfuncbench"}, "its records hold "
     "the output of each call: run the plans with --tools"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "said"), IMPOSSIBLE, ids=lambda one: one if isinstance(one, str) else "")
def test_wishes_that_cannot_be_met_are_refused_in_words(wanted: dict[str, Any], said: str) -> None:
    wanted = dict(wanted)
    with pytest.raises(InputError) as refused:
        pe.make(wanted.pop("n", 2), **wanted)
    assert said in str(refused.value)


VALUELESS = [
    (Type(("integer",), minimum=10, maximum=2), "a minimum of 10 above a maximum of 2"),
    (Type(("string",), enum=()), "an enum without choices"),
    (Type(("string",), length=(10**9, None)), "a text of 1,000,000,000 characters or more"),
]


@pytest.mark.parametrize(("kind", "why"), VALUELESS, ids=str)
def test_a_tool_without_values_is_named_and_refused_where_it_is_alone(kind: Type, why: str) -> None:
    bad = Tool("bad", parameters=(Parameter("n", kind),), returns=NUMBER)
    with pytest.raises(InputError, match=f"no tool can be called: bad is left out: n .*{why}"):
        pe.make(1, catalog=Catalog((bad,), "t"))
    found = pe.make(1, catalog=Catalog((bad, ALONE), "t"), calls=1)
    assert [one.plan.calls[0].name for one in found.made] == ["alone"]
    assert why in found.notes[0]


def test_a_step_may_change_a_record_or_refuse_it() -> None:
    def asked(made: Made) -> Made | Refusal:
        return replace(made, query=f"{len(made.plan)} calls?") if len(made.plan) != 3 else Refusal("three")

    found = pe.make(8, tools="nestful", calls="2..4", seed=1, steps=(asked,))
    assert {one.query for one in found.made} == {"2 calls?", "4 calls?"}
    assert found.card.refused["three"] > 0


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 5), st.integers(0, 3), st.booleans())
@examples(200)
def test_a_drawn_skeleton_meets_wishes(seed: int, calls: int, deep: int, again: int, single: bool) -> None:
    try:
        wishes = wishes_of(calls=calls, depth=deep, reuse=(0, again), single=single)
    except InputError:
        return
    needs = draw_skeleton(wishes, 3, Random(seed))
    if needs is not None:
        assert meets_wishes(needs, wishes)
        assert all(producer < at for at, those in enumerate(needs) for producer in those)
        assert max(map(len, needs)) <= 3


TYPES = [
    Type(("integer",), minimum=3, maximum=3), Type(("integer",), minimum=0, maximum=1),
    Type(("number",), minimum=0, maximum=1, exclusive=(True, True)), Type(("number",), maximum=-5),
    Type(("integer",), minimum=-3, maximum=-1), Type(("string",), enum=("a", "b")),
    Type(("string",), length=(3, 3)), Type(("string",), length=(40, 60)), Type(("string",), format="date"),
    Type(("string",), format="time"), Type(("string",), format="date-time"),
    Type(("array",), items=Type(("integer",)), size=(2, 2)),
    Type(("object",), fields=(Parameter("x", Type(("boolean",))),)),
    Type(any_of=(Type(("null",)), Type(("integer",)))), Type(("null", "string"))
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("texts", [False, True])
def test_a_value_is_one_that_the_catalog_allows(kind: Type, texts: bool) -> None:
    each = Parameter("thing", kind)
    for seed in range(40):
        value = draw_literal(Tool("f", parameters=(each,)), each, Random(seed), texts=texts)
        assert value is not NO_VALUE
        assert find_problem(value, kind, texts=texts) is None


def _typed_tool(name: str, about: str, **properties: str) -> dict[str, Any]:
    fields = {key: {"type": kind} for key, kind in properties.items()}
    schema = {"type": "object", "properties": fields, "required": [*fields]}
    return {"name": name, "description": about, "arguments": schema, "results": {}}


def test_tools_whose_gold_writes_numbers_as_text_get_typed_values_and_calls_share_a_topic() -> None:
    tools = [
        _typed_tool("alarm_set", "Set an alarm", volume="integer", loud="boolean"),
        _typed_tool("alarm_delete", "Delete an alarm", number="integer"),
        _typed_tool("stock_buy", "Buy a stock", shares="number"),
        _typed_tool("stock_sell", "Sell a stock", shares="number"),
        *(_typed_tool(f"tool{letter}", f"Do {letter * 4}", size="integer") for letter in "klmnop"),
    ]
    made = pe.make(
        40,
        catalog=as_catalog([{"toolset": tools, "reference": []}]),
        calls=2,
        width=2,
        distinct="values",
        seed=3,
    )
    records = made.records()
    values = [v for r in records for call in r["gold"]["calls"] for v in call["arguments"].values()]
    assert values
    assert not any(isinstance(value, str) for value in values)
    assert not any("text_values" in record or record["tools"].get("text_values") for record in records)
    pairs = [{call["name"].partition("_")[0] for call in r["gold"]["calls"]} for r in records]
    related = [pair for pair in pairs if pair & {"alarm", "stock"}]
    assert len(related) > 5
    assert sum(len(pair) == 1 for pair in related) > len(related) / 2
