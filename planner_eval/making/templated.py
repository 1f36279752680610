"""A question without a model: the plan told in plain English, from what its tools say of themselves.

It says every value and every flow, and sounds like nobody: what was written so is marked, for a figure over
such questions says little of how models understand people.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from planner_eval.making.described import Given, Step, ends, in_words, listed, part_of, steps_of, told
from planner_eval.making.made import Made
from planner_eval.plan.model import Plan, Ref, Template, Value

_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip

_VERBS = ("has", "have", "is", "are", "with", "include", "includes", "add", "allow", "allows", "enable")
"""Words that a flag's name begins with, and that say nothing where it is off."""


def templated(task: Made, plain: Callable[[str], bool] = lambda text: True) -> str:
    r"""The plan as a request in plain English.

    Args:
        task: The plan with its tools.
        plain: Whether a tool's own words may stand in a question; its name in words stands in their place
            where they may not.

    >>> from planner_eval.dialects.read import parse
    >>> from planner_eval.catalogs.catalog import Tool
    >>> tools = (Tool("findHotel", description="Finds hotels in a city. Slow."), Tool("book_room"))
    >>> print(templated(Made("a", parse("h = findHotel(#city='Rome')"), tools)))
    Please do this and tell me what it gives: finds hotels in a city, with city "Rome".
    >>> plan = parse("h = findHotel(#city='Rome')\nbook_room(#hotel=h)")
    >>> print(templated(Made("a", plan, tools)).partition(". ")[2])
    First: finds hotels in a city, with city "Rome". Second: book room, with hotel as the first gives it (h).
    >>> print(templated(Made("a", parse("findHotel(has_garage=False)"), tools)).rpartition(", ")[2])
    without garage.
    """
    steps = steps_of(task)
    if len(steps) == 1:
        return f"Please do this and tell me what it gives: {_clause(steps[0], plain)}."
    listed = [
        f"{_ordinal(number).capitalize()}: {_clause(step, plain)}." for number, step in enumerate(steps)
    ]
    return " ".join([f"Please do {_count(len(steps))} things and tell me {_end(task.plan)}.", *listed])


def _end(plan: Plan) -> str:
    if plan.answer:
        return listed([_value(value) for _, value in plan.answer])
    return listed([f"what the {_ordinal(position)} gives" for position in ends(plan)])


def _clause(step: Step, plain: Callable[[str], bool]) -> str:
    does = _sentence(step.does)
    off = [argument for argument in step.given if argument.name and _is_off(argument.value)]
    valued = [argument for argument in step.given if argument not in off]
    clause = does if plain(does) else step.name
    clause += f", with {listed([_given(argument, plain) for argument in valued])}" if valued else ""
    return clause + (f", {listed([f'without {_thing(argument.name)}' for argument in off])}" if off else "")


def _thing(flag: str) -> str:
    """What a flag is about: who has none is without a garage, not without has garage."""
    verb, _, thing = flag.partition(" ")
    return thing if thing and verb in _VERBS else flag


def _is_off(value: Value) -> bool:
    """Whether a flag is off; many notations write that as a text."""
    return value is False or (isinstance(value, str) and value.casefold() == "false")


def _sentence(text: str) -> str:
    """The first sentence of a description, as it stands inside another one."""
    first = re.split(r"(?<=[a-z)])[.:;](?:\s|\Z)", text, maxsplit=1)[0].strip().rstrip(".")
    return first[:1].lower() + first[1:] if first[1:2].islower() else first


def _given(argument: Given, plain: Callable[[str], bool]) -> str:
    """An argument; one whose name says nothing by what its tool says of it: which of two numbers is meant."""
    meaning = "" if argument.name else re.split(r"[,;(]", _sentence(argument.about), maxsplit=1)[0].strip()
    role = f" as {meaning}" if meaning and plain(meaning) else ""
    if isinstance(argument.value, Ref):
        suffix = f" ({part_of(argument.value.path)})" if part_of(argument.value.path) else ""
        name = f"{argument.name} as" if argument.name else "what"
        told_as = "gives it" if argument.name else "gives"
        return f"{name} the {_ordinal(argument.value.call)} {told_as}{suffix}{role}"
    value_text = _value(argument.value)
    return f"{argument.name} {value_text}" if argument.name else f"{value_text}{role}"


def _value(value: Value) -> str:
    """A value as it stands in a sentence: lists and objects in words, their keys as plain words."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list) and value:
        return f"({listed([_value(item) for item in value])})" if len(value) > 1 else _value(value[0])
    if isinstance(value, dict) and value:
        return f"({', '.join(f'{in_words(key)} {_value(item)}' for key, item in value.items())})"
    if isinstance(value, Template):
        return " followed by ".join(_value(segment) for segment in value.parts)
    return told(value, _referred)


def _referred(reference: Ref) -> str:
    suffix = f" ({part_of(reference.path)})" if part_of(reference.path) else ""
    return f"what the {_ordinal(reference.call)} gives{suffix}"


def _ordinal(position: int) -> str:
    number = position + 1
    if number <= len(_ORDINALS):
        return _ORDINALS[position]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _count(number: int) -> str:
    names = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return names[number - 2] if number - 2 < len(names) else str(number)
