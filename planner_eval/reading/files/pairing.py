"""Which prediction belongs to which gold plan, by id or by position; files that share no id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import did_you_mean, format_count, one_line_json
from planner_eval.reading.files.fields import ABSENT, value_at
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import (
    Record,
    Records,
    have_ids,
    index_by_id,
    is_lazy_pairs,
    is_sharded,
    is_stored,
    pair_name,
    parse_position_name,
    prefix_id,
    read_plan,
)

if TYPE_CHECKING:
    from planner_eval.reading.files.record_index import IndexFolder


# ----------------------------------------------------------------------
# What is said of two files that share no id, of ids that are none, and of those that are another's name.
def no_shared_ids_error(pred: PlanFile, gold: PlanFile) -> PairingError:
    """The error of two files that share no id: which ids they have, and whether records are broken.

    Args:
        pred: The predictions.
        gold: The gold plans.

    >>> one = PlanFile("a", (Record("a", 0, "x", "f()"),), True)
    >>> str(no_shared_ids_error(one, PlanFile("b", (Record("b", 0, "y", "f()"),), True))).partition(". --")[0]
    "no id is in both files: a has 'x'; b has 'y'"
    """
    return PairingError(
        f"no id is in both files: {_format_ids(pred, gold)}; {_format_ids(gold, pred)}. --field id=NAME "
        "names the field of the id; --pair position pairs the records in their order"
    )


def warn_invalid_ids(file: PlanFile, field: str | None = None) -> Iterator[str]:
    """That the field of the id holds in some records what names none: they are as records without an id.

    Args:
        file: The file.
        field: The field of the id, where the file has none of its own.

    >>> made = (Record("a", 0, "x", "f()", 1), Record("a", 1, None, "g()", 2, fields={"id": True}))
    >>> next(warn_invalid_ids(PlanFile("a", made, True, id_field="id"))).partition(";")[0]
    "a: the 'id' of 1 record is not an id (first line 2, record 2: true)"
    """
    field = file.id_field or field
    if field is None or not file.many:
        return
    records: Iterable[Record]
    if is_stored(file.records):
        records = file.records.nameless(field)
    else:
        records = (record for record in file.records if record.id is None)
    count, first, value = 0, None, None
    for record in records:
        field_value = value_at(record.fields, field)
        if field_value is not ABSENT and field_value is not None:
            count += 1
            first, value = (record, field_value) if first is None else (first, value)
    if first is not None:
        where = first.where.removeprefix(f"{file.name}, ")
        yield (
            f"{file.name}: the {field!r} of {format_count(count, 'record')} is not an id (first {where}: "
            f"{one_line_json(value, 40)}); expected a text that is not empty, or a whole number. Records "
            "without an id are not paired"
        )


def warn_taken_names(named: Records, lacking: Records, kind: str = "record") -> Iterator[str]:
    """That an id is what a record without one is called, of the first that is.

    Args:
        named: Records of which some have ids.
        lacking: Records of which some have none.
        kind: Which these are, as :class:`.ids.Place` says it.

    >>> made = Record("a", 0, "record 2", "f()"), Record("a", 1, None, "g()")
    >>> next(warn_taken_names(made, made)).partition(":")[0]
    "a, record 2 has no id and is called 'record 2', which is the id of a, record 1 (id record 2)"
    """
    lacking_by_position = (
        {} if is_stored(lacking) else {record.position: record for record in lacking if record.id is None}
    )
    if not (lacking_by_position or is_stored(lacking)):
        return
    for record in _records_with_prefix(named, f"{kind} "):
        location = parse_position_name(str(record.id))
        if location is None:
            continue
        if is_stored(lacking):
            other = lacking[location.position] if location.position < len(lacking) else None
        else:
            other = lacking_by_position.get(location.position)
        if other is not None and other.id is None:
            yield (
                f"{other.where} has no id and is called {record.id!r}, which is the id of {record.where}: "
                "both have the same name in reports; give each record an id"
            )
            return


def _records_with_prefix(records: Records, text: str) -> Iterable[Record]:
    """The records whose ids begin with a text."""
    if is_stored(records):
        return records.beginning(text)
    return (record for record in records if record.id is not None and record.id.startswith(text))


def _format_ids(file: PlanFile, other: PlanFile) -> str:
    ids = _first_ids(file.records)
    wrong = next(warn_invalid_ids(file, other.id_field), None) if not ids else None
    if wrong is not None:
        return wrong
    if not ids and not file.many:
        return f"{file.name} is one plan without an id{_format_broken_records(file)}"
    if not ids:
        return f"{file.name} has none{_format_broken_records(file)}"
    more = ", …" if len(ids) > 3 else ""
    return f"{file.name} has {', '.join(map(repr, ids[:3]))}{more}{_format_broken_records(file)}"


def _first_ids(records: Iterable[Record]) -> list[str]:
    """The first ids, one more than are shown."""
    ids: dict[str, None] = {}
    for record in records:
        if record.id is not None:
            ids[record.id] = None
        if len(ids) > 3:
            break
    return list(ids)


def _format_broken_records(file: PlanFile) -> str:
    """That records of a file have no certain id, for they are broken, and why the first of them is."""
    if not file.many:
        try:
            read_plan(file.records[0])
        except ParseError as error:
            return f" (it could not be read: {error.brief})"
        return ""
    records = file.records
    broken = records.broken() if is_stored(records) else [record for record in records if record.is_broken]
    if not broken:
        return ""
    first, reason = broken[0], broken[0].error
    assert reason is not None
    sentence = f"{len(broken):,} of its {format_count(len(file.records), 'record')} could not be read"
    return f" ({sentence}; the first is {first.where.removeprefix(file.name + ', ')}: {reason.reason})"


# ----------------------------------------------------------------------
# Which prediction belongs to which gold plan: by id where either file has ids, else by position.
PAIRING_KEYS = ("id", "position")
"""How records can be paired."""


Pair: TypeAlias = tuple[Record | None, Record | None]
"""A prediction and its gold plan; None for a missing partner."""

Pairs: TypeAlias = Sequence[Pair]


class Pairing(NamedTuple):
    """Which prediction belongs to which gold plan.

    Args:
        by: ``"id"``, ``"position"`` or ``"file"`` (one plan each).
        pairs: (prediction, gold) in gold's order; None stands for a missing partner; predictions
            without gold follow at the end. Of large files they are read whenever they are asked for.
        repeated: Predictions and gold plans left out because an earlier record has their id.
    """

    by: str
    pairs: Pairs
    repeated: Records = ()


def pair(
    pred: PlanFile, gold: PlanFile, *, by: str | None = None, folder: str | IndexFolder | None = None
) -> Pairing:
    """Pair predictions with gold plans: by id where either file has ids, by position where neither has.

    Args:
        pred: The predictions.
        gold: The gold plans.
        by: One of :data:`PAIRING_KEYS`, where the user says it.
        folder: Where it is kept which records of large files belong together; when left out in a temporary
            folder.

    Raises:
        PairingError: pairing is by id, and no id is in both files; or one file is empty or cannot be read,
            and the other holds many records.

    >>> one = PlanFile("a", (Record("a", 0, "x", "f()"), Record("a", 1, "y", "g()")), True)
    >>> two = PlanFile("b", (Record("b", 0, "y", "g()"),), True)
    >>> [(p and p.id, g and g.id) for p, g in pair(one, two).pairs]
    [('y', 'y'), ('x', None)]
    """
    if by is None and not pred.many and not gold.many:
        return Pairing("file", ((pred.records[0], gold.records[0]),))
    _refuse_empty_files(pred, gold)
    if is_stored(pred.records) or is_stored(gold.records):
        return _pair_stored(pred, gold, by, folder)
    if is_by_position(pred, gold, by):
        longest = max(len(pred.records), len(gold.records))
        lone: tuple[None, ...] = (None,) * longest
        left, right = (*pred.records, *lone)[:longest], (*gold.records, *lone)[:longest]
        return Pairing("position", tuple(zip(left, right, strict=True)))
    gold_ids = {record.id for record in gold.records} - {None}
    if not any(record.id in gold_ids for record in pred.records):
        raise no_shared_ids_error(pred, gold)
    pred_lookup, gold_lookup = index_by_id(pred.records), index_by_id(gold.records)
    predictions = {key: pred.records[index] for key, index in pred_lookup.places.items()}
    pairs = [(predictions.get(key), gold.records[index]) for key, index in gold_lookup.places.items()]
    extra = [(record, None) for key, record in predictions.items() if key not in gold_lookup.places]
    repeated = (pred.records[index] for index in pred_lookup.repeated)
    return Pairing(
        "id", (*pairs, *extra), (*repeated, *(gold.records[index] for index in gold_lookup.repeated))
    )


def _pair_stored(pred: PlanFile, gold: PlanFile, by: str | None, folder: str | IndexFolder | None) -> Pairing:
    """The same of files of which one at least is read by its index."""
    from planner_eval.reading.files import disk_joins

    if is_by_position(pred, gold, by):
        return Pairing("position", disk_joins.pair_by_position(pred.records, gold.records))
    paired = disk_joins.pair_by_id(pred.records, gold.records, folder)
    if paired is None:
        raise no_shared_ids_error(pred, gold)
    return Pairing("id", *paired)


def is_by_position(pred: PlanFile, gold: PlanFile, by: str | None) -> bool:
    """Whether records of two files are paired by position."""
    return by == "position" or (by is None and not any(map(have_ids, (pred.records, gold.records))))


def _refuse_empty_files(*files: PlanFile) -> None:
    """A file without anything beside one of many records would be as many rows that say the same."""
    for file, other in (files, files[::-1]):
        nothing = _format_missing_plans(file)
        if nothing is not None and len(other.records) > 1:
            raise PairingError(f"{nothing}; {other.name} holds {len(other.records):,} records")


def _format_missing_plans(file: PlanFile) -> str | None:
    """That a file holds no plan at all, in words."""
    if file.many or file.records[0].id is not None:
        return None
    alone = file.records[0]
    if alone.error is not None:
        return f"{file.name} cannot be read: {alone.error.reason}"
    return f"{file.name} is empty" if isinstance(alone.source, str) and not alone.source.strip() else None


def refuse_repeated_gold(pairing: Pairing, gold: Records) -> None:
    """Two gold plans of one id would leave one of them out in silence.

    Args:
        pairing: How records were paired.
        gold: The gold records.

    Raises:
        InputError: two gold plans have one id; names both places.
    """
    if pairing.by != "id" or not pairing.repeated:
        return
    repeats: Records
    if is_stored(gold):
        repeats = gold.repeated()[:1]
    else:
        gold_identities = {id(record) for record in gold}
        repeats = [record for record in pairing.repeated if id(record) in gold_identities][:1]
    for record in repeats:
        same = gold.of_id(str(record.id)) if is_stored(gold) else gold
        first = next(other for other in same if other.id == record.id)
        raise InputError(
            f"two gold plans have the id {record.id!r}: {first.where} and {record.where}; if both "
            "are right, put one in the other's field 'alternatives'"
        )


def select_pairs(pairs: Pairs, ids: Collection[str], *, gold_named: bool = False) -> Pairs:
    """The pairs of which a record has one of some ids, or which are called so where others of gold have ids.

    Args:
        pairs: The pairs.
        ids: The ids.
        gold_named: Whether gold's records have ids.

    Raises:
        InputError: an id is on neither side.
    """
    if is_lazy_pairs(pairs):
        refuse_unknown_ids(ids, pairs.ids)
        return pairs.of_ids(ids)
    called = []
    for position, records in enumerate(pairs):
        names = [record.id for record in records if record is not None and record.id is not None]
        called.append([*names, pair_name(position, *records, gold_named=True)] if gold_named else names)
    refuse_unknown_ids(ids, dict.fromkeys(name for names in called for name in names))
    return tuple(p for p, names in zip(pairs, called, strict=True) if not set(names).isdisjoint(ids))


def map_pairs(pairs: Pairs, step: Callable[[Pair], Pair]) -> Pairs:
    """The same pairs, something done to each: it can be pickled."""
    return pairs.each(step) if is_lazy_pairs(pairs) else tuple(map(step, pairs))


_MAX_COMPARED_IDS = 20_000
"""Among so many ids the closest to one that is not there is looked for: 50 ms."""


def refuse_unknown_ids(requested: Iterable[str], existing: Collection[str], names: str = "") -> None:
    """An id that no record has is a slip: what is done with the others alone would hide it.

    Args:
        requested: The ids that are asked for.
        existing: The ids that there are.
        names: Whose ids these are, for the message.

    Raises:
        InputError: names the first id that is not there, and the closest that is.

    >>> refuse_unknown_ids(["q1", "q22"], ["q1", "q2"], "p.jsonl")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: p.jsonl: no record has the id 'q22'; did you mean 'q2'?
    """
    for name in requested:
        if name not in existing:
            hint = did_you_mean(name, islice(existing, _MAX_COMPARED_IDS), lead="; ")
            raise InputError(f"{names + ': ' if names else ''}no record has the id {name!r}{hint}")


# ----------------------------------------------------------------------
# What speaks against how records were paired: places that do not fit, ids that are given twice or taken.
def warn_doubtful_pairing(pred: PlanFile, gold: PlanFile, *, by: str | None = None) -> Iterator[str]:
    """What speaks against pairing two files by position, where that is how they are paired.

    A record that was left out puts each later one beside the wrong plan, and nothing else shows it.

    Args:
        pred: The predictions.
        gold: The gold plans.
        by: One of :data:`WAYS`, where the user says it.

    >>> one = PlanFile("a", (Record("a", 0, None, "f()"),), True)
    >>> two = PlanFile("b", (Record("b", 0, None, "e()"), Record("b", 1, None, "f()")), True)
    >>> [said.partition(": paired")[0] for said in warn_doubtful_pairing(one, two)]
    ['records: 1 in a, 2 in b']
    """
    yield from _warn_uneven_counts(pred, gold)
    yield from _warn_positions_as_ids(pred, gold)
    if not (pred.many and gold.many and is_by_position(pred, gold, by)):
        return
    if len(pred.records) != len(gold.records):
        yield (
            f"records: {len(pred.records):,} in {pred.name}, {len(gold.records):,} in {gold.name}: paired by "
            "position, where one missing record shifts all later ones; "
            "add ids to both files"
        )
    yield from _warn_repeated_ids(pred, gold)
    moved = _find_moved(pred.records, gold.records)
    if moved is not None:
        count, first = moved
        yield (
            f"{pred.name}: {count:,} of {len(pred.records):,} records are at other positions than "
            f"the records with the same id in {gold.name}, the first is {first.id!r}: --pair id pairs them "
            f"by id"
        )


def warn_taken_pair_names(pred: PlanFile, gold: PlanFile) -> Iterator[str]:
    """That an id of one file is what a pair without one is called, for the other's record has none.

    Args:
        pred: The predictions.
        gold: The gold plans.

    >>> one = PlanFile("a", (Record("a", 0, "record 2", "f()"),), True)
    >>> two = PlanFile("b", (Record("b", 0, "x", "e()"), Record("b", 1, None, "f()")), True)
    >>> [said.partition(",")[0] for said in warn_taken_pair_names(one, two)]
    ['b']
    """
    if have_ids(gold.records):
        yield from warn_taken_names(pred.records, gold.records)
        yield from warn_taken_names(pred.records, pred.records, "prediction")
        yield from warn_taken_names(gold.records, pred.records, "prediction")


def _warn_uneven_counts(pred: PlanFile, gold: PlanFile) -> Iterator[str]:
    """That files of two directories, whose records have no ids, have not as many of them."""
    uneven = [
        f"{name} ({count:,} and {gold.placed[name]:,})"
        for name, count in pred.placed.items()
        if gold.placed.get(name, count) != count
    ]
    if uneven:
        yield (
            f"{pred.name} and {gold.name} have different numbers of records in "
            f"{_format_first_files(uneven)}: they have no ids and are paired by file and "
            "position, where one missing record shifts all later ones; add ids"
        )


def _warn_positions_as_ids(pred: PlanFile, gold: PlanFile) -> Iterator[str]:
    """That of files of one name one has ids and the other has none, whose places are taken for ids."""
    for file, other in ((pred, gold), (gold, pred)):
        names = [name for name in file.placed if name in other.parts.values() and name not in other.placed]
        if names:
            yield (
                f"{file.name}: the records of {_format_first_files(names)} have no ids, those in "
                f"{other.name} "
                "have: positions of the former are paired with equal ids of the latter; give all records ids"
            )


def _format_first_files(files: list[str]) -> str:
    """Some files in words: the first three, and how many more.

    >>> _format_first_files([*"abc"]), _format_first_files([*"abcd"])
    ('a, b, c', 'a, b, c and 1 more file')
    """
    more = f" and {format_count(len(files) - 3, 'more file')}" if len(files) > 3 else ""
    return ", ".join(files[:3]) + more


def _find_moved(pred: Records, gold: Records) -> tuple[int, Record] | None:
    """How many records stand elsewhere than the gold record of the same id, and the first of them."""
    if is_stored(pred) or is_stored(gold):
        from planner_eval.reading.files import disk_joins

        return disk_joins.find_moved_predictions(pred, gold)
    gold_ids = {record.id for record in gold} - {None}
    gold_order = (*(record.id for record in gold), *[None] * (len(pred) - len(gold)))
    moved = [
        record
        for record, gold_id in zip(pred, gold_order, strict=False)
        if record.id in gold_ids and record.id != gold_id
    ]
    return (len(moved), moved[0]) if moved else None


def _warn_repeated_ids(pred: PlanFile, gold: PlanFile) -> Iterator[str]:
    """That ids are repeated in both of two files, whose records are paired by position."""
    pred_counts, gold_counts = (
        Counter(record.id for record in _records_with_repeated_ids(file.records)) for file in (pred, gold)
    )
    shared_ids = [key for key in pred_counts if key in gold_counts]
    if shared_ids:
        key, stand = (
            shared_ids[0],
            f"{format_count(len(shared_ids), 'id')} occur{'s' * (len(shared_ids) == 1)}",
        )
        yield (
            f"{pred.name} and {gold.name}: {stand} several times in both, the first "
            f"is {key!r} ({pred_counts[key] + 1:,} and {gold_counts[key] + 1:,} times): they are "
            "paired by their order"
        )


def _records_with_repeated_ids(records: Records) -> Records:
    """The records of which an earlier one has the id."""
    return (
        records.repeated()
        if is_stored(records)
        else [records[index] for index in index_by_id(records).repeated]
    )


def format_repeated_ids(records: Records) -> list[str]:
    """The ids that several records have, each in a sentence with two of their places; the first three.

    So is one that a record has, and another, which has none, is called.

    >>> format_repeated_ids([Record("p", 0, "a", "f()", 1), Record("p", 1, "a", "g()", 2)])
    ["the id 'a' is given twice: p, line 1, record 1 (id a) and p, line 2, record 2 (id a)"]
    """
    repeats = _records_with_repeated_ids(records)
    firsts: Records
    if is_stored(records):
        firsts = records.firsts(3)
    else:
        positions = index_by_id(records).places
        firsts = [records[positions[str(record.id)]] for record in repeats[:3]]
    messages = [
        f"the id {record.id!r} is given twice: {first.where} and {record.where}"
        for record, first in zip(repeats[:3], firsts, strict=True)
    ]
    more = len(repeats) - len(messages)
    messages += [f"… and {more:,} more records have the id of another"] if more else []
    return [*messages, *warn_taken_names(records, records)]


def prefix_ids_by_file(pred: PlanFile, gold: PlanFile) -> tuple[PlanFile, PlanFile]:
    """Two directories with the files' names before the ids, where gold's files use the same ids again.

    So files are paired by name, and inside of them records by id. Where either is one file, both stay.
    """
    if not (pred.parts and gold.parts):
        return pred, gold
    if is_sharded(gold.records):
        share_ids = gold.records.share_ids()
    else:
        files: dict[str, str] = {}
        named = ((record.id, record.file) for record in gold.records if record.id is not None)
        share_ids = any(files.setdefault(id, file) != file for id, file in named)
    return (_prefix_ids(pred), _prefix_ids(gold)) if share_ids else (pred, gold)


def _prefix_ids(file: PlanFile) -> PlanFile:
    """The records with their file's name before their id, so that none is given twice for that."""

    def own(record: Record) -> Record:
        named = record.id is None
        return record if named else record._replace(id=prefix_id(file.parts[record.file], str(record.id)))

    stale = format_repeated_ids(file.records)
    if is_sharded(file.records):
        records: Records = file.records.prefixed()
    else:
        records = tuple(map(own, file.records))
    notes = (*(note for note in file.notes if note not in stale), *format_repeated_ids(records))
    return file._replace(records=records, notes=notes)
