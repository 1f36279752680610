"""Reports: figures summed over scored pairs, how sure they are, breakdowns, and how they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.metrics.counts import Counts, Tally
from planner_eval.records.rows import JUDGED, STATES
from planner_eval.scoring.intervals import Interval, intervals
from planner_eval.scoring.scored import Scored


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric over many pairs.

    Args:
        name: The metric.
        tally: The sum of its counts.
        macro: The mean of the pairs' own figures, over those that have one.
        n: Pairs that have a figure.
        interval: 95 %, of the figure from summed counts.
    """

    name: str
    tally: Tally | None
    macro: float | None
    n: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        """The figure from summed counts (micro): F1 or the share."""
        return self.tally.value if self.tally is not None else None


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one set of predictions.

    Args:
        figures: One a metric.
        rows: The scored pairs, none left out.
        breakdown: Key → value → figures.
        signature: How the figures were made, in one line.
        read: Which field was read as the answers, which as gold, in words.
        lacks: What no gold plan has, of :data:`planner_eval.scoring.shown.HAS`.
    """

    figures: tuple[Estimate, ...]
    rows: tuple[Scored, ...]
    breakdown: Mapping[str, Mapping[str, tuple[Estimate, ...]]]
    signature: str
    read: Mapping[str, str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """The pairs that every denominator counts: those with a readable gold plan."""
        return sum(row.state in JUDGED for row in self.rows)

    def states(self) -> dict[str, int]:
        """How many pairs are in which state."""
        found = Counter(row.state for row in self.rows)
        return {state: found[state] for state in STATES if found[state]}

    def codes(self) -> dict[str, int]:
        """How often each code is a root cause, the commonest first."""
        found = Counter(code for row in self.rows for code in row.codes)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def figure(self, name: str) -> float | None:
        """A figure by its name: ``calls``, or ``calls.precision``, ``calls.recall``, ``calls.macro``.

        Raises:
            InputError: the report has no such figure.
        """
        metric, _, part = name.partition(".")
        for figure in self.figures:
            if figure.name == metric:
                if part == "macro":
                    return figure.macro
                if part in ("", "f1", "value"):
                    return figure.value
                if part in ("precision", "recall") and isinstance(figure.tally, Counts):
                    return figure.tally.precision if part == "precision" else figure.tally.recall
        raise InputError(
            f"the report has no figure {name!r}; it has {', '.join(f.name for f in self.figures)}"
        )


def signature(policy: str, *, seed: int, **parts: str) -> str:
    """How figures were made, in one line, so that two of them can be told apart.

    >>> signature("default", seed=0, pairing="id").partition("|")[2]
    ' policy default | pairing id | micro from summed counts, 95 % intervals, seed 0'
    """
    named = [f"{name} {value}" for name, value in (("policy", policy), *parts.items())]
    return " | ".join(
        [f"planeval {__version__}", *named, f"micro from summed counts, 95 % intervals, seed {seed}"]
    )


def make_report(
    rows: Iterable[Scored],
    metrics: Sequence[str],
    *,
    made: str,
    by: Sequence[str] = (),
    seed: int = 0,
    read: Mapping[str, str] | None = None,
    lacks: Sequence[str] = (),
) -> Report:
    """Sum up scored pairs.

    Args:
        rows: The pairs.
        metrics: The metrics they were scored with.
        made: The report's signature.
        by: What to break the figures down by, as the rows' keys.
        seed: Where the bootstrap's random numbers start.
        read: Which field was read as the answers, which as gold, in words.
        lacks: What no gold plan has.
    """
    kept = tuple(rows)
    judged = [row for row in kept if row.state in JUDGED]
    breakdown: dict[str, dict[str, tuple[Estimate, ...]]] = {}
    for key in by:
        breakdown[key] = {
            value: figures([row for row in judged if row.keys.get(key) == value], metrics, seed=seed)
            for value in group_values(judged, key)
        }
    return Report(figures(judged, metrics, seed=seed), kept, breakdown, made, read or {}, tuple(lacks))


def group_values(rows: Iterable[Scored], key: str) -> list[str]:
    """What a key is in some rows, each once, numbers in their order."""
    return sorted({row.keys[key] for row in rows if key in row.keys}, key=_natural)


def _natural(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.isascii() and text.isdigit() else (1, 0, text)


def figures(rows: Sequence[Scored], metrics: Sequence[str], *, seed: int = 0) -> tuple[Estimate, ...]:
    """The figures of some pairs."""
    columns = {name: [row.tallies.get(name) for row in rows] for name in metrics}
    spread = intervals(columns, seed=seed)
    made = []
    for name, column in columns.items():
        values = [t.value for t in column if t is not None and t.value is not None]
        macro = sum(values) / len(values) if values else None
        made.append(Estimate(name, _sum(column), macro, len(values), spread[name]))
    return tuple(made)


def _sum(column: Iterable[Tally | None]) -> Tally | None:
    total: Any = None
    for tally in column:
        if tally is not None:
            total = tally if total is None else total + tally
    return total  # type: ignore[no-any-return]
