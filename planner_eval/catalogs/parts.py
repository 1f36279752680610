"""What is wrong with a value and with all that lies inside it, given the type that it should have."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from planner_eval.base.text import shortened
from planner_eval.catalogs.catalog import ANY, Type
from planner_eval.catalogs.values import problem
from planner_eval.plan.model import Path, Ref, Template, Unresolved, Value

_SHOWN = 60
_TOLD = 3
_LONG = 240
"""Characters of what is wrong with one alternative: it quotes its own alternatives, each of them theirs."""
_NONE: frozenset[str] = frozenset()


class Wrong(NamedTuple):
    """One thing that is wrong: where in the value, the finding's code, what to say, the field meant."""

    at: Path
    code: str
    text: str
    name: str | None = None


_All: TypeAlias = tuple[Wrong, ...]
_Steps: TypeAlias = Generator[tuple[Value, Type, frozenset[str]], _All | None, _All]


@dataclass(frozen=True, slots=True)
class Parts:
    """Holds values against types, each part of a value once against each type.

    The values and the types have to live as long as this does.

    Args:
        texts: Whether a text counts as what it reads as (``"4"`` as an integer).
        holes: Literals that stand for a value still unknown.

    >>> from planner_eval.catalogs.catalog import Parameter
    >>> number, text = Type(("integer",)), Type(("string",))
    >>> point = Type(("object",), fields=(Parameter("x", number),), open=False)
    >>> [wrong.text for wrong in Parts().wrong({"y": 1}, Type(any_of=(point, text)))]
    ["there is no field 'y'; the fields are x", "the field 'x' is needed"]
    """

    texts: bool = False
    holes: tuple[str, ...] = ()
    _known: dict[tuple[int, int, frozenset[str]], _All] = field(default_factory=dict, init=False, repr=False)

    def wrong(self, value: Value, kind: Type) -> _All:
        """Everything that is wrong with the literal parts of a value; references are not looked at.

        Args:
            value: JSON data, possibly with references inside.
            kind: What it should be.
        """
        steps = [self._steps(value, kind, _NONE)]
        found: _All | None = None
        while True:  # Python's own stack does not hold what values and alternatives nest
            try:
                part = steps[-1].send(found)
            except StopIteration as done:
                found = done.value
                steps.pop()
                if not steps:
                    return found or ()
            else:
                steps.append(self._steps(*part))
                found = None

    def _steps(self, value: Value, kind: Type, beside: frozenset[str]) -> _Steps:
        """What is wrong with a value; asks for what is wrong with its parts.

        Args:
            value: The value.
            kind: What it should be.
            beside: The fields that other types list, which the value has to be of as well.
        """
        kind = kind.unfolded
        if isinstance(value, (Ref, Unresolved)) or (type(value) is str and value in self.holes):
            return ()
        if not kind.any_of:
            return (yield from self._plain(value, kind, beside))
        key = (id(value), id(kind), beside)
        if key not in self._known:  # without this, alternatives inside alternatives double at each level
            self._known[key] = yield from self._either(value, kind, beside)
        return self._known[key]

    def _plain(self, value: Value, kind: Type, beside: frozenset[str]) -> _Steps:
        if isinstance(value, Template):
            wrong = not self.texts and kind.kinds and "string" not in kind.kinds
            return (_no_text(kind),) if wrong else ()
        found = problem(value, kind, texts=self.texts)
        if found is not None:
            return (Wrong((), *found),)
        made: list[Wrong] = []
        if isinstance(value, list):
            for position, item in enumerate(value):
                inside = yield item, kind.at((position,)) or ANY, _NONE
                made += [one._replace(at=(position, *one.at)) for one in inside or ()]
        elif isinstance(value, dict):
            for key, item in value.items():
                inner = kind.at((key,))
                if inner is not None:
                    inside = yield item, inner, _NONE
                    made += [one._replace(at=(key, *one.at)) for one in inside or ()]
                elif key not in beside:
                    made.append(_no_field(key, kind, beside))
            made += [
                Wrong((), "check.missing_argument", f"the field {each.name!r} is needed")
                for each in kind.fields
                if each.required and each.name not in value
            ]
        return tuple(made)

    def _either(self, value: Value, kind: Type, beside: frozenset[str]) -> _Steps:
        """What is wrong with a value that has to be of a type, and of one of its alternatives."""
        listed = beside | frozenset(_listed(kind))
        own = yield from self._plain(value, replace(kind, any_of=()), listed)
        if any(not one.at and one.code != "check.missing_argument" for one in own):
            return own
        beside |= {each.name for each in kind.fields}
        tries = []
        for each in kind.any_of:
            found = yield value, each, beside
            tries.append(found or ())
        if not all(tries):
            return own
        return tuple(dict.fromkeys((*own, *self.closest(value, kind, tries))))

    def closest(self, value: Value, kind: Type, tries: list[_All]) -> _All:
        """What to say of a value that is of none of the alternatives.

        Args:
            value: The value.
            kind: The type with the alternatives.
            tries: What is wrong with the value as each of them.
        """
        if isinstance(value, Template):
            return (_no_text(kind),)
        top = problem(value, Type(any_of=kind.any_of), texts=self.texts)
        if top is not None:
            return (Wrong((), *top),)
        near = [
            (each, found)
            for each, found in zip(kind.any_of, tries, strict=True)
            if problem(value, each, texts=self.texts) is None
        ]
        meant = [found for each, found in near if not self._denies(value, each)]
        meant = meant or [found for _, found in near]
        least = min(map(len, meant))
        closest = list(dict.fromkeys(found for found in meant if len(found) == least))
        if len(closest) == 1:
            return closest[0]
        told = [_told(found) for found in closest[:_TOLD]]
        more = " or …" if len(closest) > _TOLD else ""
        codes = {one.code for found in closest for one in found}
        code = codes.pop() if len(codes) == 1 else "check.wrong_type"
        return (Wrong((), code, f"fits none of {len(tries)} alternatives: {' or '.join(told)}{more}"),)

    def _denies(self, value: Value, kind: Type) -> bool:
        """Whether a field tells that another alternative is meant: it has another value than the only one."""
        return isinstance(value, dict) and any(
            each.type.enum is not None
            and len(each.type.enum) == 1
            and each.name in value
            and not isinstance(value[each.name], (Ref, Unresolved, Template))
            and value[each.name] not in self.holes
            and problem(value[each.name], each.type, texts=self.texts) is not None
            for each in kind.unfolded.fields
        )


def _listed(kind: Type) -> Iterator[str]:
    """The fields that any of the alternatives lists."""
    for each in kind.unfolded.any_of:
        yield from (one.name for one in each.unfolded.fields)
        yield from _listed(each)


def _no_text(kind: Type) -> Wrong:
    return Wrong((), "check.wrong_type", f"expected {kind}, found a text with a reference in it")


def _no_field(key: str, kind: Type, beside: frozenset[str]) -> Wrong:
    takes = ", ".join(dict.fromkeys((*(each.name for each in kind.fields), *sorted(beside)))) or "none"
    text = f"there is no field {key[:_SHOWN]!r}; the fields are {takes}"
    return Wrong((key,), "check.unknown_argument", text)


def _told(found: _All) -> str:
    """What is wrong with one alternative, in a part of a sentence."""
    shown = [f"{where('', one.at)}: {one.text}" if one.at else one.text for one in found[:_TOLD]]
    return shortened(", ".join(shown), _LONG) + (", …" if len(found) > _TOLD else "")


def where(name: str, at: Path) -> str:
    """A way into a value, for people.

    >>> where("legs", (0, "date"))
    'legs[0].date'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return (name + "".join(steps)).removeprefix(".")
