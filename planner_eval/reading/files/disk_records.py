"""Records of a large file of JSON lines, read from disk when they are asked for.

Both give what :mod:`planner_eval.reading.files.items` makes of the whole text. Where that looks at more than
lines, at one value over the whole file or at the calls of one plan, :func:`are_records` says no.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import partial
from itertools import islice
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.json_text import decode, skip_whitespace
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.reading.dialects.conversations.spans import is_span
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.files.field_choice import (
    DecisionInputs,
    FieldDecision,
    decide_fields,
    has_several_choices,
)
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
    LINE_SUFFIXES,
    decode_line,
    explain_item,
    is_message,
    is_trace_span,
    line_item,
    may_be_call,
    name_record,
    unfold_items,
)
from planner_eval.reading.files.opening import parquet_items, unpack_blocks
from planner_eval.reading.files.record import (
    Origin,
    Record,
    Store,
    current_origin,
    digest_origin,
    refuse_changed,
    unpaired_record_key,
)
from planner_eval.reading.files.record_index import (
    BROKEN,
    PROSE,
    SEVERAL_ANSWERS,
    UNDECODABLE,
    IndexFolder,
    LazyRecords,
    RecordIndex,
    RecordLocation,
    RecordStep,
    SourceFile,
    create_database,
    create_tables,
    finish_database,
    id_key,
    open_folder,
    write_lookup_exceptions,
)
from planner_eval.reading.files.shapes import ChosenFields, Item, shape_of

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
        text, odd = decode_line(raw)
        if not text.strip():
            return None
        item = line_item(number, text, self.text_field)
        record = self._unfolded(item)
        if record is not None:
            return record
        if odd:
            item = explain_item(item)
        return name_record(item) if self.promised else item

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
    with open(lines.path, "rb") as file:
        while offset < lines.end:
            file.seek(offset + size)
            if len(file.readline(_MAX_LINE_BYTES)) == _MAX_LINE_BYTES:
                raise WholeFileNeededError
            stop = min(file.tell(), lines.end)
            yield offset, stop
            offset = stop


def read_chunk(path: str, piece: tuple[int, int]) -> bytes:
    """The bytes of a piece."""
    with open(path, "rb") as file:
        file.seek(piece[0])
        return file.read(piece[1] - piece[0])


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
    text, _ = decode_line(read_chunk(lines.path, (lines.start, stop)))
    start = skip_whitespace(text, 0)
    first = text[start : start + 1]
    stripped = text.rstrip()
    is_one_line = "\n" not in stripped and "\r" not in stripped  # no data is made of it to know that
    if not lines.promised and (first not in ("[", "{", '"') or is_one_line):
        return False
    try:
        _, end = decode(text, start)
    except (ValueError, RecursionError) as error:
        # What comes after the head may make a value of what is cut off with it.
        near_end = getattr(error, "pos", 0) > len(text) - 100 or "Unterminated" in str(error)
        return first != "[" and not (near_end and stop < lines.end)
    return skip_whitespace(text, end) < len(text)


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


# ----------------------------------------------------------------------
# The index of a large file written: its lines looked through once, and what of their ids is odd.
def write_index(
    index: RecordIndex, lines: Lines, decided: FieldDecision, store: Store, origin: Origin
) -> None:
    """Write the index of a file.

    Args:
        index: What it is to be.
        lines: The file's lines.
        decided: Which field is what.
        store: How the lines are looked through.
        origin: The file, as it was before it was read.

    Raises:
        Unfit: it has to be read whole.
        InputError: the index cannot be written.
    """
    source = SourceFile(lines.path)

    def has_error(location: RecordLocation) -> bool:
        item = lines.item(location.line, source.read(location))
        return item is None or decided.record("", 0, item).error is not None

    with create_database(index.path) as database:
        create_tables(database)
        count, names = _fill_tables(database, lines, decided, store)
        write_lookup_exceptions(database, has_error)
        origin_fields = [origin.size, origin.mtime, origin.digest]
        finish_database(database, index.path, {"origin": origin_fields, "names": names, "records": count})


def _fill_tables(
    database: sqlite3.Connection, lines: Lines, decided: FieldDecision, store: Store
) -> tuple[int, dict[str, int]]:
    count = passed = broken = odd = 0
    names: Counter[str] = Counter()
    scanned: ChunkScan
    for scanned in store.spread(partial(scan_chunk, lines, decided), split_chunks(lines, store.piece)):
        rows = (
            (count + index, key, offset, size, passed + line, marks)
            for index, (offset, size, line, key, marks) in enumerate(scanned.rows)
        )
        database.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?, ?)", rows)
        broken += sum(row[4] & BROKEN for row in scanned.rows)
        odd += sum(row[4] & UNDECODABLE > 0 for row in scanned.rows)
        count, passed = count + len(scanned.rows), passed + scanned.lines
        for fields, number in scanned.names.items():
            names.update(dict.fromkeys(fields, number))
    # What a record a line is no likely reading of is taken apart with all of it at hand.
    if broken * 2 > count or (odd > 1 and odd * 2 >= count) or (count < 2 and not lines.table):
        raise WholeFileNeededError
    return count, dict(names)


# ----------------------------------------------------------------------
# Packed files and Parquet written out once as JSON lines, so that each record can be read on its own.
def spool(path: str, kind: str, target: str, limit: int) -> bool:
    """Write out what a packed file or a table holds, where that is more than some bytes.

    Args:
        path: The file.
        kind: How it is packed, or ``"parquet"``.
        target: The file to be written; it is there when all of it is.
        limit: The bytes.

    Returns:
        Whether it is more, and was written.

    Raises:
        InputError: the file is damaged or too large, or cannot be written out.
    """
    partial_path = f"{target}.part"
    buffer = bytearray()
    try:
        with open(partial_path, "wb") as file:
            for block in _unpacked(path, kind):
                buffer += block
                if file.tell() or len(buffer) > limit:
                    file.write(buffer)
                    buffer.clear()
            large = file.tell() > 0
        if large:
            os.replace(partial_path, target)
        return large
    except OSError as error:
        raise InputError(
            f"{path} cannot be unpacked into {target}: {error.strerror or error}; the environment's TMPDIR "
            "names another folder"
        ) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial_path)


def _unpacked(path: str, kind: str) -> Iterator[bytes]:
    if kind == "parquet":
        for item in parquet_items(path, path):
            yield json.dumps(item.data).encode() + b"\n"
        return
    with open(path, "rb") as file:
        yield from unpack_blocks(file, os.path.getsize(path), kind, path)


# ----------------------------------------------------------------------
# The records of a large file as a sequence that is read when it is asked for, by an index on disk.
class StoredRecords(LazyRecords):
    """Records of a large file.

    Args:
        base: Where they stand.
        origin: The file, as it was when it was looked through.
        lines: The file.
        decided: Which field is what.
        positions: Which of its records; all when left out.
        steps: What is done to each.
    """

    def __init__(
        self,
        base: RecordIndex,
        origin: Origin,
        lines: Lines,
        decided: FieldDecision,
        positions: Sequence[int],
        steps: tuple[RecordStep, ...] = (),
    ) -> None:
        super().__init__(base, positions, steps)
        self.origin, self.lines, self.decided = origin, lines, decided
        self.source = SourceFile(lines.path)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.origin.path

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The file, as it was when it was looked through."""
        return (self.origin,)

    def at(self, positions: Sequence[int]) -> Iterator[Record]:
        """The records at some positions of the file, few of them, in the order asked for."""
        return self.made(self.base.places(positions))

    def made(self, locations: Iterable[RecordLocation]) -> Iterator[Record]:
        """The records that stand at some places of the file."""
        name, read, make_record = self.name, self.lines.item, self.decided.record
        for location in locations:
            item = read(location.line, self.source.read(location))
            if item is None:
                raise InputError(f"{name} changed while it was read: line {location.line} is blank now")
            yield self._done(make_record(name, location.position, item))

    def lone(self, position: int) -> str:
        """What a record without a partner is found by."""
        return unpaired_record_key(self.name, position)


