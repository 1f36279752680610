"""The options of commands that draw, and writing drawings into files."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import planner_eval as pe
from planner_eval.base.errors import InputError, RenderError
from planner_eval.base.formats import DEFAULT, suffixes_of
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.output_files import write
from planner_eval.cli.options import Seconds, bundle_options, note, option
from planner_eval.cli.terminal import count_items, is_colored

if TYPE_CHECKING:
    from planner_eval.results.drawing.layout import Drawing


# ----------------------------------------------------------------------
# The options of commands that draw.
class DrawingOptions(NamedTuple):
    """How something is drawn.

    Args:
        theme: A theme's name, or its file.
        deadline: Seconds for the layout of one drawing.
        force: Draw every call, however many there are.
    """

    theme: str
    deadline: float
    force: bool


drawing_options = bundle_options(
    "look",
    DrawingOptions,
    DrawingOptions._fields,
    option("--theme NAME|FILE", default="default"),
    option("--deadline SECONDS", type=Seconds(), default=10.0),
    option("--force"),
)
"""Add ``--theme``, ``--deadline`` and ``--force``; the command takes them as ``look``."""


def draw_one(thing: Any, form: str, look: DrawingOptions, output: str | None) -> bytes:
    """Draw one thing, and say what is worth knowing about it.

    Args:
        thing: What :func:`planner_eval.render` takes.
        form: The format.
        look: How it is drawn.
        output: The file that it is for; None for standard output.

    Raises:
        RenderError: it cannot be drawn.
    """
    drawing = next(pe.render_many([thing], format=form, color=is_colored(output), **look._asdict()))
    note(*_warnings(drawing))
    if drawing.error:
        raise RenderError(drawing.error)
    return drawing.data


class NamedDrawing(NamedTuple):
    """A drawing, or why there is none, and whose it is.

    Args:
        id: The id of what is drawn; "" where it has none.
        where: How it is named in messages.
        drawing: What was drawn.
    """

    id: str
    where: str
    drawing: Drawing


def draw_each(
    items: Iterable[tuple[str, str, Any, str]], form: str, look: DrawingOptions, output: str | None
) -> Iterator[NamedDrawing]:
    """Draw things one after another; of which there is nothing to draw, the reason takes its place.

    Args:
        items: The id of each, how it is named in messages, what is drawn or None, and the reason for None.
        form: The format.
        look: How they are drawn.
        output: The file or folder that they are for; None for standard output.
    """
    from planner_eval.results.drawing.layout import Drawing

    waiting: deque[tuple[str, str, Any, str]] = deque()

    def things() -> Iterator[Any]:
        for item in items:
            waiting.append(item)
            if item[2] is not None:
                yield item[2]

    def missing() -> Iterator[NamedDrawing]:
        while waiting and waiting[0][2] is None:
            id, where, _, reason = waiting.popleft()
            yield NamedDrawing(id, where, Drawing(error=reason))

    for drawing in pe.render_many(things(), format=form, color=is_colored(output), **look._asdict()):
        yield from missing()
        yield NamedDrawing(*waiting.popleft()[:2], drawing)
    yield from missing()


def _warnings(drawing: Drawing) -> list[str]:
    """What a drawing is not as it should be in."""
    return [diagnostic.message for diagnostic in drawing.diagnostics if diagnostic.severity != "info"]


def say_drawing(named: NamedDrawing) -> None:
    """Errors and warnings of one drawing, on standard error."""
    problems = [named.drawing.error, *_warnings(named.drawing)]
    note(*(f"{named.where}: {problem}" for problem in problems if problem))


def write_folder(
    drawn: Iterable[NamedDrawing],
    output: str,
    form: str,
    count: int,
    what: str = "plans",
    *,
    inputs: frozenset[str] = frozenset(),
) -> int:
    """Write a file a drawing, named by its id; what is written stays when this is interrupted.

    Args:
        drawn: The drawings.
        output: The folder; it is made where it is not there.
        form: Their format.
        count: How many there are.
        what: What they are drawings of, in the plural.
        inputs: The files that the command reads, wherever links to them lie.

    Returns:
        How many failed.

    Raises:
        InputError: a drawing would take the place of an input.
    """
    from pathlib import Path

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = next(iter(suffixes_of(form) or suffixes_of(DEFAULT)))
    used: set[str] = set()
    failed = 0
    for named in count_items(drawn, count, what):
        say_drawing(named)
        if named.drawing.error:
            failed += 1
            continue
        safe = re.sub(r"[^\w.-]+", "_", named.id, flags=re.ASCII).strip("._")[:100]
        plain = name = safe or f"plan-{len(used) + 1}"
        while name.lower() in used:  # as file systems see it that do not tell A from a
            name = f"{name}-{len(used) + 1}"
        used.add(name.lower())
        if plain != name:
            note(f"{named.where}: drawn into {name}.{suffix}, for {plain}.{suffix} belongs to another record")
        file = folder / f"{name}.{suffix}"
        if os.path.realpath(file) in inputs and not file.is_symlink():
            raise InputError(f"{file} is an input of this command: name another folder")
        write(file, named.drawing.data, follow=False)  # a link in the folder may lead anywhere
    note(f"{len(used):,} of {count:,} {what} drawn into {folder}")
    return failed
