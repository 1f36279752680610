"""Which records of a data set are alike, and which are alike to some of another, in six ways."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from planner_eval.base.named import NamedTuple
from planner_eval.datasets.questions import question_template, question_words
from planner_eval.plan.digest import Classes
from planner_eval.plan.model import Plan

WAYS: Mapping[str, str] = {
    "same": "question and plan, values included",
    "template": "question and plan, up to values",
    "words": "question, word for word",
    "query": "question, up to values",
    "values": "plan, values included",
    "plan": "plan, up to values",
}
"""In which ways records may be alike, the closest first."""

ASKED = ("same", "template", "words", "query")
"""Those in which questions are alike."""

Key: TypeAlias = tuple[int, ...]
"""What records that are alike in one way share."""


class Item(NamedTuple):
    """One record as it is compared.

    Args:
        plan: Its plan; None where it has none that can be read.
        question: What is asked; None where that is not said.
        within: The value of the field of which it is asked whether groups are across; None without one.
    """

    plan: Plan | None
    question: str | None
    within: str | None = None


@dataclass(frozen=True, slots=True)
class Alike:
    """How many records are alike in one way.

    Args:
        way: One of :data:`WAYS`.
        groups: How many groups of them there are; of two sets, how many that have records of both.
        records: How many records stand in these groups; of two sets, how many of the first.
        largest: How many stand in the largest of them.
        across: How many groups have records of several values of a field; None where none was asked for.
        others: Of two sets, how many records of the second stand in these groups.
        nearest: Of two sets, how many records of the first are alike to one of the second in this way and
            in none that is closer.
    """

    way: str
    groups: int
    records: int
    largest: int
    across: int | None = None
    others: int | None = None
    nearest: int | None = None

    @property
    def meaning(self) -> str:
        """What is alike, in words."""
        return WAYS[self.way]


@dataclass(frozen=True, slots=True)
class Group:
    """Records that are alike.

    Args:
        records: Their positions, counted from 0.
        others: Of two sets, the positions of those of the second.
    """

    records: tuple[int, ...]
    others: tuple[int, ...] = ()


class Keys:
    """What tells the records of a set, or of two, apart; a few numbers a record, whatever its size."""

    def __init__(self) -> None:
        self._plans, self._values = Classes(values=False), Classes()
        self._known: dict[bytes, int] = {}

    @property
    def unproved(self) -> int:
        """Plans taken for equal to another unproved, see :class:`planner_eval.plan.digest.Classes`."""
        return self._plans.unproved + self._values.unproved

    def read(self, items: Iterable[Item]) -> Side:
        """The records of one set."""
        records = Side()
        for item in items:
            plan, question = item.plan, item.question
            records.add(
                self._of("plan", None if plan is None else self._plans.of(plan)),
                self._of("values", None if plan is None else self._values.of(plan)),
                self._of("query", None if question is None else question_template(question)),
                self._of("words", None if question is None else question_words(question)),
                self._of("within", item.within),
            )
        return records

    def _of(self, kind: str, text: str | None) -> int:
        """A number for a text of a kind; -1 for none. Texts are kept as digests, for they may be long."""
        if text is None:
            return -1
        key = blake2b(f"{kind} {text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return self._known.setdefault(key, len(self._known))


class Side:
    """The keys of the records of one set, in their order."""

    __slots__ = ("_columns",)

    def __init__(self) -> None:
        self._columns = tuple(array("q") for _ in range(5))

    def __len__(self) -> int:
        return len(self._columns[0])

    def add(self, *numbers: int) -> None:
        """Add a record."""
        for column, number in zip(self._columns, numbers, strict=True):
            column.append(number)

    def count(self, criterion: str) -> int:
        """How many records have what a criterion compares."""
        return sum(key is not None for key in self.keys(criterion))

    def keys(self, criterion: str) -> list[Key | None]:
        """Each record's key under one of :data:`WAYS`; None where it lacks what is compared."""
        plan, values, query, words, _ = self._columns
        of = {
            "same": (words, values), "template": (query, plan), "words": (words,), "query": (query,),
            "values": (values,), "plan": (plan,),
        }[criterion]  # fmt: skip
        return [None if -1 in key else key for key in zip(*of, strict=True)]

    @property
    def within(self) -> Sequence[int]:
        """For each record the number of its value of the field that groups may be across; -1 for none."""
        return self._columns[4]


