"""Scored pairs as JSON: as reports write them, and as a run keeps them, to be read again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Any, overload

from planner_eval.metrics.counts import Counts, Share, Tally
from planner_eval.scoring.scored import Scored

_encoded = json.JSONEncoder(ensure_ascii=False).encode


def row_data(row: Scored) -> dict[str, Any]:
    """A scored pair as JSON data."""
    return {
        "id": row.id,
        "state": row.state,
        "metrics": {name: tally_data(tally) for name, tally in row.tallies.items()},
        "codes": list(row.codes),
        "reason": row.reason,
        "proved": row.proved,
        **({"keys": dict(row.keys)} if row.keys else {}),
        **({"repaired": True} if row.repaired else {}),
        **({"choices": True} if row.choices else {}),
    }


def tally_data(tally: Tally | None) -> dict[str, Any] | None:
    """Counts as JSON data."""
    if tally is None:
        return None
    if isinstance(tally, Counts):
        return {"hit": tally.hit, "pred": tally.pred, "gold": tally.gold, "f1": tally.f1}
    return {"part": tally.part, "whole": tally.whole, "value": tally.value}


def line_of(row: Scored) -> str:
    """A scored pair as a line of a run: what :func:`row_data` says of it, its place, and mistaken tools."""
    data = row_data(row)
    for name in ("file", "line", "mistaken"):
        if value := getattr(row, name):
            data[name] = value
    return _encoded(data)


def row_of(line: str | bytes) -> Scored:
    """A scored pair as it was, from its line.

    >>> row_of(line_of(Scored("a", "same", {"exact": Share(1, 1)}))).tallies
    {'exact': Share(part=1, whole=1)}
    """
    data = json.loads(line)
    return Scored(
        data["id"],
        data["state"],
        {name: _tally(found) for name, found in data["metrics"].items()},
        tuple(data["codes"]),
        data["reason"],
        data.get("keys", {}),
        data["proved"],
        data.get("repaired", False),
        data.get("choices", False),
        tuple((gold, pred) for gold, pred in data.get("mistaken", ())),
        data.get("file"),
        data.get("line"),
    )


def _tally(data: Mapping[str, Any] | None) -> Tally | None:
    if data is None:
        return None
    if "hit" in data:
        return Counts(data["hit"], data["pred"], data["gold"])
    return Share(data["part"], data["whole"])


class StoredRows(Sequence[Scored]):
    """The scored pairs of a run, read from its rows when they are asked for.

    Args:
        path: The file, a line a pair.
        count: How many there are.
        keeps: What keeps the file there.
    """

    def __init__(self, path: str | PathLike[str], count: int, keeps: object = None) -> None:
        self.path, self.size, self.keeps = path, count, keeps

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Scored]:
        with open(self.path, "rb") as lines:
            yield from map(row_of, lines)

    @overload
    def __getitem__(self, at: int) -> Scored: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Scored]: ...

    def __getitem__(self, at: int | slice) -> Scored | Sequence[Scored]:
        """A pair by its number, counted from 0, for which those before it are passed over."""
        if not isinstance(at, slice):
            return next(islice(self, range(self.size)[at], None))
        wanted = range(self.size)[at]
        forth = wanted if wanted.step > 0 else wanted[::-1]
        found = tuple(islice(self, forth.start, forth.stop, forth.step)) if wanted else ()
        return found if forth is wanted else found[::-1]
