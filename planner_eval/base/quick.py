"""Frozen objects that are made by the thousand, made by plain assignment."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def quick(cls: type[T]) -> type[T]:
    """A dataclass with slots that is frozen, and whose objects are made four times as fast as such are.

    A frozen dataclass sets each of its own fields by a call, since its class refuses assignment. Objects of
    this one are assigned to while they are of an open class of the same slots, and become of their own then.

    Args:
        cls: A class with annotated fields, as for ``dataclass(frozen=True, slots=True)``. What derives from
            it without fields of its own is made as fast.

    Returns:
        The dataclass.

    >>> @quick
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(y=2, x=1) == Point(1, 2)
    (Point(x=1, y=0), True)
    """
    opened = dataclass(slots=True, unsafe_hash=True)(cls)
    names = opened.__slots__  # type: ignore[attr-defined]

    def made(kind: type[T], /, *given: Any, **named: Any) -> T:
        one = opened(*given, **named)
        one.__class__ = kind
        return one

    made.__wrapped__ = opened.__init__  # type: ignore[attr-defined]  # its signature is what people see

    def reduced(one: T) -> Any:
        return type(one), tuple([getattr(one, name) for name in names])

    body = {
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__slots__": (),
        "__new__": made,
        "__init__": object.__init__,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__reduce__": reduced,
    }
    return type(cls.__name__, (opened,), body)


def _refuse(one: Any, name: str, value: Any = None) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")