def alike(records: Side, *, across: bool = False) -> tuple[Alike, ...]:
    """How many records of a set are alike, in each way.

    Args:
        records: The set.
        across: Whether it is counted which groups are across values of a field.

    >>> side = Keys().read([Item(None, "5 or 6?"), Item(None, "7 or 8?"), Item(None, "Why?")])
    >>> [(one.way, one.groups, one.records) for one in alike(side) if one.records]
    [('query', 1, 2)]
    """
    results = []
    for criterion in WAYS:
        keys = records.keys(criterion)
        counts = {key: count for key, count in Counter(keys).items() if key is not None and count > 1}
        spread: dict[Key, set[int]] = {}
        for key, value in zip(keys, records.within, strict=True) if across else ():
            if key in counts and value >= 0:
                spread.setdefault(key, set()).add(value)
        over = sum(len(values) > 1 for values in spread.values()) if across else None
        results.append(
            Alike(criterion, len(counts), sum(counts.values()), max(counts.values(), default=0), over)
        )
    return tuple(results)


def shared(records: Side, other: Side) -> tuple[Alike, ...]:
    """How many records of a set are alike to some of another, in each way.

    Args:
        records: The first set.
        other: The second, read with the same :class:`Keys`.

    >>> keys = Keys()
    >>> train, test = (keys.read([Item(None, one), Item(None, "Why?")]) for one in ("5?", "6?"))
    >>> [(one.way, one.groups, one.records, one.others) for one in shared(train, test) if one.groups]
    [('words', 1, 1, 1), ('query', 2, 2, 2)]
    """
    results = []
    matched = [False] * len(records)
    for criterion in WAYS:
        counts, other_counts = Counter(records.keys(criterion)), Counter(other.keys(criterion))
        shared_counts = {key: counts[key] for key in counts if key is not None and key in other_counts}
        hits = [key in shared_counts for key in records.keys(criterion)]
        nearest = sum(hit and not earlier for hit, earlier in zip(hits, matched, strict=True))
        matched = [hit or earlier for hit, earlier in zip(hits, matched, strict=True)]
        other_records = sum(other_counts[key] for key in shared_counts)
        most = max((counts[key] + other_counts[key] for key in shared_counts), default=0)
        results.append(
            Alike(
                criterion, len(shared_counts), sum(shared_counts.values()), most, None, other_records, nearest
            )
        )
    return tuple(results)


def groups(records: Side, criterion: str, other: Side | None = None) -> list[Group]:
    """The records that are alike in one way, the largest groups first.

    Args:
        records: The set.
        criterion: One of :data:`WAYS`.
        other: Another set, of which each group then has records too.

    >>> side = Keys().read([Item(None, "5 or 6?"), Item(None, "Why?"), Item(None, "7 or 8?")])
    >>> groups(side, "query")
    [Group(records=(0, 2), others=())]
    """
    positions, other_positions = (
        _places(records.keys(criterion)),
        _places(other.keys(criterion)) if other is not None else {},
    )
    matches = [
        Group(tuple(members), tuple(other_positions.get(key, ())))
        for key, members in positions.items()
        if (key in other_positions if other is not None else len(members) > 1)
    ]
    return sorted(matches, key=lambda group: (-len(group.records) - len(group.others), group.records[0]))


def clusters(records: Side, criterion: str) -> list[int]:
    """For each record the number of its cluster, counted from 1: those that are alike share one.

    A record that lacks what is compared lies in a cluster of its own.

    >>> clusters(Keys().read([Item(None, "5?"), Item(None, None), Item(None, "6?")]), "query")
    [1, 2, 1]
    """
    numbers: dict[Key | int, int] = {}
    return [
        numbers.setdefault(index if key is None else key, len(numbers) + 1)
        for index, key in enumerate(records.keys(criterion))
    ]


def _places(keys: Iterable[Key | None]) -> dict[Key, list[int]]:
    positions: dict[Key, list[int]] = {}
    for index, key in enumerate(keys):
        if key is not None:
            positions.setdefault(key, []).append(index)
    return positions
