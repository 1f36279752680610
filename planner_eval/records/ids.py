"""Which records of a file are found by their id, which only repeat one, and what pairs of them are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner_eval.base.named import NamedTuple
from planner_eval.records.record import Record


class Found(NamedTuple):
    """The records of a file by what they are found by.

    Args:
        places: From id, or from what stands for it where a record has no partner, to the record's place.
        repeated: The places of those whose id an earlier one has.
    """

    places: dict[str, int]
    repeated: list[int]


def by_id(records: Iterable[Record]) -> Found:
    """Look which records are found by their id.

    A record without an id has no partner; it still is a row. So is one that cannot be read, and of whose id
    nothing is certain, where another record has that id.

    >>> by_id([Record("p", 0, "a", "f()"), Record("p", 1, "a", "g()"), Record("p", 2, "b", "")])
    Found(places={'a': 0, 'b': 2}, repeated=[1])
    """
    records = records if isinstance(records, Sequence) else tuple(records)
    places: dict[str, int] = {}
    repeated = []
    whole = {record.id for record in records if record.error is None}
    for at, record in enumerate(records):
        lone = record.id is None or (record.error is not None and record.id in whole)
        key = alone(record.file, record.position) if lone else str(record.id)
        if key in places:
            repeated.append(at)
        else:
            places[key] = at
    return Found(places, repeated)


def alone(file: str, position: int) -> str:
    r"""What stands for the id of a record without a partner: no id begins so.

    >>> alone("p", 3)
    '\x00p\x003'
    """
    return f"\0{file}\0{position}"


def pair_name(position: int, pred: Record | None, gold: Record | None, *, gold_named: bool) -> str:
    """What a pair is called: by gold's id, else by the prediction's that has no gold, else by its place.

    Where gold has ids, the place is said in words: its number alone may be another's id.

    Args:
        position: The pair's position.
        pred: The prediction, if there is one.
        gold: The gold plan, if there is one.
        gold_named: Whether gold's records have ids.

    >>> pair_name(2, None, Record("g", 2, None, "f()"), gold_named=True)
    'record 3'
    >>> pair_name(4, Record("p", 2, None, "f()"), None, gold_named=True)
    'prediction 3'
    >>> pair_name(2, Record("p", 2, None, "f()"), Record("g", 2, None, "f()"), gold_named=False)
    '3'
    """
    known = gold or pred
    if known is not None and known.id is not None:
        return known.id
    if known is None or not gold_named:
        return str(position + 1)
    return f"{'prediction' if gold is None else 'record'} {known.position + 1}"
