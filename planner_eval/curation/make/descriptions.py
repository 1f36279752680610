"""A plan in words, for whoever writes its question, and a question without a model.

Names of tools and arguments are told as plain words, so that whoever reads this can name none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from planner_eval.base.text import format_ordinal, one_line, words_of_name
from planner_eval.catalogs.catalog import Catalog, Tool
from planner_eval.catalogs.check import find_tool
from planner_eval.curation.audit.words import TABLES, word_set
from planner_eval.curation.make.record import Made
from planner_eval.plan.model import (
    WHOLE_RESULT_NAMES,
    Call,
    Path,
    Plan,
    Ref,
    Template,
    Unresolved,
    Value,
    leaves,
)
from planner_eval.plan.structure import sinks

# ----------------------------------------------------------------------
# A plan in words: what its calls do, and with what, for whoever writes the question to it.
_MAX_DESCRIPTION_CHARACTERS = 300
"""Characters of a description that are told."""

_MEANINGLESS_NAME = re.compile(r"(?i)(?:args?|params?|parameter|input|output|operand|value)_?\d*")
"""Names of arguments that say nothing of them."""


class DescribedArgument(NamedTuple):
    """An argument of a call.

    Args:
        name: Its name in words; "" where that says nothing.
        about: What it means, as the tool says.
        value: What is given.
    """

    name: str
    about: str
    value: Value


class DescribedCall(NamedTuple):
    """A call as it is told.

    Args:
        does: What its tool does, as the tool says, else its name in words.
        name: The tool's name in words.
        given: Its arguments.
    """

    does: str
    name: str
    given: tuple[DescribedArgument, ...]


def describe_calls(task: Made) -> list[DescribedCall]:
    """The calls of a plan as they are told, in written order."""
    catalog = Catalog(task.tools)
    return [_describe_call(call, find_tool(call, catalog)) for call in task.plan.calls]


def describe_plan(task: Made) -> str:
    r"""A plan as the steps that a model is shown, which is to write the question.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.catalogs.catalog import Tool
    >>> tools = (Tool("find_hotel", description="Find a hotel."), Tool("bookRoom"))
    >>> plan = parse("h = find_hotel(#city='Rome')\nbookRoom(#hotel_id=h, #nights='2')")
    >>> print(describe_plan(Made("a", plan, tools)))
    1. Find a hotel.
       city: "Rome"
    2. book room
       hotel id: what 1 gives (h)
       nights: "2"
    The person wants what 2 gives.
    """
    lines: list[str] = []
    for number, step in enumerate(describe_calls(task), 1):
        lines.append(f"{number}. {step.does}")
        for argument in step.given:
            about = f" ({argument.about})" if argument.about else ""
            name = argument.name or "given"
            lines.append(f"   {name}{about}: {format_value(argument.value, _format_reference)}")
    return "\n".join([*lines, f"The person wants {format_list(_describe_answer(task.plan))}."])


def _format_reference(reference: Ref) -> str:
    return f"what {reference.call + 1} gives{_path_suffix(reference.path)}"


def _path_suffix(path: Path) -> str:
    text = format_path(path)
    return f" ({text})" if text else ""


def _describe_answer(plan: Plan) -> list[str]:
    if plan.answer is not None:
        answers = [format_value(value, _format_reference) for _, value in plan.answer]
        return answers or ["that this is done"]
    return [f"what {position + 1} gives" for position in sinks(plan)]


def format_value(value: Value, refer: Callable[[Ref], str]) -> str:
    """A value in words: JSON, with words where it takes something from another call.

    Args:
        value: The value.
        refer: What is said in place of a reference.

    >>> format_value({"to": [Ref(0, ("city",)), 7]}, lambda ref: "that city")
    '{"to": [that city, 7]}'
    """
    if isinstance(value, Ref):
        return refer(value)
    if isinstance(value, Template):
        return " followed by ".join(format_value(segment, refer) for segment in value.parts)
    if isinstance(value, list):
        return f"[{', '.join(format_value(item, refer) for item in value)}]"
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(key, ensure_ascii=False)}: {format_value(item, refer)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Unresolved):
        return "what nothing returns"
    return json.dumps(value, ensure_ascii=False)


def format_path(path: Path) -> str:
    """A way into a result, in words; "" for the whole of it.

    >>> format_path(("rooms", 0, "hotel_id")), format_path(("result",))
    ('hotel id of item 1 of rooms', '')
    """
    steps = path[1:] if path and path[0] in WHOLE_RESULT_NAMES else path
    words = [f"item {step + 1}" if isinstance(step, int) else format_name(step) for step in steps]
    return " of ".join(reversed(words))


def format_name(name: str) -> str:
    """A name as plain words.

    >>> format_name("check_inDate"), format_name("userID2"), format_name("名前")
    ('check in date', 'user id 2', '名前')
    """
    return " ".join(words_of_name(name)) or name


def literals(plan: Plan) -> Iterator[Value]:
    """Every scalar that is written in a plan's arguments, texts around references among them."""
    for call in plan.calls:
        for _, value in call.arguments:
            for _, leaf in leaves(value):
                if not isinstance(leaf, (Ref, Unresolved)):
                    yield leaf


