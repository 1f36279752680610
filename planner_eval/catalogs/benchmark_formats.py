"""The catalog formats of the benchmarks and of other published data.

Each reader takes decoded JSON and the catalog's name. Sources: AppBench's catalogue of apps; CallNavi's
``APIs/``, ``APISchema/`` and ``Agent_Routers_Test/``; FunctionChat-Bench's three files; NESTful's
specifications of both versions and records that carry them; ComplexFuncBench's ``tool_info.json``,
``exact_match_values.json`` and records; TaskBench's three ``tool_desc.json``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.base.json_files import decode_field
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type, union
from planner_eval.catalogs.json_schema.keywords import refuse_misplaced
from planner_eval.catalogs.json_schema.types import make_self_contained, resolve_reference, type_of
from planner_eval.catalogs.standard_formats import ToolData, read_tools, schema_from_words
from planner_eval.catalogs.type_words import type_of_words

# ----------------------------------------------------------------------
# The catalog formats of the benchmarks, and of TaskBench.
_CHOICE = re.compile(r"value can only be (?:one of follows:? ?)?(.+)$")


# ---------------------------------------------------------------- AppBench
def read_appbench(data: Any, name: str) -> Catalog:
    """AppBench's catalogue: apps, their APIs, and required, optional and returned arguments."""
    tools = []
    for app in _read_list(data, "apps"):
        for api in _read_list(app, "apis"):
            returned = {p.name: p for p in _appbench_parameters(api, "returned_arguments")}
            tools.append(
                Tool(
                    str(api["name"]).strip(),
                    str(app["app"]),
                    _described(api),
                    (
                        *_appbench_parameters(api, "required_arguments"),
                        *_appbench_parameters(api, "optional_arguments", required=False),
                    ),
                    returns=_record_type(tuple(returned.values())),
                    action=True if api.get("is_transactional") else None,
                )
            )
    return Catalog(tuple(tools), name, text_values=True, holes=("?",), reports_all=True)


def _appbench_parameters(api: ToolData, key: str, *, required: bool = True) -> Iterator[Parameter]:
    for entry in api.get(key) or ():
        kind = type_of_words(entry.get("type") or "")
        if (match := _CHOICE.search(_described(entry))) and kind.kinds == ("string",):
            choices = [choice.strip(" .") for choice in re.split(r",? or |, ", match[1])]
            kind = Type(("string",), enum=tuple(filter(None, choices)))
        yield Parameter(str(entry["name"]), kind, required, _described(entry))


# ---------------------------------------------------------------- CallNavi
def read_callnavi(data: Any, name: str) -> Catalog:
    """CallNavi's API lists; every parameter is required, ``$$$`` stands for a value still unknown."""
    tools = []
    for entry in data["api_ports"] if isinstance(data, Mapping) else data:
        declared = entry.get("parameters") or {}
        read: Callable[[Any], Type] = _callnavi_type
        nameless = False
        if isinstance(declared, Mapping) and isinstance(declared.get("properties"), Mapping):
            declared, read = declared["properties"], type_of
        elif isinstance(declared, Mapping) and declared.get("type") == "array":
            declared, nameless = {}, True  # the telecommunications schemas lost their parameters' names
        returned = entry.get("returnParameter")
        listed = [returned] if isinstance(returned, str) else returned or ()
        outputs = tuple(_callnavi_fields(listed, _callnavi_type))
        tools.append(
            Tool(
                str(entry["name"]),
                description=_described(entry),
                parameters=tuple(p for p in _callnavi_fields(declared, read) if p.name != "$schema"),
                open=nameless,
                returns=_record_type(outputs) if outputs or isinstance(returned, Mapping) else ANY,
            )
        )
    return Catalog(tuple(tools), name, text_values=True, holes=("$$$",), reports_all=True)


