"""The formats in which tool catalogs come, how to tell them apart, and the door for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from planner_eval.base.errors import CatalogError, ParseError
from planner_eval.base.jsonfile import read_json, read_json_lines
from planner_eval.base.registry import service
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.recognised import detect

Reader: TypeAlias = Callable[[Any, str], Catalog]

FORMATS: dict[str, str] = {
    "openai": "an OpenAI tool list, its built-in tools among them",
    "anthropic": "Anthropic's tools, with input_schema",
    "gemini": "Gemini's function declarations",
    "bedrock": "the toolConfig of Bedrock's Converse API",
    "mcp": "the answers to an MCP tools/list",
    "jsonschema": "JSON Schemas with titles, or an object of name and schema",
    "python": "a Python file, or function objects: signatures and docstrings",
    "planeval": "what planeval catalog convert writes",
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

_LARGEST = 256 * 1024 * 1024


def from_data(data: Any, format: str | None = None, *, name: str = "catalog") -> Catalog:
    """A catalog from data in memory; see :func:`planner_eval.catalogs.formats.as_catalog`."""
    if isinstance(data, Catalog):
        return data
    functions = [data] if callable(data) else data
    if isinstance(functions, (list, tuple)) and functions and all(callable(f) for f in functions):
        from planner_eval.catalogs.python import from_functions

        return from_functions(functions, name)
    chosen = format or detect(data)
    if chosen is None:
        raise CatalogError(
            f"{name}: this is no catalog that planeval knows: found {_outline(data)}; "
            f"formats: {', '.join(FORMATS)}"
        )
    try:
        catalog = _reader(chosen)(data, name)
    except CatalogError as error:
        raise CatalogError(f"{name}: {error}") from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise CatalogError(f"{name}: not in the {chosen} format ({type(error).__name__}: {error})") from None
    except RecursionError:
        raise CatalogError(f"{name}: nested too deeply") from None
    return catalog


def from_file(path: Path, format: str | None = None) -> Catalog:
    """A catalog from a file; see :func:`planner_eval.catalogs.formats.read_catalog`."""
    text = _text(path)
    if path.suffix == ".py" or format == "python":
        from planner_eval.catalogs.python import from_source

        try:
            return from_source(text, path.name)
        except CatalogError as error:
            raise CatalogError(f"{path.name}: {error}") from None
    return from_data(_decoded(text, path), format, name=path.name)


def to_data(catalog: Catalog, format: str = "planeval") -> Any:
    """The catalog as JSON data in one of :data:`WRITABLE`.

    Raises:
        CatalogError: `format` is not one of them.
    """
    if format not in WRITABLE:
        raise CatalogError(f"cannot write catalogs as {format!r}; formats: {', '.join(WRITABLE)}")
    from planner_eval.catalogs.writing import write_tools

    return write_tools(catalog, format)


def _outline(data: Any) -> str:
    """What data is at first sight, for people."""
    if isinstance(data, Mapping):
        keys = ", ".join(repr(str(key)) for key in list(data)[:4]) + (", …" if len(data) > 4 else "")
        return f"an object of {keys:.120}" if data else "an empty object"
    if isinstance(data, list) and data:
        return f"a list whose first item is {_outline(data[0])}"
    return f"{data!r:.60}"


def _reader(format: str) -> Reader:
    if format in ("openai", "anthropic", "mcp", "planeval", "jsonschema"):
        from planner_eval.catalogs import standard

        return {
            "openai": standard.read_tools,
            "anthropic": standard.read_tools,
            "mcp": standard.read_tools,
            "planeval": standard.read_own,
            "jsonschema": standard.read_schemas,
        }[format]
    if format in ("gemini", "bedrock"):
        from planner_eval.catalogs import vendors

        return vendors.read_gemini if format == "gemini" else vendors.read_bedrock
    if format in ("bfcl", "ultratool", "sealtools", "toolalpaca"):
        from planner_eval.catalogs import toolsets

        further: Reader = getattr(toolsets, f"read_{format}")
        return further
    from planner_eval.catalogs import benchmarks

    reader: Reader | None = getattr(benchmarks, f"read_{format}", None)
    if reader is None or format not in FORMATS:
        reader = service("benchmark catalog")(format)
    if reader is None:
        raise CatalogError(f"unknown catalog format {format!r}; formats: {', '.join(FORMATS)}")
    return reader


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            raise CatalogError(f"{path} is a directory; name the catalog's file")
        if path.stat().st_size > _LARGEST:
            raise CatalogError(f"{path} is larger than {_LARGEST >> 20} MB")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CatalogError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise CatalogError(f"{path}: {error.strerror}") from None


def _decoded(text: str, path: Path) -> Any:
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
    return from_data(data, format, name=name)


def read_catalog(source: str | Path, format: str | None = None) -> Catalog:
    """A catalog from a file.

    Args:
        source: A JSON, JSON Lines, YAML or Python file, or ``"world:NAME"`` for the tools of a
            simulated world (a shipped one, or the path of a world's file).
        format: One of ``planner_eval.catalogs.formats.FORMATS``; guessed from the content when None.

    Raises:
        CatalogError: the file is missing, unreadable, or in no known format.
    """
    text = str(source)
    if text.startswith("world:"):
        catalog: Catalog = service("world catalog")(text.removeprefix("world:"))
        return catalog
    if not text:
        raise CatalogError("no catalog named: give the path of a file or world:NAME")
    return from_file(Path(source), format)
