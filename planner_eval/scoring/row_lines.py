"""Scored pairs as JSON: as reports write them, and as a run keeps them, to be read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Any, overload

from planner_eval.metrics import METRICS
from planner_eval.metrics.counts import Counts, Share, Tally
from planner_eval.records.rows import JUDGED
from planner_eval.scoring.scored import Scored

_encoded = json.JSONEncoder(ensure_ascii=False).encode
_text: Callable[[str], str] = json.encoder.encode_basestring


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
        **({"unread": True} if row.unread else {}),
        **({} if row.credits is None else {"credits": row.credits.data()}),
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
    return Lines().line(row)


class Lines:
    """Scored pairs as lines of a run; the text of counts that pairs have in common is made once."""

    def __init__(self) -> None:
        self._counts: dict[Any, str] = {}
        self._rows: dict[int, tuple[Mapping[str, Tally | None], str]] = {}

    def line(self, row: Scored) -> str:
        """What :func:`line_of` gives, written piece by piece: an encoder of all of it takes twice as long."""
        fields = [
            f'{{"id": {_text(row.id)}, "state": {_text(row.state)}, "metrics": {self._metrics(row.tallies)}',
            f'"codes": [{", ".join([_text(code) for code in row.codes])}], "reason": {_text(row.reason)}',
            '"proved": true' if row.proved else '"proved": false',
        ]
        if row.keys:
            fields.append(f'"keys": {_encoded(dict(row.keys))}')
        if row.repaired:
            fields.append('"repaired": true')
        if row.choices:
            fields.append('"choices": true')
        if row.unread:
            fields.append('"unread": true')
        if row.file:
            fields.append(f'"file": {_text(row.file)}')
        if row.line:
            fields.append(f'"line": {row.line}')
        if row.mistaken:
            fields.append(f'"mistaken": {_encoded(row.mistaken)}')
        if row.credits is not None:
            fields.append(f'"credits": {_encoded(row.credits.data())}')
        return f"{', '.join(fields)}}}"

    def _metrics(self, tallies: Mapping[str, Tally | None]) -> str:
        cached = self._rows.get(id(tallies))
        if cached is not None and cached[0] is tallies:
            return cached[1]
        if len(self._counts) > _MOST:
            self._counts.clear()
        if len(self._rows) > _MOST:
            self._rows.clear()
        texts = self._counts
        items = []
        for name, tally in tallies.items():
            key: Any = name
            if tally.__class__ is Counts:
                key = (name, tally.hit, tally.pred, tally.gold, tally.hit.__class__)
            elif tally.__class__ is Share:
                key = (name, tally.part, tally.whole, tally.part.__class__)
            text = texts.get(key)
            if text is None:
                text = texts[key] = f"{_encoded(name)}: {_encoded(tally_data(tally))}"
            items.append(text)
        encoded = f"{{{', '.join(items)}}}"
        self._rows[id(tallies)] = (tallies, encoded)
        return encoded


_MOST = 4096
"""Texts that are kept."""


def row_of(line: str | bytes) -> Scored:
    """A scored pair as it was, from its line.

    >>> row_of(line_of(Scored("a", "same", {"exact": Share(1, 1)}))).tallies
    {'exact': Share(part=1, whole=1)}
    """
    return scored_of(json.loads(line))


def read_lines(path: str | PathLike[str]) -> Iterator[Scored]:
    """The scored pairs of a file, a line each."""
    with open(path, "rb") as lines:
        yield from map(row_of, lines)


def row_columns(metrics: Sequence[str], by: Sequence[str], *, causes: bool = False) -> dict[str, Any]:
    """The types of what stands in a line, by its keys.

    Args:
        metrics: The metrics that are counted.
        by: What figures are broken down by.
        causes: What root causes cost is kept.
    """
    credited = {}
    if causes:
        from planner_eval.scoring.credits import COLUMNS

        credited = {"credits": COLUMNS}
    fields = {"counts": ("hit", "pred", "gold", "f1"), "share": ("part", "whole", "value")}
    return {
        **dict.fromkeys(("id", "state"), str),
        "metrics": {name: dict.fromkeys(fields[METRICS[name].kind], float) for name in metrics},
        "codes": [str],
        "reason": str,
        "proved": bool,
        **({"keys": dict.fromkeys(by, str)} if by else {}),
        **dict.fromkeys(("repaired", "choices", "unread"), bool),
        "file": str,
        "line": int,
        "mistaken": [[str]],
        **credited,
    }


def row_of_columns(data: Mapping[str, Any]) -> Scored:
    """A scored pair as it was, from its columns, where null stands for what is not there."""
    present: dict[str, Any] = {name: value for name, value in data.items() if value is not None}
    present["keys"] = {name: value for name, value in present.get("keys", {}).items() if value is not None}
    if data["state"] not in JUDGED:
        present["metrics"] = {}
    return scored_of(present)


def scored_of(data: Mapping[str, Any]) -> Scored:
    """A scored pair from what :func:`line_of` wrote of it."""
    credits = None
    if data.get("credits") is not None:
        from planner_eval.scoring.credits import Credits

        credits = Credits.of(data["credits"])
    return Scored(
        data["id"],
        data["state"],
        {name: _tally(numbers) for name, numbers in data["metrics"].items()},
        tuple(data["codes"]),
        data["reason"],
        data.get("keys", {}),
        data["proved"],
        data.get("repaired", False),
        data.get("choices", False),
        tuple((gold, pred) for gold, pred in data.get("mistaken", ())),
        data.get("file"),
        data.get("line"),
        credits=credits,
        unread=data.get("unread", False),
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
        path: The file.
        count: How many there are.
        keeps: What keeps the file there.
        read: Reads the file, from its begin.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        count: int,
        keeps: object = None,
        read: Callable[[str | PathLike[str]], Iterator[Scored]] = read_lines,
    ) -> None:
        self.path, self.size, self.keeps, self.read = path, count, keeps, read

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Scored]:
        return self.read(self.path)

    @overload
    def __getitem__(self, index: int) -> Scored: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Scored]: ...

    def __getitem__(self, index: int | slice) -> Scored | Sequence[Scored]:
        """A pair by its number, counted from 0, for which those before it are passed over."""
        if not isinstance(index, slice):
            return next(islice(self, range(self.size)[index], None))
        selected = range(self.size)[index]
        forth = selected if selected.step > 0 else selected[::-1]
        rows = tuple(islice(self, forth.start, forth.stop, forth.step)) if selected else ()
        return rows if forth is selected else rows[::-1]