def _describe_call(call: Call, tool: Tool | None) -> DescribedCall:
    parameters = {parameter.name: parameter for parameter in tool.parameters} if tool else {}
    arguments = tuple(
        DescribedArgument(
            "" if _MEANINGLESS_NAME.fullmatch(name) else format_name(name),
            one_line(parameters[name].description.strip(), _MAX_DESCRIPTION_CHARACTERS)
            if name in parameters
            else "",
            value,
        )
        for name, value in call.arguments
    )
    name = format_name(call.name)
    about = one_line(" ".join(tool.description.split()), _MAX_DESCRIPTION_CHARACTERS) if tool else ""
    return DescribedCall(about or name, name, arguments)


def format_list(items: list[str]) -> str:
    """A list in words.

    >>> format_list(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


# ----------------------------------------------------------------------
# A question without a model: the plan told in plain English, from what its tools say of themselves.
#
# It says every value and every flow, and sounds like nobody: what was written so is marked, for a figure
# over such questions says little of how models understand people.
_ORDINALS = (*TABLES["ordinals"],)[:12]

_FLAG_VERBS = word_set("flag_verbs")


def phrase_request(task: Made, plain: Callable[[str], bool] = lambda text: True) -> str:
    r"""The plan as a request in plain English.

    Args:
        task: The plan with its tools.
        plain: Whether a tool's own words may stand in a question; its name in words stands in their place
            where they may not.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.catalogs.catalog import Tool
    >>> tools = (Tool("findHotel", description="Finds hotels in a city. Slow."), Tool("book_room"))
    >>> print(phrase_request(Made("a", parse("h = findHotel(#city='Rome')"), tools)))
    Please do this and tell me what it gives: finds hotels in a city, with city "Rome".
    >>> plan = parse("h = findHotel(#city='Rome')\nbook_room(#hotel=h)")
    >>> print(phrase_request(Made("a", plan, tools)).partition(". ")[2])
    First: finds hotels in a city, with city "Rome". Second: book room, with hotel as the first gives it (h).
    >>> print(phrase_request(Made("a", parse("findHotel(has_garage=False)"), tools)).rpartition(", ")[2])
    without garage.
    """
    steps = describe_calls(task)
    if len(steps) == 1:
        return f"Please do this and tell me what it gives: {_clause(steps[0], plain)}."
    listed = [
        f"{_ordinal(number).capitalize()}: {_clause(step, plain)}." for number, step in enumerate(steps)
    ]
    count = (*TABLES["numbers"],)[len(steps)] if len(steps) <= 12 else str(len(steps))
    return " ".join([f"Please do {count} things and tell me {_phrase_answer(task.plan)}.", *listed])


def _phrase_answer(plan: Plan) -> str:
    if plan.answer:
        return format_list([_phrase_value(value) for _, value in plan.answer])
    return format_list([f"what the {_ordinal(position)} gives" for position in sinks(plan)])


def _clause(step: DescribedCall, plain: Callable[[str], bool]) -> str:
    does = _first_sentence(step.does)
    off = [argument for argument in step.given if argument.name and _is_off(argument.value)]
    valued = [argument for argument in step.given if argument not in off]
    clause = does if plain(does) else step.name
    clause += (
        f", with {format_list([_phrase_argument(argument, plain) for argument in valued])}" if valued else ""
    )
    return clause + (
        f", {format_list([f'without {_flag_subject(argument.name)}' for argument in off])}" if off else ""
    )


def _flag_subject(flag: str) -> str:
    """What a flag is about: who has none is without a garage, not without has garage."""
    verb, _, thing = flag.partition(" ")
    return thing if thing and verb in _FLAG_VERBS else flag


def _is_off(value: Value) -> bool:
    """Whether a flag is off; many notations write that as a text."""
    return value is False or (isinstance(value, str) and value.casefold() == "false")


def _first_sentence(text: str) -> str:
    """The first sentence of a description, as it stands inside another one."""
    first = re.split(r"(?<=[a-z)])[.:;](?:\s|\Z)", text, maxsplit=1)[0].strip().rstrip(".")
    return first[:1].lower() + first[1:] if first[1:2].islower() else first


def _phrase_argument(argument: DescribedArgument, plain: Callable[[str], bool]) -> str:
    """An argument; one whose name says nothing by what its tool says of it: which of two numbers is meant."""
    meaning = (
        "" if argument.name else re.split(r"[,;(]", _first_sentence(argument.about), maxsplit=1)[0].strip()
    )
    role = f" as {meaning}" if meaning and plain(meaning) else ""
    if isinstance(argument.value, Ref):
        name = f"{argument.name} as" if argument.name else "what"
        told_as = "gives it" if argument.name else "gives"
        return (
            f"{name} the {_ordinal(argument.value.call)} {told_as}{_path_suffix(argument.value.path)}{role}"
        )
    value_text = _phrase_value(argument.value)
    return f"{argument.name} {value_text}" if argument.name else f"{value_text}{role}"


def _phrase_value(value: Value) -> str:
    """A value as it stands in a sentence: lists and objects in words, their keys as plain words."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list) and value:
        return (
            f"({format_list([_phrase_value(item) for item in value])})"
            if len(value) > 1
            else _phrase_value(value[0])
        )
    if isinstance(value, dict) and value:
        return f"({', '.join(f'{format_name(key)} {_phrase_value(item)}' for key, item in value.items())})"
    if isinstance(value, Template):
        return " followed by ".join(_phrase_value(segment) for segment in value.parts)
    return format_value(value, lambda ref: f"what the {_ordinal(ref.call)} gives{_path_suffix(ref.path)}")


def _ordinal(position: int) -> str:
    return _ORDINALS[position] if position < len(_ORDINALS) else format_ordinal(position + 1)
