"""How planeval data check shows what was found."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from planner_eval.auditing.finding import CONFIDENCES
from planner_eval.base.errors import CODES
from planner_eval.base.tables import md_cell, table
from planner_eval.base.text import counted, printable
from planner_eval.records.ids import spoken

if TYPE_CHECKING:
    from planner_eval.benchmarks.replay import Replayed
    from planner_eval.benchmarks.report import SampleScore
    from planner_eval.datasets.check import Checked
    from planner_eval.verbs.dataset_check import DatasetCheck
    from planner_eval.verbs.gold_findings import GoldDoubt


def shown(check: DatasetCheck, *, form: str, examples: int, narrowed: bool) -> str:
    """The text of a check.

    Args:
        check: The check of a data set.
        form: ``"text"``, ``"md"`` or ``"json"``.
        examples: How many examples to show of each kind.
        narrowed: Whether not all codes were asked for.
    """
    if form == "json":
        return json.dumps(_whole(check), ensure_ascii=False, indent=1)
    blocks = [_told(_head(check), form)]
    if check.checked.findings or not narrowed:
        blocks.append(_findings(check.checked, form))
    blocks += [_told(_replayed(r, examples), form) for r in check.replayed]
    blocks += _doubts(check, form)
    return "\n\n".join(block for block in blocks if block)


def _whole(check: DatasetCheck) -> dict[str, Any]:
    """All that was found, as JSON data."""
    return {
        "name": check.name,
        **asdict(check.checked),
        "replayed": [_data(r) for r in check.replayed],
        "doubts": [_row(d) for d in check.doubts],
        "unsure": dict(check.unsure),
        "known": check.known,
        "run": check.ran._asdict(),
        "unchecked": list(check.unchecked),
    }


def _row(doubt: GoldDoubt) -> dict[str, Any]:
    finding, location = doubt.found, doubt.shown
    return {
        "record": doubt.record,
        "code": finding.code,
        "confidence": finding.confidence,
        "call": None if finding.call is None else finding.call + 1,
        "argument": finding.argument,
        "about": location.about,
        "message": finding.message,
        "related": list(finding.related),
        "file": location.file,
        "line": location.line,
        "column": location.column,
        "query": doubt.query,
    }


def _doubts(check: DatasetCheck, form: str) -> list[str]:
    """How many doubts of each kind there are, and each of them with its place."""
    head = _told([f"gold: {summary(check)}"], form)
    if not check.doubts:
        return [head]
    kinds: dict[tuple[str, str], list[GoldDoubt]] = {}
    for doubt in check.doubts:
        kinds.setdefault((doubt.found.code, doubt.found.confidence), []).append(doubt)
    rows = [
        {
            "gold": code,
            "confidence": confidence,
            "found": len(ones),
            "records": len({d.record for d in ones}),
            "meaning": CODES[code],
        }
        for (code, confidence), ones in sorted(
            kinds.items(),
            key=lambda item: (CONFIDENCES.index(item[1][0].found.confidence), -len(item[1]), item[0]),
        )
    ]
    if form == "md":
        listed = [_listed(d) for d in check.doubts]
        return [head, table(rows, form), table(listed, form)]
    return [head, table(rows, form, width=90), "\n".join(map(_line, check.doubts))]


def summary(check: DatasetCheck) -> str:
    """How many doubts there are, and what was not looked at, in one line.

    Args:
        check: The check of a data set.
    """
    doubts = counted(len(check.doubts), "finding")
    nothing = f"nothing {'new' if check.known else 'doubtful'}" if check.checked.plans else "no plan was read"
    unchecked = f"; not checked: {', '.join(check.unchecked)}" if check.unchecked else ""
    return f"{doubts if check.doubts else nothing}{unchecked}"


def _listed(doubt: GoldDoubt) -> dict[str, Any]:
    return {
        "record": doubt.record,
        "place": ", ".join(_places(doubt)),
        "confidence": doubt.found.confidence,
        "code": doubt.found.code,
        "message": doubt.found.message,
    }


def _places(doubt: GoldDoubt) -> list[str]:
    """Where in its file and in its plan a doubt stands, as far as that is known."""
    location, finding = doubt.shown, doubt.found
    phrases = []
    if location.line is not None:
        column = f", column {location.column}" if location.column is not None else ""
        phrases.append(f"line {location.line}{column}")
    if finding.call is not None:
        phrases.append(f"call {finding.call + 1} ({location.about})")
    return phrases


def _line(doubt: GoldDoubt) -> str:
    where = ", ".join([spoken(doubt.record), *_places(doubt)])
    text = f"{where}: {doubt.found.confidence}: {doubt.found.message} [{doubt.found.code}]"
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _told(lines: list[str], form: str) -> str:
    """Lines in which words of the data stand."""
    return "\n".join(
        md_cell(line) if form == "md" else printable(line.replace("\n", "\\n")) for line in lines
    )


def _head(check: DatasetCheck) -> list[str]:
    checked = check.checked
    if check.dataset is None:
        lines = [f"{check.name}: {counted(checked.samples, 'record')}"]
    else:
        lines = [f"{check.dataset.name}: {checked.samples:,} of {check.dataset.records:,} published records"]
    lines.append(f"gold plans read: {checked.plans:,}, the same as itself: {_same(checked)}")
    if check.ran.plans:
        lines.append(
            f"gold plans run with {check.ran.tools}: {check.ran.plans:,}, {check.ran.failed:,} failed"
        )
    if checked.unreadable:
        lines.append(f"gold plans that cannot be read: {len(checked.unreadable):,}")
        lines += [f"  {record}" for record in checked.unreadable[:5]]
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
            lines += [f"{finding.code}", *(f"  {example}" for example in finding.examples)]
    return f"{table(rows, form, width=90)}\n\n{_told(lines, form)}".rstrip()


def _replayed(replayed: Replayed, examples: int) -> list[str]:
    report = replayed.report
    right = len(report.rows) - len(replayed.imperfect)
    head = f"gold against gold, {report.variant}: {right:,} of {len(report.rows):,} perfect"
    if replayed.skipped:
        head += f"; {replayed.skipped:,} answers are free text, which a judge decides on"
    lines = [head]
    lines += [f"  {row.id}: {_why(row)}" for row in replayed.imperfect[:examples]]
    if len(replayed.imperfect) > examples:
        lines.append(f"  … and {len(replayed.imperfect) - examples:,} more")
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


def _data(replayed: Replayed) -> dict[str, Any]:
    return {
        "variant": replayed.report.variant,
        "n": replayed.report.n,
        "skipped": replayed.skipped,
        "imperfect": [asdict(row) for row in replayed.imperfect],
        "figures": [asdict(figure) for figure in replayed.report.figures],
    }
