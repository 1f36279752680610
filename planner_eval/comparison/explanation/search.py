"""The cheapest explanation: which of many proposals are chosen, each in the place of several edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.prices import cost

MAX_EXACT = 12
"""Proposals that contend for the same edits up to which all consistent sets of them are looked at."""


class Proposal(NamedTuple):
    """Something that may be told in the place of several edits.

    Args:
        name: What it is, by which it has its price and its sentence.
        edits: The positions of the edits in whose place it is told.
        data: What its sentence needs.
    """

    name: str
    edits: tuple[int, ...]
    data: Any = None

    @property
    def saving(self) -> float:
        """How much cheaper it is than its edits, each of which costs 1."""
        return len(self.edits) - cost(self.name)


class Choice(NamedTuple):
    """The proposals that are chosen, and whether no other consistent set of them is cheaper.

    Args:
        proposals: They share no edit, and stand in the order in which they were proposed.
        exact: False where more than :data:`MAX_EXACT` contend, of which the best were chosen one by one.
    """

    proposals: tuple[Proposal, ...]
    exact: bool = True


def choose_cheapest(proposals: Iterable[Proposal]) -> Choice:
    """The consistent set of proposals that saves most; of equal ones that with the earlier proposals.

    >>> pairs = [Proposal("step moved", edits) for edits in ((0, 1), (1, 2), (2, 3))]
    >>> [proposal.edits for proposal in choose_cheapest(pairs).proposals]
    [(0, 1), (2, 3)]
    """
    useful = [proposal for proposal in proposals if proposal.saving > 0]
    if len(useful) < 2:
        return Choice(tuple(useful))
    chosen: list[int] = []
    exact = True
    for contenders in _group_by_shared_edits(useful):
        if len(contenders) <= MAX_EXACT:
            chosen += _choose_exactly(useful, contenders)
        else:
            exact = False
            chosen += _choose_one_by_one(useful, contenders)
    return Choice(tuple(useful[index] for index in sorted(chosen)), exact)


def _group_by_shared_edits(proposals: Sequence[Proposal]) -> list[list[int]]:
    """The proposals in groups that have no edit in common with one another."""
    groups: dict[int, list[int]] = {}
    group_of: dict[int, int] = {}
    for index, proposal in enumerate(proposals):
        merged = [index]
        for group in {group_of[edit] for edit in proposal.edits if edit in group_of}:
            merged = groups.pop(group) + merged
        groups[index] = merged
        group_of.update((edit, index) for member in merged for edit in proposals[member].edits)
    return [sorted(group) for group in groups.values()]


def _choose_exactly(proposals: Sequence[Proposal], contenders: list[int]) -> list[int]:
    """The best of all consistent sets, by trying each proposal with and without."""
    best: tuple[float, list[int]] = (0.0, [])

    def extend(position: int, saved: float, chosen: list[int], used: frozenset[int]) -> None:
        nonlocal best
        if saved > best[0] + _TOLERANCE:
            best = saved, chosen
        if position == len(contenders):
            return
        proposal = proposals[contenders[position]]
        if used.isdisjoint(proposal.edits):
            wider = used.union(proposal.edits)
            extend(position + 1, saved + proposal.saving, [*chosen, contenders[position]], wider)
        extend(position + 1, saved, chosen, used)

    extend(0, 0.0, [], frozenset())
    return best[1]


def _choose_one_by_one(proposals: Sequence[Proposal], contenders: list[int]) -> list[int]:
    """The proposals that save most, one after another."""
    chosen: list[int] = []
    used: set[int] = set()
    for index in sorted(contenders, key=lambda index: (-proposals[index].saving, index)):
        if used.isdisjoint(proposals[index].edits):
            used.update(proposals[index].edits)
            chosen.append(index)
    return chosen


_TOLERANCE = 1e-9
