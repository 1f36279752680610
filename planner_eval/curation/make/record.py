"""A made record, and the card of what was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.tables import Style
from planner_eval.base.text import format_count
from planner_eval.catalogs.catalog import Tool
from planner_eval.curation.make.skeletons import BOUNDED_FIGURES, MAX_CALLS, Skeleton, Wishes, figures
from planner_eval.plan.graph import producers
from planner_eval.plan.model import Plan

# ----------------------------------------------------------------------
# A made record: a gold plan, the tools on offer, what it comes to, and a place for its query.
_NO_NOTES: Mapping[str, Any] = MappingProxyType({})


@fast_frozen
class Made:
    """One made record.

    Args:
        id: Unique among those made together.
        plan: The gold plan.
        tools: The tools on offer: those that it calls, and distractors.
        query: What a user asks that the plan answers; "" until somebody writes it.
        answer: What running the plan came to: the values that it names, else that of the one call that gives
            it; None where nothing was run, or where several calls give it and none is named.
        notes: What else is known of it: seed, pattern, wanted, world, scope.
    """

    id: str
    plan: Plan
    tools: tuple[Tool, ...]
    query: str = ""
    answer: Any = None
    notes: Mapping[str, Any] = field(default_factory=lambda: _NO_NOTES)


# ----------------------------------------------------------------------
# The card of what was made: beside each figure what was wanted of it, and what was refused on the way.
class Figure(NamedTuple):
    """One figure over all that was made.

    Args:
        name: One of :data:`.wishes.BOUNDS`.
        wanted: The range that was wanted, in words.
        least: The smallest that was made; None where nothing was.
        mean: The average.
        most: The largest.
    """

    name: str
    wanted: str
    least: int | None
    mean: float | None
    most: int | None


@dataclass(frozen=True)
class Card:
    """What was made beside what was wanted.

    Args:
        wanted: How many plans.
        made: How many there are.
        figures: The structure.
        tools: How many tools the plans call, of so many that there are.
        joins: How many pairs of tools they join, of so many that could be.
        shapes: How many shapes they have.
        attempts: How many were drawn.
        refused: Why those that were not kept were not, the commonest reason first.
        filled: How many wishes of a file they fill, of so many; None without one.
        executed: Whether they were run.
    """

    wanted: int
    made: int
    figures: tuple[Figure, ...]
    tools: tuple[int, int]
    joins: tuple[int, int]
    shapes: int
    attempts: int
    refused: Mapping[str, int]
    filled: tuple[int, int] | None
    executed: bool

    def to_dict(self) -> dict[str, Any]:
        """The card as JSON data."""
        return {**asdict(self), "figures": [figure._asdict() for figure in self.figures]}

    def document(self, style: Style) -> Iterator[str]:
        """The card for people."""
        rows = [
            {
                "figure": figure.name,
                "wanted": figure.wanted,
                "least": figure.least,
                "mean": figure.mean and round(figure.mean, 2),
                "most": figure.most,
            }
            for figure in self.figures
        ]
        refusals = ", ".join(f"{why} {count:,}" for why, count in self.refused.items())
        lines = [
            f"{self.made:,} of {format_count(self.wanted, 'plan')} made"
            + (", each of them run" if self.executed and self.made else ""),
            f"tools called: {self.tools[0]:,} of {self.tools[1]:,}; "
            f"pairs of tools joined: {self.joins[0]:,} of {self.joins[1]:,}; shapes: {self.shapes:,}",
            *([f"gaps covered: {self.filled[0]:,} of {self.filled[1]:,}"] if self.filled else []),
            f"drawn: {self.attempts:,}" + (f"; not kept: {refusals}" if refusals else ""),
        ]
        yield "\n\n".join([style.table(rows), style.lines(lines)])


def skeleton(plan: Plan) -> Skeleton:
    """Which call of a plan needs which."""
    return tuple(map(tuple, producers(plan)))


def figures_of(tasks: Sequence[Made], wishes: Wishes, *, given: bool = False) -> tuple[Figure, ...]:
    """The structure of what was made, beside what was wanted.

    Args:
        tasks: The plans that were made.
        wishes: What was wanted.
        given: Whether given plans said the structure instead.
    """
    structures = [figures(skeleton(task.plan)) for task in tasks]
    wished = wanted_figures(wishes)
    rows = []
    for name in BOUNDED_FIGURES:
        values = [structure[name] for structure in structures]
        rows.append(
            Figure(
                name,
                "as given" if given else wished.get(name, "any"),
                min(values, default=None),
                sum(values) / len(values) if values else None,
                max(values, default=None),
            )
        )
    return tuple(rows)


def wanted_figures(wishes: Wishes) -> dict[str, str]:
    """The figures that are bounded at all, each with its bound in words.

    >>> from planner_eval.curation.make.skeletons import wishes_of
    >>> wanted_figures(wishes_of(depth=3))
    {'calls': '3..5', 'depth': '3'}
    """
    return {
        name: str(bound)
        for name, bound in wishes.bounds.items()
        if bound.low > (name != "reuse") or bound.high < MAX_CALLS
    }
