"""The catalog formats of the trade: OpenAI's, Anthropic's, MCP ``tools/list``, JSON Schema, and our own.

OpenAI's covers its two spellings (``{"type": "function", "function": {…}}`` and the flat one) and bare
function objects. A tool that a service has itself, as ``{"type": "web_search"}``, takes any arguments, for
no list says which. Files of users are read with pydantic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from planner_eval.base.errors import CatalogError
from planner_eval.base.json_files import decode_field
from planner_eval.catalogs.catalog import ANY, KINDS, Catalog, Tool, union
from planner_eval.catalogs.json_schema.keywords import (
    PARAMETERS_KEYS,
    RETURNS_KEYS,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_OBJECT_KEYWORDS,
    can_hold,
    make_validator,
    refuse_faults,
    refuse_misplaced,
)
from planner_eval.catalogs.json_schema.types import (
    COUNT_KEYWORDS,
    Schema,
    WrittenSchema,
    is_open,
    make_self_contained,
    schema_of,
    type_of,
)
from planner_eval.catalogs.type_words import type_of_words

# ----------------------------------------------------------------------
# Schemas with other words than JSON Schema's for types, written with its own: benchmarks' and Gemini's.
WordReader: TypeAlias = Callable[[str], Schema]

_SLOPPY = ("pattern", "multipleOf", "uniqueItems", "minProperties", "maxProperties", "dependentRequired")
_GEMINI_KEYS = {
    "type_": "type",
    "format_": "format",
    "ref": "$ref",
    "defs": "$defs",
    "any_of": "anyOf",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "additional_properties": "additionalProperties",
    "property_ordering": "propertyOrdering",
}
_BFCL_TYPES = {
    **dict.fromkeys(("hashmap", "hashtable"), "object"),
    **dict.fromkeys(("arraylist", "queue", "stack"), "array"),
    **dict.fromkeys(("byte", "short", "long", "bigint"), "integer"),
    "char": "string",
}
"""Words of BFCL's Java and JavaScript parts that are no types elsewhere."""


def schema_from_words(schema: Any) -> Any:
    """A schema with types in any words as JSON Schema; a word that is no type stands for anything.

    >>> schema_from_words(
    ...     {"type": "dict", "properties": {"x": {"type": "tuple", "items": {"type": "float"}}}})
    {'type': 'object', 'properties': {'x': {'type': 'array', 'items': {'type': 'number'}}}}
    """
    return _respell(schema, _schema_of_word, {})


def schema_from_gemini(schema: Any) -> Any:
    """A ``Schema`` of Gemini's API, or of its Python library, as JSON Schema.

    Raises:
        CatalogError: it has a type that Gemini does not know.

    >>> schema_from_gemini({"type": "ARRAY", "items": {"type": "STRING"}, "min_items": "2", "title": None})
    {'type': 'array', 'items': {'type': 'string'}, 'minItems': 2}
    """
    return _respell(schema, _schema_of_gemini_word, _GEMINI_KEYS)


def _respell(schema: Any, words: WordReader, keys: Mapping[str, str]) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    respelled: dict[str, Any] = {}
    for spelled, value in schema.items():
        key = keys.get(spelled, spelled)
        if keys and value is None:  # its Python library writes what is not set
            continue
        if (
            not keys and key in _SLOPPY and not can_hold(key, value)
        ):  # data of benchmarks are taken as they are
            continue
        if key == "type":
            respelled = {**_respell_type(value, words), **respelled}
        elif key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            respelled[key] = [_respell(item, words, keys) for item in value]
        elif key in SCHEMA_KEYWORDS:
            respelled[key] = _respell(value, words, keys)
        elif key in SCHEMA_OBJECT_KEYWORDS and isinstance(value, Mapping):
            respelled[key] = {name: _respell(inner, words, keys) for name, inner in value.items()}
        elif keys and key in COUNT_KEYWORDS and isinstance(value, str) and value.isdecimal():
            respelled[key] = int(value)  # an int64 is a text in the JSON of a protocol buffer
        elif keys and key == "$ref" and isinstance(value, str):
            respelled[key] = value.replace("#/defs/", "#/$defs/")
        else:
            respelled[key] = value
    return respelled


def _respell_type(kind: Any, words: WordReader) -> Schema:
    if isinstance(kind, str):
        return words(kind)
    if isinstance(kind, list) and all(isinstance(name, str) for name in kind):
        type_names = [words(name).get("type") for name in kind]
        return {"type": type_names} if all(isinstance(name, str) for name in type_names) else {}
    return {"type": kind}


