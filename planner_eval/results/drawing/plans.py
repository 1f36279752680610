"""Plans and diffs drawn."""

from __future__ import annotations

from planner_eval.comparison.diff import Diff
from planner_eval.reading.parse import Source, parse
from planner_eval.results.drawing import render as render_thing
from planner_eval.results.drawing.scene import Scene


def render(
    thing: Source | Diff | Scene,
    *,
    format: str = "svg",
    theme: str = "default",
    deadline: float = 10.0,
    force: bool = False,
    color: bool = False,
) -> bytes:
    """Draw a plan, or a diff as its two plans laid over one another.

    Args:
        thing: A plan, its text or data, the path of its file, a diff, or a scene such as
            :func:`planner_eval.results.drawing.graphs.tool_graph` gives.
        format: One of :data:`planner_eval.results.drawing.FORMATS`: svg, png, pdf, dot, mermaid, text, boxes.
        theme: The name of a theme in ``viz/themes/``, or a file like them.
        deadline: Seconds for the layout; it runs in a child process that is ended then.
        force: Draw every call, however many; otherwise above 300 calls, or more references than
            twice the calls plus 100, a box is a tool (all formats but text).
        color: Whether the format text uses a terminal's colours.

    Returns:
        The drawing; the same bytes for the same input, in UTF-8 where it is text.

    Raises:
        RenderError: Graphviz is not installed, the deadline has passed, or the format cannot hold
            the drawing.
        InputError: there is no such format or theme.
        ParseError: the plan cannot be read.

    >>> print(render("s = search(#city='Rome')", format="text").decode(), end="")
    generation 1
      c1  search  city = "Rome"
    """
    drawn = thing if isinstance(thing, (Diff, Scene)) else parse(thing)
    return render_thing(drawn, format=format, theme=theme, deadline=deadline, force=force, color=color)
