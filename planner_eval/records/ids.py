"""Which records of a file are found by their id, and which only repeat one."""

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
