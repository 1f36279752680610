"""Values for parameters: from a catalog or out of a simulated world, and which are worth asking for."""

from __future__ import annotations

import math
import re
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any
from uuid import UUID

from planner_eval.base.resources import read
from planner_eval.base.text import parse_day, words_of_name
from planner_eval.catalogs.catalog import Parameter, Tool, Type
from planner_eval.catalogs.value_errors import ValueChecker
from planner_eval.comparison.policy.values import normalise_number, number_of
from planner_eval.curation.audit.words import TABLES, word_set
from planner_eval.curation.shrink.pairs import items_of
from planner_eval.execution.answers import answers_match
from planner_eval.execution.worlds.database import from_stored_value, quote_name, select, to_stored_value
from planner_eval.execution.worlds.definition import Api, Argument, CallError
from planner_eval.execution.worlds.generic import is_filler
from planner_eval.execution.worlds.world import World
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Plan, Ref, Value, leaves, map_leaves

# ----------------------------------------------------------------------
# What makes a call's value worth asking for, and whether anything depends on it.
MIN_NUMBER, MAX_NUMBER = 1e-6, 1e9
"""The numbers between which a value is one that a person might ask for."""


def describe_worthless_value(value: Any, inputs: Sequence[Any]) -> str | None:
    """Why a value is not worth asking for; None where it is.

    Args:
        value: What a call gives: worth something if anything in it is.
        inputs: What is known already.

    >>> describe_worthless_value({"peak": float("inf"), "of": "Oslo"}, ())
    'a number is infinite or NaN'
    >>> describe_worthless_value([0, " ", None], ()), describe_worthless_value([3, 4], [[3, 4]])
    ('a call returns nothing', 'a call returns what is already known')
    """
    if not is_finite(value):
        return "a number is infinite or NaN"
    if isinstance(value, (list, dict)):
        if all(_describe_worthless_scalar(leaf) is not None for leaf in scalars(value)):
            return "a call returns nothing"
    elif (why := _describe_worthless_scalar(value)) is not None:
        return why
    known_values = [
        other for other in inputs if not isinstance(other, (bool, type(None)))
    ]  # a flag tells nothing
    if not isinstance(value, bool) and not all(is_different(value, other) for other in known_values):
        return "a call returns what is already known"
    return None


