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


def templated(made: Made, plain: Callable[[str], bool] = lambda text: True) -> str:
    r"""The plan as a request in plain English.

    Args:
        made: The plan with its tools.
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
    steps = steps_of(made)
    if len(steps) == 1:
        return f"Please do this and tell me what it gives: {_clause(steps[0], plain)}."
    listed = [
        f"{_ordinal(number).capitalize()}: {_clause(step, plain)}." for number, step in enumerate(steps)
    ]
    return " ".join([f"Please do {_count(len(steps))} things and tell me {_end(made.plan)}.", *listed])


def _end(plan: Plan) -> str:
    if plan.answer:
        return listed([_value(value) for _, value in plan.answer])
    return listed([f"what the {_ordinal(position)} gives" for position in ends(plan)])


def _clause(step: Step, plain: Callable[[str], bool]) -> str:
    does = _sentence(step.does)
    off = [one for one in step.given if one.name and _is_off(one.value)]
    rest = [one for one in step.given if one not in off]
    clause = does if plain(does) else step.name
    clause += f", with {listed([_given(one, plain) for one in rest])}" if rest else ""
    return clause + (f", {listed([f'without {_thing(one.name)}' for one in off])}" if off else "")


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


def _given(one: Given, plain: Callable[[str], bool]) -> str:
    """An argument; one whose name says nothing by what its tool says of it: which of two numbers is meant."""
    meant = "" if one.name else re.split(r"[,;(]", _sentence(one.about), maxsplit=1)[0].strip()
    role = f" as {meant}" if meant and plain(meant) else ""
    if isinstance(one.value, Ref):
        part = f" ({part_of(one.value.path)})" if part_of(one.value.path) else ""
        name = f"{one.name} as" if one.name else "what"
        told_as = "gives it" if one.name else "gives"
        return f"{name} the {_ordinal(one.value.call)} {told_as}{part}{role}"
    said = _value(one.value)
    return f"{one.name} {said}" if one.name else f"{said}{role}"


def _value(value: Value) -> str:
    """A value as it stands in a sentence: lists and objects in words, their keys as plain words."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list) and value:
        return f"({listed([_value(item) for item in value])})" if len(value) > 1 else _value(value[0])
    if isinstance(value, dict) and value:
        return f"({', '.join(f'{in_words(key)} {_value(item)}' for key, item in value.items())})"
    if isinstance(value, Template):
        return " followed by ".join(_value(part) for part in value.parts)
    return told(value, _referred)


def _referred(reference: Ref) -> str:
    part = f" ({part_of(reference.path)})" if part_of(reference.path) else ""
    return f"what the {_ordinal(reference.call)} gives{part}"


def _ordinal(position: int) -> str:
    number = position + 1
    if number <= len(_ORDINALS):
        return _ORDINALS[position]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _count(number: int) -> str:
    names = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return names[number - 2] if number - 2 < len(names) else str(number)
