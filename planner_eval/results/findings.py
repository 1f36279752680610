"""What is wrong, finding by finding: where it is, how sure it is, which are one, how CI servers show it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal
from urllib.parse import quote

from planner_eval._version import __version__
from planner_eval.base.codes import code_meanings
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import MARKDOWN
from planner_eval.base.text import JsonObject, format_count, format_first, one_line, printable, to_json
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.rows import STATES, Row, Spans
from planner_eval.plan.model import Plan
from planner_eval.reading.files.record import Record, parse_position_name
from planner_eval.results.views.junit import NON_FILE_NAMES, Case

# ----------------------------------------------------------------------
# A finding about gold: what may be wrong in one record, and how sure that is.
Confidence = Literal["high", "medium", "low"]

CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")
"""How sure a finding is, the surest first: high is right in nine of ten on published data, read by hand."""


class GoldFinding(NamedTuple):
    """One doubt about one record's gold.

    Args:
        code: What kind it is, ``gold.…``; the meanings are in ``data/codes.toml``.
        message: What was found and why it is doubtful, one sentence with the values.
        confidence: How sure it is that gold is wrong, not how grave that would be.
        call: The position of the call concerned, counted from 0; None where the whole plan is meant.
        argument: The name of the argument concerned.
        related: Names of other records that it is told with, e.g. the twin that gold contradicts.
        share: Of votes the share that is against gold, by the models' weights.
        operations: What would mend gold, as a patch has it; none where that is not known.

    >>> GoldFinding("gold.answer", "the plan gives 10.0, which is option a; gold says d", "high").confidence
    'high'
    """

    code: str
    message: str
    confidence: Confidence
    call: int | None = None
    argument: str | None = None
    related: tuple[str, ...] = ()
    share: float | None = None
    operations: tuple[Mapping[str, Any], ...] = ()


# ----------------------------------------------------------------------
# What is wrong, mistake by mistake, as CI servers show it: where it is, and which mistakes are one.
TOOL_CODES = ("gold.tool_default", "gold.tool_enum", "gold.tool_schema")
"""Faults of a tool's description, which are told once for a set."""
LEVELS = ("error", "warning", "note")
"""How serious a finding is, the worst first."""


class Finding(NamedTuple):
    """One mistake in one record.

    Args:
        code: What kind of mistake it is: an edit's code, a state, a check's code.
        about: The tool, or the tool's argument, ``book(seats)``; "" where it concerns neither.
        message: What was found, on one line.
        level: One of :data:`LEVELS`.
        record: The record's name; "" where there is one alone.
        file: The file that it is about.
        line: The line there, counted from 1.
        column: The column there, likewise.
        follows: How many differences follow from it.
        of_state: What was found names places or other records, e.g. why there is no comparison; the code says
            all else.
        unnamed: The record has no id: its name is its place in the file.
    """

    code: str
    about: str
    message: str
    level: str = "error"
    record: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    follows: int = 0
    of_state: bool = False
    unnamed: bool = False

    @property
    def said(self) -> str:
        """The record and what was found, on one line."""
        return f"{self.record}: {self.message}" if self.record else self.message


class FindingGroup(NamedTuple):
    """Findings that are one and the same mistake.

    Args:
        first: The first of them.
        records: The names of the records that have it, each once, in their order.
        times: How many they are.
        follows: How many differences follow from them.
    """

    first: Finding
    records: tuple[str, ...]
    times: int
    follows: int

    @property
    def name(self) -> str:
        """The code, and what it concerns."""
        return f"{self.first.code} in {self.first.about}" if self.first.about else self.first.code


def findings_of(row: Row, record: Record | None, *, many: bool) -> list[Finding]:
    """The root causes of a compared pair.

    Args:
        row: The pair.
        record: The prediction, or gold where there is none.
        many: Whether it is one of many.
    """
    name = row.id if many else ""
    own = record is not None and row.id == record.id
    placed = row.id.isdecimal() or parse_position_name(row.id) is not None
    unnamed = many and not own and placed  # records paired by position may have gold's id
    return [finding._replace(unnamed=unnamed) for finding in _find_root_causes(row, record, name, many=many)]


def _find_root_causes(row: Row, record: Record | None, name: str, *, many: bool) -> list[Finding]:
    if row.diff is None:
        message = row.reason.splitlines()[0]
        finding = Finding(row.state, "", f"{row.state.replace('_', ' ')}: {message}", record=name)
        return [_locate_finding(finding._replace(of_state=True), record)]
    if row.differs_when_run:
        return [_locate_finding(Finding("effect", "", row.in_effect, record=name), record)]
    edits = row.diff.edits
    consequences, roots = [0] * len(edits), [0] * len(edits)
    for index, edit in enumerate(edits):  # causes stand before consequences
        roots[index] = index if edit.cause is None else roots[edit.cause]
        consequences[roots[index]] += edit.cause is not None
    spans = None if many else Spans(row.diff.pred)
    findings = []
    for index, edit in enumerate(edits):
        if edit.cause is None:
            position = spans.line_of(edit.pred) if spans is not None and edit.pred is not None else None
            about, message = _describe_location(row.diff, edit), printable(edit.message)
            finding = _locate_finding(
                Finding(edit.code, about, message, record=name, follows=consequences[index]), record
            )
            if position is not None:
                finding = finding._replace(line=position[0], column=position[1])
            findings.append(finding)
    return findings


