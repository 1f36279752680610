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


def shown(found: DatasetCheck, *, form: str, examples: int, narrowed: bool) -> str:
    """The text of a check.

    Args:
        found: What was found.
        form: ``"text"``, ``"md"`` or ``"json"``.
        examples: How many examples to show of each kind.
        narrowed: Whether not all codes were asked for.
    """
    if form == "json":
        return json.dumps(_whole(found), ensure_ascii=False, indent=1)
    blocks = [_told(_head(found), form)]
    if found.checked.findings or not narrowed:
        blocks.append(_findings(found.checked, form))
    blocks += [_told(_replayed(one, examples), form) for one in found.replayed]
    blocks += _doubts(found, form)
    return "\n\n".join(block for block in blocks if block)


def _whole(found: DatasetCheck) -> dict[str, Any]:
    """All that was found, as JSON data."""
    return {
        "name": found.name,
        **asdict(found.checked),
        "replayed": [_data(one) for one in found.replayed],
        "doubts": [_row(one) for one in found.doubts],
        "unsure": dict(found.unsure),
        "known": found.known,
        "run": found.ran._asdict(),
        "unchecked": list(found.unchecked),
    }


def _row(doubt: GoldDoubt) -> dict[str, Any]:
    found, place = doubt.found, doubt.shown
    return {
        "record": doubt.record,
        "code": found.code,
        "confidence": found.confidence,
        "call": None if found.call is None else found.call + 1,
        "argument": found.argument,
        "about": place.about,
        "message": found.message,
        "related": list(found.related),
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "query": doubt.query,
    }


def _doubts(found: DatasetCheck, form: str) -> list[str]:
    """How many doubts of each kind there are, and each of them with its place."""
    head = _told([f"gold: {summary(found)}"], form)
    if not found.doubts:
        return [head]
    kinds: dict[tuple[str, str], list[GoldDoubt]] = {}
    for one in found.doubts:
        kinds.setdefault((one.found.code, one.found.confidence), []).append(one)
    rows = [
        {
            "gold": code,
            "confidence": confidence,
            "found": len(ones),
            "records": len({one.record for one in ones}),
            "meaning": CODES[code],
        }
        for (code, confidence), ones in sorted(
            kinds.items(),
            key=lambda item: (CONFIDENCES.index(item[1][0].found.confidence), -len(item[1]), item[0]),
        )
    ]
    if form == "md":
        every = [_listed(one) for one in found.doubts]
        return [head, table(rows, form), table(every, form)]
    return [head, table(rows, form, width=90), "\n".join(map(_line, found.doubts))]


def summary(found: DatasetCheck) -> str:
    """How many doubts there are, and what was not looked at, in one line.

    Args:
        found: What was found.
    """
    doubts = counted(len(found.doubts), "finding")
    nothing = f"nothing {'new' if found.known else 'doubtful'}" if found.checked.plans else "no plan was read"
    unchecked = f"; not checked: {', '.join(found.unchecked)}" if found.unchecked else ""
    return f"{doubts if found.doubts else nothing}{unchecked}"


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
    place, found = doubt.shown, doubt.found
    places = []
    if place.line is not None:
        column = f", column {place.column}" if place.column is not None else ""
        places.append(f"line {place.line}{column}")
    if found.call is not None:
        places.append(f"call {found.call + 1} ({place.about})")
    return places


def _line(doubt: GoldDoubt) -> str:
    where = ", ".join([spoken(doubt.record), *_places(doubt)])
    told = f"{where}: {doubt.found.confidence}: {doubt.found.message} [{doubt.found.code}]"
    return printable(told).replace("\n", "\\n").replace("\t", "\\t")


def _told(lines: list[str], form: str) -> str:
    """Lines in which words of the data stand."""
    return "\n".join(md_cell(one) if form == "md" else printable(one.replace("\n", "\\n")) for one in lines)


def _head(found: DatasetCheck) -> list[str]:
    checked = found.checked
    if found.dataset is None:
        lines = [f"{found.name}: {counted(checked.samples, 'record')}"]
    else:
        lines = [f"{found.dataset.name}: {checked.samples:,} of {found.dataset.records:,} published records"]
    lines.append(f"gold plans read: {checked.plans:,}, the same as itself: {_same(checked)}")
    if found.ran.plans:
        lines.append(
            f"gold plans run with {found.ran.tools}: {found.ran.plans:,}, {found.ran.failed:,} failed"
        )
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
