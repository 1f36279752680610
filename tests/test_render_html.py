"""The HTML report: everything is there, nothing is loaded, nothing foreign becomes markup."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from planner_eval.comparison.diff import diff
from planner_eval.drawing import layout
from planner_eval.drawing.html import report
from planner_eval.drawing.layout import Drawing
from planner_eval.records.files import read_file
from planner_eval.records.pairing import pair
from planner_eval.records.rows import Row, evaluate
from tests.conftest import ROOT
from tests.render_plans import HOSTILE, hostile_plan

pytest.importorskip("pygraphviz")

PRED, GOLD = "data/demo/pred.jsonl", "data/demo/gold.jsonl"
VOID = {"meta", "input", "link", "br"}


class Page(HTMLParser):
    """A page's tags, attributes and texts; remembers tags that are closed out of turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    pred, gold = read_file(str(ROOT / PRED)), read_file(str(ROOT / GOLD), role="gold")
    return list(evaluate(pair(pred, gold).pairs))


def test_every_pair_every_edit_and_every_drawing_is_there(rows: list[Row]) -> None:
    page = Page("".join(report(rows, title="demo")))
    assert not page.wrong
    assert not page.open
    assert [name for name, _ in page.attributes].count("data-codes") == len(rows)
    assert page.tags.count("svg") == sum(row.diff is not None for row in rows)
    said = "".join(page.texts)
    for row in rows:
        assert row.id in said
        for edit in row.diff.edits if row.diff else ():
            assert edit.message in said
        for plan in (row.pred, row.gold):
            assert plan is None or (plan.text or "") in said
    assert "13 pairs: 2 same, 10 different, 1 unreadable" in said


def test_nothing_is_loaded_and_no_two_elements_share_a_name(rows: list[Row]) -> None:
    page = Page("".join(report(rows, title="demo")))
    assert not [
        name for name, _ in page.attributes if name in ("src", "href", "xlink:href", "srcset", "data")
    ]
    assert not {"img", "link", "iframe", "object", "embed", "image", "use", "foreignobject"} & set(page.tags)
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:20]) for text in HOSTILE])
def test_hostile_texts_stay_texts(text: str) -> None:
    nasty = [text, "</script><script>alert(1)</script>", "{{style}} {{rows}}", '" onload="x']
    rows = [
        Row(
            name,
            "different",
            diff(hostile_plan(text), hostile_plan("x")),
            hostile_plan(text),
            hostile_plan("x"),
        )
        for name in nasty
    ]
    rows.append(Row(text, "unreadable", error=text + "\n</pre><script>"))
    page = Page("".join(report(rows, title=f"{text}</title><script>{{rows}}")))
    assert page.tags.count("script") == 1
    assert page.tags.count("style") == 1
    assert [name for name, _ in page.attributes].count("data-codes") == len(rows)
    assert not page.wrong
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066\ud800-\udfff]", "".join(page.texts))


def test_the_same_rows_give_the_same_page(rows: list[Row]) -> None:
    assert list(report(rows, title="demo")) == list(report(rows, title="demo"))


def test_a_drawing_that_fails_is_listed_instead(rows: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        layout, "draw_many", lambda sources, *a, **k: (Drawing(error="late") for _ in sources)
    )
    page = Page("".join(report(rows, title="demo")))
    said = "".join(page.texts)
    assert "not drawn: late" in said
    assert said.count("generation 1") >= sum(row.diff is not None for row in rows)


def test_the_command_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    command = [
        sys.executable,
        "-m",
        "planner_eval",
        "diff",
        PRED,
        GOLD,
        "-o",
        str(file),
        "--only",
        "failures",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    assert done.returncode == 1, done.stderr
    page = Page(file.read_text(encoding="utf-8"))
    assert page.tags.count("details") == 11