def _describe_worthless_scalar(value: Any) -> str | None:
    """Why a single value is not worth asking for."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        if value in (0, 1, -1):
            return "a number is 0 or 1"
        return None if MIN_NUMBER <= abs(value) <= MAX_NUMBER else "a number is out of proportion"
    return None if isinstance(value, str) and value.strip() else "a call returns nothing"


def is_finite(value: Any) -> bool:
    """Whether every number in a value is one that JSON can hold.

    >>> is_finite({"a": [1, 2.5]}), is_finite({"a": [float("nan")]})
    (True, False)
    """
    return all(not isinstance(leaf, float) or math.isfinite(leaf) for leaf in scalars(value))


def scalars(value: Any) -> Iterator[Any]:
    """What lists and objects hold that is neither, in order.

    >>> list(scalars({"a": [1, ["x"]], "b": None}))
    [1, 'x', None]
    """
    return (leaf for _, leaf in leaves(value))


def is_different(left: Any, right: Any) -> bool:
    """Whether two values are more than roundings apart, in all that they hold.

    >>> is_different([0.1 + 0.2], [0.3]), is_different({"a": 1}, {"a": True})
    (False, True)
    """
    return not answers_match(left, right, rounding=False)


def replace_result(plan: Plan, index: int, value: Any) -> Plan:
    r"""A plan whose calls take a value in the place of what a call gives.

    Args:
        plan: The plan.
        index: The call.
        value: What stands in the place of its result.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("a = f()\nb = g(#x=a)\nh(#x=b, #y=a)")
    >>> replace_result(plan, 1, 7).calls[2].arguments
    (('x', 7), ('y', Ref(call=0, path=('a',))))
    """

    def changed(leaf: Value) -> Value:
        return value if isinstance(leaf, Ref) and leaf.call == index else leaf

    return build_plan(
        replace(call, arguments=tuple((name, map_leaves(changed, old)) for name, old in call.arguments))
        for call in plan.calls
    )


# ----------------------------------------------------------------------
# Values for parameters, from what a catalog says of them: choices, defaults, examples, limits, formats.
NO_VALUE = object()
"""No value could be made."""

_FIRST_DAY = date(2027, 1, 4)

_TEXTS: Mapping[str, Any] = tomllib.loads(read("data/made_texts.toml"))
_PLAIN_TEXTS: Sequence[str] = _TEXTS["plain"]
_VALUES_BY_NAME: Mapping[str, Sequence[str]] = {
    word: row["texts"] for row in _TEXTS["named"] for word in row["words"]
}
"""Texts for parameters of which nothing but the name is known, by a word of it."""

_CODE_WORDS = word_set("code_words")

EXAMPLE_RATE = 0.6
"""How often an example or default of the catalog is taken where another value could be."""

_MAX_DEPTH = 4
MAX_TEXT_CHARACTERS = 2_000
"""Characters of a text that is made, at most."""


def draw_literal(tool: Tool, parameter: Parameter, random: Random, *, texts: bool = False) -> Any:
    """A value for a parameter that the catalog allows, or :data:`NO_VALUE`.

    Args:
        tool: The tool.
        parameter: Its parameter.
        random: Where chance comes from.
        texts: Whether the catalog's literals are written as text.

    >>> whole = Parameter("n", Type(("integer",), minimum=4, maximum=4))
    >>> draw_literal(Tool("f", parameters=(whole,)), whole, Random(0))
    4
    """
    examples = catalog_examples(tool, parameter)
    for _ in range(8):
        value = _draw_value(parameter.name, parameter.type, examples, random, 0)
        if value is NO_VALUE:
            return NO_VALUE
        written = as_text(value) if texts else value
        wrong = ValueChecker(texts, ()).wrong(written, parameter.type)
        if not wrong and _is_accepted(tool, parameter, written, texts):
            return written
    return NO_VALUE


def as_text(value: Any) -> Any:
    """A scalar as the text that notations without types write.

    >>> as_text(True), as_text(2), as_text([1])
    ('True', '2', [1])
    """
    return str(value) if isinstance(value, (bool, int, float)) else value


_DESCRIBED_EXAMPLES = re.compile(
    r"(?i)(?:\be\.g\.,?|\bsuch as|\bfor example,?|\bfor instance,?|\bexamples?:)\s*"
    r"(?P<list>(?:['\"`“‘][^'\"`”’\n]{1,80}['\"`”’]|[#\w.@+-]{1,80})"
    r"(?:(?:,| or|, or| and)\s*(?:['\"`“‘][^'\"`”’\n]{1,80}['\"`”’]))*)"
)
"""Examples that a description gives: "such as '#W0000000'", "e.g. sara_doe_496"."""
_QUOTED = re.compile(r"['\"`“‘]([^'\"`”’\n]{1,80})['\"`”’]")


def described_examples(parameter: Parameter) -> list[Any]:
    """The examples that a parameter's description gives in words, of the parameter's type.

    >>> described_examples(Parameter("order", Type(("string",)), description="The id, such as '#W0000000'."))
    ['#W0000000']
    >>> described_examples(Parameter("n", Type(("integer",)), description="How many, e.g. 55"))
    [55]
    """
    match = _DESCRIBED_EXAMPLES.search(parameter.description)
    if match is None:
        return []
    quoted = _QUOTED.findall(match["list"])
    texts = quoted or [match["list"].strip(".,")]
    kinds = set(parameter.type.kinds)
    if not kinds or "string" in kinds:
        plain_word = not quoted and texts[0].isalpha()
        return [] if plain_word else [*texts]  # an unquoted word is the beginning of prose: "e.g. the city"
    if kinds <= {"integer", "number"}:
        numbers = [number for text in texts if isinstance(number := normalise_number(text), (int, float))]
        return [number for number in numbers if "number" in kinds or number == int(number)]
    return []


def catalog_examples(tool: Tool, parameter: Parameter) -> Sequence[Any]:
    """The examples and the default of a parameter, also those in the words of its description."""
    examples = []
    fields = (tool.schema or {}).get("properties")
    entry = fields.get(parameter.name) if isinstance(fields, Mapping) else None
    if isinstance(entry, Mapping):
        listed = entry.get("examples")
        examples += listed if isinstance(listed, list) else []
        examples += [entry["example"]] if "example" in entry else []
        examples += [entry["const"]] if "const" in entry else []
    examples += described_examples(parameter)
    if parameter.has_default and parameter.default is not None:
        examples.append(parameter.default)
    return [example for example in examples if is_finite(example)]


def _is_accepted(tool: Tool, parameter: Parameter, value: Any, texts: bool) -> bool:
    """Whether what holds the tool's arguments against its schema has nothing against this one."""
    if tool.judge is None:
        return True
    wrong = tool.judge.wrong({parameter.name: value}, texts=texts, holes=())
    return not any(fault.at and fault.at[0] == parameter.name for fault in wrong)


