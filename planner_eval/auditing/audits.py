"""The audits: what is looked for in gold, a row each; `CODES` of `base/errors.py` says what they may find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from planner_eval.auditing import against, outcome, surplus
from planner_eval.auditing.finding import GoldFinding
from planner_eval.auditing.subject import Subject
from planner_eval.base.named import NamedTuple

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


class Beside(NamedTuple):
    """Something that is looked for in records beside each other.

    Args:
        codes: What it may find.
        find: Finds it, from all records in turn; gives the findings of each record by its name.
    """

    codes: tuple[str, ...]
    find: Callable[[Iterable[Subject]], Mapping[str, Iterable[GoldFinding]]]


def _against(subject: Subject) -> Iterable[GoldFinding]:
    return () if subject.catalog is None else against.contradictions(subject.plan, subject.catalog)


AUDITS: tuple[Audit, ...] = (
    Audit(against.CODES, _against),
    Audit(surplus.CODES, surplus.surplus),
    Audit(outcome.CODES, outcome.outcome, runs=True),
)
"""Every audit of single records, in the order in which their findings are told of one record."""


BESIDE: tuple[Beside, ...] = ()
"""Every audit of records beside each other; each costs another reading of the set."""


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
    found = [one for each in audits for one in each.find(subject) if has(one.code)]
    yield from sorted(found, key=lambda one: (one.call is None, one.call or 0))
