"""Python calls whose arguments are plain values, read without Python's parser: most calls are such."""

from __future__ import annotations

import keyword
from collections.abc import Collection

from planner_eval.base.limits import Limits, Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import RawCall, RawPlan, RawRef, Value
from planner_eval.reading.dialects.programs.program import result_name
from planner_eval.reading.dialects.programs.values import (
    BUILTINS,
    DISPLAY_FUNCTIONS,
    EXCEPTIONS,
    LIBRARY_FUNCTIONS,
    SELF_NAMES,
)

_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_TOOL = rf"{_NAME}(?:\.{_NAME})*+"
_GAP = r"[ \t\n]*+"
_TEXT = r"'[^'\\\n\r\x00\ud800-\udfff]*+'|\"[^\"\\\n\r\x00\ud800-\udfff]*+\""
_NUMBER = r"-?(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,15}+)?+"
_SCALAR = rf"(?:{_TEXT}|{_NUMBER}|True|False|None)"
_VALUE = rf"(?:{_SCALAR}|\[{_GAP}(?:{_SCALAR}{_GAP}(?:,{_GAP}|(?=\])))*+\])"


def _call_pattern(value: str) -> str:
    """A call of which each argument is such a value."""
    return rf"{_TOOL}\({_GAP}(?:(?:{_NAME} ?+= ?+)?+{value}{_GAP}(?:,{_GAP}|(?=\))))*+\)"


_CALL = _call_pattern(rf"(?:{_VALUE}|{_call_pattern(rf'(?:{_VALUE}|{_call_pattern(_VALUE)})')})")
_CALLS = lazy_pattern(
    rf"\[{_GAP}(?:{_CALL}{_GAP}(?:,{_GAP}|(?=\])))++\]\s*+"
    rf"|{_CALL}(?: *+(?:[;,] *+|\n++){_CALL})*+ *+[;,]?+\s*+"
)
"""Calls in a list or bare; in the argument of one may stand another, and in its own a third."""
_TOKEN = lazy_pattern(rf"(?:(?P<key>{_NAME}) ?= ?)?+(?:(?P<tool>{_TOOL})\(|(?P<value>{_VALUE}))|(?P<end>\))")
_ITEM = lazy_pattern(_SCALAR)
_LITERALS = {"True": True, "False": False, "None": None}
_KEYWORDS = frozenset({*keyword.kwlist, *keyword.softkwlist, "__debug__"})
_NO_TOOLS = frozenset({
    *DISPLAY_FUNCTIONS, *BUILTINS, *EXCEPTIONS, *LIBRARY_FUNCTIONS, *SELF_NAMES, *_KEYWORDS, "gather",
    "asyncio", "Promise",
})  # fmt: skip
"""Names, or what such begin with, that may be read as something else than a tool's."""
_MAX_LENGTH = 20_000


class _OpenCall(NamedTuple):
    """A call whose end was not met yet, and the argument of another that it is."""

    name: str
    start: int
    key: str | None
    arguments: dict[str, Value]
    spans: list[Span]

    def add(self, key: str | None, value: Value, span: Span) -> bool:
        """Take an argument; False where Python would refuse it."""
        if key is None:
            key = str(len(self.arguments))
            if any(not name.isdigit() for name in self.arguments):
                return False
        if key in self.arguments or key in _KEYWORDS:
            return False
        self.arguments[key] = value
        self.spans.append(span)
        return True


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

    >>> read_plain_calls("[f(a=1), g(b='x')]", Limits()).calls[1].arguments
    (('b', 'x'),)
    >>> read_plain_calls("f(a=b)", Limits()), read_plain_calls("print(a=1)", Limits())
    (None, None)
    """
    if len(text) > _MAX_LENGTH or _CALLS.fullmatch(text) is None:
        return None
    calls: list[RawCall] = []
    waiting: list[_OpenCall] = []
    for match in _TOKEN.finditer(text):
        key, name, value, end = match.groups()
        if name is not None:
            root, *fields = name.split(".")
            if name in _NO_TOOLS or root in _NO_TOOLS or name in defined or root in defined:
                return None
            if not _KEYWORDS.isdisjoint(fields):
                return None
            waiting.append(_OpenCall(name, match.start("tool"), key, {}, []))
        elif end is None:
            if not waiting[-1].add(key, _value(value), match.span("value")):
                return None
        else:
            call = waiting.pop()
            if "." in call.name and all(name.isdigit() for name in call.arguments):
                return None  # it may be words
            own_name, span = result_name(len(calls)), (call.start, match.end())
            calls.append(
                RawCall(
                    call.name,
                    tuple(call.arguments.items()),
                    binds=((own_name, ()),),
                    span=span,
                    spans=tuple(call.spans),
                )
            )
            if waiting and not waiting[-1].add(call.key, RawRef(own_name), span):
                return None
    return RawPlan(tuple(calls)) if calls_before + len(calls) <= limits.calls else None


def _value(text: str) -> Value:
    first = text[0]
    if first in "'\"":
        return text[1:-1]
    if first == "[":
        return [_value(item) for item in _ITEM.findall(text, 1)]
    if text in _LITERALS:
        return _LITERALS[text]
    return float(text) if "." in text else int(text)