def _schema_of_word(word: str) -> Schema:
    standard_name = _BFCL_TYPES.get(word.lower())
    return {"type": standard_name} if standard_name else schema_of(type_of_words(word))


def _schema_of_gemini_word(word: str) -> Schema:
    kind = word.removeprefix("Type.").lower()
    if kind == "type_unspecified":
        return {}
    if kind not in KINDS:
        raise CatalogError(f"unknown type {word!r:.60}; Gemini knows {', '.join(KINDS).upper()}")
    return {"type": kind}


# ----------------------------------------------------------------------
# The catalog formats of the trade: OpenAI's, Anthropic's, MCP ``tools/list``, JSON Schema, and our own.
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


ToolData: TypeAlias = Mapping[str, Any]
"""A tool as it stands in its file."""


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
            f"the last answer has a nextCursor, {more!r:.40}: there are more "
            "tools; put all pages into one file of JSON lines"
        )
    return Catalog(tuple(_read_tool(entry, number) for number, entry in enumerate(entries)), name)


def read_own(data: Any, name: str) -> Catalog:
    """A catalog in planeval's own format, conventions included, or records that carry one under ``tools``."""
    entries = data if isinstance(data, list) else [data]
    contents = [entry.get("tools") if isinstance(entry, Mapping) else None for entry in entries]
    catalogs = [_read_own_catalog(content, name) for content in contents if isinstance(content, Mapping)]
    if not catalogs:
        return _read_own_catalog(data, name)
    tools = union(tool for catalog in catalogs for tool in catalog.tools)
    return replace(catalogs[0], tools=tools, name=name)


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
    pairs: Iterable[tuple[Any, Any]]
    if not isinstance(data, Mapping):
        pairs = [(schema.get("title") if isinstance(schema, Mapping) else None, schema) for schema in data]
    elif isinstance(data.get("title"), str) and "properties" in data:
        pairs = [(data["title"], data)]
    else:
        named = data.get("$defs") or data.get("definitions")
        are_schemas = isinstance(named, Mapping) and all(isinstance(s, Mapping) for s in named.values())
        pairs = (named if are_schemas and named else data).items()
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


def _refuse_call(entry: ToolData, number: int) -> None:
    """Refuse a call, which would stand for a tool without arguments."""
    call_keys = [key for key in _ARGUMENT_VALUE_KEYS if key in entry]
    if call_keys and not _TOOL_KEYS & entry.keys():
        raise CatalogError(
            f"entry {number}, {entry.get('name')!r:.60}, is a call, not a tool: it has {call_keys[0]!r} and "
            "no parameters, so this looks like a plan"
        )


def _refuse_no_tool(entry: ToolData, number: int) -> None:
    """Refuse what has a name and nothing else that tools have."""
    other_keys = [key for key in entry if key not in ("name", "strict")]
    if other_keys and "type" not in entry and not _TOOL_KEYS & entry.keys():
        raise CatalogError(
            f"entry {number}, {entry.get('name')!r:.60}, is not a tool: expected a description or "
            f"parameters beside the name, found {', '.join(map(repr, other_keys)):.80}"
        )


def _read_built_in(entry: ToolData) -> Tool | None:
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
    name: str, app: str | None, schema: WrittenSchema
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


def _build_tool(name: str, app: str | None, description: str, schema: WrittenSchema | None) -> Tool:
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
    if "additionalProperties" in schema:
        extra = is_open(schema)
    else:
        extra = kind.open if schema.keys() & {"$ref", "allOf"} else "properties" not in schema
    return Tool(
        name,
        app,
        description,
        kind.fields,
        open=extra,
        schema=schema,
        others=kind.others if extra else None,
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


def _list_tools(data: Any) -> list[ToolData]:
    if isinstance(data, Mapping):
        data = data.get("tools", [data])
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise CatalogError(f"expected a list of tools, found {data!r:.80}")
    return data


def _read_gemini_tool(entry: ToolData) -> Iterator[dict[str, Any]]:
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


def _read_bedrock_tool(entry: ToolData) -> Iterator[dict[str, Any]]:
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


READERS: Mapping[str, Callable[[Any, str], Catalog]] = {
    **dict.fromkeys(("openai", "anthropic", "mcp"), read_tools),
    "planeval": read_own,
    "jsonschema": read_schemas,
    "gemini": read_gemini,
    "bedrock": read_bedrock,
}
"""The reader of each of these formats."""
