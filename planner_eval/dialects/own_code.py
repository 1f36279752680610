"""Code of the model's own after its calls: definitions, tests, a main program. It is no part of the plan."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from planner_eval.base.errors import ParseError
from planner_eval.base.later import later
from planner_eval.dialects.lines import Reader
from planner_eval.dialects.pieces import Block, Read, own_names, span_of
from planner_eval.dialects.views import View
from planner_eval.plan.model import Diagnostic

_OWN = re.compile(
    r"(?m)^[ \t]*+(?:(?:async\s++)?def\s++\w++\s*+\(|class\s++\w++|assert\s|self\.\w|@\w++\.?|if __name__"
    r"|#include\b|(?:export\s++|public\s++|private\s++)++(?:static\s++|default\s++)*+(?:class|function|void|int)\b)"
)
_IMPORT = later(r"(?m)^[ \t]*+(?:import\s++\w|from\s++[\w.]++\s++import\s)")


def read(block: Block, reader: Reader, *, after: bool) -> list[Read]:
    """The calls of a block; none where it is the model's own code after its calls.

    Args:
        block: A fence, or the text between fences.
        reader: Reads it, and takes the note.
        after: Whether calls stand before it.

    Raises:
        ParseError: it begins like a plan and cannot be read.
    """
    text = block.view.text
    own = _OWN.search(text)
    if own is None:
        try:
            return reader.block(block)
        except ParseError:
            if not (after and _IMPORT.match(text.lstrip())):
                raise
    if not after:
        return _before(block, own.start() if own else 0, reader)
    _pass_over(block.view, reader)
    return []


def _before(block: Block, own: int, reader: Reader) -> list[Read]:
    """The calls before the code of a block, where there are any and the whole is no Python."""
    text = block.view.text
    imported = _IMPORT.search(text, 0, own)
    start = imported.start() if imported else own
    if text[:start].strip() and reader.as_python(block.view) is None:
        calls_before, variables, bound = reader.taken, dict(reader.held), [*reader.bound]
        with suppress(ParseError):
            read = reader.block(replace(block, view=block.view.cut(0, start)))
            if read:
                _pass_over(block.view.cut(start, len(text)), reader)
                return read
        reader.taken, reader.held, reader.bound = calls_before, variables, bound
    return reader.block(block)


def _pass_over(view: View, reader: Reader) -> None:
    """Say that code was ignored; what it defines is no tool afterwards."""
    reader.defined |= own_names(view.text)
    message = f"{len(view.text):,} characters of the model's own code after the calls were ignored"
    reader.notes.append(Diagnostic("find.code", message, "info", None, None, span_of(view)))
