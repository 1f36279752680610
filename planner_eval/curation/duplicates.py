"""Which records of a data set are alike, and which are alike to some of another, in six ways."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from planner_eval.base.errors import COUNT, FUNCTION, NAME, InputError, expect, expect_or_none
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, text_hash
from planner_eval.benchmarks.datasets.sources import Source
from planner_eval.comparison.evaluate import Progress
from planner_eval.curation.sets import (
    Questions,
    SetItem,
    SetReader,
    fields_of,
    read_sets,
    set_warnings,
)
from planner_eval.curation.shrink.pairs import set_field
from planner_eval.plan.canonical import EquivalenceClasses
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.notations.plan import to_data
from planner_eval.reading.files.context import question_template, question_words
from planner_eval.reading.files.fields import PLAN_FIELDS
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import Record
from planner_eval.reading.settings import DEFAULT_READING, Reading

# ----------------------------------------------------------------------
# Which records of a data set are alike, and which are alike to some of another, in six ways.
CRITERIA: Mapping[str, str] = {
    "same": "question and plan, values included",
    "template": "question and plan, up to values",
    "words": "question, word for word",
    "query": "question, up to values",
    "values": "plan, values included",
    "plan": "plan, up to values",
}
"""In which ways records may be alike, the closest first."""

_COMPARED: Mapping[str, Sequence[str]] = {
    "same": ("words", "values"), "template": ("query", "plan"), "words": ("words",), "query": ("query",),
    "values": ("values",), "plan": ("plan",),
}  # fmt: skip
"""The columns in which records are then equal."""

Key: TypeAlias = tuple[int, ...]
"""What records that are alike in one way share."""


class ComparedRecord(NamedTuple):
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
class AlikeCounts:
    """How many records are alike in one way.

    Args:
        way: One of :data:`CRITERIA`.
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
    across: int | None
    others: int | None
    nearest: int | None

    @property
    def meaning(self) -> str:
        """What is alike, in words."""
        return CRITERIA[self.way]


@dataclass(frozen=True, slots=True)
class Group:
    """Records that are alike.

    Args:
        records: Their positions, counted from 0.
        others: Of two sets, the positions of those of the second.
    """

    records: tuple[int, ...]
    others: tuple[int, ...] = ()


COLUMNS = ("plan", "values", "query", "words", "within")
"""What is compared of a record."""

KeyedSet: TypeAlias = Mapping[str, Sequence[int]]
"""Of each column a number for each record of a set: equal numbers are equal texts, -1 is none."""


class RecordKeys:
    """What tells the records of a set, or of two, apart; a few numbers a record, whatever its size."""

    def __init__(self) -> None:
        self._plans, self._values = EquivalenceClasses(values=False), EquivalenceClasses()
        self._known: dict[str, int] = {}

    @property
    def unproved(self) -> int:
        """Plans taken for equal to another unproved, see :mod:`planner_eval.plan.canonical`."""
        return self._plans.unproved + self._values.unproved

    def read(self, items: Iterable[ComparedRecord]) -> KeyedSet:
        """The records of one set."""
        columns = {column: array("q") for column in COLUMNS}
        for plan, question, within in items:
            texts = (
                None if plan is None else self._plans.of(plan),
                None if plan is None else self._values.of(plan),
                None if question is None else question_template(question),
                None if question is None else question_words(question),
                within,
            )
            for column, text in zip(COLUMNS, texts, strict=True):
                # texts may be long: they are kept as digests
                key = "" if text is None else text_hash(f"{column} {text}")
                columns[column].append(self._known.setdefault(key, len(self._known)) if key else -1)
        return columns


def record_keys(records: KeyedSet, criterion: str) -> list[Key | None]:
    """Each record's key under one of :data:`CRITERIA`; None where it lacks what is compared."""
    compared = zip(*(records[column] for column in _COMPARED[criterion]), strict=True)
    return [None if -1 in key else key for key in compared]


