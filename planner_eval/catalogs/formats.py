"""The formats in which tool catalogs come, how to tell them apart, and the door for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from planner_eval.base.errors import CatalogError, ParseError
from planner_eval.base.input_files import read_text
from planner_eval.base.json_files import read_json, read_json_lines
from planner_eval.base.resources import service
from planner_eval.catalogs.catalog import KINDS, Catalog

# ----------------------------------------------------------------------
# In which format a tool catalog comes, told by its shape.
Data: TypeAlias = Mapping[str, Any]
"""A catalog, or an entry of one, as it stands in its file."""

_FUNCTIONCHAT_KEYS = ("function_name", "tools_count", "input_tools")
_FORMATS_OF_KEYS = {
    "inputSchema": "mcp",
    "input_schema": "anthropic",
    **dict.fromkeys(("functionDeclarations", "function_declarations"), "gemini"),
    **dict.fromkeys(("parametersJsonSchema", "parameters_json_schema"), "gemini"),
    **dict.fromkeys(("toolSpec", "toolConfig"), "bedrock"),
    "api_name": "sealtools",
    "toolset": "ultratool",
    "Documentation": "toolalpaca",
    "returnParameter": "callnavi",
    **dict.fromkeys(_FUNCTIONCHAT_KEYS, "functionchat"),
    "functions": "complexfuncbench",
    **dict.fromkeys(("output_parameters", "output_parameter", "query_parameters"), "nestful"),
    **dict.fromkeys(("path_parameters", "variants"), "nestful"),
}
"""Keys that tell a format, those that tell it most surely first."""
_UPPER_CASE_KINDS = frozenset(kind.upper() for kind in KINDS)
_TOOLS_LIST_FORMATS = frozenset(("mcp", "anthropic", "gemini", "bedrock", "bfcl", "ultratool", "sealtools"))
"""The formats whose tools may stand in a list under ``tools``."""


def detect_format(data: Any) -> str | None:
    """The format whose shape `data` has, or None.

    >>> detect_format({"tools": [{"name": "now", "inputSchema": {"type": "object"}}]})
    'mcp'
    """
    if isinstance(data, Mapping):
        return _detect_object(data)
    if not isinstance(data, list) or not data or not isinstance(data[0], Mapping):
        return "openai" if data == [] else None
    entries = [entry for entry in data if isinstance(entry, Mapping)]
    format = next(filter(None, map(_detect_entry, entries)), None)
    if format == "openai":  # a tool without arguments looks alike everywhere
        return next(
            (specific for entry in entries if (specific := _detect_spelling(entry)) is not None), format
        )
    return format


def _is_planeval_catalog(data: Data) -> bool:
    return str(data.get("format", "")).startswith("planeval-catalog")


def _detect_entry(entry: Data) -> str | None:
    """The format of a list with this entry; None where it might be any's."""
    tools = entry.get("tools")
    if isinstance(tools, Mapping) and _is_planeval_catalog(tools):
        return "planeval"
    inner = tools if isinstance(tools, list) else entry.get("result")
    if isinstance(inner, (list, Mapping)) and (inner_format := detect_format(inner)) in ("mcp", "ultratool"):
        return inner_format
    format = next((format for key, format in _FORMATS_OF_KEYS.items() if key in entry), None)
    if format is not None or isinstance(tools, (list, str)):
        return format or "nestful"
    if isinstance(entry.get("api"), list) and detect_format(entry["api"]) == "sealtools":
        return "sealtools"
    if isinstance(entry.get("function"), list) or {"question", "function"} <= entry.keys():
        return "bfcl"
    return _detect_tool(entry)


def _detect_tool(entry: Data) -> str | None:
    if isinstance(entry.get("parameters"), list):
        return "callnavi"
    if "title" in entry and "name" not in entry:
        return "jsonschema"
    if (spelled := _detect_spelling(entry)) is not None:
        return spelled
    kind = entry.get("type")
    built_in = isinstance(kind, str) and kind not in KINDS
    return "openai" if "name" in entry or "function" in entry or built_in else None


def _detect_spelling(entry: Data) -> str | None:
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
    return "gemini" if isinstance(kind, str) and kind in _UPPER_CASE_KINDS else None


