"""What inference may know of tools: what they take and return, and what stands for a value still unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import Catalog, Tool, Type
from planner_eval.catalogs.formats import as_catalog
from planner_eval.plan.inferred import Signatures


def signatures(catalog: Catalog) -> Signatures:
    """What a catalog says, for :func:`planner_eval.plan.inferred.infer_edges`.

    Of tools that share a name the first counts.

    >>> found = signatures(as_catalog([{"name": "pay", "parameters": {}, "returnParameter": "billID"}]))
    >>> found.returns, found.holes
    ({'pay': {'billID': ''}}, ('$$$',))
    """
    takes: dict[str, dict[str, str]] = {}
    returns: dict[str, dict[str, str]] = {}
    for tool in catalog.tools:
        for name in dict.fromkeys((tool.full_name, tool.name)):
            if name not in takes:
                takes[name] = {p.name: _kind(p.type) for p in tool.parameters}
                returns[name] = dict(_returned(tool))
    return Signatures(takes, returns, catalog.holes)


class Known:
    """The signatures of lists of tools as data sets release them, each worked out once."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[Any, Signatures | bool]] = {}

    def of(self, tools: Any) -> Signatures | bool:
        """The signatures of a list; True, as much as may be inferred without, where it is none.

        >>> Known().of(None)
        True
        """
        if id(tools) not in self.found:  # the list is kept, so that no other takes its place
            self.found[id(tools)] = (tools, _of(tools))
        return self.found[id(tools)][1]


def _of(tools: Any) -> Signatures | bool:
    entries = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if not any("returnParameter" in entry for entry in entries):
        return True
    try:
        return signatures(as_catalog(tools, "callnavi"))
    except CatalogError:
        return True


def _returned(tool: Tool) -> Iterator[tuple[str, str]]:
    for member in tool.returns.fields:
        yield member.name, _kind(member.type)


def _kind(type: Type) -> str:
    return type.kinds[0] if len(type.kinds) == 1 else ""