def count_alike(
    records: KeyedSet, other: KeyedSet | None = None, *, across: bool = False
) -> Iterator[AlikeCounts]:
    """How many records of a set are alike, or alike to some of another, in each way.

    Args:
        records: The set.
        other: Another one, read with the same :class:`RecordKeys`.
        across: Whether it is counted which groups are across values of a field.

    >>> keys = RecordKeys()
    >>> train, test = (
    ...     keys.read([ComparedRecord(None, one), ComparedRecord(None, "Why?")]) for one in ("5?", "6?"))
    >>> [(one.way, one.groups, one.records, one.others) for one in count_alike(train, test) if one.groups]
    [('words', 1, 1, 1), ('query', 2, 2, 2)]
    """
    nearer: set[int] = set()
    within = records["within"]
    for criterion in CRITERIA:
        alike_groups = groups(records, criterion, other)
        members = {position for group in alike_groups for position in group.records}
        spread = sum(
            len({within[position] for position in group.records} - {-1}) > 1 for group in alike_groups
        )
        yield AlikeCounts(
            criterion,
            len(alike_groups),
            len(members),
            max((len(group.records) + len(group.others) for group in alike_groups), default=0),
            spread if across else None,
            None if other is None else sum(len(group.others) for group in alike_groups),
            None if other is None else len(members - nearer),
        )
        nearer |= members


def groups(records: KeyedSet, criterion: str, other: KeyedSet | None = None) -> list[Group]:
    """The records that are alike in one way, the largest groups first.

    Args:
        records: The set.
        criterion: One of :data:`CRITERIA`.
        other: Another set, of which each group then has records too.

    >>> side = RecordKeys().read(
    ...     [ComparedRecord(None, "5 or 6?"), ComparedRecord(None, "Why?"), ComparedRecord(None, "7 or 8?")])
    >>> groups(side, "query")
    [Group(records=(0, 2), others=())]
    """
    positions = _positions_by_key(records, criterion)
    other_positions = _positions_by_key(other, criterion) if other is not None else {}
    matches = [
        Group(tuple(members), tuple(other_positions.get(key, ())))
        for key, members in positions.items()
        if (key in other_positions if other is not None else len(members) > 1)
    ]
    return sorted(matches, key=lambda group: (-len(group.records) - len(group.others), group.records[0]))


def clusters(records: KeyedSet, criterion: str) -> list[int]:
    """For each record the number of its cluster, counted from 1: those that are alike share one.

    A record that lacks what is compared lies in a cluster of its own.

    >>> clusters(RecordKeys().read([ComparedRecord(None, "5?"), ComparedRecord(None, None), ComparedRecord(
    ...     None, "6?")]), "query")
    [1, 2, 1]
    """
    numbers: dict[Key | int, int] = {}
    return [
        numbers.setdefault(index if key is None else key, len(numbers) + 1)
        for index, key in enumerate(record_keys(records, criterion))
    ]


def _positions_by_key(records: KeyedSet, criterion: str) -> dict[Key, list[int]]:
    positions: dict[Key, list[int]] = {}
    for index, key in enumerate(record_keys(records, criterion)):
        if key is not None:
            positions.setdefault(key, []).append(index)
    return positions


# ----------------------------------------------------------------------
# Which records of a data set are alike, and which of them stand in another.
CLUSTER_FIELD = "group"
"""The field that says in which cluster a record lies."""


class SetCounts(NamedTuple):
    """One set of records.

    Args:
        name: What it is called.
        records: How many records it has.
        plans: How many have a plan that can be read.
        questions: How many ask something.
        unread: How many plans cannot be read.
        reasons: Why the first of them cannot, each with its place.
    """

    name: str
    records: int
    plans: int
    questions: int
    unread: int
    reasons: tuple[str, ...]


class AlikeRecords(NamedTuple):
    """Records that are alike.

    Args:
        records: Their ids, else their places counted from 1.
        others: Of two sets, those of the second.
        question: The question of the first of them, up to values; None where it asks none.
        tools: The tools that it calls, in written order.
    """

    records: tuple[str | int, ...]
    others: tuple[str | int, ...]
    question: str | None
    tools: tuple[str, ...]


