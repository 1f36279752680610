"""The answers that repeat BFCL's gold, as a model that calls functions would have written them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.benchmarks.benchmark import as_json
from planner_eval.benchmarks.bfcl.data import CATEGORIES
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.python_calls import parse_expression


def gold_text(sample: Sample) -> str | None:
    r"""The answer that repeats a sample's gold; None where any call of a tool is right.

    >>> gold_text(Sample("a", gold=[{"m.f": {"a": 1}}], tools=[], category="simple_python"))
    '[{"m_f": "{\\"a\\": 1}"}]'
    """
    category = CATEGORIES[sample.category]
    if category.check == "relevance":
        return None
    if category.check == "irrelevance":
        return "[]"
    if category.check == "agentic":
        return as_json([[sample.gold[0]]])
    if category.check == "format":
        return None
    tools = {tool["name"]: tool["parameters"]["properties"] for tool in sample.tools}
    if category.check == "multi_turn":
        turns = [
            [
                [
                    {name: as_json(arguments) for name, arguments in call.items()}
                    for call in turn_calls(turn, sample)
                ]
            ]
            if turn
            else []
            for turn in sample.extra["ground_truth"]
        ]
        return as_json(turns)
    calls = []
    for call in sample.gold:
        for name, arguments in call.items():
            types = tools.get(name, {}) if category.language != "python" else {}
            values = {
                key: _written(value, types.get(key), category.language) for key, value in arguments.items()
            }
            calls.append({name.replace(".", "_"): as_json(values)})
    return as_json(calls)


def turn_calls(texts: Sequence[str], sample: Sample) -> list[dict[str, dict[str, Any]]]:
    """The calls of a turn, with the names of arguments that are given by place.

    Args:
        texts: The calls as Python.
        sample: Whose tools they are of.

    Raises:
        Exception: a text is no call of plain values.
    """
    calls = []
    for text in texts:
        name, _, argument_text = text.partition("(")  # models invent names that are none
        node: Any = parse_expression(f"f({argument_text}")
        name = name.strip()
        tools = (tool for tool in (*sample.tools, *sample.extra["held_back"]) if tool["name"] == name)
        names = next((list(tool["parameters"]["properties"]) for tool in tools), [])
        arguments = dict(zip(names, map(ast.literal_eval, node.args), strict=False))
        arguments |= {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
        calls.append({name: arguments})
    return calls


# ----------------------------------------------------------------------
# Values as Java and JavaScript write them.
def _written(value: Any, detail: Mapping[str, Any] | None, language: str) -> Any:
    """A value as the language writes its declared type; accepted values of another type are variables."""
    if language == "python":
        return value
    declared = (detail or {}).get("type", "any")
    items = ((detail or {}).get("items") or {}).get("type")
    write = _java_text if language == "java" else _javascript_text
    return write(value, declared, items)


def _java_text(value: Any, declared: str, items: str | None = None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}{ {'long': 'L', 'float': 'f'}.get(declared, '') }"
    if isinstance(value, list):
        inner = ", ".join(_java_item(item, items, declared) for item in value)
        if declared == "ArrayList":
            return f"new ArrayList<>(Arrays.asList({inner}))" if value else "new ArrayList<>()"
        return f"new Object[]{{{inner}}}"
    if isinstance(value, dict):
        puts = " ".join(f'put("{key}", {_java_item(item, None, "HashMap")});' for key, item in value.items())
        return f"new HashMap<>() {{{{ {puts} }}}}" if value else "new HashMap<>()"
    return str(value)


def _java_item(value: Any, items: str | None, declared: str) -> str:
    # The published code keeps the quotes of texts in an array, so that none stand there.
    if isinstance(value, str):
        return f'"{value}"' if declared != "Array" else value
    return _java_text(value, items or "any")


def _javascript_text(value: Any, declared: str, items: str | None = None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}n" if declared == "Bigint" else str(value)
    if isinstance(value, list):
        return "[" + ", ".join(_javascript_item(item, items or "any") for item in value) + "]"
    if isinstance(value, dict):
        members = (f'"{key}": {_javascript_item(item, "any")}' for key, item in value.items())
        return "{" + ", ".join(members) + "}"
    return str(value)


def _javascript_item(value: Any, declared: str) -> str:
    return f'"{value}"' if isinstance(value, str) else _javascript_text(value, declared)
