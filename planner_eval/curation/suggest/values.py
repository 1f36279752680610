"""Literals that are not what a tool takes, made into what they may mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.catalogs.catalog import ANY, Type
from planner_eval.catalogs.value_errors import ValueChecker
from planner_eval.comparison.policy.dates import moment, normalise_date, possible_dates
from planner_eval.curation.audit.words import TABLES, word_set
from planner_eval.curation.shrink.pairs import items_of
from planner_eval.curation.suggest.candidates import (
    are_opposites,
    find_stray_words,
    name_similarity,
    normalize_name,
    words,
)
from planner_eval.plan.model import Ref, Template, Unresolved, Value
from planner_eval.reading.files.fields import ABSENT
from planner_eval.reading.files.frameworks import parse_literal

_MAX_DEPTH = 12
_MAX_ITEMS = 200
"""Items of a list, and fields of an object, that are looked at."""

_MAX_ALLOWED_VALUES = 200
"""Allowed values that are looked at."""

_MAX_CHARACTERS = 300
"""Characters of a number, and of an allowed value in which numbers are looked for."""

_MAX_SHORT_WORD_LETTERS, _MAX_CODE_LETTERS = 3, 5
"""Letters of words, and of codes in capitals, that are no typos of one another."""

_LETTER_SIMILARITY_SCORE = 0.6
"""How sure a likeness of letters alone is: less than what a patch takes."""

_MAX_EXACT_INTEGER = 1e15
_WRAPPER_FIELDS = ("value", "text", "$value", "const")
"""Fields in which models wrap a plain value."""

_TRUE_WORDS = word_set("true_words")
_FALSE_WORDS = word_set("false_words")
NUMBER_WORDS: dict[str, int] = TABLES["numbers"]
SCALES: dict[str, int] = TABLES["scales"]
_DIGITS = r"[-+\u2212]?(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?"
_BARE_NUMBER = re.compile(_DIGITS)
_DECIMAL_NUMBER = re.compile(r"[-+\u2212]?(?:\d*\.\d+|\d+\.)(?:[eE][-+]?\d{1,3})?|[-+]?\d+[eE][-+]?\d{1,3}")
_NUMBERS_IN_TEXT = re.compile(r"(?<!\w)-?[.,]?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*")
"""The numbers in a text, each with its sign and point."""

_MEANINGFUL_SIGNS = re.compile(r"[^\w\s.,:;/'\"`()\[\]{}-]|(?<!\w)-|-(?!\w)")
"""Signs that do more than divide words: ``O+`` is no ``O-``, ``<5`` no 5, and ``-price`` another order."""
_NUMBER_WITH_UNIT = re.compile(
    rf"(?:([^\W\d_]{{1,30}}|[$€£¥%])\s*)?({_DIGITS})(?:\s*([^\W\d_]{{1,30}}|[$€£¥%]))?"
)
CURRENCIES: dict[str, str] = {
    form: unit for unit, forms in TABLES["unit_forms"].items() for form in (unit, *forms)
}
_NO_UNIT = word_set("no_unit_words")
"""Words beside a number that make another number of it, and are no unit."""

_COUNTED_NOUN = re.compile(r"\b(?:in|of|many)\s+([^\W\d_]+)")
_FRACTION = re.compile(r"\b(?:fraction|ratio|decimal|0\.\d|0 (?:to|and) 1|0-1)\b")
_TIME_AT_END = re.compile(
    r"(?i)[T ]\d{1,2}(?::\d\d)+(?:\.\d+)?(?: ?[ap]\.?m\.?)?\s*(?:Z|UTC|GMT|[-+]\d\d:?\d\d)?$"
)
_TIME_SEPARATOR = re.compile(r"(?<=\d)[.h](?=\d\d)")
_ITEM_SEPARATOR = re.compile(r"(?i)[;|/&\n]|\b(?:and|or)\b")
"""What divides the items that a text may list; of commas the list itself is told."""
_UNSURE_SCORE = 0.55


class Interpretation(NamedTuple):
    """What a value may mean.

    Args:
        value: The value.
        reason: How it was read.
        score: How sure that is, from 0 to 1.
    """

    value: Value
    reason: str
    score: float

    def within(self, what: str, factor: float) -> Interpretation:
        """The same of what holds it: less sure by a factor."""
        return self._replace(reason=f"{what}; {self.reason}", score=factor * self.score)


def find_interpretations(
    value: Value, kind: Type, validator: ValueChecker, about: str = ""
) -> list[Interpretation]:
    """What a value may mean that is not of a type, the likeliest first.

    Args:
        value: The literal, possibly with references inside, which stay.
        kind: What it should be.
        validator: Checks values against types.
        about: The argument's name and, in the lines below it, its description: they may name a unit.

    >>> [one.value for one in find_interpretations("3", Type(("integer",)), ValueChecker())]
    [3]
    >>> [one.value for one in find_interpretations("yes", Type(("boolean",)), ValueChecker())]
    [True]
    >>> [one.value for one in find_interpretations("econmy", Type(("string",), enum=("Economy", "First")),
    ...     ValueChecker())]
    ['Economy']
    """
    meanings_by_text: dict[str, Interpretation] = {}
    readings = ValueReader(validator, about).readings(value, kind)
    for reading in sorted(readings, key=lambda reading: -reading.score):
        if not validator.wrong(reading.value, kind):
            reading = reading._replace(value=format_for_catalog(reading.value, validator))
            meanings_by_text.setdefault(repr(reading.value), reading)
    return list(meanings_by_text.values())


def format_for_catalog(value: Value, validator: ValueChecker) -> Value:
    """A value as the plans of a catalog write it: of some every literal is text."""
    if validator.texts and isinstance(value, (bool, int, float)):
        return str(value)
    return value


class ValueReader(NamedTuple):
    """Reads the values of one argument, and what they hold.

    Args:
        validator: Checks values against types.
        about: The argument's name and, in the lines below it, its description.
        depth: How deep in the argument's value what is read lies.
    """

    validator: ValueChecker
    about: str
    depth: int = 0

    def readings(self, value: Value, kind: Type) -> Iterator[Interpretation]:
        """What a value may mean, whether it is of the type then or not."""
        kind = kind.unfolded
        if self.depth > _MAX_DEPTH or isinstance(value, (Ref, Unresolved, Template)):
            return
        deeper = self._replace(depth=self.depth + 1)
        for member in kind.any_of:
            yield from deeper.readings(value, member)
        if kind.enum is not None:
            yield from _match_allowed_values(value, kind, self.about)
        if isinstance(value, str):
            yield from _interpret_text(value, kind, self.about)
        elif isinstance(value, (int, float)):
            yield from _interpret_number(value, kind.kinds)
        elif isinstance(value, (list, dict)) and len(value) <= _MAX_ITEMS:
            if _CONTAINER_KINDS.get(type(value)) in kind.kinds:
                yield from deeper._read_items(value, kind)
            else:
                yield from deeper._unwrap(value, kind)
        if "array" in kind.kinds and not isinstance(value, list):
            yield from deeper._wrap(value, kind)

    def _wrap(self, value: Value, kind: Type) -> Iterator[Interpretation]:
        """A list of one value; a text may be several."""
        text = value.strip() if isinstance(value, str) else "x"
        if text:
            is_plain = text[0] not in "[{(" and not _ITEM_SEPARATOR.search(text) and text != "None"
            score = 0.85 if is_plain else _UNSURE_SCORE
            yield Interpretation([value], "a list of this one value", score)
        for reading in self.readings(value, kind.items or ANY):
            yield reading.within("a list of one value", 0.9)._replace(value=[reading.value])

    def _read_items(self, value: list[Value] | dict[str, Value], kind: Type) -> Iterator[Interpretation]:
        """A list or an object with its items read, and its fields renamed to the nearest that there are."""
        free = [field.name for field in kind.fields if field.name not in value]
        items: dict[str | int, Value] = {}
        least, reasons = 1.0, []
        for step, item in items_of(value).items():
            inner, name = kind.at((step,)), step
            if inner is None and isinstance(step, str):
                name = max(free, key=partial(name_similarity, step), default="")
                close = name_similarity(step, name)
                if close < 0.5:
                    return
                free.remove(name)
                inner, least = kind.at((name,)), min(least, 0.95 * close)
                reasons.append(f"the field {step[:40]!r} is called {name!r}")
            best = self.best(item, inner or ANY)
            if best is None:
                return
            items[name], least = best.value, min(least, best.score)
            where = f"item {name + 1}" if isinstance(name, int) else name
            reasons += [f"{where}: {best.reason}"] if best.reason else []
        if reasons:
            read = [*items.values()] if isinstance(value, list) else items
            yield Interpretation(read, "; ".join(reasons[:3]), least)

    def _unwrap(self, value: list[Value] | dict[str, Value], kind: Type) -> Iterator[Interpretation]:
        """What a list or an object holds, in its place: its only item, or the field called value."""
        items = items_of(value)
        texts = [item for item in items.values() if isinstance(item, str)] if isinstance(value, list) else []
        if "string" in kind.kinds and value and len(texts) == len(items):
            yield Interpretation(", ".join(texts), "the items as one text", 0.5)
        key = next(iter(items), "value") if len(items) == 1 else "value"
        if key not in items:
            return
        sure = 1.0 if key in _WRAPPER_FIELDS or isinstance(key, int) else 0.6
        base = 0.85 if isinstance(key, int) else 0.88
        what = "the only item of the list" if isinstance(key, int) else f"the object's {key[:40]!r}"
        yield Interpretation(items[key], what, base * sure)
        for reading in self.readings(items[key], kind):
            yield reading.within(what, 0.9 * sure)

    def best(self, value: Value, kind: Type) -> Interpretation | None:
        """A value as it is where it is of a type, else the likeliest that it may mean."""
        if not self.validator.wrong(value, kind):
            return Interpretation(value, "", 1.0)
        fitting = (
            reading for reading in self.readings(value, kind) if not self.validator.wrong(reading.value, kind)
        )
        return max(fitting, key=lambda reading: reading.score, default=None)


_CONTAINER_KINDS = {list: "array", dict: "object"}


def _interpret_number(value: float, kinds: tuple[str, ...]) -> Iterator[Interpretation]:
    """A number or a truth value as something else."""
    if isinstance(value, bool):
        text = str(value).lower()
        if "string" in kinds:
            yield Interpretation(text, "the boolean as text", 0.85)
        if "integer" in kinds:
            yield Interpretation(int(value), f"{text} means {int(value)}", 0.5)
        return
    if "string" in kinds:
        yield Interpretation(str(value), f"the number {value} as text", 0.9)
    if "boolean" in kinds and value in (0, 1):
        yield Interpretation(bool(value), f"{value} means {str(bool(value)).lower()}", 0.85)
    if (
        "integer" in kinds
        and isinstance(value, float)
        and value.is_integer()
        and abs(value) < _MAX_EXACT_INTEGER
    ):
        yield Interpretation(int(value), f"{value} as a whole number", 0.95)


def _match_allowed_values(value: Value, kind: Type, about: str) -> Iterator[Interpretation]:
    """Allowed values that come close: by case and signs, a typo, an initial, or as the same number.

    What is merely like the value by letters scores less than what a patch takes.
    """
    stripped = str(value).strip()
    number = _parse_number(stripped)
    for allowed in (kind.enum or ())[:_MAX_ALLOWED_VALUES]:
        text = str(allowed)
        if text == stripped:
            is_same_type = isinstance(allowed, str) == isinstance(value, str)
            how = ", without the space around it" if is_same_type else " by what is written, not by type"
            yield Interpretation(allowed, f"the allowed value{how}", 0.97)
        elif text.casefold() == stripped.casefold():
            yield Interpretation(allowed, "the allowed value except for case", 0.97)
        elif number is not None and _parse_number(text) is not None:
            if number == _parse_number(text):
                yield Interpretation(allowed, f"the allowed value {text[:40]}, as a number", 0.95)
        elif not isinstance(allowed, str) or not isinstance(value, (str, int, float)):
            continue
        elif normalize_name(text) == normalize_name(stripped) and normalize_name(text):
            exact = _numbers_and_signs(text) == _numbers_and_signs(stripped)
            yield Interpretation(
                allowed, "the allowed value except for case and punctuation", 0.95 if exact else 0.55
            )
        elif not are_opposites(stripped, text):
            shorter, longer = sorted((normalize_name(stripped), normalize_name(text)), key=len)
            begins = shorter and longer.startswith(shorter)  # as F does for Fahrenheit
            close = max(name_similarity(stripped, text), 0.85 if begins else 0.0)
            if close > 0.5:
                sure = 0.9 if _is_allowed_value(stripped, text, about) else _LETTER_SIMILARITY_SCORE
                yield Interpretation(allowed, "the nearest of the allowed values", sure * close)


def _parse_number(text: str) -> Decimal | None:
    """The number that a text is, in figures or in words; None for any other text."""
    if len(text) > _MAX_CHARACTERS:
        return None
    if _BARE_NUMBER.fullmatch(text) or _DECIMAL_NUMBER.fullmatch(text):
        return _read_digits(text)
    number = number_in_words(text)
    return None if number is None else Decimal(number)


def _read_digits(digits: str) -> Decimal:
    return Decimal(re.sub(r"[, \u00a0\u202f]", "", digits).replace("\u2212", "-"))


def _numbers_and_signs(text: str) -> list[list[str]]:
    """What two texts have alike that mean one thing, however their words are divided."""
    return [pattern.findall(text[:_MAX_CHARACTERS]) for pattern in (_NUMBERS_IN_TEXT, _MEANINGFUL_SIGNS)]


def _is_allowed_value(value_text: str, text: str, about: str) -> bool:
    """Whether a text is an allowed value misspelt, its initial, or with words of the argument's name."""
    if len(value_text) == 1 and value_text.isalpha():
        return len(text) > _MAX_SHORT_WORD_LETTERS and normalize_name(text).startswith(
            normalize_name(value_text)
        )
    if max(len(value_text), len(text)) <= _MAX_CODE_LETTERS and value_text.isupper() and text.isupper():
        return False  # USD is no typo of AUD
    value_words, allowed_words = find_stray_words(value_text, text, synonyms=False)
    if (
        _numbers_and_signs(value_text) != _numbers_and_signs(text)
        or min(len(value_text), len(text)) <= _MAX_SHORT_WORD_LETTERS
    ):
        return False
    named = {*words(about.partition("\n")[0])}
    return not {*value_words, *allowed_words} - named


