"""One record of a users' file: where it stands, what it is called, and its plan as it stands there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import Decoded
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import printable
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.conversations.messages import is_call
from planner_eval.reading.dialects.dialect import TurnChoice
from planner_eval.reading.dialects.finding.whole_texts import is_prose
from planner_eval.reading.dialects.read import parse

if TYPE_CHECKING:
    from planner_eval.plan.inference import Signatures
    from planner_eval.reading.files.disk_joins import LazyPairs, Shards
    from planner_eval.reading.files.record_index import IndexFolder, LazyRecords


# ----------------------------------------------------------------------
# One record of a users' file: where it stands, and its plan as it stands there.
GOLD_TERMS = ("optional", "before", "unordered", "accepted", "omittable")
"""Fields in which a gold record says what else is right."""

GOLD_COMPANION_FIELDS = (*GOLD_TERMS, "alternatives")
"""What may stand beside a gold plan in its record."""

VERDICT_FIELDS = ("reward", "success", "score")
"""Fields in which a run recorded whether an answer was right, the first that a record has."""

_READABLE_RECORD_CODES = ("parse.empty", "parse.shape")
"""The codes of errors about records that are JSON, and hold no plan."""


class JoinedTurns(list[Any]):
    """The calls of a list of turns in one list, which knows of the turns.

    Args:
        calls: The calls, or texts, of all turns.
        turns: The turns as they were.
    """

    def __init__(self, calls: Iterable[Any] = (), turns: Sequence[Any] = ()) -> None:
        super().__init__(calls)
        self.turns = turns

    def select(self, turn: TurnChoice) -> Any:
        """The calls, or texts, of one turn.

        Raises:
            AnswerError: there is no such turn.
        """
        from planner_eval.reading.dialects.conversations.turns import select_turns

        return join_turns(list(select_turns(tuple(self.turns), turn)))


def join_turns(turns: list[Any]) -> list[Any] | str | None:
    """The calls of a conversation that is a list of turns, as BFCL has it; words beside calls call nothing.

    Args:
        turns: Turns, of which each is a list of calls, of texts, or of steps that are lists of these.

    Returns:
        The calls of all turns; where they are no data, the texts. None where the turns hold something else.

    Source: bfcl-eval, ``model_handler/base_handler.py`` (``all_model_response``).

    >>> join_turns([["f(a=1)", "g()"], [], ["h()"]])
    ['f(a=1)', 'g()', 'h()']
    >>> join_turns([[[{"f": "{}"}], ["Done."]], [[{"g": "{}"}]]]), join_turns([[["Which city?"]]])
    ([{'f': '{}'}, {'g': '{}'}], 'Which city?')
    >>> join_turns([["f", {"a": 1}]]), join_turns([[[["f()"]]]])
    (None, None)
    """
    items: list[Any] = []
    for turn in turns:
        worded = any(isinstance(step, str) for step in turn)
        for step in turn:
            if worded and isinstance(step, dict) and not (is_call(step) or "role" in step):
                return None  # a tool's name and its arguments, one beside the other
            items += step if isinstance(step, list) else [step]
    items = [item for item in items if item is not None]
    texts = [item for item in items if isinstance(item, str)]
    calls = [item for item in items if isinstance(item, dict)]
    if len(texts) + len(calls) < len(items):
        return None
    if calls:
        return calls if all(is_prose(text) or not text.strip() for text in texts) else items
    return "\n".join(texts) if any(map(is_prose, texts)) else texts


class Record(NamedTuple):
    """One record of a file: where it stands, and its plan as text or structure.

    Args:
        file: The file's name as the user wrote it.
        position: Counted from 0.
        id: Its own name, when it has one.
        source: The plan's text, structure that is JSON already, or the plan itself.
        line: The line it starts on, counted from 1, when known.
        error: Why its source could not be taken out of the file.
        fields: The record's other fields.
        values: The JSON values of a text, where it was decoded on the way.
        dialect: The notation of its source, where that is known; it comes before any that is asked for.
        turn: Which turn of the assistant is read of a conversation; all turns when None.
        tools: The tools that its data set offers, as released.
        infer: Whether edges are inferred, by what is known of tools.
        among_ids: Others of its file have an id: the number of its place may be one of these.
        task: The task that it is one of several trials of.
        scores: Fields of verdicts that have numbers on another scale in its file.
    """

    file: str
    position: int
    id: str | None
    source: Any
    line: int | None = None
    error: ParseError | None = None
    fields: Mapping[str, Any] = {}
    values: list[Any] | None = None
    dialect: str | None = None
    turn: TurnChoice = None
    tools: Any = None
    infer: Signatures | bool = False
    among_ids: bool = False
    task: str | None = None
    scores: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether it is no JSON: neither its fields nor, for certain, its id could be read."""
        return self.error is not None and not self.fields and self.error.code not in _READABLE_RECORD_CODES

    @property
    def name(self) -> str:
        """What it is called: by its id, else by its place, in words where the number may be another's id."""
        return str(self.told)

    @property
    def told(self) -> str | int:
        """Its name as data, in which a place alone is a number and no id."""
        if self.id is not None:
            return self.id
        return f"record {self.position + 1}" if self.among_ids else self.position + 1

    @property
    def where(self) -> str:
        """The record's place for a message, on one line: ``pred.jsonl, record 3 (id q7)``."""
        named = f" (id {self.id})" if self.id is not None else ""
        line = f", line {self.line}" if self.line is not None else ""
        return printable(f"{self.file}{line}, record {self.position + 1}{named}").replace("\n", "\\n")


