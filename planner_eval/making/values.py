"""Values for parameters, from what a catalog says of them: choices, defaults, examples, limits, formats."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from random import Random
from typing import Any
from uuid import UUID

from planner_eval.base.days import day_of
from planner_eval.catalogs.catalog import Parameter, Tool, Type
from planner_eval.catalogs.parts import Parts
from planner_eval.making.graph import words_of
from planner_eval.making.worth import finite

NOTHING = object()
"""No value could be made."""

_FIRST_DAY = date(2027, 1, 4)

_PLACES = (
    "Lisbon", "Oslo", "Kyoto", "Nairobi", "Quito", "Dublin", "Porto", "Bergen", "Lyon", "Graz", "Denver",
)  # fmt: skip
_COUNTRIES = ("Portugal", "Norway", "Japan", "Kenya", "Ecuador", "Ireland", "France", "Austria")
_PEOPLE = (
    "Ada Becker", "Bruno Castillo", "Chioma Dubois", "Elif Eriksen", "Farid Gallo", "Hana Ito", "Mara Novak",
)  # fmt: skip
_PLAIN = (
    "amber falcon", "blue lantern", "copper river", "golden willow", "hidden summit", "quiet harbor",
    "silver orchid", "velvet comet", "northern beacon", "little meadow",
)  # fmt: skip
_WHO = ("person", "customer", "guest", "user", "author", "contact", "receiver", "recipient")

_NAMED: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("city", "town", "place", "location", "destination", "origin"), _PLACES),
    **dict.fromkeys(("country", "nation"), _COUNTRIES),
    **dict.fromkeys(_WHO, _PEOPLE),
    "currency": ("EUR", "USD", "JPY", "GBP", "CHF", "NOK", "CAD"),
    "language": ("English", "Norwegian", "Japanese", "Portuguese", "French", "Swahili"),
    "email": tuple(f"{name.split()[0].lower()}@example.org" for name in _PEOPLE),
    "url": tuple(f"https://example.org/{word.replace(' ', '-')}" for word in _PLAIN),
    "colour": ("red", "green", "blue", "amber", "violet"),
    "color": ("red", "green", "blue", "amber", "violet"),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
}  # fmt: skip
"""Texts for parameters of which nothing but the name is known, by a word of it."""

_CODES = frozenset({"id", "ids", "code", "number", "no", "key", "reference", "pin", "token"})

EXAMPLES = 0.6
"""How often an example or default of the catalog is taken where another value could be."""

_DEEPEST = 4
LONGEST = 2_000
"""Characters of a text that is made, at most."""


def literal(tool: Tool, parameter: Parameter, random: Random, *, texts: bool = False) -> Any:
    """A value for a parameter that the catalog allows, or :data:`NOTHING`.

    Args:
        tool: The tool.
        parameter: Its parameter.
        random: Where chance comes from.
        texts: Whether the catalog's literals are written as text.

    >>> whole = Parameter("n", Type(("integer",), minimum=4, maximum=4))
    >>> literal(Tool("f", parameters=(whole,)), whole, Random(0))
    4
    """
    examples = told_of(tool, parameter)
    for _ in range(8):
        value = _value(parameter.name, parameter.type, examples, random, 0)
        if value is NOTHING:
            return NOTHING
        written = as_text(value) if texts else value
        if not any(True for _ in Parts(texts, ()).wrong(written, parameter.type)) and _judged(
            tool, parameter, written, texts
        ):
            return written
    return NOTHING


def as_text(value: Any) -> Any:
    """A scalar as the text that notations without types write.

    >>> as_text(True), as_text(2), as_text([1])
    ('True', '2', [1])
    """
    return str(value) if isinstance(value, (bool, int, float)) else value


def told_of(tool: Tool, parameter: Parameter) -> Sequence[Any]:
    """The examples and the default that a catalog gives of a parameter."""
    examples = []
    fields = (tool.schema or {}).get("properties")
    entry = fields.get(parameter.name) if isinstance(fields, Mapping) else None
    if isinstance(entry, Mapping):
        listed = entry.get("examples")
        examples += listed if isinstance(listed, list) else []
        examples += [entry["example"]] if "example" in entry else []
        examples += [entry["const"]] if "const" in entry else []
    if parameter.has_default and parameter.default is not None:
        examples.append(parameter.default)
    return [example for example in examples if finite(example)]


def _judged(tool: Tool, parameter: Parameter, value: Any, texts: bool) -> bool:
    """Whether what holds the tool's arguments against its schema has nothing against this one."""
    if tool.judge is None:
        return True
    wrong = tool.judge.wrong({parameter.name: value}, texts=texts, holes=())
    return not any(fault.at and fault.at[0] == parameter.name for fault in wrong)


