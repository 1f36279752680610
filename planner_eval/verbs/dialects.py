"""The notations that plans are read from and written in."""

from __future__ import annotations

from planner_eval import dialects
from planner_eval.dialects.listing import Entry, entries


def list_dialects(name: str | None = None) -> tuple[Entry, ...]:
    """The dialects, each with an example.

    Args:
        name: Only the one of this name.

    Raises:
        InputError: there is no dialect of that name; says which is closest.

    >>> list_dialects("appbench")[0].name
    'appbench'
    """
    if name is not None:
        dialects.get(name)
    return tuple(entry for entry in entries() if name in (None, entry.name))
