"""What the shapes between tokens share: finding tokens, reading JSON between them, located errors."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.json_faults import find_json_error
from planner_eval.base.json_text import LARK_CHARS, TERMINAL_WORDS, DecodedValue, check_depth, decode
from planner_eval.base.limits import Limits, long_integer_error
from planner_eval.reading.dialects.table import Wrapper, token_regex

TERMINAL_DESCRIPTIONS = TERMINAL_WORDS | {
    "OPEN": "the opening token",
    "CLOSE": "the closing token",
    "HEAD": "the opening token",
    "MIDDLE": "the token after the name",
    "TAIL": "the closing token",
    "NAME": "a tool's name",
}


@cache
def token_pattern(texts: tuple[str, ...], suffix: str = "") -> re.Pattern[str]:
    """The regular expression for any of some token texts, compiled once."""
    return re.compile(token_regex(texts) + suffix if texts else suffix)


def prose_regex(tokens: tuple[str, ...]) -> str:
    """A regular expression for text up to the next of some opening tokens; linear."""
    openers = token_regex(tokens)
    first = "".join(sorted({re.escape(text.lstrip()[0]) for text in tokens if text.strip()}))
    return rf"(?:[^{first}]++|(?!{openers})[{first}])++"


def read_json_value(text: str, offset: int, limits: Limits) -> DecodedValue:
    """One JSON value and the place after it; see :func:`planner_eval.base.json_text.decode`.

    Raises:
        ValueError: it cannot be read, and the grammar should say why.
        LimitError: it nests too deeply.
    """
    try:
        return decode(text, offset)
    except RecursionError:
        check_depth(text, limits)
        raise LimitError(f"the text nests deeper than {limits.depth} levels", text=text) from None


def explain(
    row: Wrapper,
    text: str,
    error: ValueError,
    limits: Limits,
    terminals: dict[str, str],
    start: int,
    value: int | None = None,
) -> ParseError:
    """The located error of a framed text that the fast path refused.

    Args:
        row: Its shape names the grammar.
        text: The whole text.
        error: What the fast path said, for texts too long for the grammar.
        limits: Bounds on nesting.
        terminals: The row's tokens as regular expressions.
        start: Where the broken call's opening token is; what stands before it was read.
        value: Where the JSON value begins that is broken, where one is: what is wrong in it needs no grammar.
    """
    if not isinstance(error, json.JSONDecodeError):  # an integer of more digits than Python converts
        return long_integer_error(text)
    offset, message = error.pos, error.msg
    reason = f"{message[0].lower()}{message[1:]}".removesuffix(" at").removesuffix(" starting")
    try:
        check_depth(text, limits)
        if len(text) - start <= LARK_CHARS and not reason.startswith(("unterminated", "invalid")):
            if (
                value is not None
                and (refusal := find_json_error(text, TERMINAL_DESCRIPTIONS, row.name, value)) is not None
            ):
                return refusal
            run_row_grammar(row, text[start:], terminals)
    except LimitError as limit:
        return limit
    except ParseError as located:
        return ParseError(located.reason, text=text, offset=start + located.offset, dialect=row.name)
    return ParseError(reason, text=text, offset=offset, dialect=row.name)


def run_row_grammar(row: Wrapper, text: str, terminals: dict[str, str], *, placed: bool = False) -> Any:
    """Read by the row's grammar: the reference for the fast path.

    Args:
        row: Its shape names the grammar.
        text: The text.
        terminals: The row's tokens as regular expressions.
        placed: Give the places of named calls too.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    from planner_eval.reading.dialects.notations.framed_grammar import FramedTransformer, PlacedTransformer

    transformer = PlacedTransformer if placed else FramedTransformer
    parser = grammar.load(row.shape, transformer, tuple(terminals.items()))
    return grammar.run(parser, text, TERMINAL_DESCRIPTIONS, row.name)
