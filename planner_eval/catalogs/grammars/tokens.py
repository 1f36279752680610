"""The tokens of values: texts, numbers, dates, and how notations write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.catalogs.grammars.rules import (
    EMPTY,
    NEVER,
    Alt,
    Chars,
    Expr,
    Repeat,
    Text,
    alt,
    chars,
    opt,
    seq,
)
from planner_eval.plan.model import Call, Plan, Value
from planner_eval.reading.dialects.notations import appbench, nestful
from planner_eval.reading.dialects.programs import python_write

_CONTROL_RANGES = (("\x00", "\x1f"), ("\x7f", "\x7f"))
_DIGIT = chars("0-9")
_MAX_FURTHER_DIGITS = 18
"""Digits behind the first one of a number that is written out: ids of 64 bits have 19 in all."""

WORD = seq(chars("A-Za-z_"), Repeat(chars("A-Za-z0-9_"), 0, 63))
"""A name, where the catalog does not say which."""

MAX_LENGTH = 256
"""Limits of a text's length, and of a list's size, are held up to here."""


def _any_char_except(*excluded: str) -> Chars:
    return Chars((*((char, char) for char in excluded), *_CONTROL_RANGES), negated=True)


JSON_CHAR = Alt((_any_char_except('"', "\\"), seq("\\", chars('"\\nrt'))))
"""A character of a JSON or Python text; others are written as they are, so that each is one."""

NESTFUL_CHAR = Alt(
    (
        _any_char_except('"', "\\", "$"),
        seq("\\", chars('"\\nrt')),
        seq(
            "$",
            Chars(
                (("A", "Z"), ("a", "z"), ("_", "_"), *((c, c) for c in '"\\$'), *_CONTROL_RANGES),
                negated=True,
            ),
        ),
    )
)
"""The same where ``$name$`` is a reference: a dollar sign stands before what begins no name."""

APPBENCH_CHAR = Alt((_any_char_except("'", "\\"), seq("'", chars("A-Za-z0-9")), seq("\\", chars("'\\"))))
"""A character of a text in single quotes, of which those before a letter stand as they are."""

_APPBENCH_BOOLEANS = ("True", "False", "true", "false")
"""What AppBench's readers take for true and false; its data have the first, other catalogs the second."""

_PLAIN_CHAR = Alt((_any_char_except("'", "\\"), seq("\\", chars("'\\"))))

_KEY_CHAR = Alt((_any_char_except('"', "\\", "$"), seq("\\", chars('"\\nrt'))))
KEY = seq('"', opt(seq(_KEY_CHAR, Repeat(JSON_CHAR))), '"')
"""The name of a field that nobody listed; it begins with no dollar sign, which has a meaning in plans."""


def quote_json(text: str) -> str:
    r"""A text as JSON writes it; halves of surrogate pairs as escapes, for no file can hold them.

    >>> quote_json('a "b"')
    '"a \\"b\\""'
    """
    is_plain = not any("\ud800" <= char <= "\udfff" for char in text)
    return json.dumps(text, ensure_ascii=not is_plain).replace("\x7f", "\\u007f")


# ---------------------------------------------------------------- numbers
def integer(*, negative: bool = True) -> Expr:
    """A whole number."""
    return seq(opt(Text("-")) if negative else EMPTY, _natural())


def number(*, negative: bool = True) -> Expr:
    """A number, as JSON and Python write it."""
    fraction = opt(seq(".", Repeat(_DIGIT, 1, _MAX_FURTHER_DIGITS)))
    power = opt(seq(chars("eE"), opt(chars("+-")), Repeat(_DIGIT, 1, 2)))
    return seq(integer(negative=negative), fraction, power)


def _natural() -> Expr:
    return Alt((Text("0"), seq(chars("1-9"), Repeat(_DIGIT, 0, _MAX_FURTHER_DIGITS))))


