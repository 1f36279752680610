"""Schemas under keys that no reader looks at: a tool that has one would seem to take nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import KINDS

TAKES = ("parameters", "inputSchema", "input_schema")
"""Where a tool of the trade has the schema of what it takes."""
RETURNS = ("returns", "outputSchema", "output_schema")
"""Where it has the schema of what it returns."""
_BESIDE = frozenset(
    (
        *(*TAKES, *RETURNS, "name", "app", "description", "action", "annotations", "type", "function"),
        *("title", "strict", "icons", "execution", "cache_control", "input_examples", "examples", "_meta"),
    )
)
"""Keys of a tool that are read, or say nothing of its arguments and results."""


def refuse_misplaced(
    entry: Mapping[str, Any],
    label: str,
    takes: tuple[str, ...] = TAKES,
    returns: tuple[str, ...] = RETURNS,
) -> None:
    """Refuse a schema under a key that is not read: the tool would seem to take nothing.

    Args:
        entry: The tool as it stands in its file.
        label: What to call it in messages, in front of its name.
        takes: The keys under which what it takes is read.
        returns: The keys under which what it returns is read.

    Raises:
        CatalogError: another key has a schema, or what looks like a list of arguments where none is read.

    >>> refuse_misplaced({"name": "f", "parameters": {}, "tags": {"kind": "x"}}, "tool 1")
    """
    described = any(entry.get(key) is not None for key in takes)
    for key, value in entry.items():
        if key in _BESIDE or key in takes or key in returns:
            continue
        if _is_schema(value) or (not described and _lists(value)):
            raise CatalogError(
                f"{label} {entry.get('name')!r:.60}: what stands under {key!r:.40} is not read; "
                f"expected what it takes under {' or '.join(takes)}, and what it returns under "
                f"{' or '.join(returns)}"
            )


def _is_schema(value: Any) -> bool:
    kinds = (*KINDS, "dict")
    return isinstance(value, Mapping) and (
        "properties" in value or str(value.get("type", "")).lower() in kinds or "$ref" in value
    )


def _lists(value: Any) -> bool:
    """Whether a value looks like a list or an object of arguments, each of which is described."""
    entries = list(value.values()) if isinstance(value, Mapping) else value
    return (
        isinstance(entries, list) and bool(entries) and all(isinstance(entry, Mapping) for entry in entries)
    )
