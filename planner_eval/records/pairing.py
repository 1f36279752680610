"""Which prediction belongs to which gold plan: by id where either file has ids, else by position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from planner_eval.base.errors import InputError, PairingError, ParseError
from planner_eval.base.text import did_you_mean
from planner_eval.records.files import PlanFile, Record
from planner_eval.records.plans import read_plan

WAYS = ("id", "position")
"""How records can be paired."""


class Pairing(NamedTuple):
    """Which prediction belongs to which gold plan.

    Args:
        by: ``"id"``, ``"position"`` or ``"file"`` (one plan each).
        pairs: (prediction, gold) in gold's order; None stands for a missing partner; predictions
            without gold follow at the end.
        repeated: Predictions and gold plans left out because an earlier record has their id.
    """

    by: str
    pairs: tuple[tuple[Record | None, Record | None], ...]
    repeated: tuple[Record, ...] = ()


def pair(pred: PlanFile, gold: PlanFile, *, by: str | None = None) -> Pairing:
    """Pair predictions with gold plans: by id where either file has ids, by position where neither has.

    Args:
        pred: The predictions.
        gold: The gold plans.
        by: One of :data:`WAYS`, where the user says it.

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
    _refuse_nothing(pred, gold)
    if _in_order(pred, gold, by):
        longest = max(len(pred.records), len(gold.records))
        lone: tuple[None, ...] = (None,) * longest
        left, right = (*pred.records, *lone)[:longest], (*gold.records, *lone)[:longest]
        return Pairing("position", tuple(zip(left, right, strict=True)))
    known = {record.id for record in gold.records} - {None}
    if not any(record.id in known for record in pred.records):
        raise PairingError(
            f"no id is in both files: {_some(pred)}; {_some(gold)}. --id-field "
            "names the field of the id; --pair position pairs the records in their order"
        )
    predictions, repeated = _by_id(pred.records)
    golds, more = _by_id(gold.records)
    pairs = [(predictions.get(key), record) for key, record in golds.items()]
    extra = [(record, None) for key, record in predictions.items() if key not in golds]
    return Pairing("id", (*pairs, *extra), (*repeated, *more))


def _in_order(pred: PlanFile, gold: PlanFile, by: str | None) -> bool:
    """Whether records of two files are paired by position."""
    has_ids = any(record.id is not None for record in (*pred.records, *gold.records))
    return by == "position" or (by is None and not has_ids)


def doubts(pred: PlanFile, gold: PlanFile, *, by: str | None = None) -> Iterator[str]:
    """What speaks against pairing two files by position, where that is how they are paired.

    A record that was left out puts each later one beside the wrong plan, and nothing else shows it.

    Args:
        pred: The predictions.
        gold: The gold plans.
        by: One of :data:`WAYS`, where the user says it.

    >>> one = PlanFile("a", (Record("a", 0, None, "f()"),), True)
    >>> two = PlanFile("b", (Record("b", 0, None, "e()"), Record("b", 1, None, "f()")), True)
    >>> [said.partition(": paired")[0] for said in doubts(one, two)]
    ['records: 1 in a, 2 in b']
    """
    if not (pred.many and gold.many and _in_order(pred, gold, by)):
        return
    if len(pred.records) != len(gold.records):
        yield (
            f"records: {len(pred.records):,} in {pred.name}, {len(gold.records):,} in {gold.name}: paired by "
            "position, where one that is left out before the end puts all later ones beside the wrong plan; "
            "give the records of both files ids"
        )
    places = {record.id: at for at, record in enumerate(gold.records) if record.id is not None}
    moved = [
        one for at, one in enumerate(pred.records) if one.id is not None and places.get(one.id, at) != at
    ]
    if moved:
        yield (
            f"{pred.name}: {len(moved):,} of {len(pred.records):,} records stand elsewhere than the record "
            f"of the same id in {gold.name}, the first is {moved[0].id!r}: --pair id pairs them by id"
        )


def _refuse_nothing(*files: PlanFile) -> None:
    """A file without anything beside one of many records would be as many rows that say the same."""
    for file, other in (files, files[::-1]):
        nothing = _nothing(file)
        if nothing is not None and len(other.records) > 1:
            raise PairingError(f"{nothing}; {other.name} holds {len(other.records):,} records")


