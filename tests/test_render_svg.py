"""The SVG of many diffs, parsed; plans without references; what a drawing of a diff says."""

import html
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.text import shorten
from planner_eval.comparison.diff import Diff, diff
from planner_eval.plan.model import Call, Plan
from planner_eval.results.drawing import FORMATS, Drawable, render, render_many
from planner_eval.results.drawing.overlay import DIFF_ROLES, diff_scene, sort_calls_as_written
from planner_eval.results.drawing.scene import BOXES_PER_ROW, Box, Scene, unconnected_rows
from planner_eval.results.drawing.themes import names, theme
from tests.conftest import examples, tabled
from tests.inside import planeval
from tests.render_plans import SVG, demo, no_svg, outline

pytest.importorskip("pygraphviz")

DIFFS = demo()
Style = tuple[str, str, int]


def words(element: ET.Element) -> str:
    """All text of an element, with single blanks."""
    found = (text.text or "" for text in element.iter(f"{SVG}text"))
    return re.sub(r"\s+", " ", " ".join(found)).strip()


def groups(root: ET.Element, kind: str) -> dict[str, ET.Element]:
    """The groups of one class by the name of what they show."""
    return {g.findtext(f"{SVG}title", ""): g for g in root.iter(f"{SVG}g") if g.get("class") == kind}


def style(group: ET.Element) -> Style:
    """Dashes, width and number of a group's lines, arrow heads aside."""
    lines = [e for e in outline(group) if e.tag == f"{SVG}path"] or outline(group)
    return lines[0].get("stroke-dasharray", ""), lines[0].get("stroke-width", "1"), len(lines)


@pytest.fixture(scope="module")
def drawn() -> dict[str, tuple[Scene, ET.Element]]:
    pictures = zip(DIFFS.items(), render_many(DIFFS.values()), strict=True)
    found = {name: (diff_scene(one), ET.fromstring(picture.data)) for (name, one), picture in pictures}
    boxes = {box.role for scene, _ in found.values() for box in scene.boxes}
    arrows = {arrow.role for scene, _ in found.values() for arrow in scene.arrows}
    assert boxes == {"kept", "missing", "extra", "changed"}
    assert arrows == {"kept", "missing", "extra", "wrong"}
    return found


@pytest.mark.parametrize("name", DIFFS)
def test_every_label_and_every_role_is_there(name: str, drawn: dict[str, tuple[Scene, ET.Element]]) -> None:
    (scene, root), look = drawn[name], theme("default")
    nodes = groups(root, "node")
    assert len(nodes) == len(scene.boxes)
    for position, box in enumerate(scene.boxes):
        shown = words(nodes[f"c{position}"])
        assert box.title in shown
        for row in box.rows:
            assert shorten(row.text, look.width) in shown
            assert shorten(row.gold, look.width) in shown
    found = sorted(words(g) for g in root.iter(f"{SVG}g") if g.get("class") == "edge")
    assert found == sorted(f"{look.roles[a.role].sign} {a.label}".strip() for a in scene.arrows)
    assert set(groups(root, "edge")) == {f"c{a.tail}->c{a.head}" for a in scene.arrows}
    graph = next(g for g in root.iter(f"{SVG}g") if g.get("class") == "graph")
    caption = " ".join(t.text or "" for t in graph.findall(f"{SVG}text")).partition("Legend")[2]
    for role in DIFF_ROLES:
        assert (look.roles[role].word in caption) is (role in scene.legend)
    assert {box.role for box in scene.boxes} | {arrow.role for arrow in scene.arrows} <= {*scene.legend}
    strokes = {e.get("stroke") for e in graph.findall(f"{SVG}polygon")} - {None, "none"}
    assert len(strokes) == len(scene.legend)