@dataclass(frozen=True)
class Duplicates:
    """Which records are alike.

    Args:
        sets: The set, or the two sets.
        way: In which way records of `groups` and `clusters` are alike, one of :data:`CRITERIA`.
        ways: How many are alike in each way.
        groups: The largest groups of records that are alike.
        clusters: For each record of the first set the number of its cluster, counted from 1.
        compared: How many records have what is compared in that way, of the set that has fewest.
        unproved: Plans that were taken for equal to another though the search for the proof took too long.
        notes: Where the questions were found, which way was taken where none was named, and what may not be
            what was meant, in words.
    """

    sets: tuple[SetCounts, ...]
    by: str
    ways: tuple[AlikeCounts, ...]
    groups: tuple[AlikeRecords, ...]
    clusters: tuple[int, ...]
    compared: int
    unproved: int
    notes: tuple[str, ...]
    source: Source = field(repr=False, compare=False)

    @property
    def chosen(self) -> AlikeCounts:
        """How many are alike in the way of `by`."""
        return next(w for w in self.ways if w.way == self.by)

    @property
    def lost(self) -> tuple[Record, ...]:
        """The records of the first set that are no JSON: nothing of them is known but their ids."""
        if self.source.dataset is not None:
            return ()
        return tuple(
            record
            for record in self.source.records
            if (error := record.error) is not None and error.code != "parse.empty"
            if record.source is None and not record.fields
        )

    def clustered(self) -> Iterator[dict[str, Any]]:
        """The records of the first set as gold records with one more field, ``group``.

        Those of :attr:`lost` are written without a plan, under their ids where they are known.

        Raises:
            InputError: a record has a field of that name already.
        """
        reader = self.source.reader(None)
        for record, number in zip(self.source.records, self.clusters, strict=True):
            if self.source.dataset is not None:
                fields = {key: value for key, value in fields_of(record).items() if key not in PLAN_FIELDS}
                plan = reader.read(record).plan
                gold = None if plan is None else to_data(plan)
                query = record.source.query
                yield {"id": record.id, "query": query, **fields, "gold": gold, CLUSTER_FIELD: number}
                continue
            if CLUSTER_FIELD in record.fields:
                raise InputError(f"{record.where} already has a field {CLUSTER_FIELD!r}: rename it first")
            yield _record_data(record, self.source.file) | {CLUSTER_FIELD: number}


def duplicates(  # noqa: PLR0913 - the options of a public function
    a: Any,
    b: Any = None,
    *,
    reading: Reading = DEFAULT_READING,
    query: str | None = None,
    way: str | None = None,
    across: str | None = None,
    examples: int = 3,
    progress: Progress | None = None,
) -> Duplicates:
    """Find records of a data set that are alike, or that stand in another one.

    Args:
        a: The set: the name of a file of records or of a published data set, what
            :func:`planner_eval.open_sources` gave, or records in memory, as :func:`planner_eval.read` takes
            them.
        b: Another set, in which records of the first are looked for.
        reading: How its records are read: notation, fields, turn, and where data sets lie.
        query: The field of a record that holds the question or conversation; recognised when left out.
        way: In which way records of a group are alike: ``"same"`` (question and plan, values included),
            ``"template"`` (both up to values), ``"words"`` (question word for word), ``"query"`` (question up
            to values), ``"values"`` (plan, values included) or ``"plan"`` (plan up to values); when left out
            ``"template"``, and ``"plan"`` where nothing is asked.
        across: Count as well how many groups have records of several values of this field.
        examples: How many groups to show.
        progress: Is told after each record how many are done, and of how many.

    Raises:
        InputError: a set cannot be read, is an empty list or none, no record has a field that is named, or
            `way` compares questions and no record asks one.

    >>> ask = "A flight from {} to {}, please"
    >>> data = [
    ...     {"id": place, "query": ask.format(place, "Rome"), "gold": f"fly(#from='{place}')"}
    ...     for place in ("Oslo", "Bergen", "Paris")
    ... ]
    >>> found = duplicates([*data, {"id": "x", "query": "What time is it?", "gold": "now()"}])
    >>> found.by, found.groups[0].records, found.clusters
    ('template', ('Oslo', 'Bergen', 'Paris'), (1, 1, 1, 2))
    """
    expect_or_none(NAME, way=way, query=query, across=across)
    expect(COUNT, examples=examples)
    expect_or_none(FUNCTION, progress=progress)
    if way is not None and way not in CRITERIA:
        raise InputError(
            f"unknown kind of duplicates {way!r}; {did_you_mean(way, CRITERIA, ', '.join(CRITERIA))}"
        )
    if across is not None and b is not None:
        raise InputError("--across counts groups within one set: drop the second set")
    readers = read_sets(a, b, reading, progress)
    sources = [reader.source for reader in readers]
    questions = [Questions(source, query) for source in sources]
    keys = RecordKeys()
    sets = [
        _read_records(keys, reader, of_set, across) for reader, of_set in zip(readers, questions, strict=True)
    ]
    criterion, chosen = _choose_criterion(way, sets, sources)
    alike_groups = groups(sets[0], criterion, *sets[1:])
    return Duplicates(
        tuple(
            SetCounts(r.title, r.records, r.plans, _count(s, "query"), r.unread, tuple(r.reasons))
            for r, s in zip(readers, sets, strict=True)
        ),
        criterion,
        tuple(count_alike(*sets, across=across is not None)),
        tuple(
            _describe_group(group, sources, questions[0], reading.dialect)
            for group in alike_groups[:examples]
        ),
        tuple(clusters(sets[0], criterion)),
        min(_count(s, criterion) for s in sets),
        keys.unproved,
        (
            *(note for of_set in questions for note in of_set.notes),
            *chosen,
            *(doubt for source in sources for doubt in set_warnings(source)),
        ),
        sources[0],
    )