Records: TypeAlias = Sequence[Record]


# ----------------------------------------------------------------------
# From a record to its plan.
def read_repaired_plan(record: Record, error: ParseError, **options: Any) -> Plan | None:
    """The plan that repair would make of a record which strict reading refused; None where none.

    Args:
        record: The record.
        error: Why strict reading refused it; where that says that repair does too, nothing is read.
        options: As for :func:`planner_eval.reading.dialects.read.parse`, ``repair`` aside.
    """
    if error.beyond_repair and isinstance(record.source, str):
        return None
    try:
        return read_plan(record, repair=True, **options)
    except ParseError:
        return None


def read_plan(record: Record, **options: Any) -> Plan:
    """The plan of a record.

    Args:
        record: What :func:`planner_eval.reading.files.files.read_file` gave.
        options: As for :func:`planner_eval.reading.dialects.read.parse`.

    Raises:
        ParseError: the record holds no readable plan.

    >>> len(read_plan(Record("p.json", 0, None, "a = f(#x='1')")))
    1
    """
    if record.error is not None:
        raise record.error
    source = record.source
    if record.dialect is not None:
        options["dialect"] = record.dialect
    if record.turn is not None and options.get("turn") is None:
        options["turn"] = record.turn
    if isinstance(source, JoinedTurns) and options.get("turn") is not None:
        source = source.select(options["turn"])
    if record.infer is not False and not options.get("infer"):
        options["infer"] = record.infer
    return parse(source if record.values is None else Decoded(source, record.values), **options)


# ----------------------------------------------------------------------
# What records are called where several files are read as one.
class FilePart(NamedTuple):
    """One of several files.

    Args:
        name: What it is called.
        records: Its records, under ids of their own.
        many: False for a plan in a file of its own.
        prefixed: The file's name stands before every id.
        unnamed: What stands before the place of a record without an id where others of the file have one: the
            place alone may be another's id, and what has no id belongs to no record of another file.
    """

    name: str
    records: Records
    many: bool
    prefixed: bool = False
    unnamed: str = ""

    def id(self, own: str | None, position: int) -> str:
        """What a record is called: as it is itself, else as its file and, of several, by its place."""
        if not self.many:
            own = self.name
        elif own is None:
            own = self.name if len(self.records) == 1 else f"{self.name}/{self.unnamed}{position + 1}"
        return prefix_id(self.name, own) if self.prefixed else own

    def called(self, record: Record) -> Record:
        """A record under the id that it has among all files."""
        return record._replace(id=self.id(record.id, record.position))


def prefix_id(name: str, id: str) -> str:
    """An id with the name of its file before it.

    >>> prefix_id("a", "q1"), prefix_id("a", "a/2")
    ('a/q1', 'a/2')
    """
    return id if id == name or id.startswith(f"{name}/") else f"{name}/{id}"


