"""Integers that Python reads and refuses to write, and texts that nest without end: refused at reading."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from planner_eval.base.errors import LimitError, ParseError, PlanevalError
from planner_eval.base.limits import MAX_DIGITS
from planner_eval.dialects.read import parse, write
from tests.inside import planeval

HEX = f"0x{'f' * 4_000}"
OPENED = 100_000
DIGITS = "9" * (MAX_DIGITS + 1)
DEEP = f"f(a={'[' * 100_000}{']' * 100_000})"
COMMANDS = (
    "parse {}", "convert {} --to json", "diff {} {}", "score {} {}", "compare {} {} --gold {}", "stats {}",
    "render {} --format text", "check {} --catalog {tools}", "execute {} --tools {tools}",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
@pytest.mark.parametrize("text", [f"f(a={HEX})", DEEP], ids=["hex", "deep"])
@pytest.mark.parametrize("wrapped", [False, True], ids=["text", "records"])
def test_every_command_refuses_it_and_goes_on(command: str, text: str, wrapped: bool, tmp_path: Path) -> None:
    file, tools = tmp_path / ("plans.jsonl" if wrapped else "plans.txt"), tmp_path / "tools.py"
    tools.write_text('def f(a: int) -> int:\n    """F."""\n    return a\n', encoding="utf-8")
    records = [{"id": at, "prediction": one, "gold": one} for at, one in enumerate((text, "f(a=1)"), 1)]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    file.write_text(lines if wrapped else text, encoding="utf-8")
    name, *argv = command.split()
    done = planeval(name, *(part.format(file, tools=tools) for part in argv))
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert done.returncode in (0, 1, 3)
    expected = "nests deeper than 200 levels" if text is DEEP else "found an integer of more than 4,300"
    assert name == "compare" or expected in said or "unreadable" in said
    if name in ("parse", "convert", "diff", "stats", "render"):
        assert f"line 1, column {204 if text is DEEP else 5}: " in said


@pytest.mark.parametrize(("text", "line", "column"), [
    (f"f(a=-{HEX})", 1, 6), (f"f(a='\"', b={HEX}, c='\"')", 1, 12), (f"Sure:\n[f(b='x', a=[{HEX}])]", 2, 14),
    (f"f(a=0b{'1' * 20_000})", 1, 5), (f"f(a={'_'.join(['999'] * 2_000)})", 1, 5),
    (f"f(a={{{HEX}: 1}})", 1, 6), (f"x = f(a=1)\ny = g(b=x[{HEX}])", 2, 11),
    (f'Sure:\n[{{"name": "f", "arguments": {{"a": {DIGITS}}}}}]', 2, 35),
    (f"const x = await f({{a: {DIGITS}}});", 1, 23),
    (f"API:\n  - name: f\n    parameters:\n      a: {HEX}\n", 4, 10),
    (f"API:\n  - name: f\n    parameters:\n      a: {DIGITS}\n", 4, 10),
    (f'<tool_call>\n{{"name": "f", "arguments": {{"a": {DIGITS}}}}}\n</tool_call>', 2, 34),
    (f"<|tool_call>call:f{{a:{DIGITS}}}<tool_call|>", 1, 22), (f"1. f({HEX})\n2. g($1)", 1, 6),
    (f"Action 1: #E1 = f(a={HEX})\nAction 2: #E2 = g(b=#E1)", 1, 21),
    (f'Action: f\nAction Input: {{"a": {DIGITS}}}', 2, 21), (f"Call: f(x=g(a={HEX}), y=2)<bot_end>", 1, 15),
    (f"A: [x = f(#a={DIGITS})]", 1, 14), (f"A: [x = f(#a=[{DIGITS}])]", 1, 14),
], ids=range(19))  # fmt: skip
def test_each_notation_refuses_it_at_its_place(text: str, line: int, column: int) -> None:
    for repair in (False, True):
        with pytest.raises(ParseError) as caught:
            parse(text, repair=repair)
        assert (caught.value.line, caught.value.column) == (line, column), caught.value.reason
        assert "sys.set_int" not in caught.value.reason


def test_structure_with_it_is_refused() -> None:
    for value in (10**MAX_DIGITS, -(10**MAX_DIGITS), {"b": [1, 10**5_000]}):
        with pytest.raises(
            LimitError, match=r"argument 'a' of call 1 is an integer of more than 4,300 digits"
        ):
            parse([{"name": "f", "arguments": {"a": value}}])


def test_the_longest_integer_is_read_and_written() -> None:
    longest = 10**MAX_DIGITS - 1
    for text in (f"f(a={longest})", f"f(a=-{longest})", f"f(a={longest:#x})"):
        plan = parse(text)
        assert abs(plan.calls[0].arguments[0][1]) == longest  # type: ignore[arg-type]
        assert parse(write(plan, "json")).calls[0].arguments == plan.calls[0].arguments
    for text in (f"f(a='{HEX}')", json.dumps([{"name": "f", "arguments": {"a": HEX}}])):
        assert parse(text).calls[0].arguments == (("a", HEX),)  # a quoted one is text


def test_arithmetic_is_kept_as_written() -> None:
    for text in ("2**100000", "1<<999999", f"{'9' * 4_000}*{'9' * 4_000}", "True+1", "~5"):
        done = planeval("parse", "--format", "json", "-", text=f"f(a={text})")
        assert done.returncode == 0
        assert json.loads(done.stdout)["plan"]["calls"][0]["arguments"] == {"a": text}


@pytest.mark.more
@pytest.mark.parametrize("text", [
    "[" * OPENED + "]" * OPENED, f'[{{"name": "f", "arguments": {{"a": {"[" * OPENED}{"]" * OPENED}}}}}]',
    f"f(a={'(' * OPENED}1{')' * OPENED})", "f(" * OPENED + ")" * OPENED, f"f(a={'-' * OPENED}1)",
    f"f(a={'not ' * OPENED}1)", f"f(a=x{'.a' * OPENED})", f"f(a=x{'[0]' * OPENED})", f"f(a={'1+' * OPENED}1)",
    f"f(a={'lambda:' * OPENED}1)", f"const x = await f({{a: {'[' * OPENED}{']' * OPENED}}});",
    f"<|tool_call>call:f{{a:{'[' * OPENED}{']' * OPENED}}}<tool_call|>",
    f"A: [x = f(#a={'[' * OPENED}{']' * OPENED})]",
    f"API:\n- f\nparameters:\n  a: {'[' * OPENED}{']' * OPENED}",
    f'Hi\n<tool_call>{{"name": "f", "arguments": {chr(123)}"a": {"[" * OPENED}', "Hi\n" + "[f(a=" * OPENED,
], ids=range(16))  # fmt: skip
def test_endless_nesting_is_an_error_or_a_plan(text: str) -> None:
    for repair in (False, True):
        with contextlib.suppress(PlanevalError):
            assert len(parse(text, repair=repair).calls) <= 1