def _interpret_text(text: str, kind: Type, about: str) -> Iterator[Interpretation]:
    kinds, bare = kind.kinds, text.strip()
    if len(bare) > 10_000:
        return
    low = bare.casefold()
    if "boolean" in kinds and (low in _TRUE_WORDS or low in _FALSE_WORDS):
        yield Interpretation(low in _TRUE_WORDS, f"{bare!r} means {str(low in _TRUE_WORDS).lower()}", 0.93)
    if "null" in kinds and low in ("null", "none", "nil", ""):
        yield Interpretation(None, f"{bare!r} means null", 0.8)
    if {"integer", "number"} & set(kinds):
        yield from _interpret_numeric_text(bare, about)
    if {"array", "object"} & set(kinds):
        is_written = bare[:1] in ("[", "{", "(")
        parsed = loads_if_json(bare, DEFAULT_LIMITS) if is_written else None
        if parsed and len(parsed) == 1:
            yield Interpretation(parsed[0], "the JSON in the text", 0.95)
        elif is_written and (literal := parse_literal(bare)) is not ABSENT:
            yield Interpretation(literal, "the Python literal in the text", 0.9)
        if "array" in kinds and "," in bare and not is_written:
            items = [item.strip() for item in bare.split(",")][:_MAX_ITEMS]
            yield Interpretation(items, "the comma-separated list", 0.86)
    yield from _interpret_moment(bare, kind.format)


