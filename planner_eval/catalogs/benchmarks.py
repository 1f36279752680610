"""The catalog formats of the five benchmarks, and of TaskBench.

Each reader takes decoded JSON and the catalog's name. Sources: AppBench's catalogue of apps; CallNavi's
``APIs/``, ``APISchema/`` and ``Agent_Routers_Test/``; FunctionChat-Bench's three files; NESTful's
specifications of both versions and records that carry them; ComplexFuncBench's ``tool_info.json``,
``exact_match_values.json`` and records; TaskBench's three ``tool_desc.json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.base.jsonfile import value_of
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type, union
from planner_eval.catalogs.misplaced import refuse_misplaced
from planner_eval.catalogs.schema import type_of
from planner_eval.catalogs.words import type_of_words

_CHOICE = re.compile(r"value can only be (?:one of follows:? ?)?(.+)$")


# ---------------------------------------------------------------- AppBench
def read_appbench(data: Any, name: str) -> Catalog:
    """AppBench's catalogue: apps, their APIs, and required, optional and returned arguments."""
    tools = []
    for app in _list(data, "apps"):
        for api in _list(app, "apis"):
            parameters = [
                _appbench(argument, required=True) for argument in api.get("required_arguments") or ()
            ]
            parameters += [
                _appbench(argument, required=False) for argument in api.get("optional_arguments") or ()
            ]
            returned = {
                argument["name"]: _appbench(argument, required=True)
                for argument in api.get("returned_arguments") or ()
            }
            tools.append(
                Tool(
                    str(api["name"]).strip(),
                    str(app["app"]),
                    str(api.get("description") or ""),
                    tuple(parameters),
                    returns=_record(tuple(returned.values())),
                    action=True if api.get("is_transactional") else None,
                )
            )
    return Catalog(tuple(tools), name, text_values=True, holes=("?",), reports_all=True)


def _appbench(entry: Mapping[str, Any], *, required: bool) -> Parameter:
    described = str(entry.get("description") or "")
    kind = type_of_words(entry.get("type") or "")
    if (match := _CHOICE.search(described)) and kind.kinds == ("string",):
        choices = [choice.strip(" .") for choice in re.split(r",? or |, ", match[1])]
        kind = Type(("string",), enum=tuple(choice for choice in choices if choice))
    return Parameter(str(entry["name"]), kind, required, described)


# ---------------------------------------------------------------- CallNavi
def read_callnavi(data: Any, name: str) -> Catalog:
    """CallNavi's API lists; every parameter is required, ``$$$`` stands for a value still unknown."""
    tools = []
    for entry in data["api_ports"] if isinstance(data, Mapping) else data:
        declared = entry.get("parameters") or {}
        extra = False
        if isinstance(declared, list):
            parameters = tuple(Parameter(str(key), ANY) for key in declared)
        elif isinstance(declared.get("properties"), Mapping):
            parameters = tuple(
                Parameter(str(key), type_of(value)) for key, value in declared["properties"].items()
            )
        elif declared.get("type") == "array":  # the telecommunications schemas lost their parameters' names
            parameters, extra = (), True
        else:
            parameters = tuple(
                Parameter(str(key), _callnavi(value)) for key, value in declared.items() if key != "$schema"
            )
        tools.append(
            Tool(
                str(entry["name"]),
                description=str(entry.get("description") or ""),
                parameters=parameters,
                open=extra,
                returns=_callnavi_result(entry.get("returnParameter")),
            )
        )
    return Catalog(tuple(tools), name, text_values=True, holes=("$$$",), reports_all=True)


def _callnavi(value: Any) -> Type:
    """A parameter's type from a type word, choices with slashes, an inline example or nested fields."""
    if isinstance(value, Mapping):
        fields = tuple(Parameter(str(key), _callnavi(inner), required=False) for key, inner in value.items())
        return Type(("object",), fields=fields, open=True)
    if not isinstance(value, str):
        return type_of_words(type(value).__name__)
    if "/" in value and not value.endswith("..."):
        return Type(("string",), enum=tuple(choice.strip() for choice in value.split("/")))
    return type_of_words(value)


def _callnavi_result(returned: Any) -> Type:
    if isinstance(returned, Mapping):
        return _record(tuple(Parameter(str(key), _callnavi(value)) for key, value in returned.items()))
    names = [returned] if isinstance(returned, str) else list(returned or ())
    return _record(tuple(Parameter(str(name), ANY) for name in names)) if names else ANY


# ---------------------------------------------------------------- NESTful
_GROUPS = ("query_parameters", "path_parameters", "parameters", "arguments")
_OUTPUTS = ("output_parameters", "output_parameter")


def read_nestful(data: Any, name: str) -> Catalog:
    """NESTful's specifications, or records that carry them under ``tools``."""
    return Catalog(union(_nestful(entry) for entry in _nestful_entries(data)), name)


def _nestful_entries(data: Any) -> Iterator[Mapping[str, Any]]:
    for entry in data if isinstance(data, list) else [data]:
        tools = entry.get("tools") if isinstance(entry, Mapping) else None
        if isinstance(tools, str):  # the first published files hold JSON inside JSON
            try:
                tools = value_of(tools)
            except ValueError as error:
                raise CatalogError(f'a record\'s "tools" are a text that is no JSON: {error}') from None
        if isinstance(tools, list):
            yield from tools
        elif isinstance(entry, Mapping) and isinstance(entry.get("variants"), list):
            yield from entry["variants"]
        else:
            yield entry


