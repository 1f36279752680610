"""What a comparison may know of tools: what they take where an argument is left out, and what they return."""

from __future__ import annotations

from typing import Any, NamedTuple

from planner_eval.catalogs.formats import read_catalog


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
    """What a catalog of tools says, for :class:`planner_eval.policy.Policy`.

    Raises:
        CatalogError: the file is not there, or is no catalog.
    """
    arguments: dict[str, frozenset[str]] = {}
    defaults: dict[tuple[str, str], Any] = {}
    outputs: dict[str, set[str | None]] = {}
    for tool in read_catalog(catalog).tools:
        name = tool.full_name
        arguments[name] = arguments.get(name, frozenset()).union(p.name for p in tool.parameters)
        defaults.update({(name, p.name): p.default for p in tool.parameters if p.has_default})
        outputs.setdefault(name, set()).add(tool.only_output)
    agreed = ((name, next(iter(names))) for name, names in outputs.items() if len(names) == 1)
    return Facts(arguments, defaults, {name: only for name, only in agreed if only is not None})
