"""The SVG of many diffs, parsed: labels, boxes, line styles, legend."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

import planner_eval as pe
from planner_eval.base.errors import RenderError
from planner_eval.base.text import shortened
from planner_eval.comparison.diff import Diff, diff
from planner_eval.drawing import render, render_many
from planner_eval.drawing.overlay import diff_scene
from planner_eval.drawing.places import DIFF_ROLES
from planner_eval.drawing.scene import Scene
from planner_eval.drawing.themes import names, theme
from planner_eval.plan.model import Call, Plan
from tests.render_plans import SVG, bounds, demo, outline

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
    pictures = render_many(DIFFS.values())
    return {
        name: (diff_scene(one), ET.fromstring(picture.data))
        for (name, one), picture in zip(DIFFS.items(), pictures, strict=True)
    }


def test_there_are_twenty_diffs_of_every_role(drawn: dict[str, tuple[Scene, ET.Element]]) -> None:
    boxes = {box.role for scene, _ in drawn.values() for box in scene.boxes}
    arrows = {arrow.role for scene, _ in drawn.values() for arrow in scene.arrows}
    assert len(drawn) >= 20
    assert boxes == {"kept", "missing", "extra", "changed"}
    assert arrows == {"kept", "missing", "extra", "wrong"}


@pytest.mark.parametrize("name", DIFFS)
def test_every_label_is_there(name: str, drawn: dict[str, tuple[Scene, ET.Element]]) -> None:
    scene, root = drawn[name]
    look = theme("default")
    nodes, edges = groups(root, "node"), groups(root, "edge")
    assert len(nodes) == len(scene.boxes)
    for position, box in enumerate(scene.boxes):
        shown = words(nodes[f"c{position}"])
        assert box.title in shown
        for row in box.rows:
            assert shortened(row.text, look.width) in shown
            assert shortened(row.gold, look.width) in shown
    found = sorted(words(g) for g in root.iter(f"{SVG}g") if g.get("class") == "edge")
    assert found == sorted(f"{look.roles[a.role].sign} {a.label}".strip() for a in scene.arrows)
    assert set(edges) == {f"c{a.tail}->c{a.head}" for a in scene.arrows}


@pytest.mark.parametrize("name", DIFFS)
def test_no_two_boxes_overlap(name: str, drawn: dict[str, tuple[Scene, ET.Element]]) -> None:
    _, root = drawn[name]
    for one, other in combinations([bounds(g) for g in groups(root, "node").values()], 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


@pytest.mark.parametrize("name", DIFFS)
def test_the_legend_names_every_role_that_is_there(
    name: str, drawn: dict[str, tuple[Scene, ET.Element]]
) -> None:
    scene, root = drawn[name]
    graph = next(g for g in root.iter(f"{SVG}g") if g.get("class") == "graph")
    caption = " ".join(t.text or "" for t in graph.findall(f"{SVG}text")).partition("Legend")[2]
    for role in DIFF_ROLES:
        assert (theme("default").roles[role].word in caption) is (role in scene.legend)
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


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("look", names())
def test_words_are_readable_on_their_ground(look: str) -> None:
    """WCAG's contrast of 4.5 for every colour of words on every ground they can stand on."""
    dress = theme(look)
    paper = dress.graph["bgcolor"]
    grounds = {role.box["fillcolor"] for role in dress.roles.values()}
    for role in dress.roles.values():
        for ground in (paper, dress.roles["kept"].box["fillcolor"], role.box["fillcolor"]):
            high, low = sorted((_luminance(role.text), _luminance(ground)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (role.word, ground)
    for role in ("kept", "missing", "extra", "changed", "wrong"):  # rows of a changed call
        high, low = sorted(
            (_luminance(dress.roles[role].text), _luminance(dress.roles["changed"].box["fillcolor"])),
            reverse=True,
        )
        assert (high + 0.05) / (low + 0.05) >= 4.5, role
    assert grounds


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

    def refused(*_args: object, **_how: object) -> None:
        raise RenderError("nothing here draws svg")

    monkeypatch.setattr("planner_eval.drawing.notebook._drawn", refused)
    for shown in (plan, found):
        assert shown._repr_svg_() is None
        said = shown._repr_html_() or ""
        assert f'<div class="planeval-drawing"><pre>{html.escape(str(shown))}</pre><script' in said
        assert "<b>" not in said
