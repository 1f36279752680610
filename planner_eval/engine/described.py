"""What decides the rows of a run as JSON data, the same in every process and on every day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any


def described(value: Any) -> Any:
    """All that a value is made of as JSON data; of a function where it is from.

    >>> described({"b": (1, None), "a": frozenset("yx"), "f": described})
    [['a', ['x', 'y']], ['b', [1, None]], ['f', 'planner_eval.engine.described.described']]
    """
    if is_dataclass(value) and not isinstance(value, type):
        told = {one.name: described(getattr(value, one.name)) for one in fields(value) if one.compare}
        return [type(value).__name__, told]
    if isinstance(value, Mapping):
        return sorted(([described(key), described(each)] for key, each in value.items()), key=repr)
    if isinstance(value, Set):
        return sorted(map(described, value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [described(each) for each in value]
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
