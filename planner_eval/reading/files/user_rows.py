"""A user's own rows: notations and frameworks, out of one TOML file given with ``--wrappers``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from planner_eval.reading.dialects import table
from planner_eval.reading.files import frameworks
from planner_eval.reading.files.frameworks import Framework

UserRow: TypeAlias = table.Wrapper | Framework


def add_file(path: str) -> tuple[str, ...]:
    """Add the rows of a TOML file for the rest of this process, and give their names.

    Args:
        path: A file with ``[[dialect]]`` or ``[[framework]]`` tables, or both.

    Raises:
        InputError: the file cannot be read, or a row of it cannot be used.
    """
    rows = parse(table.read_toml(path), path)
    table.add_proved_rows([row for row in rows if isinstance(row, table.Wrapper)], path)
    frameworks.add_frameworks(row for row in rows if isinstance(row, Framework))
    return tuple(row.name for row in rows)


def parse(document: Mapping[str, Any], source: str) -> tuple[UserRow, ...]:
    """The rows of a file's tables.

    Args:
        document: The tables.
        source: What messages call the file.

    Raises:
        InputError: there is no row, or one cannot be used.

    >>> unshipped_rows = {"framework": [{"name": "ours", "sign": ["steps"], "answer": "steps"}]}
    >>> [row.name for row in parse(unshipped_rows, "own.toml")]
    ['ours']
    """
    rows = frameworks.parse_frameworks(document["framework"], source) if "framework" in document else []
    if rows and "dialect" not in document:
        return tuple(rows)
    return (*table.rows_in(document, source).values(), *rows)


def added_rows() -> tuple[UserRow, ...]:
    """The rows that this process has added; another one that shall read as it does needs them."""
    return (*table.added_rows(), *frameworks.added_frameworks())


def unshipped_rows() -> tuple[UserRow, ...]:
    """The rows that are not shipped."""
    return (*table.custom_rows(), *frameworks.added_frameworks())


def add_rows(rows: Iterable[UserRow]) -> None:
    """Add rows that another process has, which has checked them."""
    rows = tuple(rows)
    frameworks.add_frameworks(row for row in rows if isinstance(row, Framework))
    table.add_rows(row for row in rows if isinstance(row, table.Wrapper))
