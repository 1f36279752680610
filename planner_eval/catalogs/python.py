"""Catalogs from Python functions: signature, annotations and docstring.

A file is parsed, never imported. Function objects may carry richer annotations (pydantic models,
dataclasses, TypedDicts): those go through pydantic's JSON Schema.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.catalogs.schema import type_of
from planner_eval.catalogs.words import type_of_annotation

_EMPTY = inspect.Parameter.empty


def from_functions(functions: Iterable[Callable[..., Any]], name: str = "functions") -> Catalog:
    """A catalog of function objects.

    >>> def add(a: int, b: int = 0) -> int:
    ...     \"\"\"Add two numbers.\"\"\"
    >>> from_functions([add]).tools[0].signature()
    'add(a: integer, b?: integer = 0) -> integer'
    """
    return Catalog(tuple(_tool(each) for each in functions), name)


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
    return Catalog(tuple(_parsed(node) for node in functions if not node.name.startswith("_")), name)


def _tool(function: Callable[..., Any]) -> Tool:
    try:
        signature = inspect.signature(function, eval_str=True)
    except (ValueError, TypeError):
        raise CatalogError(f"{function!r:.80} is no function with a readable signature") from None
    except Exception:  # an annotation that names something absent: keep it as text
        signature = inspect.signature(function)
    summary, described = documented(inspect.getdoc(function) or "")
    parameters, extra = [], False
    for each in signature.parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            extra = True
            continue
        parameters.append(
            Parameter(
                each.name,
                _annotated(each.annotation),
                each.default is _EMPTY,
                described.get(each.name, ""),
                *_default(each.default, given=each.default is not _EMPTY),
            )
        )
    returns = _annotated(signature.return_annotation)
    name = getattr(function, "__name__", type(function).__name__)
    return Tool(name, description=summary, parameters=tuple(parameters), open=extra, returns=returns)


def _parsed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Tool:
    summary, described = documented(inspect.cleandoc(ast.get_docstring(node) or ""))
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(spec.defaults)) + list(spec.defaults)
    parameters = []
    for each, default in [
        *zip(positional, defaults, strict=True),
        *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
    ]:
        kind = type_of_annotation(ast.unparse(each.annotation)) if each.annotation else ANY
        value = _literal(default) if default is not None else None
        known = default is not None and _is_json(value) and not (value is None and not _is_none(default))
        parameters.append(
            Parameter(
                each.arg,
                kind,
                default is None,
                described.get(each.arg, ""),
                value if known else None,
                known,
            )
        )
    returns = type_of_annotation(ast.unparse(node.returns)) if node.returns else ANY
    extra = spec.vararg is not None or spec.kwarg is not None
    return Tool(node.name, description=summary, parameters=tuple(parameters), open=extra, returns=returns)


class Documented(NamedTuple):
    """What a docstring says: its summary, and the words on each argument."""

    summary: str
    arguments: dict[str, str]


def documented(text: str) -> Documented:
    """What a docstring in Google, NumPy or reST style says.

    >>> documented(chr(10).join(["Find a room.", "", "Args:", "    city (str): Where to look."]))
    Documented(summary='Find a room.', arguments={'city': 'Where to look.'})
    """
    summary = " ".join(line.strip() for line in text.split("\n\n", 1)[0].splitlines())
    found = {
        name: " ".join(words.split()) for name, words in re.findall(r":param (?:\w+ )?(\w+):\s*(.+)", text)
    }
    section = re.search(
        r"^(?:Args|Arguments|Parameters):?[ \t]*\n(?:-+\n)?((?:.*(?:\n|$))+)", text, re.MULTILINE
    )
    for name, words in _entries(section[1]) if section else ():
        found.setdefault(name, words)
    return Documented(summary, found)


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


def _annotated(annotation: Any) -> Type:
    if annotation is _EMPTY:
        return ANY
    if isinstance(annotation, str):
        return type_of_annotation(annotation)
    plain = type_of_annotation(inspect.formatannotation(annotation))
    if plain != ANY or annotation is Any:
        return plain
    from pydantic import TypeAdapter

    try:
        return type_of(TypeAdapter(annotation).json_schema())
    except Exception:  # pydantic raises many kinds for what it cannot describe
        return ANY


def _default(value: Any, *, given: bool) -> tuple[Any, bool]:
    return (value, True) if given and _is_json(value) else (None, False)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _literal(node: ast.expr) -> Any:
    """The value of a literal default; None for anything that would have to be computed."""
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
