"""Which literals of a plan a question does not say: every one of them, for nobody can know them otherwise.

Where :mod:`planner_eval.auditing.grounding` doubts gold only where that is sure, here a value has to be said
for sure: what another day decides ("tomorrow"), a part of the day, half of a name, a flag that nobody speaks
of do not do. A value that the tool takes anyway nobody has to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from planner_eval.auditing.asked import Question
from planner_eval.auditing.ground import Ground
from planner_eval.base.text import one_line
from planner_eval.catalogs.catalog import Catalog
from planner_eval.making.described import in_words, tool_of
from planner_eval.making.lacking import Grounding, is_number, numbers_of
from planner_eval.making.made import Made
from planner_eval.plan.model import Call, Path, Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds, leaves

ENGLISH = "English"
"""The language whose numbers, days and other words are read."""


class Literal(NamedTuple):
    """A value that a plan gives.

    Args:
        call: The call.
        argument: The argument's name.
        path: The way into the argument's value.
        value: The value.
    """

    call: Call
    argument: str
    path: Path
    value: Value


def grounding_of(language: str) -> Grounding:
    """What finds the literals that a question in a language does not say.

    >>> grounding_of("Italian") is verbatim
    True
    """
    return unsaid if language.strip().casefold() == ENGLISH.casefold() else verbatim


def unsaid(task: Made, question: str) -> Iterator[str]:
    """What an English question does not say: numbers, days, flags and words as people write them.

    >>> from planner_eval.dialects.read import parse
    >>> plan = parse("[book(city='Rome', nights=3, day='2024-03-06')]")
    >>> list(unsaid(Made("a", plan, ()), "Three nights in Rome from tomorrow."))
    ["day '2024-03-06'"]
    """
    parsed_question = Question(question)
    for literal in to_be_said(task):
        named = " ".join([literal.argument, *(step for step in literal.path if isinstance(step, str))])
        ground = parsed_question.grounds(literal.value, named)
        if ground is None or not _says(ground, literal.value, question):
            yield _shown(literal)


def _says(ground: Ground, value: Value, question: str) -> bool:
    """Whether a ground leaves no doubt; "a room" says 1, and nothing has to be said of an empty text."""
    if ground.how in ("one", "empty"):
        return ground.how == "empty" or bool(value == 1)
    if ground.how == "day":
        return ground.span is not None and _says_day(question[slice(*ground.span)], str(value), question)
    return ground.sure and ground.how != "part"


def _says_day(words: str, value: str, question: str) -> bool:
    """Whether words say a day by themselves: in numbers, its year somewhere beside them.

    A weekday, or so many days before another, leave it to a calendar.
    """
    alone = Question(words).grounds(value) if any(char.isdigit() for char in words) else None
    years = re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", value)
    return alone is not None and alone.how in ("day", "text") and all(year in question for year in years)


def verbatim(task: Made, question: str) -> Iterator[str]:
    """What a question in any language does not say: numbers, and texts with a capital or a digit.

    They have to stand as they are given; words without a capital may be translated.

    >>> from planner_eval.dialects.read import parse
    >>> plan = parse("[f(city='Roma', days=3, kind='train')]")
    >>> list(verbatim(Made("a", plan, ()), "Un treno per Roma?"))
    ['days 3']
    """
    folded, numbers = question.casefold(), set(numbers_of(question))
    for literal in to_be_said(task):
        if is_number(literal.value):
            is_said = float(literal.value) in numbers
        elif isinstance(literal.value, str) and any(
            char.isdigit() or char.isupper() for char in literal.value
        ):
            is_said = literal.value.strip().casefold() in folded
        else:
            continue
        if not is_said:
            yield _shown(literal)


def to_be_said(task: Made) -> Iterator[Literal]:
    """The literals that somebody has to say; the text around references is the plan's own."""
    catalog = Catalog(task.tools)
    for call in task.plan.calls:
        for name, argument in call.arguments:
            if isinstance(argument, Template) or _by_default(call, name, argument, catalog):
                continue
            for path, value in leaves(argument):
                if value is not None and not isinstance(value, (Ref, Unresolved)):
                    yield Literal(call, name, path, value)


def _by_default(call: Call, name: str, value: Any, catalog: Catalog) -> bool:
    """Whether the tool takes a value also where nobody gives one."""
    tool = tool_of(call, catalog)
    if tool is None or holds(value, (Ref, Template, Unresolved)):
        return False
    return any(
        parameter.name == name
        and parameter.has_default
        and type(parameter.default) is type(value)
        and bool(parameter.default == value)
        for parameter in tool.parameters
    )


def _shown(literal: Literal) -> str:
    return f"{in_words(literal.argument)} {one_line(repr(literal.value), 60)}"
