"""The law of programs: the calls that one makes, with the values that they get, or no plan at all."""

from __future__ import annotations

import copy
import itertools
import random
from typing import Any

import pytest

from planner_eval.base.errors import ParseError
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Plan, Ref
from planner_eval.plan.walk import map_leaves

FLAGS = ("one", "two")


class Programs:
    """Draws programs of which each call has a tool of its own, so that what it got can be asked for."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def name(self) -> str:
        return self.random.choice("abcd")

    def tool(self) -> str:
        self.count += 1
        return f"tool{self.count}"

    def literal(self) -> str:
        return self.random.choice(["[]", "['x']", "{}", "{'k': 1}", "'t'", "3", "None", "[[1], 2]"])

    def value(self) -> str:
        kind = self.random.randrange(8)
        if kind < 3:
            return self.literal()
        if kind < 5:
            return f"{self.tool()}(x={self.name() if kind == 3 else self.literal()})"
        return [self.name(), f"[{self.name()}, 1]", f"{{'k': {self.name()}}}"][kind - 5]

    def simple(self) -> str:
        name = self.name()
        return self.random.choice(
            [f"{name} = {self.value()}", f"{name} = {self.value()}",
                f"{name} = {self.name()} = {self.value()}",
                f"{name}, {self.name()} = {self.value()}, {self.value()}", f"{name}.append({self.value()})",
                f"{name}.extend([{self.value()}])", f"{name}.update(k={self.value()})",
                f"{name}.{self.random.choice(['pop', 'clear', 'reverse', 'copy'])}()",
                f"{name}['k'] = {self.value()}", f"{name}[0] = {self.value()}", f"{name}[0].append(5)",
                f"{name} += [7]", f"del {name}[0]", f"change({name})", f"{name} = {self.name()}[0]",
                f"{name} = [{self.value()}, len({self.name()})]", f"({name} := {self.value()})",
                f"{self.tool()}(x={self.value()})", f"{self.tool()}(**{{'x': {self.name()}}})"],
        )  # fmt: skip

    def block(self, depth: int) -> list[str]:
        return [f"    {line}" for _ in range(self.random.randint(1, 3)) for line in self.statement(depth + 1)]

    def statement(self, depth: int = 0) -> list[str]:
        kind = self.random.randrange(12) if depth < 2 else 0
        if kind == 8:
            lines = [f"if {self.random.choice([*FLAGS, 'not one', 'True', 'False'])}:", *self.block(depth)]
            return [*lines, "else:", *self.block(depth)] if self.random.random() < 0.5 else lines
        if kind == 9:
            handler = self.random.choice([["    a = None"], ["    pass"], [f"    b = {self.tool()}(x=0)"]])
            return ["try:", *self.block(depth), "except ValueError:", *handler]
        if kind == 10:
            over = self.random.choice(["[1, 2]", "range(2)", "range(0)", "empty", f"{self.name()}[:2]"])
            return [f"for each in {over}:", *self.block(depth)]
        if kind == 11:
            return [
                f"match {self.name()}:", "    case 3:", *(f"    {line}" for line in self.block(depth)),
                "    case [first, *_]:", *(f"    {line}" for line in self.block(depth)),
            ]  # fmt: skip
        return [self.simple()]

    def text(self) -> str:
        lines = ["def change(what):", "    what.append(9)"]
        lines += [f"{name} = {self.literal()}" for name in "abcd"]
        for _ in range(self.random.randint(1, 5)):
            lines += self.statement()
        lines.append(f"use_it(x={self.name()})")
        return "\n".join(lines)


class Run:
    """What the tools of a program of ours got and gave when it ran."""

    def __init__(self, text: str, flags: dict[str, Any]) -> None:
        self.got: dict[str, list[Any]] = {}
        self.gave: dict[str, Any] = {}
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
            result = [f"result of {name}", [name], 3]
            self.run.gave[name] = copy.deepcopy(result)
            return result

        return tool


def meant(plan: Plan, call: int, run: Run) -> dict[str, Any]:
    """A call's arguments, each reference as what it names gave."""

    def leaf(value: Any) -> Any:
        if not isinstance(value, Ref):
            return value
        found = run.gave.get(plan.calls[value.call].tool)
        for step in value.path:
            found = found[step]  # type: ignore[index]
        return found

    return {key: map_leaves(leaf, value) for key, value in plan.calls[call].arguments}


@pytest.mark.parametrize("seed", range(8))
def test_a_program_is_read_as_it_runs_or_refused(seed: int) -> None:
    read = 0
    for number in range(100):
        text = Programs(seed * 1000 + number).text()
        try:
            plan = parse(text, dialect="code")
        except ParseError:
            continue
        read += 1
        names = [call.tool for call in plan.calls]
        assert len(set(names)) == len(names), text
        untold = [
            name
            for name in names
            if not any(name in note.message for note in plan.diagnostics if note.code == "value.computed")
        ]
        for values in itertools.product([True, False], repeat=len(FLAGS)):
            run = Run(text, dict(zip(FLAGS, values, strict=True)))
            for name, got in run.got.items():
                assert name in names, text
                if name in untold:
                    assert got[0] == meant(plan, names.index(name), run), (name, text)
    assert read >= 15
