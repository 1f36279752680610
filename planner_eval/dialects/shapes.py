"""The shapes: from a row of the table to a dialect that reads and writes.

Each shape is a module with ``dialect(row)``, imported when a row of it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.dialects.dialect import Dialect

if TYPE_CHECKING:
    from planner_eval.dialects.table import Wrapper


SHAPES: dict[str, str] = {
    "json": "json_rows",
    "live": "json_rows",
    "nestools": "json_rows",
    "complexfuncbench": "json_rows",
    "keyed": "json_rows",
    "call-texts": "python_calls",
    "sections": "sections",
    "named": "named",
    "xml": "xml_calls",
    "gemma": "gemma",
    "python": "python_calls",
    "python-list": "python_calls",
    "code-block": "python_calls",
    "javascript": "javascript",
    "callnavi": "callnavi",
    "callnavi-yaml": "callnavi",
    "taskbench": "nodes",
    "hugginggpt": "nodes",
    "worfbench": "worfbench",
    "rewoo": "numbered",
    "t-eval": "numbered",
    "llmcompiler": "numbered",
    "react": "react",
    "langgraph": "traces",
    "openai-agents": "traces",
    "mcp": "traces",
    "opentelemetry": "traces",
}
"""Shape → its module in this package."""

NEEDED: dict[str, tuple[str, ...]] = {
    "sections": ("open",),
    "named": ("head", "middle"),
    "xml": ("call", "parameter"),
    "gemma": ("open", "close", "quote"),
}
"""Shape → the fields that its rows must have."""


def dialect(row: Wrapper) -> Dialect:
    """The dialect that a row describes.

    >>> from planner_eval.dialects.table import table
    >>> dialect(table()["vercel"]).name
    'vercel'
    """
    from importlib import import_module

    made = import_module(f"planner_eval.dialects.{SHAPES[row.shape]}").dialect(row)
    assert isinstance(made, Dialect)
    return made
