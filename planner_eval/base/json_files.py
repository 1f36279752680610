"""The JSON of files that hold no plans: catalogs, patches, data sets. One value, or one a line.

A plan's text may give a key twice, which its reader reports; here nothing could say so later, and one of the
two values would be lost in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from planner_eval.base.errors import LimitError, ParseError, PlanevalError
from planner_eval.base.json_text import decode, loads, skip_whitespace
from planner_eval.base.limits import DEFAULT_LIMITS

_TOKENS = r'"(?:[^"\\]++|\\.)*+"|[\[\]{}:]'


class JsonLine(NamedTuple):
    """One line of a file of JSON lines.

    Args:
        number: Counted from 1; empty lines count.
        data: Its value.
        error: Why there is none; says line and column in the file.
    """

    number: int
    data: Any
    error: ParseError | None = None


class _RepeatedKey(ValueError):
    """An object gives a key twice."""


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise _RepeatedKey
    return data


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated_keys)


def read_json(text: str) -> Any:
    r"""The one JSON value of a text.

    Args:
        text: The text of a file.

    Raises:
        ParseError: the text is no JSON, goes on after the value, or gives a key twice in one object.
        LimitError: it nests too deeply, or a number has too many digits.

    >>> read_json('{"a": [1]}')
    {'a': [1]}
    >>> read_json('{"a": 1,\n "a": 2}')
    Traceback (most recent call last):
    planner_eval.base.errors.ParseError: line 2, column 2: an object has the key "a" twice
     "a": 2}
     ^
    """
    try:
        value, end = _DECODER.raw_decode(text, skip_whitespace(text, 0))
    except _RepeatedKey:
        raise _repeated_key_error(text) from None
    except (ValueError, RecursionError):
        value, end = _raise_json_error(text), len(text)
    end = skip_whitespace(text, end)
    if end < len(text):
        remainder = json.dumps(text[end : end + 20], ensure_ascii=False)
        raise ParseError(f"not JSON: expected nothing more, found {remainder}", text=text, offset=end)
    return value


_FENCED = re.compile(r"(?s)\s*```\w*\s*(.*)```\s*")


def read_json_reply(text: str) -> Any:
    r"""The one JSON value of a model's reply, alone or in a fence; None of a reply that is anything else.

    Args:
        text: The reply.

    >>> read_json_reply("```json\n[1]\n```"), read_json_reply("it is [1]")
    ([1], None)
    """
    fenced = _FENCED.fullmatch(text)
    with suppress(PlanevalError):
        return read_json(fenced[1] if fenced else text)
    return None


def decode_field(text: str) -> Any:
    """The JSON value that a field's text is; keys that are given twice are kept, as in a plan.

    Raises:
        ValueError: it is no JSON, or nests too deeply.

    >>> decode_field(' [1] ')
    [1]
    """
    try:
        value, end = decode(text, skip_whitespace(text, 0))
    except RecursionError:
        raise ValueError("the data nests too deeply") from None
    if skip_whitespace(text, end) < len(text):
        raise ValueError(f"expected nothing more at column {end + 1}")
    return value


def read_json_lines(text: str) -> Iterator[JsonLine]:
    r"""The values of a text that holds one a line; empty lines are passed over.

    Args:
        text: The text of a file.

    >>> [(line.number, line.data, line.error is None) for line in read_json_lines("[1]\n\n{\n")]
    [(1, [1], True), (3, None, False)]
    """
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield JsonLine(number, read_json(line))
            except LimitError as error:
                yield JsonLine(number, None, LimitError(error.reason, text=text, offset=start + error.offset))
            except ParseError as error:
                yield JsonLine(number, None, ParseError(error.reason, text=text, offset=start + error.offset))
        start += len(line) + 1


def _raise_json_error(text: str) -> Any:
    """Say what is wrong with a text, and where."""
    try:
        return loads(text, DEFAULT_LIMITS)
    except LimitError:
        raise
    except ParseError as error:
        raise ParseError(f"not JSON: {error.reason}", text=text, offset=error.offset) from None


def _repeated_key_error(text: str) -> ParseError:
    """The error of a text in which an object gives a key twice: the first that does."""
    objects: list[set[str]] = []
    last, position = "", 0
    for match in re.finditer(_TOKENS, text, re.S):
        mark = match.group()
        if mark in "[{":
            objects.append(set())
        elif mark in "]}":
            objects.pop()
        elif mark != ":":
            last, position = mark, match.start()
        elif (key := json.loads(last)) in objects[-1]:
            break
        else:
            objects[-1].add(key)
    return ParseError(f"an object has the key {last} twice", text=text, offset=position, code="parse.shape")
