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

from planner_eval.base.json_text import decode, skip_whitespace
from planner_eval.reading.dialects.conversations.spans import is_span
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.files.field_choice import FieldDecision, has_several_choices
from planner_eval.reading.files.fields import (
    HEAD_SIZE,
    PLAN_FIELDS,
    TableRow,
    id_text,
    non_null_fields,
    value_at,
)
from planner_eval.reading.files.frameworks import is_trace_record
from planner_eval.reading.files.items import (
    BOMS,
    explain_item,
    is_message,
    is_trace_span,
    line_item,
    mark_invalid_bytes,
    may_be_call,
    unfold_items,
)
from planner_eval.reading.files.shapes import Item, shape_of

BROKEN, UNDECODABLE, PROSE, SEVERAL_ANSWERS = 1, 2, 4, 8
"""Of a line: it is no JSON; for a byte that is no UTF-8; its plan is words; it offers several answers."""

_HEAD_BYTES = 1_000_000
_MAX_LINE_BYTES = 64_000_000
"""Bytes of a line; a file with a longer one is read whole."""
_BOM = b"\xef\xbb\xbf"


class WholeFileNeededError(Exception):
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
        for piece in split_chunks(self, _HEAD_BYTES):
            for raw in read_chunk(self.path, piece).splitlines():
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
            text, odd = mark_invalid_bytes(raw.decode("utf-8", "surrogateescape")), True
        if not text.strip():
            return None
        item = line_item(number, text, self.text_field)
        record = self._unfolded(item)
        if record is not None:
            return record
        if odd:
            item = explain_item(item)
        if self.promised and item.shape.named is not isinstance(item.data, dict):
            item = item._replace(shape=item.shape._replace(named=isinstance(item.data, dict)))
        return item

    def _unfolded(self, item: Item) -> Item | None:
        """The record that a framework has written; None where an item is none."""
        records = unfold_items([item], self.text_field)
        if records is not None and (len(records) != 1 or is_trace_record(records[0].data)):
            raise WholeFileNeededError
        return None if records is None else records[0]


def open_lines(path: str, *, promised: bool, text_field: str | None, table: bool = False) -> Lines:
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
        raise WholeFileNeededError
    return Lines(path, 3 * head.startswith(_BOM), os.path.getsize(path), promised, text_field, table)


def split_chunks(lines: Lines, size: int) -> Iterator[tuple[int, int]]:
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
                if stop - offset > size + _MAX_LINE_BYTES:
                    raise WholeFileNeededError
            stop = min(stop, lines.end)
            yield offset, stop
            offset = stop