# ----------------------------------------------------------------------
# Which records of a file are found by their id, which only repeat one, and what records are called.
class RecordsById(NamedTuple):
    """The records of a file by what they are found by.

    Args:
        places: From id, or from what stands for it where a record has no partner, to the record's place.
        repeated: The places of those whose id an earlier one has.
    """

    places: dict[str, int]
    repeated: list[int]


def index_by_id(records: Iterable[Record]) -> RecordsById:
    """Look which records are found by their id.

    A record without an id has no partner; it still is a row. So is one that cannot be read, and of whose id
    nothing is certain, where another record has that id.

    >>> index_by_id([Record("p", 0, "a", "f()"), Record("p", 1, "a", "g()"), Record("p", 2, "b", "")])
    RecordsById(places={'a': 0, 'b': 2}, repeated=[1])
    """
    records = records if isinstance(records, Sequence) else tuple(records)
    positions: dict[str, int] = {}
    repeated = []
    readable_ids = {record.id for record in records if record.error is None}
    for position, record in enumerate(records):
        lone = record.id is None or (record.error is not None and record.id in readable_ids)
        key = unpaired_record_key(record.file, record.position) if lone else str(record.id)
        if key in positions:
            repeated.append(position)
        else:
            positions[key] = position
    return RecordsById(positions, repeated)


def unpaired_record_key(file: str, position: int) -> str:
    r"""What stands for the id of a record without a partner: no id begins so.

    >>> unpaired_record_key("p", 3)
    '\x00p\x003'
    """
    return f"\0{file}\0{position}"


def have_ids(records: Records) -> bool:
    """Whether any record has an id."""
    return records.has_ids if is_stored(records) else any(record.id is not None for record in records)


def mark_records_among_ids(records: Records) -> tuple[Record, ...]:
    """The records of a file, of which those without an id know whether others have one.

    >>> [one.name for one in mark_records_among_ids([Record("p", 0, None, "f()"), Record("p", 1, "1",
    ...     "g()")])]
    ['record 1', '1']
    """
    lacking = sum(record.id is None for record in records)
    return tuple(map(mark_among_ids, records)) if 0 < lacking < len(records) else tuple(records)


def mark_among_ids(record: Record) -> Record:
    """A record of a file in which others have ids."""
    return record if record.id is not None else record._replace(among_ids=True)


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
    record = gold or pred
    if record is not None and record.id is not None:
        return record.id
    if record is None or not gold_named:
        return str(position + 1)
    return f"{'prediction' if gold is None else 'record'} {record.position + 1}"


def patch_name(name: str, pred: Record | None, gold: Record | None) -> str:
    """What a pair's patch is called: as the prediction in its own file, for there the patch is applied.

    Args:
        name: What the pair is called.
        pred: The prediction, if there is one.
        gold: The gold plan, if there is one; one alone, without an id, is called as no prediction is.

    >>> patch_name("record 3", Record("p", 1, "3", "f()"), Record("g", 2, None, "f()"))
    '3'
    >>> patch_name("record 3", None, Record("g", 2, None, "f()", among_ids=True))
    'gold 3'
    """
    if pred is not None:
        return pred.name
    if gold is not None and gold.id is None and gold.among_ids:
        return f"gold {gold.position + 1}"
    return name


_POSITION_NAME = re.compile(r"(?a:(record|prediction) ([1-9]\d{0,8}))")


class PositionName(NamedTuple):
    """A record's place in words, as :func:`pair_name` says it.

    Args:
        side: ``"record"``, or ``"prediction"`` where it has no gold.
        position: Counted from 0.
    """

    side: str
    position: int


def parse_position_name(name: str) -> PositionName | None:
    """The place that a name is; None for any other.

    >>> parse_position_name("record 3"), parse_position_name("record 03"), parse_position_name("3")
    (PositionName(side='record', position=2), None, None)
    """
    match = _POSITION_NAME.fullmatch(name)
    return None if match is None else PositionName(match[1], int(match[2]) - 1)


def format_record_name(name: str | int) -> str:
    """A record in words for people, of which one that is called by its place is not the one of that id.

    >>> format_record_name("q1"), format_record_name("3"), format_record_name("record 3")
    ('record q1', 'record 3', "record 'record 3'")
    """
    return f"record {name if parse_position_name(str(name)) is None else repr(name)}"