def _detect_object(data: Data) -> str | None:
    if _is_planeval_catalog(data) or (
        isinstance(data.get("tools"), Mapping) and _is_planeval_catalog(data["tools"])
    ):
        return "planeval"
    nodes = data.get("nodes")
    if isinstance(nodes, list) and any(isinstance(node, Mapping) and "desc" in node for node in nodes):
        return "taskbench"
    if isinstance(data.get("apps"), list) or isinstance(data.get("api_ports"), list):
        return "appbench" if "apps" in data else "callnavi"
    result = data.get("result")
    tools = result.get("tools") if isinstance(result, Mapping) else data.get("tools")
    if isinstance(tools, list) and not any(key in data for key in _FUNCTIONCHAT_KEYS):
        tools_format = detect_format(tools)
        return tools_format if tools_format in _TOOLS_LIST_FORMATS else "openai"
    return _detect_named(data)


def _detect_named(data: Data) -> str | None:
    """The format of a tool or a record alone, or of an object that maps names to something."""
    table = _detect_table(list(data.values()))
    if table == "jsonschema" and "$defs" not in data:
        return table
    entry_format = _detect_entry(data)
    if entry_format is not None and entry_format not in ("jsonschema", "openai"):
        return entry_format
    if "$defs" in data or "definitions" in data or ("title" in data and "properties" in data):
        return "jsonschema"
    return entry_format if {"name", "function"} & set(data) else table


def _detect_table(values: list[Any]) -> str | None:
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


# ----------------------------------------------------------------------
# The formats in which tool catalogs come, how to tell them apart, and the door for all of them.
Reader: TypeAlias = Callable[[Any, str], Catalog]

FORMATS: dict[str, str] = {
    "openai": "an OpenAI tool list, its built-in tools among them",
    "anthropic": "Anthropic's tools, with input_schema",
    "gemini": "Gemini's function declarations",
    "bedrock": "the toolConfig of Bedrock's Converse API",
    "mcp": "the answers to an MCP tools/list",
    "jsonschema": "JSON Schemas with titles, or an object of name and schema",
    "python": "a Python file, or function objects: signatures and docstrings",
    "planeval": "what planeval catalog writes",
    "appbench": "AppBench's catalogue of apps",
    "nestful": "NESTful's specifications, both versions",
    "callnavi": "CallNavi's API lists",
    "functionchat": "FunctionChat-Bench's records with their tools",
    "complexfuncbench": "ComplexFuncBench's tables or records",
    "taskbench": "TaskBench's tool_desc.json, by types or by parameters",
    "bfcl": "BFCL's function documents, or its questions with them",
    "ultratool": "UltraTool's records, or their tools",
    "sealtools": "Seal-Tools' tool.jsonl, or NesTools' records",
    "toolalpaca": "ToolAlpaca's APIs with their OpenAPI documents",
}
"""The formats that are told by their shape, with what each reads; a benchmark may bring its own."""

WRITABLE = ("planeval", "openai", "anthropic", "gemini", "mcp", "jsonschema")
"""The formats that a catalog can be converted to."""

_STANDARD_FORMATS = ("openai", "anthropic", "mcp", "planeval", "jsonschema", "gemini", "bedrock")
_MAX_BYTES = 256 * 1024 * 1024


def as_catalog(data: Any, format: str | None = None, *, name: str = "catalog") -> Catalog:
    """A catalog from data in memory: decoded JSON in any known format, or Python functions.

    Args:
        data: Decoded JSON, a function, a sequence of functions, or a Catalog (returned as it is).
        format: One of ``planner_eval.catalogs.formats.FORMATS``; guessed from the data's shape when None.
        name: What to call the catalog in messages.

    Raises:
        CatalogError: the data has none of the known shapes, or breaks the one it has.

    >>> as_catalog([{"type": "function", "function": {"name": "now", "parameters": {}}}]).tools[0].name
    'now'
    """
    if isinstance(data, Catalog):
        return data
    functions = [data] if callable(data) else data
    if isinstance(functions, (list, tuple)) and functions and all(callable(f) for f in functions):
        from planner_eval.catalogs.python_functions import from_functions

        return from_functions(functions, name)
    chosen = format or detect_format(data)
    if chosen is None:
        raise CatalogError(
            f"{name}: not a known catalog format: found {_describe_data(data)}; formats: {', '.join(FORMATS)}"
        )
    try:
        return _find_reader(chosen)(data, name)
    except CatalogError as error:
        raise CatalogError(f"{name}: {error}") from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise CatalogError(f"{name}: not in the {chosen} format ({type(error).__name__}: {error})") from None
    except RecursionError:
        raise CatalogError(f"{name}: nested too deeply") from None


