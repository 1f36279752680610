"""Drawings of plans without references, and what a drawing of a diff says: numbers, names, causes, legend."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.drawing import FORMATS, Drawable, render
from planner_eval.drawing.overlay import diff_scene
from planner_eval.drawing.places import in_written_order
from planner_eval.drawing.scene import ROW, Box, Scene, flat_rows
from planner_eval.plan.model import Call, Plan
from tests.conftest import examples
from tests.inside import planeval

WRITTEN = [form for form in ("svg", "dot", "mermaid", "text", "boxes") if form in FORMATS]


def flat(*cities: str, tool: str = "book_flight", name: str = "seatPreference") -> str:
    return "\n".join(f"{tool}(#city='{city}', #{name}='aisle')" for city in cities)


def numbered(count: int) -> list[str]:
    return [f"City {n}" for n in range(count)]


def size(drawn: str) -> tuple[float, float]:
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', drawn)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("count", [1, 3, 12, 32])
def test_a_flat_plan_wraps_in_written_order(count: int, tmp_path: Path) -> None:
    """Thirty-two calls in one row were 4,000 points wide, with letters of four pixels on a screen."""
    plan, file = tmp_path / "plan.txt", tmp_path / "plan.svg"
    plan.write_text(flat(*numbered(count)))
    assert planeval("render", str(plan), "-o", str(file)).returncode == 0
    drawn = html.unescape(file.read_text(encoding="utf-8"))
    wide, _ = size(drawn)
    assert wide < 200 * min(count, ROW) + 60
    places = re.findall(r'<text[^>]* x="([-\d.]+)" y="([-\d.]+)"[^>]*>city = "City (\d+)"', drawn)
    assert len(places) == count
    by_row: dict[float, list[tuple[float, int]]] = {}
    for x, y, number in places:
        by_row.setdefault(float(y), []).append((float(x), int(number)))
    read = [number for y in sorted(by_row) for _, number in sorted(by_row[y])]
    assert read == list(range(count))


def test_flat_calls_beside_others_wrap_and_mermaid_too() -> None:
    plan = pe.parse("a = f(#x='1')\ng(#y=a)\n" + flat(*numbered(10)))
    assert size(render(plan).decode())[0] < 1200
    assert render(plan, format="mermaid").decode().count("~~~") == 6


@given(st.lists(st.sampled_from(["", "A", "B", "C", "D"]), max_size=30))
@examples(100)
def test_each_box_without_arrows_stands_in_one_row(apps: list[str]) -> None:
    boxes = tuple(Box(f"f#{n}", "plain", "f", app or None) for n, app in enumerate(apps))
    rows = flat_rows(Scene(boxes))
    assert all(len(row) <= ROW for row in rows)
    assert sorted(box for row in rows for box in row) == (list(range(len(boxes))) if len(boxes) > ROW else [])


def told(found: Drawable, form: str) -> str:
    """What a drawing says, its entities undone."""
    drawn = html.unescape(render(found, format=form).decode())
    return re.sub(r"#(\d+);", lambda entity: chr(int(entity[1])), drawn).replace("\xa0", " ")


def test_boxes_have_the_numbers_of_the_text() -> None:
    """A call that gold has at another place says both; a missing one stands where it would be."""
    short, long = "f(#x='1')\nf(#x='2')\nf(#x='3')", "f(#x='1')\npay(#to='you')\nf(#x='2')\nf(#x='3')"
    found, turned = pe.diff(short, long), pe.diff(long, short)
    assert [(box.role, box.place) for box in diff_scene(found).boxes] == [
        ("kept", "call 1"),
        ("missing", "gold's call 2"),
        ("kept", "call 2, gold's 3"),
        ("kept", "call 3, gold's 4"),
    ]
    assert [(box.role, box.place) for box in diff_scene(turned).boxes][1:3] == [
        ("extra", "call 2"),
        ("kept", "call 3, gold's 2"),
    ]
    for form in WRITTEN:
        for place in ("f (call 2, gold's 3)", "pay (gold's call 2)", "f (call 1)"):
            assert place in told(found, form), form


def test_a_reference_names_the_call_by_the_same_number() -> None:
    found = pe.diff("a = f(#x='1')\nb = f(#x='2')\ng(#y=a)", "b = f(#x='2')\na = f(#x='1')\ng(#y=b)")
    (row,) = diff_scene(found).boxes[-1].rows
    assert (row.text, row.gold) == ("y ← f (call 1).a", "gold: ← f (gold's call 1).b")


@pytest.mark.parametrize("form", WRITTEN)
def test_another_name_is_called_a_name(form: str) -> None:
    drawn = told(pe.diff(flat("Rome", name="seat"), flat("Rome")), form)
    assert "gold's name: seatPreference" in drawn
    assert "gold: seatPreference" not in drawn


@pytest.mark.parametrize("form", WRITTEN)
def test_gold_calls_its_producer_by_its_own_name(form: str) -> None:
    drawn = told(
        pe.diff("a = find(#x='1')\nb = pay(#y='3', #x=a)", "a = search(#x='1')\nb = pay(#y=a, #x=a)"), form
    )
    assert "gold: ← search.a" in drawn
    assert "gold: ← find" not in drawn


def test_the_first_mistake_causes_and_what_follows_are_marked() -> None:
    found = pe.diff("f(#x='1')\ng(#x='1')\nh(#x='3')\nk()", "f(#x='2')\ng(#x='2')\nh(#x='4')\nk()")
    edits = (found.edits[0], found.edits[1]._replace(cause=0), found.edits[2])
    found = replace(found, edits=edits)
    assert [box.mark for box in diff_scene(found).boxes] == [
        "first mistake", "follows from f (call 1)", "cause", ""
    ]  # fmt: skip
    for form in WRITTEN:
        for mark in ("first mistake", "follows from f (call 1)", "cause"):
            assert mark in told(found, form), form
    same = pe.diff("f()", "f()")
    assert {box.mark for box in diff_scene(same).boxes} == {""}


@pytest.mark.parametrize(("pred", "gold", "legend"), [
    ("f(#x='1')", "f(#x='1')", ("kept",)),
    ("f(#x='1')", "f(#x='2')", ("changed",)),
    ("f(#x='1')\ng()", "f(#x='1')", ("kept", "extra")),
    ("a = f()\ng(#y=a)", "a = f()\nb = h()\ng(#y=b)", ("kept", "missing", "changed", "wrong")),
])  # fmt: skip
def test_the_legend_has_the_roles_that_are_there(pred: str, gold: str, legend: tuple[str, ...]) -> None:
    scene = diff_scene(pe.diff(pred, gold))
    assert scene.legend == legend
    assert ("wrong reference" in told(pe.diff(pred, gold), "svg")) is ("wrong" in legend)


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
@examples(100)
def test_calls_of_a_diff_stand_as_the_prediction_writes_them(
    order: list[int], ours: set[int], theirs: set[int]
) -> None:
    def plan(calls: list[int]) -> Plan:
        return Plan(tuple(Call(f"c{n}", f"tool{n}", (("x", n),)) for n in calls))

    found = pe.diff(plan([n for n in order if n in ours]), plan(sorted(theirs)))
    calls = in_written_order(list(found.calls()))
    assert sorted(map(str, calls)) == sorted(map(str, found.calls()))
    assert [call.pred for call in calls if call.pred is not None] == list(range(len(ours)))
