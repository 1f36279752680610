"""What a call does to a world's database, step by step.

Known values, the rows found, conditions, changes, outputs: every step is SQL over what the world's
definition says; values from plans are bound, never written into a statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from planner_eval.execution.worlds.database import (
    compute,
    from_stored_value,
    insert,
    parameter_name,
    quote_name,
    run_statement,
    select,
)
from planner_eval.execution.worlds.definition import Api, Match, NotFound, Refused, Table

if TYPE_CHECKING:
    from planner_eval.execution.worlds.world import World


MAX_ROWS = 100
"""How many rows a call gives at most."""

MAX_COPIES = 1000
"""How often a call that makes identifiers can be made with the same arguments."""


@dataclass(slots=True)
class _CallContext:
    """What a call works on: its arguments, the table it reads, the rows found and the row added."""

    today: str
    values: dict[str, Any]
    table: Table | None
    rows: list[dict[str, Any]]
    row: dict[str, Any] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)

    def compute(self, connection: sqlite3.Connection, expression: str) -> Any:
        """An SQL expression over the row, the arguments and the added row's columns."""
        return compute(
            connection, expression, values=self.scope(), table=self.table, rowid=self.row.get("rowid")
        )

    def scope(self) -> dict[str, Any]:
        """What ``:name`` means: a given argument, else a column of the added row, else the world's date."""
        supplied = {name: value for name, value in self.values.items() if value is not None}
        return {"today": self.today, **self.values, **self.added, **supplied}


def execute_call(world: World, api: Api, values: dict[str, Any]) -> dict[str, Any]:
    """Carry out a call whose arguments are typed; the caller undoes it when it fails."""
    refuse_invalid_arguments(world, api, values)
    if api.python is not None:
        return api.python(world.connection, values)
    for name, column, argument in find_unknown_values(world, api, values):
        raise NotFound(f"no {argument} {str(values[argument])[:100]!r} is known ({name}.{column})")
    table = world.definition.tables[api.reads] if api.reads else None
    context = _CallContext(world.definition.today, values, table, find_rows(world, api, values))
    if table is not None and not context.rows:
        if api.fails_empty:
            sought = ", ".join(
                f"{match.argument}={str(values[match.argument])[:100]!r}"
                for match in _active_filters(api, values)
            )
            raise NotFound(f"{api.full_name} finds nothing in {table.name} for {sought or 'these arguments'}")
        if not any(source == "*rows" for _, source in api.returns):
            return {}
    context.row = context.rows[0] if context.rows else {}
    for condition, otherwise in api.requires:
        if not context.compute(world.connection, condition):
            raise Refused(_fill_message(otherwise, {**values, **context.row}), condition)
    _apply_changes(world, api, context)
    outputs = {name: _compute_output(world, api, name, source, context) for name, source in api.returns}
    if api.deletes and table is not None and context.row:
        world.connection.execute(
            f"DELETE FROM {quote_name(table.name)} WHERE rowid = {context.row['rowid']:d}"
        )
    return outputs


def refuse_invalid_arguments(world: World, api: Api, values: Mapping[str, Any]) -> None:
    """Refuse arguments that make no sense whatever is in the tables; what is left out is not judged."""
    scope = {"today": world.definition.today, **values}
    for argument, condition, otherwise in api.valid:
        if values.get(argument) is not None and compute(world.connection, condition, values=scope) == 0:
            raise Refused(_fill_message(otherwise, values), condition)


