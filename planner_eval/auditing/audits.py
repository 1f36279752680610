"""The audits: what is looked for in gold, a row each; `CODES` of `base/errors.py` says what they may find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol, TypeAlias

from planner_eval.auditing import against, agreement, candidates, grounding, outcome, surplus, twins
from planner_eval.auditing.finding import GoldFinding
from planner_eval.auditing.subject import Subject
from planner_eval.base.named import NamedTuple

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Catalog

Find: TypeAlias = Callable[[Subject], Iterable[GoldFinding]]


class Audit(NamedTuple):
    """Something that is looked for in one record after the other.

    Args:
        codes: What it may find.
        find: Finds it.
        runs: Whether it looks at the plan's run.
    """

    codes: tuple[str, ...]
    find: Find
    runs: bool = False


class Gathering(Protocol):
    """Looks at records that go by, and keeps little of each."""

    def add(self, number: int, subject: Subject) -> None:
        """Look at one more record; `number` is its position."""

    def found(self) -> Iterable[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record."""


class Beside(NamedTuple):
    """Something that is looked for in records beside each other.

    Args:
        codes: What it may find.
        begin: Begins to look.
    """

    codes: tuple[str, ...]
    begin: Callable[[], Gathering]


def _against(subject: Subject) -> Iterable[GoldFinding]:
    return () if subject.catalog is None else against.contradictions(subject.plan, subject.catalog)


def _ungrounded(subject: Subject) -> Iterable[GoldFinding]:
    question_text = subject.said
    return () if question_text is None else grounding.ungrounded(subject.plan, question_text, subject.catalog)


def _ambiguous(subject: Subject) -> Iterable[GoldFinding]:
    return candidates.ambiguous(subject.plan, query=subject.said)


def _outvoted(subject: Subject) -> Iterable[GoldFinding]:
    return agreement.outvoted(subject.plan, subject.answers, right=subject.right)


class _Twins:
    """Records with a question beside each other."""

    def __init__(self) -> None:
        self._twins = twins.Twins()
        self._last: tuple[Catalog | None, bytes] = (None, b"")

    def add(self, number: int, subject: Subject) -> None:
        if subject.query is not None:
            tools = self._tools(subject.catalog)
            self._twins.add(number, twins.Item(subject.record, subject.query, subject.plan, tools))

    def found(self) -> Iterable[tuple[int, GoldFinding]]:
        return self._twins.found()

    def _tools(self, catalog: Catalog | None) -> bytes:
        """What tells the tools on offer apart; records of one catalog mostly follow one another."""
        if catalog is not self._last[0]:
            tools = catalog.tools if catalog is not None else ()
            names = repr(sorted((tool.app or "", tool.name) for tool in tools))
            self._last = (catalog, blake2b(names.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        return self._last[1]


AUDITS: tuple[Audit, ...] = (
    Audit(against.CODES, _against),
    Audit(surplus.CODES, surplus.surplus),
    Audit(grounding.CODES, _ungrounded),
    Audit(candidates.CODES, _ambiguous),
    Audit(outcome.CODES, outcome.outcome, runs=True),
    Audit(agreement.CODES, _outvoted),
)
"""Every audit of single records, in the order in which their findings are told of one record."""


BESIDE: tuple[Beside, ...] = (Beside(twins.CODES, _Twins),)
"""Every audit of records beside each other."""


def wanted(has: Callable[[str], bool]) -> tuple[Audit, ...]:
    """The audits that may find something that is asked for.

    Args:
        has: Whether a code is asked for.

    >>> [audit.codes[0] for audit in wanted(lambda code: code == "gold.option")]
    ['gold.fails']
    """
    return tuple(audit for audit in AUDITS if any(map(has, audit.codes)))


def audit(
    subject: Subject, audits: Sequence[Audit], has: Callable[[str], bool] = lambda code: True
) -> Iterator[GoldFinding]:
    """What audits find in one record, in the order of its calls.

    Args:
        subject: The record.
        audits: The audits.
        has: Whether a code is asked for.

    >>> from planner_eval.dialects.read import parse
    >>> plan = parse([{"name": "f", "label": "a", "arguments": {"x": "$b.y$"}}], dialect="nestful")
    >>> [found.code for found in audit(Subject("q1", plan), AUDITS)]
    ['gold.unresolved']
    """
    findings = [finding for row in audits for finding in row.find(subject) if has(finding.code)]
    yield from sorted(findings, key=lambda finding: (finding.call is None, finding.call or 0))
