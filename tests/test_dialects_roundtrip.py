"""One plan, written in every dialect that can hold it, parses to equal plans: all pairs of dialects."""

import json
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import WriteError
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Call, Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse, write
from tests.build import types_of
from tests.conftest import tables
from tests.real_plans import real_plans

TABLES = tables(__file__)


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "arguments": arguments}


def ref(id: str, *path: str | int) -> dict[str, Any]:
    return {"$ref": id, "path": [*path]} if path else {"$ref": id}


PLANS: dict[str, tuple[Any, int]] = TABLES["PLANS"]
"""Name → a plan, and how many dialects can hold it at least."""


def written(plan: Plan) -> dict[str, str]:
    """The plan in every dialect that can hold it."""
    texts = {}
    for name in dialects.names():
        try:
            texts[name] = write(plan, name, tools=types_of(plan))
        except WriteError:
            continue
    return texts


@pytest.mark.parametrize("name", PLANS)
def test_every_dialect_gives_the_plan_named_and_recognised(name: str) -> None:
    source, least = PLANS[name]
    plan = parse(source, dialect="plan")
    types, texts = types_of(plan), written(plan)
    assert len(texts) >= least, sorted(set(dialects.names()) - texts.keys())
    for dialect, text in texts.items():
        back = parse(text, dialect=dialect, tools=types)
        assert same(plan, back), dialect
        assert same(back, plan), dialect
        found = parse(text, tools=types)
        assert same(plan, found), (dialect, found.dialect)


@pytest.mark.parametrize("name", ["flat", "chain", "links"])
def test_from_every_dialect_into_every_other(name: str) -> None:
    plan = parse(PLANS[name][0], dialect="plan")
    types, texts = types_of(plan), written(plan)
    some = [*texts][:: 6 if name == "flat" else 1]
    for one in some:
        back = parse(texts[one], dialect=one, tools=types)
        for other in some:
            again = parse(write(back, other, tools=types), dialect=other, tools=types)
            assert same(plan, again), (one, other)


def test_real_plans(reference: Path) -> None:
    known = real_plans(reference)[::80]
    plans = [plan for plan in known if not any(d.code.startswith("label") for d in plan.diagnostics)]
    flat = []
    for file in sorted((reference / "datasets/callnavi/Questions").glob("*.json"))[:3]:
        records = json.loads(file.read_text(encoding="utf-8"))
        flat += [parse(record["ground_truth"], dialect="callnavi") for record in records[::12]]
    held: dict[str, int] = {}
    for plan in (*plans, *flat):
        types, texts = types_of(plan), written(plan)
        assert plan not in flat or len(texts) > 55
        for dialect, text in texts.items():
            held[dialect] = held.get(dialect, 0) + 1
            assert same(plan, parse(text, dialect=dialect, tools=types)), (dialect, text)
    assert held["plan"] == len(plans) + len(flat)


def test_what_a_dialect_cannot_say_is_an_error() -> None:
    chain = parse(PLANS["chain"][0], dialect="plan")
    for dialect in ("json", "openai-chat", "hermes", "glm", "callnavi"):
        with pytest.raises(WriteError, match="is a reference"):
            write(chain, dialect)
    with pytest.raises(WriteError, match="used 2 times"):
        write(parse(PLANS["fan"][0], dialect="plan"), "pythonic")
    with pytest.raises(WriteError, match="app"):
        write(parse("Hotels: [find(#city='Rome')]"), "openai-chat")


MIXED = [{"name": "f", "arguments": {"n": 7, "s": "7", "b": True, "t": "true", "u": None}}]
TYPES = {"f": {"n": "integer", "s": "string", "b": "boolean", "t": "string", "u": "null"}}
TEXTS = [{"name": "f", "arguments": {"s": "7", "t": "true"}}]


@pytest.mark.parametrize("name", ["anthropic-xml", "qwen3-coder", "glm", "minimax"])
def test_a_notation_without_types_says_texts_and_what_the_tools_type(name: str) -> None:
    with pytest.raises(
        WriteError, match="7 would read as '7', because it writes values without types: name a"
    ):
        pe.convert(MIXED, name)
    done = pe.convert(MIXED, name, tools=TYPES)
    assert done.losses == ()
    assert pe.same(pe.parse(done.text, dialect=name, tools=TYPES), pe.parse(MIXED))
    assert pe.same(pe.parse(pe.convert(TEXTS, name).text, dialect=name), pe.parse(TEXTS))
    done = pe.convert(MIXED, name, loss=True)
    assert [(lost.code, lost.argument) for lost in done.losses] == [("loss.type", key) for key in "nbu"]
    assert done.losses[0].message == "'n' of call 1 (f) is 7 and reads as '7'"
    given = dict(pe.parse(done.text, dialect=name).calls[0].arguments)
    assert given == {"n": "7", "s": "7", "b": "true", "t": "true", "u": "null"}


@pytest.mark.parametrize("name", ["pythonic", "json", "appbench", "xlam"])
def test_what_a_call_depends_on_without_an_argument_is_dropped_and_said(name: str) -> None:
    task: dict[str, Any] = {"task": "t1", "id": 0, "dep": [-1], "args": {"text": "a"}}
    with pytest.raises(WriteError, match=r"the reference|a dependency|is a reference"):
        pe.convert([task, {**task, "id": 1, "dep": [0]}], name)
    done = pe.convert([task, {**task, "id": 1, "dep": [0]}], name, loss=True)
    assert [(lost.code, lost.call) for lost in done.losses] == [("loss.dependency", 1)]
    assert pe.parse(done.text) == pe.parse(pe.convert([task, {**task, "id": 1}], name).text)


