"""Golden drawings: DOT, Mermaid and text of the demo's diffs and of a few scenes, byte for byte.

``pytest tests/test_render_gallery.py --update-cases`` rewrites viz/gallery; look at the change.
"""

import re
from pathlib import Path

import pytest

from planner_eval.comparison.diff import diff
from planner_eval.execution.trace import CallTrace, Failure, Trace
from planner_eval.plan.model import Call, Edge, Plan, Ref
from planner_eval.reading.dialects.read import parse
from planner_eval.results.drawing import Drawable, render
from planner_eval.results.drawing.graphs import Shapes, shapes_scene
from planner_eval.results.drawing.overlay import run_scene
from tests.conftest import ROOT
from tests.render_plans import demo

GALLERY = ROOT / "viz" / "gallery"
SUFFIXES = {"dot": "dot", "mermaid": "mmd", "text": "txt"}


def chain(calls: int) -> Plan:
    """A long plan of three tools, to be condensed."""
    made = [Call("c1", "start")]
    made += [Call(f"c{i + 1}", f"step{i % 2}", (("n", Ref(i - 1, ("n",))),)) for i in range(1, calls)]
    return Plan(tuple(made), tuple(Edge(i - 1, i, "n", (), ("n",)) for i in range(1, calls)))


def run() -> Drawable:
    """A run with a value, a failure and a call skipped for its sake."""
    plan = parse(
        '[{"name": "add", "label": "$var_1", "arguments": {"a": 1, "b": 2}},'
        ' {"name": "divide", "label": "$var_2", "arguments": {"a": "$var_1.result$", "b": 0}},'
        ' {"name": "sqrt", "label": "$var_3", "arguments": {"x": "$var_2.result$"}},'
        ' {"name": "var_result", "arguments": {"root": "$var_3.result$"}}]'
    )
    calls = (
        CallTrace("var_1", "add", "ok", {"result": 3}, seconds=0.5, attempts=1),
        CallTrace("var_2", "divide", "failed", error=Failure("ZeroDivisionError", "division by zero")),
        CallTrace("var_3", "sqrt", "skipped", error=Failure("producer-failed", "divide gave no value")),
    )
    return run_scene(plan, Trace(calls))


def things() -> dict[str, Drawable]:
    found: dict[str, Drawable] = {name: one for name, one in demo().items() if "turned" not in name}
    found["plan"] = demo()["trip-same"].gold
    found["condensed"] = chain(301)
    found["run"] = run()
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


IMAGES = ROOT / "docs" / "images"


def shapes() -> Drawable:
    """The commonest shapes of the demo's predictions and of its gold plans."""
    found = {"pred.jsonl": Shapes(), "gold.jsonl": Shapes()}
    for one in (one for name, one in demo().items() if "turned" not in name):
        found["pred.jsonl"].add(one.pred)
        found["gold.jsonl"].add(one.gold)
    return shapes_scene(found)


def images() -> dict[str, tuple[Drawable, str]]:
    """The pictures of the docs: what they show, and in which theme."""
    page = (ROOT / "docs" / "drawing.md").read_text(encoding="utf-8")
    gold, pred = (
        parse(text.replace("\n... ", "\n")) for text in re.findall(r'parse\("""(.*?)"""\)', page, re.S)
    )
    files = [(ROOT / "data" / "demo" / f"{name}.json").read_text() for name in ("pred", "gold")]
    return {
        "diff.svg": (diff(*map(parse, files)), "default"), "roles.svg": (diff(pred, gold), "default"),
        "plan.svg": (gold, "default"), "print.svg": (diff(pred, gold), "print"),
        "shapes.svg": (shapes(), "default"),
    }  # fmt: skip


@pytest.mark.parametrize("name", images())
def test_pictures_of_the_docs_show_what_is_drawn_now(name: str, request: pytest.FixtureRequest) -> None:
    """Words and lines, not places: those depend on fonts and on Graphviz's version."""
    pytest.importorskip("pygraphviz")
    thing, theme = images()[name]
    drawn = render(thing, theme=theme).decode()
    if request.config.getoption("--update-cases"):
        (IMAGES / name).write_text(drawn, encoding="utf-8")
    shown = (IMAGES / name).read_text(encoding="utf-8")
    for part in (r"<text[^>]*>([^<]*)<", r'stroke-dasharray="([^"]*)"', r'xlink:title="([^"]*)"'):
        assert sorted(re.findall(part, shown)) == sorted(re.findall(part, drawn))


def test_a_run_can_show_its_times_and_a_run_cut_short_says_so() -> None:
    trace = Trace((CallTrace("c1", "f", "ok", 1, seconds=0.25, attempts=2),), Failure("deadline", "too late"))
    shown = render(run_scene(Plan((Call("c1", "f"),)), trace, times=True), format="text").decode()
    assert "250.0 ms, 2 attempts" in shown
    assert "ended early: deadline: too late" in shown
