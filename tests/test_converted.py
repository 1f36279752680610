"""What convert refuses, in which words, and what it lists as lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import WriteError
from planner_eval.plan.model import Call, Plan
from tests.inside import planeval

MIXED = [{"name": "f", "arguments": {"n": 7, "s": "7", "b": True, "t": "true", "u": None}}]
TYPES = {"f": {"n": "integer", "s": "string", "b": "boolean", "t": "string", "u": "null"}}
UNTYPED = ("anthropic-xml", "qwen3-coder", "glm", "minimax")


@pytest.mark.parametrize("name", UNTYPED)
def test_a_notation_without_types_says_texts_and_what_the_tools_type(name: str) -> None:
    with pytest.raises(
        WriteError, match="7 would read as '7', for it writes values without types: give a tool"
    ):
        pe.convert(MIXED, name)
    done = pe.convert(MIXED, name, tools=TYPES)
    assert done.losses == ()
    assert pe.same(pe.parse(done.text, dialect=name, tools=TYPES), pe.parse(MIXED))
    texts = [{"name": "f", "arguments": {"s": "7", "t": "true"}}]
    assert pe.same(pe.parse(pe.convert(texts, name).text, dialect=name), pe.parse(texts))


@pytest.mark.parametrize("name", UNTYPED)
def test_types_that_are_given_up_are_listed(name: str) -> None:
    done = pe.convert(MIXED, name, loss=True)
    assert [(lost.code, lost.argument) for lost in done.losses] == [("loss.type", key) for key in "nbu"]
    assert done.losses[0].message == "'n' of call 1 (f) is 7 and reads as '7'"
    given = dict(pe.parse(done.text, dialect=name).calls[0].arguments)
    assert given == {"n": "7", "s": "7", "b": "true", "t": "true", "u": "null"}


@pytest.mark.parametrize(("types", "told"), [
    ({"f": {"s": "integer"}}, "'7' would read as 7, for the tools say that it is of type 'integer'"),
    ({"f": {"s": "string"}}, "True would read as 'true', .* the tools given do not type this one"),
])  # fmt: skip
def test_what_the_tools_say_of_a_value_is_said(types: dict[str, dict[str, str]], told: str) -> None:
    with pytest.raises(WriteError, match=told):
        pe.convert([{"name": "f", "arguments": {"s": "7", "b": True}}], "glm", tools=types)


@pytest.mark.parametrize("name", ["hermes", "react", "appbench", "code", "llama-json", "langgraph", "mlflow"])
@pytest.mark.parametrize("loss", [False, True])
def test_no_call_is_refused_where_it_would_be_no_text_or_none_that_is_read(name: str, loss: bool) -> None:
    with pytest.raises(WriteError, match=f"the plan calls no tool, which the dialect '{name}' has no way"):
        pe.convert([], name, loss=loss)


@pytest.mark.parametrize(
    "name", ["json", "plan", "nestful", "mistral", "nemotron", "openai-chat", "pythonic"]
)
def test_no_call_is_written_where_a_list_of_none_says_it(name: str) -> None:
    text = pe.convert([], name).text
    assert pe.parse(text, dialect=name).calls == pe.parse(text).calls == ()


@pytest.mark.parametrize(("call", "name", "told"), [
    (Call("c1", "f g"), "appbench", r"cannot say call c1 \(f g\): read again, .*; 'plan' can"),
    (Call("c1", "f", (("$x", 1),)), "appbench", r"cannot say call c1 \(f\): read again, .*; 'plan' can"),
    (Call("c1", "f", (("x\n", "1"),)), "appbench", r"cannot say call c1 \(f\); 'plan' can"),
    (Call("c1", "f", (("x", float("nan")),)), "appbench", "'x' of call c1"),
    (Call("c1", "f", (("x", float("inf")),)), "plan",
        r"cannot say call c1 \(f\): read again, .* past 1.8e308"),
])  # fmt: skip
def test_what_cannot_be_said_names_the_call(call: Call, name: str, told: str) -> None:
    with pytest.raises(WriteError, match=told):
        pe.convert(Plan((call,)), name)


def test_equal_calls_are_written_and_recognised_as_many() -> None:
    twice: list[Any] = [{"name": "f", "arguments": {"x": 1}}] * 2
    for one in pe.list_dialects():
        try:
            text = pe.convert(twice, one.name, tools={"f": {"x": "integer"}}).text
        except WriteError:
            continue
        assert len(pe.parse(text).calls) == 2, one.name


def test_the_command_takes_the_catalog_for_both_sides(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(MIXED))
    properties: dict[str, Any] = {key: {"type": kind} for key, kind in TYPES["f"].items()}
    properties["u"] = {"type": ["integer", "null"]}
    tool = {"name": "f", "description": "does", "parameters": {"type": "object", "properties": properties}}
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": tool}]))
    how = ("convert", tmp_path / "plan.json", "--to", "qwen3-coder")
    refused = planeval(*how)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "without types: give a tool schema" in refused.stderr
    lossy = planeval(*how, "--loss")
    assert lossy.returncode == 0
    assert lossy.stderr.count("loss.type") == 3
    done = planeval(*how, "--catalog", tmp_path / "tools.json")
    assert done.returncode == 0
    assert done.stderr.count("loss") == 0