def _draw_value(name: str, kind: Type, examples: Sequence[Any], random: Random, deep: int) -> Any:
    kind = kind.unfolded
    if deep > _MAX_DEPTH:
        return NO_VALUE
    if kind.enum is not None:
        choices = [choice for choice in kind.enum if choice is not None and choice != ""]
        return random.choice(choices) if choices else NO_VALUE
    if examples and (random.random() < EXAMPLE_RATE or kind.kinds in ((), ("object",))):
        return random.choice(examples)
    if kind.any_of:
        variants = [variant for variant in kind.any_of if variant.unfolded.kinds != ("null",)]
        return _draw_value(name, random.choice(variants), (), random, deep + 1) if variants else NO_VALUE
    if not kind.kinds:
        return _draw_text(name, kind, random) if deep == 0 else NO_VALUE
    return _draw_of_kind(name, kind, random, deep)


def _draw_of_kind(name: str, kind: Type, random: Random, deep: int) -> Any:
    kinds = set(kind.kinds)
    if kinds & {"integer", "number"}:
        return _draw_number(kind, random, integer="number" not in kinds)
    if "boolean" in kinds:
        return random.random() < 0.5
    if "string" in kinds:
        return _draw_text(name, kind, random)
    if "array" in kinds:
        return _draw_items(name, kind, random, deep)
    return _draw_fields(kind, random, deep) if "object" in kinds else NO_VALUE


def _draw_number(kind: Type, random: Random, *, integer: bool) -> Any:
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
        return NO_VALUE
    return random.randint(first, last)


def _draw_text(name: str, kind: Type, random: Random) -> Any:
    text = _draw_formatted_text(kind.format or "", random) or _draw_named_text(words_of_name(name), random)
    low, high = kind.length
    if high is not None and len(text) > high:
        text = "".join(random.choice(string.ascii_uppercase) for _ in range(high))
    if low is None or len(text) >= low:
        return text
    if low > MAX_TEXT_CHARACTERS:
        return NO_VALUE
    return text + "".join(random.choices(string.ascii_lowercase, k=low - len(text)))


def _draw_formatted_text(form: str, random: Random) -> str:
    """A text of a format; "" for none that is known."""
    day = (_FIRST_DAY + timedelta(days=random.randrange(360))).isoformat()
    clock = f"{random.randrange(7, 22):02d}:{random.randrange(0, 60, 15):02d}"
    if form in ("date", "time", "date-time"):
        return {"date": day, "time": clock}.get(form, f"{day}T{clock}:00")
    if form == "uuid":
        return str(UUID(int=random.getrandbits(128), version=4))
    name_kind = {"email": "email", "uri": "url", "url": "url"}.get(form)
    return random.choice(_VALUES_BY_NAME[name_kind]) if name_kind else ""


