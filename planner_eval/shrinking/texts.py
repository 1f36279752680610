"""Steps over texts that are no plan: lines, words and characters cut out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from planner_eval.shrinking.pairs import Pair

Cut: TypeAlias = tuple[int, int, int]
"""A side, and the characters [start, end) of its text that are cut out."""

_PIECES = {"lines": r"[^\n]*\n|[^\n]+", "words": r"\s+|\w+|[^\w\s]", "characters": r"(?s:.)"}


def cuts(pair: Pair, _partners: Sequence[tuple[int, int]], *, of: str) -> list[Cut]:
    r"""What can be cut out of texts.

    Args:
        pair: The pair.
        of: ``"lines"``, ``"words"`` or ``"characters"``.

    >>> cuts(Pair("f(\n", ""), (), of="words")
    [(0, 0, 1), (0, 1, 2), (0, 2, 3)]
    """
    return [
        (number, piece.start(), piece.end())
        for number, side in enumerate(pair)
        if isinstance(side, str)
        for piece in re.finditer(_PIECES[of], side)
    ]


def cut(pair: Pair, units: Iterable[Cut]) -> Pair:
    """The pair without some pieces of its texts."""
    sides = list(pair)
    for number, start, end in sorted(units, reverse=True):
        side = sides[number]
        if isinstance(side, str):
            sides[number] = side[:start] + side[end:]
    return Pair(*sides)
