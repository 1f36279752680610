"""What a world is made of: tables, how their values are made, and what each API does with them.

A definition is data, read from one TOML, JSON or Python file by :mod:`planner_eval.worlds.reading`;
``docs/worlds.md`` explains the file. The types here are what the file means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TYPES = ("text", "integer", "number", "boolean", "date", "time", "json")
"""The types of columns and arguments."""


class CallError(Exception):
    """A call that cannot be made or is refused; the subclass says why, the message is for people."""


class UnknownApi(CallError):
    """The world has no such API."""


class MissingArgument(CallError):
    """A required argument is not given."""


class UnknownArgument(CallError):
    """The API takes no argument of that name."""


class WrongType(CallError):
    """A value does not read as the argument's type."""


class NotFound(CallError):
    """What the call is about does not exist in the world."""


class Refused(CallError):
    """What the call asks for exists and cannot be had: taken, sold out, not allowed.

    Args:
        message: For people.
        rule: The condition of the world's file that is not met, where it is one.
    """

    def __init__(self, message: str, rule: str = "") -> None:
        super().__init__(message)
        self.rule = rule


class TooLong(Refused):
    """What the world would have to do for the call comes to no end."""


@dataclass(frozen=True, slots=True)
class Maker:
    """How a column's values are made.

    Args:
        kind: ``"choice"`` (one of `choices`), ``"pool"``, ``"range"``, ``"template"``, ``"from"`` (a
            value that another table holds) or ``""`` (nothing is made: the value is given or NULL).
        choices: The values of a choice.
        text: The name of a pool; a template with ``{pool or column}`` and ``#`` for digits; or
            ``table.column``.
        low: The first value of a range: a number, days after today, minutes after midnight.
        high: The last value.
        step: From one value to the next.
        other_than: A column of the same row that must have another value.
        by: Columns on which the value depends: equal ones mean an equal value.
    """

    kind: str = ""
    choices: tuple[Any, ...] = ()
    text: str = ""
    low: float = 0
    high: float = 0
    step: float = 1
    other_than: str | None = None
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its type and how its values are made."""

    name: str
    type: str = "text"
    maker: Maker = Maker()


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Args:
        name: Its name in the database.
        columns: Its columns; a template may use those before it.
        rows: How many rows the world has without any facts.
        unique: Columns that no two rows may share; () for no such rule.
        taken: What a call is told that would break the rule.
    """

    name: str
    columns: tuple[Column, ...]
    rows: int = 12
    unique: tuple[str, ...] = ()
    taken: str = "it is taken already"

    def column(self, name: str) -> Column | None:
        """The column of that name."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an API; a default of ``"today"`` for a date means the world's date."""

    name: str
    type: str = "text"
    required: bool = True
    default: Any = None
    about: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A filter: `column` `op` the argument's value, with op ``=``, ``>=``, ``<=`` or ``contains``."""

    argument: str
    column: str
    op: str = "="


@dataclass(frozen=True, slots=True)
class Api:
    """What an API does.

    Args:
        name: Its name without the app.
        app: The app that offers it, where there are apps.
        about: What it is for, for people.
        arguments: What it takes.
        reads: The table in which it looks for rows.
        matches: The filters that given arguments make.
        where: Further conditions, SQL over the row's columns, ``:argument`` and ``:today``.
        known: Arguments whose value must occur in one of several ``(table, column)``; facts go to
            the first.
        valid: Conditions on the arguments alone, each after the argument it is about and before what the
            call is told otherwise.
        requires: Conditions on the row and the arguments, each with what the call is told otherwise.
        sets: Columns of the row it changes, each with an SQL expression for the new value.
        adds: The table to which it adds a row.
        values: Columns of the added row that are neither arguments nor columns of the row read, with
            an SQL expression each.
        then: SQL statements that follow these changes, over ``:argument`` and the added row's columns.
        deletes: Whether it deletes the row it found.
        fact: Columns of a row that is made as a fact for this API, with an SQL expression over the
            arguments each.
        returns: Output names with what they are: None for the value of that name in the added row,
            the arguments or the row read; ``"*row"``, ``"*rows"`` for records; else SQL.
        fails_empty: Whether finding no row is a failure (True) or an empty answer (False).
        python: A function that does it all instead: (connection, arguments) → outputs.
        open: Whether it takes arguments that are not listed, and leaves them aside.
    """

    name: str
    app: str | None = None
    about: str = ""
    arguments: tuple[Argument, ...] = ()
    reads: str | None = None
    matches: tuple[Match, ...] = ()
    where: tuple[str, ...] = ()
    known: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    valid: tuple[tuple[str, str, str], ...] = ()
    requires: tuple[tuple[str, str], ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    adds: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    then: tuple[str, ...] = ()
    deletes: bool = False
    fact: tuple[tuple[str, str], ...] = ()
    returns: tuple[tuple[str, str | None], ...] = ()
    fails_empty: bool = False
    python: Callable[..., dict[str, Any]] | None = None
    open: bool = False

    @property
    def full_name(self) -> str:
        """The app and the name, or the name alone."""
        return f"{self.app}.{self.name}" if self.app else self.name

    @property
    def acts(self) -> bool:
        """Whether it can change the world."""
        return bool(self.sets or self.adds or self.deletes or self.then or self.python)


@dataclass(frozen=True, slots=True)
class Definition:
    """A world before it is populated.

    Args:
        name: Its name.
        about: What it simulates.
        today: The date that it takes for today, yyyy-mm-dd.
        pools: Named lists of values.
        aliases: Other spellings of values, casefolded, with the spelling that the world uses.
        tables: Its tables by name.
        apis: Its APIs by full name.
        types: The types of names that no column has.
    """

    name: str
    about: str = ""
    today: str = "2019-03-01"
    pools: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    apis: Mapping[str, Api] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str, app: str | None = None) -> Api:
        """The API that a call means.

        Raises:
            UnknownApi: there is none, several apps offer it and none is named, or the app named
                does not offer it.
        """
        api = self.apis.get(f"{app}.{name}" if app else name)
        if api is not None:
            return api
        offers = [api for api in self.apis.values() if api.name == name]
        if len(offers) == 1 and (app is None or offers[0].app is None):
            return offers[0]
        apps = ", ".join(sorted(api.app or "no app" for api in offers))
        if not offers:
            raise UnknownApi(f"the world {self.name} has no API {name!r}")
        reason = f"{app} has no API {name!r}" if app else f"{name!r} needs its app"
        raise UnknownApi(f"{reason}: it is in {apps}")

    def type_of(self, name: str, *tables: str | None) -> str:
        """The type of a name: that of a column in one of the tables, else the declared one, else text."""
        for table in filter(None, tables):
            column = self.tables[table].column(name) if table in self.tables else None
            if column is not None:
                return column.type
        return self.types.get(name, "text")