def _callnavi_fields(
    declared: Any, read: Callable[[Any], Type], *, required: bool = True
) -> Iterator[Parameter]:
    """Parameters or outputs, listed by name alone or with what says their types."""
    for key in declared:
        kind = read(declared[key]) if isinstance(declared, Mapping) else ANY
        yield Parameter(str(key), kind, required)


def _callnavi_type(value: Any) -> Type:
    """A parameter's type from a type word, choices with slashes, an inline example or nested fields."""
    if isinstance(value, Mapping):
        return Type(
            ("object",), fields=tuple(_callnavi_fields(value, _callnavi_type, required=False)), open=True
        )
    if not isinstance(value, str):
        return type_of_words(type(value).__name__)
    if "/" in value and not value.endswith("..."):
        return Type(("string",), enum=tuple(choice.strip() for choice in value.split("/")))
    return type_of_words(value)


# ---------------------------------------------------------------- NESTful
_NESTFUL_GROUPS = ("query_parameters", "path_parameters", "parameters", "arguments")
_NESTFUL_OUTPUTS = ("output_parameters", "output_parameter")


def read_nestful(data: Any, name: str) -> Catalog:
    """NESTful's specifications, or records that carry them under ``tools``."""
    return Catalog(union(_nestful_tool(entry) for entry in _nestful_entries(data)), name)


def _nestful_entries(data: Any) -> Iterator[ToolData]:
    for entry in data if isinstance(data, list) else [data]:
        tools = entry.get("tools") if isinstance(entry, Mapping) else None
        if isinstance(tools, str):  # the first published files hold JSON inside JSON
            tools = _decode_text(tools, 'a record\'s "tools" are')
        if isinstance(tools, list):
            yield from tools
        elif isinstance(entry, Mapping) and isinstance(entry.get("variants"), list):
            yield from entry["variants"]
        else:
            yield entry


def _nestful_tool(entry: Any) -> Tool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise CatalogError(f'expected a specification with a "name", found {entry!r:.80}')
    refuse_misplaced(entry, "the specification", _NESTFUL_GROUPS, _NESTFUL_OUTPUTS)
    parameters = [
        parameter
        for group in _NESTFUL_GROUPS
        for parameter in _nestful_fields(entry.get(group), stated=group != "parameters")
    ]
    returned = tuple(_nestful_fields(entry.get("output_parameters", entry.get("output_parameter"))))
    return Tool(
        entry["name"],
        description=_described(entry),
        parameters=tuple(parameters),
        returns=_record_type(returned) if returned else ANY,
    )


def _nestful_fields(fields: Any, *, stated: bool = False) -> Iterator[Parameter]:
    """Parameters or outputs, in the flat layout or as a JSON Schema object.

    In the second version's flat layout nothing says what is required; there everything is. Where
    the layout does say (`stated`), what is not marked is optional.
    """
    if not isinstance(fields, Mapping):
        return
    schema = isinstance(fields.get("properties"), Mapping) and "description" not in fields
    needed = fields.get("required")
    for key, value in (fields["properties"] if schema else fields).items():
        entry = value if isinstance(value, Mapping) else {}
        if schema and isinstance(needed, list):
            required = key in needed
        elif "required" in entry and not isinstance(entry["required"], list):
            required = entry["required"] is True
        else:
            required = not stated and "default" not in entry
        default = entry.get("default", entry.get("default_value"))
        yield Parameter(
            str(key),
            _nestful_type(entry),
            required,
            _described(entry),
            default,
            has_default="default" in entry or "default_value" in entry,
        )


