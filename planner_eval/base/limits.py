"""The limits that every reader keeps, and how a place in a text is named."""

from __future__ import annotations

import re
from typing import TypeAlias

from planner_eval.base.errors import LimitError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JSON_STRING, Branch, find_matches

Span: TypeAlias = tuple[int, int]
"""Characters [start, end) of the text a plan was read from."""

MAX_DIGITS = 4_300
"""How many decimal digits an integer may have: Python writes no longer one, in no notation, so a plan
that held one could be neither printed nor compared."""


MAX_FILE_BYTES = 4_000_000_000
"""Bytes of one file."""

MAX_STREAM_BYTES = 1_000_000_000
"""Bytes of a pipe or a device, and of what a packed file unpacks to."""


class Limits(NamedTuple):
    """How large a text may be; what exceeds a limit is refused before any work is done on it.

    Args:
        chars: Characters of one text.
        depth: Nesting of lists and objects.
        calls: Calls of one plan.
        explained: Whether a refusal says what was found and what was expected, for which a grammar reads the
            text once more; who only asks whether a text can be read does without.
    """

    chars: int = 16_000_000
    depth: int = 200
    calls: int = 100_000
    explained: bool = True


DEFAULT_LIMITS = Limits()
UNEXPLAINED_LIMITS = Limits(explained=False)
_LONG_INTEGER = r"(?<![\w.])(0[xX][\da-fA-F_]{3000}|0[oO]?[0-7_]{4000}|0[bB][01_]{14000}|\d[\d_]{4000})"
_MIN_LONG_CHARS = 3_000
"""Characters that the shortest of these has more than: most texts are shorter, and need no look."""
_LONG_INTEGER_BRANCHES = (JSON_STRING, Branch("long", _LONG_INTEGER))


def has_long_integer(text: str) -> bool:
    """Whether a text holds an integer near the limit or past it, in quotes or not.

    >>> has_long_integer("f(a=0x" + "f" * 4000 + ")"), has_long_integer("f(a=0xff)")
    (True, False)
    """
    return len(text) > _MIN_LONG_CHARS and re.search(_LONG_INTEGER, text) is not None


def long_integer_error(text: str, offset: int | None = None) -> LimitError:
    """The error of a text with an integer of more digits than a plan may hold.

    Args:
        text: The text.
        offset: The integer's place; when left out, that of the first long one outside of quotes.
    """
    reason = f"found an integer of more than {MAX_DIGITS:,} digits, which is the limit; quote it to keep it"
    if offset is None:
        offset = next(
            (m.start() for m in find_matches(_LONG_INTEGER_BRANCHES, text) if m.lastgroup == "long"), 0
        )
    return LimitError(reason, text=text, offset=offset)


def too_many_calls_error(limits: Limits, text: str = "") -> LimitError:
    """The error of a plan of too many calls, where the rest is not counted.

    Args:
        limits: Bounds on calls.
        text: The text that makes them.
    """
    return LimitError(f"the plan has more calls than the limit of {limits.calls:,}", text=text, offset=0)


def check_calls(count: int, limits: Limits) -> None:
    """Refuse a plan of too many calls.

    Raises:
        LimitError: there are more calls than ``limits.calls``.
    """
    if count > limits.calls:
        raise LimitError(f"the plan has {count:,} calls, more than the limit of {limits.calls:,}")
