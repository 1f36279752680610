"""The generic table world: what an API does, guessed from its name and signature.

The last noun of an API's name is what it is about, the first word what it does with it::

    find_x, getX, check_x …    filter the table of x by the arguments
    update_x, modifyX, confirm_x …  change the row that the identifying arguments name
    delete_x, cancelX …        delete that row; a second time there is nothing to delete
    anything else              adds a row of its arguments

Tables are shared by all APIs of an app that are about the same noun, and hold every argument and
output that one of them has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random
from typing import Any, TypeAlias

from planner_eval.base.json_files import decode_field
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool
from planner_eval.execution.worlds.database import parameter_name, quote_name
from planner_eval.execution.worlds.definition import Api, Argument, Column, Definition, Maker, Match, Table

_READ_VERBS = frozenset({
    "find", "search", "serch", "get", "check", "show", "view", "list", "lookup", "look", "query", "read",
    "track", "browse", "explore", "review", "display", "calculate", "estimate", "validate", "verify",
    "compare", "retrieve", "fetch", "count",
})  # fmt: skip
_CHANGE_VERBS = frozenset({
    "update", "modify", "change", "alter", "set", "edit", "confirm", "renew", "increase", "decrease",
    "activate", "deactivate", "reschedule", "extend", "upgrade", "block", "unblock", "rename", "move",
    "assign", "mark",
})  # fmt: skip
_REMOVE_VERBS = frozenset({
    "delete", "remove", "cancel", "close", "unsubscribe", "unlink", "unregister", "drop", "clear", "revoke",
})  # fmt: skip
_PREFIX_VERBS = ("get", "find", "search", "add", "buy", "book", "play", "set", "delete", "cancel", "update")
_SUCCESS_NAMES = frozenset({"success", "result", "status", "ok"})
_PREPOSITIONS = frozenset({"to", "from", "for", "by", "with", "on", "of"})
_STOP_WORDS = _PREPOSITIONS | {"in", "the", "a", "an", "and", "at", "into"}


def extend(world: Definition, catalog: Catalog) -> Definition:
    """The world with a generic API for each tool of the catalog that it does not have.

    >>> find = Tool("find_room", parameters=(Parameter("city"),))
    >>> extend(Definition("rooms"), Catalog((find,))).apis["find_room"].reads
    'room'
    """
    new = [tool for tool in catalog.tools if tool.full_name not in world.apis]
    groups: dict[str, list[Tool]] = {}
    for tool in new:
        groups.setdefault(_table_name(tool, world), []).append(tool)
    tables = dict(world.tables)
    apis = dict(world.apis)
    for name, tools in groups.items():
        tables[name] = _make_table(name, tools)
        for tool in tools:
            apis.setdefault(tool.full_name, _make_api(tool, tables[name]))
    return replace(world, tables=tables, apis=apis)


# ---------------------------------------------------------------- names
def split_words(name: str) -> list[str]:
    """A name's words in lower case.

    >>> split_words("getCustomerLoans"), split_words("put_dishes_in_order"), split_words("changeATMPIN")
    (['get', 'customer', 'loans'], ['put', 'dishes', 'in', 'order'], ['change', 'atmpin'])
    >>> split_words("getalarms")
    ['get', 'alarms']
    """
    name_words = [
        word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name.replace("_", " "))
    ]
    if len(name_words) == 1:  # a verb may be written together with what follows it
        for verb in _PREFIX_VERBS:
            if name_words[0].startswith(verb) and len(name_words[0]) > len(verb) + 2:
                return [verb, name_words[0][len(verb) :]]
    return name_words


def _table_name(tool: Tool, world: Definition) -> str:
    """What a tool is about: the last noun of its name in the singular, below its app."""
    name_words = split_words(tool.name)
    after_verb = name_words[1:] or name_words
    cut = next(
        (index for index, word in enumerate(after_verb) if index and word in _PREPOSITIONS), len(after_verb)
    )
    nouns = (
        [word for word in after_verb[:cut] if word not in _STOP_WORDS and not word.endswith("ly")]
        or name_words
        or ["thing"]
    )
    noun = nouns[-1]
    noun = re.sub(r"ies$", "y", noun) if noun.endswith("ies") else re.sub(r"(?<=[^s])s$", "", noun)
    name = f"{tool.app} {noun}" if tool.app else noun
    return f"{name} (generic)" if name in world.tables else name


def guess_type(name: str) -> str:
    """The type that a name suggests.

    >>> guess_type("departure_date"), guess_type("total_price"), guess_type("city")
    ('date', 'number', 'text')
    """
    name_words = split_words(name)
    last = name_words[-1] if name_words else ""
    if last == "date":
        return "date"
    if last == "time":
        return "time"
    return (
        "number"
        if last in ("price", "amount", "balance", "cost", "fee", "rating", "total", "limit")
        else "text"
    )


# ---------------------------------------------------------------- tables and APIs
def _make_table(name: str, tools: Iterable[Tool]) -> Table:
    columns: dict[str, Column] = {}
    for tool in tools:
        outputs = (
            output for output in tool.returns.fields if output.type.kinds not in (("array",), ("object",))
        )
        for parameter in (*tool.parameters, *outputs):
            column = _column_name(parameter.name)
            columns.setdefault(
                column.casefold(), Column(column, _column_type(parameter), _choose_maker(parameter))
            )
    return Table(name, tuple(columns.values()) or (Column("id", "text", Maker("template", text="#####")),))


def _column_name(name: str) -> str:
    """The column that an argument or output is about: a new alarm's time is an alarm's time.

    >>> (
    ...     _column_name("new_alarm_time"), _column_name("newDetails"), _column_name("news"),
    ...     _column_name("OrderID")
    ... )
    ('alarm_time', 'details', 'news', 'orderID')
    """
    match = re.fullmatch(r"new(?:_(\w+)|([A-Z]\w*))", name)
    text = name if match is None else match[1] or match[2]
    return text[:1].lower() + text[1:]


def _find_column(name: str, table: Table) -> str:
    """The column of a table that holds an argument or output; SQL does not tell case apart."""
    column_name = _column_name(name).casefold()
    return next((column.name for column in table.columns if column.name.casefold() == column_name), name)


def _column_type(parameter: Parameter) -> str:
    kind = parameter.type
    if kind.format in ("date", "time"):
        return str(kind.format)
    column_kinds = {
        "integer": "integer",
        "number": "number",
        "boolean": "boolean",
        "array": "json",
        "object": "json",
    }
    if kind.kinds:
        return next(
            (column_kinds[type_name] for type_name in kind.kinds if type_name in column_kinds), "text"
        )
    return "text" if kind.enum else "json"


def _choose_maker(parameter: Parameter) -> Maker:
    kind = _column_type(parameter)
    if parameter.type.enum:
        return Maker("choice", tuple(parameter.type.enum))
    last = (split_words(parameter.name) or ["value"])[-1]
    if kind == "boolean":
        return Maker("choice", (True,) if last in _SUCCESS_NAMES else (False, True))
    if kind in ("integer", "number"):
        return Maker("range", low=1, high=500, step=1 if kind == "integer" else 0.5)
    if kind == "date":
        return Maker("range", high=30)
    if kind == "time":
        return Maker("range", low=480, high=1200, step=15)
    if last == "status":
        return Maker("choice", ("active", "pending", "done"))
    if last in ("id", "number", "code", "token", "key"):
        return Maker("template", text=f"{parameter.name[:1].upper()}#####")
    return Maker("template", text=f"{' '.join(split_words(parameter.name))} ###")


def is_filler(column: Column) -> bool:
    """Whether a column's texts are its name and a number, for nothing is known of it: nobody asks for those.

    >>> is_filler(Column("motto", "text", _choose_maker(Parameter("motto")))), is_filler(Column("city"))
    (True, False)
    """
    return column.maker.kind == "template" and column.maker.text.endswith(" ###")


def _make_api(tool: Tool, table: Table) -> Api:
    verb = (split_words(tool.name) or [""])[0]
    arguments = tuple(
        Argument(
            parameter.name,
            _column_type(parameter),
            parameter.required and not parameter.has_default,
            parameter.default if parameter.has_default else None,
            parameter.description,
        )
        for parameter in tool.parameters
    )
    api = Api(tool.name, tool.app, tool.description, arguments, open=tool.open)
    if verb in _READ_VERBS and tool.action is not True:
        return replace(
            api, reads=table.name, matches=_make_matches(arguments, table), returns=_make_outputs(tool, table)
        )
    keys = _key_arguments(arguments)
    if verb in _CHANGE_VERBS | _REMOVE_VERBS and keys:
        keyed_api = replace(api, reads=table.name, matches=_make_matches(keys, table), fails_empty=True)
        keyed_api = replace(keyed_api, returns=_make_outputs(tool, table))
        if verb in _REMOVE_VERBS:
            return replace(keyed_api, deletes=True)
        return replace(
            keyed_api,
            sets=_update_assignments(
                verb, [argument for argument in arguments if argument not in keys], keys, table
            ),
        )
    column_pairs = [(_find_column(argument.name, table), argument.name) for argument in arguments]
    values = tuple((column, f":{parameter_name(name)}") for column, name in column_pairs if column != name)
    return replace(api, adds=table.name, values=values, returns=_make_outputs(tool, table, adds=True))


def _update_assignments(
    verb: str, other_arguments: list[Argument], keys: tuple[Argument, ...], table: Table
) -> tuple[tuple[str, str], ...]:
    """What an update sets: the arguments that are no keys, and a status where there is one."""
    sets = {}
    for argument in other_arguments:
        column = _find_column(argument.name, table)
        sets[column] = f"coalesce(:{parameter_name(argument.name)}, {quote_name(column)})"
    status = next(
        (column.name for column in table.columns if split_words(column.name)[-1:] == ["status"]), None
    )
    if status is not None:
        sets.setdefault(status, f"'{verb}: done'")
    if not sets:
        column = _find_column(keys[0].name, table)
        sets[column] = quote_name(column)
    return tuple(sets.items())


def _key_arguments(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The arguments that say which row is meant: those named like identifiers, else the first."""
    old = tuple(
        argument
        for argument in arguments
        if argument.required and not re.match(r"new(_|[A-Z])", argument.name)
    )
    named = tuple(
        argument
        for argument in old
        if split_words(argument.name)[-1:] in (["id"], ["number"], ["code"], ["name"])
    )
    return named or old[:1]


