"""The files behind records: whether they are large enough for work in parts, and whether they change."""

from __future__ import annotations

import os
from collections.abc import Callable

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


def unchanged(*files: PlanFile) -> Callable[[], None]:
    """What refuses the files behind some records, where they are not what they are now."""
    origins = [seen(name) for file in files for name in paths(file)]

    def check() -> None:
        for origin in origins:
            refuse_changed(origin)

    return check
