"""English words and units that questions are read by, from ``data/english.toml``."""

from __future__ import annotations

import tomllib
from typing import Any

from planner_eval.base.resources import read

TABLES: dict[str, Any] = tomllib.loads(read("data/english.toml"))
"""Numbers by word, and other tables, by the names that they have there."""


def word_set(name: str) -> frozenset[str]:
    """The words of a list.

    Args:
        name: The list's name.

    >>> "without" in word_set("denial_words")
    True
    """
    return frozenset(TABLES[name].split())
