"""The database below a world, and its values as the world's types."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.json_files import decode_field
from planner_eval.base.text import parse_day
from planner_eval.execution.worlds.definition import (
    Api,
    Definition,
    Match,
    NotFound,
    Refused,
    Table,
    TooLong,
    Values,
    WrongType,
)

if TYPE_CHECKING:
    from planner_eval.execution.worlds.world import World


# ----------------------------------------------------------------------
# The database below a world: schema, rows, canonical dump. Names are quoted, values are bound.
MAX_STEPS = 20_000_000
"""Steps of SQLite's machine that one statement of a world may take: about a second."""

Row: TypeAlias = "dict[str, Any]"
"""A row of a table, by column."""
Changes: TypeAlias = "dict[str, dict[str, list[Row]]]"
"""By table the rows ``added`` and ``removed``."""

_STEPS_PER_CHECK = 100_000
_MAX_VALUE_BYTES = 16_000_000
"""Bytes of one value."""

_SQL_TYPES = {"integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}


def quote_name(name: str) -> str:
    """A name as SQL can hold it.

    >>> quote_name("from")
    '"from"'
    """
    return '"' + name.replace('"', '""') + '"'


def parameter_name(name: str) -> str:
    """The name under which SQL knows an argument.

    >>> parameter_name("from"), parameter_name("X-Host")
    ('from', 'X_2d_Host')
    """
    return re.sub(r"\W", lambda match: f"_{ord(match[0]):x}_", name)


def bind_parameters(values: Values) -> dict[str, Any]:
    """Values by the names under which SQL knows them."""
    return {parameter_name(name): value for name, value in values.items()}


def connect(path: str) -> sqlite3.Connection:
    """An open database that threads may share (the world locks it) and that remembers nothing by itself."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


@contextmanager
def limit_steps(connection: sqlite3.Connection) -> Iterator[None]:
    """End a statement of a world's that comes to no end, after so many steps on any machine.

    Raises:
        TooLong: it took more.
    """
    left = MAX_STEPS // _STEPS_PER_CHECK

    def spent() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(spent, _STEPS_PER_CHECK)
    try:
        yield
    except sqlite3.OperationalError:
        if left >= 0:
            raise
        raise TooLong(f"its SQL does not finish within {MAX_STEPS:,} steps") from None
    finally:
        connection.set_progress_handler(None, 0)


def run_statement(connection: sqlite3.Connection, statement: str, values: Values) -> None:
    """Run a statement of a world's that changes it."""
    with limit_steps(connection):
        deque(connection.execute(statement, bind_parameters(values)), 0)


def create_tables(connection: sqlite3.Connection, world: Definition) -> None:
    """Create the tables of a world; one that is there already stays."""
    connection.execute("PRAGMA user_version = 1")  # a database of no table at all gives no image
    connection.executescript("\n".join(_schema(table) for table in world.tables.values()))


def _schema(table: Table) -> str:
    columns = []
    for column in table.columns:
        stored = _SQL_TYPES.get(column.type, "TEXT COLLATE NOCASE")
        columns.append(f"{quote_name(column.name)} {stored}")
    if table.unique:
        columns.append(f"UNIQUE ({', '.join(quote_name(name) for name in table.unique)})")
    return f"CREATE TABLE IF NOT EXISTS {quote_name(table.name)} ({', '.join(columns)});"


def insert(
    connection: sqlite3.Connection,
    table: Table,
    rows: Iterable[Values],
    *,
    lenient: bool = False,
    first: bool = False,
) -> int:
    """Add rows and give the last one's ``rowid``.

    Args:
        connection: The database.
        table: The table.
        rows: The rows.
        lenient: Leave out what breaks a rule.
        first: Put a row before all others; behind them otherwise.
    """
    names = ", ".join(["rowid", *(quote_name(column.name) for column in table.columns)])
    rowid = f"(SELECT min(rowid) - 1 FROM {quote_name(table.name)})" if first else "NULL"
    marks = ", ".join([rowid, *("?" for _ in table.columns)])
    verb = "INSERT OR IGNORE" if lenient else "INSERT"
    values = ([row.get(column.name) for column in table.columns] for row in rows)
    connection.executemany(f"{verb} INTO {quote_name(table.name)} ({names}) VALUES ({marks})", values)
    return int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])