def _interpret_moment(bare: str, format: str | None) -> Iterator[Interpretation]:
    """A date or a time in the form that is wanted."""
    if format == "date":
        day = normalise_date(bare)
        if day != bare:
            yield Interpretation(day, "the date as yyyy-mm-dd", 0.95)
        for reading in sorted(possible_dates(bare), key=str):
            yield Interpretation(reading, "the date as yyyy-mm-dd, with day and month in either order", 0.55)
        if _TIME_AT_END.match(bare[10:]):
            yield Interpretation(bare[:10], "the day without the time", 0.85)
    if format == "time" and (when := moment(_TIME_SEPARATOR.sub(":", bare))) is not None:
        yield Interpretation(when[1], "the time as hh:mm", 0.93)
    if format == "date-time" and isinstance(day := normalise_date(bare), str):
        yield Interpretation(f"{day}T00:00:00", "the start of the day", 0.5)


def number_in_words(text: str) -> int | None:
    """The number that words say, from the first to the last; None for any other text.

    >>> number_in_words("twenty-five"), number_in_words("two hundred and five"), number_in_words("5 dozen")
    (25, 205, None)
    """
    number_words = re.split(r"[\s-]+", text.casefold().strip(), maxsplit=20)
    if not number_words[0] or len(number_words) > 12 or number_words[0] not in NUMBER_WORDS:
        return None
    total, group, last = 0, 0, 1_000  # what is ended by a thousand, what is not, and what may yet be added to
    for index, word in enumerate(number_words):
        if word in NUMBER_WORDS and NUMBER_WORDS[word] < last:
            group, last = group + NUMBER_WORDS[word], 10 if NUMBER_WORDS[word] >= 20 else 0
        elif word == "hundred" and 0 < group < 10:
            group, last = group * 100, 100
        elif word in SCALES and word != "hundred" and group and (not total or SCALES[word] < total):
            total, group, last = total + group * SCALES[word], 0, 1_000
        elif word != "and" or number_words[index - 1] not in SCALES or index == len(number_words) - 1:
            return None
    return total + group


