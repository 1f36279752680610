"""Drawing: a plan or a diff as SVG, PNG, PDF, DOT, Mermaid, a terminal listing or boxes.

A plan or a diff becomes a :class:`~planner_eval.results.drawing.scene.Scene` (boxes and arrows with roles);
one module a notation writes it down; Graphviz lays it out in child processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import (
    LIST,
    SECONDS,
    ArgumentKind,
    InputError,
    RenderError,
    expect,
    expect_or_none,
)
from planner_eval.base.formats import FORMATS as ALL_FORMATS
from planner_eval.base.formats import LISTING, PICTURE, formats_of, load_writer, shows
from planner_eval.base.resources import load
from planner_eval.plan.model import Diagnostic, Plan
from planner_eval.reading.parse import Source, parse
from planner_eval.results.drawing.overlay import diff_scene, plan_scene
from planner_eval.results.drawing.scene import Scene, condense
from planner_eval.results.drawing.themes import theme as get_theme

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff
    from planner_eval.results.drawing.layout import Drawing
    from planner_eval.results.drawing.themes import Theme


FORMATS = (*formats_of("picture"), *formats_of("plain", "boxes"))
"""The formats that :func:`render` knows; the first three need Graphviz."""

_DPI = 144
"""Dots an inch of a bitmap."""

Drawable: TypeAlias = "Plan | Diff | Scene"


def render(
    thing: Source | Drawable,
    *,
    deadline: float | None = None,
    format: str = PICTURE,
    theme: str = "default",
    force: bool = False,
    color: bool = False,
) -> bytes:
    """Draw a plan, or a diff as its two plans laid over one another.

    Args:
        thing: A plan, its text or data, the path of its file, a diff, or a scene such as
            :func:`planner_eval.results.drawing.graphs.tool_graph` gives.
        deadline: Seconds for the layout, 10 when left out; it runs in a child process that is ended then.
        format: One of :data:`planner_eval.results.drawing.FORMATS`: svg, png, pdf, dot, mermaid, text, boxes.
        theme: The name of a theme in ``viz/themes/``, or a file like them.
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
    read = isinstance(thing, (Plan, Scene)) or hasattr(thing, "edits")
    look = {"format": format, "theme": theme}
    drawn: Any = thing if read else parse(thing)
    drawing = next(render_many([drawn], **look, deadline=deadline, force=force, color=color))
    if drawing.error:
        raise RenderError(drawing.error)
    return drawing.data


def render_many(
    things: Iterable[Drawable],
    *,
    deadline: float | None = None,
    format: str = PICTURE,
    theme: str = "default",
    force: bool = False,
    color: bool = False,
) -> Iterator[Drawing]:
    r"""Draw many plans or diffs, in their order, with a few child processes for all.

    Args:
        things: What to draw; read as needed, so it may be endless.
        deadline: As for :func:`render`, for each drawing.
        format: As for :func:`render`.
        theme: As for :func:`render`.
        force: As for :func:`render`.
        color: As for :func:`render`.

    Yields:
        A drawing each. One that failed has no data and says why in ``error``; ``diagnostics`` hold
        what Graphviz complained of and whether the drawing was condensed.

    Raises:
        RenderError: Graphviz is needed and not installed.
        InputError: there is no such format or theme.

    >>> import planner_eval as pe
    >>> [drawing.data for drawing in render_many([pe.parse("f(#x='1')")], format="text")]
    [b'generation 1\n  c1  f  x = "1"\n']
    """
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}: expected one of {', '.join(FORMATS)}")
    if not isinstance(theme, str):
        raise InputError(f"the theme is {theme!r}, expected a name or a file's, as a text")
    expect(LIST, things=things)
    expect_or_none(SECONDS, deadline=deadline)
    look = get_theme(theme)
    if not shows(format, "plot"):
        yield from (_draw_without_layout(thing, format, look, force=force, color=color) for thing in things)
        return
    from planner_eval.results.drawing.dot import to_dot
    from planner_eval.results.drawing.layout import draw_many

    notes: deque[tuple[Diagnostic, ...]] = deque()

    def sources() -> Iterator[str]:
        for thing in things:
            scene, diagnostics = _fit_scene(thing, force)
            notes.append(diagnostics)
            yield to_dot(scene, look, dpi=_DPI if shows(format, "bitmap") else None)

    for drawing in draw_many(sources(), format, deadline=deadline or 10.0):
        diagnostics = notes.popleft()
        yield replace(drawing, diagnostics=(*diagnostics, *drawing.diagnostics)) if diagnostics else drawing


def _fit_scene(thing: Drawable, force: bool) -> tuple[Scene, tuple[Diagnostic, ...]]:
    """The scene of a thing, condensed where it is too large to lay out."""
    scene = scene_of(thing)
    if force or not scene.crowded:
        return scene, ()
    scene = condense(scene)
    message = f"{scene.notes[-1]}; --force draws them all"
    return scene, (Diagnostic("render.condensed", message, "warning"),)


def scene_of(thing: Drawable) -> Scene:
    """What a drawing of a plan or a diff shows, before any notation."""
    if isinstance(thing, Scene):
        return thing
    if isinstance(thing, Plan):
        return plan_scene(thing)
    expect(_DRAWABLE_KIND, thing=thing)
    return diff_scene(thing)


# to draw a plan needs no diff
_DRAWABLE_KIND = ArgumentKind("a plan, a diff or a scene", lambda value: hasattr(value, "edits"))


def _draw_without_layout(thing: Drawable, format: str, theme: Theme, *, force: bool, color: bool) -> Drawing:
    """A drawing that needs no layout of Graphviz."""
    from planner_eval.results.drawing.layout import Drawing

    plain = shows(format, "plain")
    drawn = shows(format, "picture")
    scene, diagnostics = _fit_scene(thing, force) if drawn else (scene_of(thing), ())
    write = load_writer(LISTING if plain else format)
    try:
        text: str = write(scene, theme, color=color) if plain else write(scene, theme)
    except RenderError as error:
        return Drawing(error=str(error))
    if remarks := ALL_FORMATS[format].remarks:
        diagnostics = (*diagnostics, *load(f"planner_eval.{remarks}")(text, len(scene.arrows)))
    return Drawing(text.encode("utf-8"), diagnostics)