def find_rows(world: World, api: Api, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that a call finds, first come first; one unless the API gives all of them."""
    if api.reads is None:
        return []
    conditions = [match_condition(match) for match in _active_filters(api, values)]
    conditions += [f"({clause})" for clause in api.where]
    many = any(source == "*rows" for _, source in api.returns)
    table = world.definition.tables[api.reads]
    scope = {"today": world.definition.today, **values}
    return select(world.connection, table, where=conditions, values=scope, limit=MAX_ROWS if many else 1)


def find_unknown_values(world: World, api: Api, values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Table, column and argument of each value that must be known and is not."""
    for argument, columns in api.known:
        value = values.get(argument)
        if value is None:
            continue
        queries = (
            f"SELECT 1 FROM {quote_name(name)} WHERE {quote_name(column)} = ? LIMIT 1"
            for name, column in columns
        )
        if not any(world.connection.execute(query, (value,)).fetchone() for query in queries):
            yield *columns[0], argument


def _apply_changes(world: World, api: Api, context: _CallContext) -> None:
    """Add a row, change the row found, make the further changes."""
    if api.adds is not None:
        target = world.definition.tables[api.adds]
        context.added = _make_added_row(world, api, target, context)
        try:
            insert(world.connection, target, [context.added])
        except sqlite3.IntegrityError:
            raise Refused(_fill_message(target.taken, context.added)) from None
    where_clause = f"WHERE rowid = {context.row['rowid']:d}" if context.row else ""
    if api.sets and context.table is not None and where_clause:
        changes = ", ".join(f"{quote_name(column)} = ({value})" for column, value in api.sets)
        update = f"UPDATE {quote_name(context.table.name)} SET {changes} {where_clause}"
        try:
            run_statement(world.connection, update, context.scope())
        except sqlite3.IntegrityError:
            raise Refused(_fill_message(context.table.taken, context.scope())) from None
        context.row = select(
            world.connection, context.table, where=[where_clause.removeprefix("WHERE ")], limit=1
        )[0]
    for statement in api.then:
        run_statement(world.connection, statement, context.scope())


def _make_added_row(world: World, api: Api, target: Table, context: _CallContext) -> dict[str, Any]:
    """The row to add: computed values, the row found, the arguments, and the rest made from these.

    What is made depends on the row's other values, and for an identifier on those that rows like it
    have already, not on what was added before: the order of independent calls leaves no trace.
    """
    exact = {match.argument for match in api.matches if match.op == "=" and match.argument == match.column}
    row_values: dict[str, Any] = {}
    for column in target.columns:
        value = context.values.get(column.name)
        if column.name in context.row and (value is None or column.name in exact):
            value = context.row[column.name]
        if value is not None:
            row_values[column.name] = value
    for name, expression in api.values:
        row_values[name] = context.compute(world.connection, expression)
    key = "/".join(f"{name}={row_values[name]}" for name in sorted(row_values))
    generated = [
        column.name for column in target.columns if column.name not in row_values and "#" in column.maker.text
    ]
    conditions = [f"{quote_name(name)} = :{parameter_name(name)}" for name in generated]
    for copy in range(MAX_COPIES):
        row = world.making.row(target, row_values, Random(f"{world.seed}/{target.name}/{key}/{copy}"))
        if not generated or not select(world.connection, target, where=conditions, values=row, limit=1):
            return row
    raise Refused(f"{api.full_name} has done this {MAX_COPIES:,} times; it does no more")


def _compute_output(world: World, api: Api, name: str, source: str | None, context: _CallContext) -> Any:
    if source == "*rows":
        return [_row_record(context.table, row) for row in context.rows]
    if source == "*row":
        return _row_record(context.table, context.row)
    if source == "*added":
        return _row_record(world.definition.tables[api.adds or ""], context.added)
    kind = world.definition.type_of(name, api.adds, api.reads)
    if source is not None:
        return from_stored_value(context.compute(world.connection, source), kind)
    for values in (context.added, context.row, context.values):
        if values.get(name) is not None:
            return from_stored_value(values[name], kind)
    return None


def _row_record(table: Table | None, row: Mapping[str, Any]) -> dict[str, Any]:
    columns = table.columns if table else ()
    return {column.name: from_stored_value(row.get(column.name), column.type) for column in columns}


def _active_filters(api: Api, values: Mapping[str, Any]) -> list[Match]:
    return [match for match in api.matches if values.get(match.argument) is not None]


def match_condition(match: Match) -> str:
    """The SQL condition of a filter."""
    if match.op == "contains":
        return f"instr(lower({quote_name(match.column)}), lower(:{parameter_name(match.argument)})) > 0"
    return f"{quote_name(match.column)} {match.op} :{parameter_name(match.argument)}"


def _fill_message(message: str, values: Mapping[str, Any]) -> str:
    """A message with ``{name}`` replaced by values of the row or the arguments."""
    for name, value in values.items():
        message = message.replace("{" + name + "}", str(value)[:100])
    return message
