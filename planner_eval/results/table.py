"""A table of systems and figures: intervals, the best of each column, and who is surely worse than it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner_eval.base.text import format_count
from planner_eval.comparison.metrics.facts import Tally
from planner_eval.results.columns import Column
from planner_eval.results.contrast import SIGNIFICANCE_LEVEL
from planner_eval.results.intervals import differences, holm, intervals


class ColumnHead(NamedTuple):
    """What a column shows.

    Args:
        group: What stands above several columns; "" for nothing.
        name: What stands above this one.
        figure: The figure's own name.
        unit: ``share``, ``percent`` or ``count``.
        digits: After the point.
        lower: Less is better.
    """

    group: str
    name: str
    figure: str
    unit: str = "share"
    digits: int = 3
    lower: bool = False

    @property
    def title(self) -> str:
        """Both heads."""
        return " ".join(filter(None, (self.group, self.name)))


class MeasuredFigure(NamedTuple):
    """One figure of one system.

    Args:
        value: The figure; None where there is none.
        tallies: Of each sample, by its id, what adds up to the figure; empty where nothing does.
        ids: The samples that it is of.
        scale: What it is shown times.
        why: Why there is no figure, or no interval.
        run: The run that it is of.
        clusters: In which cluster each sample lies, where they do.
    """

    value: float | None
    tallies: Mapping[str, Tally | None] = {}
    ids: frozenset[str] = frozenset()
    scale: float = 1
    why: str = ""
    run: str = ""
    clusters: Mapping[str, str] = {}


class Cell(NamedTuple):
    """One cell; its numbers are in the column's unit.

    Args:
        value: The figure; None where there is none.
        low: Lower end of its interval of 95 %; None without one.
        high: Upper end.
        n: How many samples it is of.
        best: No system has a better one.
        p: The probability, after Holm's correction, that it differs from the best so much by chance.
        run: The run that it is of.
        scale: What a share is shown times.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    best: bool
    p: float | None
    run: str
    scale: float = 1

    @property
    def worse(self) -> bool:
        """Whether it is surely worse than the best of its column."""
        return self.p is not None and self.p <= SIGNIFICANCE_LEVEL


class Row(NamedTuple):
    """One system."""

    name: str
    cells: tuple[Cell, ...]


