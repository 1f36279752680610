"""A call as Python text that stands in the place of a tool's name, as in UltraTool's plans.

{"step": "1.2 write it", "tool": "file_write(path='a.txt', content='it's done', size=<size of it>)"}
"""

from __future__ import annotations

import re

from planner_eval.base.errors import ParseError
from planner_eval.base.later import later
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import shortened
from planner_eval.dialects.python_calls import read
from planner_eval.plan.model import Diagnostic, RawCall

_CALL = later(r"\s*+([^\W\d][\w.\-]*+)\((.*)\)\s*+", re.S)
_NEXT = later(r",\s*+(?=[^\W\d]\w*+\s*+=(?!=))")
_ARGUMENT = later(r"\s*+([^\W\d]\w*+)\s*+=(?!=)\s*+(.+?)\s*+", re.S)


def read_called(text: str, position: int, notes: list[Diagnostic]) -> RawCall | None:
    """The call that a text in the place of a name makes; None where it makes none.

    A value that is no Python is text: what such plans say of a result that they do not know yet.

    Args:
        text: The text.
        position: The call's position, for messages.
        notes: Takes what is worth saying.

    Raises:
        ParseError: it begins like a call, and is none.

    >>> read_called("f(a='it's', b=2, c=<the sum>)", 0, []).arguments
    (('a', "it's"), ('b', 2), ('c', '<the sum>'))
    >>> read_called("search (beta)", 0, [])
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    name, inside = match.groups()
    try:
        raw = read(f"f({inside})", DEFAULT_LIMITS)
    except ParseError as error:
        try:
            raw = read(f"f({', '.join(map(_quoted, _arguments(inside)))})", DEFAULT_LIMITS)
        except ParseError:
            raise _refused(position, text, error.reason) from None
    if len(raw.calls) != 1:
        raise _refused(position, text, "its arguments hold a call")
    for note in raw.notes:
        if note.severity != "info":
            message = note.message.replace(" of call 1 ", f" of call {position + 1} ", 1)
            notes.append(note._replace(message=message, call=position, span=None))
    return RawCall(name, raw.calls[0].arguments)


def _arguments(inside: str) -> list[str]:
    """The arguments of a call, one a text; a quoted value goes on to the piece that ends in its quote."""
    found: list[list[str]] = []
    quote = ""
    for piece in _NEXT.split(inside):
        if quote:
            found[-1].append(piece)
        else:
            found.append([piece])
            match = _ARGUMENT.fullmatch(piece)
            value = match[2] if match else ""
            quote = value[0] if value[:1] in ("'", '"') and len(value) > 1 else ""
        if quote and piece.rstrip().endswith(quote):
            quote = ""
    return [", ".join(pieces) for pieces in found]


def _quoted(argument: str) -> str:
    """An argument with its value as a quoted text, unless the value can be read as it is."""
    match = _ARGUMENT.fullmatch(argument)
    if match is None:
        return argument
    name, value = match.groups()
    try:
        if value[0] != "<" and len(read(f"f({argument})", DEFAULT_LIMITS).calls) == 1:
            return argument
    except ParseError:
        pass
    inner = value[1:-1] if value[0] in "'\"" and value[0] == value[-1:] and len(value) > 1 else value
    return f"{name}={inner!r}"


def _refused(position: int, text: str, why: str) -> ParseError:
    reason = f"the tool of call {position + 1} is {shortened(repr(text), 60)}, which is no call: {why}"
    return ParseError(reason, code="parse.shape")
