"""BFCL's tools and prompts as its package shows them to a model.

The published texts of prompts are read out of the package that the data lie in, whose code is parsed and not
imported. No text of theirs comes along, and none of ours takes its place.

Source: package bfcl-eval 2026.3.23: ``add_language_specific_hint_to_function_doc`` of ``utils.py``,
``convert_to_tool`` and ``format_function_doc`` of ``model_handler/utils.py``, for a model of OpenAI's chat
completions; ``constants/default_prompts.py``, ``formulate_system_prompt`` of ``model_handler/utils.py``. What
that code raises on a malformed description is raised here too.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.judging import fill

LANGUAGE_NOTES = {
    "python": " Note that the provided function is in Python 3 syntax.",
    "java": " Note that the provided function is in Java 8 SDK syntax.",
    "javascript": " Note that the provided function is in JavaScript syntax.",
}
"""What the description of each tool ends with."""

_TITLES = {"java": "Java", "javascript": "JavaScript"}
_LIST_TYPES = {"java": ("ArrayList", "Array"), "javascript": ("array",)}

_SCHEMA_TYPES = {
    **{name: "array" for name in ("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack")},
    **{name: "object" for name in ("object", "dict", "HashMap", "Hashtable")},
    **{name: "string" for name in ("string", "String", "char", "any", "Any")},
    **{name: "integer" for name in ("integer", "byte", "short", "long", "Bigint")},
    **{name: "number" for name in ("number", "float", "double")},
    **{name: "boolean" for name in ("boolean", "bool")},
}
"""A type of the data → that of JSON Schema; an unknown one of a parameter is a string's."""


# ----------------------------------------------------------------------
# What is said of the language that calls are written in.
def with_language(functions: Iterable[Mapping[str, Any]], language: str) -> list[dict[str, Any]]:
    """Copies of tools that say in which language they are; parameters of Java and JavaScript are texts.

    Args:
        functions: The tools as released.
        language: A key of :data:`LANGUAGE_NOTES`.

    >>> function = {"name": "f", "description": "F.", "parameters": {"properties": {"a": {
    ...     "type": "long", "description": "A."}}}}
    >>> with_language([function], "java")[0]["parameters"]["properties"]["a"]["description"]
    'A. This is Java long type parameter in string representation.'
    """
    described: list[Any] = deepcopy(list(functions))
    for function in described:
        function["description"] += LANGUAGE_NOTES[language]
        for parameter in function["parameters"]["properties"].values() if language in _TITLES else ():
            _describe_as_text(parameter, language)
    return described


def _describe_as_text(parameter: dict[str, Any], language: str) -> None:
    title, kind = _TITLES[language], parameter["type"]
    if kind == "any":
        note = f" This parameter can be of any type of {title} object in string representation."
    else:
        note = f" This is {title} {kind} type parameter in string representation."
    if kind in _LIST_TYPES[language]:
        item = parameter.pop("items")["type"]
        note += f" The list elements are of type {item}; they are not in string representation."
    if language == "javascript" and kind == "dict" and "properties" in parameter:
        schema = json.dumps(parameter.pop("properties"))
        note += (
            " The dictionary entries have the following schema; they are not in string representation. "
            f"{schema}"
        )
    parameter["description"] += note
    parameter["type"] = "string"


