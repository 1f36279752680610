"""What tools take where an argument is left out, as a catalog says it."""

from __future__ import annotations

from typing import Any

from planner_eval.catalogs.formats import read_catalog


def schema_defaults(catalog: str) -> dict[tuple[str, str], Any]:
    """What tools take where an argument is left out, as a catalog of tools says: for ``Policy.defaults``.

    Raises:
        CatalogError: the file is not there, or is no catalog.
    """
    return {
        (f"{tool.app}.{tool.name}" if tool.app else tool.name, parameter.name): parameter.default
        for tool in read_catalog(catalog).tools
        for parameter in tool.parameters
        if parameter.has_default
    }