# ---------------------------------------------------------------- dates
def _two_digits_between(low: int, high: int) -> Expr:
    """A number of two digits between both."""
    options: list[Expr] = []
    for tens in range(low // 10, high // 10 + 1):
        first, last = max(low, 10 * tens) % 10, min(high, 10 * tens + 9) % 10
        options.append(seq(str(tens), str(first) if first == last else chars(f"{first}-{last}")))
    return alt(options)


def _months(*numbers: int) -> Expr:
    return alt(Text(f"{number:02d}") for number in numbers)


def date() -> Expr:
    """A day of the years 1000 to 2999 that there is, yyyy-mm-dd."""
    fours = alt((seq("0", chars("48")), seq(chars("2468"), chars("048")), seq(chars("13579"), chars("26"))))
    centuries = alt((seq("1", chars("26")), seq("2", chars("048"))))
    leap = alt((seq(chars("12"), _DIGIT, fours), seq(centuries, "00")))
    year = seq(chars("12"), Repeat(_DIGIT, 3, 3))
    days = alt(
        (
            seq(_months(1, 3, 5, 7, 8, 10, 12), "-", _two_digits_between(1, 31)),
            seq(_months(4, 6, 9, 11), "-", _two_digits_between(1, 30)),
            seq("02-", _two_digits_between(1, 28)),
        )
    )
    return alt((seq(year, "-", days), seq(leap, "-02-29")))


def time() -> Expr:
    """A time of day, hh:mm, with seconds or without."""
    return seq(_two_digits_between(0, 23), ":", chars("0-5"), _DIGIT, opt(seq(":", chars("0-5"), _DIGIT)))


def date_time() -> Expr:
    """A day and a time."""
    zone = alt((Text("Z"), seq(chars("+-"), _two_digits_between(0, 23), ":", chars("0-5"), _DIGIT)))
    return seq(
        date(),
        "T",
        _two_digits_between(0, 23),
        ":",
        chars("0-5"),
        _DIGIT,
        ":",
        chars("0-5"),
        _DIGIT,
        opt(zone),
    )


FORMATS: Mapping[str, Callable[[], Expr]] = {"date": date, "time": time, "date-time": date_time}
"""The formats of texts that are held."""


# ---------------------------------------------------------------- how notations write values
@dataclass(frozen=True, slots=True)
class ValueForm:
    """How a notation writes values.

    Args:
        quote: What stands around a text.
        char: A character of a text.
        constant: A value that a catalog lists, as it is written; None where it cannot be.
        booleans: The words for true and false, each in all the ways that plans have it.
        null: The word for that.
        objects: Whether objects can be written.
        keyed: What stands between a field's name and its value.
        numbers: What stands around numbers and words: nothing, or the quotes of a text.
        counted: A character of a text that has a limit; `char` when None.
        marks: Names that no field of an object can have, for they mean something of their own.
    """

    quote: str
    char: Expr
    constant: Callable[[Any], str | None]
    booleans: tuple[str, ...] = ("true", "false")
    null: str = "null"
    objects: bool = True
    keyed: str = ": "
    numbers: str = ""
    counted: Expr | None = None
    marks: tuple[str, ...] = ()

    def text(self, length: tuple[int | None, int | None] = (None, None)) -> Expr:
        """A text of so many characters."""
        least, most = length[0] or 0, length[1]
        if most is not None and (most < least or most < 0):
            return NEVER
        most = most if most is not None and most <= MAX_LENGTH else None
        char = self.char if most is None or self.counted is None else self.counted
        return seq(self.quote, Repeat(char, min(least, MAX_LENGTH), most), self.quote)

    def bare(self, inner: Expr | str) -> Expr:
        """A number or a word."""
        return seq(self.numbers, inner, self.numbers)


def _json_constant(value: Value) -> str | None:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if any("\ud800" <= char <= "\udfff" for char in text) else text


def _nestful_constant(value: Value) -> str | None:
    return _json_constant(value) if nestful.read_references(value) == value else None


def _plan_constant(value: Value) -> str | None:
    text = _json_constant(value)
    return None if isinstance(value, (list, dict)) and text is not None and '"$' in text else text


def _python_constant(value: Value) -> str | None:
    try:
        return python_write.format_value(value, lambda ref: "")
    except WriteError:
        return None


def _appbench_constant(value: Value, texts: bool) -> str | None:
    if texts and value is not None and not isinstance(value, (str, list, dict)):
        value = json.dumps(value)
    try:
        line = appbench.write(Plan((Call("c1", "f", (("a", value),)),)))
    except (WriteError, ParseError):
        return None
    return line[len("f(#a=") : -1]


def value_form(dialect: str, *, texts: bool = False) -> ValueForm:
    """How a dialect writes values.

    Args:
        dialect: One of those that grammars are written for.
        texts: Whether the catalog writes every value as text.
    """
    if dialect == "appbench":
        constant = partial(_appbench_constant, texts=texts)
        form = ValueForm(
            "'", APPBENCH_CHAR, constant, _APPBENCH_BOOLEANS, "None", objects=False, counted=_PLAIN_CHAR
        )
        return replace(form, null="null", numbers="'") if texts else form
    if dialect == "pythonic":
        return ValueForm('"', JSON_CHAR, _python_constant, ("True", "False"), "None")
    if dialect == "nestful":
        return ValueForm('"', NESTFUL_CHAR, _nestful_constant, counted=_KEY_CHAR)
    if dialect == "plan":
        return ValueForm('"', JSON_CHAR, _plan_constant, marks=("$ref", "$template", "$literal"))
    return ValueForm('"', JSON_CHAR, _json_constant)
