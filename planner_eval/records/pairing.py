"""Which prediction belongs to which gold plan: by id where either file has ids, else by position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from planner_eval.base.errors import InputError, PairingError
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import did_you_mean
from planner_eval.records.files import PlanFile, Record
from planner_eval.records.ids import by_id, have_ids, pair_name
from planner_eval.records.storing import is_joined, is_stored
from planner_eval.records.strangers import strangers

if TYPE_CHECKING:
    from planner_eval.records.index import Folder

WAYS = ("id", "position")
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
    repeated: Sequence[Record] = ()


def pair(
    pred: PlanFile, gold: PlanFile, *, by: str | None = None, folder: str | Folder | None = None
) -> Pairing:
    """Pair predictions with gold plans: by id where either file has ids, by position where neither has.

    Args:
        pred: The predictions.
        gold: The gold plans.
        by: One of :data:`WAYS`, where the user says it.
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
    _refuse_nothing(pred, gold)
    if is_stored(pred.records) or is_stored(gold.records):
        return _stored(pred, gold, by, folder)
    if in_order(pred, gold, by):
        longest = max(len(pred.records), len(gold.records))
        lone: tuple[None, ...] = (None,) * longest
        left, right = (*pred.records, *lone)[:longest], (*gold.records, *lone)[:longest]
        return Pairing("position", tuple(zip(left, right, strict=True)))
    gold_ids = {record.id for record in gold.records} - {None}
    if not any(record.id in gold_ids for record in pred.records):
        raise strangers(pred, gold)
    pred_lookup, gold_lookup = by_id(pred.records), by_id(gold.records)
    predictions = {key: pred.records[index] for key, index in pred_lookup.places.items()}
    pairs = [(predictions.get(key), gold.records[index]) for key, index in gold_lookup.places.items()]
    extra = [(record, None) for key, record in predictions.items() if key not in gold_lookup.places]
    repeated = (pred.records[index] for index in pred_lookup.repeated)
    return Pairing(
        "id", (*pairs, *extra), (*repeated, *(gold.records[index] for index in gold_lookup.repeated))
    )


def _stored(pred: PlanFile, gold: PlanFile, by: str | None, folder: str | Folder | None) -> Pairing:
    """The same of files of which one at least is read by its index."""
    from planner_eval.records import joined

    if in_order(pred, gold, by):
        return Pairing("position", joined.by_position(pred.records, gold.records))
    paired = joined.join(pred.records, gold.records, folder)
    if paired is None:
        raise strangers(pred, gold)
    return Pairing("id", *paired)


def in_order(pred: PlanFile, gold: PlanFile, by: str | None) -> bool:
    """Whether records of two files are paired by position."""
    return by == "position" or (by is None and not any(map(have_ids, (pred.records, gold.records))))


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


def refuse_repeated_gold(pairing: Pairing, gold: Sequence[Record]) -> None:
    """Two gold plans of one id would leave one of them out in silence.

    Args:
        pairing: How records were paired.
        gold: The gold records.

    Raises:
        InputError: two gold plans have one id; names both places.
    """
    if pairing.by != "id" or not pairing.repeated:
        return
    repeats: Sequence[Record]
    if is_stored(gold):
        repeats = gold.repeated()[:1]
    else:
        gold_identities = {id(record) for record in gold}
        repeats = [record for record in pairing.repeated if id(record) in gold_identities][:1]
    for record in repeats:
        same = gold.of_id(str(record.id)) if is_stored(gold) else gold
        first = next(other for other in same if other.id == record.id)
        raise InputError(
            f"two gold plans have the id {record.id!r}: {first.where} and {record.where}; where both are "
            "right, one record gives the other in a field 'alternatives': a list of plans"
        )


def of_ids(pairs: Pairs, ids: Collection[str], *, gold_named: bool = False) -> Pairs:
    """The pairs of which a record has one of some ids, or which are called so where others of gold have ids.

    Args:
        pairs: The pairs.
        ids: The ids.
        gold_named: Whether gold's records have ids.

    Raises:
        InputError: an id is on neither side.
    """
    if is_joined(pairs):
        refuse_unknown(ids, pairs.ids)
        return pairs.of_ids(ids)
    called = []
    for position, records in enumerate(pairs):
        names = [record.id for record in records if record is not None and record.id is not None]
        called.append([*names, pair_name(position, *records, gold_named=True)] if gold_named else names)
    refuse_unknown(ids, dict.fromkeys(name for names in called for name in names))
    return tuple(p for p, names in zip(pairs, called, strict=True) if not set(names).isdisjoint(ids))


def each(pairs: Pairs, step: Callable[[Pair], Pair]) -> Pairs:
    """The same pairs, something done to each: it can be pickled."""
    return pairs.each(step) if is_joined(pairs) else tuple(map(step, pairs))


_COMPARED = 20_000
"""Among so many ids the closest to one that is not there is looked for: 50 ms."""


def refuse_unknown(requested: Iterable[str], existing: Collection[str], names: str = "") -> None:
    """An id that no record has is a slip: what is done with the others alone would hide it.

    Args:
        requested: The ids that are asked for.
        existing: The ids that there are.
        names: Whose ids these are, for the message.

    Raises:
        InputError: names the first id that is not there, and the closest that is.

    >>> refuse_unknown(["q1", "q22"], ["q1", "q2"], "p.jsonl")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: p.jsonl: no record has the id 'q22'; did you mean 'q2'?
    """
    for name in requested:
        if name not in existing:
            hint = did_you_mean(name, islice(existing, _COMPARED), lead="; ")
            raise InputError(f"{names + ': ' if names else ''}no record has the id {name!r}{hint}")
