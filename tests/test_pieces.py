"""Python that stands in several pieces of a text: lists, fences, tags. The cases are tests/cases/pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.base.limits import Limits
from planner_eval.dialects.read import parse
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Ref
from tests.test_dialect_cases import split

CASES = sorted((Path(__file__).parent / "cases" / "pieces").glob("*.txt"))
GOLD = parse("t = f(x=1)\ng(y=t)")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_line_ends(path: Path) -> None:
    text = split(path)[1]

    def read(text: str) -> Any:
        try:
            return [(call.tool, call.arguments) for call in parse(text).calls]
        except ParseError as error:
            return error.reason.split(":")[0]

    for end in ("\r\n", "  \n", "\n\n"):
        assert read(text.replace("\n", end)) == read(text), end


MARKS = [
    "{}. ", "{}) ", "({}) ", "- ", "* ", "+ ", "• ", "> ", "> {}. ", "Step {}: ", "Step {}. ", "Step {} - ",
    "Step {} — ", "Step {} → ", "**Step {}:** ", "step {}) ", "Action {}: ", "Call #{}: ", "- {}. ",
    "\u200b", "\ufeff", "\u2060  {}. ",
]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_marks(mark: str) -> None:
    for ticks in ("", "`"):
        lines = [f"{ticks}t = f(x=1){ticks}", f"{ticks}g(y=t){ticks}"]
        text = "\n".join(f"{mark.format(i)}{line}" for i, line in enumerate(lines, 1))
        plan = parse(text)
        assert same(plan, GOLD)
        assert [text[slice(*call.span)] for call in plan.calls if call.span] == ["f(x=1)", "g(y=t)"]
        assert not plan.diagnostics


def test_pieces_that_are_named_or_stand_in_blocks() -> None:
    text = "First:\n```python\nt = f(x=1)\n```\n```python\ng(y=t)\n```"
    for name in ("code", "pythonic"):
        assert same(parse(text, dialect=name), GOLD)
        assert same(parse(text, dialect=name, reader="grammar"), GOLD)
    block = '{"type": "server_tool_use", "id": "%s", "name": "code_execution", "input": {"code": "%s"}}'
    assert same(parse(f"[{block % ('a', 't = f(x=1)')}, {block % ('b', 'g(y=t)')}]"), GOLD)


def test_what_pieces_bind_and_count() -> None:
    with pytest.raises(ParseError, match="limit of 3"):
        parse("\n".join(f"{i}. t{i} = f(x={i})" for i in range(4)), limits=Limits(calls=3))
    plan = parse("1. t = f(x)\n2. g(y=t)")  # a signature is no call, and what is bound to it is no reference
    assert [(call.tool, call.arguments) for call in plan.calls] == [("g", (("y", "t"),))]
    plan = parse("First, rest = f(x=1)\ng(y=rest)\nh(z=First)")  # a variable with an ordinal for a name
    assert plan.calls[1].arguments == (("y", Ref(0, (1,))),)


@pytest.mark.more
def test_many_lines_take_linear_time() -> None:
    """A name a line: 20,000 of them would take minutes where each piece took a copy of all before it."""
    lines = ["1. t0 = f(x=1)", *(f"1. t{i} = f(x=t{i - 1})" for i in range(1, 20_000))]
    plan = parse("\n".join(lines))
    assert len(plan.calls) == 20_000
    assert plan.calls[-1].arguments == (("x", Ref(19_998, ())),)


@pytest.mark.parametrize(("text", "gold"), [
    ('from tools import get\nr = get(base="E")\nput(x=r)', 'r = get(base="E")\nput(x=r)'),
    ('import tools as t\nr = t.get(base="E")\nput(x=r)', 'r = tools.get(base="E")\nput(x=r)'),
    ("```\nfrom tools import get as g\n```\nThen:\n```\nr = g(b=1)\nput(x=r)\n```", "put(x=get(b=1))"),
    ("import math, numpy as np\nx = math.sqrt(2)\ny = np.array([1])\nf(x=1)", "f(x=1)"),
    ("def go():\n    f(x=1)\ngo()\ngo()", "f(x=1)\nf(x=1)"),
    ("def mail(to, *, text=2):\n    send(a=to, b=text)\nr = get(b=1)\nmail(r)", "send(a=get(b=1), b=2)"),
    ("def a():\n    return f(x=1)\n    g(y=2)\nv = a()\ng(y=v)", "v = f(x=1)\ng(y=v)"),
    ("x = f(a=1)\ndef go(y):\n    x = g(b=y)\n    h(c=x)\ngo(2)\nk(x)", "x = f(a=1)\nh(c=g(b=2))\nk(x)"),
    ("def go():\n    return f(x=1)\nh(a=g(y=1), b=go())", "h(a=g(y=1), b=f(x=1))"),
])  # fmt: skip
def test_functions_and_imports_are_followed(text: str, gold: str) -> None:
    assert same(parse(text), parse(gold))


def test_what_is_not_followed_is_said() -> None:
    for text in (
        "def mail(*to):\n    send(to=to)\nmail(1)", "h = lambda: send(to=1)\nh()",
        "class A:\n    def run(self):\n        send(to=1)\nA().run()",
    ):  # fmt: skip
        plan = parse(f"{text}\ng(y=1)")
        assert [call.tool for call in plan.calls] == ["g"]
        told = "calls in functions that are not followed were not read: send"
        assert [note.message for note in plan.diagnostics if note.code == "code.function"] == [told]
        assert "were not read: send" in parse(text).diagnostics[-1].message


MARKERS = (
    "a) |b) ", "-> |-> ", "1.1 |1.2 ", "✅ |✅ ", "In [1]: |In [2]: ", "i. |ii. ", "First, |Then, ",
    "- a) |- b) ",
)  # fmt: skip


def test_functions_that_double_are_refused() -> None:
    """Forty functions of which each calls the one before twice are a million million readings."""
    steps = "".join(f"def a{i}():\n    a{i - 1}()\n    a{i - 1}()\n" for i in range(1, 40))
    with pytest.raises(ParseError, match="would be read again"):
        parse(f"def a0():\n    pass\n{steps}a39()\nf(x=1)")


@pytest.mark.parametrize("marks", MARKERS)
def test_markers(marks: str) -> None:
    one, two = marks.split("|")
    for around in ("%s", "```python\n%s\n```", "The plan:\n%s\nDone."):
        assert same(parse(around % f"{one}t = f(x=1)\n{two}g(y=t)"), GOLD), around


def test_functions_of_long_text_are_followed() -> None:
    """Text this long is parsed part by part, and its nodes are made anew each time they are looked at."""
    calls = "".join(f"v{i} = go({i})\n" for i in range(2_000))
    plan = parse(f"def go(a):\n    return f(x=a)\n{calls}g(y=v1999)")
    assert len(plan.calls) == 2_001
    assert plan.calls[-1].arguments == (("y", Ref(1_999, ())),)
    assert not plan.diagnostics
