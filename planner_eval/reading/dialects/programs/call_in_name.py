"""A call as Python text that stands in the place of a tool's name, as in UltraTool's plans."""

from __future__ import annotations

import ast
import re

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.text import lazy_pattern, shorten
from planner_eval.plan.model import Arguments, Diagnostic, RawCall, RawPlan, Value
from planner_eval.reading.dialects.programs.python_ast import follow
from planner_eval.reading.dialects.programs.syntax import parse_syntax

_CALL = lazy_pattern(r"\s*+([^\W\d][\w.\-]*+)\((.*)", re.S)
_ARGUMENT_SEPARATOR = lazy_pattern(r",\s*+(?=[^\W\d]\w*+\s*+=(?!=))")
_ARGUMENT = lazy_pattern(r"\s*+([^\W\d]\w*+)\s*+=(?!=)\s*+(.*?)\s*+", re.S)
_NESTED_CALL_MESSAGE = "its arguments hold another call"


def read_call_in_name(text: str, position: int, notes: list[Diagnostic]) -> RawCall | None:
    """The call that a text in the place of a name makes; None where it makes none.

    A value that is no Python is text: what such plans say of a result that they do not know yet.

    Args:
        text: The text.
        position: The call's position, for messages.
        notes: Takes what is worth saying.

    Raises:
        ParseError: it begins like a call, and is none.

    >>> read_call_in_name("f(a='it's', b=2, c=<the sum>)", 0, []).arguments
    (('a', "it's"), ('b', 2), ('c', '<the sum>'))
    >>> read_call_in_name("search (beta)", 0, [])
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    name, after_bracket = match.groups()
    inside = after_bracket.rstrip()
    try:
        if not inside.endswith(")"):
            raise ParseError("it is never closed")
        inside = inside[:-1]
        raw = _read_python(inside)
        if raw is None:
            return RawCall(name, _read_arguments_one_by_one(inside))
        if len(raw.calls) != 1:
            raise ParseError(_NESTED_CALL_MESSAGE)
    except LimitError:
        raise
    except ParseError as error:
        reason = f"the tool of call {position + 1} is {shorten(repr(text), 60)}, which cannot be read: "
        raise ParseError(reason + error.reason, code="parse.shape") from None
    for note in raw.notes:
        if note.severity != "info":
            message = note.message.replace(" of call 1 ", f" of call {position + 1} ", 1)
            notes.append(note._replace(message=message, call=position, span=None))
    return RawCall(name, raw.calls[0].arguments)


def _read_python(inside: str) -> RawPlan | None:
    """What Python makes of a call with these arguments; None where they are no Python."""
    text = f"f({inside})"
    tree = parse_syntax(text)
    return follow(tree, text) if isinstance(tree, ast.Module) else None


def _read_arguments_one_by_one(inside: str) -> Arguments:
    """The arguments of a call that is no Python as a whole, one by one."""
    arguments: list[tuple[str, Value]] = []
    for index, argument in enumerate(_split_arguments(inside)):
        match = _ARGUMENT.fullmatch(argument)
        name, value = match.groups() if match else (str(index), argument.strip())
        raw = _read_python(value) if value and value[0] != "<" else None
        if raw is None:
            is_quoted = value[:1] in ("'", '"') and value[0] == value[-1] and len(value) > 1
            arguments.append((name, value[1:-1] if is_quoted else value))
        elif len(raw.calls) == 1 and len(raw.calls[0].arguments) == 1:
            arguments.append((name, raw.calls[0].arguments[0][1]))
        else:
            raise ParseError(_NESTED_CALL_MESSAGE)
    return tuple(arguments)


def _split_arguments(inside: str) -> list[str]:
    """The arguments of a call, one a text; a quoted value goes on to the piece that ends in its quote."""
    arguments: list[list[str]] = []
    quote = ""
    for piece in _ARGUMENT_SEPARATOR.split(inside):
        if quote:
            arguments[-1].append(piece)
        else:
            arguments.append([piece])
            match = _ARGUMENT.fullmatch(piece)
            value = match[2] if match else ""
            quote = value[0] if value[:1] in ("'", '"') and len(value) > 1 else ""
        if quote and piece.rstrip().endswith(quote):
            quote = ""
    return [", ".join(pieces) for pieces in arguments]
