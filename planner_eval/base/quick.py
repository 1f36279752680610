"""Frozen objects that are made by the thousand, made by plain assignment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
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
    opened = dataclass(init=False, slots=True, unsafe_hash=True)(cls)
    names = opened.__slots__  # type: ignore[attr-defined]

    def reduced(one: T) -> Any:
        return type(one), tuple([getattr(one, name) for name in names])

    body = {
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__slots__": (),
        "__new__": _maker(opened),
        "__init__": object.__init__,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__reduce__": reduced,
    }
    return type(cls.__name__, (opened,), body)


def _maker(opened: type[Any]) -> Callable[..., Any]:
    """What makes an object: a function of its fields, written out, so that it calls no other."""
    known: dict[str, Any] = {"opened": opened}
    given, lines = ["kind"], ["one = opened()"]
    for one in fields(opened):
        value = one.name
        if one.default is not MISSING:
            known[f"_{value}"] = one.default
            given.append(f"{value}=_{value}")
        elif one.default_factory is not MISSING:
            known[f"_{value}"] = one.default_factory
            given.append(f"{value}=_{value}")
            value = f"_{value}() if {value} is _{value} else {value}"
        else:
            given.append(value)
        lines.append(f"one.{one.name} = {value}")
    given.insert(1, "/")
    text = "\n    ".join([f"def made({', '.join(given)}):", *lines, "one.__class__ = kind", "return one"])
    exec(text, known)
    made: Callable[..., Any] = known["made"]
    made.__annotations__ = opened.__annotations__
    return made


def _refuse(one: Any, name: str, value: Any = None) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")
