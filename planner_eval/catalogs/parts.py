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
        faults: _All | None = None
        while True:  # Python's own stack does not hold what values and alternatives nest
            try:
                request = steps[-1].send(faults)
            except StopIteration as stop:
                faults = stop.value
                steps.pop()
                if not steps:
                    return faults or ()
            else:
                steps.append(self._steps(*request))
                faults = None

    def _steps(self, value: Value, kind: Type, sibling_fields: frozenset[str]) -> _Steps:
        """What is wrong with a value; asks for what is wrong with its parts.

        Args:
            value: The value.
            kind: What it should be.
            sibling_fields: The fields that other types list, which the value has to be of as well.
        """
        kind = kind.unfolded
        if isinstance(value, (Ref, Unresolved)) or (type(value) is str and value in self.holes):
            return ()
        if not kind.any_of:
            return (yield from self._plain(value, kind, sibling_fields))
        key = (id(value), id(kind), sibling_fields)
        if key not in self._known:  # without this, alternatives inside alternatives double at each level
            self._known[key] = yield from self._either(value, kind, sibling_fields)
        return self._known[key]

    def _plain(self, value: Value, kind: Type, sibling_fields: frozenset[str]) -> _Steps:
        if isinstance(value, Template):
            wrong = not self.texts and kind.kinds and "string" not in kind.kinds
            return (_no_text(kind),) if wrong else ()
        fault = problem(value, kind, texts=self.texts)
        if fault is not None:
            return (Wrong((), *fault),)
        faults: list[Wrong] = []
        if isinstance(value, list):
            for position, item in enumerate(value):
                inside = yield item, kind.at((position,)) or ANY, _NONE
                faults += [fault._replace(at=(position, *fault.at)) for fault in inside or ()]
        elif isinstance(value, dict):
            for key, item in value.items():
                inner = kind.at((key,))
                if inner is not None:
                    inside = yield item, inner, _NONE
                    faults += [fault._replace(at=(key, *fault.at)) for fault in inside or ()]
                elif key not in sibling_fields:
                    faults.append(_no_field(key, kind, sibling_fields))
            faults += [
                Wrong((), "check.missing_argument", f"the field {member.name!r} is needed")
                for member in kind.fields
                if member.required and member.name not in value
            ]
        return tuple(faults)

    def _either(self, value: Value, kind: Type, sibling_fields: frozenset[str]) -> _Steps:
        """What is wrong with a value that has to be of a type, and of one of its alternatives."""
        listed = sibling_fields | frozenset(_listed(kind))
        own = yield from self._plain(value, replace(kind, any_of=()), listed)
        if any(not fault.at and fault.code != "check.missing_argument" for fault in own):
            return own
        sibling_fields |= {f.name for f in kind.fields}
        tries = []
        for alternative in kind.any_of:
            faults = yield value, alternative, sibling_fields
            tries.append(faults or ())
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
        candidates = [
            (alternative, faults)
            for alternative, faults in zip(kind.any_of, tries, strict=True)
            if problem(value, alternative, texts=self.texts) is None
        ]
        plausible = [faults for alternative, faults in candidates if not self._denies(value, alternative)]
        plausible = plausible or [faults for _, faults in candidates]
        least = min(map(len, plausible))
        closest = list(dict.fromkeys(faults for faults in plausible if len(faults) == least))
        if len(closest) == 1:
            return closest[0]
        descriptions = [_told(faults) for faults in closest[:_TOLD]]
        more = " or …" if len(closest) > _TOLD else ""
        codes = {fault.code for faults in closest for fault in faults}
        code = codes.pop() if len(codes) == 1 else "check.wrong_type"
        return (
            Wrong((), code, f"fits none of {len(tries)} alternatives: {' or '.join(descriptions)}{more}"),
        )

    def _denies(self, value: Value, kind: Type) -> bool:
        """Whether a field tells that another alternative is meant: it has another value than the only one."""
        return isinstance(value, dict) and any(
            member.type.enum is not None
            and len(member.type.enum) == 1
            and member.name in value
            and not isinstance(value[member.name], (Ref, Unresolved, Template))
            and value[member.name] not in self.holes
            and problem(value[member.name], member.type, texts=self.texts) is not None
            for member in kind.unfolded.fields
        )


def _listed(kind: Type) -> Iterator[str]:
    """The fields that any of the alternatives lists."""
    for alternative in kind.unfolded.any_of:
        yield from (f.name for f in alternative.unfolded.fields)
        yield from _listed(alternative)


def _no_text(kind: Type) -> Wrong:
    return Wrong((), "check.wrong_type", f"expected {kind}, found a text with a reference in it")


def _no_field(key: str, kind: Type, sibling_fields: frozenset[str]) -> Wrong:
    takes = ", ".join(dict.fromkeys((*(f.name for f in kind.fields), *sorted(sibling_fields)))) or "none"
    text = f"there is no field {key[:_SHOWN]!r}; the fields are {takes}"
    return Wrong((key,), "check.unknown_argument", text)


def _told(faults: _All) -> str:
    """What is wrong with one alternative, in a part of a sentence."""
    messages = [
        f"{where('', fault.at)}: {fault.text}" if fault.at else fault.text for fault in faults[:_TOLD]
    ]
    return shortened(", ".join(messages), _LONG) + (", …" if len(faults) > _TOLD else "")


def where(name: str, path: Path) -> str:
    """A way into a value, for people.

    >>> where("legs", (0, "date"))
    'legs[0].date'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return (name + "".join(steps)).removeprefix(".")