# ----------------------------------------------------------------------
# Tools as the protocol has them.
def endpoint_tools(functions: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Tools as a request offers them: ``_`` for a dot in a name, types of JSON Schema.

    >>> function = {"name": "a.b", "parameters": {"type": "dict", "properties": {"x": {"type": "tuple"}}}}
    >>> endpoint_tools([function])[0]["function"]
    {'name': 'a_b', 'parameters': {'type': 'object', 'properties': {'x': {'type': 'array'}}}}
    """
    offered: list[Any] = deepcopy(list(functions))
    for function in offered:
        function["name"] = function["name"].replace(".", "_")
        function["parameters"]["type"] = "object"
        _convert_types(function["parameters"]["properties"])
    return tuple({"type": "function", "function": function} for function in offered)


def _convert_types(properties: Mapping[str, dict[str, Any]]) -> None:
    for parameter in properties.values():
        kind = parameter.get("type", "string")
        if kind == "float":
            parameter["format"] = "float"
            parameter["description"] += " This is a float type value."
        parameter["type"] = _SCHEMA_TYPES.get(kind, "string")
        if parameter["type"] not in ("array", "object"):
            continue
        if "properties" in parameter:
            _convert_types(parameter["properties"])
        elif "items" in parameter:
            _convert_items(parameter["items"])


def _convert_items(items: dict[str, Any]) -> None:
    """What a list holds; lists in a list of lists are as far as it goes."""
    items["type"] = _SCHEMA_TYPES[items["type"]]
    if items["type"] == "array" and "items" in items:
        items["items"]["type"] = _SCHEMA_TYPES[items["items"]["type"]]
    elif items["type"] == "object" and "properties" in items:
        _convert_types(items["properties"])


# ----------------------------------------------------------------------
# Tools as text in a prompt.
def format_functions(functions: Sequence[Mapping[str, Any]], form: str) -> str:
    """Tools as a prompt lists them.

    Args:
        functions: The tools.
        form: ``"json"``, ``"xml"`` or ``"python"``.

    >>> schema = {"properties": {"a": {"type": "integer", "description": "A."}}}
    >>> format_functions([{"name": "f", "parameters": schema}], "python").splitlines()[5]
    '        a (int): A.'
    """
    if form == "json":
        return json.dumps(functions, indent=4)
    if form == "xml":
        return "\n".join(map(_xml_function, functions))
    return "\n\n".join(text for function in functions for text in (_python_function(function), "\n"))


def _described(parameter: Mapping[str, Any]) -> str:
    values = f" Enum values: {parameter['enum']}." if "enum" in parameter else ""
    return f"{parameter.get('description', '')}{values}"


def _xml_function(function: Mapping[str, Any]) -> str:
    schema = function["parameters"]
    lines = [
        f'<function name="{function["name"]}">',
        f"  <desc>{function.get('description', '')}</desc>",
        "  <params>",
        *_xml_parameters(schema.get("properties", {}), schema.get("required"), 2),
        "  </params>",
        "</function>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _xml_parameters(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str] | None, level: int
) -> Iterator[str]:
    indent = "  " * level
    for name, parameter in properties.items():
        needed = "true" if required is None or name in required else "false"
        head = f'name="{name}" type="{_xml_type(parameter)}" required="{needed}"'
        if "default" in parameter:
            head += f' default="{parameter["default"]!r}"'
        yield f"{indent}<param {head.replace(',', '')}>"  # as published: no comma, also in values
        yield f"{indent}  <desc>{_described(parameter)}</desc>"
        if "properties" in parameter:
            yield f"{indent}  <params>"
            yield from _xml_parameters(parameter["properties"], parameter.get("required"), level + 2)
            yield f"{indent}  </params>"
        yield f"{indent}</param>"


def _xml_type(parameter: Mapping[str, Any]) -> str:
    kind = parameter.get("type", "string")
    if "type" in parameter.get("items", {}):
        return f"{kind}[{parameter['items']['type']}]"
    if "additionalProperties" in parameter:
        return f"{kind}[{parameter['additionalProperties'].get('type', 'string')}]"
    return str(kind)


def _python_function(function: Mapping[str, Any]) -> str:
    properties = function.get("parameters", {}).get("properties", {})
    lines = [f"# Function: {function['name']}", '    """', f"    {function.get('description', '')}", ""]
    lines += ["    Args:", *_python_parameters(properties, 8)] if properties else []
    return "".join(f"{line}\n" for line in [*lines, '    """'])


def _python_parameters(properties: Mapping[str, Mapping[str, Any]], indent: int) -> Iterator[str]:
    for name, parameter in properties.items():
        default = f", default={parameter['default']!r}" if "default" in parameter else ""
        yield f"{' ' * indent}{name} ({_python_type(parameter)}{default}): {_described(parameter)}"
        yield from _python_parameters(parameter.get("properties", {}), indent + 4)


def _python_type(parameter: Mapping[str, Any]) -> str:
    kind = parameter.get("type", "string")
    plain = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}.get(kind)
    if plain is not None:
        return plain
    if kind in ("array", "list", "tuple") and "items" in parameter:
        return f"list[{_python_type(parameter['items'])}]"
    if kind in ("object", "dict"):
        if "additionalProperties" not in parameter:
            return "dict"
        return f"dict[str, {_python_type(parameter['additionalProperties'])}]"
    return str(kind)


