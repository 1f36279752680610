"""Values out of a simulated world: what is asked for exists there, and what belongs together stays so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from random import Random
from typing import Any

from planner_eval.making.values import NOTHING
from planner_eval.worlds.database import quoted, select
from planner_eval.worlds.definition import Api, Argument, CallError, Column
from planner_eval.worlds.generic import is_filler
from planner_eval.worlds.typed import typed, untyped
from planner_eval.worlds.world import World

_ROWS = 200
"""Rows among which one is chosen."""

_LISTED = re.compile(r":(\w+) IN \(((?:'[^']*'(?:, *)?)+)\)")


def asked(
    world: World, api: Api, fixed: Mapping[str, Any], names: frozenset[str], random: Random
) -> dict[str, Any]:
    """Arguments of one call: those that are fixed, and for the others what some row holds.

    Args:
        world: The world, in which the call is to find something.
        api: What is called.
        fixed: Arguments that are settled, as a plan writes them.
        names: The further arguments that need a value.
        random: Where chance comes from.

    Returns:
        A value for each that is wanted, as a plan writes it with types; :data:`.values.NOTHING` where the
        world does not say what there is.
    """
    row = _row(world, api, fixed, random)
    return {
        argument.name: _value(world, api, argument, row, random)
        for argument in api.arguments
        if argument.name in names and argument.name not in fixed
    }


def _row(world: World, api: Api, fixed: Mapping[str, Any], random: Random) -> Mapping[str, Any]:
    """A row that the call could be about; {} where it reads none, or none is left."""
    table = world.definition.tables.get(api.reads or "")
    if table is None:
        return {}
    kinds = {argument.name: argument.type for argument in api.arguments}
    conditions, values = [], {}
    for match in api.matches:
        if match.argument in fixed and match.op == "=":
            with suppress(CallError):
                values[match.argument] = typed(match.argument, fixed[match.argument], kinds[match.argument])
                conditions.append(f"{quoted(match.column)} = :{match.argument}")
    rows = select(world.connection, table, where=conditions, values=values, limit=_ROWS)
    return random.choice(rows) if rows else {}


def _value(world: World, api: Api, argument: Argument, row: Mapping[str, Any], random: Random) -> Any:
    column = next((match.column for match in api.matches if match.argument == argument.name), None)
    table = world.definition.tables.get(api.reads or api.adds or "")
    named = table.column(column or argument.name) if table else None
    if named is not None and is_filler(named):
        return NOTHING
    stored = row.get(column) if column else None
    if stored is None:
        stored = _elsewhere(world, api, argument, random)
    if stored is None:
        return NOTHING
    value = untyped(stored, argument.type)
    return value if value not in ("", [], {}) else NOTHING


def _elsewhere(world: World, api: Api, argument: Argument, random: Random) -> Any:
    """A value that no row of the table holds which the call reads."""
    for name, sources in api.known:
        if name == argument.name:
            return world.held(*random.choice(sources), random)
    for name, choices in (match.groups() for text, _ in api.requires for match in _LISTED.finditer(text)):
        if name == argument.name:
            return random.choice(re.findall(r"'([^']*)'", choices))
    for table_name in (api.adds, api.reads):
        table = world.definition.tables.get(table_name or "")
        column = table.column(argument.name) if table else None
        if column is not None and column.maker.kind:
            value = world.making.value(column, {}, random)
            if value is not None:
                return value
    return _of_type(world, argument, random)


def _of_type(world: World, argument: Argument, random: Random) -> Any:
    """A value of which nothing but the type and the name is known."""
    kind = argument.type
    if kind == "date":
        return (
            date.fromisoformat(world.definition.today) + timedelta(days=random.randint(1, 12))
        ).isoformat()
    if kind == "time":
        return f"{random.randrange(8, 21):02d}:{random.randrange(0, 60, 15):02d}"
    if kind == "boolean":
        return random.randrange(2)
    if kind == "integer":
        return random.randint(1, 4)
    if kind == "number":
        return random.randint(4, 60) * 5
    same = [
        (table.name, column.name)
        for table in world.definition.tables.values()
        for column in table.columns
        if column.name == argument.name and _made(column)
    ]
    return world.held(*random.choice(same), random) if same else None


def _made(column: Column) -> bool:
    return bool(column.maker.kind)
