"""In which format a tool catalog comes, told by its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.catalogs.catalog import KINDS

_MARKS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("inputSchema",), "mcp"),
    (("input_schema",), "anthropic"),
    (
        ("functionDeclarations", "function_declarations", "parametersJsonSchema", "parameters_json_schema"),
        "gemini",
    ),
    (("toolSpec", "toolConfig"), "bedrock"),
    (("api_name",), "sealtools"),
    (("toolset",), "ultratool"),
    (("Documentation",), "toolalpaca"),
    (("returnParameter",), "callnavi"),
    (("function_name", "tools_count", "input_tools"), "functionchat"),
    (("functions",), "complexfuncbench"),
)
_NESTFUL = ("output_parameters", "output_parameter", "query_parameters", "path_parameters", "variants")
_UPPER = frozenset(kind.upper() for kind in KINDS)
_HELD = frozenset(("mcp", "anthropic", "gemini", "bedrock", "bfcl", "ultratool", "sealtools"))
"""The formats whose tools may stand in a list under ``tools``."""


def detect(data: Any) -> str | None:
    """The format whose shape `data` has, or None.

    >>> detect({"tools": [{"name": "now", "inputSchema": {"type": "object"}}]})
    'mcp'
    """
    if isinstance(data, Mapping):
        return _of_object(data)
    if not isinstance(data, list) or not data or not isinstance(data[0], Mapping):
        return "openai" if data == [] else None
    entries = [entry for entry in data if isinstance(entry, Mapping)]
    format = next(filter(None, map(_of_entry, entries)), None)
    if format == "openai":  # a tool without arguments looks alike everywhere
        return next((specific for entry in entries if (specific := _spelled(entry)) is not None), format)
    return format


def _is_own(data: Mapping[str, Any]) -> bool:
    return str(data.get("format", "")).startswith("planeval-catalog")


def _of_entry(entry: Mapping[str, Any]) -> str | None:
    """The format of a list with this entry; None where it might be any's."""
    tools = entry.get("tools")
    if isinstance(tools, Mapping) and _is_own(tools):
        return "planeval"
    inner = tools if isinstance(tools, list) else entry.get("result")
    if isinstance(inner, (list, Mapping)) and (inner_format := detect(inner)) in ("mcp", "ultratool"):
        return inner_format
    for marks, format in _MARKS:
        if any(mark in entry for mark in marks):
            return format
    if any(mark in entry for mark in _NESTFUL) or isinstance(tools, (list, str)):
        return "nestful"
    if isinstance(entry.get("api"), list) and detect(entry["api"]) == "sealtools":
        return "sealtools"
    if isinstance(entry.get("function"), list) or {"question", "function"} <= entry.keys():
        return "bfcl"
    return _of_tool(entry)


def _of_tool(entry: Mapping[str, Any]) -> str | None:
    if isinstance(entry.get("parameters"), list):
        return "callnavi"
    if "title" in entry and "name" not in entry:
        return "jsonschema"
    if (spelled := _spelled(entry)) is not None:
        return spelled
    kind = entry.get("type")
    built_in = isinstance(kind, str) and kind not in KINDS
    return "openai" if "name" in entry or "function" in entry or built_in else None


def _spelled(entry: Mapping[str, Any]) -> str | None:
    """The format that the words of a tool's schema tell."""
    inner = entry.get("function")
    tool = inner if isinstance(inner, Mapping) else entry
    arguments = tool.get("arguments")
    described = "description" in tool or "results" in tool
    if (
        isinstance(arguments, Mapping)
        and described
        and (arguments.get("type") == "object" or "properties" in arguments)
    ):
        return "ultratool"
    schema = tool.get("parameters")
    kind = schema.get("type", schema.get("type_")) if isinstance(schema, Mapping) else None
    if kind == "dict":
        return "bfcl"
    return "gemini" if isinstance(kind, str) and kind in _UPPER else None


def _of_object(data: Mapping[str, Any]) -> str | None:
    if _is_own(data) or (isinstance(data.get("tools"), Mapping) and _is_own(data["tools"])):
        return "planeval"
    nodes = data.get("nodes")
    if isinstance(nodes, list) and any(isinstance(node, Mapping) and "desc" in node for node in nodes):
        return "taskbench"
    if isinstance(data.get("apps"), list) or isinstance(data.get("api_ports"), list):
        return "appbench" if "apps" in data else "callnavi"
    result = data.get("result")
    tools = result.get("tools") if isinstance(result, Mapping) else data.get("tools")
    if isinstance(tools, list) and not {"function_name", "tools_count", "input_tools"} & set(data):
        tools_format = detect(tools)
        return tools_format if tools_format in _HELD else "openai"
    return _of_names(data)


def _of_names(data: Mapping[str, Any]) -> str | None:
    """The format of a tool or a record alone, or of an object that maps names to something."""
    table = _of_table(list(data.values()))
    if table == "jsonschema" and "$defs" not in data:
        return table
    entry_format = _of_entry(data)
    if entry_format is not None and entry_format not in ("jsonschema", "openai"):
        return entry_format
    if "$defs" in data or "definitions" in data or ("title" in data and "properties" in data):
        return "jsonschema"
    return entry_format if {"name", "function"} & set(data) else table


def _of_table(values: list[Any]) -> str | None:
    """The format of an object that maps names to something."""
    if not values:
        return None
    if all(isinstance(value, list) and all(isinstance(name, str) for name in value) for value in values):
        return "complexfuncbench"
    if not all(isinstance(value, Mapping) for value in values):
        return None
    if all("name_to_url" in value for value in values):
        return "complexfuncbench"
    marks = {"type", "properties", "$ref", "allOf", "anyOf", "oneOf"}
    return "jsonschema" if all(marks & set(value) for value in values) else None
