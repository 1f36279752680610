"""The clauses of a world's file: columns and tables, arguments and APIs; errors name the place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.worlds.definition import TYPES, Api, Argument, Column, Definition, Maker, Match, Table

_ARGUMENT = re.compile(r"(\w+)(\?)?(?::(\w+))?(\?)?(?:=(.*))?")


# ---------------------------------------------------------------- tables
def table_of(name: str, data: Mapping[str, Any], where: str) -> Table:
    """A table from its part of the file."""
    columns = tuple(_column(key, value, f"{where}.{key}") for key, value in data["columns"].items())
    unique = texts(data, "unique")
    for column_name in unique:
        if column_name not in data["columns"]:
            raise InputError(f"{where}: unique names {column_name!r}, which is no column")
    return Table(name, columns, data.get("rows", 12), unique, data.get("taken", "it is taken already"))


def _column(name: str, spec: Any, where: str) -> Column:
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
    kind_of(kind, where)
    if not detail:
        return Column(name, kind, Maker("choice", (False, True), by=by) if kind == "boolean" else Maker())
    if kind in ("text", "json"):
        return Column(name, kind, Maker("template", text=detail, by=by))
    low, high, step = _range(kind, detail, where)
    return Column(name, kind, Maker("range", low=low, high=high, step=step, by=by))


def _range(kind: str, text: str, where: str) -> tuple[float, float, float]:
    """``low..high/step`` in the units of the kind."""
    match = re.fullmatch(r"(.+?)\.\.(.+?)(?:/(.+))?", text.strip())
    if match is None:
        raise InputError(f"{where}: expected low..high or low..high/step, found {text!r}")
    ends = [_minutes(end) if kind == "time" else end for end in match.groups()[:2]]
    try:
        low, high, step = float(ends[0]), float(ends[1]), float(match[3] or 1)
    except ValueError:
        raise InputError(f"{where}: expected numbers in {text!r}") from None
    if low > high or step <= 0:
        raise InputError(f"{where}: the range {text!r} is empty")
    return low, high, step


def _minutes(text: str) -> str:
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
    arguments = tuple(_argument(text, world, (reads, adds), where) for text in texts(data, "args"))
    function = data.get("python")
    if function is not None and function not in functions:
        raise InputError(f"{where}: python names {function!r}; a world in a Python file can define it")
    return Api(
        name,
        app or None,
        about=data.get("about", ""),
        arguments=arguments,
        reads=reads,
        matches=tuple(_matches(data.get("match", {}), arguments, world.tables.get(str(reads)), where)),
        where=texts(data, "where"),
        known=tuple(_known(data.get("known", {}), world, where)),
        valid=tuple(
            (argument.name, condition, message)
            for argument in arguments
            for condition, message in valid.get(argument.name, ())
        ),
        requires=tuple((condition, message) for condition, message in data.get("require", ())),
        sets=tuple(pairs(data, "set").items()),
        adds=adds,
        values=tuple(pairs(data, "values").items()),
        then=texts(data, "then"),
        deletes=data.get("deletes", False),
        fact=tuple(pairs(data, "fact").items()),
        returns=tuple(_returns(data.get("returns", ()))),
        fails_empty=_fails_empty(data),
        python=functions.get(function) if function else None,
    )


def _fails_empty(data: Mapping[str, Any]) -> bool:
    """Whether finding nothing is a failure: for what changes something, unless the file says otherwise."""
    acts = {"set", "adds", "deletes", "then"} & set(data)
    return bool(data.get("empty", "fail" if acts else "nothing") == "fail")


def _argument(text: str, world: Definition, tables: tuple[Any, Any], where: str) -> Argument:
    """An argument from ``name``, ``name?``, ``name:type``, ``name?=default``."""
    match = _ARGUMENT.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{where}: an argument is written name, name?, name:type or name?=default, found {text!r}"
        )
    name, first, kind, second, default = match.groups()
    kind = kind_of(kind, where) if kind else world.type_of(name, *tables)
    return Argument(name, kind, not (first or second) and default is None, default)


def _matches(
    overrides: Mapping[str, str], arguments: tuple[Argument, ...], table: Table | None, where: str
) -> Iterator[Match]:
    """The filters: an argument with a column's name filters on it; ``match`` renames, changes or drops."""
    for argument in arguments:
        if argument.name in overrides:
            column, _, op = overrides[argument.name].strip().partition(" ")
            if not column:
                continue
            if op.strip() not in ("", "=", ">=", "<=", "contains"):
                raise InputError(f"{where}: match knows =, >=, <= and contains, found {op.strip()!r}")
            if table is None or table.column(column) is None:
                raise InputError(f"{where}: match names {column!r}, which is no column of the table it reads")
            yield Match(argument.name, column, op.strip() or "=")
        elif table is not None and table.column(argument.name) is not None:
            yield Match(argument.name, argument.name)
    for name in overrides:
        if name not in {a.name for a in arguments}:
            raise InputError(f"{where}: match names {name!r}, which is no argument")


def _known(
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


def _returns(outputs: Any) -> Iterator[tuple[str, str | None]]:
    if isinstance(outputs, Mapping):
        yield from ((str(name), None if value is True else str(value)) for name, value in outputs.items())
        return
    for output in outputs:
        name, separator, expression = output.partition("=")
        yield name.strip(), expression.strip() if separator else None


# ---------------------------------------------------------------- shared
def kind_of(text: Any, where: str) -> str:
    """One of the types that columns and arguments have."""
    if text not in TYPES:
        raise InputError(
            f"{where}: unknown type {text!r}; there are {', '.join(TYPES)}, and pool for columns"
        )
    return str(text)


def pairs(data: Mapping[str, Any], key: str) -> dict[str, str]:
    """The table of SQL expressions under a key; a number is one, too."""
    return {name: str(value) for name, value in data.get(key, {}).items()}


def texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The list of texts under a key; a single text counts as a list of one."""
    value = data.get(key, ())
    return (value,) if isinstance(value, str) else tuple(str(item) for item in value)
