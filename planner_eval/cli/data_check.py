"""How planeval data check shows what was found."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from planner_eval.base.tables import md_cell, table
from planner_eval.base.text import printable

if TYPE_CHECKING:
    from planner_eval.benchmarks.replay import Replayed
    from planner_eval.benchmarks.report import SampleScore
    from planner_eval.datasets.check import Checked
    from planner_eval.datasets.published import Dataset
    from planner_eval.verbs.dataset_check import DatasetCheck


def shown(found: DatasetCheck, *, form: str, examples: int) -> str:
    """The text of a check.

    Args:
        found: What was found.
        form: ``"text"``, ``"md"`` or ``"json"``.
        examples: How many examples to show of each kind.
    """
    dataset, checked, replays = found
    if form == "json":
        data = {"name": dataset.name, **asdict(checked), "replayed": [_data(one) for one in replays]}
        return json.dumps(data, ensure_ascii=False, indent=1)
    blocks = [_told(_head(dataset, checked), form), _findings(checked, form)]
    blocks += [_told(_replayed(one, examples), form) for one in replays]
    return "\n\n".join(blocks)


def _told(lines: list[str], form: str) -> str:
    """Lines in which words of the data stand."""
    return "\n".join(md_cell(one) if form == "md" else printable(one.replace("\n", "\\n")) for one in lines)


def _head(dataset: Dataset, checked: Checked) -> list[str]:
    lines = [f"{dataset.name}: {checked.samples:,} of {dataset.records:,} published records"]
    lines.append(f"gold plans read: {checked.plans:,}, the same as itself: {_same(checked)}")
    if checked.unreadable:
        lines.append(f"gold plans that cannot be read: {len(checked.unreadable):,}")
        lines += [f"  {one}" for one in checked.unreadable[:5]]
    return lines


def _same(checked: Checked) -> str:
    if not checked.unequal:
        return "each"
    return f"all but {len(checked.unequal):,} ({', '.join(checked.unequal[:5])})"


def _findings(checked: Checked, form: str) -> str:
    if not checked.findings:
        return "no irregularities"
    rows = [
        {"severity": f.severity, "code": f.code, "found": f.count, "records": f.records, "meaning": f.meaning}
        for f in checked.findings
    ]
    lines: list[str] = []
    for finding in checked.findings:
        if finding.severity != "info":
            lines += [f"{finding.code}", *(f"  {one}" for one in finding.examples)]
    return f"{table(rows, form, width=90)}\n\n{_told(lines, form)}".rstrip()


def _replayed(one: Replayed, examples: int) -> list[str]:
    report = one.report
    right = len(report.rows) - len(one.imperfect)
    head = f"gold against gold, {report.variant}: {right:,} of {len(report.rows):,} perfect"
    if one.skipped:
        head += f"; {one.skipped:,} answers are free text, which a judge decides on"
    lines = [head]
    lines += [f"  {row.id}: {_why(row)}" for row in one.imperfect[:examples]]
    if len(one.imperfect) > examples:
        lines.append(f"  … and {len(one.imperfect) - examples:,} more")
    errors: dict[str, list[str]] = {}
    for figure in report.figures:
        if figure.error:
            errors.setdefault(figure.error, []).append(figure.name)
    for error, names in errors.items():
        more = f" and {len(names) - 4} more figures" if len(names) > 4 else ""
        lines.append(f"  the published code ends with {error} instead of {', '.join(names[:4])}{more}")
    return lines


def _why(row: SampleScore) -> str:
    if row.error:
        return row.error
    below = [f"{f.name} {f.value}" for f in row.figures if f.error is None and f.value is not None]
    return ", ".join(below[:6])


def _data(one: Replayed) -> dict[str, Any]:
    return {
        "variant": one.report.variant,
        "n": one.report.n,
        "skipped": one.skipped,
        "imperfect": [asdict(row) for row in one.imperfect],
        "figures": [asdict(figure) for figure in one.report.figures],
    }
