"""Counts that add up: those of neighbouring parts, put together in their order, are those of all rows."""

from __future__ import annotations

import sys
from collections import Counter

TYPE_CHECKING = False  # typing's own costs start-up

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Self

    Highest = int
else:

    class Highest(int):
        """A number of which the highest counts: it does not add up."""


_KINDS = {"Counter": Counter, "set": set, "list": list, "int": int, "bool": bool, "Highest": Highest}


class Counts:
    """Counts whose class says by annotations which there are: counters, sets, lists, numbers and flags.

    A list holds each item once, in the order of its first. What is none of these is of a class of its own,
    made of its data, with ``extend`` and ``data``.

    Args:
        data: Counts to go on from, as :meth:`data` gave them.

    >>> class Seen(Counts):
    ...     states: Counter[str]
    ...     names: list[str]
    >>> seen = Seen({"states": {"same": 1}, "names": ["a"]})
    >>> seen.extend(Seen({"states": {"same": 2}, "names": ["b", "a"]}))
    >>> seen.data()
    {'states': {'same': 3}, 'names': ['a', 'b']}
    """

    _kinds: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        known = vars(sys.modules[cls.__module__]) | _KINDS
        hints = cls.__annotations__.items()
        cls._kinds = {**cls._kinds, **{name: known[hint.partition("[")[0]] for name, hint in hints}}

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        for name, kind in self._kinds.items():
            setattr(self, name, kind(stored[name]) if name in stored else kind())

    def extend(self, other: Self) -> None:
        """Add the counts over the rows that come next."""
        for name, kind in self._kinds.items():
            own, more = getattr(self, name), getattr(other, name)
            if kind is list:
                own += [item for item in more if item not in own]
            elif kind in (int, bool):
                setattr(self, name, kind(own + more))
            elif kind is Highest:
                setattr(self, name, max(own, more))
            else:
                (own.update if kind in (Counter, set) else own.extend)(more)

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        plain: dict[Any, Any] = {Counter: dict, set: sorted}
        dump = {name: plain.get(kind, getattr(kind, "data", kind)) for name, kind in self._kinds.items()}
        return {name: make(getattr(self, name)) for name, make in dump.items()}
