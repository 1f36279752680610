"""Golden drawings: DOT, Mermaid and text of the demo's diffs and of a few scenes, byte for byte.

``pytest tests/test_render_gallery.py --update-cases`` rewrites viz/gallery; look at the change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from planner_eval.model import Call, Edge, Plan, Ref
from planner_eval.render import Drawable, render
from tests.conftest import ROOT
from tests.render_plans import demo

GALLERY = ROOT / "viz" / "gallery"
SUFFIXES = {"dot": "dot", "mermaid": "mmd", "text": "txt"}


def chain(calls: int) -> Plan:
    """A long plan of three tools, to be condensed."""
    made = [Call("c1", "start")]
    made += [Call(f"c{i + 1}", f"step{i % 2}", (("n", Ref(i - 1, ("n",))),)) for i in range(1, calls)]
    return Plan(tuple(made), tuple(Edge(i - 1, i, "n", (), ("n",)) for i in range(1, calls)))


def things() -> dict[str, Drawable]:
    found: dict[str, Drawable] = {name: one for name, one in demo().items() if "turned" not in name}
    found["plan"] = demo()["trip-same"].gold
    found["condensed"] = chain(301)
    found["inferred"] = Plan((Call("c1", "find"), Call("c2", "get")), (Edge(0, 1, "id", (), ("id",), True),))
    return found


THINGS = things()
CASES = [(name, form) for name in THINGS for form in SUFFIXES if not (name == "condensed" and form == "text")]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_drawing_is_the_golden_one(name: str, form: str, request: pytest.FixtureRequest) -> None:
    file = GALLERY / f"{name}.{SUFFIXES[form]}"
    drawn = render(THINGS[name], format=form)
    if request.config.getoption("--update-cases"):
        GALLERY.mkdir(exist_ok=True)
        file.write_bytes(drawn)
    assert drawn.decode() == file.read_text(encoding="utf-8")


def test_no_golden_drawing_is_left_over() -> None:
    wanted = {f"{name}.{SUFFIXES[form]}" for name, form in CASES}
    assert {file.name for file in Path(GALLERY).iterdir()} == wanted