def select(
    connection: sqlite3.Connection,
    table: Table,
    *,
    where: Iterable[str],
    values: Values | None = None,
    limit: int,
) -> list[Row]:
    """Rows that meet all conditions, in the table's own order, each with its ``rowid``."""
    name = quote_name(table.name)
    condition = " AND ".join(where) or "1"
    query = f"SELECT rowid, * FROM {name} WHERE {condition} ORDER BY {name}.rowid LIMIT {limit}"
    names = ["rowid", *(column.name for column in table.columns)]
    with limit_steps(connection):
        cursor = connection.execute(query, bind_parameters(values or {}))
        return [dict(zip(names, row, strict=True)) for row in cursor]


def compute(
    connection: sqlite3.Connection,
    expression: str,
    *,
    values: Values,
    table: Table | None = None,
    rowid: int | None = None,
) -> Any:
    """The value of an SQL expression over a row of a table, or over the arguments alone."""
    query = f"SELECT ({expression})"
    if table is not None and rowid is not None:
        query += f" FROM {quote_name(table.name)} WHERE {quote_name(table.name)}.rowid = {rowid:d}"
    with limit_steps(connection):
        row = connection.execute(query, bind_parameters(values)).fetchone()
    return row[0] if row else None


def dump(connection: sqlite3.Connection, world: Definition) -> str:
    """All rows of all tables as JSON lines, tables by name and rows by content.

    Two databases dump alike exactly when they hold the same rows, in whatever order they came in.
    """
    line = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    lines = []
    for name in sorted(world.tables):
        lines.append(line({"table": name, "columns": [column.name for column in world.tables[name].columns]}))
        lines += sorted(map(line, connection.execute(f"SELECT * FROM {quote_name(name)}")))
    return "\n".join(lines) + "\n"


def changes(before: sqlite3.Connection, after: sqlite3.Connection, world: Definition) -> Changes:
    """What one database has and the other has not: by table the rows ``added`` and ``removed``.

    A changed row counts as removed and added. Tables that are alike are left out; rows are in the
    order of their content.
    """
    by_table: Changes = {}
    line = json.JSONEncoder(ensure_ascii=False).encode
    for name in sorted(world.tables):
        query = f"SELECT * FROM {quote_name(name)}"
        old, new = Counter(before.execute(query)), Counter(after.execute(query))
        if old == new:
            continue
        columns = [column.name for column in world.tables[name].columns]
        by_table[name] = {
            kind: [dict(zip(columns, row, strict=True)) for row in sorted(rows.elements(), key=line)]
            for kind, rows in (("added", new - old), ("removed", old - new))
            if rows
        }
    return by_table


# ----------------------------------------------------------------------
# Argument values into the world's types, and the database's values back out.
MAX_ARGUMENT_LENGTH = 100_000
"""Characters of one argument."""

_TYPE_DESCRIPTIONS = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "True or False",
    "date": "a date (yyyy-mm-dd)",
    "time": "a time (hh:mm)",
    "json": "JSON data",
}


def to_stored_value(name: str, value: Any, kind: str) -> Any:
    """An argument's value as the database holds it.

    Raises:
        WrongType: the value does not read as `kind`.

    >>> (
    ...     to_stored_value("seats", "4", "integer"), to_stored_value("outdoors", "True", "boolean"),
    ...     to_stored_value("at", "9:30", "time")
    ... )
    (4, 1, '09:30')
    """
    read = _convert_value(value, kind)
    if read is None:
        value_text = f"{value!r:.60}"
        raise WrongType(f"{name}: expected {_TYPE_DESCRIPTIONS[kind]}, found {value_text}")
    if isinstance(read, str):
        if len(read) > MAX_ARGUMENT_LENGTH:
            raise WrongType(
                f"{name}: {len(read):,} characters, more than the limit of {MAX_ARGUMENT_LENGTH:,}"
            )
        try:
            read.encode()
        except UnicodeEncodeError as error:
            raise WrongType(f"{name}: character {error.start + 1} is not Unicode text") from None
    return read


def from_stored_value(value: Any, kind: str) -> Any:
    """A value of the database as outputs hold it.

    >>> from_stored_value(1, "boolean"), from_stored_value('{"a":1}', "json")
    (True, {'a': 1})
    """
    if value is None:
        return None
    if kind == "boolean":
        return bool(value)
    if kind == "json" and isinstance(value, str):
        try:
            return decode_field(value)
        except ValueError:
            return value
    return value


def _convert_value(value: Any, kind: str) -> Any:
    if kind == "json":
        try:
            return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return None
    if kind == "text":
        return str(value).strip() if isinstance(value, (str, int, float)) else None
    if kind == "boolean":
        text = str(value).strip().lower()
        return {"true": 1, "false": 0}.get(text) if isinstance(value, (str, bool)) else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if kind in ("integer", "number"):
        return _convert_number(value, is_integer=kind == "integer")
    return _convert_moment(str(value).strip(), kind)


