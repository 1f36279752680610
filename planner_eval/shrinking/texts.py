"""Steps over texts that are no plan: what stands in brackets, lines, words and characters cut out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from planner_eval.base.named import NamedTuple
from planner_eval.shrinking.calls import without
from planner_eval.shrinking.pairs import Pair

Cut: TypeAlias = tuple[int, int, int]
"""A side, and the characters [start, end) of its text that are cut out."""

_PIECES = {"lines": r"[^\n]*\n|[^\n]+", "words": r"\s+|\w+|[^\w\s]", "characters": r"(?s:.)"}


_COMMA = re.compile(r"\s*,\s*")


class Group(NamedTuple):
    """What stands between two brackets, which are part of it.

    Args:
        start: Where it starts.
        end: Where it ends, with the comma behind it.
        parent: Where the group starts that it lies in; -1 for none.
    """

    start: int
    end: int
    parent: int


def groups(text: str) -> list[Group]:
    """The groups of a text, those that close first first; brackets that have no partner are passed over.

    >>> [text[one.start : one.end] for text in ["f([1], {2})"] for one in groups(text)]
    ['[1], ', '{2}', '([1], {2})']
    """
    found, opened = [], [-1]
    for mark in re.finditer(r"[](){}[]", text):
        if mark[0] in "([{":
            opened.append(mark.start())
        elif len(opened) > 1:
            start = opened.pop()
            comma = _COMMA.match(text, mark.end())
            found.append(Group(start, comma.end() if comma else mark.end(), opened[-1]))
    return found


def group_cuts(pair: Pair, _partners: Sequence[tuple[int, int]]) -> list[Cut]:
    """The groups that can be cut out of texts, outer ones first."""
    return [
        (number, one.start, one.end)
        for number, side in enumerate(pair)
        if isinstance(side, str)
        for one in reversed(groups(side))
    ]


class Shared(NamedTuple):
    """A group of the prediction's text, and the call of gold that stands where it stands among its like."""

    start: int
    end: int
    call: int


def shared_cuts(pair: Pair, _partners: Sequence[tuple[int, int]]) -> list[Shared]:
    """The groups side by side that are as many as gold has calls, each with its call; last ones first."""
    pred, gold = pair
    if not isinstance(pred, str) or isinstance(gold, str) or not gold.calls:
        return []
    among: dict[int, list[Group]] = {}
    for one in groups(pred):
        among.setdefault(one.parent, []).append(one)
    return [
        Shared(one.start, one.end, call)
        for like in among.values()
        if len(like) == len(gold.calls)
        for call, one in reversed([*enumerate(like)])
    ]


def shared_cut(pair: Pair, units: Iterable[Shared]) -> Pair:
    """The pair without some groups and their calls, and what needs those."""
    units = list(units)
    pair = without(pair, [(None, one.call) for one in units], cut=False)
    return cut(pair, [(0, one.start, one.end) for one in units])


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
    ends = [0, 0]
    kept: list[list[str]] = [[], []]
    for number, start, end in sorted(units):  # of pieces one within another the outer one goes
        side = sides[number]
        if isinstance(side, str) and end > ends[number]:
            kept[number].append(side[ends[number] : start])
            ends[number] = end
    for number, side in enumerate(pair):
        if isinstance(side, str):
            sides[number] = "".join([*kept[number], side[ends[number] :]])
    return Pair(*sides)
