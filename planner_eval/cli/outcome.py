"""How a command ends: how many plans could be read, whether figures reach thresholds, what CI shows."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from planner_eval.base.counts import Counts
from planner_eval.base.formats import load_writer, shows
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.cli.options import Decorator, Threshold, bundle_options, emit, note, parse_threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from planner_eval.base.errors import ParseError
    from planner_eval.plan.model import Plan
    from planner_eval.results.findings import Finding
    from planner_eval.results.views.junit import Case


# ----------------------------------------------------------------------
# How many plans of a file could be read, and in which notations, in the words of diff and score.
class Tally(Counts):
    """Counts plans as they are read and written in another notation, with what could not be said there."""

    dialects: Counter[str]
    states: Counter[str]
    written: int
    losses: Counter[str]

    def took(self, plan: Plan) -> None:
        """Count a plan that was read."""
        self.dialects[plan.dialect or "?"] += 1

    def missed(self, error: ParseError) -> str:
        """Count one that was not; gives the state that it is in."""
        from planner_eval.comparison.rows import unread_state

        state = unread_state(error)
        self.states[state] += 1
        return state

    @property
    def read(self) -> int:
        """How many were read."""
        return self.dialects.total()

    @property
    def unread(self) -> int:
        """How many were not."""
        return self.states.total()

    def __str__(self) -> str:
        """``13 plans: 12 read (7 appbench, 5 nestful), 1 unreadable``."""
        from planner_eval.comparison.rows import STATES

        total = self.read + self.unread
        named = f" ({_counts_text(self.dialects)})" if self.dialects else ""
        phrases = [f"{self.read:,} read{named}"]
        phrases += [f"{self.states[state]:,} {state}" for state in STATES if self.states[state]]
        return f"{total:,} plan{'s' * (total != 1)}: {', '.join(phrases)}"


def _counts_text(counts: Counter[str]) -> str:
    """The most frequent first, and as they came among those of one number."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def losses_text(losses: Counter[str]) -> str:
    """What was lost, to follow what was written: ``; 3 losses (2 loss.answer, 1 loss.app)``."""
    total = losses.total()
    return f"; {total:,} loss{'es' * (total != 1)} ({_counts_text(losses)})" if total else ""


# ----------------------------------------------------------------------
# Thresholds of ``--fail-under``: whether figures reach them, in words and as test cases.
class Writing(NamedTuple):
    """What is written of figures, and where.

    Args:
        form: The format.
        output: The file; None for standard output, a folder for a whole run.
        limits: Figures below these make the exit code 1.
        failures: List what is not right.
        doubts: A file of records with doubtful gold: the figures are shown without them too.
    """

    form: str
    output: str | None
    limits: tuple[Threshold, ...] = ()
    failures: bool = False
    doubts: str | None = None


def writing_options(*names: str) -> Decorator:
    """Have a command take what is written, with some options of figures, as ``writing``.

    Args:
        names: Those options beside ``--format`` and ``--output``.
    """

    def make(
        form: str,
        output: str | None,
        fail_under: Iterable[str] = (),
        only: str | None = None,
        gold_doubts: str | None = None,
    ) -> Writing:
        return Writing(form, output, tuple(map(parse_threshold, fail_under)), only is not None, gold_doubts)

    return bundle_options("writing", make, ("form", "output", *names))


class CheckedLimit(NamedTuple):
    """A threshold beside the figure.

    Args:
        limit: The threshold.
        met: The figure reaches it.
        said: The figure and what is expected, in words.
    """

    limit: Threshold
    met: bool
    said: str

    def case(self, file: str) -> Case:
        """The threshold as a test case."""
        from planner_eval.results.views.junit import limit_case

        name = f"{self.limit.name}={self.limit.least:g}"
        return limit_case(name, met=self.met, said=self.said, file=file)


def check_limit(limit: Threshold, value: Any, *, lower: bool = False, of: str = "") -> CheckedLimit:
    """Whether a figure reaches a threshold.

    Args:
        limit: The threshold.
        value: The figure; what is no number does not exist.
        lower: Less is better, so that the threshold is the most that is allowed.
        of: What the figure is of, in words.
    """
    from planner_eval.results.contrast import check_threshold

    name = f"{limit.name} ({of})" if of else limit.name
    return CheckedLimit(limit, *check_threshold(name, value, limit.least, lower=lower))


def say_missed(checked: Iterable[CheckedLimit]) -> bool:
    """Say which figures do not reach their thresholds; whether there are any."""
    missed = [limit.said for limit in checked if not limit.met]
    for problem in missed:
        note(problem)
    return bool(missed)


# ----------------------------------------------------------------------
# What is wrong as CI servers show it: written where they look for it.
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
        form: A format of findings or of annotations.
        output: The file that they go to; None for standard output.
        headline: What all is about, in one line.
        title: The summary's heading.
    """
    root = os.environ.get("GITHUB_WORKSPACE")
    if shows(form, "findings"):
        emit(load_writer(form)(findings, root), output)
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
        note(f"{file}, the step summary, cannot be written: {error.strerror or error}")


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
