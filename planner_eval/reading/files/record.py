"""One record of a users' file: where it stands, what it is called, and its plan as it stands there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import printable
from planner_eval.reading.dialects.sources import TurnChoice

if TYPE_CHECKING:
    from planner_eval.plan.inference import Signatures


# ----------------------------------------------------------------------
# One record of a users' file: where it stands, and its plan as it stands there.
GOLD_TERMS = ("optional", "before", "unordered", "accepted", "omittable")
"""Fields in which a gold record says what else is right."""

GOLD_COMPANION_FIELDS = (*GOLD_TERMS, "alternatives")
"""What may stand beside a gold plan in its record."""

_READABLE_RECORD_CODES = ("parse.empty", "parse.shape")
"""The codes of errors about records that are JSON, and hold no plan."""


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
    records: Sequence[Record]
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
