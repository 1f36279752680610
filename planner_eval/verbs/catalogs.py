"""The tools that plans may use."""

from __future__ import annotations

import os
from typing import Any

from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.formats import as_catalog
from planner_eval.catalogs.formats import read_catalog as read_one


def read_catalog(source: Any, format: str | None = None) -> Catalog:
    """The tools that plans may use.

    Args:
        source: The path of a JSON, JSON Lines, YAML or Python file; ``"world:NAME"`` for the tools of a
            simulated world; a list of these, which add up; decoded JSON in any known format; or Python
            functions. A catalog is given back as it is.
        format: One of ``planner_eval.catalogs.formats.FORMATS``; guessed from the content when None.

    Raises:
        CatalogError: a file is missing, unreadable, or in no known format.

    >>> read_catalog([{"type": "function", "function": {"name": "now", "parameters": {}}}]).tools[0].name
    'now'
    """
    if isinstance(source, (str, os.PathLike)):
        return read_one(os.fspath(source), format)
    has_several = isinstance(source, (list, tuple)) and source
    if has_several and all(isinstance(item, (str, os.PathLike)) for item in source):
        joined = read_one(source[0], format)
        for path in source[1:]:
            joined = joined + read_one(path, format)
        return joined
    return as_catalog(list(source) if isinstance(source, tuple) else source, format)
