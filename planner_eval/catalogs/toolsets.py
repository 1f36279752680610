"""The catalog formats of further published data: BFCL, UltraTool, Seal-Tools, NesTools, ToolAlpaca.

Each reader takes decoded JSON, a file's records or tools alone. Sources: BFCL's questions and its
``multi_turn_func_doc/``; UltraTool's test sets; Seal-Tools' ``tool.jsonl``; NesTools' ``test_data.jsonl``,
whose tools have the same form; ToolAlpaca's training and evaluation files, which carry OpenAPI documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.base.jsonfile import value_of
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool, Type, union
from planner_eval.catalogs.definitions import self_contained
from planner_eval.catalogs.schema import target
from planner_eval.catalogs.spelled import from_words
from planner_eval.catalogs.standard import read_tools
from planner_eval.catalogs.words import type_of_words

_METHODS = ("get", "post", "put", "delete", "patch", "head", "options", "trace")


# ---------------------------------------------------------------- BFCL
def read_bfcl(data: Any, name: str) -> Catalog:
    """BFCL's function documents, alone or in the records that offer them."""
    offered = [tool for record in _listed(data) for tool in _offered(record, "function")]
    entries = [_renamed(tool, {"parameters": "parameters", "response": "returns"}) for tool in offered]
    return Catalog(union(read_tools(entries, name).tools), name)


# ---------------------------------------------------------------- UltraTool
def read_ultratool(data: Any, name: str) -> Catalog:
    """UltraTool's tools, alone or in its records; its gold plans write numbers as text."""
    offered = [tool for record in _listed(data) for tool in _offered(record, "toolset", "tools")]
    entries = [_renamed(tool, {"arguments": "parameters", "results": "returns"}) for tool in offered]
    return Catalog(union(read_tools(entries, name).tools), name, text_values=True)


# ---------------------------------------------------------------- Seal-Tools, NesTools
def read_sealtools(data: Any, name: str) -> Catalog:
    """The tools of Seal-Tools, and of NesTools' records.

    Seal-Tools' gold plans write numbers as text; those of NesTools do not.
    """
    records = _listed(data)
    texts = not any("api" in record for record in records)
    tools = union(_sealtool(tool) for record in records for tool in _offered(record, "api"))
    return Catalog(tools, name, text_values=texts, reports_all=True)


def _sealtool(entry: Mapping[str, Any]) -> Tool:
    if not isinstance(entry.get("api_name"), str) or not entry["api_name"]:
        raise CatalogError(f'expected a tool with an "api_name", found {entry!r:.80}')
    prefix = f"tool {entry['api_name']!r:.60}: "
    needed = entry.get("required") or []
    if not isinstance(needed, list):
        raise CatalogError(f"{prefix}required must be a list of names, found {needed!r:.60}")
    parameters = _worded(entry.get("parameters"), needed, prefix + "parameters")
    returned = _worded(entry.get("responses"), None, prefix + "responses")
    missing = [Parameter(str(name)) for name in needed if name not in {p.name for p in parameters}]
    return Tool(
        entry["api_name"],
        description=str(entry.get("api_description") or ""),
        parameters=(*parameters, *missing),
        returns=Type(("object",), fields=returned, open=False) if returned else Type(),
    )


def _worded(descriptions: Any, needed: list[Any] | None, label: str) -> tuple[Parameter, ...]:
    """Parameters or results from an object of names and types in words."""
    if not isinstance(descriptions or {}, Mapping):
        raise CatalogError(f"{label}: expected an object of names, found {descriptions!r:.60}")
    parameters = []
    for key, value in (descriptions or {}).items():
        if not isinstance(value, Mapping):
            raise CatalogError(f"{label}: expected an object for {key!r:.40}, found {value!r:.60}")
        kind = type_of_words(str(value.get("type") or ""))
        described = str(value.get("description") or "")
        parameters.append(Parameter(str(key), kind, needed is None or key in needed, described))
    return tuple(parameters)


