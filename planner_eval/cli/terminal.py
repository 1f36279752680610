"""What a terminal gets and a file or a pipe does not: colours, and a count of what is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

from planner_eval.base.formats import DRAWN, WRITTEN, of_suffix
from planner_eval.base.text import one_line, printable
from planner_eval.cli.painting import LINEWISE, PAINTS

T = TypeVar("T")


# ---------------------------------------------------------------- colours
def with_color(command: click.Command) -> click.Command:
    """The command with ``--color``; of a group each of its commands."""
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            with_color(subcommand)
    elif not any("--color" in option.opts for option in command.params):
        command.params.append(
            click.Option(
                ["--color"],
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                show_default=True,
                expose_value=False,
                callback=_decide,
                help="Colours in text: on a terminal (auto), also in files and pipes, or never.",
            )
        )
    return command


def _decide(context: click.Context, _option: click.Parameter, when: str) -> None:
    """Keep what the user wants where click itself looks for it."""
    context.color = {"always": True, "never": False}.get(when)


def colorful(output: str | None = None) -> bool:
    """Whether text gets colours: as ``--color`` says, or where it goes to a terminal that wants them.

    Args:
        output: The file that it goes to; None for standard output.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed and output is None and sys.stdout.isatty()


def painted(pieces: Iterable[str], output: str | None) -> Iterable[str]:
    """A command's text as it goes out: safe for a terminal, and with colours where it is for people.

    Args:
        pieces: The text. Of one that gets colours each line is put together, and tables as a whole.
        output: The file that it goes to; None for standard output.
    """
    if output is None and sys.stdout.isatty():
        pieces = map(printable, pieces)
    context = click.get_current_context(silent=True)
    if context is None or not colorful(output):
        return pieces
    form = context.params.get("form") or of_suffix(output, (*WRITTEN, *DRAWN, "html")) or "text"
    paint = PAINTS.get(context.command_path.partition(" ")[2])
    if paint is None or form != "text":
        return pieces
    return map(paint, map(printable, whole_lines(pieces) if paint in LINEWISE else ["".join(pieces)]))


def whole_lines(pieces: Iterable[str]) -> Iterator[str]:
    r"""The same text, each piece of whole lines, but for the last line's end.

    >>> list(whole_lines(["a", "b\nc", "", "d\n\n", "e"]))
    ['ab\n', 'cd\n\n', 'e']
    """
    pending = ""
    for piece in pieces:
        lines, end, unfinished = piece.rpartition("\n")
        if end:
            yield pending + lines + end
            pending = ""
        pending += unfinished
    if pending:
        yield pending


# ---------------------------------------------------------------- progress
CLEARED = "\r\x1b[K"
"""Ends a line on a terminal that was not meant to stay."""

_LARGE = 4_000_000
"""Files of so many bytes take a second to read."""

_ACTIVE = "planeval.counters"


class Counter:
    """How much is done and how fast, on standard error where that is a terminal and it takes a second.

    It is told after each piece, by calling it with how many are done and of how many. What is shown is one
    line that is overwritten, and taken away when something else is written, or at the end.

    Args:
        what: What is counted, in the plural.
        lead: What stands before the numbers.
        scale: How many make one of what is shown: a million bytes a megabyte.
    """

    def __init__(self, what: str, lead: str = "", scale: int = 1) -> None:
        self.what, self.lead, self.scale = what, lead, scale
        self.done, self.total = 0, 0
        self.first: int | None = None
        self.begun = self.drawn = time.monotonic()
        self.visible = False
        self.hidden = not sys.stderr.isatty()

    def __call__(self, completed: int, total: int | None) -> None:
        """Take note of how many are done; `total` is None where it is not known."""
        self.done, self.total = completed, total or 0
        if self.first is None:
            self.first = completed
        if self.hidden:
            return
        now = time.monotonic()
        if now - self.begun > 1 and (now - self.drawn > 0.1 or completed == self.total):
            self.drawn = now
            rate = (completed - self.first) / self.scale / (now - self.begun)
            speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
            self.show(f"{self.lead}{self.said}, {speed}/s")

    def show(self, text: str) -> None:
        """Write the line over what stands there."""
        if not self.hidden:
            from shutil import get_terminal_size

            width = get_terminal_size().columns - 1  # a line that wraps could not be taken away
            sys.stderr.write(CLEARED + one_line(text, width))
            sys.stderr.flush()
            self.visible = True

    @property
    def said(self) -> str:
        """How many are done, and of how many."""
        completed, total = (
            f"{number:,}" if self.scale == 1 else f"{number / self.scale:,.1f}"
            for number in (self.done, self.total)
        )
        return f"{completed} of {total} {self.what}" if self.total else f"{completed} {self.what}"

    def clear(self) -> None:
        """Take the line away."""
        if self.visible:
            sys.stderr.write(CLEARED)
            sys.stderr.flush()
            self.visible = False

    def close(self) -> None:
        """Take the line away; an interrupt learns how much was done."""
        self.clear()
        error = sys.exception()
        if isinstance(error, KeyboardInterrupt) and self.done < self.total:
            error.add_note(f"after {self.said}")


def counted(what: str = "pairs", *, lead: str = "", scale: int = 1) -> Counter:
    """A count for the command that runs; see :class:`Counter`."""
    counter = Counter(what, lead, scale)
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_ACTIVE, []).append(counter)
        context.call_on_close(counter.close)
    return counter


def counting(items: Iterable[T], total: int, what: str = "plans") -> Iterator[T]:
    """The same items, counted; see :class:`Counter`."""
    tell = counted(what)
    tell(0, total)
    try:
        for count, item in enumerate(items, 1):
            yield item
            tell(count, total)
    finally:
        tell.clear()


def tell_reading(name: str) -> None:
    """Say that a large file is read, of which nothing can be counted before that is done."""
    size = os.path.getsize(name) if os.path.isfile(name) else 0
    if size > _LARGE:
        counted().show(f"reading {size / 1e6:,.1f} MB of {name}")


def clear() -> None:
    """Take away the line of a count, for another line comes; it is drawn again with the next piece."""
    context = click.get_current_context(silent=True)
    for counter in context.meta.get(_ACTIVE, ()) if context is not None else ():
        counter.clear()


def interrupted(error: BaseException) -> str:
    """What is said of an interrupt: how much was done, where it was counted."""
    notes: list[str] = getattr(error.__cause__ or error, "__notes__", [])
    notes = sorted(notes, key=lambda n: n.startswith(";"))
    return "".join(["interrupted", *(n if n.startswith(";") else f" {n}" for n in notes)])
