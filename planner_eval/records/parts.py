"""What records are called where several files are read as one."""

from __future__ import annotations

from collections.abc import Sequence

from planner_eval.base.named import NamedTuple
from planner_eval.records.record import Record


class Part(NamedTuple):
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
        return below(self.name, own) if self.prefixed else own

    def called(self, record: Record) -> Record:
        """A record under the id that it has among all files."""
        return record._replace(id=self.id(record.id, record.position))


def below(name: str, id: str) -> str:
    """An id with the name of its file before it.

    >>> below("a", "q1"), below("a", "a/2")
    ('a/q1', 'a/2')
    """
    return id if id == name or id.startswith(f"{name}/") else f"{name}/{id}"