def _draw_named_text(words: Sequence[str], random: Random) -> str:
    """A text of which nothing but the parameter's name is known."""
    if words[-1:] in (["date"], ["time"]):
        return _draw_formatted_text(words[-1], random)
    for word in reversed(words):
        if word in _VALUES_BY_NAME:
            return random.choice(_VALUES_BY_NAME[word])
    if words and words[-1] in _CODE_WORDS:
        return f"{words[0][:1].upper()}{random.randrange(1000, 10000)}"
    return random.choice(_PLAIN_TEXTS)


def _draw_items(name: str, kind: Type, random: Random, deep: int) -> Any:
    low, high = kind.size
    least = low if low is not None else 3
    count = random.randint(least, max(least, high if high is not None else least + 2))
    inner = kind.items or Type(("number",))
    types = [kind.item(n) if n < len(kind.first) else inner for n in range(min(count, 20))]
    items = [_draw_value(name, item, (), random, deep + 1) for item in types]
    return NO_VALUE if NO_VALUE in items else items


def _draw_fields(kind: Type, random: Random, deep: int) -> Any:
    fields = [field for field in kind.fields if field.required or len(kind.fields) < 3]
    values = {field.name: _draw_value(field.name, field.type, (), random, deep + 1) for field in fields}
    return NO_VALUE if not values or NO_VALUE in values.values() else values


def order_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of which what ends comes after what begins, by the parameters' names.

    >>> order_values({"start_date": "2027-03-04", "end_date": "2027-03-01", "city": "Oslo"})
    {'start_date': '2027-03-01', 'end_date': '2027-03-04', 'city': 'Oslo'}
    """
    sorted_values = dict(values)
    names_by_words = {" ".join(words_of_name(name)): name for name in values}
    for first, last in TABLES["ends"].items():
        for words, name in names_by_words.items():
            end = names_by_words.get(re.sub(rf"\b{first}\b", last, words, count=1), name)
            start_value, end_value = sorted_values[name], sorted_values[end]
            if end != name and _can_be_ordered(start_value, end_value) and start_value > end_value:
                sorted_values[name], sorted_values[end] = end_value, start_value
    return sorted_values


def _can_be_ordered(first: Any, second: Any) -> bool:
    """Whether of two values one can come before the other: numbers, or days and times."""
    if isinstance(first, str) and isinstance(second, str):
        return len(first) == len(second) and first[:1].isdigit() and second[:1].isdigit()
    return number_of(first) is not None and number_of(second) is not None


def find_other_values(value: Any, kind: Type, random: Random) -> list[Any]:
    """Other values in a value's place, to see whether anything depends on it; never none.

    >>> find_other_values(4, Type(("integer",)), Random(0)), find_other_values([1, 2], Type(), Random(0))[:2]
    ([5, 19, -13], [[2, 1, 2], [-7, -9]])
    >>> (
    ...     find_other_values("9:30", Type(), Random(0)), find_other_values("4", Type(), Random(0))[:2],
    ...     find_other_values(None, Type(), Random(0))
    ... )
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
    if isinstance(value, (list, dict)) and value:
        new_items = {step: find_other_values(item, Type(), random) for step, item in items_of(value).items()}
        changed = [{step: new[index] for step, new in new_items.items()} for index in (-1, 0)]
        if isinstance(value, dict):
            return changed[::-1]
        return [[*reversed(value), value[-1]], *([*items.values()] for items in changed)]
    if value == {}:
        return [{"other": 4}]
    return [[_PLAIN_TEXTS[0]], [4]] if value == [] else [_PLAIN_TEXTS[0], 4]


