"""JSON values with their places, without the grammar: what it gives for a text that is JSON, and sooner.

The terminals are those of grammars/json.lark; a test holds the two readings equal.
"""

from __future__ import annotations

import json
import re
from typing import Any

from planner_eval.base.grammar import NUMBER, STRING, WORD
from planner_eval.base.json_text import LocatedValue, Member, parse_located

_VALUE = re.compile(
    rf"[ \t\r\n]*+(?:([\[{{])|({STRING})"
    rf"|({NUMBER}|{WORD}))"
)
_KEY = re.compile(rf"[ \t\r\n]*+({STRING})[ \t\r\n]*+:")
_NEXT = re.compile(r"[ \t\r\n]*+([,\]}])")
_EMPTY_REMAINDER = {"[": re.compile(r"[ \t\r\n]*+\]"), "{": re.compile(r"[ \t\r\n]*+\}")}
_CLOSING = {"[": "]", "{": "}"}


def locate_values(text: str) -> list[LocatedValue]:
    """What :func:`planner_eval.base.json_text.parse_located` gives; the grammar reads what is no JSON.

    Raises:
        ParseError: the text is no JSON; says why.

    >>> locate_values('[1, "a"]')[0].data[1].span
    (4, 7)
    """
    values = scan_values(text)
    return parse_located(text) if values is None else values


def scan_values(text: str) -> list[LocatedValue] | None:
    """The JSON values of a text with the place of every value; None of a text that is no JSON.

    >>> scan_values('{"a": [1]}')[0].data[0].value.data[0].span, scan_values("[1,]")
    ((7, 8), None)
    """
    values: list[LocatedValue] = []
    around: list[tuple[str, int, list[Any], str]] = []  # mark, start, items, key of what is read in it
    position, end = 0, len(text.rstrip(" \t\r\n"))
    while True:
        match = _VALUE.match(text, position)
        if match is None:
            return None
        position = match.end()
        mark = match[1]
        if mark is None:
            value = LocatedValue(
                json.loads(match[3]) if match[2] is None else _decode_string(match[2]),
                match.span(match.lastindex or 0),
            )
        else:
            empty = _EMPTY_REMAINDER[mark].match(text, position)
            if empty is None:
                around.append((mark, match.start(1), [], ""))
                if mark == "{" and (position := _read_key(text, position, around)) < 0:
                    return None
                continue
            position = empty.end()
            value = LocatedValue([], (match.start(1), position), mark == "{")
        position = _close_value(text, position, value, around, values)
        if position < 0:
            return None
        if not around and position >= end:
            return values


def _read_key(text: str, position: int, around: list[tuple[str, int, list[Any], str]]) -> int:
    """Read the key of the next member; the place after it, or -1 where there is none."""
    key = _KEY.match(text, position)
    if key is None:
        return -1
    mark, start, items, _ = around[-1]
    around[-1] = mark, start, items, _decode_string(key[1])
    return key.end()


def _close_value(
    text: str,
    position: int,
    value: LocatedValue,
    around: list[tuple[str, int, list[Any], str]],
    values: list[LocatedValue],
) -> int:
    """Put a whole value where it belongs, and end what ends after it; the next one's place, or -1."""
    while around:
        mark, start, items, key = around[-1]
        items.append(Member(key, value) if mark == "{" else value)
        following = _NEXT.match(text, position)
        if following is None:
            return -1
        position = following.end()
        if following[1] == ",":
            return _read_key(text, position, around) if mark == "{" else position
        if following[1] != _CLOSING[mark]:
            return -1
        around.pop()
        value = LocatedValue(items, (start, position), mark == "{")
    values.append(value)
    return position


def _decode_string(written: str) -> str:
    return written[1:-1] if "\\" not in written else str(json.loads(written))
