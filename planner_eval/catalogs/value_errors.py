"""Whether values have a catalog type, and what is wrong with those that have not."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import is_number
from planner_eval.base.frozen import fast_frozen, replace
from planner_eval.base.json_files import decode_field
from planner_eval.base.json_text import RepeatedKeyDict
from planner_eval.base.text import parse_day, shorten
from planner_eval.catalogs.catalog import ANY, Type
from planner_eval.plan.model import Path, Ref, Template, Unresolved, Value

# ----------------------------------------------------------------------
# Whether values have a catalog type, and whether one type's values can serve as another's.
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?", re.ASCII)
_FORMAT_WORDS = {"date": "a date (yyyy-mm-dd)", "time": "a time (hh:mm)", "date-time": "a date and time"}
_KIND_NAMES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    RepeatedKeyDict: "object",
}
_REFERENCE_TYPES = (Ref, Unresolved, Template)


def find_problem(value: Value, kind: Type, *, texts: bool = False) -> tuple[str, str] | None:
    """The first thing wrong with a value itself; what lies inside a list or an object is not looked at.

    Args:
        value: JSON data, possibly with references inside.
        kind: What it should be.
        texts: Whether a text counts as what it reads as (``"4"`` as an integer).

    Returns:
        Code and message, or None.

    >>> find_problem("4", Type(("integer",)), texts=True)
    >>> find_problem("four", Type(("integer",)), texts=True)
    ('check.wrong_type', "expected integer, found string 'four'")
    """
    if kind.again is not None:
        kind = kind.again.type
    if kind.any_of and all(find_problem(value, alternative, texts=texts) for alternative in kind.any_of):
        if len(kind.any_of) == 1:
            return find_problem(value, kind.any_of[0], texts=texts)
        return "check.wrong_type", f"expected {kind}, found {describe_value(value)}"
    read = read_as_kind(value, kind.kinds) if texts else value
    if kind.kinds and not _has_kind(read, kind.kinds):
        plain = Type(kind.kinds, format=kind.format)
        return "check.wrong_type", f"expected {plain}, found {describe_value(value)}"
    if kind.enum is not None and not any(is_same_value(value, option, texts=texts) for option in kind.enum):
        return "check.enum", f"expected {kind}, found {describe_value(value)}"
    if isinstance(read, str) and kind.format in _FORMAT_WORDS and not _has_format(read, kind.format):
        return "check.format", f"expected {_FORMAT_WORDS[kind.format]}, found {describe_value(value)}"
    return _find_limit_problem(read, kind)


def read_as_kind(value: Value, kinds: tuple[str, ...]) -> Value:
    """A text read as one of `kinds`, a number or truth value as the text it is written as.

    A value that reads as none of them stays as it is.

    >>> read_as_kind("True", ("boolean",)), read_as_kind("4.20", ("number",)), read_as_kind(4, ("string",))
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
        read = decode_field(value.strip())
    except ValueError:
        return value
    return read if _has_kind(read, kinds) else value


def is_compatible(output: Type, into: Type, *, texts: bool = False) -> bool:
    """Whether some value of type `output` is also of type `into`.

    >>> (
    ...     is_compatible(Type(("integer",)), Type(("number",))),
    ...     is_compatible(Type(("array",)), Type(("number",)))
    ... )
    (True, False)
    """
    if output.any_of or into.any_of:
        outputs, inputs = output.any_of or (output,), into.any_of or (into,)
        return any(is_compatible(source, target, texts=texts) for source in outputs for target in inputs)
    if output.enum is not None:
        return any(find_problem(value, into, texts=texts) is None for value in output.enum)
    if into.enum is not None and output.kinds:
        return any(find_problem(value, output, texts=texts) is None for value in into.enum)
    shared = _merge_number_kinds(output.kinds) & _merge_number_kinds(into.kinds)
    if not output.kinds or not into.kinds or not shared:
        text = texts and "string" in (*output.kinds, *into.kinds)
        return (
            not output.kinds
            or not into.kinds
            or (text and not {output.format, into.format} & set(_FORMAT_WORDS))
        )
    return _are_parts_compatible(output, into, shared, texts=texts)


