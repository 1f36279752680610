"""The edits that a comparison finds, and their codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import isclose, prod
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.plan.canonical import OWN_POSITIONS, Key, producers_of, value_key
from planner_eval.plan.model import Path, Ref, Template, Unresolved, Value, contains_kind, is_dependent

EDITS: dict[str, str] = {
    "call.missing": "gold makes a call that the prediction does not make",
    "call.extra": "the prediction makes a call that gold does not make",
    "call.duplicated": "the prediction makes an equal call again, which gold makes less often or not at all",
    "call.replaced": "another tool is called instead of gold's",
    "call.merged": "one call has a list where gold makes several calls",
    "call.split": "several calls are made where gold makes one call with a list",
    "app.changed": "the tool is called in a different app",
    "name.spelling": "the tool's name differs from gold's only in ., _, - or case",
    "argument.missing": "an argument of gold is missing",
    "argument.extra": "an argument that gold does not have",
    "argument.renamed": "gold's value, or another one in its place, has a different argument name",
    "argument.object": 'all arguments are in one unnamed object, as in f({"x": 1})',
    "argument.value": "the argument's value, or a part of it, differs",
    "argument.type": "the value, or a part of it, has a different type, such as text for a number",
    "arguments.swapped": "arguments of one or several calls have each other's values",
    "reference.literal": "a literal is used where gold uses another call's output",
    "reference.unwanted": "another call's output is used where gold has a literal",
    "reference.unresolved": "a reference to a call that the prediction does not have",
    "reference.producer": "the output of the wrong call is used",
    "reference.output": "the wrong output of the right call is used",
    "order.broken": "a call comes before one whose output it needs, or that gold requires first",
    "order.steps": "steps of a chain are made in a different order",
    "answer.missing": "a value of gold's answer is missing",
    "answer.extra": "the answer has a value that gold's does not",
    "answer.renamed": "gold's value has a different name in the answer",
    "answer.value": "a value of the answer, or a part of it, differs",
    "answer.type": "a value of the answer, or a part of it, has a different type",
    "answer.swapped": "values of the answer have each other's names",
    "answer.literal": "the answer is a literal where gold uses a call's output",
    "answer.unwanted": "the answer is a call's output where gold has a literal",
    "answer.unresolved": "the answer refers to a call that the prediction does not have",
    "answer.producer": "the answer is the output of the wrong call",
    "answer.output": "the answer is the wrong output of the right call",
}
"""Every code of an edit with its meaning in one line."""


class Place(NamedTuple):
    """A place in one plan.

    Args:
        call: Position of the call; None for the plan's answer or the plan as a whole.
        argument: The argument's name (of the answer, where `call` is None); None for the whole call.
        at: The way into the argument's value; () is the whole value.
    """

    call: int | None = None
    argument: str | None = None
    at: Path = ()


class Edit(NamedTuple):
    """One difference.

    Args:
        code: A stable dotted code; the meanings are in :data:`EDITS`.
        message: One sentence that names calls, arguments, values and places.
        pred: Where it is in the prediction; None where the prediction has nothing.
        gold: Where it is in gold; None where gold has nothing.
        pred_value: What the prediction says there; of arguments that are exchanged an object of them.
        gold_value: What gold says there, likewise.
        cause: Position in the diff's edits of the edit that this one follows from; None for a root cause.
        also: Further places, in the prediction and in gold, that this one mistake concerns.
        own: What the message alone says where several edits are told in one sentence; None where it is told
            as it stands.
    """

    code: str
    message: str
    pred: Place | None = None
    gold: Place | None = None
    pred_value: Value = None
    gold_value: Value = None
    cause: int | None = None
    also: tuple[tuple[Place | None, Place | None], ...] = ()
    own: str | None = None

    @property
    def places(self) -> tuple[tuple[Place | None, Place | None], ...]:
        """All places that it concerns, in the prediction and in gold."""
        return ((self.pred, self.gold), *self.also)


PlacePair = tuple[Place | None, Place | None]
"""A place in the prediction, and one in gold."""


class ValueData(NamedTuple):
    """What the sentence about an argument says beside its two values.

    Args:
        name: Gold's name of the argument, and which of several of that name.
        producer: A call of the prediction whose link to this one, without an argument, is right.
        accepted: Values that would be right as well.
        optional: Whether the argument may be left out.
        within: Whether it is about a part of the value.
        renamed: Whether the prediction gives the argument another name.
        computed: Whether the prediction's value is an expression.
        elsewhere: Gold's name of the argument that has what is too much here.
    """

    name: Any
    producer: int | None = None
    accepted: Sequence[Value] = ()
    optional: bool = False
    within: bool = False
    renamed: bool = False
    computed: bool = False
    elsewhere: str | None = None


class Draft(NamedTuple):
    """An edit without its sentence.

    Args:
        name: By what it has its price and its sentence.
        code: As of :class:`Edit`; what follows likewise.
        data: What the sentence needs beside the rest.
    """

    name: str
    code: str
    pred: Place | None = None
    gold: Place | None = None
    pred_value: Value = None
    gold_value: Value = None
    also: tuple[PlacePair, ...] = ()
    data: Any = None
    cause: int | None = None

    @property
    def places(self) -> tuple[PlacePair, ...]:
        """All places that it concerns, in the prediction and in gold."""
        return ((self.pred, self.gold), *self.also)


# ----------------------------------------------------------------------
# Where two values differ, and how.


class ValueDiff:
    """Values of two plans side by side.

    Args:
        to_gold: The partner of each call of the prediction; negative for none.
    """

    def __init__(self, to_gold: Sequence[int]) -> None:
        self.images: list[Any] = [*to_gold]

    def walk(
        self, pred_value: Value, gold_value: Value, path: Path
    ) -> Iterator[tuple[Path, str, Value, Value]]:
        """(place, code, pred's value, gold's value) of each difference between two values."""
        kind = type(pred_value)
        if kind is Ref or kind is Unresolved or type(gold_value) in (Ref, Unresolved):
            code = self.reference(pred_value, gold_value)
            if code:
                yield path, code, pred_value, gold_value
        elif kind is not type(gold_value):
            if not self.alike(pred_value, gold_value):
                yield path, kind_difference_code(pred_value, gold_value), pred_value, gold_value
        elif (
            kind is list and len(pred_value) == len(gold_value) and not self.shuffled(pred_value, gold_value)
        ):
            for position, (pred_item, gold_item) in enumerate(zip(pred_value, gold_value, strict=True)):
                yield from self.walk(pred_item, gold_item, (*path, position))
        elif kind is Template and _has_same_texts(pred_value, gold_value):
            for position, (pred_item, gold_item) in enumerate(
                zip(pred_value.parts, gold_value.parts, strict=True)
            ):
                yield from self.walk(pred_item, gold_item, (*path, position))
        elif kind is dict:
            yield from self.fields(pred_value, gold_value, path)
        elif not self.alike(pred_value, gold_value):
            yield path, "argument.value", pred_value, gold_value

    def shuffled(self, pred_value: Value, gold_value: Value) -> bool:
        """Whether two values are lists of the same literals in another order."""
        if type(pred_value) is not list or type(gold_value) is not list or len(pred_value) != len(gold_value):
            return False
        pred_counts, gold_counts = (
            Counter(value_key(item, OWN_POSITIONS) for item in value) for value in (pred_value, gold_value)
        )
        same_literals = pred_counts == gold_counts and not is_dependent(pred_value)
        return same_literals and not self.alike(pred_value, gold_value)

    def fields(
        self, pred_fields: dict[str, Value], gold_fields: dict[str, Value], path: Path
    ) -> Iterator[tuple[Path, str, Value, Value]]:
        """:meth:`walk` for two objects; a field that one of them lacks is MISSING there."""
        for key in (*gold_fields, *(key for key in pred_fields if key not in gold_fields)):
            if key in pred_fields and key in gold_fields:
                yield from self.walk(pred_fields[key], gold_fields[key], (*path, key))
            else:
                yield (
                    (*path, key),
                    "argument.value",
                    pred_fields.get(key, MISSING),
                    gold_fields.get(key, MISSING),
                )

    def alike(self, pred_value: Value, gold_value: Value) -> bool:
        """Whether two values mean the same."""
        return bool(value_key(pred_value, self.images) == value_key(gold_value, OWN_POSITIONS))

    def reference(self, pred_value: Value, gold_value: Value) -> str | None:
        """The code of the difference where at least one side is a reference; None for none."""
        if type(pred_value) is Unresolved:
            return None if pred_value == gold_value else "reference.unresolved"
        if type(gold_value) is Unresolved:
            return "reference.producer" if type(pred_value) is Ref else "reference.literal"
        if type(pred_value) is Ref and type(gold_value) is Ref:
            if self.images[pred_value.call] != gold_value.call:
                return "reference.producer"
            return None if pred_value.path == gold_value.path else "reference.output"
        if type(gold_value) is Ref:
            return "argument.value" if contains_kind(pred_value, Ref) else "reference.literal"
        return "argument.value" if contains_kind(gold_value, Ref) else "reference.unwanted"


EMPTY_VALUES: tuple[Any, ...] = ("", None, [], {})
"""Values that say nothing."""

_KIND_NAMES = {str: "text", int: "number", float: "number", bool: "boolean", list: "list", dict: "object"}

_ITEM_SEPARATOR = re.compile(r"\s*[,;]\s*")


def kind_name(value: Value) -> str | None:
    """What a literal is: ``text``, ``number``, ``boolean``, ``list`` or ``object``; None for null."""
    return _KIND_NAMES.get(type(value))


def kind_difference_code(pred_value: Value, gold_value: Value) -> str:
    """The code for two values of different Python types: numbers are one type, and null fits any."""
    pred_kind, gold_kind = kind_name(pred_value), kind_name(gold_value)
    return "argument.type" if pred_kind and gold_kind and pred_kind != gold_kind else "argument.value"


def name_type_difference(pred_value: Value, gold_value: Value) -> str | None:
    """What two values are that say the same in two types; None for others.

    >>> (
    ...     name_type_difference(500, "500"), name_type_difference(["a"], "a"),
    ...     name_type_difference(500, "501"), name_type_difference("a, b", ["a", "b"])
    ... )
    ('number for text', 'list for text', None, 'text for list')
    """
    kinds = kind_name(pred_value), kind_name(gold_value)
    if (
        None in kinds
        or ("object" in kinds and (pred_value, gold_value) not in (("{}", {}), ({}, "{}")))
        or kinds[0] == kinds[1]
        or _untyped_value(pred_value) != _untyped_value(gold_value)
    ):
        return None
    return f"{kinds[0]} for {kinds[1]}"


def name_writing_difference(pred_value: Value, gold_value: Value) -> str | None:
    """How two texts differ that say the same in other signs, or a rate and its per cent; None for others.

    >>> (
    ...     name_writing_difference("Rome", "rome"), name_writing_difference("2024/05/01", "2024-05-01"),
    ...     name_writing_difference("a", "b")
    ... )
    ('letter case', 'date format', None)
    >>> name_writing_difference(3.5, 0.035), name_writing_difference(0.4, 40), name_writing_difference(100, 1)
    ('per cent for fraction', 'fraction for per cent', None)
    >>> (
    ...     name_writing_difference("<Rome>", "Rome"), name_writing_difference("Rome", "'Rome'"),
    ...     name_writing_difference("<Rome>", "[Bari]")
    ... )
    ('brackets or quotes', 'brackets or quotes', None)
    """
    if type(pred_value) is not str or type(gold_value) is not str:
        return _name_percent_difference(pred_value, gold_value)
    return _name_text_difference(pred_value, gold_value)


@lru_cache(maxsize=1024)
def _name_text_difference(pred_value: str, gold_value: str) -> str | None:
    for name, normalise in _WRITINGS.items():
        if normalise(pred_value) == normalise(gold_value) != "":
            return name
    if not any(map(str.isdecimal, pred_value)) or not any(map(str.isdecimal, gold_value)):
        return None
    from planner_eval.comparison.policy.dates import add_year

    if form := _name_date_difference(pred_value, gold_value):
        return form
    dated = add_year(pred_value, gold_value), add_year(gold_value, pred_value)
    if dated == (pred_value, gold_value) or _name_date_difference(*dated) is None:
        return None
    return "date with year" if dated[0] == pred_value else "date without year"


def _name_date_difference(pred_text: str, gold_text: str) -> str | None:
    """How two texts differ that mean one day or time; None for others."""
    from planner_eval.comparison.policy.dates import moment, normalise_date, possible_dates

    if pred_text[-1:] + gold_text[-1:] not in ("ZZ", "zz"):  # a time zone in one of them alone
        pred_text, gold_text = (text.removesuffix("Z") for text in (pred_text, gold_text))
    pred_moment, gold_moment = moment(pred_text), moment(gold_text)
    if pred_moment is not None and pred_moment == gold_moment:
        day, _ = pred_moment
        return "date format" if day else "time format"
    if normalise_date(pred_text) == normalise_date(gold_text):
        return "date format"
    days = possible_dates(pred_text), possible_dates(gold_text)
    unambiguous = min(map(len, days)) == 1  # of two that can be read in two ways nobody knows
    return "date format" if unambiguous and days[0] & days[1] else None


_MAX_LAYERS = 4
"""So many pairs of brackets or quotes around a text are looked through."""

_BRACKETS = ("<>", "[]", "{}", "‹›", "«»", "“”", "‘’", '""', "''", "``")


def _strip_brackets(text: str) -> str:
    """A text without the brackets or quotes that stand around all of it."""
    text = text.strip()
    for _ in range(_MAX_LAYERS):
        if len(text) < 2 or text[0] + text[-1] not in _BRACKETS:
            break
        text = text[1:-1].strip()
    return text


_PLURAL = re.compile(r"(?<=[a-z]{2})s(?![a-z])")

_WRITINGS: dict[str, Callable[[str], str]] = {
    "letter case": str.casefold,
    "spacing": lambda text: "".join(text.split()),
    "end mark": lambda text: text.casefold().rstrip(" .!?"),
    "brackets or quotes": _strip_brackets,
    "plural": lambda text: _PLURAL.sub("", text.casefold()),
}
"""How texts may differ that say the same in other signs, and what each leaves of a text that they share."""


def _name_percent_difference(pred_value: Value, gold_value: Value) -> str | None:
    """What a rate is written as that is a hundred times the other; None for other values."""
    if type(pred_value) not in (int, float) or type(gold_value) not in (int, float):
        return None
    fraction, per_cent = sorted((pred_value, gold_value))
    if not (0 < fraction < 1 and isclose(per_cent, 100 * fraction)):
        return None
    return "per cent for fraction" if per_cent == pred_value else "fraction for per cent"


def _untyped_value(value: Any) -> Any:
    """A value without its type: a number as it is, texts by the number or product that they hold, items."""
    if isinstance(value, list):
        items = [_untyped_value(item) for item in value]
        return items[0] if len(items) == 1 else items
    try:
        text = str(value).strip().lower()
    except ValueError:  # a number of thousands of digits
        return value
    try:
        return prod(map(float, text.split("*")))
    except ValueError:
        pass
    if isinstance(value, str) and (text[:1] + text[-1:] == "[]" or _ITEM_SEPARATOR.search(text)):
        items = _ITEM_SEPARATOR.split(text.removeprefix("[").removesuffix("]"))
        return _untyped_value([item.strip("'\"") for item in items])
    return text


def _has_same_texts(pred_template: Template, gold_template: Template) -> bool:
    texts = [
        [segment if isinstance(segment, str) else None for segment in template.parts]
        for template in (pred_template, gold_template)
    ]
    return texts[0] == texts[1]


def find_form_difference(edit: Edit | Draft) -> str | None:
    """What a value is given by where gold gives the same otherwise: ``named`` or ``positional``, or None."""
    if edit.code != "argument.renamed" or edit.pred is None or edit.gold is None:
        return None
    if _shape(edit.pred_value) != _shape(edit.gold_value):
        return None
    numbered = str(edit.pred.argument).isdecimal(), str(edit.gold.argument).isdecimal()
    if numbered[0] == numbered[1]:
        return None
    return "positional" if numbered[0] else "named"


def _shape(value: Value) -> Key:
    """A value but for which calls it takes from: those of two plans have other positions."""
    return value_key(value, [0] * (max(producers_of(value), default=-1) + 1))
