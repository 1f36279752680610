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
    closed, opened = [], [-1]
    for mark in re.finditer(r"[](){}[]", text):
        if mark[0] in "([{":
            opened.append(mark.start())
        elif len(opened) > 1:
            start = opened.pop()
            comma = _COMMA.match(text, mark.end())
            closed.append(Group(start, comma.end() if comma else mark.end(), opened[-1]))
    return closed


def group_cuts(pair: Pair, _partners: Sequence[tuple[int, int]]) -> list[Cut]:
    """The groups that can be cut out of texts, outer ones first."""
    return [
        (number, group.start, group.end)
        for number, text in enumerate(pair)
        if isinstance(text, str)
        for group in reversed(groups(text))
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
    groups_by_parent: dict[int, list[Group]] = {}
    for group in groups(pred):
        groups_by_parent.setdefault(group.parent, []).append(group)
    return [
        Shared(group.start, group.end, call)
        for siblings in groups_by_parent.values()
        if len(siblings) == len(gold.calls)
        for call, group in reversed([*enumerate(siblings)])
    ]


def shared_cut(pair: Pair, units: Iterable[Shared]) -> Pair:
    """The pair without some groups and their calls, and what needs those."""
    units = list(units)
    pair = without(pair, [(None, unit.call) for unit in units], cut=False)
    return cut(pair, [(0, unit.start, unit.end) for unit in units])


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
        for number, text in enumerate(pair)
        if isinstance(text, str)
        for piece in re.finditer(_PIECES[of], text)
    ]


def cut(pair: Pair, units: Iterable[Cut]) -> Pair:
    """The pair without some pieces of its texts."""
    texts = list(pair)
    ends = [0, 0]
    retained: list[list[str]] = [[], []]
    for number, start, end in sorted(units):  # of pieces one within another the outer one goes
        text = texts[number]
        if isinstance(text, str) and end > ends[number]:
            retained[number].append(text[ends[number] : start])
            ends[number] = end
    for number, text in enumerate(pair):
        if isinstance(text, str):
            texts[number] = "".join([*retained[number], text[ends[number] :]])
    return Pair(*texts)
