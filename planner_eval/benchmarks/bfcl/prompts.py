"""BFCL's prompts: the published texts, read out of the package that the data lie in, and what they make.

No text of theirs comes along, and none of ours takes its place. The package's code is parsed, not imported.

Source: package bfcl-eval 2026.3.23: ``constants/default_prompts.py``, ``formulate_system_prompt`` of
``model_handler/utils.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.bfcl.tool_texts import format_functions
from planner_eval.benchmarks.judging import fill

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


def system_prompt(package: str, functions: Sequence[Mapping[str, Any]], config: str = "") -> str:
    """The system prompt of a model that writes calls in text.

    Args:
        package: The folder of the package ``bfcl_eval``.
        functions: The tools.
        config: One of :data:`.data.FORMATS`; "" for the usual.

    Raises:
        InputError: the package lacks a text.
    """
    way = dict(parse_qsl(config or published_text(package, "DEFAULT_SYSTEM_PROMPT_FORMAT")))
    style = ("PROMPT_STYLE_TEMPLATES", way["style"])
    asked = "tool_call_with_tag" if way["tool_call_tag"] == "True" else "tool_call_no_tag"
    answer_format = {
        "output_format": published_text(package, "OUTPUT_FORMAT_MAPPING", way["ret_fmt"]),
        "param_types": published_text(package, "PARAM_TYPE_MAPPING", way["ret_fmt"]),
    }
    form = way["func_doc_fmt"]
    listed = {"format": form, "functions": format_functions(functions, form)}
    sections = {
        **{name: published_text(package, *style, name) for name in ("persona", "task", "multiturn_behavior")},
        "tool_call_format": fill(published_text(package, *style, asked), answer_format),
        "available_tools": fill(published_text(package, *style, "available_tools"), listed),
    }
    return fill(published_text(package, "PROMPT_TEMPLATE_MAPPING", way["prompt_fmt"]), sections)
