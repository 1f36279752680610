"""Catalogs from Python functions: signature, annotations and docstring.

A file is parsed, never imported; a class that it defines or imports stands for anything there. Annotations
of function objects go through pydantic's JSON Schema: models, dataclasses, TypedDicts, enums, limits.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import typing_extensions

from planner_eval.base.errors import CatalogError
from planner_eval.base.frozen import replace
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.catalogs.json_schema.keywords import make_validator
from planner_eval.catalogs.json_schema.types import arguments_schema, type_of
from planner_eval.catalogs.type_words import type_of_annotation, union_type

_EMPTY = inspect.Parameter.empty
_KNOWN_MODULES = (
    "typing",
    "typing_extensions",
    "collections",
    "collections.abc",
    "datetime",
    "pathlib",
    "decimal",
)
"""Modules whose classes are known by name."""
_PLAIN_TYPES = (str, int, float, bool, type(None), list, dict, tuple, set, frozenset, bytes)
_KNOWN_NAMES = frozenset(
    (
        *(cls.__name__ for cls in _PLAIN_TYPES),
        *("typing", "Any", "Optional", "Union", "Literal", "List", "Dict", "Tuple", "Set", "FrozenSet"),
        *("Annotated", "Sequence", "Iterable", "Mapping", "None", "date", "datetime", "time"),
    )
)
"""Python's own names in annotations that could not be evaluated."""
_SET_TYPES = (set, frozenset)
_LIST_TYPES = (list, Sequence, Iterable, Collection)
_NO_SCHEMAS: Mapping[str, Any] = {}


def from_functions(functions: Iterable[Callable[..., Any]], name: str = "functions") -> Catalog:
    """A catalog of function objects.

    >>> def add(a: int, b: int = 0) -> int:
    ...     \"\"\"Add two numbers.\"\"\"
    >>> from_functions([add]).tools[0].signature()
    'add(a: integer, b?: integer = 0) -> integer'
    """
    return Catalog(tuple(_tool_of_function(function) for function in functions), name)


def from_source(text: str, name: str) -> Catalog:
    """A catalog of the public functions that a Python file defines at its top level.

    Raises:
        CatalogError: the text is no Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CatalogError(f"not a Python file: {error}") from None
    functions = [node for node in module.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    unknown = frozenset(_find_foreign_classes(module))
    return Catalog(
        tuple(_tool_of_node(node, unknown) for node in functions if not node.name.startswith("_")), name
    )


def _find_foreign_classes(module: ast.Module) -> Iterator[str]:
    """Names of classes that are not Python's, though they may be called like those that are known."""
    yield "object"  # which all values are
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.module not in _KNOWN_MODULES:
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                alias.asname or alias.name for alias in node.names if alias.name not in _KNOWN_MODULES
            )


