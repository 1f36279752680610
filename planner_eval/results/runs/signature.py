"""What decides the rows of a run as JSON data, the same in every process and on every day."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any


def describe(value: Any) -> Any:
    """All that a value is made of as JSON data; of a function where it is from, and a digest of that file.

    What a user's function imports is not looked at.

    >>> describe({"b": (1, None), "a": frozenset("yx"), "f": describe})
    [['a', ['x', 'y']], ['b', [1, None]], ['f', 'planner_eval.results.runs.signature.describe']]
    """
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: describe(getattr(value, f.name)) for f in fields(value) if f.compare}
        return [type(value).__name__, values]
    if isinstance(value, Mapping):
        return sorted(([describe(key), describe(item)] for key, item in value.items()), key=repr)
    if isinstance(value, Set):
        return sorted(map(describe, value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [describe(item) for item in value]
    if callable(value):
        return _describe_function(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _describe_function(value: Any) -> str:
    """A function's name; of one that is not ours, whose text may change, with a digest of its module's."""
    name = f"{value.__module__}.{value.__qualname__}"
    if value.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return name
    from hashlib import blake2b

    try:
        with open(sys.modules[value.__module__].__file__ or "", "rb") as file:
            return f"{name} {blake2b(file.read(), digest_size=16).hexdigest()}"
    except (OSError, KeyError, AttributeError, TypeError):  # of no file: a built-in one, or typed in
        return name