def _nestful(entry: Any) -> Tool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise CatalogError(f'expected a specification with a "name", found {entry!r:.80}')
    refuse_misplaced(entry, "the specification", _GROUPS, _OUTPUTS)
    parameters: list[Parameter] = []
    for group in _GROUPS:
        fields = entry.get(group)
        if isinstance(fields, Mapping):
            parameters += _nestful_fields(fields, stated=group != "parameters")
    outputs = entry.get("output_parameters", entry.get("output_parameter"))
    returned = tuple(_nestful_fields(outputs)) if isinstance(outputs, Mapping) else ()
    return Tool(
        entry["name"],
        description=str(entry.get("description") or ""),
        parameters=tuple(parameters),
        returns=_record(returned) if returned else ANY,
    )


def _nestful_fields(fields: Mapping[str, Any], *, stated: bool = False) -> Iterator[Parameter]:
    """Parameters or outputs, in the flat layout or as a JSON Schema object.

    In the second version's flat layout nothing says what is required; there everything is. Where
    the layout does say (`stated`), what is not marked is optional.
    """
    nested = fields.get("properties")
    schema = isinstance(nested, Mapping) and "description" not in fields
    needed = fields.get("required")
    for key, value in (nested if schema and isinstance(nested, Mapping) else fields).items():
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
            str(entry.get("description") or ""),
            default,
            has_default="default" in entry or "default_value" in entry,
        )


def _nestful_type(entry: Mapping[str, Any]) -> Type:
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
        return Type(_kinds(base), items=_nestful_type(items))
    if any(t.kinds == ("object",) for t in base) and isinstance(entry.get("properties"), Mapping):
        fields = tuple(
            _nestful_fields({key: entry[key] for key in ("properties", "required") if key in entry})
        )
        return Type(_kinds(base), fields=fields, open=False)
    if len(base) == 1 and base[0].kinds == ("string",) and isinstance(entry.get("format"), str):
        return Type(("string",), format=entry["format"])
    return base[0] if len(base) == 1 else Type(_kinds(base))


def _kinds(types: list[Type]) -> tuple[str, ...]:
    """The joined kinds; () as soon as one of the types allows anything."""
    if not all(t.kinds for t in types):
        return ()
    return tuple(dict.fromkeys(kind for t in types for kind in t.kinds))


# ---------------------------------------------------------------- FunctionChat-Bench, ComplexFuncBench
def read_functionchat(data: Any, name: str) -> Catalog:
    """The tools offered in FunctionChat-Bench's records: Singlecall, Dialog or CallDecision."""
    from planner_eval.catalogs.standard import read_tools

    offered: list[Any] = []
    for record in data if isinstance(data, list) else [data]:
        for entry in record.get("input_tools") or record.get("tools") or ():
            offered += entry["content"] if isinstance(entry.get("content"), list) else [entry]
    return Catalog(union(read_tools(offered, name).tools), name, reports_all=True)


def read_complexfuncbench(data: Any, name: str) -> Catalog:
    """ComplexFuncBench's tools: with schemas from records, by name alone from its two tables."""
    from planner_eval.catalogs.standard import read_tools

    if isinstance(data, Mapping) and "functions" not in data:
        return Catalog(tuple(_complexfuncbench(data)), name, reports_all=True)
    offered = [
        tool for record in (data if isinstance(data, list) else [data]) for tool in record["functions"]
    ]
    return Catalog(union(read_tools(offered, name).tools), name, reports_all=True)


def _complexfuncbench(data: Mapping[str, Any]) -> Iterator[Tool]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from (Tool(str(tool), open=True) for tool in value.get("name_to_url") or ())
        else:
            parameters = tuple(Parameter(str(parameter), ANY, required=False) for parameter in value)
            yield Tool(str(key), parameters=parameters, open=True)


# ---------------------------------------------------------------- TaskBench
def read_taskbench(data: Any, name: str) -> Catalog:
    """TaskBench's tools: with parameters, or with the types of what they take, in order."""
    return Catalog(tuple(_taskbench(node) for node in _list(data, "nodes")), name)


def _taskbench(node: Mapping[str, Any]) -> Tool:
    parameters = [
        Parameter(
            str(parameter["name"]),
            type_of_words(str(parameter["type"])),
            description=str(parameter.get("desc") or ""),
        )
        for parameter in node.get("parameters") or ()
    ]
    input_types = node.get("input-type") or ()
    parameters += [Parameter(str(index), description=str(kind)) for index, kind in enumerate(input_types)]
    return Tool(str(node["id"]), description=str(node.get("desc") or ""), parameters=tuple(parameters))


# ---------------------------------------------------------------- shared
def _record(fields: tuple[Parameter, ...]) -> Type:
    """The type of a result that has exactly these outputs."""
    return Type(("object",), fields=fields, open=False)


def _list(data: Any, key: str) -> list[Any]:
    entries = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(entries, list):
        raise CatalogError(f'expected a list under "{key}", found {entries!r:.80}')
    return entries
