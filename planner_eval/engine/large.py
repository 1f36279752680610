"""The files behind records: whether they are large enough for work in parts, and whether they change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from planner_eval.records.files import PlanFile
from planner_eval.records.origins import Origin, refuse_changed, seen

LARGE = 8_000_000
"""From so many bytes on it pays to start other processes."""


def is_large(*files: PlanFile) -> bool:
    """Whether the files behind some records have that many bytes together."""
    return sum(origin.size for file in files for origin in file.origins) >= LARGE


def unchanged(*files: PlanFile, used: Iterable[str | Origin] = ()) -> Callable[[], None]:
    """What refuses the files behind some records, where they are not what was read.

    Args:
        files: The files of records.
        used: Files of code and of what it knows, and data, as they were or as they are now.
    """
    origins = [(origin, "read") for file in files for origin in file.origins]
    origins += [(seen(item) if isinstance(item, str) else item, "used") for item in used]

    def check() -> None:
        for origin, action in origins:
            refuse_changed(origin, action)

    return check
