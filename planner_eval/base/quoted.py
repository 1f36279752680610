"""Looking for marks and quoted texts in linear time, though a quote may never be closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from planner_eval.base.named import NamedTuple


class Branch(NamedTuple):
    """One alternative of a pattern.

    Args:
        name: Of its group.
        regex: What it matches; a text in quotes has a possessive inside that passes over escapes.
        quote: What it begins with, where it is a text in quotes: a character, or a class of them.
    """

    name: str
    regex: str
    quote: str = ""


TEXT = Branch("text", r'"(?:[^"\\]++|\\.)*+"', '"')
"""A text of JSON."""


def matches(
    branches: tuple[Branch, ...], text: str, start: int = 0, stop: int | None = None
) -> Iterator[re.Match[str]]:
    r"""The matches of the first branch that fits, from left to right; its name is the last group's.

    Where a quote is not closed, no later one of its kind is: each stands behind a backslash, or closes
    nothing, so that what it opens goes on as far. Its branch is tried no more, for every quote would cost
    the rest of the text.

    Args:
        branches: The alternatives.
        text: The text.
        start: Where to begin.
        stop: Where to stop; the end of the text when left out.

    >>> brackets = (TEXT, Branch("mark", r"[\[\]]"))
    >>> [match.group() for match in matches(brackets, '["]", "[', 0)]
    ['[', '"]"', '[']
    """
    stop = len(text) if stop is None else stop
    off: frozenset[str] = frozenset()
    resumed = True
    while resumed:
        resumed = False
        for match in compiled(branches, off).finditer(text, start, stop):
            if match.lastgroup is None:  # a quote that is not closed
                off |= {branch.name for branch in branches if _opens(branch, match.group())}
                start, resumed = match.end(), True
                break
            yield match


def _opens(branch: Branch, mark: str) -> bool:
    return bool(branch.quote) and mark in branch.quote


@lru_cache(64)
def compiled(branches: tuple[Branch, ...], off: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """The pattern of some branches but those that are off; a quote that is not closed has no group."""
    on = [branch for branch in branches if branch.name not in off]
    groups = [f"(?P<{branch.name}>{branch.regex})" for branch in on]
    return re.compile(
        "|".join([*groups, *(f"[{branch.quote}]" for branch in on if branch.quote)]) or "(?!)", re.S
    )
