"""Systems compared: the rows of the tables that people read, and of CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from planner_eval.base.ratios import gap_text, rounded
from planner_eval.scoring.compare import cause_counts, mistaken_counts
from planner_eval.scoring.contrast import BothRead, Comparison, Line
from planner_eval.scoring.record_counts import record_rows
from planner_eval.scoring.report import Estimate

HEADS = (
    "", "metric", "difference", "95 %", "p", "test", "records", "n", "cause", "gold calls", "called",
    "system",
)  # fmt: skip
"""Heads of columns, which no system may be called."""


def lines_at(lines: Sequence[Line], indices: Iterable[int]) -> list[Line]:
    """The lines at some positions."""
    return [lines[index] for index in indices]


def pair_rows(
    lines: Iterable[Line], names: Sequence[str], read: BothRead | None = None
) -> list[dict[str, Any]]:
    """Both figures, their difference, and how sure it is.

    Args:
        lines: One a metric.
        names: What the two systems are called.
        read: The same over what both answered readably, which stands beside.
    """
    rows = []
    read_lines = {} if read is None else {line.name: line for line in read.lines}
    for line in lines:
        gap = line.difference
        span = None if gap.low is None or gap.high is None else f"{gap.low:+.3f}…{gap.high:+.3f}"
        rows.append(
            {
                "metric": line.name,
                names[0]: _short(line.first.value),
                names[1]: _short(line.second.value),
                "difference": None if gap.value is None else gap_text(gap.value),
                "95 %": span,
                "p": None if line.p is None else _probability(line.p),
                "": " ".join(("*" * line.sure, "↓" * line.lower)).strip(),
            }
        )
        if (other := read_lines.get(line.name)) is not None and read is not None:
            values = (_short(other.first.value), _short(other.second.value))
            rows[-1] |= _read_beside(names, read, values)
    return rows


def _read_beside(names: Sequence[str], read: BothRead, values: Sequence[Any]) -> dict[str, str]:
    """A column of what both systems answered readably, whose head is no system's name."""
    head = f"{read.n} both read"
    return {f"{head}{' too' * (head in names)}": " / ".join("–" if v is None else f"{v:g}" for v in values)}


def value_rows(comparison: Comparison, indices: Iterable[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """The figures of all systems; a star stands by what surely differs from the first."""
    rows = []
    for index in indices:
        lines = [contrast.lines[index] for contrast in comparison.contrasts]
        row: dict[str, Any] = {"metric": lines[0].name, names[0]: _starred(lines[0].first, sure=False)}
        row |= {
            name: _starred(line.second, sure=line.sure) for name, line in zip(names[1:], lines, strict=True)
        }
        rows.append(row | {"": "↓" if lines[0].lower else ""})
    return rows


def _starred(figure: Estimate, *, sure: bool) -> str | None:
    return None if figure.value is None else f"{figure.value:.4f}{'*' if sure else ''}"


def flat_rows(comparison: Comparison, indices: Iterable[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """One table: records, causes, a row a figure, and one over what both read; of several systems a row each.

    Args:
        comparison: The comparison.
        indices: The positions of the figures that are shown.
        names: What the systems are called.
    """
    contrasts = comparison.contrasts
    many = len(contrasts) > 1
    rows: list[dict[str, Any]] = []
    for position, contrast in enumerate(contrasts):
        heads = ("first", "second") if many else names
        system = {"system": names[position + 1]} if many else {}
        empty = dict.fromkeys(("metric", *heads, "difference", "95 %", "p", "test", ""))
        counts = [(f"records.{row.pop('records')}", row) for row in record_rows(heads, contrast.records)]
        counts += [
            (f"causes.{row.pop('cause')}", row)
            for row in cause_rows(Comparison((contrast,)), heads, with_both_read=False)
        ]
        rows += [system | empty | {"metric": name} | row for name, row in counts]
        rows += [system | row for row in _tested_rows(lines_at(contrast.lines, indices), heads)]
        if contrast.both_read is not None:
            read = _tested_rows(lines_at(contrast.both_read.lines, indices), heads)
            rows += [system | row | {"metric": f"both_read.{row['metric']}"} for row in read]
    return rows


def _tested_rows(lines: Sequence[Line], heads: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of figures that name the test, before what is marked."""
    rows = pair_rows(lines, heads)
    tests = [line.difference.test.partition(" ")[0] or None for line in lines]
    return [{**row, "test": test, "": row[""]} for row, test in zip(rows, tests, strict=True)]


def cause_rows(
    comparison: Comparison, names: Sequence[str], *, with_both_read: bool = True
) -> list[dict[str, Any]]:
    """How often each code is a root cause under each system, what differs most first.

    Args:
        comparison: The comparison.
        names: What the systems are called.
        with_both_read: Of two systems, add the counts over what both answered readably.
    """
    read = comparison.contrasts[0].both_read if with_both_read and len(comparison.contrasts) == 1 else None
    rows = []
    for code, counts in cause_counts(comparison).items():
        row: dict[str, Any] = {"cause": code, **dict(zip(names, counts, strict=True))}
        if read is not None:
            row |= _read_beside(names, read, [causes.get(code, 0) for causes in read.causes])
        rows.append(row)
    return rows


def breakdown_rows(comparison: Comparison, key: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """The first figures of each value of a key."""
    rows = []
    for value in comparison.contrasts[0].breakdown[key]:
        groups = [contrast.breakdown[key].get(value, ()) for contrast in comparison.contrasts]
        for lines in zip(*(group[:3] for group in groups), strict=True):
            counts = [lines[0].first.n, *(line.second.n for line in lines)]
            row: dict[str, Any] = {_free(key, names): value, "metric": lines[0].name, "n": _samples(counts)}
            row[names[0]] = _short(lines[0].first.value)
            row |= {name: _short(line.second.value) for name, line in zip(names[1:], lines, strict=True)}
            if len(lines) == 1:
                gap, p = lines[0].difference, lines[0].p
                row["difference"] = None if gap.value is None else gap_text(gap.value)
                row["p"] = None if p is None else _probability(p)
            if any(line.difference.value is not None for line in lines):
                rows.append(row)
    return rows


def _samples(counts: list[int]) -> int | str:
    """Over how many samples a figure exists; under each system, where that is not the same."""
    return counts[0] if len({*counts}) == 1 else " / ".join(map(str, counts))


def _free(key: str, names: Sequence[str]) -> str:
    """A key as the head of a column that is no other's."""
    return f"{key} (key)" if key in names or key in HEADS else key


def mistaken_rows(comparison: Comparison, names: Sequence[str]) -> list[dict[str, Any]]:
    """Which tool was taken for which, in predictions that were read."""
    return [
        {"gold calls": gold, "called": pred, **dict(zip(names, counts, strict=True))}
        for (gold, pred), counts in mistaken_counts(comparison).items()
    ]


def _probability(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def _short(value: float | None) -> float | None:
    return None if value is None else rounded(value)
