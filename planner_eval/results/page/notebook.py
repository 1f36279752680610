"""How a notebook and print() show a plan or a diff."""

from __future__ import annotations

import html
from typing import Any

from planner_eval.base.errors import RenderError
from planner_eval.comparison.diff import Diff
from planner_eval.plan.model import Plan
from planner_eval.results.drawing import Drawable, render
from planner_eval.results.drawing.labels import visible_text
from planner_eval.results.page.lines import PlanLocation, edit_message, plan_data
from planner_eval.results.page.page import escape_json, join_page_files


# ----------------------------------------------------------------------
# How a notebook and print() show a plan or a diff; they ask by name, for they know nothing of drawing.
def notebook_svg(thing: Drawable) -> str | None:
    """The thing as SVG, or None where nothing can draw it."""
    try:
        return _draw_svg(thing)
    except RenderError:
        return None


def _draw_svg(thing: Drawable) -> str:
    return render(thing, format="svg").decode()


def visible_lines(text: str) -> str:
    r"""A text whose lines stay lines, with everything that would hide or move text as an escape.

    >>> visible_lines("a\nb\u202e")
    'a\nb\\u202e'
    """
    return "\n".join(map(visible_text, text.split("\n")))


def plan_text(thing: Drawable) -> str:
    """The thing as the command line lists it, without a last line end."""
    return render(thing, format="text").decode().rstrip("\n")


# ----------------------------------------------------------------------
# How a notebook shows a plan or a diff where Graphviz is missing: drawn by the page's script, or listed.
SCRIPTS = ("dom.js", "scene.js", "layout.js", "draw.js", "notebook.js")
"""The files of the script, in their order."""


def notebook_listing(thing: Plan | Diff) -> str | None:
    """The thing as the command line tells it, with a script that draws it; None where Graphviz draws it.

    What a notebook does not trust it shows without the script: then the listing stays. Foreign text is data:
    markup in it is escaped.
    """
    if notebook_svg(thing) is not None:
        return None
    data = {
        "style": join_page_files("drawing.css"),
        **(_plan_data(thing) if isinstance(thing, Plan) else _diff_data(thing)),
    }
    return (
        f'<div class="planeval-drawing"><pre>{html.escape(visible_lines(str(thing)))}</pre>'
        f'<script type="application/json">{escape_json(data)}</script>'
        f"<script>(() => {{\n{join_page_files(*SCRIPTS)}}})();</script></div>"
    )


def _plan_data(plan: Plan) -> dict[str, Any]:
    return {"pred": plan_data(plan)}


def _diff_data(diff: Diff) -> dict[str, Any]:
    """Both plans, which calls stand for which, and the edits, as the script of a page has them."""
    edits = []
    for edit in diff.edits:
        page_edit = edit_message(edit, None)
        locations = [
            [_location_data(gold), _location_data(pred)]
            for gold, pred in ((page_edit.gold, page_edit.pred), *page_edit.also)
        ]
        cause = -1 if page_edit.cause is None else page_edit.cause
        edits.append([page_edit.code, page_edit.words, cause, *locations[0], locations[1:]])
    aligned = [[gold, pred] for pred, gold, *_ in diff.alignment.pairs]
    return {"gold": plan_data(diff.gold), **_plan_data(diff.pred), "aligned": aligned, "edits": edits}


def _location_data(where: PlanLocation | None) -> list[Any] | None:
    return None if where is None else [where.call, where.argument]