def _other_texts(text: str) -> list[str]:
    """Texts of the same sort: days, times, flags and numbers where notations write them as texts."""
    if text in ("True", "False", "true", "false"):
        flipped = "false" if text.casefold() == "true" else "true"
        return [flipped.capitalize() if text[0].isupper() else flipped]
    if (day := parse_day(text)) is not None:
        with suppress(OverflowError):  # the last days that there are
            return [(day + timedelta(days=days)).isoformat() for days in (3, 30)]
    if clock := re.fullmatch(r"(\d{1,2}):([0-5]\d)", text):
        minutes = (int(clock[1]) * 60 + int(clock[2]) + 15) % 1440
        return [f"{minutes // 60:02d}:{minutes % 60:02d}"]
    if number := re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text):
        return [
            str(new) for new in find_other_values(float(text) if number[1] else int(text), Type(), Random(0))
        ]
    return [f"{text} {_PLAIN_TEXTS[0]}", _PLAIN_TEXTS[1] if text != _PLAIN_TEXTS[1] else _PLAIN_TEXTS[2]]


# ----------------------------------------------------------------------
# Values out of a simulated world: what is asked for exists there, and what belongs together stays so.
_MAX_ROWS = 200
"""Rows among which one is chosen."""

_LISTED_VALUES = re.compile(r":(\w+) IN \(((?:'[^']*'(?:, *)?)+)\)")


def draw_world_arguments(
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
    row = _draw_row(world, api, fixed, random)
    return {
        argument.name: _draw_world_value(world, api, argument, row, random)
        for argument in api.arguments
        if argument.name in names and argument.name not in fixed
    }


def _draw_row(world: World, api: Api, fixed: Mapping[str, Any], random: Random) -> Mapping[str, Any]:
    """A row that the call could be about; {} where it reads none, or none is left."""
    table = world.definition.tables.get(api.reads or "")
    if table is None:
        return {}
    kinds = {argument.name: argument.type for argument in api.arguments}
    conditions, values = [], {}
    for match in api.matches:
        if match.argument in fixed and match.op == "=":
            with suppress(CallError):
                values[match.argument] = to_stored_value(
                    match.argument, fixed[match.argument], kinds[match.argument]
                )
                conditions.append(f"{quote_name(match.column)} = :{match.argument}")
    rows = select(world.connection, table, where=conditions, values=values, limit=_MAX_ROWS)
    return random.choice(rows) if rows else {}


def _draw_world_value(
    world: World, api: Api, argument: Argument, row: Mapping[str, Any], random: Random
) -> Any:
    column = next((match.column for match in api.matches if match.argument == argument.name), None)
    table = world.definition.tables.get(api.reads or api.adds or "")
    named = table.column(column or argument.name) if table else None
    if named is not None and is_filler(named):
        return NO_VALUE
    stored = row.get(column) if column else None
    if stored is None:
        stored = _draw_absent_value(world, api, argument, random)
    if stored is None:
        return NO_VALUE
    value = from_stored_value(stored, argument.type)
    return value if value not in ("", [], {}) else NO_VALUE


def _draw_absent_value(world: World, api: Api, argument: Argument, random: Random) -> Any:
    """A value that no row of the table holds which the call reads."""
    for name, sources in api.known:
        if name == argument.name:
            return world.held(*random.choice(sources), random)
    for name, choices in (
        match.groups() for text, _ in api.requires for match in _LISTED_VALUES.finditer(text)
    ):
        if name == argument.name:
            return random.choice(re.findall(r"'([^']*)'", choices))
    for table_name in (api.adds, api.reads):
        table = world.definition.tables.get(table_name or "")
        column = table.column(argument.name) if table else None
        if column is not None and column.maker.kind:
            value = world.making.value(column, {}, random)
            if value is not None:
                return value
    return _draw_of_type(world, argument, random)


def _draw_of_type(world: World, argument: Argument, random: Random) -> Any:
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
        if column.name == argument.name and column.maker.kind
    ]
    return world.held(*random.choice(same), random) if same else None
