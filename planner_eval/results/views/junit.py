"""JUnit XML: what became of pairs, and of thresholds, as test runners and CI servers read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line, printable
from planner_eval.reading.files.record import Record

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_NON_XML_CHARACTER = "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
SUITE = "planeval"
"""The suite's name, which the class names begin with."""

NON_FILE_NAMES = ("standard input", "predictions", "gold", "plans", "the text")
"""What records are called that come from no file."""


class Case(NamedTuple):
    """One test case.

    Args:
        name: What is tested: a record's id, or a threshold.
        outcome: ``"passed"``, ``"failure"``, ``"error"`` (nothing could be said) or ``"skipped"`` (it
            failed, and is allowed to).
        code: What kind of failure it is.
        message: What was found, on one line.
        text: The same in full; of what passed, what there is to say.
        file: The file that it is about.
        line: The line there, counted from 1.
        group: What it is part of, after the suite's name.
    """

    name: str
    outcome: str
    code: str = ""
    message: str = ""
    text: str = ""
    file: str | None = None
    line: int | None = None
    group: str = ""

    def at(self, record: Record | None) -> Case:
        """The same case, about a record of a file."""
        return self if record is None else self._replace(file=record.file, line=record.line)


OUTCOMES = {"same": "passed", "different": "failure"}
"""What a pair's state is as a test; all others are errors."""

NEVER_ALLOWED_STATES = ("gold_unreadable", "gold_absent")
"""States of which no threshold says that they are allowed."""


def outcome(state: str, *, limited: bool) -> str:
    """What a pair's state is as a test.

    Args:
        state: One of :data:`planner_eval.comparison.rows.STATES`.
        limited: Thresholds decide, so that a pair may differ.

    >>> outcome("different", limited=False), outcome("different", limited=True), outcome("cut", limited=True)
    ('failure', 'skipped', 'skipped')
    """
    test_outcome = OUTCOMES.get(state, "error")
    return (
        "skipped"
        if limited and test_outcome != "passed" and state not in NEVER_ALLOWED_STATES
        else test_outcome
    )


def limit_case(name: str, *, met: bool, said: str, file: str | None = None) -> Case:
    """A threshold as a test case.

    Args:
        name: The threshold as the user gave it.
        met: The figure reaches it.
        said: The figure and the threshold, in words.
        file: The file of predictions.
    """
    file = "standard input" if file == "-" else file
    if met:
        return Case(name, "passed", text=said, file=file, group="thresholds")
    return Case(name, "failure", "threshold", said, file=file, group="thresholds")


def write_cases(make: Callable[[], tuple[Iterable[Case], Mapping[str, int] | None]]) -> Iterator[str]:
    """A JUnit XML report, in pieces.

    No case has a time: the same input gives the same bytes, and seconds are never the same.

    Args:
        make: Gives the cases, and how many of them have which outcome, where that is known before.

    >>> case = Case("a", "failure", "call.missing", "gold's f is missing", file="p.jsonl", line=3)
    >>> print("".join(write_cases(lambda: ([case], None))))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="1" failures="1" errors="0">
      <testsuite name="planeval" tests="1" failures="1" errors="0" skipped="0">
        <testcase name="a" classname="planeval" file="p.jsonl" line="3">
          <failure type="call.missing" message="gold's f is missing" />
        </testcase>
      </testsuite>
    </testsuites>
    """
    from xml.etree.ElementTree import Element, indent, tostring

    def start(name: str, attributes: dict[str, str]) -> str:
        return tostring(Element(name, attributes), encoding="unicode").removesuffix(" />")

    cases, outcomes = make()
    if outcomes is None:
        cases = list(cases)
        outcomes = Counter(case.outcome for case in cases)
    counts = {"tests": str(sum(outcomes.values()))}
    counts |= {f"{kind}s": str(outcomes.get(kind, 0)) for kind in ("failure", "error")}
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{start("testsuites", counts)}>\n  '
    yield start("testsuite", {"name": SUITE} | counts | {"skipped": str(outcomes.get("skipped", 0))})
    empty = True
    for case in cases:
        element = _element(case)
        indent(element, level=2)
        yield f"{'>' * empty}\n    {tostring(element, encoding='unicode')}"
        empty = False
    yield (" />" if empty else "\n  </testsuite>") + "\n</testsuites>"


def _element(case: Case) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    group = f"{SUITE}.{case.group}" if case.group else SUITE
    element = Element("testcase", name=_xml_line(case.name), classname=_xml_line(group))
    if case.file is not None and case.file not in NON_FILE_NAMES:
        element.set("file", _xml_line(case.file))
    if case.line is not None:
        element.set("line", str(case.line))
    if case.outcome != "passed":
        message = _xml_line(case.message)
        child = SubElement(element, case.outcome, type=_xml_line(case.code), message=message)
        child.text = _escape_xml(case.text) if case.text not in ("", case.message) else None
    elif case.text:
        SubElement(element, "system-out").text = _escape_xml(case.text)
    return element


def _xml_line(text: str) -> str:
    return _escape_xml(one_line(text, 500))


def _escape_xml(text: str) -> str:
    """Text with an escape for each character that XML cannot hold, or that a reader would not see."""
    return re.sub(_NON_XML_CHARACTER, lambda match: ascii(match[0])[1:-1], printable(text))
