"""The catalog formats of the trade: OpenAI's, Anthropic's, MCP ``tools/list``, JSON Schema, and our own.

OpenAI's covers its two spellings (``{"type": "function", "function": {…}}`` and the flat one) and bare
function objects. A tool that a service has itself, as ``{"type": "web_search"}``, takes any arguments, for
no list says which. Files of users are read with pydantic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from planner_eval.base.errors import CatalogError
from planner_eval.base.json_files import decode_field
from planner_eval.catalogs.catalog import ANY, KINDS, Catalog, Tool, union
from planner_eval.catalogs.json_schema.keywords import (
    PARAMETERS_KEYS,
    RETURNS_KEYS,
    refuse_faults,
    refuse_misplaced,
)
from planner_eval.catalogs.json_schema.plain import make_validator
from planner_eval.catalogs.json_schema.types import fields_of, is_open, make_self_contained, type_of
from planner_eval.catalogs.type_names import schema_from_gemini

OWN_FORMAT = "planeval-catalog/1"
"""The value of ``format`` in catalogs that planeval writes itself."""

NOTE_PREFIX = "planeval: "
"""How the ``$comment`` begins that has the name and app of a tool whose format could not hold them."""

_ARGUMENT_VALUE_KEYS = ("arguments", "args", "kwargs", "input", "tool_input", "action_input")
"""Where calls have the values of their arguments."""
_TOOL_KEYS = frozenset(
    ("parameters", "inputSchema", "input_schema", "returns", "outputSchema", "output_schema", "description")
)
"""Keys of tools that calls have not; a call's ``parameters`` are no schema."""
_OBJECT_KEYWORDS = frozenset(
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
    parameters: dict[str, Any] | None = Field(None, validation_alias=AliasChoices(*PARAMETERS_KEYS))
    returns: dict[str, Any] | None = Field(None, validation_alias=AliasChoices(*RETURNS_KEYS))
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
    """A catalog from a list of tools or a single one, or from the answers to an MCP ``tools/list``."""
    entries: list[Any] = []
    more = None
    for item in data if isinstance(data, list) else [data]:
        page = item.get("result", item) if isinstance(item, Mapping) else item
        if not isinstance(page, Mapping) or "tools" not in page:
            entries.append(item)
            continue
        if not isinstance(page["tools"], list):
            raise CatalogError(f"expected a list of tools, found {page['tools']!r:.80}")
        entries += page["tools"]
        more = page.get("nextCursor")
    if more:
        raise CatalogError(
            f"the last answer has a nextCursor, {more!r:.40}: there are more tools; "
            "put all the answers into one file of JSON lines"
        )
    return Catalog(tuple(_read_tool(entry, number) for number, entry in enumerate(entries)), name)


def read_own(data: Any, name: str) -> Catalog:
    """A catalog in planeval's own format, conventions included, or records that carry one under ``tools``."""
    entries = data if isinstance(data, list) else [data]
    contents = [entry.get("tools") if isinstance(entry, Mapping) else None for entry in entries]
    if not any(isinstance(content, Mapping) for content in contents):
        return _read_own_catalog(data, name)
    catalogs = [_read_own_catalog(content, name) for content in contents if isinstance(content, Mapping)]
    tools = union(tool for catalog in catalogs for tool in catalog.tools)
    first = catalogs[0]
    return Catalog(tools, name, first.text_values, first.holes, first.reports_all)


def _read_own_catalog(data: Any, name: str) -> Catalog:
    try:
        own = _Own.model_validate(data)
    except ValidationError as error:
        raise CatalogError(_explain_error(error)) from None
    tools = read_tools(own.tools, name).tools
    return Catalog(tools, own.name, own.text_values, own.holes, own.reports_all)


def read_schemas(data: Any, name: str) -> Catalog:
    """A catalog from JSON Schemas: one titled schema, a list of them, or an object name → schema."""
    root = data if isinstance(data, Mapping) else {}
    if isinstance(data, Mapping):
        named = data.get("$defs") or data.get("definitions")
        if isinstance(data.get("title"), str) and "properties" in data:
            pairs: Iterable[tuple[Any, Any]] = [(data["title"], data)]
        else:
            has_definitions = isinstance(named, Mapping) and all(
                isinstance(definition, Mapping) for definition in named.values()
            )
            pairs = (named if has_definitions and named else data).items()
    else:
        pairs = [(schema.get("title") if isinstance(schema, Mapping) else None, schema) for schema in data]
    tools = []
    for number, (title, schema) in enumerate(pairs):
        if not isinstance(schema, Mapping):
            raise CatalogError(f"schema {number}: expected an object, found {schema!r:.80}")
        if not isinstance(title, str) or not title:
            raise CatalogError(f'schema {number}: needs a "title", which names the tool')
        described = str(schema.get("description") or "")
        tools.append(_build_tool(title, None, described, make_self_contained(schema, root)))
    return Catalog(tuple(tools), name)


def _read_tool(entry: Any, number: int) -> Tool:
    if isinstance(entry, Mapping):
        for wrapping in ("function", "custom"):
            if isinstance(entry.get(wrapping), Mapping):
                outer = {key: value for key, value in entry.items() if key != wrapping}
                refuse_misplaced({**outer, "parameters": {}}, f"tool {number}")
                entry = {"type": wrapping, **entry[wrapping]}
        _refuse_call(entry, number)
        if (built_in := _read_built_in(entry)) is not None:
            return built_in
        refuse_misplaced(entry, f"tool {number}")
        _refuse_no_tool(entry, number)
    try:
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        named = entry.get("name") if isinstance(entry, Mapping) else None
        raise CatalogError(
            f"tool {number}{f' {named!r:.60}' if named else ''}: {_explain_error(error)}"
        ) from None
    try:
        tool = _build_tool(read.name, read.app, read.description or "", read.parameters)
        returns = ANY if read.returns is None else type_of(read.returns)
    except CatalogError as error:
        raise CatalogError(f"tool {number} {read.name!r:.60}: {error}") from None
    hint = read.annotations.readOnlyHint if read.annotations else None
    action = read.action if read.action is not None else (None if hint is None else not hint)
    return replace(tool, returns=returns, action=action, returns_schema=read.returns)


def _refuse_call(entry: Mapping[str, Any], number: int) -> None:
    """Refuse a call, which would stand for a tool without arguments."""
    call_keys = [key for key in _ARGUMENT_VALUE_KEYS if key in entry]
    if call_keys and not _TOOL_KEYS & entry.keys():
        raise CatalogError(
            f"entry {number}, {entry.get('name')!r:.60}, is a call, not a tool: it has {call_keys[0]!r} and "
            "no parameters; a catalog says which arguments a tool takes, this seems to be a plan"
        )


def _refuse_no_tool(entry: Mapping[str, Any], number: int) -> None:
    """Refuse what has a name and nothing else that tools have."""
    other_keys = [key for key in entry if key not in ("name", "strict")]
    if other_keys and "type" not in entry and not _TOOL_KEYS & entry.keys():
        raise CatalogError(
            f"entry {number}, {entry.get('name')!r:.60}, is no tool: expected a description or parameters "
            f"beside the name, found {', '.join(map(repr, other_keys)):.80}"
        )


def _read_built_in(entry: Mapping[str, Any]) -> Tool | None:
    """A tool that a service has itself, or one that takes free text; None for one with a schema."""
    kind, name = entry.get("type"), entry.get("name")
    if not isinstance(kind, str) or kind == "function" or kind in KINDS:
        return None
    if any(key in entry for key in (*PARAMETERS_KEYS, *RETURNS_KEYS)) or (
        "description" in entry and kind != "custom"
    ):
        return None
    if any(isinstance(value, Mapping) and "properties" in value for value in entry.values()):
        return None
    own = name if isinstance(name, str) and name else kind
    return Tool(own, description=str(entry.get("description") or ""), open=True)


def _restore_name(
    name: str, app: str | None, schema: dict[str, Any]
) -> tuple[str, str | None, dict[str, Any]]:
    """A tool's name and app as a note in its schema has them, and the schema without the note."""
    note = schema.get("$comment")
    if isinstance(note, str) and note.startswith(NOTE_PREFIX):
        try:
            own = decode_field(note.removeprefix(NOTE_PREFIX))
        except ValueError:
            own = None
        if isinstance(own, dict) and isinstance(own.get("name"), str):
            app = own["app"] if isinstance(own.get("app"), str) else None
            return own["name"], app, {key: value for key, value in schema.items() if key != "$comment"}
    return name, app, schema


def _build_tool(name: str, app: str | None, description: str, schema: dict[str, Any] | None) -> Tool:
    """A tool whose parameters a JSON Schema describes; an object without properties takes none."""
    if not schema:
        return Tool(name, app, description)
    if not _OBJECT_KEYWORDS & schema.keys():
        raise CatalogError(
            f'expected the JSON Schema of an object, as in {{"type": "object", "properties": {{…}}}}, '
            f"found an object of {', '.join(map(repr, schema)):.80}"
        )
    written = name
    name, app, schema = _restore_name(name, app, schema)
    refuse_faults(schema)
    kind = type_of(schema)
    if kind.kinds and "object" not in kind.kinds:
        raise CatalogError(f'arguments are an object, so expected "type": "object", found {str(kind)!r:.60}')
    elsewhere = "$ref" in schema or "allOf" in schema
    inner = kind.fields if elsewhere else fields_of(schema)
    extra = is_open(schema) if "additionalProperties" in schema else "properties" not in schema
    if elsewhere and "additionalProperties" not in schema:
        extra = kind.open
    additional = kind.others if extra else None
    return Tool(
        name,
        app,
        description,
        inner,
        open=extra,
        schema=schema,
        others=additional,
        written=written,
        judge=make_validator(schema),
    )


def _explain_error(error: ValidationError) -> str:
    first = error.errors()[0]
    location = ".".join(str(step) for step in first["loc"]) or "it"
    return f"{location}: {first['msg'][:1].lower()}{first['msg'][1:]} (found {first.get('input')!r:.60})"


# ----------------------------------------------------------------------
# Catalogs as services take them, whose tools are not JSON objects with a name and a JSON Schema.
#
# Gemini's function declarations (REST, Vertex and Python spellings) and Bedrock's tool configuration are
# brought into the form that :mod:`planner_eval.catalogs.standard_formats` reads.
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
