"""Identifiers that a text says: as a whole, however they are divided or spelled, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple

MIN_DIGITS = 3
"""A word with so many digits is a code."""
_MAX_CHARACTERS = 100
"""A text of more characters is no code."""
_MIN_DIVIDED_CHARACTERS = 5
"""A number of fewer digits is not said by digits that stand apart: "10-15" is not 1015."""
_MIN_LONG_NUMBER_DIGITS = 6
"""So many digits are no range downwards, and with letters behind them no quantity but of a known unit."""

_JOINED_TOKEN = re.compile(r"[A-Za-z0-9]*+(?:[-_][A-Za-z0-9]++)*+")
_QUANTITY = re.compile(r"(\d++)([A-Za-z]++)")
_NUMBERED_WORD = re.compile(r"[A-Za-z][a-z]{1,30}+\d{1,4}+")
"""A word and its number, written together: "top100", "Room1204"."""
_PRICE = re.compile(r"(?:usd?|eur|gbp|inr|rs|re|cad|aud|jpy|chf|cny|krw)\d++", re.IGNORECASE)
_UNITS = re.compile(
    r"[kmbgwvacfltshdxp]|[km]g|[kmc]m|ml|[kmgt]b|[kmg]?hz|kwh?|mah|[ap]m|ad|bc|ft|lbs?|oz|mi|mph|kmh|th|st|nd|rd"
    r"|px|hp|cc|usd|eur|gbp|inr|cad|aud|jpy|chf|cny|krw",
    re.IGNORECASE,
)
_DIGIT_GROUP_BEFORE, _DIGIT_GROUP_AFTER = re.compile(r"\d[.,]$"), re.compile(r"[.,]\d")
"""What makes digits a part of a number: "1,500" is not 500."""
_DATE = re.compile(r"(?:19|20)\d\d-\d\d?(?:-\d\d?)?|\d\d?-\d\d?-(?:\d\d)?\d\d")
_TWO_NUMBERS = re.compile(r"(\d+)([-–x×/:~])(\d+)")
_PERIOD = re.compile(r"(?:19|20)\d\d[-_/]?[A-Za-z]{1,4}[-_]?\d{0,2}")
_PLAIN_WORD = re.compile(r"(?:^|[^A-Za-z\d])[A-Za-z]{4,}+(?![A-Za-z\d])")
_WORD = re.compile(r"[A-Za-z\d#/_+:()–×~-]++")
_DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SPELLED_DIGIT = r"(?:oh|" + "|".join(_DIGIT_WORDS) + ")"
_SPELLED_DIGITS = re.compile(rf"\b{_SPELLED_DIGIT}(?:[ ,-]{{1,2}}{_SPELLED_DIGIT}){{2,99}}+\b", re.IGNORECASE)


class LongerCode(NamedTuple):
    """A longer code that a text says instead of a value which is a part of it.

    Args:
        span: Where the longer one stands.
        apart: Whether hyphens part the value from the rest: "AB-1234" of "AB-1234-XY".
    """

    span: Span
    apart: bool


def is_code(text: str) -> bool:
    """Whether a text is an identifier: a word with three digits or more, or groups of them; no amount.

    >>> [is_code(one) for one in ("A-77120", "4471", "$500", "250ml", "3.14", "Terminal 400")]
    [True, True, False, False, False, False]
    """
    pieces = text.split()
    text = "".join(pieces) if all(any(c.isdecimal() for c in piece) for piece in pieces) else text
    if not 4 <= len(text) <= _MAX_CHARACTERS or _WORD.fullmatch(text) is None or _is_amount(text):
        return False
    return sum(c.isdecimal() for c in text) >= MIN_DIGITS


def is_composed(text: str) -> bool:
    """Whether a code may be made of words and numbers that a question says apart: a range, a name of a file.

    >>> [is_composed(one) for one in ("500-1000", "1920x1080", "2024-summer", "2024Q3", "20045-2026")]
    [True, True, True, True, False]
    """
    two = _TWO_NUMBERS.fullmatch(text)
    if two is not None:
        return two[2] not in "-–" or int(two[1]) < int(two[3])
    return _PERIOD.fullmatch(text) is not None or (
        text[:1].isdecimal() and _PLAIN_WORD.search(text) is not None
    )


def find_whole_code(value: str, text: str) -> Span | None:
    """Where a text says a code or number as a whole, however it is divided, or its digits one by one.

    Args:
        value: The code.
        text: The question.

    >>> said = "AB-1234-XY, then 99-812 and one two three four"
    >>> [find_whole_code(one, said) is not None for one in ("AB1234XY", "AB-1234", "99812", "1234")]
    [True, False, True, True]
    """
    for span in _find_occurrences(value, text):
        before, after = _adjoining_text(text, span)
        if not any(map(_belongs_to_code, (before, after))):
            return span
    digits = "".join(c for c in value if c.isalnum()).lstrip("0")
    for match in _SPELLED_DIGITS.finditer(text) if digits.isdecimal() else ():
        if _parse_spelled_digits(match[0]).lstrip("0") == digits:
            return match.span()
    return None


def find_longer_code(value: str, text: str) -> LongerCode | None:
    """A longer code of a text that a value is a part of.

    Args:
        value: The code or number.
        text: The question.

    >>> [find_longer_code(one, "track RX123456789DE, AB-1234-XY") for one in ("RX123456789", "AB-1234",
    ...     "9999")]
    [LongerCode(span=(6, 19), apart=False), LongerCode(span=(21, 31), apart=True), None]
    """
    for span in _find_occurrences(value, text):
        before, after = _adjoining_text(text, span)
        if before or after:
            is_divided = before[-1:] in ("", "-", "_") and after[:1] in ("", "-", "_")
            return LongerCode((span[0] - len(before), span[1] + len(after)), is_divided)
    return None


def is_within_code(text: str, span: Span) -> bool:
    """Whether digits are only a part of a code, and no number by themselves.

    Args:
        text: The text.
        span: Where the digits stand; few of them are a number wherever they are.

    >>> said = "RX123456789DE, 4471-2290, 500-1000, USD500, 2500ml, 2024-05-01"
    >>> [is_within_code(said, (at, at + 3)) for at in map(said.find, ("123", "447", "500", "250", "202"))]
    [True, True, False, False, False]
    """
    end = span[0]
    while text[end : end + 1].isdecimal() and end < span[1]:
        end += 1
    if end - span[0] < MIN_DIGITS:
        return False
    start, end = _enclosing_token(text, (span[0], end))
    return end - start <= _MAX_CHARACTERS and _is_whole_code(text[start:end])


def _is_whole_code(token: str) -> bool:
    """Whether a word is a code whose digits are no numbers: neither a range, nor a quantity, nor a date."""
    segments = re.split("[-_]", token)
    if any(not (segment.isalpha() or segment.isdecimal() or _is_amount(segment)) for segment in segments):
        return True
    if len(segments) == 1 or _DATE.fullmatch(token):
        return False
    if all(segment.isdecimal() for segment in segments):
        digits = sum(map(len, segments))
        return len(segments) > 2 or (
            digits >= _MIN_LONG_NUMBER_DIGITS and int(segments[0]) >= int(segments[1])
        )
    first = segments[0]
    return first.isalpha() and first.isupper() and len(first) <= 5 and not _PRICE.fullmatch(f"{first}1")


def _is_amount(text: str) -> bool:
    """Whether letters and digits are a quantity with its unit, a price, or a word with its number."""
    if (match := _QUANTITY.fullmatch(text)) is not None:
        digits, unit = match[1], match[2]
        return _UNITS.fullmatch(unit) is not None or (
            unit.islower() and len(digits) < _MIN_LONG_NUMBER_DIGITS
        )
    return _PRICE.fullmatch(text) is not None or _NUMBERED_WORD.fullmatch(text) is not None


def _find_occurrences(value: str, text: str) -> Iterator[Span]:
    """Where the letters and digits of a value stand behind one another, whatever divides them."""
    letters = [c for c in value if c.isalnum()]
    if not letters or len(value) > _MAX_CHARACTERS:
        return
    bare = all(c.isdecimal() for c in letters)
    between = ("" if len(letters) < _MIN_DIVIDED_CHARACTERS else r"[ \-–/()]{0,2}") if bare else r"[\W_]{0,3}"
    if bare and not value.isdecimal() and len(letters) >= MIN_DIGITS:
        between = r"[ \-–/()_]{0,2}"
    for match in re.finditer(between.join(map(re.escape, letters)), text, re.I | re.A):
        start, end = match.span()
        if not (
            bare
            and (
                _DIGIT_GROUP_BEFORE.search(text, max(0, start - 2), start)
                or _DIGIT_GROUP_AFTER.match(text, end)
            )
        ):
            yield start, end


def _adjoining_text(text: str, span: Span) -> tuple[str, str]:
    """What a place is joined with, before it and behind it."""
    start, end = _enclosing_token(text, span)
    return text[start : span[0]], text[span[1] : end]


def _enclosing_token(text: str, span: Span) -> Span:
    """The letters and digits, joined by hyphens, that a place lies in; few of them are looked at."""
    start = max(0, span[0] - _MAX_CHARACTERS)
    before = text[start : span[0]][::-1]
    left, right = _JOINED_TOKEN.match(before), _JOINED_TOKEN.match(text, span[1], span[1] + _MAX_CHARACTERS)
    return span[0] - (left.end() if left else 0), right.end() if right else span[1]


def _belongs_to_code(affix: str) -> bool:
    """Whether what stands beside a code belongs to it; a word of a sentence does not: "AB1234-compatible"."""
    bare = affix.strip("-_")
    return bool(bare) and not (bare != affix and re.fullmatch(r"[a-z]{3,}+(?:-[a-z]++)*+", bare))


def _parse_spelled_digits(spelled: str) -> str:
    words = re.split("[ ,-]+", spelled.casefold())
    return "".join("0" if word == "oh" else str(_DIGIT_WORDS.index(word)) for word in words)