# ----------------------------------------------------------------------
# The published texts of prompts, read out of the package that the data lie in, and what they make.
TEXTS_FILE = Path("constants", "default_prompts.py")
"""Where the texts stand in the package."""

MORE_FUNCTIONS = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"
MORE_FUNCTIONS_IN_TEXT = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING"
"""What the user says when further tools are offered."""


@lru_cache(4)
def published_texts(package: str) -> Mapping[str, Any]:
    """The texts of a package by the names that its code gives them.

    Args:
        package: The folder of the package ``bfcl_eval``.

    Raises:
        InputError: it has none.
    """
    path = Path(package) / TEXTS_FILE
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise InputError(
            f"{path}: BFCL's published prompts cannot be read ({why}); the package holds them: "
            "pip install --no-deps bfcl-eval mpmath, or planeval data fetch bfcl"
        ) from None
    texts: dict[str, Any] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                texts[statement.targets[0].id] = _value(statement.value, texts)
            except (KeyError, TypeError):
                continue  # no text: whoever asks for it is told
    return MappingProxyType(texts)


def published_text(package: str, *keys: str) -> str:
    """One text: its name, and in tables the keys that lead to it.

    Raises:
        InputError: the package has no such text.
    """
    value: Any = published_texts(package)
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, str):
        name = " of ".join(reversed(keys))
        raise InputError(f"{Path(package) / TEXTS_FILE} has no text {name}: is it another version?")
    return value


def _value(node: ast.expr, texts: Mapping[str, Any]) -> Any:
    """Literal texts, tables of them, names of earlier ones, and two put together."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return texts[node.id]
    if isinstance(node, ast.Dict) and all(key is not None for key in node.keys):
        pairs = zip(node.keys, node.values, strict=True)
        return {_value(key, texts): _value(value, texts) for key, value in pairs if key is not None}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _value(node.left, texts) + _value(node.right, texts)
    raise TypeError(f"line {node.lineno} is not text")


def system_prompt(package: str, functions: Sequence[Mapping[str, Any]], config: str) -> str:
    """The system prompt of a model that writes calls in text.

    Args:
        package: The folder of the package ``bfcl_eval``.
        functions: The tools.
        config: One of :data:`.data.FORMATS`; "" for the usual.

    Raises:
        InputError: the package lacks a text.
    """
    prompt_format = dict(parse_qsl(config or published_text(package, "DEFAULT_SYSTEM_PROMPT_FORMAT")))
    style = ("PROMPT_STYLE_TEMPLATES", prompt_format["style"])
    instruction = "tool_call_with_tag" if prompt_format["tool_call_tag"] == "True" else "tool_call_no_tag"
    answer_format = {
        "output_format": published_text(package, "OUTPUT_FORMAT_MAPPING", prompt_format["ret_fmt"]),
        "param_types": published_text(package, "PARAM_TYPE_MAPPING", prompt_format["ret_fmt"]),
    }
    form = prompt_format["func_doc_fmt"]
    listed = {"format": form, "functions": format_functions(functions, form)}
    sections = {
        **{name: published_text(package, *style, name) for name in ("persona", "task", "multiturn_behavior")},
        "tool_call_format": fill(published_text(package, *style, instruction), answer_format),
        "available_tools": fill(published_text(package, *style, "available_tools"), listed),
    }
    return fill(published_text(package, "PROMPT_TEMPLATE_MAPPING", prompt_format["prompt_fmt"]), sections)
