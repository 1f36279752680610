"""JSON values with their places, and what is wrong with other texts, without the grammar: as it has them.

The terminals are those of grammars/json.lark; a test holds the two readings equal.
"""

from __future__ import annotations

import json
import re
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.grammar import refusal
from planner_eval.base.jsontext import WORDS, Located, Member, parse_located

_STRING = r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.])"
_WORD = r"(?:true|false|null|NaN|-?Infinity)\b"
_VALUE = re.compile(
    rf"[ \t\r\n]*+(?:([\[{{])|({_STRING})"
    rf"|({_NUMBER}|{_WORD}))"
)
_KEY = re.compile(rf"[ \t\r\n]*+({_STRING})[ \t\r\n]*+:")
_NEXT = re.compile(r"[ \t\r\n]*+([,\]}])")
_EMPTY = {"[": re.compile(r"[ \t\r\n]*+\]"), "{": re.compile(r"[ \t\r\n]*+\}")}
_CLOSING = {"[": "]", "{": "}"}


def with_places(text: str) -> list[Located]:
    """What :func:`planner_eval.base.jsontext.parse_located` gives; the grammar reads what is no JSON.

    Raises:
        ParseError: the text is no JSON; says why.

    >>> with_places('[1, "a"]')[0].data[1].span
    (4, 7)
    """
    found = scanned(text)
    return parse_located(text) if found is None else found


def scanned(text: str) -> list[Located] | None:
    """The JSON values of a text with the place of every value; None of a text that is no JSON.

    >>> scanned('{"a": [1]}')[0].data[0].value.data[0].span, scanned("[1,]")
    ((7, 8), None)
    """
    values: list[Located] = []
    around: list[tuple[str, int, list[Any], str]] = []  # mark, start, items, key of what is read in it
    at, end = 0, len(text.rstrip(" \t\r\n"))
    while True:
        found = _VALUE.match(text, at)
        if found is None:
            return None
        at = found.end()
        mark = found[1]
        if mark is None:
            value = Located(_scalar(found), found.span(found.lastindex or 0))
        else:
            empty = _EMPTY[mark].match(text, at)
            if empty is None:
                around.append((mark, found.start(1), [], ""))
                if mark == "{" and (at := _keyed(text, at, around)) < 0:
                    return None
                continue
            at = empty.end()
            value = Located([], (found.start(1), at), mark == "{")
        at = _ended(text, at, value, around, values)
        if at < 0:
            return None
        if not around and at >= end:
            return values


def _keyed(text: str, at: int, around: list[tuple[str, int, list[Any], str]]) -> int:
    """Read the key of the next member; the place after it, or -1 where there is none."""
    key = _KEY.match(text, at)
    if key is None:
        return -1
    mark, start, items, _ = around[-1]
    around[-1] = mark, start, items, _text(key[1])
    return key.end()


def _ended(
    text: str, at: int, value: Located, around: list[tuple[str, int, list[Any], str]], values: list[Located]
) -> int:
    """Put a whole value where it belongs, and end what ends after it; the next one's place, or -1."""
    while around:
        mark, start, items, key = around[-1]
        items.append(Member(key, value) if mark == "{" else value)
        following = _NEXT.match(text, at)
        if following is None:
            return -1
        at = following.end()
        if following[1] == ",":
            return _keyed(text, at, around) if mark == "{" else at
        if following[1] != _CLOSING[mark]:
            return -1
        around.pop()
        value = Located(items, (start, at), mark == "{")
    values.append(value)
    return at


def _scalar(found: re.Match[str]) -> Any:
    written = found[2]
    return _text(written) if written is not None else json.loads(found[3])


def _text(written: str) -> str:
    return written[1:-1] if "\\" not in written else str(json.loads(written))


# ---------------------------------------------------------------- what is no JSON
_BEGINS = frozenset({"LBRACE", "LSQB", "STRING", "NUMBER", "WORD"})
_WORDS_OF_MARKS = {"{": "LBRACE", "[": "LSQB", "}": "RBRACE", "]": "RSQB", ",": "COMMA", ":": "COLON"}
_TOKEN = re.compile(rf"(?P<STRING>{_STRING})|(?P<NUMBER>{_NUMBER})|(?P<WORD>{_WORD})|(?P<MARK>[\[\]{{}},:])")
_BLANK = re.compile(r"[ \t\r\n]*+")
_AFTER = _BEGINS | {"COMMA", "RSQB", "RBRACE"}
"""What may follow a value somewhere: the grammar's parser tells only by a token which of them may here."""


def refused(text: str, dialect: str) -> ParseError | None:
    """The error of a text that is no JSON, as the grammar has it; None where it has none.

    To load the grammar takes a third of a small command's time.

    Args:
        text: The text; without numbers that are too long, which the grammar refuses in their turn.
        dialect: For the error.

    >>> refused("[1,]", "json").offset, refused("[1]", "json")
    (3, None)
    """
    around: list[str] = []
    wanted = _BEGINS
    at, keyed, ended = 0, False, False
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # nothing matches, too
        token = _TOKEN.match(text, at)
        if token is None:
            if at == len(text) and ended and not around:
                return None
            expected = _AFTER if ended and at < len(text) else wanted
            return refusal(text, at, expected, WORDS, dialect)
        kind = _WORDS_OF_MARKS.get(token[0]) or str(token.lastgroup)
        if kind not in wanted:
            return refusal(text, at, wanted, WORDS, dialect)
        at = token.end()
        wanted, keyed, ended = _following(kind, around, keyed=keyed)


def _following(kind: str, around: list[str], *, keyed: bool) -> tuple[frozenset[str], bool, bool]:
    """What may follow a token, whether the key of its member is known, and whether it ends a value."""
    if kind in ("LBRACE", "LSQB"):
        around.append(kind)
        return (_KEY_OR_END, False, False) if kind == "LBRACE" else (_BEGINS | {"RSQB"}, False, False)
    inside = around[-1] if around else ""
    if kind == "COLON":
        return _BEGINS, True, False
    if kind == "COMMA":
        return (_KEYS, False, False) if inside == "LBRACE" else (_BEGINS, False, False)
    if kind == "STRING" and inside == "LBRACE" and not keyed:
        return _COLON, False, False
    if kind in ("RBRACE", "RSQB"):
        around.pop()
    if not around:
        return _BEGINS, False, True
    return _ENDS[around[-1]], around[-1] == "LBRACE", True


_KEYS, _COLON, _KEY_OR_END = frozenset({"STRING"}), frozenset({"COLON"}), frozenset({"STRING", "RBRACE"})
_ENDS = {"LBRACE": frozenset({"COMMA", "RBRACE"}), "LSQB": frozenset({"COMMA", "RSQB"})}