@pytest.mark.parametrize("look", names())
def test_each_role_has_a_line_of_its_own(look: str) -> None:
    styles: dict[str, set[Style]] = {}
    for one in DIFFS.values():
        scene, root = diff_scene(one), ET.fromstring(render(one, theme=look))
        nodes = groups(root, "node")
        for position, box in enumerate(scene.boxes):
            styles.setdefault(box.role, set()).add(style(nodes[f"c{position}"]))
        edges = [g for g in root.iter(f"{SVG}g") if g.get("class") == "edge"]
        for arrow in scene.arrows:
            label = f"{theme(look).roles[arrow.role].sign} {arrow.label}".strip()
            where = f"c{arrow.tail}->c{arrow.head}"
            mine = [g for g in edges if g.findtext(f"{SVG}title") == where and words(g) == label]
            styles.setdefault(f"{arrow.role} line", set()).update(style(g) for g in mine)
    assert all(len(found) == 1 for found in styles.values()), styles
    five = {role: next(iter(styles[role])) for role in ("kept", "missing", "extra", "changed")}
    five["wrong"] = next(iter(styles["wrong line"]))
    assert len(set(five.values())) == 5, five
    lines = [styles[f"{role} line"] for role in ("kept", "missing", "extra", "wrong")]
    assert len({next(iter(found)) for found in lines}) == 4


def _contrast(*colors: str) -> float:
    luminances = []
    for color in colors:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        luminances.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


@pytest.mark.parametrize("look", names())
def test_words_are_readable_on_their_ground(look: str) -> None:
    """WCAG's contrast of 4.5 for every colour of words on every ground they can stand on."""
    dress = theme(look)
    grounds = {name: role.box["fillcolor"] for name, role in dress.roles.items()}
    for name, role in dress.roles.items():
        for ground in (dress.graph["bgcolor"], grounds["kept"], grounds[name]):
            assert _contrast(role.text, ground) >= 4.5, (role.word, ground)
    for name in ("kept", "missing", "extra", "changed", "wrong"):  # rows of a changed call
        assert _contrast(dress.roles[name].text, grounds["changed"]) >= 4.5, name


def test_the_same_diff_gives_the_same_bytes() -> None:
    one: Diff = DIFFS["trip-missing"]
    for form in ("svg", "png", "pdf"):
        assert render(one, format=form) == render(one, format=form)


def test_a_notebook_shows_a_plan_and_a_comparison_as_drawings() -> None:
    pred, gold = Plan((Call("a", "take_out"),)), Plan((Call("a", "put_back"),))
    for shown, text in ((pred, "take_out"), (diff(pred, gold), "put_back")):
        drawing = shown._repr_svg_()
        assert drawing is not None
        assert ET.fromstring(drawing).tag.endswith("svg")
        assert text in drawing


def test_a_notebook_tells_what_nothing_can_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = pe.parse("a = f(#x='<b>')\ng(#y=a)")
    found = pe.diff("f(#x='<b>')", "f(#x='2')")
    assert (plan._repr_html_(), found._repr_html_()) == (None, None)
    no_svg(monkeypatch)
    for shown in (plan, found):
        assert shown._repr_svg_() is None
        said = shown._repr_html_() or ""
        assert f'<div class="planeval-drawing"><pre>{html.escape(str(shown))}</pre><script' in said
        assert "<b>" not in said


WRITTEN = [form for form in ("svg", "dot", "mermaid", "text", "boxes") if form in FORMATS]


def flat(*cities: str, name: str = "seatPreference") -> str:
    return "\n".join(f"book_flight(#city='{city}', #{name}='aisle')" for city in cities)


def numbered(count: int) -> list[str]:
    return [f"City {n}" for n in range(count)]


def wide(drawn: str) -> float:
    found = re.search(r'width="([\d.]+)pt"', drawn)
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize("count", [1, 12, 32])
def test_a_flat_plan_wraps_in_written_order(count: int, tmp_path: Path) -> None:
    """Thirty-two calls in one row were 4,000 points wide, with letters of four pixels on a screen."""
    file = tmp_path / "plan.svg"
    assert planeval("render", "-", "-o", file, text=flat(*numbered(count))).returncode == 0
    drawn = html.unescape(file.read_text(encoding="utf-8"))
    assert wide(drawn) < 200 * min(count, BOXES_PER_ROW) + 60
    places = re.findall(r'<text[^>]* x="([-\d.]+)" y="([-\d.]+)"[^>]*>city = "City (\d+)"', drawn)
    read = sorted((float(y), float(x), int(number)) for x, y, number in places)
    assert [number for _, _, number in read] == list(range(count))


def test_flat_calls_beside_others_wrap_and_mermaid_too() -> None:
    plan = pe.parse("a = f(#x='1')\ng(#y=a)\n" + flat(*numbered(10)))
    assert wide(render(plan).decode()) < 1200
    assert render(plan, format="mermaid").decode().count("~~~") == 6