def _nestful_type(entry: ToolData) -> Type:
    choices = entry.get("enum") or entry.get("allowed_values") or entry.get("possible_values")
    words = entry.get("type")
    if isinstance(choices, list) and choices:
        return Type(enum=tuple(choices))
    if isinstance(choices, str) and (match := re.fullmatch(r"(\d+)\s*-\s*(\d+)", choices)):
        return Type(("number",), minimum=int(match[1]), maximum=int(match[2]))
    kinds = [words] if isinstance(words, str) else list(words or ())
    if kinds and entry.get("nullable") is True:
        kinds.append("null")
    base = [type_of_words(str(kind)) for kind in kinds]
    items = entry.get("items")
    if any(t.kinds == ("array",) for t in base) and isinstance(items, Mapping):
        return Type(_join_kinds(base), items=_nestful_type(items))
    if any(t.kinds == ("object",) for t in base) and isinstance(entry.get("properties"), Mapping):
        fields = {key: entry[key] for key in ("properties", "required") if key in entry}
        return Type(_join_kinds(base), fields=tuple(_nestful_fields(fields)), open=False)
    if len(base) == 1 and base[0].kinds == ("string",) and isinstance(entry.get("format"), str):
        return Type(("string",), format=entry["format"])
    return base[0] if len(base) == 1 else Type(_join_kinds(base))


def _join_kinds(types: list[Type]) -> tuple[str, ...]:
    """The joined kinds; () as soon as one of the types allows anything."""
    if not all(t.kinds for t in types):
        return ()
    return tuple(dict.fromkeys(kind for t in types for kind in t.kinds))


# ---------------------------------------------------------------- FunctionChat-Bench, ComplexFuncBench
def read_functionchat(data: Any, name: str) -> Catalog:
    """The tools offered in FunctionChat-Bench's records: Singlecall, Dialog or CallDecision."""
    offered: list[Any] = []
    for record in data if isinstance(data, list) else [data]:
        for entry in record.get("input_tools") or record.get("tools") or ():
            offered += entry["content"] if isinstance(entry.get("content"), list) else [entry]
    return Catalog(union(read_tools(offered, name).tools), name, reports_all=True)


def read_complexfuncbench(data: Any, name: str) -> Catalog:
    """ComplexFuncBench's tools: with schemas from records, by name alone from its two tables."""
    if not isinstance(data, Mapping) or "functions" in data:
        records = data if isinstance(data, list) else [data]
        offered = [tool for record in records for tool in record["functions"]]
        return Catalog(union(read_tools(offered, name).tools), name, reports_all=True)
    tools: list[Tool] = []
    for key, value in data.items():
        if isinstance(value, Mapping):
            tools += (Tool(str(tool), open=True) for tool in value.get("name_to_url") or ())
        else:
            parameters = tuple(Parameter(str(parameter), ANY, required=False) for parameter in value)
            tools.append(Tool(str(key), parameters=parameters, open=True))
    return Catalog(tuple(tools), name, reports_all=True)


# ---------------------------------------------------------------- TaskBench
def read_taskbench(data: Any, name: str) -> Catalog:
    """TaskBench's tools: with parameters, or with the types of what they take, in order."""
    tools = []
    for node in _read_list(data, "nodes"):
        parameters = [
            Parameter(
                str(parameter["name"]),
                type_of_words(str(parameter["type"])),
                description=_described(parameter, "desc"),
            )
            for parameter in node.get("parameters") or ()
        ]
        inputs = enumerate(node.get("input-type") or ())
        parameters += [Parameter(str(index), description=str(kind)) for index, kind in inputs]
        description = _described(node, "desc")
        tools.append(Tool(str(node["id"]), description=description, parameters=tuple(parameters)))
    return Catalog(tuple(tools), name)


# ---------------------------------------------------------------- shared
def _record_type(fields: tuple[Parameter, ...]) -> Type:
    """The type of a result that has exactly these outputs."""
    return Type(("object",), fields=fields, open=False)


def _described(entry: ToolData, key: str = "description") -> str:
    return str(entry.get(key) or "")


def _decode_text(text: str, subject: str) -> Any:
    try:
        return decode_field(text)
    except ValueError as error:
        raise CatalogError(f"{subject} a text that is not JSON: {error}") from None


def _read_list(data: Any, key: str) -> list[Any]:
    entries = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(entries, list):
        raise CatalogError(f'expected a list under "{key}", found {entries!r:.80}')
    return entries