def is_counted_in(unit: str, about: str) -> bool:
    r"""Whether an argument is counted in a unit: by its name, or as in "in weeks", "number of seats".

    Args:
        unit: A word or a sign beside a number.
        about: The name and, in the lines below it, the description.

    >>> (
    ...     is_counted_in("stars", "min_stars"), is_counted_in("%", "rate\nin percent"),
    ...     is_counted_in("weeks", "days")
    ... )
    (True, True, False)
    """
    if unit.casefold() in _NO_UNIT:
        return False
    name, _, description = about[:2_000].partition("\n")
    units = {_normalize_unit(word) for word in (*words(name), *_COUNTED_NOUN.findall(description.casefold()))}
    units |= {
        _normalize_unit(word)
        for word in re.findall(r"[$€£¥%]|[^\W_]+", description)
        if word.casefold() in CURRENCIES
    }
    if _normalize_unit(unit) not in units:
        return False
    return _normalize_unit(unit) != "percent" or not _FRACTION.search(description.casefold())


def _normalize_unit(word: str) -> str:
    """One form of a unit that is written in several."""
    low = word.casefold()
    return CURRENCIES.get(low) or low.rstrip("s") or low


def _interpret_numeric_text(bare: str, about: str) -> Iterator[Interpretation]:
    """The number that a text is from its first letter to its last, but for a unit that the argument names."""
    number, sure, reason = _parse_number(bare), 0.9, f"{bare[:40]!r} as a number"
    match = _NUMBER_WITH_UNIT.fullmatch(bare)
    if match is not None and len(match[2]) <= _MAX_CHARACTERS:
        before, digits, after = match.groups()
        number, unit = _read_digits(digits), before or after
        scale = SCALES.get((after or "").casefold())
        if scale is not None and before is None:
            number *= scale
            number = None if number % 1 else number
        elif (before and after) or (unit is not None and not is_counted_in(unit, about)):
            return
        else:
            sure, reason = 0.95 if unit is None else 0.75, f"the text {reason}"
            reason += " with a comma between thousands" if "," in digits else ""
            reason += f" of {unit}, the unit in which it is given" if unit else ""
            if "." in digits:
                yield Interpretation(float(number), reason, sure)
                number, sure = (None, sure) if number % 1 else (number, sure - 0.05)
    elif number_in_words(bare) is None:
        return
    if number is not None:
        yield Interpretation(int(number), reason, sure)
