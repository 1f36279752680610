"""What a world's file may say, for checking users' files and for editors; docs/worlds.md explains it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from planner_eval.base.schema_models import (
    Described,
    Items,
    OneOf,
    OneOrMoreTexts,
    Pair,
    describe_expected,
    optional_key,
)
from planner_eval.execution.worlds.definition import TYPES

_Scalar = str | int | float | bool
_Name = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$"), describe_expected("letters, digits and _")]
_Column = Annotated[
    str | Annotated[Items[Any], Field(min_length=1)],
    describe_expected('a list of choices or a text like "integer:1..4"'),
]
_Today = Annotated[
    Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")],
    BeforeValidator(lambda value: value.isoformat() if isinstance(value, date) else value),
    describe_expected("a date yyyy-mm-dd"),
]
_Requirement = Annotated[
    Pair[str], describe_expected("a pair: a condition, and the message if it is not met")
]


class TableEntry(Described):
    """A table: how its columns' values are made, and how many rows it has."""

    columns: dict[_Name, _Column] = Field(
        description="A list of choices, or text: type and range or template, pool:NAME, from:table.column."
    )
    rows: int = optional_key("How many rows the world has without any facts.", ge=0, le=100_000)
    unique: OneOrMoreTexts = optional_key("Columns that no two rows may share.")
    taken: str = optional_key("The error of a call that would break the rule.")


class ApiEntry(Described):
    """What an API takes, does and gives."""

    about: str = optional_key("A description for people.")
    args: OneOrMoreTexts = optional_key(
        "The API's arguments, each as name, name?, name:type or name?=default."
    )
    reads: str = optional_key("The table in which the API looks for rows.")
    match: dict[str, str] = optional_key("Argument and column, with >=, <= or contains; empty for no filter.")
    where: OneOrMoreTexts = optional_key("Further conditions, in SQL.")
    known: dict[str, OneOrMoreTexts] = optional_key("Arguments whose value must occur in table.column.")
    require: Items[_Requirement] = optional_key("Conditions in SQL, each with the message if it is not met.")
    set: dict[str, _Scalar] = optional_key("Columns that the API changes, with SQL for the new value.")
    adds: str = optional_key("The table to which the API adds a row.")
    values: dict[str, _Scalar] = optional_key("Columns of the added row, with SQL for the value.")
    then: OneOrMoreTexts = optional_key("SQL statements to run afterwards.")
    deletes: bool = optional_key("Whether the API deletes the row that it found.")
    fact: dict[str, _Scalar] = optional_key(
        "Columns of a row made as a fact for this API, with SQL for the value."
    )
    returns: Items[str] | dict[str, _Scalar] = optional_key(
        'Outputs, with SQL, "*row", "*rows" or true for the value.'
    )
    empty: Annotated[str, OneOf(("fail", "nothing"))] = optional_key(
        "Whether the call fails or returns nothing if no row is found."
    )
    python: str = optional_key("The function of the world's Python file that implements the API.")


class WorldFile(Described):
    """A simulated world: tables, how their values are made, and APIs over them."""

    name: str = optional_key("The world's name.")
    about: str = optional_key("What the world simulates.")
    today: _Today = optional_key("The current date in the world.")
    pools: dict[str, str | Items[_Scalar]] = optional_key("Named lists of values.")
    aliases: dict[str, str] = optional_key("Other spellings of values, with the one that the world uses.")
    valid: dict[str, Items[_Requirement]] = optional_key(
        "Conditions on arguments by name, in SQL, each with the message if it is not met."
    )
    types: dict[str, Annotated[str, OneOf(TYPES)]] = optional_key("The types of names that are not columns.")
    tables: dict[str, TableEntry] = optional_key("The world's tables.")
    api: dict[str, ApiEntry] = optional_key("The world's APIs, by name or App.name.")
    generic: dict[str, str] = optional_key(
        'APIs without a definition, as signatures: "date, note? -> id, done:boolean".'
    )
