"""What a world's file may say, for checking users' files and for editors; docs/worlds.md explains it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from planner_eval.base.schema_models import Described, Items, OneOf, Pair, Texts, expecting, key
from planner_eval.execution.worlds.definition import TYPES

_Scalar = str | int | float | bool
_Name = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$"), expecting("letters, digits and _")]
_Column = Annotated[
    str | Annotated[Items[Any], Field(min_length=1)],
    expecting('a list of choices or a text like "integer:1..4"'),
]
_Today = Annotated[
    Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")],
    BeforeValidator(lambda value: value.isoformat() if isinstance(value, date) else value),
    expecting("a date yyyy-mm-dd"),
]
_Require = Annotated[Pair[str], expecting("a pair: a condition and what is said otherwise")]


class TableEntry(Described):
    """A table: how its columns' values are made, and how many rows it has."""

    columns: dict[_Name, _Column] = Field(
        description="A list of choices, or text: type and range or template, pool:NAME, from:table.column."
    )
    rows: int = key("How many rows the world has without any facts.", ge=0, le=100_000)
    unique: Texts = key("Columns that no two rows may share.")
    taken: str = key("What a call is told that would break the rule.")


class ApiEntry(Described):
    """What an API takes, does and gives."""

    about: str = key("What it is for, for people.")
    args: Texts = key("What it takes, each as name, name?, name:type or name?=default.")
    reads: str = key("The table in which it looks for rows.")
    match: dict[str, str] = key("Argument and column, with >=, <= or contains; empty for no filter.")
    where: Texts = key("Further conditions, in SQL.")
    known: dict[str, Texts] = key("Arguments whose value must occur in table.column.")
    require: Items[_Require] = key("Conditions in SQL, each with what the call is told otherwise.")
    set: dict[str, _Scalar] = key("Columns that it changes, with SQL for the new value.")
    adds: str = key("The table to which it adds a row.")
    values: dict[str, _Scalar] = key("Columns of the added row, with SQL for the value.")
    then: Texts = key("SQL statements that follow.")
    deletes: bool = key("Whether it deletes the row that it found.")
    fact: dict[str, _Scalar] = key("Columns of a row made as a fact for this API, with SQL for the value.")
    returns: Items[str] | dict[str, _Scalar] = key(
        'Outputs, with SQL, "*row", "*rows" or true for the value.'
    )
    empty: Annotated[str, OneOf(("fail", "nothing"))] = key("What finding no row is.")
    python: str = key("A function of the world's Python file that does it all.")


class WorldFile(Described):
    """A simulated world: tables, how their values are made, and APIs over them."""

    name: str = key("Its name.")
    about: str = key("What it simulates.")
    today: _Today = key("The date that it takes for today.")
    pools: dict[str, str | Items[_Scalar]] = key("Named lists of values.")
    aliases: dict[str, str] = key("Other spellings of values, with the one that the world uses.")
    valid: dict[str, Items[_Require]] = key(
        "What arguments of a name must meet: conditions in SQL, each with what the call is told otherwise."
    )
    types: dict[str, Annotated[str, OneOf(TYPES)]] = key("The types of names that no column has.")
    tables: dict[str, TableEntry] = key("Its tables.")
    api: dict[str, ApiEntry] = key("Its APIs, by name or App.name.")
    generic: dict[str, str] = key(
        'APIs without a definition, as signatures: "date, note? -> id, done:boolean".'
    )