def _make_matches(arguments: tuple[Argument, ...], table: Table) -> tuple[Match, ...]:
    return tuple(Match(argument.name, _find_column(argument.name, table)) for argument in arguments)


def _make_outputs(tool: Tool, table: Table, *, adds: bool = False) -> tuple[tuple[str, str | None], ...]:
    """Outputs by name; a list is all rows found, an object the row found or added."""
    arguments = {p.name for p in tool.parameters}
    outputs: list[tuple[str, str | None]] = []
    for output in tool.returns.fields:
        column, source = _find_column(output.name, table), None
        if output.type.kinds in (("array",), ("object",)):
            source = "*added" if adds else "*rows" if output.type.kinds == ("array",) else "*row"
        elif (
            output.type.kinds == ("boolean",)
            and split_words(output.name)[-1:]
            and split_words(output.name)[-1] in _SUCCESS_NAMES
        ):
            source = "1"
        elif column != output.name and output.name not in arguments:
            source = f":{parameter_name(column)}" if adds else quote_name(column)
        outputs.append((output.name, source))
    return tuple(outputs)


# ----------------------------------------------------------------------
# Values from a seed: the same seed and the same key give the same value, whatever was made before.
ValueSampler: TypeAlias = Callable[[str, str, Random], Any]
"""Gives some value that a table's column holds; None when it holds none."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}|#")


@dataclass(frozen=True, slots=True)
class ValueMaker:
    """How a world makes values.

    Args:
        world: The world, for its pools and its date.
        seed: What columns are made from whose value depends on others alone.
        held: Where values of other tables come from.
    """

    world: Definition
    seed: str
    held: ValueSampler

    def value(self, column: Column, row: Mapping[str, Any], random: Random) -> Any:
        """A value for a column as the database holds it; None when the column's values are never made.

        Args:
            column: The column.
            row: The values of the columns before it.
            random: Where chance comes from.
        """
        maker = column.maker
        if maker.kind == "choice":
            choice = random.choice(maker.choices)
            return int(choice) if isinstance(choice, bool) else choice
        if maker.kind == "pool":
            pool = self.world.pools.get(maker.text)
            if pool is None:  # a column of the row itself
                return row.get(maker.text)
            barred = row.get(maker.other_than) if maker.other_than else None
            return random.choice([v for v in pool if v != barred] or pool)
        if maker.kind == "from":
            table, _, field = maker.text.partition(".")
            return self.held(table, field, random)
        if maker.kind == "template":
            text = _fill_template(maker.text, row, self.world, random)
            return as_json(text) if column.type == "json" else text
        if maker.kind == "range":
            steps = int((maker.high - maker.low) / maker.step + 1e-9)
            return _format_range_value(
                column.type, maker.low + maker.step * random.randrange(steps + 1), self.world
            )
        return None

    def row(
        self,
        table: Table,
        row_values: Mapping[str, Any],
        random: Random,
        *,
        settled_values: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A whole row around the values that are given.

        Args:
            table: The table.
            row_values: Values by column, as the database holds them.
            random: Where chance comes from.
            settled_values: Values that columns must take because other rows settle them.
        """
        row: dict[str, Any] = {**(settled_values or {}), **row_values}
        for column in table.columns:
            if column.name in row:
                continue
            chance = random
            if column.maker.by:
                key = "/".join(str(row.get(name)).casefold() for name in column.maker.by)
                chance = Random(f"{self.seed}/{column.name}/{key}")
            row[column.name] = self.value(column, row, chance)
        return {column.name: row[column.name] for column in table.columns}


def as_json(text: str) -> str:
    """The text, if it is JSON; else the JSON of it as a text.

    >>> as_json("[1]"), as_json("one")
    ('[1]', '"one"')
    """
    try:
        decode_field(text)
    except ValueError:
        return json.dumps(text, ensure_ascii=False)
    return text


def _fill_template(template: str, row: Mapping[str, Any], world: Definition, random: Random) -> str:
    def fill(match: re.Match[str]) -> str:
        if match[1] is None:
            return str(random.randrange(10))
        if match[1] in row:
            return str(row[match[1]])
        return str(random.choice(world.pools.get(match[1]) or (match[1],)))

    return _PLACEHOLDER.sub(fill, template)


def _format_range_value(kind: str, value: float, world: Definition) -> Any:
    if kind == "integer":
        return round(value)
    if kind == "date":
        return (date.fromisoformat(world.today) + timedelta(days=round(value))).isoformat()
    if kind == "time":
        return f"{round(value) // 60 % 24:02d}:{round(value) % 60:02d}"
    return round(value, 4)