def _value(name: str, kind: Type, examples: Sequence[Any], random: Random, deep: int) -> Any:
    kind = kind.unfolded
    if deep > _DEEPEST:
        return NOTHING
    if kind.enum is not None:
        choices = [choice for choice in kind.enum if choice is not None and choice != ""]
        return random.choice(choices) if choices else NOTHING
    if examples and (random.random() < EXAMPLES or kind.kinds in ((), ("object",))):
        return random.choice(examples)
    if kind.any_of:
        variants = [variant for variant in kind.any_of if variant.unfolded.kinds != ("null",)]
        return _value(name, random.choice(variants), (), random, deep + 1) if variants else NOTHING
    if not kind.kinds:
        return _text(name, kind, random) if deep == 0 else NOTHING
    return _of_kind(name, kind, random, deep)


def _of_kind(name: str, kind: Type, random: Random, deep: int) -> Any:
    kinds = set(kind.kinds)
    if kinds & {"integer", "number"}:
        return _number(kind, random, integer="number" not in kinds)
    if "boolean" in kinds:
        return random.random() < 0.5
    if "string" in kinds:
        return _text(name, kind, random)
    if "array" in kinds:
        return _items(name, kind, random, deep)
    return _fields(kind, random, deep) if "object" in kinds else NOTHING


def _number(kind: Type, random: Random, *, integer: bool) -> Any:
    """A number that a person might say: not large, and away from 0 and 1 where there is room."""
    least = -math.inf if kind.minimum is None else kind.minimum
    most = math.inf if kind.maximum is None else kind.maximum
    low = least if least >= 2 or most < 4 else 2
    if low == -math.inf:
        low = most - 100
    high = min(most, low + random.choice((20, 100, 100, 1000)))
    if not integer and (high - low < 2 or random.random() < 0.25):
        if high - low >= 1:
            return round(random.uniform(low + 0.1, high - 0.1), 1)
        return round(low + (high - low) * random.randint(1, 19) / 20, 4)
    first, last = math.ceil(low), math.floor(high)
    first += kind.exclusive[0] and first == least
    last -= kind.exclusive[1] and last == most
    if first > last:
        return NOTHING
    return random.randint(first, last)


def _text(name: str, kind: Type, random: Random) -> Any:
    text = _formatted(kind.format or "", random) or _telling(words_of(name), random)
    low, high = kind.length
    if high is not None and len(text) > high:
        text = "".join(random.choice(string.ascii_uppercase) for _ in range(high))
    if low is not None and len(text) < low:
        return (
            NOTHING
            if low > LONGEST
            else text + "".join(random.choices(string.ascii_lowercase, k=low - len(text)))
        )
    return text


def _formatted(form: str, random: Random) -> str:
    """A text of a format; "" for none that is known."""
    day = (_FIRST_DAY + timedelta(days=random.randrange(360))).isoformat()
    clock = f"{random.randrange(7, 22):02d}:{random.randrange(0, 60, 15):02d}"
    if form in ("date", "time", "date-time"):
        return {"date": day, "time": clock}.get(form, f"{day}T{clock}:00")
    if form == "uuid":
        return str(UUID(int=random.getrandbits(128), version=4))
    name_kind = {"email": "email", "uri": "url", "url": "url"}.get(form)
    return random.choice(_NAMED[name_kind]) if name_kind else ""


def _telling(words: Sequence[str], random: Random) -> str:
    """A text of which nothing but the parameter's name is known."""
    if words[-1:] in (["date"], ["time"]):
        return _formatted(words[-1], random)
    for word in reversed(words):
        if word in _NAMED:
            return random.choice(_NAMED[word])
    if words and words[-1] in _CODES:
        return f"{words[0][:1].upper()}{random.randrange(1000, 10000)}"
    return random.choice(_PLAIN)


