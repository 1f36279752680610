"""Frozen objects made by plain assignment: like those of a frozen dataclass in all but the time they take."""

import copy
import inspect
import pickle
import typing
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest

from planner_eval.base import named_tuple
from planner_eval.base.frozen import fast_frozen
from planner_eval.plan.model import Call, Plan, RawRef, Ref, Unresolved


@fast_frozen
class Ours:
    x: int
    y: tuple[int, ...] = ()
    note: str | None = field(default=None, compare=False, repr=False)


def copies(one: Any) -> tuple[Any, ...]:
    return pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)


def test_objects_are_compared_copied_and_kept_as_those_of_a_frozen_dataclass() -> None:
    one = Ours(1, (2,), note="a")
    assert one == Ours(y=(2,), x=1)
    assert hash(one) == hash(Ours(1, (2,)))
    assert one not in (Ours(2), (1, (2,), "a"))
    assert repr(one) == "Ours(x=1, y=(2,))"
    assert replace(one, x=3) == Ours(3, (2,))
    assert asdict(one)["note"] == "a"
    assert [f.name for f in fields(Ours)] == ["x", "y", "note"] == list(inspect.signature(Ours).parameters)
    for again in (one, *copies(one)):
        assert (again, again.note, type(again)) == (one, "a", Ours)
    for change in (lambda: setattr(one, "x", 2), lambda: delattr(one, "x")):
        with pytest.raises(FrozenInstanceError):
            change()
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        one.other = 1  # type: ignore[attr-defined]
    for given in ((), (1, (), None, 4)):
        with pytest.raises(TypeError):
            Ours(*given)


def test_what_a_class_writes_itself_holds_and_a_check_comes_after_the_fields() -> None:
    @fast_frozen
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
    plan = Plan((Call("c1", "f", (("x", Ref(0)),)),))
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert RawRef("a") != Unresolved("a")
    with pytest.raises(FrozenInstanceError):
        plan.calls = ()  # type: ignore[misc]


class OursNamed(named_tuple.NamedTuple):
    """A place."""

    line: int
    column: int | None = 1

    @property
    def first(self) -> bool:
        return self.line == 1


def test_named_tuples_are_as_those_of_typing() -> None:
    kind: Any = OursNamed
    one = kind(1)
    assert (one, repr(one), one.first) == ((1, 1), "OursNamed(line=1, column=1)", True)
    assert one._replace(column=None)._asdict() == {"line": 1, "column": None}
    assert kind._make((2, 3)) == kind(2, column=3)
    assert (kind._fields, kind._field_defaults) == (("line", "column"), {"column": 1})
    assert (kind.__doc__, kind.__module__, kind.__bases__) == ("A place.", __name__, (tuple,))
    assert typing.get_type_hints(kind) == {"line": int, "column": int | None}
    assert list(inspect.signature(kind).parameters) == ["line", "column"]
    assert [(again, type(again)) for again in copies(one)] == [(one, kind)] * 3
    with pytest.raises(AttributeError):
        one.line = 2
    with pytest.raises(TypeError):
        kind()