def read_catalog_file(source: str | Path, format: str | None = None) -> Catalog:
    """A catalog from a file.

    Args:
        source: A JSON, JSON Lines, YAML or Python file, or ``"world:NAME"`` for the tools of a
            simulated world (a shipped one, or the path of a world's file).
        format: One of ``planner_eval.catalogs.formats.FORMATS``; guessed from the content when None.

    Raises:
        CatalogError: the file is missing, unreadable, or in no known format.
    """
    name = str(source)
    if name.startswith("world:"):
        catalog: Catalog = service("world catalog")(name.removeprefix("world:"))
        return catalog
    if not name:
        raise CatalogError("no catalog named: pass the path of a file or world:NAME")
    path = Path(source)
    if path.is_file() and path.stat().st_size > _MAX_BYTES:
        raise CatalogError(f"{path} is larger than {_MAX_BYTES >> 20} MB")
    text = read_text(path, error=CatalogError)
    if path.suffix != ".py" and format != "python":
        return as_catalog(_decode_text(text, path), format, name=path.name)
    from planner_eval.catalogs.python_functions import from_source

    try:
        return from_source(text, path.name)
    except CatalogError as error:
        raise CatalogError(f"{path.name}: {error}") from None


def catalog_to_data(catalog: Catalog, format: str) -> Any:
    """The catalog as JSON data in one of :data:`WRITABLE`.

    Raises:
        CatalogError: `format` is not one of them.
    """
    if format not in WRITABLE:
        raise CatalogError(f"cannot write catalogs as {format!r}; formats: {', '.join(WRITABLE)}")
    from planner_eval.catalogs.writers import write_tools

    return write_tools(catalog, format)


def _describe_data(data: Any) -> str:
    """What data is at first sight, for people."""
    if isinstance(data, Mapping):
        keys = ", ".join(repr(str(key)) for key in list(data)[:4]) + (", …" if len(data) > 4 else "")
        return f"an object of {keys:.120}" if data else "an empty object"
    if isinstance(data, list) and data:
        return f"a list whose first item is {_describe_data(data[0])}"
    return f"{data!r:.60}"


def _find_reader(format: str) -> Reader:
    reader: Reader | None = None
    if format in _STANDARD_FORMATS:
        from planner_eval.catalogs import standard_formats

        return standard_formats.READERS[format]
    if format in FORMATS:
        from planner_eval.catalogs import benchmark_formats

        reader = getattr(benchmark_formats, f"read_{format}", None)
    reader = reader or service("benchmark catalog")(format)
    if reader is None:
        raise CatalogError(f"unknown catalog format {format!r}; formats: {', '.join(FORMATS)}")
    return reader


def _decode_text(text: str, path: Path) -> Any:
    """JSON, JSON Lines, or YAML by the file's suffix."""
    if path.suffix in (".yaml", ".yml"):
        import yaml

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise CatalogError(f"{path.name}: not YAML: {error}") from None
    try:
        return read_json(text)
    except ParseError as error:
        json_error = error.brief
    records: list[Any] = []
    for line in read_json_lines(text):
        if line.error is not None:
            raise CatalogError(f"{path.name}: {line.error.brief if records else json_error}")
        records.append(line.data)
    if not records:
        raise CatalogError(f"{path.name}: {json_error}")
    return records


# ----------------------------------------------------------------------
# The tools that plans may use.
def read_catalog(source: Any, format: str | None = None) -> Catalog:
    """The tools that plans may use.

    Args:
        source: The path of a JSON, JSON Lines, YAML or Python file; ``"world:NAME"`` for the tools of a
            simulated world; a list of these, which add up; decoded JSON in any known format; or Python
            functions. A catalog is given back as it is.
        format: One of ``planner_eval.catalogs.formats.FORMATS``; guessed from the content when None.

    Raises:
        CatalogError: a file is missing, unreadable, or in no known format.

    >>> read_catalog([{"type": "function", "function": {"name": "now", "parameters": {}}}]).tools[0].name
    'now'
    """
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    if sources and all(isinstance(item, (str, os.PathLike)) for item in sources):
        first, *later_catalogs = (read_catalog_file(os.fspath(path), format) for path in sources)
        return sum(later_catalogs, first)
    return as_catalog(sources if isinstance(source, tuple) else source, format)