def open_stored_records(
    path: str, inner: str, kind: str, store: Store, how: DecisionInputs
) -> StoredRecords | None:
    """The records of a large file of JSON lines; None where it has to be read whole.

    Args:
        path: The file.
        inner: Its name without the suffix of what it is packed in.
        kind: ``"text"``, ``"parquet"``, or how it is packed.
        store: Where its index is kept.
        how: As :func:`.decided.decide` is told.

    Raises:
        InputError: as for :func:`planner_eval.reading.files.files.read_file`; or the file changes meanwhile.
    """
    own = store.folder is None or isinstance(store.folder, IndexFolder)
    folder = open_folder(store.folder)
    origin = current_origin(path) if own else digest_origin(path)
    laid = path if kind == "text" else _spool_packed_file(folder, origin, kind, store.limit or 0)
    if laid is None:
        return None
    refused: InputError | None = None
    try:
        lines = open_lines(
            laid, promised=inner.endswith(LINE_SUFFIXES), text_field=how[0][1], table=kind == "parquet"
        )
        if not are_records(lines):
            return None
        try:
            decided = decide_fields(path, lines, *how)
        except InputError as error:  # of a file that is none of lines something else may be said
            refused, decided = error, FieldDecision(ChosenFields())
        index = RecordIndex(
            folder, _stored_file_name("lines", os.path.abspath(path), astuple(lines), decided)
        )
        if not _is_index_of(index, origin):
            write_index(index, lines, decided, store, origin)
    except WholeFileNeededError:
        return None
    refuse_changed(origin)
    if refused is not None:
        raise refused
    return StoredRecords(index, origin, lines, decided, range(index.about()["records"]))


def _stored_file_name(kind: str, *what: Any) -> str:
    """The name of what is kept in a folder for those who read the same file in the same way."""
    return f"{kind}-{hashlib.blake2b(json.dumps(what).encode(), digest_size=8).hexdigest()}"


def _is_index_of(index: RecordIndex, origin: Origin) -> bool:
    """Whether an index is there already, and of the same file."""
    if not origin.digest or not os.path.exists(index.path):
        return False
    try:
        stored_origin = RecordIndex(index.folder, index.name).about()["origin"]
    except (sqlite3.Error, ValueError, LookupError, TypeError):
        return False
    return bool(stored_origin == [origin.size, origin.mtime, origin.digest])


def _spool_packed_file(folder: IndexFolder, origin: Origin, kind: str, limit: int) -> str | None:
    """What a packed file holds, in a file of its own; None where it is little."""
    target = os.path.join(
        folder.path, _stored_file_name("spool", os.path.abspath(origin.path), origin) + ".jsonl"
    )
    if origin.digest and os.path.exists(target):
        return target
    return target if spool(origin.path, kind, target, limit) else None
