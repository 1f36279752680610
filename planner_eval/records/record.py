"""One record of a users' file: where it stands, and its plan as it stands there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import ParseError
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import printable
from planner_eval.dialects.sources import Which

if TYPE_CHECKING:
    from planner_eval.plan.inferred import Signatures


GOLD_TERMS = ("optional", "before", "unordered", "accepted", "omittable")
"""Fields in which a gold record says what else is right."""

BESIDE_GOLD = (*GOLD_TERMS, "alternatives")
"""What may stand beside a gold plan in its record."""

_READ = ("parse.empty", "parse.shape")
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
    turn: Which = None
    tools: Any = None
    infer: Signatures | bool = False
    among_ids: bool = False

    @property
    def is_broken(self) -> bool:
        """Whether it is no JSON: neither its fields nor, for certain, its id could be read."""
        return self.error is not None and not self.fields and self.error.code not in _READ

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
