"""Catalogs as services take them, whose tools are not JSON objects with a name and a JSON Schema.

Gemini's function declarations (REST, Vertex and Python spellings) and Bedrock's tool configuration are
brought into the form that :mod:`planner_eval.catalogs.sources.standard` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.sources.standard import read_tools
from planner_eval.catalogs.type_names import schema_from_gemini

_DECLARATION_KEYS = ("functionDeclarations", "function_declarations")
_JSON_SCHEMA_KEYS = {
    **dict.fromkeys(("parametersJsonSchema", "parameters_json_schema"), "parameters"),
    **dict.fromkeys(("responseJsonSchema", "response_json_schema"), "returns"),
}
_SCHEMA_KEYS = {"parameters": "parameters", "response": "returns"}


def read_gemini(data: Any, name: str) -> Catalog:
    """A catalog from Gemini's tools, one of them, or a list of declarations."""
    return read_tools([tool for entry in _list_tools(data) for tool in _read_gemini_tool(entry)], name)


def read_bedrock(data: Any, name: str) -> Catalog:
    """A catalog from the ``toolConfig`` of Bedrock's Converse API, or the tools in it."""
    if isinstance(data, Mapping) and isinstance(data.get("toolConfig"), Mapping):
        data = data["toolConfig"]
    return read_tools([tool for entry in _list_tools(data) for tool in _read_bedrock_tool(entry)], name)


def _list_tools(data: Any) -> list[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        data = data.get("tools", [data])
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise CatalogError(f"expected a list of tools, found {data!r:.80}")
    return data


def _read_gemini_tool(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    declared = [declaration for key in _DECLARATION_KEYS for declaration in entry.get(key) or ()]
    if declared:
        for declaration in declared:
            yield _read_declaration(declaration)
    elif "name" in entry:
        yield _read_declaration(entry)
    else:  # googleSearch, codeExecution and others are called by no plan's name but these
        own = (key for key, value in entry.items() if value is not None and key not in _DECLARATION_KEYS)
        yield from ({"type": key} for key in own)


def _read_declaration(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise CatalogError(f"expected a function declaration, found {entry!r:.80}")
    renamed: dict[str, Any] = {}
    for key, value in entry.items():
        if value is None:
            continue
        if (target_key := _SCHEMA_KEYS.get(key)) is not None:
            renamed[target_key] = schema_from_gemini(value)
        else:
            renamed[_JSON_SCHEMA_KEYS.get(str(key), str(key))] = value
    return renamed


def _read_bedrock_tool(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "cachePoint" in entry and len(entry) == 1:  # no tool
        return
    if isinstance(entry.get("systemTool"), Mapping):
        yield {"type": "systemTool", **entry["systemTool"]}
        return
    spec = entry.get("toolSpec")
    if not isinstance(spec, Mapping):
        raise CatalogError(f'expected a tool under "toolSpec", found {", ".join(map(repr, entry)):.80}')
    schema = spec.get("inputSchema")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("json"), Mapping):
        raise CatalogError(
            f'tool {spec.get("name")!r:.60}: expected a JSON Schema under "json" of "inputSchema", '
            f"found {schema!r:.80}"
        )
    remaining = {key: value for key, value in spec.items() if key != "inputSchema"}
    yield {**remaining, "parameters": schema["json"]}
