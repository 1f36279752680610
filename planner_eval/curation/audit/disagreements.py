"""Records of one question and the same tools whose gold accepts other values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line_json
from planner_eval.catalogs.check import find_tool
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.plan.model import Value, is_dependent
from planner_eval.results.findings import GoldFinding

CODES = ("gold.disagreeing",)


class _Accepted(NamedTuple):
    """What a record accepts: of each call its arguments, each with the values that are right.

    A value's key is without regard to case and blanks.
    """

    number: int
    record: str
    tool: str
    calls: tuple[dict[str, dict[str, str]], ...]


class DisagreementFinder:
    """Holds records of one question beside each other, and remembers what each accepts.

    >>> from planner_eval.reading.dialects.read import parse
    >>> finder = DisagreementFinder()
    >>> for number, city in enumerate(("Rome", "Roma")):
    ...     finder.add(number, AuditedRecord(f"q{number}", parse(f"book(city='{city}')"), "A room in Rome"))
    >>> for _, finding in finder.found(): print(finding.message)
    city of book is "Rome" here and "Roma" in q1, of the same question
    city of book is "Roma" here and "Rome" in q0, of the same question
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], list[_Accepted]] = {}

    def add(self, number: int, subject: AuditedRecord) -> None:
        """Look at one more record; `number` is its position."""
        if subject.query is None or len({call.tool for call in subject.plan.calls}) != 1:
            return  # of several tools one may return what another is given
        calls = subject.plan.calls
        declared = repr([find_tool(call, subject.catalog) for call in calls] if subject.catalog else None)
        key = (
            declared,
            " ".join((subject.said or subject.query).split()).casefold(),
            *(call.tool for call in calls),
        )
        accepted = tuple(
            {name: _spell_all(value, call.id, name, subject) for name, value in call.arguments}
            for call in calls
            if not any(is_dependent(value) for _, value in call.arguments)
        )
        if len(accepted) == len(calls):
            self._groups.setdefault(key, []).append(
                _Accepted(number, subject.record, calls[0].tool, accepted)
            )

    def found(self) -> Iterator[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record, held against the first that differs."""
        for group in self._groups.values():
            distinct = {repr(record.calls): record for record in reversed(group)}
            others = sorted(distinct.values(), key=lambda record: record.number)
            for record in group:
                findings = (_compare(record, other) for other in others)
                if (finding := next(filter(None, findings), None)) is not None:
                    yield record.number, finding


def _spell_all(value: Value, call: str, name: str, subject: AuditedRecord) -> dict[str, str]:
    """All values of an argument that are right, as they are written, by what tells them apart."""
    values = [value]
    if subject.open_values is not None:
        values += subject.open_values.values(call, name)
        values += [""] if subject.open_values.is_omittable(call, name) else []
    whole = (int(v) if isinstance(v, float) and v.is_integer() else v for v in values)
    texts = [one_line_json(v, 500) for v in whole]
    return {" ".join(text.split()).casefold(): text for text in reversed(texts)}


def _compare(record: _Accepted, other: _Accepted) -> GoldFinding | None:
    """In what two records of one question differ: an argument of which they accept other values."""
    for position, (call, other_call) in enumerate(zip(record.calls, other.calls, strict=True)):
        for name, values in call.items():
            other_values = other_call.get(name)
            if other_values is None or values.keys() == other_values.keys():
                continue
            here, there = _first_beyond(values, other_values), _first_beyond(other_values, values)
            verb = "is" if values.keys().isdisjoint(other_values) else "accepts"
            comparison = f"{here} here and {there} in {other.record}"
            message = f"{name} of {record.tool} {verb} {comparison}, of the same question"
            return GoldFinding("gold.disagreeing", message, "medium", position, name, (other.record,))
    return None


def _first_beyond(values: dict[str, str], other_values: dict[str, str]) -> str:
    """A value that only one of two records accepts."""
    return values[min(values.keys() - other_values.keys())] if values.keys() - other_values else "no more"