def _convert_number(value: str | int | float, *, is_integer: bool) -> int | float | None:
    """A number that SQLite can hold: finite, and within 64 bits when it is whole."""
    try:
        number = float(value)
        exact = value if isinstance(value, int) else int(number) if number.is_integer() else None
    except (ValueError, OverflowError):
        return None
    if exact is not None and abs(exact) >= 2**63:
        return None
    if not isfinite(number):
        return None
    return exact if is_integer else number


def _convert_moment(text: str, kind: str) -> str | None:
    if kind == "time":
        match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)(?::00)?", text)
        return f"{int(match[1]):02d}:{match[2]}" if match else None
    day = parse_day(text)
    return None if day is None else day.isoformat()


# ----------------------------------------------------------------------
# What a call does to a world's database, step by step.
#
# Known values, the rows found, conditions, changes, outputs: every step is SQL over what the world's
# definition says; values from plans are bound, never written into a statement.
MAX_ROWS = 100
"""How many rows a call gives at most."""

MAX_COPIES = 1000
"""How often a call that makes identifiers can be made with the same arguments."""


class ApiCall:
    """A call to an API of a world: what it finds, changes and gives.

    Args:
        world: The world.
        api: The API.
        values: The arguments as the database holds them, None where one is left out.
    """

    def __init__(self, world: World, api: Api, values: Values) -> None:
        self.world, self.api, self.values = world, api, values
        self.table = world.definition.tables.get(api.reads or "")
        self.row: Row = {}
        self.added: Row = {}

    @property
    def scope(self) -> dict[str, Any]:
        """What ``:name`` means: a given argument, else a column of the added row, else the world's date."""
        supplied = {name: value for name, value in self.values.items() if value is not None}
        return {"today": self.world.definition.today, **self.values, **self.added, **supplied}

    @property
    def filters(self) -> dict[str, Match]:
        """The filters whose arguments are given, by argument."""
        return {m.argument: m for m in self.api.matches if self.values.get(m.argument) is not None}

    def compute(self, expression: str) -> Any:
        """The value of an SQL expression over the row, the arguments and the added row's columns."""
        rowid, connection = self.row.get("rowid"), self.world.connection
        return compute(connection, expression, values=self.scope, table=self.table, rowid=rowid)

    def execute(self) -> dict[str, Any]:
        """The outputs, once the call is carried out; the caller undoes it when it fails."""
        self.refuse_invalid_arguments()
        if self.api.python is not None:
            return self.api.python(self.world.connection, dict(self.values))
        for name, column, argument in self.unknown_values():
            raise NotFound(f"no {argument} {str(self.values[argument])[:100]!r} is known ({name}.{column})")
        rows = self.find_rows()
        if self.table is not None and not rows:
            if self.api.fails_empty:
                filters = ", ".join(f"{name}={str(self.values[name])[:100]!r}" for name in self.filters)
                sought = f"{self.table.name} for {filters or 'these arguments'}"
                raise NotFound(f"{self.api.full_name} finds nothing in {sought}")
            if not self.api.gives_rows:
                return {}
        self.row = rows[0] if rows else {}
        for condition, otherwise in self.api.requires:
            if not self.compute(condition):
                raise Refused(_fill_message(otherwise, {**self.values, **self.row}), condition)
        self._apply_changes()
        outputs = {name: self._output(name, source, rows) for name, source in self.api.returns}
        if self.api.deletes and self.table is not None and self.row:
            self.world.connection.execute(f"DELETE FROM {quote_name(self.table.name)} {self._where_row()}")
        return outputs

    def refuse_invalid_arguments(self) -> None:
        """Refuse arguments that make no sense whatever is in the tables; what is left out is not judged."""
        for argument, condition, otherwise in self.api.valid:
            if self.values.get(argument) is not None and self.compute(condition) == 0:
                raise Refused(_fill_message(otherwise, self.values), condition)

    def find_rows(self) -> list[Row]:
        """The rows that it finds, first come first; one unless the API gives all of them."""
        if self.table is None:
            return []
        conditions = [*map(match_condition, self.filters.values())]
        conditions += [f"({clause})" for clause in self.api.where]
        limit = MAX_ROWS if self.api.gives_rows else 1
        return select(self.world.connection, self.table, where=conditions, values=self.scope, limit=limit)

    def unknown_values(self) -> Iterator[tuple[str, str, str]]:
        """Table, column and argument of each value that must be known and is not."""
        for argument, columns in self.api.known:
            rowids = (self.find_known(argument, name, column) for name, column in columns)
            if self.values.get(argument) is not None and not any(rowids):
                yield *columns[0], argument

    def find_known(self, argument: str, table: str, column: str) -> tuple[int] | None:
        """The ``rowid`` of the first row of a table whose column has an argument's value."""
        name = quote_name(table)
        query = f"SELECT rowid FROM {name} WHERE {quote_name(column)} = ? ORDER BY rowid LIMIT 1"
        rowid: tuple[int] | None = self.world.connection.execute(query, (self.values[argument],)).fetchone()
        return rowid

    def _where_row(self) -> str:
        return f"WHERE rowid = {self.row['rowid']:d}"

    def _apply_changes(self) -> None:
        """Add a row, change the row found, make the further changes."""
        connection = self.world.connection
        if self.api.adds is not None:
            target = self.world.definition.tables[self.api.adds]
            self.added = self._make_added_row(target)
            try:
                insert(connection, target, [self.added])
            except sqlite3.IntegrityError:
                raise Refused(_fill_message(target.taken, self.added)) from None
        if self.api.sets and self.table is not None and self.row:
            changes = ", ".join(f"{quote_name(column)} = ({value})" for column, value in self.api.sets)
            update = f"UPDATE {quote_name(self.table.name)} SET {changes} {self._where_row()}"
            try:
                run_statement(connection, update, self.scope)
            except sqlite3.IntegrityError:
                raise Refused(_fill_message(self.table.taken, self.scope)) from None
            (self.row,) = select(connection, self.table, where=[f"rowid = {self.row['rowid']:d}"], limit=1)
        for statement in self.api.then:
            run_statement(connection, statement, self.scope)

    def _make_added_row(self, target: Table) -> Row:
        """The row to add: computed values, the row found, the arguments, and the rest made from these.

        What is made depends on the row's other values, and for an identifier on those that rows like it
        have already, not on what was added before: the order of independent calls leaves no trace.
        """
        exact = {m.argument for m in self.api.matches if m.op == "=" and m.argument == m.column}
        row_values: Row = {}
        for column in target.columns:
            value = self.values.get(column.name)
            if column.name in self.row and (value is None or column.name in exact):
                value = self.row[column.name]
            if value is not None:
                row_values[column.name] = value
        row_values |= {name: self.compute(expression) for name, expression in self.api.values}
        key = "/".join(f"{name}={row_values[name]}" for name in sorted(row_values))
        generated = [c.name for c in target.columns if c.name not in row_values and "#" in c.maker.text]
        conditions = [f"{quote_name(name)} = :{parameter_name(name)}" for name in generated]
        world = self.world
        for copy in range(MAX_COPIES):
            row = world.making.row(target, row_values, Random(f"{world.seed}/{target.name}/{key}/{copy}"))
            if not generated or not select(world.connection, target, where=conditions, values=row, limit=1):
                return row
        raise Refused(f"{self.api.full_name} has already made {MAX_COPIES:,} such rows, which is the limit")

    def _output(self, name: str, source: str | None, rows: list[Row]) -> Any:
        if source == "*rows":
            return [_row_record(self.table, row) for row in rows]
        if source == "*row":
            return _row_record(self.table, self.row)
        if source == "*added":
            return _row_record(self.world.definition.tables[self.api.adds or ""], self.added)
        kind = self.world.definition.type_of(name, self.api.adds, self.api.reads)
        if source is not None:
            return from_stored_value(self.compute(source), kind)
        supplied = (values.get(name) for values in (self.added, self.row, self.values))
        return from_stored_value(next((value for value in supplied if value is not None), None), kind)


def _row_record(table: Table | None, row: Values) -> Row:
    columns = table.columns if table else ()
    return {column.name: from_stored_value(row.get(column.name), column.type) for column in columns}


def match_condition(match: Match) -> str:
    """The SQL condition of a filter."""
    if match.op == "contains":
        return f"instr(lower({quote_name(match.column)}), lower(:{parameter_name(match.argument)})) > 0"
    return f"{quote_name(match.column)} {match.op} :{parameter_name(match.argument)}"


def _fill_message(message: str, values: Values) -> str:
    """A message with ``{name}`` replaced by values of the row or the arguments."""
    for name, value in values.items():
        message = message.replace("{" + name + "}", str(value)[:100])
    return message
