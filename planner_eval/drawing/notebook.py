"""How a notebook and print() show a plan or a diff; they ask by name, for they know nothing of drawing."""

from __future__ import annotations

from planner_eval.base.errors import RenderError
from planner_eval.drawing import Drawable, render
from planner_eval.drawing.labels import visible


def notebook_svg(thing: Drawable) -> str | None:
    """The thing as SVG, or None where nothing can draw it."""
    try:
        return _drawn(thing)
    except RenderError:
        return None


def _drawn(thing: Drawable) -> str:
    return render(thing, format="svg").decode()


def visible_lines(text: str) -> str:
    r"""A text whose lines stay lines, with everything that would hide or move text as an escape.

    >>> visible_lines("a\nb\u202e")
    'a\nb\\u202e'
    """
    return "\n".join(map(visible, text.split("\n")))


def plan_text(thing: Drawable) -> str:
    """The thing as the command line lists it, without a last line end."""
    return render(thing, format="text").decode().rstrip("\n")
