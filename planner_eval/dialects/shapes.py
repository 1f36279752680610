"""The shapes: from a row of the table to a dialect that reads and writes.

Each shape is a module with ``dialect(row)``, imported when a row of it is first used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from planner_eval.base.named import NamedTuple
from planner_eval.dialects.dialect import Dialect

if TYPE_CHECKING:
    from planner_eval.dialects.table import Wrapper


class Shape(NamedTuple):
    """What is said of a shape without importing it.

    Args:
        module: Its module in this package.
        form: What a row's ``sign`` is looked for in: "text", the beginning of a text; "texts", each of a
            list of texts; else the text of JSON data. Its dialects say by ``fits`` whether "calls", or
            "others" of which not everything looks like a call, are in them; "data" says nothing by itself.
    """

    module: str
    form: Literal["text", "texts", "data", "calls", "others"] = "text"


SHAPES: dict[str, Shape] = {
    "json": Shape("json_rows", "data"),
    "live": Shape("json_rows", "data"),
    "nestools": Shape("json_rows", "calls"),
    "complexfuncbench": Shape("json_rows", "others"),
    "keyed": Shape("json_rows", "others"),
    "call-texts": Shape("python_calls", "texts"),
    "sections": Shape("sections"),
    "named": Shape("named"),
    "xml": Shape("xml_calls"),
    "gemma": Shape("gemma"),
    "python": Shape("python_calls"),
    "python-list": Shape("python_calls"),
    "code-block": Shape("python_calls", "data"),
    "javascript": Shape("javascript"),
    "callnavi": Shape("callnavi", "others"),
    "callnavi-yaml": Shape("callnavi"),
    "taskbench": Shape("nodes", "others"),
    "hugginggpt": Shape("nodes", "calls"),
    "worfbench": Shape("worfbench"),
    "rewoo": Shape("numbered"),
    "t-eval": Shape("numbered"),
    "llmcompiler": Shape("numbered"),
    "react": Shape("react"),
    "langgraph": Shape("traces", "others"),
    "openai-agents": Shape("traces", "others"),
    "mcp": Shape("traces", "others"),
    "opentelemetry": Shape("traces", "others"),
    "openinference": Shape("traces", "others"),
    "mlflow": Shape("traces", "others"),
}
"""The shapes by name."""

NEEDED: dict[str, tuple[str, ...]] = {
    "sections": ("open",),
    "named": ("head", "middle"),
    "xml": ("call", "parameter"),
    "gemma": ("open", "close", "quote"),
}
"""Shape → the fields that its rows must have."""


@cache
def dialect(row: Wrapper) -> Dialect:
    """The dialect that a row describes.

    >>> from planner_eval.dialects.table import table
    >>> dialect(table()["vercel"]).name
    'vercel'
    """
    described = import_module(f"planner_eval.dialects.{SHAPES[row.shape].module}").dialect(row)
    assert isinstance(described, Dialect)
    return described._replace(typed=row.typed)
