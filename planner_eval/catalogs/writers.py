"""Catalogs as data of other formats, and what a format cannot say of a catalog."""

from __future__ import annotations

import json
import re
from typing import Any

from planner_eval.base.text import format_count
from planner_eval.catalogs.catalog import ANY, Catalog, Tool
from planner_eval.catalogs.json_schema.types import (
    MovedDefinitions,
    Schema,
    WrittenSchema,
    arguments_schema,
    schema_of,
)
from planner_eval.catalogs.standard_formats import NOTE_PREFIX, OWN_FORMAT

_NAME_RULES = {
    "openai": (re.compile("[^a-zA-Z0-9_-]"), 64),
    "anthropic": (re.compile("[^a-zA-Z0-9_-]"), 64),
    "gemini": (re.compile("[^a-zA-Z0-9_.:-]|^(?![a-zA-Z_])"), 64),
    "mcp": (re.compile("[^a-zA-Z0-9_.-]"), 128),
}
"""What a name of a tool may not have in it, and how long it may be."""

_SCHEMA_KEYS = {
    "openai": "parameters",
    "anthropic": "input_schema",
    "gemini": "parametersJsonSchema",
    "mcp": "inputSchema",
}
_RETURNS_KEYS = {"mcp": "outputSchema", "gemini": "responseJsonSchema"}


def write_tools(catalog: Catalog, format: str) -> Any:
    """The catalog as data in one of :data:`planner_eval.catalogs.formats.WRITABLE`.

    Of tools with the same name and app the first is written, but in planeval's own format. A name that
    the format cannot hold, or an app, stands in the parameters' ``$comment``, from where it is read again.
    """
    if format == "planeval":
        return {
            "format": OWN_FORMAT,
            "name": catalog.name,
            "text_values": catalog.text_values,
            "holes": list(catalog.holes),
            "reports_all": catalog.reports_all,
            "tools": [_write_own(tool) for tool in catalog.tools],
        }
    named = written_names(catalog, format)
    if format == "jsonschema":
        return {
            name: {**_schema_with_note(tool, name), "title": name, "description": tool.description}
            for name, tool in named.items()
        }
    entries = [_write_entry(tool, name, format) for name, tool in named.items()]
    if format == "mcp":
        return {"tools": entries}
    return [{"functionDeclarations": entries}] if format == "gemini" else entries


def written_names(catalog: Catalog, format: str) -> dict[str, Tool]:
    """The tools that are written, by the names that they get, no two of which are alike.

    >>> tools = (Tool("find", app="Hotels"), Tool("find", app="Trains"), Tool("find", app="Trains"))
    >>> list(written_names(Catalog(tools), "openai"))
    ['Hotels_find', 'Trains_find']
    """
    wrong, longest = _NAME_RULES.get(format, (re.compile("(?!)"), None))
    named: dict[str, Tool] = {}
    variants: dict[tuple[str | None, str], Tool] = {}
    for tool in catalog.tools:
        variants.setdefault((tool.app, tool.name), tool)
    for tool in variants.values():
        plain = wrong.sub("_", tool.full_name)[:longest]
        name, number = plain, 2
        while name in named:
            tail = f"_{number}"
            name, number = plain[: longest and longest - len(tail)] + tail, number + 1
        named[name] = tool
    return named


def losses(catalog: Catalog, format: str) -> list[str]:
    """What of a catalog a format cannot hold, each in a few words with the number of tools.

    >>> losses(Catalog((Tool("now", action=False),)), "openai")
    ['whether 1 tool changes something']
    """
    if format == "planeval":
        return []
    written = list(written_names(catalog, format).values())
    messages = []
    if over := len(catalog.tools) - len(written):
        messages.append(f"{format_count(over, 'further variant')} of tools with the same name")
    untold = sum(_is_return_lost(tool, format) for tool in written)
    if untold:
        object = ", which is not an object" if format == "mcp" else ""
        messages.append(f"what {format_count(untold, 'tool')} return{'s' * (untold == 1)}{object}")
    acting = 0 if format == "mcp" else sum(tool.action is not None for tool in written)
    if acting:
        messages.append(f"whether {format_count(acting, 'tool')} change{'s' * (acting == 1)} something")
    if catalog.text_values or catalog.holes or catalog.reports_all:
        messages.append("how its plans are read (values as text, placeholders, unused results)")
    return messages


def renamed_tools(catalog: Catalog, format: str) -> list[tuple[str, str]]:
    """The tools that a format has under other names: their own and the other, in order.

    >>> renamed_tools(Catalog((Tool("find", app="Trains"), Tool("now"))), "openai")
    [('Trains.find', 'Trains_find')]
    """
    if format == "planeval":
        return []
    pairs = ((tool.full_name, name) for name, tool in written_names(catalog, format).items())
    return [(own, name) for own, name in pairs if own != name]


def function_definition(tool: Tool) -> WrittenSchema:
    """A tool as prompts show it: its name with its app's, its description, and its parameters' schema."""
    return {"name": tool.full_name, "description": tool.description, "parameters": _parameters_schema(tool)}


def _is_return_lost(tool: Tool, format: str) -> bool:
    returns = _returns_schema(tool)
    return returns is not None and (
        format not in _RETURNS_KEYS or (format == "mcp" and not _is_object(returns))
    )


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object"


def _parameters_schema(tool: Tool) -> WrittenSchema:
    if tool.schema is not None:
        return tool.schema
    moved = MovedDefinitions()
    return moved.carry(arguments_schema(tool, moved.again))


def _returns_schema(tool: Tool) -> WrittenSchema | None:
    if tool.returns_schema is not None:
        return tool.returns_schema
    if tool.returns == ANY:
        return None
    moved = MovedDefinitions()
    return moved.carry(schema_of(tool.returns, moved.again))


def _schema_with_note(tool: Tool, name: str) -> WrittenSchema:
    """The schema of a tool's parameters, with the tool's own name where the written one is another."""
    schema = _parameters_schema(tool)
    schema = schema if _is_object(schema) else {**schema, "type": "object"}
    if (tool.app, tool.name) == (None, name):
        return schema
    own = {"name": tool.name} | ({"app": tool.app} if tool.app is not None else {})
    return {**schema, "$comment": NOTE_PREFIX + json.dumps(own, ensure_ascii=False)}


def _write_entry(tool: Tool, name: str, format: str) -> WrittenSchema:
    entry: WrittenSchema = {"name": name, "description": tool.description}
    entry[_SCHEMA_KEYS[format]] = _schema_with_note(tool, name)
    if format == "openai":
        return {"type": "function", "function": entry}
    returns = _returns_schema(tool)
    if returns is not None and not _is_return_lost(tool, format):
        entry[_RETURNS_KEYS[format]] = returns
    if format == "mcp" and tool.action is not None:
        entry["annotations"] = {"readOnlyHint": not tool.action}
    return entry


def _write_own(tool: Tool) -> WrittenSchema:
    entry: WrittenSchema = {"name": tool.name, "app": tool.app, "description": tool.description}
    entry |= {"parameters": _parameters_schema(tool), "returns": _returns_schema(tool), "action": tool.action}
    return {key: value for key, value in entry.items() if value is not None}
