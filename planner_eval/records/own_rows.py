"""A user's own rows: notations and frameworks, out of one TOML file given with ``--wrappers``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from planner_eval.dialects import table
from planner_eval.records import frameworks
from planner_eval.records.frameworks import Framework

Row: TypeAlias = table.Wrapper | Framework


def add_file(path: str) -> tuple[str, ...]:
    """Add the rows of a TOML file for the rest of this process, and give their names.

    Args:
        path: A file with ``[[dialect]]`` or ``[[framework]]`` tables, or both.

    Raises:
        InputError: the file cannot be read, or a row of it cannot be used.
    """
    document = table.read_document(path)
    rows = frameworks.rows_of(document["framework"], path) if "framework" in document else []
    names = () if rows and "dialect" not in document else table.add_rows(document, path)
    frameworks.add(rows)
    return (*names, *(row.name for row in rows))


def added() -> tuple[Row, ...]:
    """The rows that this process has added; another one that shall read as it does needs them."""
    return (*table.added(), *frameworks.added())


def own() -> tuple[Row, ...]:
    """The rows that are not shipped."""
    return (*table.own(), *frameworks.added())


def add(rows: Iterable[Row]) -> None:
    """Add rows that another process has, which has checked them."""
    rows = tuple(rows)
    frameworks.add(row for row in rows if isinstance(row, Framework))
    table.add(row for row in rows if isinstance(row, table.Wrapper))