def read_chunk(path: str, piece: tuple[int, int]) -> bytes:
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

    How many of the lines are broken is counted by :func:`scan_chunk`.
    """
    if lines.table:
        return True
    return _starts_with_lines(lines) and _is_not_one_plan(lines)


def _starts_with_lines(lines: Lines) -> bool:
    """Whether the text is certainly no single JSON value, nor a broken array."""
    _, stop = next(split_chunks(lines, _HEAD_BYTES), (0, 0))
    raw = read_chunk(lines.path, (lines.start, stop))
    try:
        text = str(raw, "utf-8")
    except UnicodeDecodeError:
        text = mark_invalid_bytes(raw.decode("utf-8", "surrogateescape"))
    start = skip_whitespace(text, 0)
    first = text[start : start + 1]
    if not lines.promised and (first not in ("[", "{", '"') or _is_one_line(text)):
        return False
    try:
        _, end = decode(text, start)
    except (ValueError, RecursionError) as error:
        # What comes after the head may make a value of what is cut off with it.
        near_end = getattr(error, "pos", 0) > len(text) - 100 or "Unterminated" in str(error)
        return first != "[" and not (near_end and stop < lines.end)
    return skip_whitespace(text, end) < len(text)


def _is_one_line(text: str) -> bool:
    """Whether a text is one line, be it a value or a broken one: no data is made of it to know that."""
    end = len(text.rstrip())
    return text.find("\n", 0, end) < 0 and text.find("\r", 0, end) < 0


def _is_not_one_plan(lines: Lines) -> bool:
    """Whether the lines are certainly no spans of runs, no calls and no messages of one plan."""
    if all(isinstance(item.data, dict) and is_span(item.data) for item in _head_items(lines)):
        return False
    if any(map(is_trace_span, _head_items(lines))):  # how many are is asked of the whole text
        return False
    if lines.promised:
        return True
    first = next(iter(lines))
    values = sum(isinstance(item.data, (dict, list)) for item in islice(lines, HEAD_SIZE))
    if first.error is not None and values < 2:
        return False
    good = [item for item in islice(lines, HEAD_SIZE) if item.error is None]
    if any(not isinstance(item.data, dict) or is_message(item.data) for item in good):
        return True
    has_plan_field = any(not PLAN_FIELDS.isdisjoint(item.data) for item in good)
    return has_plan_field and any(not may_be_call(item) for item in good)


def _head_items(lines: Lines) -> Iterator[Item]:
    return islice((item for item in lines if item.error is None), HEAD_SIZE)


# ---------------------------------------------------------------- looking through
class ChunkScan(NamedTuple):
    """What a piece of a file holds.

    Args:
        lines: How many lines, blank ones too.
        rows: A row a record: its place, size and line in the piece (from 1), its id as bytes, its marks.
        names: How often records have fields of these names.
    """

    lines: int
    rows: list[tuple[int, int, int, bytes | None, int]]
    names: dict[tuple[str, ...], int]


_decode_json = json.JSONDecoder().raw_decode
_LINE_ENDS = frozenset(("\n", "\r\n", "", "\r"))


def scan_chunk(lines: Lines, decided: FieldDecision, piece: tuple[int, int]) -> ChunkScan:
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
    for raw in read_chunk(lines.path, piece).splitlines(keepends=True):
        number += 1
        start, size = offset, len(raw)
        offset += size
        data = None
        if simple:
            try:
                text = str(raw, "utf-8")
                data, end = _decode_json(text)
                if type(data) is not dict or text[end:] not in _LINE_ENDS:
                    data = None
            except (ValueError, RecursionError):
                data = None
        size -= (2 if raw.endswith(b"\r\n") else 1) if raw.endswith((b"\n", b"\r")) else 0
        if data is None:
            row = _inspect_line(lines, decided, number, raw[:size], names)
            if row is not None:
                rows.append((start, size, number, *row))
            continue
        fields = non_null_fields(data)
        names[fields] = names.get(fields, 0) + 1
        value = data[key] if key in data else value_at(data, key)
        if type(value) is not str or not value:
            value = id_text(value)
        plan = data[content] if content in data else value_at(data, content)
        marks = PROSE if is_prose(plan) else 0
        if b"choices" in raw or b"candidates" in raw or b"\\u" in raw:
            marks |= _several_answers_mark(lines, decided, number, raw[:size])
        rows.append((start, size, number, None if value is None else id_key(value), marks))
    return ChunkScan(number, rows, names)


def id_key(id: str) -> bytes:
    """An id as it stands in an index: also one that is no valid text."""
    return id.encode("utf-8", "surrogatepass")


def _inspect_line(
    lines: Lines, decided: FieldDecision, number: int, raw: bytes, names: dict[tuple[str, ...], int]
) -> tuple[bytes | None, int] | None:
    """The id and the marks of a line that is no plain record; None where it is blank."""
    item = lines.item(number, raw)
    if item is None:
        return None
    record = decided.record("", 0, item)
    marks = 0
    if item.error is not None:
        marks = BROKEN | (UNDECODABLE if item.error.code == "parse.encoding" else 0)
    elif is_prose(record.source):
        marks = PROSE
    elif isinstance(record.source, dict) and has_several_choices(record.source):
        marks = SEVERAL_ANSWERS
    if item.shape.named and item.error is None:
        fields = non_null_fields(item.data)
        names[fields] = names.get(fields, 0) + 1
    return None if record.id is None else id_key(record.id), marks


def _several_answers_mark(lines: Lines, decided: FieldDecision, number: int, raw: bytes) -> int:
    """The mark of a record that offers several answers."""
    item = lines.item(number, raw)
    source = decided.record("", 0, item).source if item is not None else None
    return SEVERAL_ANSWERS if isinstance(source, dict) and has_several_choices(source) else 0
