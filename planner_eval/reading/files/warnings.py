"""What speaks against how records were paired: places that do not fit, ids that are given twice or taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from planner_eval.base.text import format_count
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.ids import have_ids, index_by_id
from planner_eval.reading.files.pairing import is_by_position, warn_taken_names
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.storing import is_stored


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
            "position, where one that is left out before the end puts all later ones beside the wrong plan; "
            "give the records of both files ids"
        )
    yield from _warn_repeated_ids(pred, gold)
    moved = _find_moved(pred.records, gold.records)
    if moved is not None:
        count, first = moved
        yield (
            f"{pred.name}: {count:,} of {len(pred.records):,} records stand elsewhere than the record "
            f"of the same id in {gold.name}, the first is {first.id!r}: --pair id pairs them by id"
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
            f"{pred.name} and {gold.name} have not as many records in {_format_first_files(uneven)}: they "
            "have no ids and are paired by file and position, where one that is left out before the end puts "
            "all later ones beside the wrong plan; give the records ids"
        )


def _warn_positions_as_ids(pred: PlanFile, gold: PlanFile) -> Iterator[str]:
    """That of files of one name one has ids and the other has none, whose places are taken for ids."""
    for file, other in ((pred, gold), (gold, pred)):
        names = [name for name in file.placed if name in other.parts.values() and name not in other.placed]
        if names:
            yield (
                f"{file.name}: the records of {_format_first_files(names)} have no ids, those in "
                f"{other.name} "
                "have: the place of the ones is paired with the same id of the others; give all of them ids"
            )


def _format_first_files(files: list[str]) -> str:
    """Some files in words: the first three, and how many more."""
    more = f" and {len(files) - 3:,} more files" if len(files) > 3 else ""
    return ", ".join(files[:3]) + more


def _find_moved(pred: Sequence[Record], gold: Sequence[Record]) -> tuple[int, Record] | None:
    """How many records stand elsewhere than the gold record of the same id, and the first of them."""
    if is_stored(pred) or is_stored(gold):
        from planner_eval.reading.files import disk_pairs

        return disk_pairs.find_moved_predictions(pred, gold)
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
            f"{format_count(len(shared_ids), 'id')} stand{'s' * (len(shared_ids) == 1)}",
        )
        yield (
            f"{pred.name} and {gold.name}: {stand} several times in both, the first "
            f"is {key!r} ({pred_counts[key] + 1:,} and {gold_counts[key] + 1:,} times): which of its records "
            "belong together is taken from their order alone"
        )


def _records_with_repeated_ids(records: Sequence[Record]) -> Sequence[Record]:
    """The records of which an earlier one has the id."""
    return (
        records.repeated()
        if is_stored(records)
        else [records[index] for index in index_by_id(records).repeated]
    )


def format_repeated_ids(records: Sequence[Record]) -> list[str]:
    """The ids that several records have, each in a sentence with two of their places; the first three.

    So is one that a record has, and another, which has none, is called.

    >>> format_repeated_ids([Record("p", 0, "a", "f()", 1), Record("p", 1, "a", "g()", 2)])
    ["the id 'a' is given twice: p, line 1, record 1 (id a) and p, line 2, record 2 (id a)"]
    """
    repeats = _records_with_repeated_ids(records)
    firsts: Sequence[Record]
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
