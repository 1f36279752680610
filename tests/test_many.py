"""Texts of far more calls than a plan may have are refused early, and those within the limit are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner_eval.base.errors import LimitError
from planner_eval.base.limits import Limits
from planner_eval.dialects.many import refuse_many
from planner_eval.dialects.read import parse
from tests.memory import measured, measures

UNITS = (
    "f(a=1)\n", "[f(a=1)]\n", "x = f(a=1)\n", "f(a=1);", "f(a=g(b=1))\n", "f(a=[1, 'b)'])\n",
    "const x = await f({a: 1});\n", "a = f(#x='1')\n", "App: [r, s = f(#x='1', #b=r)]\n",
    '{"name": "f", "arguments": {"a": 1}}\n',
)  # fmt: skip


CALL = '{"name": "f", "arguments": {"a": 1}}'


SPOKEN = '{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}'
MANY = (
    ("", "f(a=1)\n", ""), ("", "[f(a=1)]\n", ""), ("[", "f(a=1), ", "]"),
    ("", "<|tool_call>call:f{a:1}<tool_call|>\n", ""), ("<|tool_call|>[", f"{CALL}, ", f"{CALL}]"),
    ("", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n", ""),
    ("<functions>", '<function name="f"><params><a type="integer">1</a></params></function>', "</functions>"),
    ("", "<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n", ""), ("[", f"{CALL}, ", f"{CALL}]"),
    ("[", '{"name": "f", "label": "$var_1", "arguments": {"a": "$var_0$"}}, ', f"{CALL}]"),
    ('{"role": "model", "parts": [', '{"functionCall": {"name": "f", "args": {"a": 1}}}, ', '{"text": ""}]}'),
    ('{"role": "assistant", "content": null, "tool_calls": [', f"{SPOKEN}, ", f"{SPOKEN}]}}"),
)  # fmt: skip


@pytest.mark.more
@measures
@pytest.mark.parametrize("text", MANY)
def test_a_refusal_costs_little_time_and_memory(text: tuple[str, str, str], tmp_path: Path) -> None:
    """Fourteen megabytes of calls, alone or in a list, within seconds and without objects of each."""
    file = tmp_path / "plan.txt"
    before, unit, after = text
    file.write_text(before + unit * (14_000_000 // len(unit)) + after, "utf-8")
    done, peak = measured("parse", str(file), seconds=12)
    assert (done.returncode, "than the limit of 100,000" in done.stdout) == (3, True)
    assert 0 < peak < 150


@pytest.mark.parametrize("unit", UNITS)
def test_as_many_calls_as_the_limit_are_read_and_one_more_is_refused(unit: str) -> None:
    calls = len(parse(unit).calls)
    limits = Limits(calls=calls * 20)
    assert len(parse(unit * 20, limits=limits).calls) == calls * 20
    with pytest.raises(LimitError, match="the limit of"):
        parse(unit * 21, limits=limits)
    refuse_many(unit * 20, limits)
    with pytest.raises(LimitError):  # before anything is made of them
        refuse_many(unit * 21, Limits(calls=20))


TOOL = '{"type": "function", "function": {"name": "f", "parameters": {"properties": {}}}}'


@pytest.mark.parametrize("text", [
    "f = f(a=1)\n" * 30, "print(a=1)\n" * 30, "```\nf(a=1)\n```\n" * 30, '{"name": "f"}\n' * 30,
    "f(a=1)\n" * 30 + '<tool_call>{"name": "g", "arguments": {}}</tool_call>',
    "f(a=1)\n" * 30 + "</think>\ng(b=2)", "[" + ", ".join([TOOL] * 31) + "]",
    '{"role": "user", "content": [' + '{"type": "tool_use", "name": "f", "input": {}}, ' * 30 + f"{CALL}]}}",
    '[{"name": "f", "arguments": {"rows": [' + ", ".join([CALL] * 30) + "]}}]",
])  # fmt: skip
def test_what_may_hold_fewer_calls_is_left_to_its_reader(text: str) -> None:
    refuse_many(text, Limits(calls=20))
