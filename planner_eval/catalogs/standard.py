"""The catalog formats of the trade: OpenAI tool lists, MCP ``tools/list``, JSON Schema, and our own.

OpenAI's covers its two spellings (``{"type": "function", "function": {…}}`` and the flat one), bare
function objects, and the ``input_schema`` of other vendors. Files of users are read with pydantic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import ANY, Catalog, Tool
from planner_eval.catalogs.schema import fields_of, is_open, object_schema, schema_of, type_of

OWN = "planeval-catalog/1"
"""The value of ``format`` in catalogs that planeval writes itself."""

_GIVES = ("arguments", "args", "kwargs", "input", "tool_input", "action_input")
"""Where calls have the values of their arguments."""
_DESCRIBES = frozenset(
    ("parameters", "inputSchema", "input_schema", "returns", "outputSchema", "output_schema", "description")
)
"""Keys of tools that calls have not; a call's ``parameters`` are no schema."""
_KEYWORDS = frozenset(
    (
        *("type", "properties", "required", "additionalProperties", "patternProperties", "$ref", "allOf"),
        *("anyOf", "oneOf", "not", "$schema", "$defs", "definitions", "title", "description"),
    )
)
"""Keywords of which the JSON Schema of an object has at least one."""


class _Hints(BaseModel):
    model_config = ConfigDict(extra="ignore")
    readOnlyHint: bool | None = None


class _Entry(BaseModel):
    """One tool in any of the spellings."""

    model_config = ConfigDict(extra="ignore")
    name: str = Field(min_length=1)
    app: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("parameters", "inputSchema", "input_schema")
    )
    returns: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("returns", "outputSchema", "output_schema")
    )
    action: bool | None = None
    annotations: _Hints | None = None


class _Own(BaseModel):
    """A catalog that planeval wrote, apart from its tools."""

    model_config = ConfigDict(extra="forbid")
    format: str
    name: str = "catalog"
    text_values: bool = False
    holes: tuple[str, ...] = ()
    reports_all: bool = False
    tools: list[Any]


def read_tools(data: Any, name: str) -> Catalog:
    """A catalog from an OpenAI or MCP tool list, or a single tool."""
    if isinstance(data, Mapping) and isinstance(data.get("result"), Mapping):
        data = data["result"]
    if isinstance(data, Mapping):
        data = data.get("tools", [data])
    if not isinstance(data, list):
        raise CatalogError(f"expected a list of tools, found {data!r:.80}")
    return Catalog(tuple(_tool(entry, number) for number, entry in enumerate(data)), name)


def read_own(data: Any, name: str) -> Catalog:
    """A catalog in planeval's own format, conventions included."""
    try:
        own = _Own.model_validate(data)
    except ValidationError as error:
        raise CatalogError(_explained(error)) from None
    tools = read_tools(own.tools, name).tools
    return Catalog(tools, own.name, own.text_values, own.holes, own.reports_all)


def read_schemas(data: Any, name: str) -> Catalog:
    """A catalog from JSON Schemas: one titled schema, a list of them, or an object name → schema."""
    root = data if isinstance(data, Mapping) else {}
    if isinstance(data, Mapping):
        named = data.get("$defs") or data.get("definitions")
        if data.get("title") and "properties" in data:
            pairs: Iterable[tuple[Any, Any]] = [(data["title"], data)]
        else:
            pairs = (named or data).items()
    else:
        pairs = [(each.get("title") if isinstance(each, Mapping) else None, each) for each in data]
    tools = []
    for number, (title, schema) in enumerate(pairs):
        if not isinstance(schema, Mapping):
            raise CatalogError(f"schema {number}: expected an object, found {schema!r:.80}")
        if not isinstance(title, str) or not title:
            raise CatalogError(f'schema {number}: needs a "title", which names the tool')
        described = str(schema.get("description") or "")
        own = schema if "$defs" in schema or "definitions" in schema else root or schema
        tools.append(_built(title, None, described, dict(schema), root=own))
    return Catalog(tuple(tools), name)


