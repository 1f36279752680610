"""What is wrong with a text that is no JSON, as the grammar has it, without loading the grammar.

The terminals are those of grammars/json.lark; a test holds what is said equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner_eval.base.errors import ParseError
from planner_eval.base.grammar import syntax_error

STRING = r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.])"
WORD = r"(?:true|false|null|NaN|-?Infinity)\b"
_VALUE_STARTS = frozenset({"LBRACE", "LSQB", "STRING", "NUMBER", "WORD"})
_MARK_TERMINALS = {"{": "LBRACE", "[": "LSQB", "}": "RBRACE", "]": "RSQB", ",": "COMMA", ":": "COLON"}
_TOKEN = re.compile(rf"(?P<STRING>{STRING})|(?P<NUMBER>{NUMBER})|(?P<WORD>{WORD})|(?P<MARK>[\[\]{{}},:])")
_WHITESPACE = re.compile(r"[ \t\r\n]*+")
_AFTER_ANY_VALUE = _VALUE_STARTS | {"COMMA", "RSQB", "RBRACE"}
"""What may follow a value somewhere: the grammar's parser tells only by a token which of them may here."""


def find_json_error(
    text: str, words: Mapping[str, str], dialect: str, start: int | None = None
) -> ParseError | None:
    """The error of a text that is no JSON, as the grammar has it; None where it has none.

    To load the grammar takes a third of a small command's time.

    Args:
        text: The text; without numbers that are too long, which the grammar refuses in their turn.
        words: Each terminal's name in human words.
        dialect: For the error.
        start: Where the one value begins that is looked at, of a text that may go on with anything.

    >>> find_json_error("[1,]", {"NUMBER": "a number"}, "json").reason, find_json_error("[1]", {}, "json")
    ("found ']', expected a number", None)
    """
    around: list[str] = []
    expected_kinds = _VALUE_STARTS
    position, keyed, ended = start or 0, False, False
    while start is None or around or not ended:
        position = _WHITESPACE.match(text, position).end()  # type: ignore[union-attr]  # nothing matches, too
        token = _TOKEN.match(text, position)
        if token is None:
            if position == len(text) and ended and not around:
                return None
            expected = (
                _AFTER_ANY_VALUE if ended and position < len(text) and start is None else expected_kinds
            )
            return syntax_error(text, position, expected, words, dialect)
        kind = _MARK_TERMINALS.get(token[0]) or str(token.lastgroup)
        if kind not in expected_kinds:
            return syntax_error(text, position, expected_kinds, words, dialect)
        position = token.end()
        expected_kinds, keyed, ended = _expected_after(kind, around, keyed=keyed)
    return None


def _expected_after(kind: str, around: list[str], *, keyed: bool) -> tuple[frozenset[str], bool, bool]:
    """What may follow a token, whether the key of its member is known, and whether it ends a value."""
    if kind in ("LBRACE", "LSQB"):
        around.append(kind)
        return (_KEY_OR_END, False, False) if kind == "LBRACE" else (_VALUE_STARTS | {"RSQB"}, False, False)
    inside = around[-1] if around else ""
    if kind == "COLON":
        return _VALUE_STARTS, True, False
    if kind == "COMMA":
        return (_KEYS, False, False) if inside == "LBRACE" else (_VALUE_STARTS, False, False)
    if kind == "STRING" and inside == "LBRACE" and not keyed:
        return _COLON, False, False
    if kind in ("RBRACE", "RSQB"):
        around.pop()
    if not around:
        return _VALUE_STARTS, False, True
    return _AFTER_VALUE_IN[around[-1]], around[-1] == "LBRACE", True


_KEYS, _COLON, _KEY_OR_END = frozenset({"STRING"}), frozenset({"COLON"}), frozenset({"STRING", "RBRACE"})
_AFTER_VALUE_IN = {"LBRACE": frozenset({"COMMA", "RBRACE"}), "LSQB": frozenset({"COMMA", "RSQB"})}
