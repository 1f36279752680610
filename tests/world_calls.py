"""Arguments with which an API of a world works, taken from the world's own rows."""

from typing import Any

from planner_eval.execution.worlds.database import from_stored_value, quote_name
from planner_eval.execution.worlds.definition import Api
from planner_eval.execution.worlds.world import World

TEXT = {
    "paymentMethod": "debit", "payment_method": "debit card", "newPIN": "4321", "format": "PDF",
    "currency": "USD",
}  # fmt: skip
VALUES = {"integer": 1, "number": 30, "boolean": True, "time": "12:00", "json": {"note": "x"}}


def working(world: World, api: Api) -> dict[str, Any]:
    """Arguments for a call that finds what it is about; made as a fact first where no row is of use."""
    row = first_row(world, api)
    arguments: dict[str, Any] = {}
    for argument in api.arguments:
        matches = [each for each in api.matches if each.argument == argument.name]
        known = dict(api.known).get(argument.name)
        if matches and row.get(matches[0].column) is not None:
            arguments[argument.name] = from_stored_value(row[matches[0].column], argument.type)
        elif known:
            arguments[argument.name] = some(world, *known[0], other_than=arguments.values())
        elif argument.name == "newLimit":
            arguments[argument.name] = 99_000
        elif argument.type == "date":
            day = "28" if "end" in argument.name.lower() or "out" in argument.name else "01"
            arguments[argument.name] = f"{world.definition.today[:8]}{day}"
        elif argument.type == "text":
            arguments[argument.name] = TEXT.get(argument.name, "something")
        else:
            arguments[argument.name] = VALUES[argument.type]
    if api.name == "convertCurrency":
        pair = some(world, "exchange_rates", "currencyPair")
        arguments["fromCurrency"], arguments["toCurrency"] = pair.split("/")
    return arguments


def first_row(world: World, api: Api) -> dict[str, Any]:
    """The first row of the table that the API reads, in the state in which it is of use."""
    if api.reads is None:
        return {}
    table = world.definition.tables[api.reads]
    for name, text in api.fact:  # what the row must be, as far as no argument says it
        if text.startswith("'"):
            world.connection.execute(f"UPDATE {quote_name(table.name)} SET {quote_name(name)} = {text}")
    found = world.connection.execute(
        f"SELECT * FROM {quote_name(table.name)} ORDER BY rowid LIMIT 1"
    ).fetchone()
    assert found is not None, f"{api.full_name} reads {table.name}, which is empty"
    return dict(zip((each.name for each in table.columns), found, strict=True))


def some(world: World, table: str, column: str, other_than: Any = ()) -> Any:
    """A value that a column holds."""
    rows = world.connection.execute(f"SELECT {quote_name(column)} FROM {quote_name(table)} ORDER BY rowid")
    return next(value for (value,) in rows if value not in list(other_than))


def table(world: World, name: str) -> list[dict[str, Any]]:
    """The rows of a table in its own order."""
    names = [column.name for column in world.definition.tables[name].columns]
    rows = world.connection.execute(f"SELECT * FROM {quote_name(name)} ORDER BY rowid")
    return [dict(zip(names, row, strict=True)) for row in rows]