def _count(records: KeyedSet, criterion: str) -> int:
    """How many records have what a criterion compares."""
    keys = record_keys(records, criterion)
    return len(keys) - keys.count(None)


def _read_records(keys: RecordKeys, reader: SetReader, questions: Questions, across: str | None) -> KeyedSet:
    """The keys of a set's records.

    Raises:
        InputError: no record has the field that groups may be across.
    """
    seen: dict[str, None] = {}
    values = Counter[str | None]()

    def compared(item: SetItem) -> ComparedRecord:
        fields = {} if across is None else fields_of(item.record)
        if len(seen) < MAX_SHOWN_FIELDS:
            seen.update(dict.fromkeys(fields))
        within = fields.get(across or "")
        within = None if within is None else str(within)
        values[within] += 1
        return ComparedRecord(item.plan, questions.of(item.record), within)

    keyed_set = keys.read(map(compared, reader))
    if across is not None and not values.keys() - {None}:
        hint = did_you_mean(
            across, seen, f"the fields are {', '.join(seen)}" if seen else "they have no others"
        )
        raise InputError(f"--across {across!r}: no record of {reader.source.name} has that field; {hint}")
    return keyed_set


MAX_SHOWN_FIELDS = 50
"""Fields that are told where one is not there."""


def _choose_criterion(
    by: str | None, keyed_sets: Iterable[KeyedSet], sources: Iterable[Source]
) -> tuple[str, tuple[str, ...]]:
    """The way that the user names, else the closest that these sets allow, and then why, in words."""
    silent = [
        source.name
        for keyed_set, source in zip(keyed_sets, sources, strict=True)
        if not _count(keyed_set, "words")
    ]
    if silent and not {"words", "query"}.isdisjoint(_COMPARED.get(by or "", ())):
        raise InputError(
            f"no record of {' and '.join(silent)} holds a question, which {by!r} compares: name its field "
            "with --field query, or compare plans alone (--by plan)"
        )
    if by is not None:
        return by, ()
    criterion = "plan" if silent else "template"
    why = f"no record of {' or '.join(silent)} has a question" if silent else "the default"
    return criterion, (f"duplicates by {criterion} ({CRITERIA[criterion]}): {why}",)


def _describe_group(
    group: Group, sources: Sequence[Source], questions: Questions, dialect: str | None
) -> AlikeRecords:
    first = sources[0].records[group.records[0]]
    question, plan = questions.of(first), sources[0].reader(dialect).read(first).plan
    return AlikeRecords(
        tuple(sources[0].records[position].told for position in group.records),
        tuple(sources[-1].records[position].told for position in group.others),
        None if question is None else question_template(question),
        () if plan is None else tuple(call.tool for call in plan.calls),
    )


# ---------------------------------------------------------------- gold records with clusters
def _record_data(record: Record, file: PlanFile | None) -> dict[str, Any]:
    """A record as it stood in its file; one that was no object there with its plan under ``gold``."""
    field, content = (file.id_field, file.content) if file is not None else (None, None)
    data: dict[str, Any] = dict(record.fields) if file is not None and file.many else {}
    if data:
        return data if record.id is None or field is not None else {"id": record.id, **data}
    if record.id is not None:
        data = set_field(data, field or "id", record.id)
    if content is not None and record.source is None:  # null would say in some fields that nothing is called
        return data
    plan = record.source
    return set_field(data, content or "gold", to_data(plan) if isinstance(plan, Plan) else plan)
