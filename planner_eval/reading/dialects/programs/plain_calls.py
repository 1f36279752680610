"""Python calls whose arguments are plain values, read without Python's parser: most calls are such."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection

from planner_eval.base.limits import Limits, Span, too_many_calls_error
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import RawCall, RawPlan, RawRef, Value
from planner_eval.reading.dialects.programs.program import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    EXCEPTIONS,
    LIBRARY_FUNCTIONS,
    SELF_NAMES,
    result_name,
)

_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_NO_SIGN = r"\\\n\r\x00"
_TEXT = rf"'[^'{_NO_SIGN}]*+'|\"[^\"{_NO_SIGN}]*+\""
_NUMBER = r"-?(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,15}+)?+"
_SCALAR = rf"{_TEXT}|{_NUMBER}|True|False|None"
_VALUE = lazy_pattern(rf"({_NAME}(?:\.{_NAME})*+)\([ \t\n]*+|({_SCALAR})|[\[{{][ \t\n]*+")
_KEY = lazy_pattern(rf"({_NAME}) ?+= ?+")
_ARGUMENT = lazy_pattern(rf"({_NAME}) ?+= ?+({_SCALAR})[ \t\n]*+(?:(\))|,[ \t\n]*+(?!\)))")
"""A named argument of a scalar, and what follows it: the end of the call, or another argument."""
_FIELD = lazy_pattern(rf"({_TEXT}): *+")
_NEXT = lazy_pattern(r"[ \t\n]*+([,)\]}])[ \t\n]*+")
_BETWEEN_CALLS = lazy_pattern(r" *+(?:[;,] *+|\n++)(?!\s*+\Z)")
_END = lazy_pattern(r" *+[;,]?+\s*+")
_LITERALS = {"True": True, "False": False, "None": None}
_KEYWORDS = frozenset({*keyword.kwlist, *keyword.softkwlist, "__debug__"})
_NO_TOOLS = frozenset({
    *DISPLAY_FUNCTIONS, *BUILTINS, *EXCEPTIONS, *LIBRARY_FUNCTIONS, *SELF_NAMES, *_KEYWORDS, "gather",
    "asyncio", "Promise",
})  # fmt: skip
"""Names, or what such begin with, that may be read as something else than a tool's."""
_MAX_DEPTH = 8


class _NotPlainError(Exception):
    """Python's parser has to be asked."""


def read_plain_calls(
    text: str, limits: Limits, defined: Collection[str] = (), calls_before: int = 0
) -> RawPlan | None:
    """The calls of a text that is nothing but calls of tools with plain values, as a program's are read.

    Args:
        text: The text, which begins with a call or a list of calls.
        limits: Bounds on calls.
        defined: Names that are no tools.
        calls_before: How many calls were read before, which count too.

    Returns:
        None where Python's parser has to be asked.

    Raises:
        LimitError: it begins with more calls than a plan may have.

    >>> read_plain_calls("[f(a=1), g(b='x')]", Limits()).calls[1].arguments
    (('b', 'x'),)
    >>> read_plain_calls("f(a=b)", Limits()), read_plain_calls("print(a=1)", Limits())
    (None, None)
    """
    reader = _Reader(text, defined, limits, calls_before)
    try:
        if not text.isascii():
            text.encode()
        end = reader.listed() if text.startswith("[") else reader.bare()
    except (_NotPlainError, UnicodeEncodeError):  # a half of a surrogate pair is no Python
        return None
    return RawPlan(tuple(reader.calls)) if _END.fullmatch(text, end) else None


