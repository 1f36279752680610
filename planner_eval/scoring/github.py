"""Findings as GitHub Actions shows them: annotations, and the summary of a step in Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from planner_eval.base.tables import table_head, table_line
from planner_eval.base.text import counted, one_line, printable
from planner_eval.scoring.findings import Finding, Group, grouped

MOST = 10
"""Annotations of one kind that GitHub shows of a step."""

SUMMARY = 1_000_000
"""Bytes of a step's summary; GitHub refuses one of more than 1 MiB."""

_WIDTH = 500
_NAMED = 5
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def annotated(findings: Sequence[Finding], headline: str, root: str | None = None) -> Iterator[str]:
    r"""One annotation a root cause, the commonest first, and what all is about.

    Args:
        findings: What was found.
        headline: What all is about, in one line.
        root: The folder that the files of the repository lie in; the working directory when left out.

    Returns:
        The text in pieces, without a last line end.

    >>> found = Finding("call.missing", "f", "gold's f is missing", record="q1", file="p.jsonl", line=3)
    >>> print("".join(annotated([found], "1 pair: 1 different")))
    ::error file=p.jsonl,line=3,title=call.missing in f::q1: gold's f is missing
    1 pair: 1 different
    """
    groups = grouped(findings)
    for group in groups[:MOST]:
        yield f"{_annotation(group, root)}\n"
    if len(groups) > MOST:
        left = counted(len(groups) - MOST, "more root cause")
        yield f"{left}: in the summary of the step, and with --format json\n"
    yield headline.replace("\n", "; ")


def summary(findings: Sequence[Finding], headline: str, title: str) -> Iterator[str]:
    """The same in full as Markdown, line by line: a table of root causes, and one of all that was found.

    Args:
        findings: What was found.
        headline: What all is about.
        title: The heading.
    """
    yield f"## {title}"
    yield ""
    yield headline.replace("\n", "  \n")
    if not findings:
        return
    yield ""
    yield from _rows(
        ("root cause", "records", "times", "example"),
        (
            (group.name, len(group.records), group.times, one_line(group.first.said, _WIDTH))
            for group in grouped(findings)
        ),
    )
    yield ""
    yield from _rows(
        ("record", "place", "level", "code", "message"),
        (
            (finding.record, _place(finding), finding.level, finding.code, one_line(finding.message, _WIDTH))
            for finding in findings
        ),
    )


def within(lines: Iterable[str], size: int) -> Iterator[str]:
    """As many lines as so many bytes hold; where some are left out the last one says so.

    Args:
        lines: The lines, without their ends.
        size: Bytes.

    >>> list(within(["a" * 60, "b", "c" * 60, "d"], 200))[-1]
    '… 2 lines are left out: the summary of a step may not be larger'
    """
    spare, left, used = size - 80, 0, 0
    for line in lines:
        used += len(line.encode("utf-8", errors="backslashreplace")) + 1
        if left or used > spare:
            left += 1
        else:
            yield line
    if left:
        yield f"… {counted(left, 'line')} are left out: the summary of a step may not be larger"


def _annotation(group: Group, root: str | None) -> str:
    first, other_records = group.first, group.records[1:]
    named = ", ".join(other_records[:_NAMED]) + (
        f" and {len(other_records) - _NAMED:,} more" if len(other_records) > _NAMED else ""
    )
    title = f"{group.name} ×{group.times:,}" if group.times > 1 else group.name
    message = f"{first.said}; also in {named}" if other_records else first.said
    properties = {
        "file": from_root(first.file, root),
        "line": first.line if first.file is not None else None,
        "col": first.column if first.file is not None else None,
        "title": one_line(title, 100),
    }
    listed = ",".join(
        f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None
    )
    return f"::{_COMMANDS[first.level]} {listed}::{_data(one_line(message, _WIDTH))}"


def from_root(file: str | None, root: str | None = None) -> str | None:
    """A file's way from the repository's folder, with slashes; as it is where it lies elsewhere.

    Args:
        file: The file as the user wrote it.
        root: The folder; the working directory when left out.
    """
    if file is None:
        return None
    absolute, base = os.path.abspath(file), os.path.abspath(root or os.curdir)
    inside = absolute.startswith(base + os.sep)
    return (os.path.relpath(absolute, base) if inside else file).replace(os.sep, "/")


def _place(finding: Finding) -> str:
    if finding.file is None:
        return ""
    return ":".join(str(field) for field in (finding.file, finding.line, finding.column) if field is not None)


def _rows(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield from table_head(head, "md")
    for row in rows:
        yield table_line(list(row), "md")


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
