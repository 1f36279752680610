"""An array in a file that is one answer: the parts of a message's content, or what was streamed of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.records.files import PlanFile, read_file
from planner_eval.records.plans import read_plan

TEXT = {"type": "text", "text": "I look."}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Rome"}}
GIVEN = {"name": "get_weather", "args": {"city": "Rome"}}
CALL = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city":"Rome"}'}
WORDS = [{"type": "output_text", "text": "I look."}]
SAID = {"type": "message", "id": "m", "role": "assistant", "content": WORDS}


def records(folder: Path, value: Any, name: str = "file.json", **how: Any) -> PlanFile:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return read_file(str(path), **how)


def chunk(*parts: Any, end: str | None = None, **beside: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, **({"finishReason": end} if end else {})}
    return {"candidates": [candidate], **beside}


def event(kind: str, **beside: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **beside}


ONE = {
    "anthropic": [TEXT, USE],
    "anthropic, thought": [{"type": "thinking", "thinking": "hm", "signature": "x"}, TEXT, USE],
    "anthropic, with results": [TEXT, USE, {"type": "tool_result", "tool_use_id": "t", "content": "20"}],
    "anthropic, a tool of its own": [TEXT, USE,
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": "Rome", "citations": []}],
    "bedrock": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "I look."},
        {"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Rome"}}}],
    "gemini": [{"text": "I look."}, {"functionCall": GIVEN, "thoughtSignature": "x"}],
    "gemini, in Python": [{"text": "hm", "thought": True, "function_call": None}, {"function_call": GIVEN}],
    "vercel": [{"type": "reasoning", "text": "hm"}, TEXT,
        {"type": "tool-call", "toolCallId": "c1", "toolName": "get_weather", "input": {"city": "Rome"}}],
    "vercel's messages": [{"type": "step-start"}, {**TEXT, "state": "done"},
        {"type": "tool-get_weather", "toolCallId": "c1", "input": {"city": "Rome"}, "output": 20}],
    "responses": [{"type": "reasoning", "id": "rs_1", "summary": []}, SAID, CALL],
    "gemini's stream": [chunk({"text": "I "}, responseId="r1"), chunk({"text": "look."}, responseId="r1"),
        chunk({"functionCall": GIVEN}, end="STOP", responseId="r1")],
    "gemini's stream without an id": [chunk({"text": "I look."}), chunk({"functionCall": GIVEN}, end="STOP")],
    "responses' stream": [event("created",
            response={"object": "response", "status": "in_progress", "output": []}),
        event("output_item.added", output_index=0, item={**CALL, "arguments": ""}),
        event("function_call_arguments.delta", item_id="fc_1", delta='{"city":"Rome"}'),
        event("output_item.done", output_index=0, item=CALL),
        event("completed", response={"object": "response", "status": "completed", "output": [CALL]})],
}  # fmt: skip


@pytest.mark.parametrize("form", ONE)
def test_the_parts_of_one_answer_are_one_plan(tmp_path: Path, form: str) -> None:
    found = records(tmp_path, ONE[form])
    assert (found.many, len(found.records)) == (False, 1)
    plan = read_plan(found.records[0])
    assert [(call.name, call.arguments) for call in plan.calls] == [("get_weather", (("city", "Rome"),))]
    assert pe.same(plan, pe.parse(ONE[form]))
    assert "stream" not in form or not any(note.code == "find.turns" for note in plan.diagnostics)


MANY = {
    "texts": [{"text": "f(a=1)"}, {"text": "g(a=2)"}],
    "texts with an id": [{"id": 1, "type": "text", "text": "f()"}, {"id": 2, "type": "text", "text": "g"}],
    "typed records": [{"type": "reasoning", "answer": "f(a=1)"}, {"type": "image", "answer": "g(a=2)"}],
    "typed records that name calls": [{"type": "text", "output": "f()"}, {"type": "text", "output": "g()"}],
    "contents": [[TEXT, USE], [TEXT]],
    "gemini's answers": [chunk({"functionCall": GIVEN}, end="STOP", responseId=f"r{at}") for at in range(2)],
    "gemini's answers, trimmed": [chunk({"functionCall": GIVEN}), chunk({"functionCall": GIVEN})],
    "the ends of two streams": [event("completed", response={"object": "response", "output": [CALL]})] * 2,
    "completions": [{"id": f"c{at}",
            "choices": [{"message": {"role": "assistant", "content": "f()"}}]} for at in range(2)],
    "messages": [{"id": f"msg_{at}", "type": "message", "role": "assistant",
            "content": [TEXT, USE]} for at in range(2)],
}  # fmt: skip


@pytest.mark.parametrize("form", MANY)
def test_what_may_be_many_answers_is_records(tmp_path: Path, form: str) -> None:
    found = records(tmp_path, MANY[form])
    assert (found.many, len(found.records)) == (True, 2)


def test_texts_alone_may_be_either_which_is_told(tmp_path: Path) -> None:
    found = records(tmp_path, [TEXT, TEXT])
    assert (len(found.records), len(found.notes)) == (2, 1)
    assert "2 objects of the type 'text' are read as 2 answers" in found.notes[0]
    assert not records(tmp_path, f"{json.dumps(TEXT)}\n" * 2, "texts.jsonl").notes
    assert not records(tmp_path, [TEXT, TEXT], text_field="text").notes
    parts = [{"text": "f()"}, {"text": "g()", "functionCall": GIVEN}]  # a field that the user names
    assert len(records(tmp_path, parts).records) == 1
    assert len(records(tmp_path, parts, text_field="text").records) == 2


@pytest.mark.parametrize("form", ["anthropic", "anthropic, thought", "bedrock", "gemini", "vercel"])
def test_one_that_was_cut_off_in_its_call_is_one_plan_that_says_so(tmp_path: Path, form: str) -> None:
    whole = json.dumps(ONE[form])
    found = records(tmp_path, whole[: whole.index("Rome") + 2])
    assert (found.many, len(found.records)) == (False, 1)
    with pytest.raises(ParseError, match="cut off"):
        read_plan(found.records[0])


def test_words_that_were_streamed_are_read_together_and_a_stream_without_its_end_is_refused() -> None:
    said = [chunk({"text": "f(a="}, responseId="r"), chunk({"text": "1)"}, end="STOP", responseId="r")]
    assert [call.arguments for call in pe.parse(said).calls] == [(("a", 1),)]
    with pytest.raises(ParseError, match="a piece of a stream"):
        pe.parse(ONE["responses' stream"][1:-1])
