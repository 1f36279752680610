"""What a dialect is, and the limits that every reader keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.errors import LimitError
from planner_eval.link import MAX_DIGITS
from planner_eval.model import Plan, RawPlan

if TYPE_CHECKING:
    from planner_eval.dialects.jsontext import Places


class Limits(NamedTuple):
    """How large a text may be; what exceeds a limit is refused before any work is done on it.

    Args:
        chars: Characters of one text.
        depth: Nesting of lists and objects.
        calls: Calls of one plan.
    """

    chars: int = 16_000_000
    depth: int = 200
    calls: int = 100_000


DEFAULT_LIMITS = Limits()


class Dialect(NamedTuple):
    """One way to write plans.

    Args:
        name: What ``--from`` and ``--to`` take.
        title: One line for a person.
        example: A short plan in this dialect, of our own writing.
        read: Reads a text, or raises ParseError.
        write: Writes a plan, or raises WriteError; None where the dialect is only read.
        read_data: Reads structure that is JSON already, given the places of its objects where they
            are known; None for dialects that are text.
        typed: Whether values say their types; where they do not, a tool schema gives them.
    """

    name: str
    title: str
    example: str
    read: Callable[[str, Limits], RawPlan]
    write: Callable[[Plan], str] | None = None
    read_data: Callable[[Any, Limits, Places | None], RawPlan] | None = None
    typed: bool = True


AFTER = ""
"""The argument that holds a dependency which a notation states and no argument says: an edge of a
list of links, for instance. Its value is a reference, or a list of them."""


_LONG = r"(?<![\w.])(0[xX][\da-fA-F_]{3000}|0[oO]?[0-7_]{4000}|0[bB][01_]{14000}|\d[\d_]{4000})"
_LONG_INTEGER = re.compile(_LONG)
_LONG_UNQUOTED = re.compile(rf"\"(?:[^\"\\]++|\\.)*+\"|{_LONG}", re.S)


def long_integers(text: str) -> bool:
    """Whether a text holds an integer near the limit or past it, in quotes or not.

    >>> long_integers("f(a=0x" + "f" * 4000 + ")"), long_integers("f(a=0xff)")
    (True, False)
    """
    return _LONG_INTEGER.search(text) is not None


def refuse_integer(text: str, at: int | None = None) -> LimitError:
    """The error of a text with an integer of more digits than a plan may hold.

    Args:
        text: The text.
        at: The integer's place; when left out, that of the first long one outside of quotes.
    """
    reason = f"found an integer of more than {MAX_DIGITS:,} digits, which is the limit; quoted, it is a text"
    if at is None:
        at = next((match.start(1) for match in _LONG_UNQUOTED.finditer(text) if match[1]), 0)
    return LimitError(reason, text=text, offset=at)


def check_calls(count: int, limits: Limits) -> None:
    """Refuse a plan of too many calls.

    Raises:
        LimitError: there are more calls than ``limits.calls``.
    """
    if count > limits.calls:
        raise LimitError(f"the plan has {count:,} calls, more than the limit of {limits.calls:,}")
