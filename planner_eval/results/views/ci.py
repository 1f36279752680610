"""Findings as CI servers show them: annotations and summaries of GitHub Actions, and SARIF 2.1.0."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from planner_eval._version import __version__
from planner_eval.base.codes import code_meanings
from planner_eval.base.tables import MARKDOWN
from planner_eval.base.text import JsonObject, format_count, one_line, printable, to_json
from planner_eval.comparison.explanation.edits import EDITS
from planner_eval.comparison.rows import STATES
from planner_eval.results.findings import LEVELS, Finding, FindingGroup, digests, group_findings

# ----------------------------------------------------------------------
# Findings as GitHub Actions shows them: annotations, and the summary of a step in Markdown.
MAX_ANNOTATIONS = 10
"""Annotations of one kind that GitHub shows of a step."""

MAX_SUMMARY_BYTES = 1_000_000
"""Bytes of a step's summary; GitHub refuses one of more than 1 MiB."""

_MAX_MESSAGE_LENGTH = 500
_MAX_NAMED = 5
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github_annotations(findings: Sequence[Finding], headline: str, root: str | None = None) -> Iterator[str]:
    r"""One annotation a root cause, the commonest first, and what all is about.

    Args:
        findings: What was found.
        headline: What all is about, in one line.
        root: The folder that the files of the repository lie in; the working directory when left out.

    Returns:
        The text in pieces, without a last line end.

    >>> found = Finding("call.missing", "f", "gold's f is missing", record="q1", file="p.jsonl", line=3)
    >>> print("".join(github_annotations([found], "1 pair: 1 different")))
    ::error file=p.jsonl,line=3,title=call.missing in f::q1: gold's f is missing
    1 pair: 1 different
    """
    groups = group_findings(findings)
    for group in groups[:MAX_ANNOTATIONS]:
        yield f"{_annotation(group, root)}\n"
    if len(groups) > MAX_ANNOTATIONS:
        left = format_count(len(groups) - MAX_ANNOTATIONS, "more root cause")
        yield f"{left}: see the step summary, or --format json\n"
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
    yield from MARKDOWN.row_lines(
        {
            "root cause": group.name,
            "records": len(group.records),
            "times": group.times,
            "example": one_line(group.first.said, _MAX_MESSAGE_LENGTH),
        }
        for group in group_findings(findings)
    )
    yield ""
    yield from MARKDOWN.row_lines(
        {
            "record": finding.record,
            "place": _location_text(finding),
            "level": finding.level,
            "code": finding.code,
            "message": one_line(finding.message, _MAX_MESSAGE_LENGTH),
        }
        for finding in findings
    )


def limit_lines(lines: Iterable[str], size: int) -> Iterator[str]:
    """As many lines as so many bytes hold; where some are left out the last one says so.

    Args:
        lines: The lines, without their ends.
        size: Bytes.

    >>> list(limit_lines(["a" * 60, "b", "c" * 60, "d"], 200))[-1]
    '… 2 lines are left out: the step summary has a size limit'
    """
    spare, left, used = size - 80, 0, 0
    for line in lines:
        used += len(line.encode("utf-8", errors="backslashreplace")) + 1
        if left or used > spare:
            left += 1
        else:
            yield line
    if left:
        verb = "is" if left == 1 else "are"
        yield f"… {format_count(left, 'line')} {verb} left out: the step summary has a size limit"


def _annotation(group: FindingGroup, root: str | None) -> str:
    first, other_records = group.first, group.records[1:]
    named = ", ".join(other_records[:_MAX_NAMED]) + (
        f" and {len(other_records) - _MAX_NAMED:,} more" if len(other_records) > _MAX_NAMED else ""
    )
    title = f"{group.name} ×{group.times:,}" if group.times > 1 else group.name
    message = f"{first.said}; also in {named}" if other_records else first.said
    properties = {
        "file": path_from_root(first.file, root),
        "line": first.line if first.file is not None else None,
        "col": first.column if first.file is not None else None,
        "title": one_line(title, 100),
    }
    escaped = {name: _escape_data(str(value)) for name, value in properties.items() if value is not None}
    listed = ",".join(
        f"{name}={value.replace(':', '%3A').replace(',', '%2C')}" for name, value in escaped.items()
    )
    return f"::{_COMMANDS[first.level]} {listed}::{_escape_data(one_line(message, _MAX_MESSAGE_LENGTH))}"


def path_from_root(file: str | None, root: str | None = None) -> str | None:
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


def _location_text(finding: Finding) -> str:
    if finding.file is None:
        return ""
    return ":".join(str(field) for field in (finding.file, finding.line, finding.column) if field is not None)


def _escape_data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# ----------------------------------------------------------------------
# Findings as SARIF 2.1.0, which code scanning and editors read.
#
# Source: Static Analysis Results Interchange Format 2.1.0, an OASIS standard.
MAX_RESULTS = 5_000
"""Results that GitHub's code scanning shows of a run."""

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[Finding], root: str | None = None) -> Iterator[str]:
    """A SARIF log of one run, in pieces; of more than :data:`MOST` findings the worst, and it says so.

    Args:
        findings: What was found.
        root: The folder that the files of the repository lie in; the working directory when left out.

    >>> log = "".join(sarif([Finding("cut", "", "cut off", record="q1", file="p.jsonl", line=3)]))
    >>> '"text": "q1: cut off"' in log, '"startLine": 3' in log
    (True, True)
    """
    selected = sorted(findings, key=lambda finding: LEVELS.index(finding.level))[:MAX_RESULTS]
    codes = sorted({finding.code for finding in selected})
    driver = {"name": "planeval", "version": __version__, "rules": [_rule(code) for code in codes]}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(len(findings) - len(selected))],
                "results": [
                    _result(finding, codes.index(finding.code), digest, root)
                    for finding, digest in zip(selected, digests(selected), strict=True)
                ],
            }
        ],
    }
    yield to_json(log, 1)


def _rule(code: str) -> JsonObject:
    description = EDITS.get(code) or code_meanings().get(code) or STATES.get(code) or code
    return {"id": code, "shortDescription": {"text": description}}


def _invocation(left: int) -> JsonObject:
    """How the run went, with how many findings are left out.

    >>> _invocation(3)["toolExecutionNotifications"][0]["message"]["text"].partition(":")[0]
    '3 findings are left out'
    """
    if not left:
        return {"executionSuccessful": True}
    shown = f"{MAX_RESULTS:,} of {left + MAX_RESULTS:,} are shown, the worst first"
    message = f"{format_count(left, 'finding')} {'is' if left == 1 else 'are'} left out: {shown}"
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": message}}],
    }


def _result(finding: Finding, rule: int, digest: str, root: str | None) -> JsonObject:
    result: JsonObject = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.level,
        "message": {"text": finding.said},
        "partialFingerprints": {"planeval/v1": digest},
    }
    file = path_from_root(finding.file, root)
    if file is not None:
        location: JsonObject = {"artifactLocation": {"uri": _uri(file)}}
        if finding.line is not None:
            column = {} if finding.column is None else {"startColumn": finding.column}
            location["region"] = {"startLine": finding.line, **column}
        result["locations"] = [{"physicalLocation": location}]
    properties = {"record": finding.record, "about": finding.about}
    if any(properties.values()):
        result["properties"] = {name: value for name, value in properties.items() if value}
    return result


def _uri(file: str) -> str:
    named = quote(file, safe="/~.-_", errors="backslashreplace")
    return f"file://{named}" if file.startswith("/") else named