class _Reader:
    """Reads one text."""

    def __init__(self, text: str, defined: Collection[str], limits: Limits, calls_before: int) -> None:
        self.text = text
        self.defined = defined
        self.limits = limits
        self.most = limits.calls - calls_before
        self.calls: list[RawCall] = []

    def bare(self) -> int:
        """Read calls side by side or on lines of their own, and give where they end."""
        end = self.call(self.match(_VALUE, 0))
        while (following := _BETWEEN_CALLS.match(self.text, end)) is not None:
            end = self.call(self.match(_VALUE, following.end()))
        return end

    def listed(self) -> int:
        """Read a list of calls, and give where it ends."""
        following, closed = self.match(_VALUE, 0), False
        while not closed:
            end = self.call(self.match(_VALUE, following.end()))
            following, closed = self.following(end, "]")
        return following.end()

    def match(self, pattern: re.Pattern[str], position: int) -> re.Match[str]:
        """What stands at a place."""
        match = pattern.match(self.text, position)
        if match is None:
            raise _NotPlainError
        return match

    def following(self, position: int, closing: str) -> tuple[re.Match[str], bool]:
        """What follows an item, and whether it closes the list."""
        match = self.match(_NEXT, position)
        if match[1] == "," and self.text.startswith(closing, match.end()):
            match = self.match(_NEXT, match.end())
        if match[1] not in (",", closing):
            raise _NotPlainError
        return match, match[1] == closing

    def call(self, opened: re.Match[str], depth: int = 0) -> int:
        """Read a call, those in its arguments before, and give where it ends."""
        name, text = opened[1], self.text
        root, *fields = name.split(".") if name else ("and",)
        if name in _NO_TOOLS or root in _NO_TOOLS or name in self.defined or root in self.defined:
            raise _NotPlainError
        arguments: dict[str, Value] = {}
        spans: list[Span] = []
        position, key = opened.end(), None
        closed = text.startswith(")", position)
        end = position + 1
        while not closed:
            plain = _ARGUMENT.match(text, position)
            if plain is not None:  # as most
                key, value, span = plain[1], _scalar(plain[2]), plain.span(2)
                position = end = plain.end()
                closed = plain[3] is not None
            else:
                named = _KEY.match(text, position)
                if named is None and key is not None:  # which Python refuses
                    raise _NotPlainError
                key = named[1] if named else None
                start = named.end() if named else position
                value, stop = self.value(start, depth)
                span = start, stop
                following, closed = self.following(stop, ")")
                position, end = following.end(), following.end(1)
            name_key = str(len(arguments)) if key is None else key
            if name_key in arguments:
                raise _NotPlainError
            arguments[name_key] = value
            spans.append(span)
        if fields and (key is None or not _KEYWORDS.isdisjoint(fields)):  # without names it may be words
            raise _NotPlainError
        if len(self.calls) >= self.most:
            raise too_many_calls_error(self.limits)
        binds = ((result_name(len(self.calls)), ()),)
        span = opened.start(), end
        self.calls.append(RawCall(name, tuple(arguments.items()), binds=binds, span=span, spans=tuple(spans)))
        return end

    def value(self, position: int, depth: int, *, inside: bool = False) -> tuple[Value, int]:
        """Read a value, and give where it ends."""
        match = self.match(_VALUE, position)
        if match[2] is not None:
            return _scalar(match[2]), match.end()
        if depth > _MAX_DEPTH:
            raise _NotPlainError
        if match[1] is not None:
            if inside:
                raise _NotPlainError
            end = self.call(match, depth + 1)
            return RawRef(self.calls[-1].binds[0][0]), end
        fields: dict[str, Value] = {}
        items: list[Value] = []
        mark = match.group()[0]
        closing = "]" if mark == "[" else "}"
        position = match.end()
        closed = self.text.startswith(closing, position)
        end = position + 1
        while not closed:
            field = self.match(_FIELD, position) if mark == "{" else None
            value, stop = self.value(field.end() if field else position, depth + 1, inside=True)
            if field:
                if field[1][1:-1] in fields:
                    raise _NotPlainError
                fields[field[1][1:-1]] = value
            items.append(value)
            following, closed = self.following(stop, closing)
            position, end = following.end(), following.end(1)
        return (items if mark == "[" else fields), end


def _scalar(text: str) -> Value:
    if text[0] in "'\"":
        return text[1:-1]
    if text in _LITERALS:
        return _LITERALS[text]
    return float(text) if "." in text else int(text)
