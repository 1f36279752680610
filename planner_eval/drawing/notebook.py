"""How a notebook and print() show a plan or a diff; they ask by name, for they know nothing of drawing."""

from __future__ import annotations

from planner_eval.base.errors import RenderError
from planner_eval.drawing import Drawable, render


def notebook_svg(thing: Drawable) -> str | None:
    """The thing as SVG, or None where nothing can draw it."""
    try:
        return render(thing, format="svg").decode()
    except RenderError:
        return None


def plan_text(thing: Drawable) -> str:
    """The thing as the command line lists it, without a last line end."""
    return render(thing, format="text").decode().rstrip("\n")
