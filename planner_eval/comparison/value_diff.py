"""Where two values differ, and how."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import isclose
from typing import Any

from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.plan.canonical import OWN, value_key
from planner_eval.plan.model import Path, Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds

_LINKED = (Ref, Unresolved, Template)


class ValueDiff:
    """Values of two plans side by side.

    Args:
        to_gold: The partner of each call of the prediction; negative for none.
    """

    def __init__(self, to_gold: Sequence[int]) -> None:
        self.images: list[Any] = [*to_gold]

    def walk(self, ours: Value, theirs: Value, at: Path) -> Iterator[tuple[Path, str, Value, Value]]:
        """(place, code, pred's value, gold's value) of each difference between two values."""
        kind = type(ours)
        if kind is Ref or kind is Unresolved or type(theirs) in (Ref, Unresolved):
            code = self.reference(ours, theirs)
            if code:
                yield at, code, ours, theirs
        elif kind is not type(theirs):
            if not self.alike(ours, theirs):
                yield at, other_kind(ours, theirs), ours, theirs
        elif kind is list and len(ours) == len(theirs) and not self.shuffled(ours, theirs):
            for position, (one, other) in enumerate(zip(ours, theirs, strict=True)):
                yield from self.walk(one, other, (*at, position))
        elif kind is Template and _same_texts(ours, theirs):
            for position, (one, other) in enumerate(zip(ours.parts, theirs.parts, strict=True)):
                yield from self.walk(one, other, (*at, position))
        elif kind is dict:
            yield from self.fields(ours, theirs, at)
        elif not self.alike(ours, theirs):
            yield at, "argument.value", ours, theirs

    def shuffled(self, ours: Value, theirs: Value) -> bool:
        """Whether two values are lists of the same literals in another order."""
        if type(ours) is not list or type(theirs) is not list or len(ours) != len(theirs):
            return False
        one, other = (
            Counter(value_key(item, OWN) for item in ours),
            Counter(value_key(item, OWN) for item in theirs),
        )
        return one == other and not holds(ours, _LINKED) and not self.alike(ours, theirs)

    def fields(
        self, ours: dict[str, Value], theirs: dict[str, Value], at: Path
    ) -> Iterator[tuple[Path, str, Value, Value]]:
        """:meth:`walk` for two objects; a field that one of them lacks is MISSING there."""
        for key in (*theirs, *(key for key in ours if key not in theirs)):
            if key in ours and key in theirs:
                yield from self.walk(ours[key], theirs[key], (*at, key))
            else:
                yield (*at, key), "argument.value", ours.get(key, MISSING), theirs.get(key, MISSING)

    def alike(self, ours: Value, theirs: Value) -> bool:
        """Whether two values mean the same."""
        return bool(value_key(ours, self.images) == value_key(theirs, OWN))

    def reference(self, ours: Value, theirs: Value) -> str | None:
        """The code of the difference where at least one side is a reference; None for none."""
        if type(ours) is Unresolved:
            return None if ours == theirs else "reference.unresolved"
        if type(theirs) is Unresolved:
            return "reference.producer" if type(ours) is Ref else "reference.literal"
        if type(ours) is Ref and type(theirs) is Ref:
            if self.images[ours.call] != theirs.call:
                return "reference.producer"
            return None if ours.path == theirs.path else "reference.output"
        if type(theirs) is Ref:
            return "argument.value" if holds(ours, Ref) else "reference.literal"
        return "argument.value" if holds(theirs, Ref) else "reference.unwanted"


_TYPES = {str: "text", int: "number", float: "number", bool: "boolean", list: "list", dict: "object"}

_ENUMERATED = re.compile(r"\s*[,;]\s*")


def kind_name(value: Value) -> str | None:
    """What a literal is: ``text``, ``number``, ``boolean``, ``list`` or ``object``; None for null."""
    return _TYPES.get(type(value))


def other_kind(ours: Value, theirs: Value) -> str:
    """The code for two values of different Python types: numbers are one type, and null fits any."""
    one, other = kind_name(ours), kind_name(theirs)
    return "argument.type" if one and other and one != other else "argument.value"


def other_type(ours: Value, theirs: Value) -> str | None:
    """What two values are that say the same in two types; None for others.

    >>> other_type(500, "500"), other_type(["a"], "a"), other_type(500, "501"), other_type("a, b", ["a", "b"])
    ('number for text', 'list for text', None, 'text for list')
    """
    kinds = kind_name(ours), kind_name(theirs)
    if None in kinds or "object" in kinds or kinds[0] == kinds[1] or _bare(ours) != _bare(theirs):
        return None
    return f"{kinds[0]} for {kinds[1]}"


def other_writing(ours: Value, theirs: Value) -> str | None:
    """How two texts differ that say the same in other signs, or a rate and its per cent; None for others.

    >>> other_writing("Rome", "rome"), other_writing("2024/05/01", "2024-05-01"), other_writing("a", "b")
    ('letter case', 'date written otherwise', None)
    >>> other_writing(3.5, 0.035), other_writing(0.4, 40), other_writing(100, 1)
    ('per cent for fraction', 'fraction for per cent', None)
    >>> other_writing("<Rome>", "Rome"), other_writing("Rome", "'Rome'"), other_writing("<Rome>", "[Bari]")
    ('brackets or quotes', 'brackets or quotes', None)
    """
    if type(ours) is not str or type(theirs) is not str:
        return _hundredfold(ours, theirs)
    if ours.casefold() == theirs.casefold():
        return "letter case"
    if _unwrapped(ours) == _unwrapped(theirs) != "":
        return "brackets or quotes"
    if not any(map(str.isdecimal, ours)) or not any(map(str.isdecimal, theirs)):
        return None
    from planner_eval.policy.dates import dates, moment, readings

    moments = moment(ours), moment(theirs)
    if moments[0] is not None and moments[0] == moments[1]:
        return "date written otherwise" if moments[0][0] else "time written otherwise"
    if dates(ours) == dates(theirs):
        return "date written otherwise"
    days = readings(ours), readings(theirs)
    sure = min(map(len, days)) == 1  # of two that can be read in two ways nobody knows
    return "date written otherwise" if sure and days[0] & days[1] else None


_LAYERS = 4
"""So many pairs of brackets or quotes around a text are looked through."""

_AROUND = ("<>", "[]", "{}", "‹›", "«»", "“”", "‘’", '""', "''", "``")


def _unwrapped(text: str) -> str:
    """A text without the brackets or quotes that stand around all of it."""
    text = text.strip()
    for _ in range(_LAYERS):
        if len(text) < 2 or text[0] + text[-1] not in _AROUND:
            break
        text = text[1:-1].strip()
    return text


def _hundredfold(ours: Value, theirs: Value) -> str | None:
    """What a rate is written as that is a hundred times the other; None for other values."""
    if type(ours) not in (int, float) or type(theirs) not in (int, float):
        return None
    names = "per cent for fraction", "fraction for per cent"
    for name, per_cent, fraction in zip(names, (ours, theirs), (theirs, ours), strict=True):
        if 0 < fraction < 1 and isclose(per_cent, 100 * fraction):
            return name
    return None


def _bare(value: Any) -> Any:
    """A value without its type: a number as it is, texts by the number that they hold, items one by one."""
    if isinstance(value, list):
        items = [_bare(item) for item in value]
        return items[0] if len(items) == 1 else items
    try:
        text = str(value).strip().lower()
    except ValueError:  # a number of thousands of digits
        return value
    try:
        return float(text)
    except ValueError:
        pass
    if isinstance(value, str) and _ENUMERATED.search(text):
        return [_bare(item) for item in _ENUMERATED.split(text.removeprefix("[").removesuffix("]"))]
    return text


def _same_texts(ours: Template, theirs: Template) -> bool:
    def texts(template: Template) -> list[str | None]:
        return [part if isinstance(part, str) else None for part in template.parts]

    return texts(ours) == texts(theirs)
