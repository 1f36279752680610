"""A world's APIs as a tool catalog, and a catalog from the short signatures of a world's file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.worlds.definition import Argument, Definition
from planner_eval.worlds.generic import guessed
from planner_eval.worlds.typed import typed, untyped

_KINDS: dict[str, Type] = {
    "text": Type(("string",)),
    "integer": Type(("integer",)),
    "number": Type(("number",)),
    "boolean": Type(("boolean",)),
    "date": Type(("string",), format="date"),
    "time": Type(("string",), format="time"),
    "json": ANY,
    "list": Type(("array",)),
    "record": Type(("object",)),
}


def tools_of(signatures: Mapping[str, Any], where: str) -> Catalog:
    """A catalog from signatures such as ``"date, note? -> event_id, done:boolean"`` by full name."""
    tools = []
    for key, text in signatures.items():
        app, _, name = key.rpartition(".")
        parameters_text, _, outputs_text = str(text).partition("->")
        tools.append(
            Tool(
                name,
                app or None,
                parameters=_parameters(parameters_text, f"{where}.{key}"),
                returns=Type(("object",), fields=_parameters(outputs_text, f"{where}.{key}"), open=False),
            )
        )
    return Catalog(tuple(tools), where)


def catalog_of(world: Definition) -> Catalog:
    """A world's APIs as a tool catalog; values may be written as texts."""
    tools = []
    for api in world.apis.values():
        outputs = tuple(
            Parameter(
                name, _KINDS[world.type_of(name, api.adds, api.reads)] if _typed(world, name, source) else ANY
            )
            for name, source in api.returns
        )
        tools.append(
            Tool(
                api.name,
                api.app,
                api.about,
                tuple(
                    Parameter(
                        argument.name,
                        _KINDS[argument.type],
                        argument.required,
                        argument.about,
                        None if argument.default is None else untyped(_default(argument), argument.type),
                        argument.default is not None and argument.default != "today",
                    )
                    for argument in api.arguments
                ),
                open=api.open,
                returns=Type(("object",), fields=outputs, open=False) if outputs else ANY,
                action=api.acts,
            )
        )
    return Catalog(tuple(tools), world.name, text_values=True, holes=("?", "$$$"), reports_all=True)


def _default(argument: Argument) -> Any:
    """A default as the database holds it; that of a date may be today, which no catalog can say."""
    if argument.default == "today":
        return None
    return typed(argument.name, argument.default, argument.type)


def _typed(world: Definition, name: str, source: str | None) -> bool:
    """Whether an output's type is known: that of a computed one only when it is declared."""
    return source is None or name in world.types


def _parameters(text: str, where: str) -> tuple[Parameter, ...]:
    parameters = []
    for entry in filter(None, (segment.strip() for segment in text.split(","))):
        match = re.fullmatch(r"(\w+)(?::(\w+))?(\?)?", entry)
        if match is None or (match[2] or "text") not in _KINDS:
            raise InputError(f"{where}: expected name, name:type or name?, found {entry!r}")
        parameters.append(Parameter(match[1], _KINDS[match[2] or guessed(match[1])], match[3] is None))
    return tuple(parameters)
