"""Hostile names and values in every format: nothing breaks, nothing is executed, little is lost."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.plan.model import Plan
from planner_eval.results.drawing import render, render_many
from planner_eval.results.drawing.dot import MAX_BYTES, fit_string
from planner_eval.results.drawing.mermaid import WRAPPING_DIRECTIVE, escape_label
from planner_eval.results.drawing.scene import visible_text
from tests.conftest import examples
from tests.render_plans import HOSTILE, SVG, hostile_plan

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PARTS = {"svg", "g", "title", "polygon", "path", "text", "a", "polyline", "ellipse"}
every_text = pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:20]) for text in HOSTILE])


def drawn(text: str, form: str) -> str:
    """The drawing of a plan that has the text everywhere; no line of it has control characters."""
    found = render(hostile_plan(text), format=form).decode("utf-8")
    assert not CONTROL.search(found.replace("\n", "").replace("\t", ""))
    return found


@every_text
def test_svg_is_drawn_and_well_formed_and_shows_the_text(text: str) -> None:
    pytest.importorskip("pygraphviz")
    drawing = next(render_many([hostile_plan(text)]))
    assert not drawing.error
    root = ET.fromstring(drawing.data)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= PARTS
    said = [d.message for d in drawing.diagnostics if d.severity != "info"]
    assert not [m for m in said if "syntax" in m or "rror" in m], said
    kinds = [g.get("class") for g in root.iter(f"{SVG}g")]
    assert (kinds.count("node"), kinds.count("edge")) == (3, 2)
    shown = [(t.text or "").replace("\xa0", " ") for t in root.iter(f"{SVG}text")]
    assert len(text) > 100 or text in HOSTILE[12:] or any(visible_text(text) in line for line in shown), shown


@every_text
def test_dot_strings_stay_in_bounds(text: str) -> None:
    assert max(len(found.encode()) for found in DOT_STRING.findall(drawn(text, "dot"))) <= 16_384


@every_text
def test_mermaid_labels_are_closed(text: str) -> None:
    node = re.compile(r'\s*c\d\["[^"]*"\]:::plain')
    link = re.compile(r'\s*c\d -->\|"[^"]*"\| c\d')
    for line in drawn(text, "mermaid").splitlines():
        if '"' in line and "subgraph" not in line and WRAPPING_DIRECTIVE not in line:
            assert node.fullmatch(line) or link.fullmatch(line), line
            inside = re.sub(r"<b>|</b>|<br/>", "", line[line.index('"') : line.rindex('"')])
            assert not re.search(r"[<>`\\{}$%]", inside)


@every_text
def test_a_terminal_gets_no_control_characters(text: str) -> None:
    found = drawn(text, "text")  # a line a call, generation lines, and nothing cut
    assert len(found.splitlines()) == 6
    assert found.count(visible_text(text)) >= 4
    pytest.importorskip("netext")
    drawn(text, "boxes")


DOT_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|<(?:<[^<>]*+>|[^<>])*+>', re.DOTALL)


@examples(60)
@given(st.lists(st.text(alphabet=st.characters(), max_size=40), min_size=1, max_size=4))
def test_any_text_can_be_drawn(texts: list[str]) -> None:
    pytest.importorskip("pygraphviz")
    plans: list[Plan] = [hostile_plan(text) for text in texts]
    for drawing in render_many(plans):
        assert not drawing.error
        ET.fromstring(drawing.data)
    for form in ("dot", "mermaid", "text"):
        assert [render(p, format=form).decode() for p in plans]


@given(st.text(alphabet='\\"ab한<>', max_size=30).map(lambda t: t * 700))
def test_fitting_keeps_strings_whole(text: str) -> None:
    import graphviz

    cut = fit_string(graphviz.escape(visible_text(text)))
    assert len(cut) <= 8_000
    assert len(cut.encode()) + cut.count('"') <= MAX_BYTES
    body = cut.removesuffix("…")
    assert (len(body) - len(body.rstrip("\\"))) % 2 == 0


@given(st.text(max_size=50))
def test_mermaid_entities_say_the_same_text(text: str) -> None:
    back = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), escape_label(text))
    assert back == text