@given(st.lists(st.sampled_from(["", "A", "B", "C", "D"]), max_size=30))
@examples(100)
def test_each_box_without_arrows_stands_in_one_row(apps: list[str]) -> None:
    boxes = tuple(Box(f"f#{n}", "plain", "f", app or None) for n, app in enumerate(apps))
    rows = unconnected_rows(Scene(boxes))
    assert all(len(row) <= BOXES_PER_ROW for row in rows)
    assert sorted(box for row in rows for box in row) == (
        list(range(len(boxes))) if len(boxes) > BOXES_PER_ROW else []
    )


def told(found: Drawable, form: str) -> str:
    """What a drawing says, its entities undone."""
    drawn = html.unescape(render(found, format=form).decode())
    return re.sub(r"#(\d+);", lambda entity: chr(int(entity[1])), drawn).replace("\xa0", " ")


def test_boxes_have_the_numbers_of_the_text() -> None:
    """A call that gold has at another place says both; a missing one stands where it would be."""
    short, long = "f(#x='1')\nf(#x='2')\nf(#x='3')", "f(#x='1')\npay(#to='you')\nf(#x='2')\nf(#x='3')"
    scenes = diff_scene(pe.diff(short, long)), diff_scene(pe.diff(long, short))
    found, turned = ([(box.role, box.place) for box in scene.boxes] for scene in scenes)
    assert found[:2] == [("kept", "call 1"), ("missing", "gold's call 2")]
    assert found[2:] == [("kept", "call 2, gold's 3"), ("kept", "call 3, gold's 4")]
    assert turned[1:3] == [("extra", "call 2"), ("kept", "call 3, gold's 2")]
    for form in WRITTEN:
        for place in ("f (call 2, gold's 3)", "pay (gold's call 2)", "f (call 1)"):
            assert place in told(pe.diff(short, long), form), form


def test_a_reference_names_the_call_by_the_same_number() -> None:
    found = pe.diff("a = f(#x='1')\nb = f(#x='2')\ng(#y=a)", "b = f(#x='2')\na = f(#x='1')\ng(#y=b)")
    (row,) = diff_scene(found).boxes[-1].rows
    assert (row.text, row.gold) == ("y ← f (call 1).a", "gold: ← f (gold's call 1).b")


@pytest.mark.parametrize("form", WRITTEN)
@tabled("pred, gold, said, never")
def test_names_of_gold_are_called_so(pred: str, gold: str, said: str, never: str, form: str) -> None:
    drawn = told(pe.diff(pred, gold), form)
    assert (said in drawn, never in drawn) == (True, False)


def test_the_first_mistake_causes_and_what_follows_are_marked() -> None:
    found = pe.diff("f(#x='1')\ng(#x='1')\nh(#x='3')\nk()", "f(#x='2')\ng(#x='2')\nh(#x='4')\nk()")
    edits = (found.edits[0], found.edits[1]._replace(cause=0), found.edits[2])
    found = replace(found, edits=edits)
    marks = ["first mistake", "follows from f (call 1)", "cause"]
    assert [box.mark for box in diff_scene(found).boxes] == [*marks, ""]
    for form in WRITTEN:
        assert all(mark in told(found, form) for mark in marks), form


@tabled("pred, gold, legend")
def test_the_legend_has_the_roles_that_are_there(pred: str, gold: str, legend: list[str]) -> None:
    scene = diff_scene(pe.diff(pred, gold))
    assert [*scene.legend] == legend
    assert ("wrong reference" in told(pe.diff(pred, gold), "svg")) is ("wrong" in legend)


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
@examples(100)
def test_calls_of_a_diff_stand_as_written(order: list[int], ours: set[int], theirs: set[int]) -> None:
    def plan(calls: list[int]) -> Plan:
        return Plan(tuple(Call(f"c{n}", f"tool{n}", (("x", n),)) for n in calls))

    found = pe.diff(plan([n for n in order if n in ours]), plan(sorted(theirs)))
    calls = sort_calls_as_written(list(found.calls()))
    assert sorted(map(str, calls)) == sorted(map(str, found.calls()))
    assert [call.pred for call in calls if call.pred is not None] == list(range(len(ours)))
