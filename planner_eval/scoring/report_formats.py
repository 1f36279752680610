"""Reports in writing: for people, as JSON, CSV, Markdown or JUnit."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from planner_eval.base.tables import table
from planner_eval.base.text import one_line
from planner_eval.metrics import METRICS
from planner_eval.metrics.counts import Counts, Tally
from planner_eval.scoring.junit import Case, junit, outcome
from planner_eval.scoring.record_counts import strictly_same
from planner_eval.scoring.report import Estimate, Report
from planner_eval.scoring.scored import Scored
from planner_eval.scoring.shown import left_out_lines, shown


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


def write_report(
    report: Report,
    form: str = "text",
    *,
    failures: bool = False,
    every: Collection[str] = (),
    limits: Sequence[Case] = (),
    beside: Sequence[Case] = (),
) -> str:
    """A report as text, ``json``, ``jsonl`` (a line a pair), ``csv`` (figures), ``md`` or ``junit``.

    Text and ``md`` leave out figures that do not exist; the formats for programs have each, as null.

    Args:
        report: The report.
        form: The format.
        failures: List only pairs that are not the same; as text and ``md`` list them at all.
        every: Metrics whose figures are shown although they do not exist.
        limits: Thresholds as test cases: where there are some they decide in JUnit, and a pair may differ.
        beside: What is no pair, as test cases: records that were left out.
    """
    rows = [row for row in report.rows if not failures or row.state != "same"]
    if form == "json":
        return json.dumps(report_data(report, rows), ensure_ascii=False, indent=1)
    if form == "jsonl":
        return "\n".join(json.dumps(row_data(row), ensure_ascii=False) for row in rows)
    if form == "junit":
        return junit([*limits, *(_case(row, limited=bool(limits)) for row in rows), *beside])
    if form == "csv":
        return table(figure_rows(report.figures), form)
    kept = shown(report.figures, every)
    listed = rows if failures else []
    if form == "md":
        said = [{"id": row.id, "state": row.state.replace("_", " "), "reason": row.reason} for row in listed]
        blocks = [table(said, form), table(figure_rows(kept), form), *_breakdowns(report, kept, form)]
        return "\n\n".join(block for block in blocks if block)
    return _text(report, listed, kept)


def _case(row: Scored, *, limited: bool) -> Case:
    found = Case(row.id, outcome(row.state, limited=limited), file=row.file, line=row.line, group="score")
    if found.outcome == "passed":
        return found
    more = f" (and {len(row.codes) - 1} more: {', '.join(row.codes[1:])})" if len(row.codes) > 1 else ""
    code = row.codes[0] if row.codes else row.state
    named = f"{row.state.replace('_', ' ')}: " + (f"{code}: " if row.codes else "")
    return found._replace(code=code, message=f"{named}{row.reason.splitlines()[0]}{more}", text=row.reason)


def _text(report: Report, listed: Sequence[Scored], kept: Sequence[Estimate]) -> str:
    blocks = []
    if listed:
        width = max(len(row.id) for row in listed)
        blocks.append(
            "\n".join(
                one_line(f"{row.id.ljust(width)}  {row.state.replace('_', ' ')}: {row.reason}", 200)
                for row in listed
            )
        )
    blocks.append(table(figure_rows(kept)))
    blocks += _breakdowns(report, kept, "text")
    named = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in report.states().items())
    pairs = f"{len(report.rows)} pair{'s' * (len(report.rows) != 1)}"
    lines = [f"{pairs}: {named or 'none'}; figures from {report.judged}"]
    repaired = sum(row.repaired for row in report.rows)
    unproved = sum(not row.proved for row in report.rows)
    if repaired:
        lines.append(
            f"{repaired} prediction{'s were' if repaired > 1 else ' was'} readable only after repair; "
            f"read strictly, {strictly_same(report.rows)} of {report.judged} are the same"
        )
    several = sum(row.choices for row in report.rows)
    if several:
        lines.append(f"{several} with several choices or candidates, of which the first was read")
    lines += (
        [f"{unproved} pairings of calls are not proved optimal: the search was bounded"] if unproved else []
    )
    if report.codes():
        lines.append("causes: " + ", ".join(f"{code} {count}" for code, count in report.codes().items()))
    lines += left_out(report, [figure.name for figure in kept])
    return "\n\n".join(part for part in [*blocks, "\n".join([*lines, report.signature])] if part)


def left_out(report: Report, every: Collection[str] = ()) -> list[str]:
    """Which figures text and ``md`` leave out, and why, as one line; none where nothing is left out."""
    kept = shown(report.figures, every)
    return left_out_lines([figure.name for figure in report.figures if figure not in kept], report.lacks)


def _breakdowns(report: Report, kept: Sequence[Estimate], form: str) -> list[str]:
    """A table a key of the breakdown, of the first figures."""
    names = [figure.name for figure in kept][:8]
    return [table(_breakdown_rows(key, groups, names), form) for key, groups in report.breakdown.items()]


def _breakdown_rows(
    key: str, groups: Mapping[str, tuple[Estimate, ...]], names: Collection[str]
) -> list[dict[str, Any]]:
    rows = []
    head = f"{key} (key)" if key == "n" or key in names else key
    for value, found in groups.items():
        row: dict[str, Any] = {head: value, "n": max((figure.n for figure in found), default=0)}
        rows.append(row | {figure.name: _short(figure.value) for figure in found if figure.name in names})
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
        **({"choices": True} if row.choices else {}),
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
