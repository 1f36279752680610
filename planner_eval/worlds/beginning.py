"""The state in which a world begins, where a record brings its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from planner_eval.base.text import did_you_mean, shown
from planner_eval.worlds.database import insert, quoted
from planner_eval.worlds.definition import CallError, Table
from planner_eval.worlds.typed import typed

if TYPE_CHECKING:
    from planner_eval.worlds.world import World

FACTS = "facts"
"""What is no table: calls that the world must be able to answer."""


def replace_rows(world: World, state: Any) -> None:
    """Have tables hold the rows of a state instead of their own.

    Args:
        world: The world, which no call has changed.
        state: By table its rows; see :meth:`planner_eval.worlds.World.set_state`.

    Raises:
        CallError: there is no such table or column, or a row cannot be.
    """
    if not isinstance(state, Mapping):
        raise CallError(f"a world's state is an object of tables and their rows, found {shown(state, 60)}")
    tables = world.definition.tables
    for name, rows in state.items():
        if name == FACTS:
            _check_facts(rows)
            continue
        if name not in tables:
            raise CallError(f"there is no table {name!r}{_instead(name, tables)}")
        if not isinstance(rows, list):
            raise CallError(f"{name}: expected an array of rows, found {shown(rows, 60)}")
        world.connection.execute(f"DELETE FROM {quoted(name)}")
        for number, row in enumerate(rows, 1):
            _insert(world, tables[name], row, f"{name}, row {number}")


def _check_facts(facts: Any) -> None:
    lists = facts if isinstance(facts, list) else [facts]
    calls = [call for fact in lists for call in (fact if isinstance(fact, list) else [fact])]
    if not all(isinstance(call, Mapping) and {"name", "arguments"} <= call.keys() for call in calls):
        raise CallError(f"{FACTS}: expected calls with name and arguments, found {shown(facts, 60)}")


def _insert(world: World, table: Table, row: Any, location: str) -> None:
    if not isinstance(row, Mapping):
        raise CallError(f"{location}: expected an object, found {shown(row, 60)}")
    values = {}
    for name, value in row.items():
        column = table.column(name)
        if column is None:
            raise CallError(f"{location}: there is no column {name!r}{_instead(name, _columns(table))}")
        try:
            values[name] = None if value is None else typed(name, value, column.type)
        except CallError as error:
            raise CallError(f"{location}: {error}") from None
    full_row = world.making.row(table, values, Random(f"{world.seed}/{location}"))
    try:
        insert(world.connection, table, [full_row])
    except (sqlite3.Error, OverflowError) as error:
        raise CallError(f"{location}: cannot stand in the table: {error}") from None


def _columns(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def _instead(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, names, f"; there are {', '.join(names)}", lead="; ")