def _items(name: str, kind: Type, random: Random, deep: int) -> Any:
    low, high = kind.size
    least = low if low is not None else 3
    count = random.randint(least, max(least, high if high is not None else least + 2))
    inner = kind.items or Type(("number",))
    items = [_value(name, inner, (), random, deep + 1) for _ in range(min(count, 20))]
    return NOTHING if NOTHING in items else items


def _fields(kind: Type, random: Random, deep: int) -> Any:
    fields = [field for field in kind.fields if field.required or len(kind.fields) < 3]
    values = {field.name: _value(field.name, field.type, (), random, deep + 1) for field in fields}
    return NOTHING if not values or NOTHING in values.values() else values


_PAIRS = (
    ("start", "end"), ("from", "to"), ("check in", "check out"), ("departure", "return"),
    ("pickup", "dropoff"), ("begin", "end"), ("min", "max"),
)  # fmt: skip


def ordered(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of which what ends comes after what begins, by the parameters' names.

    >>> ordered({"start_date": "2027-03-04", "end_date": "2027-03-01", "city": "Oslo"})
    {'start_date': '2027-03-01', 'end_date': '2027-03-04', 'city': 'Oslo'}
    """
    sorted_values = dict(values)
    names_by_words = {" ".join(words_of(name)): name for name in values}
    for first, last in _PAIRS:
        for words, name in names_by_words.items():
            end = names_by_words.get(re.sub(rf"\b{first}\b", last, words, count=1), name)
            start_value, end_value = sorted_values[name], sorted_values[end]
            if end != name and _amounts(start_value, end_value) and start_value > end_value:
                sorted_values[name], sorted_values[end] = end_value, start_value
    return sorted_values


def _amounts(first: Any, second: Any) -> bool:
    """Whether of two values one can come before the other: numbers, or days and times."""
    if isinstance(first, str) and isinstance(second, str):
        return len(first) == len(second) and first[:1].isdigit() and second[:1].isdigit()
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (first, second))


def other(value: Any, kind: Type, random: Random) -> list[Any]:
    """Other values in a value's place, to see whether anything depends on it; never none.

    >>> other(4, Type(("integer",)), Random(0)), other([1, 2], Type(), Random(0))[:2]
    ([5, 19, -13], [[2, 1, 2], [-7, -9]])
    >>> other("9:30", Type(), Random(0)), other("4", Type(), Random(0))[:2], other(None, Type(), Random(0))
    (['09:45'], ['5', '19'], ['amber falcon', 4])
    """
    choices = [choice for choice in kind.unfolded.enum or () if choice != value]
    if choices:
        return random.sample(choices, min(3, len(choices)))
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value * 3 + 7, -2 * value - 5]
    if isinstance(value, str):
        return _other_texts(value)
    if isinstance(value, list) and value:
        changed = [other(item, Type(), random) for item in value]
        return [[*reversed(value), value[-1]], [new[-1] for new in changed], [new[0] for new in changed]]
    if isinstance(value, dict) and value:
        changed_items = {key: other(item, Type(), random) for key, item in value.items()}
        return [{key: new[index] for key, new in changed_items.items()} for index in (0, -1)]
    return [[_PLAIN[0]], [4]] if value == [] else [{"other": 4}] if value == {} else [_PLAIN[0], 4]


def _other_texts(text: str) -> list[str]:
    """Texts of the same sort: days, times, flags and numbers where notations write them as texts."""
    if text in ("True", "False", "true", "false"):
        flipped = "false" if text.casefold() == "true" else "true"
        return [flipped.capitalize() if text[0].isupper() else flipped]
    if (day := day_of(text)) is not None:
        with suppress(OverflowError):  # the last days that there are
            return [(day + timedelta(days=days)).isoformat() for days in (3, 30)]
    if clock := re.fullmatch(r"(\d{1,2}):([0-5]\d)", text):
        minutes = (int(clock[1]) * 60 + int(clock[2]) + 15) % 1440
        return [f"{minutes // 60:02d}:{minutes % 60:02d}"]
    if re.fullmatch(r"-?\d{1,15}", text):
        return [str(new) for new in other(int(text), Type(), Random(0))]
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text):
        return [str(new) for new in other(float(text), Type(), Random(0))]
    return [f"{text} {_PLAIN[0]}", _PLAIN[1] if text != _PLAIN[1] else _PLAIN[2]]
