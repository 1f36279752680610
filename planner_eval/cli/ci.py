"""What is wrong as CI servers show it: written where they look for it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from planner_eval.cli.options import emit, note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from planner_eval.results.findings import Finding
    from planner_eval.results.views.junit import Case


def findings_in(lines: Iterable[str]) -> list[Finding]:
    """The findings of a job's lines, each a JSON list of them."""
    from planner_eval.results.findings import Finding

    return [Finding(*data) for line in lines if line for data in json.loads(line)]


def emit_findings(
    findings: Sequence[Finding], form: str, output: str | None, headline: str, title: str
) -> None:
    """Write findings, and of ``github`` the step's summary, where the variable names its file.

    Args:
        findings: What was found.
        form: One of :data:`planner_eval.base.formats.CI_FORMATS`.
        output: The file that they go to; None for standard output.
        headline: What all is about, in one line.
        title: The summary's heading.
    """
    root = os.environ.get("GITHUB_WORKSPACE")
    if form == "sarif":
        from planner_eval.results.views.ci import sarif

        emit(sarif(findings, root), output)
        return
    from planner_eval.results.views.ci import github_annotations, summary

    emit(github_annotations(findings, headline, root), output)
    append_summary(summary(findings, headline, title))


def append_summary(lines: Iterable[str]) -> None:
    """Append Markdown to the summary of GitHub's step, where there is one, as far as it may grow."""
    from planner_eval.results.views.ci import MAX_SUMMARY_BYTES, limit_lines

    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in limit_lines(lines, MAX_SUMMARY_BYTES - stream.tell()))
    except OSError as error:
        note(f"{file}, the summary of the step, cannot be written: {error.strerror or error}")


def emit_cases(
    cases: Iterable[Case],
    output: str | None,
    headline: str,
    title: str,
    more: Iterable[str],
    *,
    limited: bool,
) -> None:
    """Write test cases that failed as annotations, and figures into the step's summary.

    Args:
        cases: The cases: thresholds and pairs.
        output: The file that annotations go to; None for standard output.
        headline: What all is about, in one line.
        title: The summary's heading.
        more: The summary's text, as Markdown.
        limited: Whether thresholds alone decide, so that what else failed is an error; else pairs warn.
    """
    from planner_eval.results.findings import findings_of_case
    from planner_eval.results.views.ci import github_annotations
    from planner_eval.results.views.junit import NEVER_ALLOWED_STATES

    hard = ("repeated", "threshold", *NEVER_ALLOWED_STATES)
    levels = ((case, "error" if limited or case.code in hard else "warning") for case in cases)
    findings = [f for case, level in levels for f in findings_of_case(case, level=level)]
    emit(github_annotations(findings, headline, os.environ.get("GITHUB_WORKSPACE")), output)
    append_summary([f"## {title}", "", headline, "", *"".join(more).splitlines()])