# ----------------------------------------------------------------------
# The catalog formats of further published data: BFCL, UltraTool, Seal-Tools, NesTools, ToolAlpaca.
#
# Each reader takes decoded JSON, a file's records or tools alone. Sources: BFCL's questions and its
# ``multi_turn_func_doc/``; UltraTool's test sets; Seal-Tools' ``tool.jsonl``; NesTools'
# ``test_data.jsonl``, whose tools have the same form; ToolAlpaca's training and evaluation files, which
# carry OpenAPI documents.
_HTTP_METHODS = ("get", "post", "put", "delete", "patch", "head", "options", "trace")


# ---------------------------------------------------------------- BFCL
def read_bfcl(data: Any, name: str) -> Catalog:
    """BFCL's function documents, alone or in the records that offer them."""
    names = {"parameters": "parameters", "response": "returns"}
    return Catalog(_renamed_tools(data, name, names, "function"), name)


# ---------------------------------------------------------------- UltraTool
def read_ultratool(data: Any, name: str) -> Catalog:
    """UltraTool's tools, alone or in its records; its gold plans write numbers as text."""
    names = {"arguments": "parameters", "results": "returns"}
    return Catalog(_renamed_tools(data, name, names, "toolset", "tools"), name, text_values=True)


def _renamed_tools(data: Any, name: str, names: Mapping[str, str], *fields: str) -> tuple[Tool, ...]:
    """The tools that records offer in some fields, their schemas called as JSON catalogs call them."""
    renamed = []
    for tool in (tool for record in _as_records(data) for tool in _offered_tools(record, *fields)):
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(inner, Mapping):
            raise CatalogError(f"expected a function's document, found {tool!r:.80}")
        remaining = {key: value for key, value in inner.items() if key not in names}
        schemas = {own: schema_from_words(inner[key]) for key, own in names.items() if key in inner}
        renamed.append(remaining | schemas)
    return union(read_tools(renamed, name).tools)


# ---------------------------------------------------------------- Seal-Tools, NesTools
def read_sealtools(data: Any, name: str) -> Catalog:
    """The tools of Seal-Tools, and of NesTools' records.

    Seal-Tools' gold plans write numbers as text; those of NesTools do not.
    """
    records = _as_records(data)
    texts = not any("api" in record for record in records)
    tools = union(_sealtool(tool) for record in records for tool in _offered_tools(record, "api"))
    return Catalog(tools, name, text_values=texts, reports_all=True)


def _sealtool(entry: ToolData) -> Tool:
    if not isinstance(entry.get("api_name"), str) or not entry["api_name"]:
        raise CatalogError(f'expected a tool with an "api_name", found {entry!r:.80}')
    prefix = f"tool {entry['api_name']!r:.60}: "
    needed = entry.get("required") or []
    if not isinstance(needed, list):
        raise CatalogError(f"{prefix}required must be a list of names, found {needed!r:.60}")
    parameters = _read_parameters(entry.get("parameters"), needed, prefix + "parameters")
    returned = _read_parameters(entry.get("responses"), None, prefix + "responses")
    missing = [Parameter(str(name)) for name in needed if name not in {p.name for p in parameters}]
    return Tool(
        entry["api_name"],
        description=_described(entry, "api_description"),
        parameters=(*parameters, *missing),
        returns=_record_type(returned) if returned else ANY,
    )


def _read_parameters(descriptions: Any, needed: list[Any] | None, label: str) -> tuple[Parameter, ...]:
    """Parameters or results from an object of names and types in words."""
    if not isinstance(descriptions or {}, Mapping):
        raise CatalogError(f"{label}: expected an object of names, found {descriptions!r:.60}")
    parameters = []
    for key, value in (descriptions or {}).items():
        if not isinstance(value, Mapping):
            raise CatalogError(f"{label}: expected an object for {key!r:.40}, found {value!r:.60}")
        kind = type_of_words(str(value.get("type") or ""))
        parameters.append(Parameter(str(key), kind, needed is None or key in needed, _described(value)))
    return tuple(parameters)


