"""JSON values with their places, without the grammar: what it gives for a text that is JSON, and sooner.

The terminals are those of grammars/json.lark; a test holds the two readings equal.
"""

from __future__ import annotations

import json
import re
from typing import Any

from planner_eval.base.json_faults import NUMBER, STRING, WORD
from planner_eval.base.json_text import Located, Member, parse_located

_VALUE = re.compile(
    rf"[ \t\r\n]*+(?:([\[{{])|({STRING})"
    rf"|({NUMBER}|{WORD}))"
)
_KEY = re.compile(rf"[ \t\r\n]*+({STRING})[ \t\r\n]*+:")
_NEXT = re.compile(r"[ \t\r\n]*+([,\]}])")
_EMPTY = {"[": re.compile(r"[ \t\r\n]*+\]"), "{": re.compile(r"[ \t\r\n]*+\}")}
_CLOSING = {"[": "]", "{": "}"}


def with_places(text: str) -> list[Located]:
    """What :func:`planner_eval.base.json_text.parse_located` gives; the grammar reads what is no JSON.

    Raises:
        ParseError: the text is no JSON; says why.

    >>> with_places('[1, "a"]')[0].data[1].span
    (4, 7)
    """
    values = scanned(text)
    return parse_located(text) if values is None else values


def scanned(text: str) -> list[Located] | None:
    """The JSON values of a text with the place of every value; None of a text that is no JSON.

    >>> scanned('{"a": [1]}')[0].data[0].value.data[0].span, scanned("[1,]")
    ((7, 8), None)
    """
    values: list[Located] = []
    around: list[tuple[str, int, list[Any], str]] = []  # mark, start, items, key of what is read in it
    position, end = 0, len(text.rstrip(" \t\r\n"))
    while True:
        match = _VALUE.match(text, position)
        if match is None:
            return None
        position = match.end()
        mark = match[1]
        if mark is None:
            value = Located(_scalar(match), match.span(match.lastindex or 0))
        else:
            empty = _EMPTY[mark].match(text, position)
            if empty is None:
                around.append((mark, match.start(1), [], ""))
                if mark == "{" and (position := _keyed(text, position, around)) < 0:
                    return None
                continue
            position = empty.end()
            value = Located([], (match.start(1), position), mark == "{")
        position = _ended(text, position, value, around, values)
        if position < 0:
            return None
        if not around and position >= end:
            return values


def _keyed(text: str, position: int, around: list[tuple[str, int, list[Any], str]]) -> int:
    """Read the key of the next member; the place after it, or -1 where there is none."""
    key = _KEY.match(text, position)
    if key is None:
        return -1
    mark, start, items, _ = around[-1]
    around[-1] = mark, start, items, _text(key[1])
    return key.end()


def _ended(
    text: str,
    position: int,
    value: Located,
    around: list[tuple[str, int, list[Any], str]],
    values: list[Located],
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
            return _keyed(text, position, around) if mark == "{" else position
        if following[1] != _CLOSING[mark]:
            return -1
        around.pop()
        value = Located(items, (start, position), mark == "{")
    values.append(value)
    return position


def _scalar(match: re.Match[str]) -> Any:
    written = match[2]
    return _text(written) if written is not None else json.loads(match[3])


def _text(written: str) -> str:
    return written[1:-1] if "\\" not in written else str(json.loads(written))