def _nothing(file: PlanFile) -> str | None:
    """That a file holds no plan at all, in words."""
    if file.many or file.records[0].id is not None:
        return None
    alone = file.records[0]
    if alone.error is not None:
        return f"{file.name} cannot be read: {alone.error.reason}"
    return f"{file.name} is empty" if isinstance(alone.source, str) and not alone.source.strip() else None


def _some(file: PlanFile) -> str:
    ids = list(dict.fromkeys(record.id for record in file.records if record.id is not None))
    if not ids and not file.many:
        return f"{file.name} is one plan without an id{_broken(file)}"
    if not ids:
        return f"{file.name} has none{_broken(file)}"
    more = ", …" if len(ids) > 3 else ""
    return f"{file.name} has {', '.join(map(repr, ids[:3]))}{more}{_broken(file)}"


def _broken(file: PlanFile) -> str:
    """That records of a file have no certain id, for they are broken, and why the first of them is."""
    if not file.many:
        return _unread(file.records[0])
    broken = [one for one in file.records if one.error and not one.fields and one.error.code != "parse.empty"]
    if not broken:
        return ""
    first, reason = broken[0], broken[0].error
    assert reason is not None
    said = f"{len(broken):,} of its {len(file.records):,} records could not be read"
    return f" ({said}; the first is {first.where.removeprefix(file.name + ', ')}: {reason.reason})"


def _unread(record: Record) -> str:
    """That a file which is one plan is none that can be read."""
    try:
        read_plan(record)
    except ParseError as error:
        return f" (it could not be read: {error.brief})"
    return ""


def repeated_ids(records: Sequence[Record]) -> list[str]:
    """The ids that several records have, each in a sentence with two of their places; the first three.

    >>> repeated_ids([Record("p", 0, "a", "f()", 1), Record("p", 1, "a", "g()", 2)])
    ["the id 'a' is given twice: p, line 1, record 1 (id a) and p, line 2, record 2 (id a)"]
    """
    found, again = _by_id(records)
    said = []
    for record in again[:3]:
        first = found[str(record.id)]
        said.append(f"the id {record.id!r} is given twice: {first.where} and {record.where}")
    return said + ([f"… and {len(again) - 3:,} more records have the id of another"] if again[3:] else [])


def _by_id(records: Sequence[Record]) -> tuple[dict[str, Record], list[Record]]:
    found: dict[str, Record] = {}
    repeated = []
    whole = {record.id for record in records if record.error is None}
    for record in records:
        # A record without an id has no partner; it still is a row. So is one that cannot be read, and of
        # whose id nothing is certain, where another record has that id.
        lone = record.id is None or (record.error is not None and record.id in whole)
        key = f"\0{record.file}\0{record.position}" if lone else str(record.id)
        if key in found:
            repeated.append(record)
        else:
            found[key] = record
    return found, repeated


def refuse_repeated_gold(pairing: Pairing, gold: Iterable[Record]) -> None:
    """Two gold plans of one id would leave one of them out in silence.

    Args:
        pairing: How records were paired.
        gold: The gold records.

    Raises:
        InputError: two gold plans have one id; names both places.
    """
    ours = {id(record) for record in gold}
    for record in pairing.repeated:
        if id(record) in ours:
            first = next(g for _, g in pairing.pairs if g is not None and g.id == record.id)
            raise InputError(f"two gold plans have the id {record.id!r}: {first.where} and {record.where}")


_COMPARED = 20_000
"""Among so many ids the closest to one that is not there is looked for: 50 ms."""


def refuse_unknown(wanted: Iterable[str], known: Collection[str], names: str = "") -> None:
    """An id that no record has is a slip: what is done with the others alone would hide it.

    Args:
        wanted: The ids that are asked for.
        known: The ids that there are.
        names: Whose ids these are, for the message.

    Raises:
        InputError: names the first id that is not there, and the closest that is.

    >>> refuse_unknown(["q1", "q22"], ["q1", "q2"], "p.jsonl")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: p.jsonl: no record has the id 'q22'; did you mean 'q2'?
    """
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, islice(known, _COMPARED), lead="; ")
            raise InputError(f"{names + ': ' if names else ''}no record has the id {name!r}{hint}")
