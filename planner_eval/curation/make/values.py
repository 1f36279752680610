"""Values for parameters: from a catalog or out of a simulated world, and which are worth asking for."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from planner_eval.base.dates import day_of
from planner_eval.catalogs.catalog import Parameter, Tool, Type
from planner_eval.catalogs.values import Parts
from planner_eval.curation.make.graph import words_of
from planner_eval.execution.worlds.database import quoted, select, typed, untyped
from planner_eval.execution.worlds.definition import Api, Argument, CallError, Column
from planner_eval.execution.worlds.generic import is_filler
from planner_eval.execution.worlds.world import World
from planner_eval.plan.linking import plan_of
from planner_eval.plan.model import Call, Plan, Ref, Value

# ----------------------------------------------------------------------
# What makes a call's value worth asking for, and whether anything depends on it.
LEAST, MOST = 1e-6, 1e9
"""The numbers between which a value is one that a person might ask for."""


def worthless(value: Any, inputs: Sequence[Any]) -> str | None:
    """Why a value is not worth asking for; None where it is.

    Args:
        value: What a call gives: worth something if anything in it is.
        inputs: What is known already.

    >>> worthless({"peak": float("inf"), "of": "Oslo"}, ())
    'a number is infinite or none'
    >>> worthless([0, " ", None], ()), worthless([3, 4], [[3, 4]])
    ('a call gives nothing', 'a call gives what is known already')
    """
    if not finite(value):
        return "a number is infinite or none"
    if isinstance(value, (list, dict)):
        if all(_scalar(leaf) is not None for leaf in _leaves(value)):
            return "a call gives nothing"
    elif (why := _scalar(value)) is not None:
        return why
    if not isinstance(value, bool) and any(_alike(value, known_value) for known_value in inputs):
        return "a call gives what is known already"
    return None


def _scalar(value: Any) -> str | None:
    """Why a single value is not worth asking for."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        if value in (0, 1, -1):
            return "a number is 0 or 1"
        return None if LEAST <= abs(value) <= MOST else "a number is out of all proportion"
    return None if isinstance(value, str) and value.strip() else "a call gives nothing"


