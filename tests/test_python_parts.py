"""Programs are read as they run or refused, in memory of the plan's order and of one tree."""

import copy
import gc
import itertools
import re
import sys
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.limits import Limits
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan, Ref, map_leaves
from planner_eval.reading.dialects.read import parse
from tests.conftest import tabled, tables
from tests.memory import measured, measures
from tests.test_dialect_cases import split

TABLES = tables(__file__)

SIZE = 240_000


def over(line: str) -> str:
    """A line over and over, with the number of each in the place of N."""
    return "".join(line.replace("N", str(at)) for at in range(SIZE // (len(line) + 3)))


TEXTS = {
    "chains": over("x = f(a=x)\n"), "one list": "[" + over("f(a=xN), ") + "]",
    "comments in a fence": "```python\n" + over("f(a=N)  # do it N\n") + "```",
    "a long object": "f(a={" + over("'kN': N, ") + "})",
    "a function": "def main():\n" + over("    x = f(a=N)\n") + "main()\n", "cut": over("x = f()\n") + "f(a=",
}  # fmt: skip


def held(plan: object) -> float:
    """The megabytes of all that a plan holds."""
    seen: set[int] = set()
    waiting, size = [plan], 0
    while waiting:
        found = waiting.pop()
        if id(found) not in seen and not isinstance(found, (type, ModuleType, FunctionType)):
            seen.add(id(found))
            size += sys.getsizeof(found)
            waiting += gc.get_referents(found)
    return size / 1e6


@pytest.mark.more
@measures
@pytest.mark.parametrize("name", TEXTS)
def test_memory_is_of_the_plan_s_order(name: str, tmp_path: Path) -> None:
    """The tree takes 500 times its text, which is 256,000 characters at most."""
    file, short = tmp_path / "plan.txt", tmp_path / "short.txt"
    file.write_text(TEXTS[name])
    short.write_text("x = f(a=1)\nf(a=")
    _, least = measured("stats", str(short))
    done, peak = measured("stats", str(file))
    assert done.returncode in (0, 3), done.stderr[-300:]
    plan = 0.0 if done.returncode else held(parse(TEXTS[name]))
    assert 0 < peak < least + 1.5 * plan + 170


FLAGS = ("one", "two")
BLOCKS = {7: ["if I:", "else:"], 8: ["if I:"], 9: ["try:"], 10: ["for each in O:"]}


FENCED = TABLES["FENCED"]


def test_a_value_that_several_names_take_is_called_once() -> None:
    plan = pe.parse("a = (b, c) = d = f(x=1)\ng(y=a, z=c, w=d)")
    assert [call.name for call in plan.calls] == ["f", "g"]
    assert {edge.producer for edge in plan.edges} == {0}
    assert len(pe.parse("a=" * 2_000 + "f()").calls) == 1


def test_a_fence_ends_where_its_mark_stands_alone() -> None:
    for text in FENCED:
        plan = pe.parse(text)
        assert ([call.name for call in plan.calls], len(plan.edges)) == (["f", "g"], text.count("=a")), text


def test_what_a_followed_function_defines_and_imports_is_its_own() -> None:
    inside = "    import numpy as send\n    def post(x):\n        return f(y=x)\n    send.mean([1])\n"
    program = f"def run():\n{inside}    return post(1)\nrun()\nsend(x=1)\npost(x=2)\n"
    found = [(call.tool, call.arguments) for call in parse(program, dialect="code").calls]
    assert found == [("f", (("y", 1),)), ("send", (("x", 1),)), ("post", (("x", 2),))]


@tabled("first, line", ids=["text", "result", "template"])
def test_a_text_that_doubles_with_each_line_is_refused(first: str, line: str) -> None:
    with pytest.raises(LimitError, match="the program's values grow too large"):
        parse("\n".join([first, *[line] * 40, "f(x=a)" if "`" not in line else "f({x: a})"]))


class Written:
    """Draws programs of which each call has a tool of its own, so that what it got can be asked for."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0

    def made(self, text: str) -> str:
        def one(found: re.Match[str]) -> str:
            if found[0] != "T":
                return self.made(self.random.choice(TABLES["FILLED"][found[0]]))
            self.count += 1
            return f"tool{self.count}"

        return re.sub(r"\b[NLVSTIHO]\b", one, text)

    def block(self, depth: int) -> list[str]:
        return [f"    {line}" for _ in range(self.random.randint(1, 3)) for line in self.statement(depth + 1)]

    def statement(self, depth: int = 0) -> list[str]:
        kind = self.random.randrange(12) if depth < 2 else 0
        if kind < 7:
            return [self.made("S")]
        if kind == 11:
            one, other = ([f"    {line}" for line in self.block(depth)] for _ in range(2))
            return [self.made("match N:"), "    case 3:", *one, "    case [first, *_]:", *other]
        lines = [line for head in BLOCKS[kind] for line in (self.made(head), *self.block(depth))]
        return [*lines, "except ValueError:", f"    {self.made('H')}"] if kind == 9 else lines

    def text(self) -> str:
        lines = ["def change(what):", "    what.append(9)", *(self.made(f"{name} = L") for name in "abcd")]
        for _ in range(self.random.randint(1, 5)):
            lines += self.statement()
        return "\n".join([*lines, self.made("use_it(x=N)")])


class Run:
    """What the tools of a program of ours got and gave when it ran."""

    def __init__(self, text: str, flags: dict[str, Any]) -> None:
        self.got: dict[str, list[Any]] = {}
        self.gave: dict[str, list[Any]] = {}
        self.failed = False
        names = Tools(self)
        names.update(flags, empty=[], len=len, range=range, ValueError=ValueError)
        try:
            exec(compile(text, "program", "exec"), {}, names)
        except (AttributeError, IndexError, KeyError, NameError, TypeError):
            self.failed = True


class Tools(dict[str, Any]):
    """The names of a program that runs: what it does not define is a tool."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def __missing__(self, name: str) -> Any:
        if not name.startswith(("tool", "use_")):
            raise KeyError(name)

        def tool(**given: Any) -> Any:
            self.run.got.setdefault(name, []).append(copy.deepcopy(given))
            results = self.run.gave.setdefault(name, [])
            result = [f"result of {name}", [name], len(results)]
            results.append(copy.deepcopy(result))
            return result

        return tool


def meant(plan: Plan, call: int, run: Run) -> dict[str, Any]:
    """A call's arguments, each reference as what it names gave in its round."""

    def leaf(value: Any) -> Any:
        if not isinstance(value, Ref):
            return value
        name = plan.calls[value.call].tool
        earlier = [other.tool for other in plan.calls[: value.call]].count(name)
        found = run.gave[name][earlier]
        for step in value.path:
            found = found[step]  # type: ignore[index]
        return found

    return {key: map_leaves(leaf, value) for key, value in plan.calls[call].arguments}


@pytest.mark.parametrize("seed", range(8))
def test_a_program_is_read_as_it_runs_or_refused(seed: int) -> None:
    read = 0
    for number in range(100):
        text = Written(seed * 100 + number).text()
        try:
            plan = parse(text, dialect="code")
        except ParseError:
            continue
        read += 1
        names = [call.tool for call in plan.calls]
        for values in itertools.product([True, False], repeat=len(FLAGS)):
            run = Run(text, dict(zip(FLAGS, values, strict=True)))
            for name in {*names, *run.got}:
                calls, got = (
                    [place for place, tool in enumerate(names) if tool == name],
                    run.got.get(name, []),
                )
                assert run.failed or len(got) == len(calls), (name, text)
                if len(got) == len(calls):
                    assert got == [meant(plan, call, run) for call in calls], (name, text)
    assert read >= 15


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


MARKS = TABLES["MARKS"]


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


@tabled("text, gold")
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
