"""Whether the SQL in a world's definition can run, said before any call does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from planner_eval.base.errors import InputError
from planner_eval.worlds.acting import condition
from planner_eval.worlds.database import bound, connect, create, quoted
from planner_eval.worlds.definition import Api, Definition


def verify(world: Definition) -> None:
    """Compile every statement of a definition, against empty tables.

    Raises:
        InputError: a statement names what is not there, or is no SQL; says which API's and why.
    """
    connection = connect(":memory:")
    try:
        create(connection, world)
        connection.set_authorizer(_allowed)
        for api in world.apis.values():
            _check_columns(api, world)
            names = ["today", *(a.name for a in api.arguments)]
            names += [c.name for c in world.tables[api.adds].columns] if api.adds else []
            scope = {bound(name): None for name in names}
            for clause, statement in _statements(api):
                try:
                    steps = connection.execute(f"EXPLAIN {statement}", scope).fetchall()
                    if any(step[1] == "Vacuum" for step in steps):  # of which no authorizer is asked
                        raise sqlite3.OperationalError("not authorized")
                except (sqlite3.Error, sqlite3.Warning) as error:
                    reason = _FORBIDDEN if "not authorized" in str(error) else error
                    raise InputError(f"{world.name}: {api.full_name}: {clause}: {reason}") from None
    except sqlite3.Error as error:
        raise InputError(f"{world.name}: {error}") from None
    finally:
        connection.close()


_FORBIDDEN = (
    "statements of a world read and change the rows of its tables, and nothing else; what is random, or of "
    "the day on which it is asked, makes no world (:today is its own)"
)

_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
    }
)


_CHANGING = frozenset(
    {"random", "randomblob", "current_date", "current_time", "current_timestamp", "load_extension"}
)
"""Functions that give another value each time, or bring code: a world is the same on every machine."""


def _allowed(action: int, _: str | None, name: str | None, *__: str | None) -> int:
    """Whether SQLite may do something for a world: no other files, settings, transactions or new tables."""
    changing = action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _CHANGING
    return sqlite3.SQLITE_OK if action in _ALLOWED and not changing else sqlite3.SQLITE_DENY


def _check_columns(api: Api, world: Definition) -> None:
    """Refuse columns that are not there; SQLite takes an unknown name in double quotes for a text."""
    for clause, assignments, name in (
        ("fact", api.fact, api.reads),
        ("set", api.sets, api.reads),
        ("values", api.values, api.adds),
    ):
        table = world.tables.get(name or "")
        for column, _ in assignments:
            if table is None or table.column(column) is None:
                location = f"the table {name}" if table else "no table"
                raise InputError(
                    f"{world.name}: {api.full_name}: {clause} {column}: no such column in {location}"
                )


def _statements(api: Api) -> Iterator[tuple[str, str]]:
    """What each clause of an API runs, under the clause's name."""
    source = f" FROM {quoted(api.reads)}" if api.reads else ""
    for match in api.matches:
        yield f"match {match.argument}", f"SELECT 1{source} WHERE {condition(match)}"
    for predicate in api.where:
        yield f"where {predicate!r}", f"SELECT 1{source} WHERE ({predicate})"
    for argument, predicate, _ in api.valid:
        yield f"valid {argument} {predicate!r}", f"SELECT ({predicate})"
    for predicate, _ in api.requires:
        yield f"require {predicate!r}", f"SELECT ({predicate}){source}"
    for column, expression in api.sets:
        yield f"set {column}", f"UPDATE {quoted(api.reads or '')} SET {quoted(column)} = ({expression})"
    for column, expression in api.values:
        yield f"values {column}", f"SELECT ({expression}){source}"
    for column, expression in api.fact:
        yield f"fact {column}", f"SELECT ({expression})"
    for statement in api.then:
        yield f"then {statement!r:.60}", statement
    for name, text in api.returns:
        if text is not None and not text.startswith("*"):
            yield f"returns {name}", f"SELECT ({text}){source}"