def finite(value: Any) -> bool:
    """Whether every number in a value is one that JSON can hold.

    >>> finite({"a": [1, 2.5]}), finite({"a": [float("nan")]})
    (True, False)
    """
    return all(not isinstance(leaf, float) or math.isfinite(leaf) for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    """What lists and objects hold that is neither, whatever it is and however deep."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, (list, tuple)):
            waiting += item
        else:
            yield item


def _alike(value: Any, other: Any) -> bool:
    """Whether two values are the same to whoever asks: a flag tells nothing of a number."""
    if isinstance(other, bool) or not isinstance(other, (int, float, str, list, dict)):
        return False
    return not differs(value, other)


def differs(left: Any, right: Any) -> bool:
    """Whether two values are more than roundings apart, in all that they hold.

    >>> differs([0.1 + 0.2], [0.3]), differs({"a": 1}, {"a": True})
    (False, True)
    """
    if isinstance(left, list) and isinstance(right, list):
        return len(left) != len(right) or any(map(differs, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() != right.keys() or any(differs(left[key], right[key]) for key in left)
    if (
        isinstance(left, (int, float))
        and isinstance(right, (int, float))
        and bool not in (type(left), type(right))
    ):
        return not math.isclose(left, right, rel_tol=1e-9)
    return type(left) is not type(right) or bool(left != right)


class Replaced(NamedTuple):
    """A part of a plan, and where the calls of the whole stand in it."""

    plan: Plan
    places: Mapping[int, int]


def replaced(plan: Plan, needs: Sequence[frozenset[int]], index: int, value: Any) -> Replaced:
    """What depends on a call, its result replaced."""
    tainted = {index}
    for later in range(index + 1, len(plan)):
        if needs[later] & tainted:
            tainted.add(later)
    retained = sorted(
        {*tainted, *(p for descendant in tainted - {index} for p in _ancestors(needs, descendant))} - {index}
    )
    new_positions = {old: new for new, old in enumerate(retained)}

    def written(argument: Value) -> Value:
        if not isinstance(argument, Ref):
            return argument
        return value if argument.call == index else Ref(new_positions[argument.call], argument.path)

    calls = [
        Call(
            call.id,
            call.name,
            tuple((name, written(argument)) for name, argument in call.arguments),
            call.app,
            call.returns,
        )
        for call in (plan.calls[old] for old in retained)
    ]
    return Replaced(plan_of(calls), new_positions)


def _ancestors(needs: Sequence[frozenset[int]], index: int) -> set[int]:
    ancestors: set[int] = set()
    waiting = [*needs[index]]
    while waiting:
        producer = waiting.pop()
        if producer not in ancestors:
            ancestors.add(producer)
            waiting += needs[producer]
    return ancestors


# ----------------------------------------------------------------------
# Values for parameters, from what a catalog says of them: choices, defaults, examples, limits, formats.
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


# ----------------------------------------------------------------------
# Values out of a simulated world: what is asked for exists there, and what belongs together stays so.
_ROWS = 200
"""Rows among which one is chosen."""

_LISTED = re.compile(r":(\w+) IN \(((?:'[^']*'(?:, *)?)+)\)")


def asked(
    world: World, api: Api, fixed: Mapping[str, Any], names: frozenset[str], random: Random
) -> dict[str, Any]:
    """Arguments of one call: those that are fixed, and for the others what some row holds.

    Args:
        world: The world, in which the call is to find something.
        api: What is called.
        fixed: Arguments that are settled, as a plan writes them.
        names: The further arguments that need a value.
        random: Where chance comes from.

    Returns:
        A value for each that is wanted, as a plan writes it with types; :data:`.values.NOTHING` where the
        world does not say what there is.
    """
    row = _row(world, api, fixed, random)
    return {
        argument.name: _world_value(world, api, argument, row, random)
        for argument in api.arguments
        if argument.name in names and argument.name not in fixed
    }


def _row(world: World, api: Api, fixed: Mapping[str, Any], random: Random) -> Mapping[str, Any]:
    """A row that the call could be about; {} where it reads none, or none is left."""
    table = world.definition.tables.get(api.reads or "")
    if table is None:
        return {}
    kinds = {argument.name: argument.type for argument in api.arguments}
    conditions, values = [], {}
    for match in api.matches:
        if match.argument in fixed and match.op == "=":
            with suppress(CallError):
                values[match.argument] = typed(match.argument, fixed[match.argument], kinds[match.argument])
                conditions.append(f"{quoted(match.column)} = :{match.argument}")
    rows = select(world.connection, table, where=conditions, values=values, limit=_ROWS)
    return random.choice(rows) if rows else {}


def _world_value(world: World, api: Api, argument: Argument, row: Mapping[str, Any], random: Random) -> Any:
    column = next((match.column for match in api.matches if match.argument == argument.name), None)
    table = world.definition.tables.get(api.reads or api.adds or "")
    named = table.column(column or argument.name) if table else None
    if named is not None and is_filler(named):
        return NOTHING
    stored = row.get(column) if column else None
    if stored is None:
        stored = _elsewhere(world, api, argument, random)
    if stored is None:
        return NOTHING
    value = untyped(stored, argument.type)
    return value if value not in ("", [], {}) else NOTHING


def _elsewhere(world: World, api: Api, argument: Argument, random: Random) -> Any:
    """A value that no row of the table holds which the call reads."""
    for name, sources in api.known:
        if name == argument.name:
            return world.held(*random.choice(sources), random)
    for name, choices in (match.groups() for text, _ in api.requires for match in _LISTED.finditer(text)):
        if name == argument.name:
            return random.choice(re.findall(r"'([^']*)'", choices))
    for table_name in (api.adds, api.reads):
        table = world.definition.tables.get(table_name or "")
        column = table.column(argument.name) if table else None
        if column is not None and column.maker.kind:
            value = world.making.value(column, {}, random)
            if value is not None:
                return value
    return _of_type(world, argument, random)


def _of_type(world: World, argument: Argument, random: Random) -> Any:
    """A value of which nothing but the type and the name is known."""
    kind = argument.type
    if kind == "date":
        return (
            date.fromisoformat(world.definition.today) + timedelta(days=random.randint(1, 12))
        ).isoformat()
    if kind == "time":
        return f"{random.randrange(8, 21):02d}:{random.randrange(0, 60, 15):02d}"
    if kind == "boolean":
        return random.randrange(2)
    if kind == "integer":
        return random.randint(1, 4)
    if kind == "number":
        return random.randint(4, 60) * 5
    same = [
        (table.name, column.name)
        for table in world.definition.tables.values()
        for column in table.columns
        if column.name == argument.name and _made(column)
    ]
    return world.held(*random.choice(same), random) if same else None


def _made(column: Column) -> bool:
    return bool(column.maker.kind)
