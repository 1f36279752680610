"""What compared systems are called: as the user says or by letters, no two alike and none like a column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Any

from planner_eval.base.errors import NAMES, InputError, expect_or_none
from planner_eval.base.text import one_line

HEADS = (
    "", "metric", "difference", "95 %", "p", "test", "records", "n", "cause", "gold calls", "called",
    "gold's tool", "predicted tool", "cost",
    "first wrong turn", "first wrong step",
    "system",
)  # fmt: skip
"""Heads of columns, which no system may be called."""


def free_names(names: Iterable[str], heads: Collection[str] = HEADS) -> tuple[str, ...]:
    """Names of systems such that no two are equal and none is the head of another column.

    Args:
        names: What they are called.
        heads: The heads of what stands beside them; those of compared systems when left out.

    >>> free_names(["m", "m", "p"]), free_names(["m", "p"], heads=["figure"])
    (('m', 'm (2)', 'system p'), ('m', 'p'))
    """
    unique: dict[str, None] = {}
    for name in names:
        base = f"system {name}".strip() if name in heads else name
        candidates = (base if number == 1 else f"{base} ({number})" for number in count(1))
        unique[next(candidate for candidate in candidates if candidate not in unique)] = None
    return tuple(unique)


def system_names(systems: Any, names: Sequence[str] | None) -> tuple[str, ...]:
    """What systems are called: as the user says, else A, B and so on; no two alike.

    Raises:
        InputError: there are no two systems, or not as many names.
    """
    if not isinstance(systems, (list, tuple)) or len(systems) < 2:
        kind = f"{len(systems)}" if isinstance(systems, (list, tuple)) else f"a {type(systems).__name__}"
        raise InputError(f"the systems are {kind}, expected a list or a mapping of two or more: [a, b, c]")
    expect_or_none(NAMES, names=names)
    if names is None:
        names = letter_names(len(systems))
    if len(names) != len(systems):
        raise InputError(f"there are {len(names)} names for {len(systems)} systems")
    return free_names(names)


def letter_names(count: int) -> list[str]:
    """Short names of so many systems: A, B and so on.

    >>> letter_names(27)[-2:]
    ['Z', 'S27']
    """
    return [chr(ord("A") + index) if index < 26 else f"S{index + 1}" for index in range(count)]


def letter_legend(names: Sequence[str]) -> str:
    """Which letter stands for which system, a line each."""
    letters = letter_names(len(names))
    return "\n".join(f"{a}: {one_line(name, 90)}" for a, name in zip(letters, names, strict=True))
