"""What a notebook shows where Graphviz is missing: a fragment whose script draws in place of a listing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import RenderError
from tests.browser import launched
from tests.test_report_page import MARKUP

GOLD = "Hotels: [h = search(#city='Rome')]\nHotels: [book(#name=h)]\nTrips: [pay(#by='card')]"
PRED = "Hotels: [h = search(#city='Roma')]\nHotels: [book(#name='h')]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as one:
        yield one


@pytest.fixture(autouse=True)
def no_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_args: object, **_how: object) -> None:
        raise RenderError("nothing here draws svg")

    monkeypatch.setattr("planner_eval.drawing.notebook._drawn", refused)


INSERTED = """text => {
  const cell = document.createElement('div');
  cell.innerHTML = text;
  document.body.append(cell);
  for (const old of cell.querySelectorAll('script')) {
    const made = document.createElement('script');
    made.type = old.type;
    made.textContent = old.textContent;
    old.replaceWith(made);
  }
}"""
"""As notebooks do it: the fragment is set as markup, then its scripts are made anew."""


def shown(browser: Any, things: list[Any], tmp_path: Path, theme: str = "") -> Any:
    """A page that holds what notebooks show of some things."""
    page = browser.new_context(color_scheme="light").new_page()
    page.complaints = []
    page.on("console", lambda said: page.complaints.append(said.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body {theme}>", encoding="utf-8")
    page.goto(file.as_uri())
    for thing in things:
        page.evaluate(INSERTED, thing._repr_html_())
    return page


def test_a_plan_and_a_diff_are_drawn_in_place_of_the_listing(browser: Any, tmp_path: Path) -> None:
    found = pe.diff(PRED, GOLD)
    page = shown(browser, [pe.parse(GOLD), found], tmp_path)
    assert page.complaints == []
    assert page.locator(".planeval-drawing svg.drawing").count() == 2
    first, second = page.locator(".planeval-drawing").all()
    assert first.locator("g.box.plain").count() == 3
    assert [one.get_attribute("class") for one in second.locator("g.box").all()] == [
        "box changed", "box changed", "box missing"
    ]  # fmt: skip
    assert not page.locator("pre").first.is_visible()
    said = page.evaluate("document.querySelectorAll('.planeval-drawing')[1].shadowRoot.textContent")
    assert [edit.message for edit in found.edits if edit.message not in said] == []


def test_without_its_script_the_listing_stays(browser: Any, tmp_path: Path) -> None:
    plan = pe.parse(GOLD)
    page = shown(browser, [], tmp_path)
    page.evaluate("text => { document.body.innerHTML = text; }", plan._repr_html_())
    assert page.locator("pre").is_visible()
    assert page.locator("pre").inner_text() == str(plan)


@pytest.mark.parametrize("text", MARKUP)
def test_foreign_text_is_data(browser: Any, tmp_path: Path, text: str) -> None:
    plan = pe.Plan((pe.Call("a", text, ((text, text),)),))
    page = shown(browser, [plan, pe.diff(plan, pe.Plan((pe.Call("a", text, ((text, "2"),)),)))], tmp_path)
    assert page.complaints == []
    assert page.locator("svg.drawing").count() == 2
    assert page.evaluate("window.__pwned") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0


@pytest.mark.more
def test_dark_as_the_notebook_is(browser: Any, tmp_path: Path) -> None:
    page = shown(browser, [pe.parse(GOLD)], tmp_path, "data-jp-theme-light=false")
    ground = "getComputedStyle(document.querySelector('.planeval-drawing')).backgroundColor"
    assert page.evaluate(ground) == "rgb(13, 17, 23)"
