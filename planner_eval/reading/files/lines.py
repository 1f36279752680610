"""JSON lines of which a part at a time is in memory: as items, or looked through for their ids.

Both give what :mod:`planner_eval.reading.files.items` makes of the whole text. Where that looks at more than
lines, at one value over the whole file or at the calls of one plan, :func:`are_records` says no.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from planner_eval.base.json_text import blank_end, decode
from planner_eval.reading.dialects.conversations.spans import is_span
from planner_eval.reading.dialects.finding.plain_prose import is_words
from planner_eval.reading.files.decisions import Decided, offers_several
from planner_eval.reading.files.encoding import BOMS, explained_item, marked
from planner_eval.reading.files.fields import HEAD, KNOWN, filled, id_text, value_at
from planner_eval.reading.files.frames import TableRow
from planner_eval.reading.files.frameworks import is_part
from planner_eval.reading.files.items import is_traced, line_item, may_be_call, says, unfold_items
from planner_eval.reading.files.shapes import Item, shape_of

BROKEN, ODD, WORDS, SEVERAL = 1, 2, 4, 8
"""Of a line: it is no JSON; for a byte that is no UTF-8; its plan is words; it offers several answers."""

_PREFIX = 1_000_000
_LONGEST = 64_000_000
"""Bytes of a line; a file with a longer one is read whole."""
_MARK = b"\xef\xbb\xbf"


class Unfit(Exception):
    """A file has to be read whole, for its lines do not say what it holds."""


@dataclass(frozen=True)
class Lines:
    """A file of JSON lines, read anew each time that its items are asked for.

    Args:
        path: Where the lines stand.
        start: Where they begin in it: after a byte order mark.
        end: Its size.
        promised: The file's name says that it holds a record a line.
        text_field: The field that holds a record's plan, where the user named it.
        table: The lines are the rows of a table.
    """

    path: str
    start: int
    end: int
    promised: bool
    text_field: str | None = None
    table: bool = False

    def __iter__(self) -> Iterator[Item]:
        number = 0
        for piece in cut(self, _PREFIX):
            for raw in bytes_of(self.path, piece).splitlines():
                number += 1
                item = self.item(number, raw)
                if item is not None:
                    yield item

    def item(self, number: int, raw: bytes) -> Item | None:
        """The item of a line, given without its end; None where the line is blank.

        Args:
            number: The line's, counted from 1.
            raw: Its bytes.
        """
        if self.table:
            row = TableRow(json.loads(raw))
            return self._unfolded(Item(row)) or Item(row, shape_of(row, self.text_field))
        try:
            text, odd = str(raw, "utf-8"), False
        except UnicodeDecodeError:
            text, odd = marked(raw.decode("utf-8", "surrogateescape")), True
        if not text.strip():
            return None
        item = line_item(number, text, self.text_field)
        record = self._unfolded(item)
        if record is not None:
            return record
        if odd:
            item = explained_item(item)
        if self.promised and item.shape.named is not isinstance(item.data, dict):
            item = item._replace(shape=item.shape._replace(named=isinstance(item.data, dict)))
        return item

    def _unfolded(self, item: Item) -> Item | None:
        """The record that a framework has written; None where an item is none."""
        records = unfold_items([item], self.text_field)
        if records is not None and (len(records) != 1 or is_part(records[0].data)):
            raise Unfit
        return None if records is None else records[0]


def lines_of(path: str, *, promised: bool, text_field: str | None, table: bool = False) -> Lines:
    """The lines of a file.

    Args:
        path: The file.
        promised: Its name says that it holds a record a line.
        text_field: The field that holds a record's plan, where the user named it.
        table: The lines are the rows of a table.

    Raises:
        Unfit: it has the mark of another encoding.
    """
    with open(path, "rb") as file:
        head = file.read(4)
    if any(head.startswith(mark) for mark, _ in BOMS):
        raise Unfit
    return Lines(path, 3 * head.startswith(_MARK), os.path.getsize(path), promised, text_field, table)


def cut(lines: Lines, size: int) -> Iterator[tuple[int, int]]:
    """Pieces of about some size, as places of the first byte and of that after the last; lines stay whole.

    Args:
        lines: The lines.
        size: Bytes of a piece.

    Raises:
        Unfit: a line is too long.
    """
    offset = lines.start
    with open(lines.path, "rb", buffering=0) as file:
        while offset < lines.end:
            stop = offset + max(size, 1)
            while stop < lines.end:
                file.seek(stop - 1)
                block = file.read(1 << 16)
                newline = block.find(b"\n")
                stop += newline if newline >= 0 else len(block)
                if newline >= 0 or not block:
                    break
                if stop - offset > size + _LONGEST:
                    raise Unfit
            stop = min(stop, lines.end)
            yield offset, stop
            offset = stop


def bytes_of(path: str, piece: tuple[int, int]) -> bytes:
    """The bytes of a piece."""
    with open(path, "rb", buffering=0) as file:
        file.seek(piece[0])
        data = bytearray()
        while len(data) < piece[1] - piece[0] and (block := file.read(piece[1] - piece[0] - len(data))):
            data += block
    return bytes(data)


# ---------------------------------------------------------------- what the head says
def are_records(lines: Lines) -> bool:
    """Whether the whole text would be read as a record a line; False where the head cannot tell.

    How many of the lines are broken is counted by :func:`scan`.
    """
    if lines.table:
        return True
    return _starts_with_lines(lines) and _not_one_plan(lines)


def _starts_with_lines(lines: Lines) -> bool:
    """Whether the text is certainly no single JSON value, nor a broken array."""
    _, stop = next(cut(lines, _PREFIX), (0, 0))
    raw = bytes_of(lines.path, (lines.start, stop))
    try:
        text = str(raw, "utf-8")
    except UnicodeDecodeError:
        text = marked(raw.decode("utf-8", "surrogateescape"))
    start = blank_end(text, 0)
    first = text[start : start + 1]
    if not lines.promised and (first not in ("[", "{", '"') or _is_one_line(text)):
        return False
    try:
        _, end = decode(text, start)
    except (ValueError, RecursionError) as error:
        # What comes after the head may make a value of what is cut off with it.
        near_end = getattr(error, "pos", 0) > len(text) - 100 or "Unterminated" in str(error)
        return first != "[" and not (near_end and stop < lines.end)
    return blank_end(text, end) < len(text)


def _is_one_line(text: str) -> bool:
    """Whether a text is one line, be it a value or a broken one: no data is made of it to know that."""
    end = len(text.rstrip())
    return text.find("\n", 0, end) < 0 and text.find("\r", 0, end) < 0


def _not_one_plan(lines: Lines) -> bool:
    """Whether the lines are certainly no spans of runs, no calls and no messages of one plan."""
    if all(isinstance(item.data, dict) and is_span(item.data) for item in _head(lines)):
        return False
    if any(map(is_traced, _head(lines))):  # how many are is asked of the whole text
        return False
    if lines.promised:
        return True
    first = next(iter(lines))
    values = sum(isinstance(item.data, (dict, list)) for item in islice(lines, HEAD))
    if first.error is not None and values < 2:
        return False
    good = [item for item in islice(lines, HEAD) if item.error is None]
    if any(not isinstance(item.data, dict) or says(item.data) for item in good):
        return True
    has_plan_field = any(not KNOWN.isdisjoint(item.data) for item in good)
    return has_plan_field and any(not may_be_call(item) for item in good)


def _head(lines: Lines) -> Iterator[Item]:
    return islice((item for item in lines if item.error is None), HEAD)


# ---------------------------------------------------------------- looking through
class Scanned(NamedTuple):
    """What a piece of a file holds.

    Args:
        lines: How many lines, blank ones too.
        rows: A row a record: its place, size and line in the piece (from 1), its id as bytes, its marks.
        names: How often records have fields of these names.
    """

    lines: int
    rows: list[tuple[int, int, int, bytes | None, int]]
    names: dict[tuple[str, ...], int]


_plain = json.JSONDecoder().raw_decode
_ENDS = frozenset(("\n", "\r\n", "", "\r"))


def scan(lines: Lines, decided: Decided, piece: tuple[int, int]) -> Scanned:
    """Look through a piece of a file: where its records stand, and their ids.

    Args:
        lines: The file.
        decided: Which field is what.
        piece: The place of its first byte, and that after its last.
    """
    key, content = decided.chosen.id, decided.chosen.content
    rows: list[tuple[int, int, int, bytes | None, int]] = []
    names: dict[tuple[str, ...], int] = {}
    offset, number = piece[0], 0
    # Of such a file an object is a record whatever it is, and nobody asks which key it repeats.
    simple = lines.promised and not lines.table and not decided.framework
    for raw in bytes_of(lines.path, piece).splitlines(keepends=True):
        number += 1
        start, size = offset, len(raw)
        offset += size
        data = None
        if simple:
            try:
                text = str(raw, "utf-8")
                data, end = _plain(text)
                if type(data) is not dict or text[end:] not in _ENDS:
                    data = None
            except (ValueError, RecursionError):
                data = None
        size -= (2 if raw.endswith(b"\r\n") else 1) if raw.endswith((b"\n", b"\r")) else 0
        if data is None:
            row = _looked_at(lines, decided, number, raw[:size], names)
            if row is not None:
                rows.append((start, size, number, *row))
            continue
        fields = filled(data)
        names[fields] = names.get(fields, 0) + 1
        value = data[key] if key in data else value_at(data, key)
        if type(value) is not str or not value:
            value = id_text(value)
        plan = data[content] if content in data else value_at(data, content)
        marks = WORDS if is_words(plan) else 0
        if b"choices" in raw or b"candidates" in raw or b"\\u" in raw:
            marks |= _offering(lines, decided, number, raw[:size])
        rows.append((start, size, number, None if value is None else id_key(value), marks))
    return Scanned(number, rows, names)


def id_key(id: str) -> bytes:
    """An id as it stands in an index: also one that is no valid text."""
    return id.encode("utf-8", "surrogatepass")


def _looked_at(
    lines: Lines, decided: Decided, number: int, raw: bytes, names: dict[tuple[str, ...], int]
) -> tuple[bytes | None, int] | None:
    """The id and the marks of a line that is no plain record; None where it is blank."""
    item = lines.item(number, raw)
    if item is None:
        return None
    record = decided.record("", 0, item)
    marks = 0
    if item.error is not None:
        marks = BROKEN | (ODD if item.error.code == "parse.encoding" else 0)
    elif is_words(record.source):
        marks = WORDS
    elif isinstance(record.source, dict) and offers_several(record.source):
        marks = SEVERAL
    if item.shape.named and item.error is None:
        fields = filled(item.data)
        names[fields] = names.get(fields, 0) + 1
    return None if record.id is None else id_key(record.id), marks


def _offering(lines: Lines, decided: Decided, number: int, raw: bytes) -> int:
    """The mark of a record that offers several answers."""
    item = lines.item(number, raw)
    source = decided.record("", 0, item).source if item is not None else None
    return SEVERAL if isinstance(source, dict) and offers_several(source) else 0
