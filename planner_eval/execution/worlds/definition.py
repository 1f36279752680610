"""What a world is made of, clause by clause; errors name the place.

A definition is data, read from one TOML, JSON or Python file by :mod:`planner_eval.execution.worlds.reading`;
``docs/worlds.md`` explains the file. The types here are what the file means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from planner_eval.base.errors import InputError

# ----------------------------------------------------------------------
# What a world is made of: tables, how their values are made, and what each API does with them.
TYPES = ("text", "integer", "number", "boolean", "date", "time", "json")
"""The types of columns and arguments."""

Values: TypeAlias = Mapping[str, Any]
"""Values by argument or column."""


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
    """What the call asks for exists and cannot be loaded: taken, sold out, not allowed.

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
        taken: The message to a call that would break the rule.
    """

    name: str
    columns: tuple[Column, ...]
    rows: int = 12
    unique: tuple[str, ...] = ()
    taken: str = "it is already taken"

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
        about: A description for people.
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
    app: str | None
    about: str
    arguments: tuple[Argument, ...]
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
    def gives_rows(self) -> bool:
        """Whether it gives all rows that it finds."""
        return any(source == "*rows" for _, source in self.returns)

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
        types: The types of names that are not columns.
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
            raise UnknownApi(f"the world {self.name} has no tool {name!r}")
        reason = f"{app} has no tool {name!r}" if app else f"{name!r} needs its app"
        raise UnknownApi(f"{reason}: it is in {apps}")

    def type_of(self, name: str, *tables: str | None) -> str:
        """The type of a name: that of a column in one of the tables, else the declared one, else text."""
        for table in filter(None, tables):
            column = self.tables[table].column(name) if table in self.tables else None
            if column is not None:
                return column.type
        return self.types.get(name, "text")


# ----------------------------------------------------------------------
# The clauses of a world's file: columns and tables, arguments and APIs; errors name the place.
_ARGUMENT_PATTERN = re.compile(r"(\w+)(\?)?(?::(\w+))?(\?)?(?:=(.*))?")


# ---------------------------------------------------------------- tables
def table_of(name: str, data: Mapping[str, Any], where: str) -> Table:
    """A table from its part of the file."""
    columns = tuple(_read_column(key, value, f"{where}.{key}") for key, value in data["columns"].items())
    unique = read_texts(data, "unique")
    for column_name in unique:
        if column_name not in data["columns"]:
            raise InputError(f"{where}: unique names {column_name!r}, which is not a column")
    return Table(name, columns, data.get("rows", 12), unique, data.get("taken", "it is already taken"))


def _read_column(name: str, spec: Any, where: str) -> Column:
    """A column from a list of choices or a text such as ``"integer:1..4"``, ``"pool:city by street"``."""
    if not isinstance(spec, str):
        kinds = {bool: "boolean", int: "integer", float: "number"}
        return Column(name, kinds.get(type(spec[0]), "text"), Maker("choice", tuple(spec)))
    text, _, depends = spec.partition(" by ")
    text, _, other = text.partition(" except ")
    kind, _, detail = text.strip().partition(":")
    by = tuple(column_name.strip() for column_name in depends.split(",") if column_name.strip())
    if kind in ("pool", "from"):
        return Column(name, "text", Maker(kind, text=detail, other_than=other.strip() or None, by=by))
    expect_type(kind, where)
    if not detail:
        return Column(name, kind, Maker("choice", (False, True), by=by) if kind == "boolean" else Maker())
    if kind in ("text", "json"):
        return Column(name, kind, Maker("template", text=detail, by=by))
    low, high, step = _read_range(kind, detail, where)
    return Column(name, kind, Maker("range", low=low, high=high, step=step, by=by))


def _read_range(kind: str, text: str, where: str) -> tuple[float, float, float]:
    """``low..high/step`` in the units of the kind."""
    match = re.fullmatch(r"(.+?)\.\.(.+?)(?:/(.+))?", text.strip())
    if match is None:
        raise InputError(f"{where}: expected low..high or low..high/step, found {text!r}")
    ends = [_to_minutes(end) if kind == "time" else end for end in match.groups()[:2]]
    try:
        low, high, step = float(ends[0]), float(ends[1]), float(match[3] or 1)
    except ValueError:
        raise InputError(f"{where}: expected numbers in {text!r}") from None
    if low > high or step <= 0:
        raise InputError(f"{where}: the range {text!r} is empty")
    return low, high, step


def _to_minutes(text: str) -> str:
    hours, _, minutes = text.partition(":")
    return (
        str(int(hours) * 60 + int(minutes or 0)) if hours.isdigit() and (minutes or "0").isdigit() else text
    )


def check_makers(world: Definition, where: str) -> None:
    """Refuse columns made from pools, columns or tables that are not there, or not there yet."""
    filled: set[str] = set()
    for table in world.tables.values():
        for column in table.columns:
            _check_maker(column, table, world, filled, f"{where}: tables.{table.name}.{column.name}")
        filled.add(table.name)


def _check_maker(column: Column, table: Table, world: Definition, filled: set[str], where: str) -> None:
    maker = column.maker
    names = {c.name for c in table.columns}
    if maker.kind == "from":
        other, _, field = maker.text.partition(".")
        if other not in world.tables or world.tables[other].column(field) is None:
            raise InputError(f"{where}: expected from:table.column, found {maker.text!r}")
        if other not in filled:
            raise InputError(f"{where}: the table {other!r} must come before this one")
    used = re.findall(r"\{(\w+)\}", maker.text) if maker.kind == "template" else []
    for name in (*used, *([maker.text] if maker.kind == "pool" else [])):
        if name not in world.pools and name not in names:
            raise InputError(f"{where}: there is no pool and no column {name!r}")
    for name in (*maker.by, *((maker.other_than,) if maker.other_than else ())):
        if name not in names:
            raise InputError(f"{where}: there is no column {name!r}")


# ---------------------------------------------------------------- APIs
def api_of(
    key: str,
    data: Mapping[str, Any],
    *,
    world: Definition,
    valid: Mapping[str, Any],
    functions: Mapping[str, Any],
    where: str,
) -> Api:
    """An API from its part of the file, and what the file says of its arguments' names."""
    app, _, name = key.rpartition(".")
    reads, adds = data.get("reads"), data.get("adds")
    for table_name in (reads, adds):
        if table_name is not None and table_name not in world.tables:
            raise InputError(f"{where}: there is no table {table_name!r}")
    arguments = tuple(_read_argument(text, world, (reads, adds), where) for text in read_texts(data, "args"))
    function = data.get("python")
    usual = (
        "fail" if {"set", "adds", "deletes", "then"} & set(data) else "nothing"
    )  # for what changes something
    if function is not None and function not in functions:
        raise InputError(f"{where}: python names {function!r}; a world in a Python file can define it")
    return Api(
        name,
        app or None,
        about=data.get("about", ""),
        arguments=arguments,
        reads=reads,
        matches=tuple(_read_matches(data.get("match", {}), arguments, world.tables.get(str(reads)), where)),
        where=read_texts(data, "where"),
        known=tuple(_read_known_values(data.get("known", {}), world, where)),
        valid=tuple(
            (argument.name, condition, message)
            for argument in arguments
            for condition, message in valid.get(argument.name, ())
        ),
        requires=tuple((condition, message) for condition, message in data.get("require", ())),
        sets=tuple(read_expressions(data, "set").items()),
        adds=adds,
        values=tuple(read_expressions(data, "values").items()),
        then=read_texts(data, "then"),
        deletes=data.get("deletes", False),
        fact=tuple(read_expressions(data, "fact").items()),
        returns=tuple(_read_returns(data.get("returns", ()))),
        fails_empty=data.get("empty", usual) == "fail",
        python=functions.get(function) if function else None,
    )


