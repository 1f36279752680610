"""Texts with turns: which of them are the assistant's, and when a model went on and played others."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest

import planner_eval as pe

TOKENS = {
    "chatml": ("<|im_start|>{}\n", "<|im_end|>\n"),
    "llama": ("<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>"),
    "gemma": ("<start_of_turn>{}\n", "<end_of_turn>\n"),
}
ANSWERS = {
    "tool": ("tool", '{"name": "other", "arguments": {}}'),
    "ipython": ("ipython", '{"name": "other", "arguments": {}}'),
    "user": ("user", '<tool_response>\n{"name": "other", "arguments": {}}\n</tool_response>'),
}
ASKED = ("user", "Do it.")


def call(number: int) -> tuple[str, str]:
    return "assistant", f"<tool_call>\n{json.dumps({'name': f'f{number}', 'arguments': {}})}\n</tool_call>"


def text_of(form: str, *turns: tuple[str, str]) -> str:
    begins, ends = TOKENS[form]
    return "".join(f"{begins.format(who)}{said}{ends}" for who, said in turns)


def read(text: str) -> list[str]:
    return [call.name for call in pe.parse(text).calls]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("form", TOKENS)
def test_where_tools_answer_all_turns_are_read_whoever_begins(form: str, answer: str) -> None:
    turns = (call(1), ANSWERS[answer], call(2), ASKED, call(3))
    text = text_of(form, *turns)
    assert read(text) == read(text_of(form, ASKED, *turns)) == ["f1", "f2", "f3"]
    assert read(text.removeprefix(TOKENS[form][0].format("assistant"))) == ["f1", "f2", "f3"]


@pytest.mark.parametrize("form", TOKENS)
def test_where_none_does_a_model_went_on(form: str) -> None:
    plan = pe.parse(text_of(form, call(1), ASKED, call(2)))
    assert [call.name for call in plan.calls] == ["f1"]
    assert "find.turn" in [note.code for note in plan.diagnostics]
    assert read(text_of(form, call(1), ANSWERS["tool"])) == ["f1"]


@pytest.mark.parametrize("token", ["<|endoftext|>", "<|im_end|>", "<|eot_id|>"])
@pytest.mark.parametrize("heading", ["Human: more?", " User: more?", "### Instruction: more"])
def test_a_heading_after_the_end_begins_another_turn(token: str, heading: str) -> None:
    text = (
        f'{{"name": "f1", "arguments": {{}}}}{token}{heading}\nAssistant: {{"name": "f2", "arguments": {{}}}}'
    )
    assert read(text) == ["f1"]


@pytest.mark.parametrize("before", ["", "User: send it\nAssistant: "])
@pytest.mark.parametrize("line", ["User: hello", "Human: f(a=1)", "### Response: x", "Assistant: y"])
def test_a_line_of_a_value_begins_no_turn(line: str, before: str) -> None:
    value = f"hi\n{line}\nbye"
    tagged = (
        f"<tool_call>\n<function=send>\n<parameter=text>\n{value}\n</parameter>\n</function>\n</tool_call>"
    )
    for text in (tagged, f'send(text="""{value}""")'):
        assert [call.arguments for call in pe.parse(f"{before}{text}").calls] == [(("text", value),)]


MANY = ("<a>\nUser: a\n", '"""\nUser: a\n', "<|im_start|>tool\n", "Action\nObservation: {\n")


@pytest.mark.parametrize("piece", MANY)
def test_many_turns_take_no_quadratic_time(piece: str) -> None:
    def taken(count: int) -> float:
        text = "f(a=1)\n" + piece * count + "</a>"
        start = time.process_time()
        with suppress(pe.PlanevalError):
            pe.parse(text)
        return time.process_time() - start

    taken(10)
    assert taken(10_000) < 30 * max(taken(1_000), 0.01)