# ---------------------------------------------------------------- ToolAlpaca
def read_toolalpaca(data: Any, name: str) -> Catalog:
    """ToolAlpaca's APIs: each an app, its functions the operations of its OpenAPI document.

    Its gold plans give ``""`` for what is left out, and its own check lets it pass.
    """
    tools = []
    for api in _as_records(data):
        app, document = str(api.get("Name") or ""), api.get("Documentation")
        if isinstance(document, str):
            document = _decode_text(document, f'{app!r:.60}: its "Documentation" is')
        paths = document.get("paths") if isinstance(document, Mapping) else None
        if not isinstance(paths, Mapping) or not isinstance(document, Mapping):
            raise CatalogError(
                f'{app!r:.60}: expected an OpenAPI document with "paths" under "Documentation", '
                f"found {document!r:.60}"
            )
        for path, methods in paths.items():
            for method in _HTTP_METHODS:
                if isinstance(methods.get(method), Mapping):
                    shared = methods.get("parameters") or []
                    tools.append(_operation_tool(app, str(path), method, methods[method], shared, document))
    return Catalog(tuple(tools), name, holes=("",))


def _operation_tool(
    app: str,
    path: str,
    method: str,
    operation: ToolData,
    shared: list[Any],
    document: ToolData,
) -> Tool:
    own = path[1:].replace("/", "_").replace("{", "").replace("}", "") + "_" + method
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for declared in (*(operation.get("parameters") or ()), *shared):
        parameter = resolve_reference(declared["$ref"], document) if "$ref" in declared else declared
        described = {"description": parameter["description"]} if parameter.get("description") else {}
        schema["properties"][parameter["name"]] = {**(parameter.get("schema") or {}), **described}
        if parameter.get("required"):
            schema["required"].append(parameter["name"])
    body = _content_schema(operation.get("requestBody"), document)
    if body is not None:
        schema["properties"].update(body.get("properties") or {})
        schema["required"] += needed if isinstance(needed := body.get("required"), list) else []
    answers = operation.get("responses") or {}
    good = next((answers[code] for code in answers if str(code).startswith("2")), None)
    entry = {
        "name": str(operation.get("operationId") or own),
        "app": app or None,
        "description": str(operation.get("summary") or operation.get("description") or ""),
        "parameters": schema_from_words(make_self_contained(schema, document)),
    }
    returned = _content_schema(good, document)
    if returned:
        entry["returns"] = schema_from_words(make_self_contained(returned, document))
    if method == "get":
        entry["action"] = False
    return read_tools([entry], app).tools[0]


def _content_schema(body: Any, document: ToolData) -> dict[str, Any] | None:
    """The schema of a request's or an answer's first form."""
    if isinstance(body, Mapping) and "$ref" in body:
        body = resolve_reference(body["$ref"], document)
    forms = body.get("content") if isinstance(body, Mapping) else None
    form: Any = next(iter(forms.values()), None) if isinstance(forms, Mapping) else None
    schema = form.get("schema") if isinstance(form, Mapping) else None
    if isinstance(schema, Mapping) and "$ref" in schema:
        schema = resolve_reference(schema["$ref"], document)
    return dict(schema) if isinstance(schema, Mapping) else None


# ---------------------------------------------------------------- shared


def _as_records(data: Any) -> list[ToolData]:
    if isinstance(data, Mapping):
        data = [data]
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise CatalogError(f"expected records or tools, found {data!r:.80}")
    return data


def _offered_tools(record: ToolData, *keys: str) -> list[Any]:
    """The tools of a record under the first of `keys` that it has; a tool alone offers itself."""
    for key in keys:
        tools = record.get(key)
        if isinstance(tools, list):
            return tools
        if isinstance(tools, Mapping) and "question" in record:
            return [tools]
    if "question" in record:
        raise CatalogError(
            f"a record has no tools under {' or '.join(map(repr, keys))}, "
            f"found {', '.join(map(repr, record)):.80}"
        )
    return [record]