class Table(NamedTuple):
    """Systems and their figures.

    Args:
        title: What stands above it; "" for nothing.
        heads: Its columns.
        rows: The systems.
        notes: What a reader should know, a sentence each: why figures are missing, how they were made.
        apart: Systems were not measured on the same samples, and so not compared.
    """

    title: str
    heads: tuple[ColumnHead, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    apart: bool

    @property
    def filled(self) -> int:
        """How many cells hold a figure."""
        return sum(cell.value is not None for row in self.rows for cell in row.cells)


def number_text(value: float, head: ColumnHead) -> str:
    """A figure as its column shows it."""
    return f"{value:.{head.digits}f}"


def make_table(
    title: str,
    heads: Sequence[ColumnHead],
    names: Sequence[str],
    measured_rows: Sequence[Sequence[MeasuredFigure]],
    *,
    notes: Sequence[str] = (),
    seed: int = 0,
) -> Table:
    """Make a table.

    In each column the others are tested against the best by the paired tests of a comparison, with Holm's
    correction over all tests of the table; only where all systems have the same samples.

    Args:
        title: What stands above it.
        heads: Its columns.
        names: The systems.
        measured_rows: Of each system its figures, one a column.
        notes: What a reader should know of it.
        seed: Where random numbers start.

    >>> from planner_eval.comparison.metrics.facts import Share
    >>> right = {str(n): Share(1, 1) for n in range(8)}
    >>> sides = [MeasuredFigure(sum(n < k for n in range(8)) / 8, {
    ...     i: Share(int(int(i) < k), 1) for i in right}, frozenset(right)) for k in (8, 1)]
    >>> table = make_table("", [ColumnHead("", "exact", "exact")], ["a", "b"], [[one] for one in sides])
    >>> [(row.cells[0].best, row.cells[0].worse) for row in table.rows]
    [(True, False), (False, True)]
    """
    measured_rows = [*zip(*map(_drop_partial_tallies, zip(*measured_rows, strict=True)), strict=True)]
    best: list[frozenset[int]] = []
    tested: dict[tuple[int, int], float] = {}
    mismatches: dict[str, list[str]] = {}
    for index, head in enumerate(heads):
        column = [row[index] for row in measured_rows]
        present = [k for k, measured in enumerate(column) if measured.value is not None]
        same = len({column[k].ids for k in present}) < 2
        best.append(_best_rows(column, present, head) if same and len(present) > 1 else frozenset())
        if not same:
            mismatches.setdefault(_unshared_samples_note(names, column, present), []).append(head.title)
        # tied: how many tests there are is no chance
        for k in present[1:] if same and not best[index] else ():
            tested |= {(k, index): 1.0} if column[k].tallies else {}
        for k in present if best[index] else ():
            if k != min(best[index]):
                p = _test_against_best(column[k], column[min(best[index])], head.figure, seed)
                tested |= {} if p is None else {(k, index): p}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    rows = tuple(
        Row(
            name,
            tuple(
                _cell(measured, heads[index].figure, k in best[index], corrected.get((k, index)))
                for index, measured in enumerate(row)
            ),
        )
        for k, (name, row) in enumerate(zip(names, measured_rows, strict=True))
    )
    remarks = [
        *_missing_notes(heads, names, measured_rows),
        *(_reason_with_columns(why, where, heads) for why, where in mismatches.items()),
    ]
    remarks += [_best_note(len(corrected))] if any(best) else []
    return Table(title, tuple(heads), rows, (*remarks, *notes), bool(mismatches))


_NO_INTERVAL_NOTE = "no interval and no test: it is not a mean over samples"


def _drop_partial_tallies(column: Sequence[MeasuredFigure]) -> list[MeasuredFigure]:
    """A column with intervals for all of its figures, or for none: what adds up by chance is none."""
    if all(measured.value is None or measured.tallies for measured in column):
        return [*column]
    return [
        measured
        if measured.value is None
        else measured._replace(tallies={}, why=measured.why or _NO_INTERVAL_NOTE)
        for measured in column
    ]


def _best_rows(column: Sequence[MeasuredFigure], present: Sequence[int], head: ColumnHead) -> frozenset[int]:
    sign = -1 if head.lower else 1
    values = {k: sign * (column[k].value or 0.0) for k in present}
    most = max(values.values())
    leaders = frozenset(k for k, value in values.items() if most - value < 1e-12)
    return leaders if len(leaders) < len(present) else frozenset()


def _test_against_best(
    candidate: MeasuredFigure, best: MeasuredFigure, figure: str, seed: int
) -> float | None:
    if not (candidate.tallies and best.tallies):
        return None
    pairs = Column()
    for key in candidate.tallies.keys() | best.tallies.keys():
        pairs.add((best.tallies.get(key), candidate.tallies.get(key)), candidate.clusters.get(key))
    return differences({figure: pairs}, seed=seed)[figure].p


def _cell(measured: MeasuredFigure, figure: str, best: bool, p: float | None) -> Cell:
    if measured.value is None:
        return Cell(None, None, None, len(measured.ids), False, None, measured.run, measured.scale)
    column = Column()
    for key, tally in measured.tallies.items():
        column.add(tally, measured.clusters.get(key))
    span = intervals({figure: column})[figure]
    low, high = (None, None) if span is None else (span.low * measured.scale, span.high * measured.scale)
    return Cell(
        measured.value * measured.scale, low, high, len(measured.ids), best, p, measured.run, measured.scale
    )


# ---------------------------------------------------------------- what is said
def _missing_notes(
    heads: Sequence[ColumnHead], names: Sequence[str], measured_rows: Sequence[Sequence[MeasuredFigure]]
) -> list[str]:
    """Why cells are empty, or without an interval."""
    reasons: dict[tuple[str, str, bool], list[str]] = {}
    for name, row in zip(names, measured_rows, strict=True):
        for head, measured in zip(heads, row, strict=True):
            if measured.why:
                reasons.setdefault((name, measured.why, measured.value is None), []).append(head.title)
    merged: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
    for (name, why, empty), where in reasons.items():
        merged.setdefault((why, empty, tuple(where)), []).append(name)
    remarks = []
    for (why, empty, columns), who in merged.items():
        named = ", ".join(who) if len(who) < len(names) else "all"
        remarks.append(f"{'–, ' if empty else ''}{named}: {_reason_with_columns(why, columns, heads)}")
    return remarks


def _reason_with_columns(why: str, where: Sequence[str], heads: Sequence[ColumnHead]) -> str:
    """A reason with the columns that it is of; a group of which it is of all is named once."""
    if len(where) == len(heads):
        return why
    named: dict[str, None] = {}
    for head in heads:
        covers_group = head.group and all(
            other.title in where for other in heads if other.group == head.group
        )
        named |= {head.group if covers_group else head.title: None} if head.title in where else {}
    return f"{why} ({', '.join(named)})"


def _unshared_samples_note(
    names: Sequence[str], column: Sequence[MeasuredFigure], present: Sequence[int]
) -> str:
    common = frozenset.intersection(*(column[k].ids for k in present))
    counts = ", ".join(f"{names[k]} {len(column[k].ids):,}" for k in present)
    return f"different samples, so no best is marked: {counts}; in common {len(common):,}"


def _best_note(tests: int) -> str:
    if not tests:
        return "the best of each column is marked; nothing was tested"
    return (
        f"the best of each column is marked; * is significantly worse: paired tests against the best, Holm's "
        f"correction over {format_count(tests, 'test')}, at {SIGNIFICANCE_LEVEL}"
    )