# ---------------------------------------------------------------- ToolAlpaca
def read_toolalpaca(data: Any, name: str) -> Catalog:
    """ToolAlpaca's APIs: each an app, its functions the operations of its OpenAPI document.

    Its gold plans give ``""`` for what is left out, and its own check lets it pass.
    """
    return Catalog(tuple(tool for api in _listed(data) for tool in _operations(api)), name, holes=("",))


def _operations(api: Mapping[str, Any]) -> Iterator[Tool]:
    app, text = str(api.get("Name") or ""), api.get("Documentation")
    try:
        document = value_of(text) if isinstance(text, str) else text
    except ValueError as error:
        raise CatalogError(f'{app!r:.60}: its "Documentation" is a text that is no JSON: {error}') from None
    paths = document.get("paths") if isinstance(document, Mapping) else None
    if not isinstance(paths, Mapping) or not isinstance(document, Mapping):
        raise CatalogError(
            f'{app!r:.60}: expected an OpenAPI document with "paths" under "Documentation", '
            f"found {document!r:.60}"
        )
    for path, methods in paths.items():
        for method in _METHODS:
            if isinstance(methods.get(method), Mapping):
                shared = methods.get("parameters") or []
                yield _operation(app, str(path), method, methods[method], shared, document)


def _operation(
    app: str,
    path: str,
    method: str,
    operation: Mapping[str, Any],
    shared: list[Any],
    document: Mapping[str, Any],
) -> Tool:
    own = path[1:].replace("/", "_").replace("{", "").replace("}", "") + "_" + method
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for declared in (*(operation.get("parameters") or ()), *shared):
        parameter = target(declared["$ref"], document) if "$ref" in declared else declared
        described = {"description": parameter["description"]} if parameter.get("description") else {}
        schema["properties"][parameter["name"]] = {**(parameter.get("schema") or {}), **described}
        if parameter.get("required"):
            schema["required"].append(parameter["name"])
    body = _content(operation.get("requestBody"), document)
    if body is not None:
        schema["properties"].update(body.get("properties") or {})
        schema["required"] += needed if isinstance(needed := body.get("required"), list) else []
    answers = operation.get("responses") or {}
    good = next((answers[code] for code in answers if str(code).startswith("2")), None)
    entry = {
        "name": str(operation.get("operationId") or own),
        "app": app or None,
        "description": str(operation.get("summary") or operation.get("description") or ""),
        "parameters": from_words(self_contained(schema, document)),
    }
    returned = _content(good, document)
    if returned:
        entry["returns"] = from_words(self_contained(returned, document))
    return read_tools([entry], app).tools[0]


def _content(body: Any, document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema of a request's or an answer's first form."""
    if isinstance(body, Mapping) and "$ref" in body:
        body = target(body["$ref"], document)
    forms = body.get("content") if isinstance(body, Mapping) else None
    form: Any = next(iter(forms.values()), None) if isinstance(forms, Mapping) else None
    schema = form.get("schema") if isinstance(form, Mapping) else None
    if isinstance(schema, Mapping) and "$ref" in schema:
        schema = target(schema["$ref"], document)
    return dict(schema) if isinstance(schema, Mapping) else None


# ---------------------------------------------------------------- shared
def _renamed(tool: Any, schemas: Mapping[str, str]) -> dict[str, Any]:
    """A tool with its schemas where the trade has them, in JSON Schema's words."""
    inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
    if not isinstance(inner, Mapping):
        raise CatalogError(f"expected a function's document, found {tool!r:.80}")
    remaining = {key: value for key, value in inner.items() if key not in schemas}
    return remaining | {
        target_key: from_words(inner[key]) for key, target_key in schemas.items() if key in inner
    }


def _listed(data: Any) -> list[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        data = [data]
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise CatalogError(f"expected records or tools, found {data!r:.80}")
    return data


def _offered(record: Mapping[str, Any], *keys: str) -> list[Any]:
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
