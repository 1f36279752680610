"""Plans and diffs that the tests of drawing share."""

import json
import re
import xml.etree.ElementTree as ET
from contextlib import suppress
from typing import Any

import pytest

from planner_eval.base.errors import ParseError, RenderError
from planner_eval.comparison.diff import Diff, diff
from planner_eval.plan.model import Call, Edge, Plan, Ref, Unresolved
from planner_eval.reading.dialects.read import parse
from planner_eval.results.drawing import render
from tests.conftest import ROOT

SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = [
    '<IMG SRC="/etc/passwd"/>', "<<B>bold</B>>", "<", "a\\", "\\N \\G \\E \\T \\H \\L \\l \\r \\n",
    "NUL\x00 and \x1b[31mred\x1b[0m\x07\x08\r", "a\ud800b\udfff", 'q"u\'o`te\\"', "&amp; &#x41; &bogus; &",
    "{a|b} <port> $x$ %%{init}%% ; end", "right\u202eleft \u2066iso\u2069 \u061c \u200f",
    "\ufffe\uffff\u0085\u2028\u2029", "x" * 20_000, "한" * 20_000, "\\" * 20_000, '"' * 20_000,
    "tab\tnew\nline",
    "1. list - item * star # head https://example.org www.example.org a@b.org [t](u) ![i](j)",
    "subgraph end classDef graph digraph node edge strict", "", " ", "😀 e\u0301 \U000e0041",
]  # fmt: skip
"""Texts that break drawings: markup, escapes, control characters, length."""


def hostile_plan(text: str) -> Plan:
    """A plan that has the text wherever a plan can have one."""
    calls = (
        Call(text, text, ((text, text),), app=text),
        Call("c2", text, ((text, {text: [Ref(0, (text, 0)), text]}), ("u", Unresolved(text, (text,))))),
    )
    return Plan(calls, (Edge(0, 1, text, (text, 0), (text, 0)),), ((text, Ref(1, (text,))),))


def demo() -> dict[str, Diff]:
    """The diffs of data/demo by id, and those of the same pairs turned round."""
    folder = ROOT / "data" / "demo"

    def plans(name: str, field: str) -> dict[str, Any]:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        found = {}
        for record in map(json.loads, lines):
            with suppress(ParseError):  # one prediction is broken on purpose
                found[record["id"]] = parse(record[field])
        return found

    pred, gold = plans("pred.jsonl", "output"), plans("gold.jsonl", "gold")
    found = {name: diff(pred[name], gold[name]) for name in gold if name in pred}
    return found | {f"{name}-turned": diff(one.gold, one.pred) for name, one in found.items()}


def dense(calls: int, edges: int) -> Plan:
    """A plan whose layout takes Graphviz long: every call uses the outputs of many before it."""
    pairs = [(a, b) for gap in range(1, calls) for a in range(calls - gap) for b in (a + gap,)][:edges]
    made = tuple(Call(f"c{i}", f"tool{i}") for i in range(calls))
    return Plan(made, tuple(Edge(a, b, f"x{a}", (), ("r",)) for a, b in sorted(pairs)))


def outline(group: ET.Element) -> list[ET.Element]:
    return [e for e in group.iter() if e.tag in (f"{SVG}path", f"{SVG}polygon") and e.get("stroke") != "none"]


def bounds(group: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a box."""
    numbers = []
    for shape in outline(group):
        numbers += [float(n) for n in re.findall(r"-?\d+\.?\d*", shape.get("d") or shape.get("points") or "")]
    return min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])


def no_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a notebook find nothing that draws."""

    def refused(thing: Any, **how: Any) -> bytes:
        if not how:
            raise RenderError("cannot draw svg")
        return render(thing, **how)

    monkeypatch.setattr("planner_eval.results.page.page.render", refused)
