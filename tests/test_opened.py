"""A call that was opened is never lost in silence: it is read, or an error says where it stands."""

from __future__ import annotations

import re

import pytest

import planner_eval as pe
from planner_eval import dialects
from planner_eval.base.errors import ParseError
from tests.test_texts import codes, parsed, tools

F, G = '{"name": "f", "arguments": {"a": 1}}', '{"name": "g", "arguments": {"b": 2}}'
CALLED = f"<tool_call>{F}</tool_call>\n"


@pytest.mark.parametrize("text", [
    "<tool_call>f(a=1)</tool_call>", "<tool_call>[f(a=1)]</tool_call>", "<answer>[f(a=1)]</answer>",
    f"<tool>{F}</tool>", f"Sure! {F}", f"The call is {F}.", f"Call {F} now", "Hotels: [f(a=1)]",
])  # fmt: skip
def test_a_call_in_a_tag_or_after_words_is_read(text: str) -> None:
    code, row = parsed(text)
    assert (code, tools(row), row["plan"]["calls"][0]["arguments"]) == (0, ["f"], {"a": 1})


def test_words_between_a_calls_tokens_are_no_tool() -> None:
    for words in ("I will not call anything", "none"):
        code, row = parsed(f"<tool_call>{words}</tool_call>")
        assert (code, row["error"]) == (3, f"found {words!r}, expected a tool's name")


CHATML = "<|im_start|>{}\n{}<|im_end|>\n"
PROMPT = CHATML.format("system", f"Tools: {G}") + CHATML.format("user", f"Write <tool_call>{G}</tool_call>.")


@pytest.mark.parametrize("text", [
    PROMPT + CHATML.format("assistant", f"<tool_call>{F}</tool_call>"),
    PROMPT + CHATML.format("assistant", "[f(a=1)]"), f"{PROMPT}<|im_start|>assistant\n[f(a=1)]",
    "<s>[INST] Write\n[g(b=2)] [/INST] [f(a=1)]</s>",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n[g(b=2)]<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n[f(a=1)]<|eot_id|>",
    f"User: try <tool_call>{G}</tool_call>\nAssistant: <tool_call>{F}</tool_call>\n",
    "<start_of_turn>user\n[g(b=2)]<end_of_turn>\n<start_of_turn>model\n[f(a=1)]<end_of_turn>",
])  # fmt: skip
def test_of_a_transcript_the_assistants_turns_are_read(text: str) -> None:
    code, row = parsed(text)
    assert (code, tools(row), codes(row)[0]) == (0, ["f"], "find.turn")


def test_a_transcript_without_a_turn_of_the_assistant_is_no_answer() -> None:
    code, row = parsed(PROMPT)
    assert (code, row["code"]) == (3, "answer.absent")
    assert row["error"] == "no turn is the assistant's: 'system', 'user' spoke"
    code, row = parsed(f"{PROMPT}<|im_start|>assistant\nI call nothing.<|im_end|>")
    assert (code, tools(row)) == (0, [])


OPENER = re.compile(
    r"\b(?!join)\w+\(|\{\"(?:name|tool_name|toolName)|^Action(?: \d+)?:|await \w|to=functions\.|#E\d+ ="
    r"|<(?:invoke|function|param)\b"
    r"|<(?:tool_call|\|tool_call_(?:begin|start)\||\|tool_call\|?)>|<function_?calls?>|\[TOOL_CALLS\]|<\|python_tag\|>|<TOOLCALL>|<<function>>",
    re.M,
)
UNENDED = {"callnavi-yaml", "worfbench"}
"""Notations in which nothing says where a name or a plan ends."""


@pytest.mark.parametrize("name", [name for name in dialects.names() if name not in UNENDED])
def test_every_prefix_of_an_example_is_its_first_calls_or_an_error(name: str) -> None:
    text = dialects.get(name).example.strip()
    whole = [call.tool for call in pe.parse(text).calls]
    first = {0: 0}
    for end in range(1, len(text)):
        try:
            found = [call.tool for call in pe.parse(text[:end]).calls]
        except ParseError:
            continue
        assert found == whole[: len(found)], text[:end]
        after = text[first.setdefault(len(found), end) : end]
        assert not OPENER.search(after), text[:end]


CUT = [
    "<tool_call>\n<function", "<tool_call>get_rate\n<arg_key", "API:\n- get_rate\nparameters:\n- cur",
    '<function_calls>\n<invoke name="get_rate">\n<parameter name=',
    "<|channel|>commentary to=functions", "const rate = await get_rate",
    "Thought: x\nAction: f\nAction Input", '1. f("x")\n2. g(', "Hotels: [a = f(#x='1')]\nHotels: [g(#hotel",
    "x = f(a=1)\ny = g", f"[TOOL_CALLS] [{F}][TOOL_CALLS", f"<function_call> {F} <function_call> ",
    "<function_calls>\nf(a=1)\nroll", f'{CALLED}{{"name": "g", "argu',
    '[{"get_rate": {"cur": "EUR"}}, {"roll": "{\\"sides\\": 6}',
]  # fmt: skip


WHOLE = [
    "I cannot (really) do that", "Let me think (as f does", "x = f(a=1)\ny = x", f"{CALLED}Done",
    "Action: none", "It is smaller: a < b", "[f(a=1)]\nNote that g",
]  # fmt: skip


@pytest.mark.parametrize("text", [*CUT, *WHOLE])
def test_a_text_that_is_cut_inside_a_call_says_so_and_words_at_its_end_are_no_call(text: str) -> None:
    code, row = parsed(text)
    assert (code, row.get("code")) == ((3, "parse.cut") if text in CUT else (0, None))


OPENED = {  # a text: its tools, and the notes that are told
    f"{CALLED}{G}": (["f", "g"], ["dialect.mixed"]), f"{CALLED}[g(b=2)]": (["f", "g"], ["dialect.mixed"]),
    f"{CALLED}```json\n{G}\n```": (["f", "g"], ["dialect.mixed"]),
    f"{CALLED}```python\ng(b=2)\n```": (["f", "g"], ["dialect.mixed"]),
    f'{CALLED}<function=g>{{"b": 2}}</function>': (["f", "g"], ["dialect.mixed"]),
    f"[TOOL_CALLS] [{F}]\n```python\ng(b=2)\n```": (["f", "g"], ["dialect.mixed"]),
    f"Let me look at it.\n{CALLED}I will say what it gave.": (["f"], ["find.text"]),
    f"{CALLED}[f(a=1)]": (["f"], ["find.restated", "find.text"]),
    'Write {"name": "x", "arguments": {...}}.': ([], ["plan.no_call"]),
    'It is {"name": "Bob", "age": 5}.': ([], ["plan.no_call"]),
}  # fmt: skip


@pytest.mark.parametrize("text", OPENED)
def test_what_stands_beside_the_tokens_of_a_notation_is_read_or_said(text: str) -> None:
    code, row = parsed(text)
    assert (code, tools(row), codes(row)) == (0, *OPENED[text])
