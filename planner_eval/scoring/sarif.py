"""Findings as SARIF 2.1.0, which code scanning and editors read.

Source: Static Analysis Results Interchange Format 2.1.0, an OASIS standard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from planner_eval._version import __version__
from planner_eval.base.errors import CODES
from planner_eval.base.text import counted
from planner_eval.comparison.edits import EDITS
from planner_eval.records.rows import STATES
from planner_eval.scoring.findings import LEVELS, Finding, digests
from planner_eval.scoring.github import from_root

MOST = 5_000
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
    selected = sorted(findings, key=lambda finding: LEVELS.index(finding.level))[:MOST]
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
    yield json.dumps(log, ensure_ascii=False, indent=1)


def _rule(code: str) -> dict[str, Any]:
    description = EDITS.get(code) or CODES.get(code) or STATES.get(code) or code
    return {"id": code, "shortDescription": {"text": description}}


def _invocation(left: int) -> dict[str, Any]:
    if not left:
        return {"executionSuccessful": True}
    message = (
        f"{counted(left, 'finding')} are left out: {MOST:,} of {left + MOST:,} are shown, the worst first"
    )
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": message}}],
    }


def _result(finding: Finding, rule: int, digest: str, root: str | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.level,
        "message": {"text": finding.said},
        "partialFingerprints": {"planeval/v1": digest},
    }
    file = from_root(finding.file, root)
    if file is not None:
        location: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
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