def findings_of_case(case: Case, *, level: str) -> Iterator[Finding]:
    """What a test case says where it did not pass, and may not.

    Args:
        case: The case.
        level: How serious it is.
    """
    if case.outcome in ("failure", "error"):
        file = None if case.file in NON_FILE_NAMES else case.file
        yield Finding(case.code, "", case.message, level, case.name, file, case.line)


def finding_of_check(row: Mapping[str, Any], record: Record, *, many: bool) -> Finding:
    """What `planeval check` found in a plan.

    Args:
        row: What it says of it.
        record: The plan's record.
        many: Whether it is one of many.
    """
    about = row["tool"] or ""
    if about and row["argument"] is not None:
        about = f"{about}({row['argument']})"
    level = {"info": "note"}.get(row["severity"], row["severity"])
    name = str(row["record"]) if many else ""
    unread = row["code"] == "unreadable"
    unnamed = many and record.id is None
    finding = Finding(
        row["code"], about, printable(row["message"]), level, name, of_state=unread, unnamed=unnamed
    )
    finding = _locate_finding(finding, record)
    return (
        finding if many or row["line"] is None else finding._replace(line=row["line"], column=row["column"])
    )


def finding_of_gold(
    doubt: GoldFinding, record: Record, plan: Plan | None, name: str, *, many: bool
) -> Finding:
    """A doubt about the gold of a record; how sure it is stands for how serious it is.

    Args:
        doubt: The doubt.
        record: The record.
        plan: Its plan; None where it has none that can be read.
        name: What the record is called.
        many: Whether it is one of many.
    """
    level = LEVELS[CONFIDENCES.index(doubt.confidence)]
    about = "" if plan is None or doubt.call is None else plan.calls[doubt.call].tool
    if about and doubt.argument is not None:
        about = f"{about}({doubt.argument})"
    unnamed = many and record.id is None
    message = printable(doubt.message).replace("\n", "\\n")
    finding = Finding(doubt.code, printable(about), message, level, name if many else "", unnamed=unnamed)
    finding = finding._replace(of_state=bool(doubt.related))  # in the order of the file
    if hasattr(record.source, "category"):  # a data set's sample, which stands in no file of the user's
        return finding
    finding = _locate_finding(finding, record)
    if many or plan is None or doubt.call is None:
        return finding
    spans = Spans(plan)
    places = Place(doubt.call, doubt.argument), Place(doubt.call)
    line, column = next(filter(None, map(spans.line_of, places)), (finding.line, finding.column))
    return finding._replace(line=line, column=column)


def digests(findings: Sequence[Finding]) -> Iterator[str]:
    """What findings are known by: no place, so that each stays the same where lines move.

    Those of records without ids may be alike: they are counted, and one more is one new.

    Args:
        findings: The findings of a run, in the order of the records.
    """
    met: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        key = (
            finding.code,
            finding.about,
            "" if finding.unnamed else finding.record,
            "" if finding.of_state else finding.message,
        )
        distinct_key = (*key, str(met[key])) if met[key] else key
        met[key] += 1
        yield blake2b(json.dumps(distinct_key).encode(), digest_size=16).hexdigest()


def _locate_finding(finding: Finding, record: Record | None) -> Finding:
    """A finding with the file and line of its record; without a file where that comes from none."""
    if record is None or record.file in NON_FILE_NAMES:
        return finding
    return finding._replace(file=record.file, line=record.line)


def group_findings(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Findings put together where they are one mistake: the worst first, then those of most records.

    Args:
        findings: The findings, in the order of the records.

    >>> wrong = [Finding("call.missing", "f", "f is missing", record=name) for name in "ab"]
    >>> groups = group_findings([Finding("cut", "", "cut off", record="c"), *wrong])
    >>> [(group.name, group.records) for group in groups]
    [('call.missing in f', ('a', 'b')), ('cut', ('c',))]
    """
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.level, finding.code, finding.about), []).append(finding)
    merged = [
        FindingGroup(
            many[0],
            tuple(dict.fromkeys(finding.record for finding in many)),
            len(many),
            sum(f.follows for f in many),
        )
        for many in groups.values()
    ]
    return sorted(
        merged, key=lambda group: (LEVELS.index(group.first.level), -len(group.records), -group.follows)
    )


def _describe_location(diff: Diff, edit: Edit) -> str:
    for plan, location in ((diff.gold, edit.gold), (diff.pred, edit.pred)):
        if location is not None and location.call is not None:
            tool = plan.calls[location.call].tool
            named = printable(tool if location.argument is None else f"{tool}({location.argument})")
            return named.replace("\n", "\\n")
    return ""


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
    title = f"{group.name} ×{group.times:,}" if group.times > 1 else group.name
    message = first.said
    if other_records:
        message += f"; also in {format_first(other_records, _MAX_NAMED)}"
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


def path_from_root(file: str | None, root: str | None) -> str | None:
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
        named = quote(file, safe="/~.-_", errors="backslashreplace")
        uri = f"file://{named}" if file.startswith("/") else named
        location: JsonObject = {"artifactLocation": {"uri": uri}}
        if finding.line is not None:
            column = {} if finding.column is None else {"startColumn": finding.column}
            location["region"] = {"startLine": finding.line, **column}
        result["locations"] = [{"physicalLocation": location}]
    properties = {"record": finding.record, "about": finding.about}
    if any(properties.values()):
        result["properties"] = {name: value for name, value in properties.items() if value}
    return result