def _tool_of_function(function: Callable[..., Any]) -> Tool:
    try:
        signature = inspect.signature(function, eval_str=True)
    except (ValueError, TypeError):
        raise CatalogError(f"{function!r:.80} is not a function with a readable signature") from None
    except Exception:  # an annotation that names something absent: keep it as text
        signature = inspect.signature(function)
    further: dict[bool, Type] = {}
    annotations, defaults = {}, {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            further[parameter.kind is parameter.VAR_KEYWORD] = _annotation_type(parameter.annotation)
            continue
        annotations[name] = parameter.annotation
        if parameter.default is not _EMPTY:
            defaults[name] = parameter.default
    schemas, defs = _schemas(annotations)
    types = {
        name: type_of(schemas[name], {"$defs": defs}) if name in schemas else _annotation_type(annotation)
        for name, annotation in annotations.items()
    }
    schema, more_defs = _schemas({"": signature.return_annotation})
    returns = (
        type_of(schema[""], {"$defs": more_defs}) if schema else _annotation_type(signature.return_annotation)
    )
    tool = Tool(getattr(function, "__name__", type(function).__name__), returns=returns)
    return _describe_tool(tool, inspect.getdoc(function), types, defaults, further, schemas, defs)


def _describe_tool(
    tool: Tool,
    docstring: str | None,
    types: Mapping[str, Type],
    defaults: Mapping[str, Any],
    further: Mapping[bool, Type],
    schemas: Mapping[str, Any] = _NO_SCHEMAS,
    definitions: Mapping[str, Any] = _NO_SCHEMAS,
) -> Tool:
    """A function's tool with what its signature and its docstring say.

    Args:
        tool: The tool with its name and what it returns.
        docstring: The docstring.
        types: The types of the parameters that it names.
        defaults: What parameters are where they are left out.
        further: The types of ``*more`` under False and of ``**more`` under True; a function that names no
            parameter may as well be called by position.
        schemas: What pydantic says of parameters.
        definitions: What these schemas refer to.
    """
    summary, described = parse_docstring(docstring or "")
    parameters = tuple(
        Parameter(name, kind, name not in defaults, described.get(name, ""), *_json_default(defaults, name))
        for name, kind in types.items()
    )
    unnamed = [further[is_named] for is_named in (True, False) if is_named in further]
    unnamed_type = union_type(unnamed[:1] if types else unnamed) if unnamed else ANY
    tool = replace(
        tool,
        description=summary,
        parameters=parameters,
        open=bool(further),
        others=None if unnamed_type == ANY else unnamed_type,
    )
    schema = arguments_schema(tool)
    for name, parameter_schema in schemas.items():
        described_schema = schema["properties"][name]
        stated = {key: described_schema[key] for key in ("description", "default") if key in described_schema}
        schema["properties"][name] = {**parameter_schema, **stated}
    schema |= {"$defs": definitions} if definitions else {}
    judge = make_validator(schema)
    return replace(tool, schema=schema, judge=judge) if schemas or judge else tool


def _schemas(annotations: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What pydantic says of annotations that words do not say all of, and the definitions in it."""
    from pydantic import TypeAdapter

    adapters = {}
    for name, annotation in annotations.items():
        if isinstance(annotation, str) or _is_plain(annotation):
            continue
        try:
            adapter = TypeAdapter(_portable_typed_dict(annotation))
            adapter.json_schema()
            adapters[name] = adapter
        except Exception:  # pydantic raises many kinds for what it cannot describe
            continue
    if not adapters:
        return {}, {}
    json_schemas, definitions = TypeAdapter.json_schemas(
        [(name, "validation", adapter) for name, adapter in adapters.items()]
    )
    return {name: json_schemas[name, "validation"] for name in adapters}, definitions.get("$defs", {})


def _portable_typed_dict(annotation: Any) -> Any:
    """A TypedDict as pydantic takes it before Python 3.12; anything else stays."""
    if not is_typeddict(annotation) or sys.version_info >= (3, 12):
        return annotation
    hints = get_type_hints(annotation, include_extras=True)
    optional = annotation.__optional_keys__
    fields = {
        name: typing_extensions.NotRequired[_portable_typed_dict(hint)]
        if name in optional
        else _portable_typed_dict(hint)
        for name, hint in hints.items()
    }
    return typing_extensions.TypedDict(annotation.__name__, fields)  # type: ignore[operator]


def _is_plain(annotation: Any) -> bool:
    """Whether words say all of an annotation: Python's own types, and lists and choices of them.

    Of a set they do not say that no item comes twice.
    """
    if annotation in (_EMPTY, Any, object):
        return True
    outer, arguments = get_origin(annotation), get_args(annotation)
    if outer is None:
        return annotation in _PLAIN_TYPES and annotation not in _SET_TYPES
    if outer is Literal:
        return True
    if outer in (Union, UnionType) or (outer in _LIST_TYPES and len(arguments) == 1):
        return all(map(_is_plain, arguments))
    return outer is tuple and len(arguments) == 2 and arguments[1] is ... and _is_plain(arguments[0])


def _tool_of_node(node: ast.FunctionDef | ast.AsyncFunctionDef, unknown: Collection[str]) -> Tool:
    def type_of_argument(annotation: ast.expr | None) -> Type:
        return ANY if annotation is None else type_of_annotation(annotation, unknown)

    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    with_defaults = [
        *zip(reversed(positional), reversed(spec.defaults), strict=False),
        *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
    ]
    return _describe_tool(
        Tool(node.name, returns=type_of_argument(node.returns)),
        ast.get_docstring(node),
        {argument.arg: type_of_argument(argument.annotation) for argument in (*positional, *spec.kwonlyargs)},
        {argument.arg: _literal(default) for argument, default in with_defaults if default is not None},
        {
            is_named: type_of_argument(argument.annotation)
            for is_named, argument in ((False, spec.vararg), (True, spec.kwarg))
            if argument is not None
        },
    )


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """What a docstring in Google, NumPy or reST style says: its summary, and the words on each argument.

    >>> parse_docstring(chr(10).join(["Find a room.", "", "Args:", "    city (str): Where to look."]))
    ('Find a room.', {'city': 'Where to look.'})
    """
    summary = " ".join(line.strip() for line in text.split("\n\n", 1)[0].splitlines())
    arguments = {
        name: " ".join(words.split()) for name, words in re.findall(r":param (?:\w+ )?(\w+):\s*(.+)", text)
    }
    section = re.search(
        r"^(?:Args|Arguments|Parameters):?[ \t]*\n(?:-+\n)?((?:.*(?:\n|$))+)", text, re.MULTILINE
    )
    for name, words in _entries(section[1]) if section else ():
        arguments.setdefault(name, words)
    return summary, arguments


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """Name and words of each entry of an argument section, until the next section begins."""
    lines = section.splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    name, words = "", ""
    for line in [*lines, "end:"]:
        depth = len(line) - len(line.lstrip())
        ends = depth < indent or (line.strip() and set(line.strip()) == {"-"})
        match = re.match(r"\s*\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)", line) if depth == indent else None
        if name and (ends or match):
            yield name, " ".join(words.split())
            name = ""
        if ends and line.strip():
            return
        if match:
            name, words = match[1], "" if indent == 0 else match[2]
        else:
            words += " " + line


def _annotation_type(annotation: Any) -> Type:
    """What words say of an annotation; a class that they do not mean stands for anything."""
    if annotation is _EMPTY or annotation is Any or annotation is object:
        return ANY
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return type_of_annotation(text, {name for name in re.findall(r"\w+", text) if name not in _KNOWN_NAMES})


def _json_default(defaults: Mapping[str, Any], name: str) -> tuple[Any, bool]:
    """The default of a parameter with whether there is one that JSON can hold."""
    try:
        json.dumps(defaults[name], allow_nan=False)
    except (KeyError, TypeError, ValueError, RecursionError):
        return None, False
    return defaults[name], True


def _literal(default: ast.expr) -> Any:
    """A default as it is written; an ellipsis, which JSON cannot hold, for what would have to be computed."""
    try:
        return ast.literal_eval(default)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return ...
