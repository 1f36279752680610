"""Whether values have a catalog type, and whether one type's values can serve as another's."""

from __future__ import annotations

import re
from datetime import datetime

from planner_eval.base.days import day_of
from planner_eval.base.jsonfile import value_of
from planner_eval.base.jsontext import Repeated
from planner_eval.catalogs.catalog import Type
from planner_eval.plan.model import Ref, Template, Unresolved, Value

_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?", re.ASCII)
_FORMATS = {"date": "a date (yyyy-mm-dd)", "time": "a time (hh:mm)", "date-time": "a date and time"}
_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    Repeated: "object",
}
_REFERENCES = (Ref, Unresolved, Template)


def problem(value: Value, kind: Type, *, texts: bool = False) -> tuple[str, str] | None:
    """The first thing wrong with a value itself; what lies inside a list or an object is not looked at.

    Args:
        value: JSON data, possibly with references inside.
        kind: What it should be.
        texts: Whether a text counts as what it reads as (``"4"`` as an integer).

    Returns:
        Code and message, or None.

    >>> problem("4", Type(("integer",)), texts=True)
    >>> problem("four", Type(("integer",)), texts=True)
    ('check.wrong_type', "expected integer, found string 'four'")
    """
    kind = kind.unfolded
    if kind.any_of and all(problem(value, alternative, texts=texts) for alternative in kind.any_of):
        if len(kind.any_of) == 1:
            return problem(value, kind.any_of[0], texts=texts)
        return "check.wrong_type", f"expected {kind}, found {shown(value)}"
    read = as_kind(value, kind.kinds) if texts else value
    if kind.kinds and not _has_kind(read, kind.kinds):
        plain = Type(kind.kinds, format=kind.format)
        return "check.wrong_type", f"expected {plain}, found {shown(value)}"
    if kind.enum is not None and not any(same(value, option, texts=texts) for option in kind.enum):
        return "check.enum", f"expected {kind}, found {shown(value)}"
    if isinstance(read, str) and kind.format in _FORMATS and not _has_format(read, kind.format):
        return "check.format", f"expected {_FORMATS[kind.format]}, found {shown(value)}"
    return _outside(read, kind)


def as_kind(value: Value, kinds: tuple[str, ...]) -> Value:
    """A text read as one of `kinds`, a number or truth value as the text it is written as.

    A value that reads as none of them stays as it is.

    >>> as_kind("True", ("boolean",)), as_kind("4.20", ("number",)), as_kind(4, ("string",))
    (True, 4.2, '4')
    """
    if isinstance(value, (int, float)) and "string" in kinds and not _has_kind(value, kinds):
        return str(value)
    if not isinstance(value, str) or not kinds or "string" in kinds or len(value) > 100_000:
        return value
    if "boolean" in kinds and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if "null" in kinds and value.lower() in ("null", "none"):
        return None
    try:
        read = value_of(value.strip())
    except ValueError:
        return value
    return read if _has_kind(read, kinds) else value


def fits(output: Type, into: Type, *, texts: bool = False) -> bool:
    """Whether some value of type `output` is also of type `into`.

    >>> fits(Type(("integer",)), Type(("number",))), fits(Type(("array",)), Type(("number",)))
    (True, False)
    """
    if output.any_of or into.any_of:
        outputs, inputs = output.any_of or (output,), into.any_of or (into,)
        return any(fits(source, target, texts=texts) for source in outputs for target in inputs)
    if output.enum is not None:
        return any(problem(value, into, texts=texts) is None for value in output.enum)
    if into.enum is not None and output.kinds:
        return any(_has_kind(value, output.kinds) or texts for value in into.enum)
    shared = _wider(output.kinds) & _wider(into.kinds)
    if not output.kinds or not into.kinds or not shared:
        text = texts and "string" in (*output.kinds, *into.kinds)
        return (
            not output.kinds or not into.kinds or (text and not {output.format, into.format} & set(_FORMATS))
        )
    return _parts_fit(output, into, shared, texts=texts)


def _parts_fit(output: Type, into: Type, shared: set[str], *, texts: bool) -> bool:
    """Whether formats, items and fields fit, where the kinds do."""
    if shared == {"string"} and output.format in _FORMATS and into.format in _FORMATS:
        return output.format == into.format or "date-time" in (output.format, into.format)
    if shared == {"array"} and output.items is not None and into.items is not None:
        return fits(output.items, into.items, texts=texts)
    return shared != {"object"} or _fields_fit(output, into, texts=texts)


def _fields_fit(output: Type, into: Type, *, texts: bool) -> bool:
    for member in into.fields:
        inner = output.at((member.name,))
        if inner is None:
            if member.required:
                return False
        elif not fits(inner, member.type, texts=texts):
            return False
    return True


def _wider(kinds: tuple[str, ...]) -> set[str]:
    """The kinds with integer and number taken as one, for 2.0 may be an integer."""
    return {"number" if kind == "integer" else kind for kind in kinds}


def _has_kind(value: Value, kinds: tuple[str, ...]) -> bool:
    if isinstance(value, _REFERENCES):
        return True
    name = _NAMES.get(type(value), "")
    if name in kinds or (name == "integer" and "number" in kinds):
        return True
    return name == "number" and "integer" in kinds and value.is_integer()


def _has_format(text: str, format: str) -> bool:
    if format == "date":
        return day_of(text) is not None
    if format == "date-time":
        return day_of(text[:10]) is not None and text[10:11] in ("", "T", "t", " ") and _is_moment(text)
    return _CLOCK.fullmatch(text) is not None


def _is_moment(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _outside(value: Value, kind: Type) -> tuple[str, str] | None:
    """What is beyond the limits of a number, a text's length or a list's size."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = kind.minimum, kind.maximum
        under = low is not None and (value <= low if kind.exclusive[0] else value < low)
        over = high is not None and (value >= high if kind.exclusive[1] else value > high)
        if under or over:
            edge = (
                ("more than " if kind.exclusive[0] else "at least ") + f"{low:g}"
                if under and low is not None
                else ""
            )
            edge = edge or ("less than " if kind.exclusive[1] else "at most ") + f"{high:g}"
            return "check.out_of_range", f"expected {edge}, found {value!r}"
    for size, (least, most), what in (
        (len(value) if isinstance(value, str) else None, kind.length, "characters"),
        (len(value) if isinstance(value, list) else None, kind.size, "items"),
    ):
        if size is not None and ((least is not None and size < least) or (most is not None and size > most)):
            limits = f"{least if least is not None else 0} to {most if most is not None else 'any number of'}"
            return "check.out_of_range", f"expected {limits} {what}, found {size}"
    return None


def same(value: Value, allowed: Value, *, texts: bool) -> bool:
    """JSON equality: 1 equals 1.0, True does not equal 1; as texts, 1 equals "1".

    >>> same(1.0, 1, texts=False), same(True, 1, texts=False), same(1, "1", texts=True)
    (True, False, True)
    """
    if isinstance(value, bool) or isinstance(allowed, bool):
        return value is allowed or (texts and str(value).lower() == str(allowed).lower())
    return bool(value == allowed) or (texts and str(value) == str(allowed))


def shown(value: Value) -> str:
    """A value with its kind, for people, cut where it is long.

    >>> shown("CNY"), shown(None)
    ("string 'CNY'", 'null')
    """
    name = _NAMES.get(type(value), type(value).__name__)
    return name if value is None else f"{name} {value!r:.60}"