def _are_parts_compatible(output: Type, into: Type, shared: set[str], *, texts: bool) -> bool:
    """Whether limits, formats, items and fields fit, where the kinds do."""
    if not _are_limits_compatible(output, into, shared):
        return False
    if shared == {"string"} and output.format in _FORMAT_WORDS and into.format in _FORMAT_WORDS:
        return output.format == into.format or {output.format, into.format} == {"date", "date-time"}
    if shared == {"array"}:  # items at one position, where they have types of their own there
        limits = [most for _, most in (output.size, into.size) if most is not None]
        positions = range(min([max(1, len(output.first), len(into.first)), *limits]))
        return all(is_compatible(output.item(n), into.item(n), texts=texts) for n in positions)
    return shared != {"object"} or _are_fields_compatible(output, into, texts=texts)


def _are_limits_compatible(output: Type, into: Type, shared: set[str]) -> bool:
    """Whether some number, length or size is within the limits of both."""
    if shared == {"number"}:
        lows = [(t.minimum, t.exclusive[0]) for t in (output, into) if t.minimum is not None]
        highs = [(t.maximum, t.exclusive[1]) for t in (output, into) if t.maximum is not None]
        if not lows or not highs:
            return True
        low, low_excluded = max(lows)
        high, high_excluded = min(highs, key=lambda end: (end[0], not end[1]))
        return low < high or (low == high and not (low_excluded or high_excluded))
    if shared not in ({"string"}, {"array"}):
        return True
    ranges = [t.length if shared == {"string"} else t.size for t in (output, into)]
    least, most = (max(low or 0 for low, _ in ranges), [high for _, high in ranges if high is not None])
    return not most or least <= min(most)


def describe_limits(kind: Type, *, every_field: bool = False) -> str:
    """A type in words with its limits, for where two types have the same name.

    Args:
        kind: The type.
        every_field: Name all fields of an object, not only those that it requires.

    >>> describe_limits(Type(("integer",), minimum=5)), describe_limits(Type(("string",), length=(2, 4)))
    ('integer of at least 5', 'string of 2 to 4 characters')
    """
    if kind.any_of:
        return " or ".join(
            describe_limits(alternative, every_field=every_field) for alternative in kind.any_of
        )
    words = [str(kind)]
    if kind.kinds == ("array",) and kind.items is not None and kind.items != ANY and not kind.first:
        words = [f"array of {describe_limits(kind.items, every_field=every_field)}"]
    if kind.minimum is not None:
        words.append(f"{'more than' if kind.exclusive[0] else 'at least'} {kind.minimum:g}")
    if kind.maximum is not None:
        words.append(f"{'less than' if kind.exclusive[1] else 'at most'} {kind.maximum:g}")
    for (least, most), noun in ((kind.length, "characters"), (kind.size, "items")):
        if least is not None or most is not None:
            words.append(_describe_size(least, most, noun))
    names = [member.name for member in kind.fields if member.required or every_field]
    if kind.kinds == ("object",) and (names or every_field):
        return f"object with {', '.join(names) or 'no fields'}"
    return words[0] if len(words) == 1 else f"{words[0]} of {' and '.join(words[1:])}"


def _describe_size(least: int | None, most: int | None, noun: str) -> str:
    if least is not None and most is not None:
        return f"{least} to {most} {noun}"
    size = least if most is None else most
    return f"at {'least' if most is None else 'most'} {size} {noun.removesuffix('s') if size == 1 else noun}"


def find_text_problem(pieces: Sequence[object], into: Type) -> str | None:
    """Why no text of these pieces can be of a type, whatever stands for those that are no text.

    >>> find_text_problem(["room ", None], Type(("string",), length=(None, 2)))
    'expected at most 2 characters, found a text of at least 5'
    >>> find_text_problem(["room ", None], Type(enum=("hall", "room 3"))) is None
    True
    """
    if into.any_of:
        problems = [find_text_problem(pieces, alternative) for alternative in into.any_of]
        return None if None in problems else problems[0]
    length = sum(len(piece) for piece in pieces if isinstance(piece, str))
    most = into.length[1]
    if most is not None and length > most and into.kinds == ("string",):
        return f"expected at most {most} characters, found a text of at least {length}"
    if into.enum is not None and not any(_can_be(str(value), pieces) for value in into.enum):
        text = "".join(piece if isinstance(piece, str) else "…" for piece in pieces)
        return f"expected {into}, found the text {text[:60]!r}"
    return None