@pytest.mark.parametrize("name", ["hermes", "react", "appbench", "code", "llama-json", "langgraph", "mlflow"])
def test_no_call_is_refused_where_it_would_be_no_text_or_none_that_is_read(name: str) -> None:
    for loss in (False, True):
        with pytest.raises(
            WriteError, match=f"the plan calls no tool, which the dialect '{name}' cannot express; 'json'"
        ):
            pe.convert([], name, loss=loss)


@pytest.mark.parametrize(
    "name", ["json", "plan", "nestful", "mistral", "nemotron", "openai-chat", "pythonic"]
)
def test_no_call_is_written_where_a_list_of_none_says_it(name: str) -> None:
    text = pe.convert([], name).text
    assert pe.parse(text, dialect=name).calls == pe.parse(text).calls == ()


F = Call("c1", "f", (("s", "7"), ("b", True)))
HUGE = r"cannot express call c1 \(f\): read again, .* outside ±1.8e308"
AGAIN = r"read again, .*; 'plan' can"


@pytest.mark.parametrize(("call", "name", "types", "told"), [
    (F, "glm", {"s": "integer"}, "'7' would read as 7, because the tools give it the type 'integer'"),
    (F, "glm", {"s": "string"}, "True would read as 'true', .* the tools do not give this type"),
    (Call("c1", "f g"), "appbench", {}, rf"cannot express call c1 \(f g\): {AGAIN}"),
    (Call("c1", "f", (("$x", 1),)), "appbench", {}, rf"cannot express call c1 \(f\): {AGAIN}"),
    (Call("c1", "f", (("x\n", "1"),)), "appbench", {}, r"cannot express call c1 \(f\); 'plan' can"),
    (Call("c1", "f", (("x", float("nan")),)), "appbench", {}, "'x' of call c1"),
    (Call("c1", "f", (("x", float("inf")),)), "plan", {}, HUGE),
])  # fmt: skip
def test_what_cannot_be_said_names_the_call(call: Call, name: str, types: dict[str, str], told: str) -> None:
    with pytest.raises(WriteError, match=told):
        pe.convert(Plan((call,)), name, tools={"f": types} if types else None)


def test_equal_calls_are_written_and_recognised_as_many() -> None:
    twice: list[Any] = [{"name": "f", "arguments": {"x": 1}}] * 2
    for one in pe.list_dialects():
        try:
            text = pe.convert(twice, one.name, tools={"f": {"x": "integer"}}).text
        except WriteError:
            continue
        assert len(pe.parse(text).calls) == 2, one.name


def codes(plans: list[Plan]) -> dict[str, int]:
    return dict(Counter(note.code for plan in plans for note in plan.diagnostics))


OWN: list[tuple[str, Any]] = TABLES["OWN"]
NOTES = TABLES["NOTES"]


def test_gold_plans_come_back_with_the_notes_that_they_deserve(reference: Path) -> None:
    every = iter(real_plans(reference))
    for part, (count, notes) in NOTES.items():
        plans = list(islice(every, count))
        dialect = "nestful" if part.startswith("v") else "appbench"
        free = {"plan.cycle", *(("reference.ambiguous", "shape.ignored") if part == "v1" else ())}
        found = {code: number for code, number in codes(plans).items() if code not in free}
        assert (len(plans), found) == (count, notes), part
        for plan in plans:
            back = parse(write(plan, dialect), dialect=dialect)
            assert same(plan, back), plan
            assert part in ("mm", "v1") or codes([plan]) == codes([back]), plan  # quoted there


@pytest.mark.parametrize(("dialect", "source"), OWN)
def test_own_plans_round_trip(dialect: str, source: Any) -> None:
    plan = parse(source, dialect=dialect)
    back = parse(write(plan, dialect), dialect=dialect)
    assert same(plan, back)
    assert codes([plan]) == codes([back])


def test_a_message_that_lists_no_calls_is_gold_of_none_where_it_has_no_words() -> None:
    dumped = {"type": "ai", "additional_kwargs": {}, "tool_calls": []}
    for content in ("", None, " ", "[]", []):
        pe.assert_same([], {**dumped, "content": content})
    for words in ("I cannot do that.", [{"type": "text", "text": "I cannot do that."}]):
        with pytest.raises(AssertionError, match="holds no call: a gold plan without calls is written"):
            pe.assert_same([], {**dumped, "content": words})


@pytest.mark.parametrize(("value", "unable"), [("größe 東京", 3), ({"k": "größe 東京"}, 10), (["東京"], 10)])
def test_letters_of_any_script_are_written_as_they_are(value: Any, unable: int) -> None:
    plan, texts = parse(json.dumps([{"name": "f", "arguments": {"a": value}}])), []
    for name in dialects.names():
        with suppress(WriteError):
            texts.append(write(plan, name))
    assert len(texts) >= len(dialects.names()) - unable
    assert all("東京" in text for text in texts)