def write_tools(catalog: Catalog, format: str) -> Any:
    """The catalog as data in ``"openai"``, ``"mcp"``, ``"jsonschema"`` or ``"planeval"`` format.

    Names of apps go in front of a tool's name where the format knows no apps.
    """
    if format == "mcp":
        return {"tools": [_mcp(tool) for tool in catalog.tools]}
    if format == "jsonschema":
        return {
            tool.full_name: {"title": tool.full_name, "description": tool.description, **_schema(tool)}
            for tool in catalog.tools
        }
    if format == "openai":
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.full_name,
                    "description": tool.description,
                    "parameters": _schema(tool),
                },
            }
            for tool in catalog.tools
        ]
    return {
        "format": OWN,
        "name": catalog.name,
        "text_values": catalog.text_values,
        "holes": list(catalog.holes),
        "reports_all": catalog.reports_all,
        "tools": [_own(tool) for tool in catalog.tools],
    }


def _tool(entry: Any, number: int) -> Tool:
    if isinstance(entry, Mapping) and isinstance(entry.get("function"), Mapping):
        entry = entry["function"]
    if isinstance(entry, Mapping):
        _refuse_no_tool(entry, number)
    try:
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        named = entry.get("name") if isinstance(entry, Mapping) else None
        raise CatalogError(
            f"tool {number}{f' {named!r:.60}' if named else ''}: {_explained(error)}"
        ) from None
    try:
        tool = _built(read.name, read.app, read.description or "", read.parameters)
        returns = ANY if read.returns is None else type_of(read.returns)
    except CatalogError as error:
        raise CatalogError(f"tool {number} {read.name!r:.60}: {error}") from None
    hint = read.annotations.readOnlyHint if read.annotations else None
    action = read.action if read.action is not None else (None if hint is None else not hint)
    return Tool(
        tool.name,
        tool.app,
        tool.description,
        tool.parameters,
        open=tool.open,
        returns=returns,
        action=action,
        schema=tool.schema,
        returns_schema=read.returns,
        others=tool.others,
    )


def _refuse_no_tool(entry: Mapping[str, Any], number: int) -> None:
    """Refuse what has a name and is no tool: a call, which would stand for a tool without arguments."""
    found = f"entry {number}, {entry.get('name')!r:.60},"
    if not _DESCRIBES & entry.keys():
        if given := [key for key in _GIVES if key in entry]:
            raise CatalogError(
                f"{found} is a call, not a tool: it has {given[0]!r} and no parameters; "
                "a catalog says which arguments a tool takes, this seems to be a plan"
            )
        if "type" not in entry and (others := [key for key in entry if key not in ("name", "strict")]):
            raise CatalogError(
                f"{found} is no tool: expected a description or parameters beside the name, "
                f"found {', '.join(map(repr, others)):.80}"
            )


def _built(
    name: str, app: str | None, description: str, schema: dict[str, Any] | None, *, root: Any = None
) -> Tool:
    """A tool whose parameters a JSON Schema describes; an object without properties takes none."""
    if not schema:
        return Tool(name, app, description)
    if not _KEYWORDS & schema.keys():
        raise CatalogError(
            f'expected the JSON Schema of an object, as in {{"type": "object", "properties": {{…}}}}, '
            f"found an object of {', '.join(map(repr, schema)):.80}"
        )
    kind = type_of(schema, root)
    if kind.kinds and "object" not in kind.kinds:
        raise CatalogError(f'arguments are an object, so expected "type": "object", found {str(kind)!r:.60}')
    elsewhere = "$ref" in schema or "allOf" in schema
    inner = kind.fields if elsewhere else fields_of(schema, root)
    extra = is_open(schema) if "additionalProperties" in schema else "properties" not in schema
    if elsewhere and "additionalProperties" not in schema:
        extra = kind.open
    others = kind.others if extra else None
    return Tool(name, app, description, inner, open=extra, schema=schema, others=others)


def _schema(tool: Tool) -> dict[str, Any]:
    return tool.schema if tool.schema is not None else object_schema(tool.parameters, open=tool.open)


def _returns(tool: Tool) -> dict[str, Any] | None:
    if tool.returns_schema is not None:
        return tool.returns_schema
    return None if tool.returns == ANY else schema_of(tool.returns)


def _mcp(tool: Tool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": tool.full_name,
        "description": tool.description,
        "inputSchema": _schema(tool),
    }
    if (returns := _returns(tool)) is not None:
        entry["outputSchema"] = returns
    if tool.action is not None:
        entry["annotations"] = {"readOnlyHint": not tool.action}
    return entry


def _own(tool: Tool) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": tool.name, "app": tool.app, "description": tool.description}
    entry |= {"parameters": _schema(tool), "returns": _returns(tool), "action": tool.action}
    return {key: value for key, value in entry.items() if value is not None}


def _explained(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(step) for step in first["loc"]) or "it"
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]} (found {first.get('input')!r:.60})"