def _can_be(text: str, pieces: Sequence[object]) -> bool:
    """Whether a text may be these pieces, where anything may stand for those that are no text.

    >>> _can_be("room 3", ["room ", None]), _can_be("room", ["ro", None, "om", None, "m"])
    (True, False)
    """
    fixed = [""]
    for piece in pieces:
        if isinstance(piece, str):
            fixed[-1] += piece
        else:
            fixed.append("")
    head, *middle = fixed
    if not middle:
        return text == head
    last = middle.pop()
    start, end = len(head), len(text) - len(last)
    if start > end or not text.startswith(head) or not text.endswith(last):
        return False
    for piece in middle:
        start = text.find(piece, start, end) + len(piece)
        if start < len(piece):
            return False
    return True


def _are_fields_compatible(output: Type, into: Type, *, texts: bool) -> bool:
    for member in into.fields:
        inner = output.at((member.name,))
        if inner is None:
            if member.required:
                return False
        elif not is_compatible(inner, member.type, texts=texts):
            return False
    listed = {member.name for member in into.fields}
    further = [member.type for member in output.fields if member.name not in listed]
    if not (output.fields or listed):
        further = [output.others or ANY]
    return all(is_compatible(kind, into.others or ANY, texts=texts) for kind in further)


def _merge_number_kinds(kinds: tuple[str, ...]) -> set[str]:
    """The kinds with integer and number taken as one, for 2.0 may be an integer."""
    return {"number" if kind == "integer" else kind for kind in kinds}


def _has_kind(value: Value, kinds: tuple[str, ...]) -> bool:
    if isinstance(value, _REFERENCE_TYPES):
        return True
    name = _KIND_NAMES.get(type(value), "")
    if name in kinds or (name == "integer" and "number" in kinds):
        return True
    return name == "number" and "integer" in kinds and value.is_integer()


def _has_format(text: str, format: str) -> bool:
    if format == "date":
        return parse_day(text) is not None
    if format == "time":
        return _CLOCK.fullmatch(text) is not None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return parse_day(text[:10]) is not None and text[10:11] in ("", "T", "t", " ")


def _find_limit_problem(value: Value, kind: Type) -> tuple[str, str] | None:
    """What is beyond the limits of a number, a text's length or a list's size."""
    text = None
    if is_number(value):
        low, high = kind.minimum, kind.maximum
        edge = ""
        if low is not None and (value <= low if kind.exclusive[0] else value < low):
            edge = f"{'more than' if kind.exclusive[0] else 'at least'} {low:g}"
        elif high is not None and (value >= high if kind.exclusive[1] else value > high):
            edge = f"{'less than' if kind.exclusive[1] else 'at most'} {high:g}"
        text = f"expected {edge}, found {value!r}" if edge else None
    elif isinstance(value, str):
        text = find_size_problem(len(value), kind.length, "characters")
    elif isinstance(value, list):
        text = find_size_problem(len(value), kind.size, "items")
    return None if text is None else ("check.out_of_range", text)


def find_size_problem(size: int, limits: tuple[int | None, int | None], noun: str) -> str | None:
    """That there are too few or too many of something.

    >>> find_size_problem(3, (None, 2), "items")
    'expected 0 to 2 items, found 3'
    """
    least, most = limits
    if (least is None or size >= least) and (most is None or size <= most):
        return None
    if most is None:
        return f"expected at least {least} {noun.removesuffix('s') if least == 1 else noun}, found {size}"
    return f"expected {most if least == most else f'{least or 0} to {most}'} {noun}, found {size}"


def is_same_value(value: Value, allowed: Value, *, texts: bool) -> bool:
    """JSON equality: 1 equals 1.0, True does not equal 1; as texts, 1 equals "1".

    >>> (
    ...     is_same_value(1.0, 1, texts=False), is_same_value(True, 1, texts=False),
    ...     is_same_value(1, "1", texts=True)
    ... )
    (True, False, True)
    """
    if isinstance(value, bool) or isinstance(allowed, bool):
        return value is allowed or (texts and str(value).lower() == str(allowed).lower())
    return bool(value == allowed) or (texts and str(value) == str(allowed))


def describe_value(value: Value) -> str:
    """A value with its kind, for people, cut where it is long.

    >>> describe_value("CNY"), describe_value(None)
    ("string 'CNY'", 'null')
    """
    name = _KIND_NAMES.get(type(value), type(value).__name__)
    return name if value is None else f"{name} {value!r:.60}"


