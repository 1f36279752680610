"""Reports: figures summed over scored pairs, how sure they are, breakdowns, and how they were made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.base.tables import table
from planner_eval.base.text import one_line
from planner_eval.metrics import METRICS
from planner_eval.metrics.counts import Counts, Tally
from planner_eval.records.rows import JUDGED, STATES
from planner_eval.scoring.intervals import Interval, intervals
from planner_eval.scoring.record_counts import strictly_same
from planner_eval.scoring.row_formats import junit
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
    """

    figures: tuple[Estimate, ...]
    rows: tuple[Scored, ...]
    breakdown: Mapping[str, Mapping[str, tuple[Estimate, ...]]]
    signature: str
    read: Mapping[str, str] = field(default_factory=dict)

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
) -> Report:
    """Sum up scored pairs.

    Args:
        rows: The pairs.
        metrics: The metrics they were scored with.
        made: The report's signature.
        by: What to break the figures down by, as the rows' keys.
        seed: Where the bootstrap's random numbers start.
        read: Which field was read as the answers, which as gold, in words.
    """
    kept = tuple(rows)
    judged = [row for row in kept if row.state in JUDGED]
    breakdown: dict[str, dict[str, tuple[Estimate, ...]]] = {}
    for key in by:
        breakdown[key] = {
            value: figures([row for row in judged if row.keys.get(key) == value], metrics, seed=seed)
            for value in group_values(judged, key)
        }
    return Report(figures(judged, metrics, seed=seed), kept, breakdown, made, read or {})


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


# ---------------------------------------------------------------- writing
def figure_rows(found: Iterable[Estimate]) -> list[dict[str, Any]]:
    """Figures as rows of a table."""
    rows = []
    for figure in found:
        counts = figure.tally if isinstance(figure.tally, Counts) else None
        span = figure.interval
        rows.append(
            {
                "metric": figure.name,
                "value": _short(figure.value),
                "95 %": f"{span.low:.3f}–{span.high:.3f}" if span is not None else None,
                "precision": _short(counts.precision if counts else None),
                "recall": _short(counts.recall if counts else None),
                "macro": _short(figure.macro),
                "n": figure.n,
                "": "↓" if METRICS[figure.name].lower else "",
            }
        )
    return rows


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def write_report(report: Report, form: str = "text", *, failures: bool = False) -> str:
    """A report as text, ``json``, ``jsonl`` (a line a pair), ``csv`` or ``md`` (figures), ``junit``.

    Args:
        report: The report.
        form: The format.
        failures: List only pairs that are not the same; as text list them at all.
    """
    rows = [row for row in report.rows if not failures or row.state != "same"]
    if form == "json":
        return json.dumps(report_data(report, rows), ensure_ascii=False, indent=1)
    if form == "jsonl":
        return "\n".join(json.dumps(row_data(row), ensure_ascii=False) for row in rows)
    if form == "junit":
        return junit(
            [(row.id, row.state, row.codes[0] if row.codes else row.state, row.reason) for row in rows]
        )
    if form in ("csv", "md"):
        return table(figure_rows(report.figures), form)
    return _text(report, rows if failures else [])


def _text(report: Report, listed: Sequence[Scored]) -> str:
    blocks = []
    if listed:
        width = max(len(row.id) for row in listed)
        blocks.append(
            "\n".join(
                one_line(f"{row.id.ljust(width)}  {row.state.replace('_', ' ')}: {row.reason}", 200)
                for row in listed
            )
        )
    blocks.append(table(figure_rows(report.figures)))
    for key, groups in report.breakdown.items():
        blocks.append(table(_breakdown_rows(key, groups)))
    named = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in report.states().items())
    lines = [f"{len(report.rows)} pairs: {named or 'none'}; figures from {report.judged}"]
    repaired = sum(row.repaired for row in report.rows)
    unproved = sum(not row.proved for row in report.rows)
    if repaired:
        lines.append(
            f"{repaired} prediction{'s were' if repaired > 1 else ' was'} readable only after repair; "
            f"read strictly, {strictly_same(report.rows)} of {report.judged} are the same"
        )
    lines += (
        [f"{unproved} pairings of calls are not proved optimal: the search was bounded"] if unproved else []
    )
    if report.codes():
        lines.append("causes: " + ", ".join(f"{code} {count}" for code, count in report.codes().items()))
    return "\n\n".join([*blocks, "\n".join([*lines, report.signature])])


def _breakdown_rows(key: str, groups: Mapping[str, tuple[Estimate, ...]]) -> list[dict[str, Any]]:
    rows = []
    for value, found in groups.items():
        row: dict[str, Any] = {key: value, "n": max((figure.n for figure in found), default=0)}
        rows.append(row | {figure.name: _short(figure.value) for figure in found[:8]})
    return rows


def row_data(row: Scored) -> dict[str, Any]:
    """A scored pair as JSON data."""
    return {
        "id": row.id,
        "state": row.state,
        "metrics": {name: tally_data(tally) for name, tally in row.tallies.items()},
        "codes": list(row.codes),
        "reason": row.reason,
        "proved": row.proved,
        **({"keys": dict(row.keys)} if row.keys else {}),
        **({"repaired": True} if row.repaired else {}),
    }


def tally_data(tally: Tally | None) -> dict[str, Any] | None:
    """Counts as JSON data."""
    if tally is None:
        return None
    if isinstance(tally, Counts):
        return {"hit": tally.hit, "pred": tally.pred, "gold": tally.gold, "f1": tally.f1}
    return {"part": tally.part, "whole": tally.whole, "value": tally.value}


def _figure_data(figure: Estimate) -> dict[str, Any]:
    span = figure.interval
    counts = figure.tally if isinstance(figure.tally, Counts) else None
    data: dict[str, Any] = {"value": figure.value, "macro": figure.macro, "n": figure.n}
    data["counts"] = tally_data(figure.tally)
    if counts is not None:
        data |= {"precision": counts.precision, "recall": counts.recall}
    if span is not None:
        data["interval"] = {"low": span.low, "high": span.high, "method": span.method}
    return data


def report_data(report: Report, rows: Sequence[Scored]) -> dict[str, Any]:
    """A report as JSON data."""
    return {
        "schema": "planeval.report/1",
        "signature": report.signature,
        **report.read,
        "pairs": len(report.rows),
        "judged": report.judged,
        "states": report.states(),
        "strictly_same": strictly_same(report.rows),
        "figures": {figure.name: _figure_data(figure) for figure in report.figures},
        "breakdown": {
            key: {value: {f.name: _figure_data(f) for f in found} for value, found in groups.items()}
            for key, groups in report.breakdown.items()
        },
        "causes": report.codes(),
        "rows": [row_data(row) for row in rows],
    }