def _read_argument(text: str, world: Definition, tables: tuple[Any, Any], where: str) -> Argument:
    """An argument from ``name``, ``name?``, ``name:type``, ``name?=default``."""
    match = _ARGUMENT_PATTERN.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{where}: an argument is written name, name?, name:type or name?=default, found {text!r}"
        )
    name, first, kind, second, default = match.groups()
    kind = expect_type(kind, where) if kind else world.type_of(name, *tables)
    return Argument(name, kind, not (first or second) and default is None, default)


def _read_matches(
    overrides: Mapping[str, str], arguments: tuple[Argument, ...], table: Table | None, where: str
) -> Iterator[Match]:
    """The filters: an argument with a column's name filters on it; ``match`` renames, changes or drops."""
    for argument in arguments:
        if argument.name in overrides:
            column, _, op = overrides[argument.name].strip().partition(" ")
            if not column:
                continue
            if op.strip() not in ("", "=", ">=", "<=", "contains"):
                raise InputError(f"{where}: match accepts =, >=, <= and contains, found {op.strip()!r}")
            if table is None or table.column(column) is None:
                raise InputError(
                    f"{where}: match names {column!r}, which is not a column of the table it reads"
                )
            yield Match(argument.name, column, op.strip() or "=")
        elif table is not None and table.column(argument.name) is not None:
            yield Match(argument.name, argument.name)
    for name in overrides:
        if name not in {a.name for a in arguments}:
            raise InputError(f"{where}: match names {name!r}, which is not an argument")


def _read_known_values(
    sources: Mapping[str, Any], world: Definition, where: str
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    for argument, columns in sources.items():
        pairs = []
        for reference in [columns] if isinstance(columns, str) else columns:
            table, _, column = reference.partition(".")
            if table not in world.tables or world.tables[table].column(column) is None:
                raise InputError(f"{where}: known names {reference!r}; expected table.column")
            pairs.append((table, column))
        yield argument, tuple(pairs)


def _read_returns(outputs: Any) -> Iterator[tuple[str, str | None]]:
    if isinstance(outputs, Mapping):
        yield from ((str(name), None if value is True else str(value)) for name, value in outputs.items())
        return
    for output in outputs:
        name, separator, expression = output.partition("=")
        yield name.strip(), expression.strip() if separator else None


# ---------------------------------------------------------------- shared
def expect_type(text: Any, where: str) -> str:
    """One of the types that columns and arguments have."""
    if text not in TYPES:
        raise InputError(
            f"{where}: unknown type {text!r}; expected one of {', '.join(TYPES)}, and pool for columns"
        )
    return str(text)


def read_expressions(data: Mapping[str, Any], key: str) -> dict[str, str]:
    """The table of SQL expressions under a key; a number is one, too."""
    return {name: str(value) for name, value in data.get(key, {}).items()}


def read_texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The list of texts under a key; a single text counts as a list of one."""
    value = data.get(key, ())
    return (value,) if isinstance(value, str) else tuple(str(item) for item in value)
