"""What a comparison and the inference of edges may know of tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from planner_eval.base.errors import CatalogError
from planner_eval.catalogs.catalog import Catalog, Tool, Type
from planner_eval.catalogs.formats import as_catalog, read_catalog_file
from planner_eval.plan.inference import Signatures


# ----------------------------------------------------------------------
# What a comparison may know of tools: what they take where an argument is left out, and what they return.
class Facts(NamedTuple):
    """What a catalog says of its tools, by their full names.

    Args:
        arguments: Tool → the arguments that it takes; variants of one name add up.
        defaults: (tool, argument) → what the tool takes where the argument is left out.
        outputs: Tool → the name of its only output, "" where that has none; tools with several are left out.
    """

    arguments: dict[str, frozenset[str]]
    defaults: dict[tuple[str, str], Any]
    outputs: dict[str, str]


def catalog_facts(catalog: str) -> Facts:
    """What a catalog of tools says, for :class:`planner_eval.comparison.policy.policy.Policy`.

    Raises:
        CatalogError: the file is not there, or is no catalog.
    """
    arguments: dict[str, frozenset[str]] = {}
    defaults: dict[tuple[str, str], Any] = {}
    outputs: dict[str, set[str | None]] = {}
    for tool in read_catalog_file(catalog).tools:
        name = tool.full_name
        arguments[name] = arguments.get(name, frozenset()).union(p.name for p in tool.parameters)
        defaults.update({(name, p.name): p.default for p in tool.parameters if p.has_default})
        outputs.setdefault(name, set()).add(tool.only_output)
    agreed = ((name, next(iter(names))) for name, names in outputs.items() if len(names) == 1)
    return Facts(arguments, defaults, {name: only for name, only in agreed if only is not None})


# ----------------------------------------------------------------------
# What inference may know of tools: what they take and return, and what stands for a value still unknown.
def signatures(catalog: Catalog) -> Signatures:
    """What a catalog says, for :func:`planner_eval.plan.inference.infer_edges`.

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
                takes[name] = {p.name: _only_kind(p.type) for p in tool.parameters}
                returns[name] = dict(_returned_types(tool))
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
            self.found[id(tools)] = (tools, _read_signatures(tools))
        return self.found[id(tools)][1]


def _read_signatures(tools: Any) -> Signatures | bool:
    entries = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if not any("returnParameter" in entry for entry in entries):
        return True
    try:
        return signatures(as_catalog(tools, "callnavi"))
    except CatalogError:
        return True


def _returned_types(tool: Tool) -> Iterator[tuple[str, str]]:
    for member in tool.returns.fields:
        yield member.name, _only_kind(member.type)


def _only_kind(type: Type) -> str:
    return type.kinds[0] if len(type.kinds) == 1 else ""
