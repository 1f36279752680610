"""Standard output: results in blocks, and readers that leave before the end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from planner_eval.base.errors import InputError
from planner_eval.base.writing import ended, silence
from planner_eval.cli.terminal import clear

_BLOCK = 1 << 16
"""Characters that are written at once where no terminal shows them."""


def write_out(data: bytes | Iterable[str]) -> None:
    """Write a result to standard output.

    Args:
        data: Bytes, or a text in pieces, which are written as they come and end with a line end.

    Raises:
        InputError: it cannot be written.
        BrokenPipeError: its reader has gone; nothing more can be written.
    """
    for block in [data] if isinstance(data, bytes) else _blocks(ended(data)):
        clear()
        try:
            click.echo(block, nl=False)
        except BrokenPipeError:
            silence(sys.stdout)
            raise
        except OSError as error:
            silence(sys.stdout)
            raise InputError(f"standard output cannot be written: {error.strerror or error}") from None


def _blocks(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in larger pieces, each a call of the system; a terminal gets them as they come."""
    least = 0 if sys.stdout.isatty() else _BLOCK
    pending: list[str] = []
    size = 0
    for piece in pieces:
        pending.append(piece)
        size += len(piece)
        if size >= least:
            yield "".join(pending)
            pending, size = [], 0
    if pending:
        yield "".join(pending)
