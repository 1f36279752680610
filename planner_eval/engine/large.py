"""The files behind records: whether they are large enough for work in parts, and whether they change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from planner_eval.records.files import PlanFile
from planner_eval.records.origins import refuse_changed, seen

LARGE = 8_000_000
"""From so many bytes on it pays to start other processes."""


def is_large(*files: PlanFile) -> bool:
    """Whether the files behind some records have that many bytes together."""
    return sum(os.path.getsize(name) for file in files for name in paths(file)) >= LARGE


def paths(file: PlanFile) -> list[str]:
    """The files that records were read from; none where they come from no file.

    >>> paths(PlanFile("standard input", (), True))
    []
    """
    if file.published:
        return []
    return [name for name in file.parts or (file.name,) if os.path.isfile(name)]


def unchanged(*files: PlanFile, used: Iterable[str] = ()) -> Callable[[], None]:
    """What refuses the files behind some records, where they are not what they are now.

    Args:
        files: The files of records.
        used: Files of code and of what it knows, which each process may read anew.
    """
    origins = [(seen(name), "read") for file in files for name in paths(file)]
    origins += [(seen(name), "used") for name in used]

    def check() -> None:
        for origin, done in origins:
            refuse_changed(origin, done)

    return check