# ----------------------------------------------------------------------
# Where large files are kept while they are read, and from which size on.
class Store(NamedTuple):
    """How files are read that are too large to be held in memory: by an index of their records on disk.

    Args:
        folder: Where indexes are kept, to be used again by those who read the same file there; a
            :class:`.index.Folder` is removed with the last of its records, or at the end, as is the temporary
            one when left out.
        limit: Files of more bytes than that are read so; None: none is.
        piece: About how many bytes are looked through in one go.
        spread: Does that for all pieces, in order, as ``map`` does: a pool's ``imap`` in several processes.
    """

    folder: str | IndexFolder | None = None
    limit: int | None = 8_000_000
    piece: int = 4_000_000
    spread: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map


DEFAULT_STORE = Store()
"""What is large lies in a temporary folder."""

IN_MEMORY = Store(limit=None)
"""Files are read whole, whatever their size."""


def is_lazy(records: Any) -> TypeGuard[LazyRecords]:
    """Whether records are read when they are asked for, by an index of their files.

    >>> is_lazy(())
    False
    """
    return getattr(type(records), "by_index", False)


def is_stored(records: Any) -> TypeGuard[LazyRecords]:
    """Whether they are, and are all those of their files, for which the index can answer.

    >>> is_stored(())
    False
    """
    return is_lazy(records) and records.whole


def is_sharded(records: Any) -> TypeGuard[Shards]:
    """Whether they are those of several files together, of which some are read when they are asked for.

    >>> is_sharded(())
    False
    """
    return getattr(type(records), "of_several", False)


def is_lazy_pairs(pairs: Any) -> TypeGuard[LazyPairs]:
    """Whether pairs are read when they are asked for.

    >>> is_lazy_pairs(())
    False
    """
    return getattr(type(pairs), "by_index", False)


# ----------------------------------------------------------------------
# Which file it was: size and digest of what is read, and whether it changed meanwhile.
_BLOCK = 1 << 20


class Origin(NamedTuple):
    """A file as it was when it was read.

    Args:
        path: The file.
        size: Its bytes.
        mtime: When it was written last, in nanoseconds.
        inode: Its number on its disk.
        digest: BLAKE2b of its bytes; empty where nobody asked for it.

    >>> file, other = Origin("a", 3, 1, 2, "x"), Origin("b", 3, 7, 8, "x")
    >>> file.same(other), file.same(other._replace(size=4)), file._replace(digest="").same(file)
    (True, False, False)
    """

    path: str
    size: int
    mtime: int
    inode: int
    digest: str = ""

    def same(self, other: Origin) -> bool:
        """Whether another file holds the same bytes, wherever it lies."""
        return bool(self.digest) and (self.size, self.digest) == (other.size, other.digest)


def current_origin(path: str) -> Origin:
    """A file as it is now, without its digest.

    Raises:
        InputError: there is no such file.
    """
    try:
        file_stat = os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    return Origin(path, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ino)


def current_origins(path: str) -> tuple[Origin, ...]:
    """A file on disk as it is now, alone; nothing where a path is none: standard input, a pipe, a device.

    >>> current_origins("-")
    ()
    """
    return (current_origin(path),) if path != "-" and os.path.isfile(path) else ()


def digest_origin(path: str, before: Origin | None = None) -> Origin:
    """A file with the digest of its bytes, for which it is read once.

    Args:
        path: The file.
        before: As it was when something else was read of it; as it is now when left out.

    Raises:
        InputError: it cannot be read, or is not what it was before.
    """
    from hashlib import blake2b

    before = before or current_origin(path)
    digest = blake2b(digest_size=32)
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    refuse_changed(before)
    return before._replace(digest=digest.hexdigest())


def refuse_changed(origin: Origin, action: str = "read") -> None:
    """Refuse a file that is no longer what it was: what was read of it may be of neither.

    Args:
        origin: The file as it was.
        action: What was done with it meanwhile.

    Raises:
        InputError: it was written, replaced or removed meanwhile.
    """
    now = current_origin(origin.path)
    if now != origin._replace(digest=""):
        raise InputError(
            f"{origin.path} changed while it was {action}: {origin.size:,} bytes then, {now.size:,} now; "
            "repeat when it is no longer being written"
        )
