"""The law of values that hold tokens: a value is read character for character, whatever stands in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval import dialects
from planner_eval.base.errors import WriteError
from planner_eval.dialects.detect import signs
from planner_eval.dialects.find import without_thoughts
from planner_eval.dialects.read import parse, write
from planner_eval.dialects.table import table
from planner_eval.dialects.types import types_of
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan
from tests.conftest import examples

THOUGHTS = [
    text
    for name in ("think", "thinking", "thought", "reasoning", "scratchpad")
    for text in (f"<{name}>", f"</{name}>", f"<{name}>2+2=5</{name}> done")
] + ["[THINK]", "[/THINK]", "[THINK]a[/THINK]", "<|thought_start|>x<|thought_end|>"]
ASIDES = [
    "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<end_of_turn>", "<start_of_turn>model\n", "<|endoftext|>",
    "<|end|>", "<|im_start|>", "<|im_start|>user", "<|im_end|>", "<|im_sep|>", "<|eot_id|>", "<|eom_id|>",
    "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>user<|end_header_id|>", "[INST]", "[/INST]",
    "\x1b[31m", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>",
    "<|channel|>analysis<|message|>y<|end|>", "\nUser: hi", "\n### Response:\n",
]  # fmt: skip
OPENERS = sorted({token for row in table().values() for token in signs(row)})
CLOSERS = [
    "</tool_call>", "</parameter>", "</function>", "</arg_value>", '<|"|>', "<escape>", "</li><li>", "```",
    '<tool_call>{"name": "g", "arguments": {}}</tool_call>', "<function=g>{}</function>",
]  # fmt: skip
TOKENS = [*THOUGHTS, *ASIDES, *OPENERS, *CLOSERS]
WORDS = ["x", "don't", "Wrap in", "\n", 'a "b"', ":", "[1]", "{}", "it's", "\\", "\t", ", ", "(y)", " "]

values = st.lists(st.one_of(st.sampled_from(TOKENS), st.sampled_from(WORDS)), min_size=1, max_size=5).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda between: between.join(pieces))
)


def plan_of(*given_: Any) -> Plan:
    first, *others = given_
    arguments = {"text": first, **({"n": others[0]} if others else {})}
    calls = [{"name": "set", "arguments": arguments}, {"name": "g2", "arguments": {"k": [*given_][-1]}}]
    return parse(calls, dialect="plan")


def holds(plan: Plan, name: str) -> None:
    """The plan comes back from a notation, named and recognised, or that refuses to write it."""
    try:
        text = write(plan, name)
    except WriteError:
        return
    types = types_of(plan)
    assert same(plan, parse(text, dialect=name, tools=types)), text
    found = parse(text, tools=types)
    assert same(plan, found), (found.dialect, text)


@pytest.mark.more
@pytest.mark.parametrize("token", TOKENS)
def test_every_token_comes_back_from_every_notation(token: str) -> None:
    plan = plan_of(f"End with {token} please", token, "z")
    for name in dialects.names():
        holds(plan, name)


@given(values, values, st.sampled_from(dialects.names()))
@examples(60)
def test_drawn_values_come_back(first: str, second: str, name: str) -> None:
    holds(plan_of(first, second), name)


@given(values)
@examples(40)
def test_a_fence_after_a_thought_says_what_it_holds(value: str) -> None:
    calls = [{"name": "f", "arguments": {"a": value}}]
    text = (
        f'<think>It\'s "f", so f(a=\'1\') or [f(a="2")].</think>\n```json\n{json.dumps(calls)}\n```<|im_end|>'
    )
    assert [dict(call.arguments) for call in parse(text).calls] == [{"a": value}]


@given(values)
@examples(40)
def test_an_answer_keeps_what_its_values_hold(value: str) -> None:
    call = json.dumps({"name": "f", "arguments": {"a": value}}, ensure_ascii=False)
    text = f"<tool_call>\n{call}\n</tool_call>"
    assert without_thoughts(f'<think>f(a="1") don\'t</think>{text}') == text


@pytest.mark.parametrize("quote", ["It's ", 'Say "x" or "', "don't 'do it' - ", ""])
@pytest.mark.parametrize("draft", ['f(a="x")', "[f(a=\"x\", b='y')]", '```\nf(a="x")\n```', "f(a='it"])
def test_a_thought_that_drafts_calls_is_passed_over(quote: str, draft: str) -> None:
    for thought in (
        f"<think>{quote}{draft}</think>",
        f"{quote}{draft}</think>",
        f"{quote}<think>{draft}</think>",
    ):
        for between in ("\n", "\n\n"):
            plan = parse(f'{thought}{between}[f(a="</s>")]')
            assert [dict(call.arguments) for call in plan.calls] == [{"a": "</s>"}], thought
