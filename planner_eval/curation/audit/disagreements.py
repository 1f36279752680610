"""Records of one question and the same tools whose gold accepts other values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line_json
from planner_eval.catalogs.check import find_tool
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.plan.model import Ref, Template, Unresolved, Value, contains_kind
from planner_eval.results.findings import GoldFinding

CODES = ("gold.disagreeing",)


class _Accepted(NamedTuple):
    """What a record accepts: of each call its arguments, each with the values that are right."""

    number: int
    record: str
    calls: tuple[dict[str, frozenset[str]], ...]


class DisagreementFinder:
    """Holds records of one question beside each other, and remembers what each accepts.

    >>> from planner_eval.reading.dialects.read import parse
    >>> finder = DisagreementFinder()
    >>> for number, city in enumerate(("rome", "roma")):
    ...     finder.add(number, AuditedRecord(f"q{number}", parse(f"book(city='{city}')"), "A room in Rome"))
    >>> for _, finding in finder.found(): print(finding.message)
    city is "rome" here and "roma" in q1, of the same question
    city is "roma" here and "rome" in q0, of the same question
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], list[_Accepted]] = {}

    def add(self, number: int, subject: AuditedRecord) -> None:
        """Look at one more record; `number` is its position."""
        if subject.query is None or len({call.tool for call in subject.plan.calls}) != 1:
            return  # of several tools one may return what another is given
        calls = sorted(subject.plan.calls, key=lambda call: call.tool)
        declared = repr([find_tool(call, subject.catalog) for call in calls] if subject.catalog else None)
        key = (
            declared,
            " ".join((subject.said or subject.query).split()).casefold(),
            *(call.tool for call in calls),
        )
        accepted = tuple(
            {name: _spell_all(value, call.id, name, subject) for name, value in call.arguments}
            for call in calls
            if not any(contains_kind(value, (Ref, Template, Unresolved)) for _, value in call.arguments)
        )
        if len(accepted) == len(calls):
            self._groups.setdefault(key, []).append(_Accepted(number, subject.record, accepted))

    def found(self) -> Iterator[tuple[int, GoldFinding]]:
        """The findings, each with the number of its record, held against the first that differs."""
        for group in self._groups.values():
            if len({call for record in group for call in map(_freeze, record.calls)}) == len(group[0].calls):
                continue
            for record in group:
                finding = next((f for other in group if (f := _compare(record, other)) is not None), None)
                if finding is not None:
                    yield record.number, finding


def _freeze(call: dict[str, frozenset[str]]) -> frozenset[tuple[str, frozenset[str]]]:
    return frozenset(call.items())


def _spell_all(value: Value, call: str, name: str, subject: AuditedRecord) -> frozenset[str]:
    """All values of an argument that are right, each as a text without regard to case and blanks."""
    values = [value]
    if subject.open_values is not None:
        values += subject.open_values.values(call, name)
        values += [""] if subject.open_values.is_omittable(call, name) else []
    return frozenset(_spell(value) for value in values)


def _spell(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, tuple):
        value = list(value)
    return " ".join(one_line_json(value, 500).split()).casefold()


def _compare(record: _Accepted, other: _Accepted) -> GoldFinding | None:
    """In what two records of one question differ: an argument of which they accept other values."""
    for position, (call, other_call) in enumerate(zip(record.calls, other.calls, strict=True)):
        for name, values in call.items():
            other_values = other_call.get(name)
            if other_values is None or values == other_values:
                continue
            apart = values.isdisjoint(other_values)
            here, there = (min(values - other_values, default=""), min(other_values - values, default=""))
            message = (
                f"{name} is {here} here and {there} in {other.record}, of the same question" if apart
                else f"{name} accepts {here or 'no more'} here and {there or 'no more'} in {other.record}, "
                "of the same question"
            )  # fmt: skip
            return GoldFinding("gold.disagreeing", message, "medium", position, name, (other.record,))
    return None
