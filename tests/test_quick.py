"""Frozen objects made by plain assignment: like those of a frozen dataclass in all but the time they take."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from planner_eval.base import named
from planner_eval.base.quick import quick
from planner_eval.plan.model import Call, Plan, RawRef, Ref, Unresolved


@quick
class Ours:
    """A point."""

    x: int
    y: tuple[int, ...] = ()
    note: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Theirs:
    """A point."""

    x: int
    y: tuple[int, ...] = ()
    note: str | None = field(default=None, compare=False, repr=False)


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_objects_are_compared_copied_and_kept_as_those_of_a_frozen_dataclass(kind: type) -> None:
    one = kind(1, (2,), note="a")
    assert one == kind(y=(2,), x=1)
    assert hash(one) == hash(kind(1, (2,)))
    assert one != kind(2)
    assert one != (1, (2,), "a")
    assert repr(one) == f"{kind.__name__}(x=1, y=(2,))"
    assert type(one) is kind
    assert replace(one, x=3) == kind(3, (2,))
    assert asdict(one)["note"] == "a"
    assert [f.name for f in fields(kind)] == ["x", "y", "note"]
    for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert again == one
        assert again.note == "a"
        assert type(again) is kind
    assert list(inspect.signature(kind).parameters) == ["x", "y", "note"]
    for change in (lambda: setattr(one, "x", 2), lambda: delattr(one, "x")):
        with pytest.raises(FrozenInstanceError):
            change()
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        one.other = 1
    for given in ((), (1, (), None, 4)):
        with pytest.raises(TypeError):
            kind(*given)


def test_plans_are_made_so() -> None:
    call = Call("c1", "f", (("x", Ref(0)),))
    plan = Plan((call,))
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert type(RawRef("a")) is RawRef
    assert RawRef("a") != Unresolved("a")
    with pytest.raises(FrozenInstanceError):
        plan.calls = ()  # type: ignore[misc]


def test_what_a_class_writes_itself_holds_and_a_check_comes_after_the_fields() -> None:
    @quick
    class Checked:
        kind: int
        one: int = 0

        def __post_init__(self) -> None:
            if self.kind < 0:
                raise ValueError(self.kind)

        def __hash__(self) -> int:
            return 7

    assert hash(Checked(1)) == 7
    assert Checked(1) == Checked(kind=1, one=0) != Checked(2)
    with pytest.raises(ValueError, match="-1"):
        Checked(-1)


class OursNamed(named.NamedTuple):
    """A place."""

    line: int
    column: int | None = 1

    @property
    def first(self) -> bool:
        """Whether it is the first."""
        return self.line == 1


class TheirsNamed(typing.NamedTuple):
    """A place."""

    line: int
    column: int | None = 1

    @property
    def first(self) -> bool:
        """Whether it is the first."""
        return self.line == 1


@pytest.mark.parametrize("kind", [OursNamed, TheirsNamed])
def test_named_tuples_are_as_those_of_typing(kind: Any) -> None:
    one = kind(1)
    assert one == (1, 1)
    assert repr(one) == f"{kind.__name__}(line=1, column=1)"
    assert one.first
    assert one._replace(column=None)._asdict() == {"line": 1, "column": None}
    assert kind._make((2, 3)) == kind(2, column=3)
    assert (kind._fields, kind._field_defaults) == (("line", "column"), {"column": 1})
    assert (kind.__doc__, kind.__module__, kind.__bases__) == ("A place.", __name__, (tuple,))
    assert typing.get_type_hints(kind) == {"line": int, "column": int | None}
    assert list(inspect.signature(kind).parameters) == ["line", "column"]
    for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert (again, type(again)) == (one, kind)
    with pytest.raises(AttributeError):
        one.line = 2
    with pytest.raises(TypeError):
        kind()
