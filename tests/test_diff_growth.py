"""Comparing wide and deep plans takes time by their size, not by its square; so does showing what differs."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from planner_eval.comparison.diff import diff
from planner_eval.comparison.patch import make_patch
from planner_eval.dialects.read import write
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.records.rows import diff_data
from planner_eval.scoring.row_formats import diff_text
from tests.build import edges
from tests.inside import planeval
from tests.pages import Page

SMALL, TIMES = 500, 8
MOST = 24  # what is quadratic takes 64 times as long
"""How much longer eight times the size may take."""


def one(name: str = "f", **given: Any) -> Plan:
    return Plan((Call("c1", name, tuple(given.items())),))


def chain(count: int, first: str = "start") -> Plan:
    calls = (Call(f"c{at}", "f", (("of", Ref(at - 1)), ("n", at))) for at in range(1, count))
    return linked(Call("c0", first), *calls)


def linked(*calls: Call) -> Plan:
    return Plan(calls, edges(calls))


def nested(depth: int, leaf: int) -> Any:
    value: Any = leaf
    for _ in range(depth):
        value = {"k": [value]}
    return value


def joins(count: int, by: int) -> Plan:
    """Calls of which each third takes from the two before it; of tools that the other plan has not."""
    made = []
    for at in range(0, count - 2, 3):
        both = (("one", Ref(at)), ("other", Ref(at + 1)))
        parts = ((f"left{by}", (("x", at),)), (f"right{by}", (("y", at),)), (f"join{by}", both))
        made += [Call(f"c{at + n}", name, given) for n, (name, given) in enumerate(parts)]
    return linked(*made)


SHAPES: dict[str, Callable[[int, int], Plan]] = {
    "a list of objects": lambda n, by: one(rows=[{"id": at, "v": f"x{at + by}"} for at in range(n)]),
    "an object": lambda n, by: one(o={f"k{at}": f"v{at + by}" for at in range(n)}),
    "an object of other keys": lambda n, by: one(o={f"k{by}{at}": at for at in range(n)}),
    "a list of texts": lambda n, by: one(words=[f"word{at + by}" for at in range(n)]),
    "arguments": lambda n, by: one(**{f"k{at}": f"v{at + by}" for at in range(n)}),
    "renamed arguments": lambda n, by: one(**{f"k{by}{n - at if by else at}": at for at in range(n)}),
    "one argument many times": lambda n, by: Plan(
        (Call("c1", "f", tuple(("x", at + by) for at in range(n))),)
    ),
    "calls of one tool": lambda n, by: linked(
        *(Call(f"c{at}", "f", (("x", at * 3 + by),)) for at in range(n))
    ),
    "a chain that is missing": lambda n, by: chain(2 if by else n),
    "a chain that is extra": lambda n, by: chain(n if by else 2),
    "deep values": lambda n, by: one(**{f"a{at}": nested(70, at + by) for at in range(n // 70)}),
    "calls that join in others": joins,
    "a text in many brackets": lambda n, by: one(text="[" * n * 99 + str(by) + "]" * n * 99, n=by),
    "a long text": lambda n, by: one(text="".join(f"word{at + by}\n" for at in range(n * 4))),
    "another first half of a text": lambda n, by: one(text=("ab" if by else "ba") * n * 4),
}


def seconds(shape: Callable[[int, int], Plan], count: int) -> float:
    pred, gold = shape(count, 1), shape(count, 0)
    gc.disable()  # what it looks through is all that tests before this one left
    try:
        start = process_time()
        found = diff(pred, gold)
        assert not found.same
        diff_text(found, places=True)
        diff_data(found)
        make_patch(found)
        return process_time() - start
    finally:
        gc.enable()


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_time_grows_with_the_size(name: str) -> None:
    shape = SHAPES[name]
    small = max(0.01, min(seconds(shape, SMALL) for _ in range(3)))
    large = min(seconds(shape, SMALL * TIMES) for _ in range(3))
    assert large <= MOST * small, f"{SMALL:,}: {small:.3f} s, {SMALL * TIMES:,}: {large:.3f} s"


def test_a_page_of_a_long_chain_of_missing_calls(tmp_path: Path) -> None:
    text = diff_text(diff(chain(2), chain(200)))
    assert "↳" not in text, "a missing call is no consequence of another: mending the one brings no other"
    assert "×198 (gold's calls 3–200): the plan stops after call 2: gold's f ×198 are missing" in text
    pred, gold = tmp_path / "pred.json", tmp_path / "gold.json"
    pred.write_text(write(chain(1), "plan"))
    gold.write_text(write(chain(1500), "plan"))
    done = planeval("diff", pred, gold, "--format", "html")
    assert done.returncode == 1, done.stderr[-300:]
    edits = Page(done.stdout).pair(0)["e"]
    assert [(edit[0], edit[2]) for edit in edits] == [("call.missing", -1)] * 1499