# ----------------------------------------------------------------------
# What is wrong with a value and with all that lies inside it, given the type that it should have.
_MAX_SHOWN_CHARS = 60
_MAX_LISTED = 3
_MAX_DESCRIPTION_CHARS = 240
"""Characters of what is wrong with one alternative: it quotes its own alternatives, each of them theirs."""
_NO_FIELDS: frozenset[str] = frozenset()


class Fault(NamedTuple):
    """One thing that is wrong: where in the value, the finding's code, what to say, the field meant."""

    at: Path
    code: str
    text: str
    name: str | None = None


_Faults: TypeAlias = tuple[Fault, ...]
_Request: TypeAlias = tuple[Value, Type, frozenset[str]]
_Steps: TypeAlias = Generator[_Request, _Faults, _Faults]


@fast_frozen
class ValueChecker:
    """Holds values against types, each part of a value once against each type.

    The values and the types have to live as long as this does.

    Args:
        texts: Whether a text counts as what it reads as (``"4"`` as an integer).
        holes: Literals that stand for a value still unknown.

    >>> from planner_eval.catalogs.catalog import Parameter
    >>> number, text = Type(("integer",)), Type(("string",))
    >>> point = Type(("object",), fields=(Parameter("x", number),), open=False)
    >>> [wrong.text for wrong in ValueChecker().wrong({"y": 1}, Type(any_of=(point, text)))]
    ["there is no field 'y'; the fields are x", "the field 'x' is required"]
    """

    texts: bool = False
    holes: tuple[str, ...] = ()
    _known: dict[tuple[int, int, frozenset[str]], _Faults] = field(
        default_factory=dict, init=False, repr=False
    )

    def wrong(self, value: Value, kind: Type) -> _Faults:
        """Everything that is wrong with the literal parts of a value; references are not looked at.

        Args:
            value: JSON data, possibly with references inside.
            kind: What it should be.
        """
        steps: list[_Steps] = []
        result: Any = self._begin(value, kind, _NO_FIELDS)
        while steps or type(result) is not tuple:  # Python's own stack does not hold what values nest
            if type(result) is not tuple:
                steps.append(result)
                result = None
            try:
                result = self._begin(*steps[-1].send(result))
            except StopIteration as stop:
                result = stop.value
                steps.pop()
        return result

    def _begin(self, value: Value, kind: Type, sibling_fields: frozenset[str]) -> _Faults | _Steps:
        """What is wrong with a value, or the steps that ask for what is wrong with its parts.

        Args:
            value: The value.
            kind: What it should be.
            sibling_fields: The fields that other types list, which the value has to be of as well.
        """
        if isinstance(value, (Ref, Unresolved)) or (type(value) is str and value in self.holes):
            return ()
        if kind.again is not None:
            kind = kind.again.type
        if kind.any_of:
            stored = self._known.get((id(value), id(kind), sibling_fields))
            return self._either(value, kind, sibling_fields) if stored is None else stored
        if type(value) is dict and kind.kinds == ("object",) and kind.enum is None:
            return self._fields(value, kind, sibling_fields)
        if isinstance(value, Template):
            wrong = not self.texts and kind.kinds and "string" not in kind.kinds
            return (_template_fault(kind),) if wrong else ()
        problem = find_problem(value, kind, texts=self.texts)
        if problem is not None:
            return (Fault((), *problem),)
        if isinstance(value, list):
            return self._items(value, kind)
        return self._fields(value, kind, sibling_fields) if isinstance(value, dict) else ()

    def _items(self, items: list[Value], kind: Type) -> _Steps:
        faults: list[Fault] = []
        for position, item in enumerate(items):
            inside = yield item, kind.item(position), _NO_FIELDS
            faults += [fault._replace(at=(position, *fault.at)) for fault in inside]
        return tuple(faults)

    def _fields(self, value: dict[str, Value], kind: Type, sibling_fields: frozenset[str]) -> _Steps:
        faults: list[Fault] = []
        types = {member.name: member.type for member in kind.fields}
        unlisted = (kind.others or ANY) if kind.open else None
        for key, item in value.items():
            inner = types.get(key, unlisted)
            if inner is not None:
                inside = yield item, inner, _NO_FIELDS
                faults += [fault._replace(at=(key, *fault.at)) for fault in inside]
            elif key not in sibling_fields:
                takes = ", ".join(dict.fromkeys((*types, *sorted(sibling_fields)))) or "none"
                text = f"there is no field {key[:_MAX_SHOWN_CHARS]!r}; the fields are {takes}"
                faults.append(Fault((key,), "check.unknown_argument", text, key))
        for member in kind.fields:
            if member.required and member.name not in value:
                text = f"the field {member.name!r} is required"
                faults.append(Fault((), "check.missing_argument", text, member.name))
        return tuple(faults)

    def _either(self, value: Value, kind: Type, sibling_fields: frozenset[str]) -> _Steps:
        """What is wrong with a value that has to be of a type, and of one of its alternatives."""
        key = (id(value), id(kind), sibling_fields)
        listed = sibling_fields | frozenset(_listed_fields(kind))
        faults = yield value, replace(kind, any_of=()), listed
        if not any(not fault.at and fault.code != "check.missing_argument" for fault in faults):
            sibling_fields |= {f.name for f in kind.fields}
            tries = []
            for alternative in kind.any_of:
                tries.append((yield value, alternative, sibling_fields))
            if all(tries):
                faults = tuple(dict.fromkeys((*faults, *self.closest(value, kind, tries))))
        self._known[key] = faults
        return faults

    def closest(self, value: Value, kind: Type, tries: list[_Faults]) -> _Faults:
        """What to say of a value that is of none of the alternatives.

        Args:
            value: The value.
            kind: The type with the alternatives.
            tries: What is wrong with the value as each of them.
        """
        if isinstance(value, Template):
            return (_template_fault(kind),)
        candidates = [
            (alternative, faults)
            for alternative, faults in zip(kind.any_of, tries, strict=True)
            if find_problem(value, Type(alternative.unfolded.kinds), texts=self.texts) is None
        ]
        top = find_problem(value, Type(any_of=kind.any_of), texts=self.texts)
        if top is not None and not candidates:
            return (Fault((), *top),)
        plausible = [faults for alternative, faults in candidates if not self._denies(value, alternative)]
        plausible = plausible or [faults for _, faults in candidates]
        least = min(map(len, plausible))
        closest = list(dict.fromkeys(faults for faults in plausible if len(faults) == least))
        if len(closest) == 1:
            return closest[0]
        descriptions = [_describe_faults(faults) for faults in closest[:_MAX_LISTED]]
        more = " or …" if len(closest) > _MAX_LISTED else ""
        codes = {fault.code for faults in closest for fault in faults}
        code = codes.pop() if len(codes) == 1 else "check.wrong_type"
        return (
            Fault((), code, f"fits none of {len(tries)} alternatives: {' or '.join(descriptions)}{more}"),
        )

    def _denies(self, value: Value, kind: Type) -> bool:
        """Whether a field tells that another alternative is meant: it has another value than the only one."""
        return isinstance(value, dict) and any(
            member.type.enum is not None
            and len(member.type.enum) == 1
            and member.name in value
            and not isinstance(value[member.name], (Ref, Unresolved, Template))
            and value[member.name] not in self.holes
            and find_problem(value[member.name], member.type, texts=self.texts) is not None
            for member in kind.unfolded.fields
        )


def _listed_fields(kind: Type) -> Iterator[str]:
    """The fields that any of the alternatives lists."""
    for alternative in kind.unfolded.any_of:
        yield from (f.name for f in alternative.unfolded.fields)
        yield from _listed_fields(alternative)


def _template_fault(kind: Type) -> Fault:
    return Fault((), "check.wrong_type", f"expected {kind}, found a text containing a reference")


def _describe_faults(faults: _Faults) -> str:
    """What is wrong with one alternative, in a part of a sentence."""
    messages = [
        f"{format_path('', fault.at)}: {fault.text}" if fault.at else fault.text
        for fault in faults[:_MAX_LISTED]
    ]
    return shorten(", ".join(messages), _MAX_DESCRIPTION_CHARS) + (", …" if len(faults) > _MAX_LISTED else "")


def format_path(name: str, path: Path) -> str:
    """A way into a value, for people.

    >>> format_path("legs", (0, "date"))
    'legs[0].date'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return (name + "".join(steps)).removeprefix(".")
