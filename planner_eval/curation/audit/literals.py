"""Identifiers and numbers that a text says, in whatever form, and numbers that nobody has to say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import pi

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.policy.values import normalise_number, number_of
from planner_eval.curation.audit.quantities import scientific_numbers
from planner_eval.curation.audit.words import FUNCTION_WORDS, TABLES, Ground
from planner_eval.plan.model import Call, Ref, Unresolved, Value, leaves
from planner_eval.reading.files.context import NUMBER_WORD

# ----------------------------------------------------------------------
# Identifiers that a text says: as a whole, however they are divided or spelled, or not at all.
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
_PRICE = re.compile(r"(?i)(?:usd?|eur|gbp|inr|rs|re|cad|aud|jpy|chf|cny|krw)\d++")
_UNITS = re.compile(
    r"(?i)[kmbgwvacfltshdxp]|[km]g|[kmc]m|ml|[kmgt]b|[kmg]?hz|kwh?|mah|[ap]m|ad|bc|ft|lbs?|oz|mi|mph|kmh|th|st|nd|rd"
    r"|px|hp|cc|usd|eur|gbp|inr|cad|aud|jpy|chf|cny|krw"
)
_DIGIT_GROUP_BEFORE, _DIGIT_GROUP_AFTER = re.compile(r"\d[.,]$"), re.compile(r"[.,]\d")
"""What makes digits a part of a number: "1,500" is not 500."""
_DATE = re.compile(r"(?:19|20)\d\d-\d\d?(?:-\d\d?)?|\d\d?-\d\d?-(?:\d\d)?\d\d")
_TWO_NUMBERS = re.compile(r"(\d+)([-–x×/:~])(\d+)")
_PERIOD = re.compile(r"(?:19|20)\d\d[-_/]?[A-Za-z]{1,4}[-_]?\d{0,2}")
_PLAIN_WORD = re.compile(r"(?:^|[^A-Za-z\d])[A-Za-z]{4,}+(?![A-Za-z\d])")
_WORD = re.compile(r"[A-Za-z\d#/_+:()–×~-]++")
_NUMBER_WORDS: dict[str, int] = TABLES["numbers"]
_DIGIT_WORDS = (*_NUMBER_WORDS,)[:10]
_SPELLED_DIGIT = r"(?:oh|" + "|".join(_DIGIT_WORDS) + ")"
_SPELLED_DIGITS = re.compile(rf"(?i)\b{_SPELLED_DIGIT}(?:[ ,-]{{1,2}}{_SPELLED_DIGIT}){{2,99}}+\b")


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
    for spelling in dict.fromkeys((value, _strip_label(value))):
        for span in _find_occurrences(spelling, text):
            before, after = _adjoining_text(text, span)
            if not any(map(_belongs_to_code, (before, after))):
                return span
    digits = "".join(c for c in value if c.isalnum()).lstrip("0")
    for match in _SPELLED_DIGITS.finditer(text) if digits.isdecimal() else ():
        spelled = re.split("[ ,-]+", match[0].casefold())
        said = "".join("0" if word == "oh" else str(_DIGIT_WORDS.index(word)) for word in spelled)
        if said.lstrip("0") == digits:
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


_LABEL = re.compile(
    r"(?i)(?:id|no|nr|num|number|ref|order|account|acct|acc|case|ticket|booking|user|customer|invoice)"
)
"""What may be written before an identifier without being a part of it: "ID123456789"."""


def _belongs_to_code(affix: str) -> bool:
    """Whether what stands beside a code belongs to it; a word of a sentence does not: "AB1234-compatible"."""
    bare = affix.strip("-_")
    if _LABEL.fullmatch(bare):
        return False
    return bool(bare) and not (bare != affix and re.fullmatch(r"[a-z]{3,}+(?:-[a-z]++)*+", bare))


def _strip_label(value: str) -> str:
    """An identifier without a label that is written before its digits."""
    match = _LABEL.match(value)
    return value[match.end() :].lstrip("-_# ") if match and value[match.end() :].isdecimal() else value


# ----------------------------------------------------------------------
# Numbers that a text says, in whatever form, and numbers that nobody has to say.
# ----------------------------------------------------------------------
# Numbers that a text says: digits, fractions, percentages, number words, ordinals, and words that count.
_MAX_DIGITS = 300
"""A number of more digits is none that a float holds."""


class Amount(NamedTuple):
    """A number that a text says.

    Args:
        value: The number.
        span: Where it stands.
    """

    value: float
    span: Span


_QUANTITY_WORDS: dict[str, float] = TABLES["counts"]
_SCALE_SUFFIXES: dict[str, float] = TABLES["scale_suffixes"]
_SCALES: dict[str, int] = TABLES["scales"]

# Every repetition is bounded or possessive: a text of a model's takes time in proportion to its length.
_NUMBER = re.compile(
    rf"""(?ix)
    \b(?P<dozen> half(?:\ a)?\ dozen )\b
  | \b(?P<more> (?P<many>an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{{1,3}})
      (?:\ \w{{1,12}})?\ and\ (?:a|one)\ half )\b
  | (?P<digits> \d++(?:,\d++)*+(?:\.\d++)?+ | (?<!\w)\.\d++ )
      (?:\ ?(?P<over>/)\ ?(?P<below>\d{{1,12}}+(?:\.\d{{1,12}}+)?+)(?![\d/])
        | \ ?(?P<tail>{"|".join(_SCALE_SUFFIXES)})\b )?+
  | \b(?P<words> {NUMBER_WORD}(?:(?:[ -]|[ ]and[ ]){NUMBER_WORD})*+(?:[ -](?:first|second|third|fourth|fifth|
      sixth|seventh|eighth|ninth))?+ )\b
  | \b(?P<counts> {"|".join(sorted(_QUANTITY_WORDS, key=len, reverse=True))} )\b
  | \b(?P<pair> (?:me|myself|my\ \w{{1,20}}|him|her)\ and\ (?:me|myself|my\ \w{{1,20}}|him|her|i) )\b
    """
)


_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})++(?:\.\d++)?+")
_SPACED_NUMBER = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3}){1,4}+(?![\d.,]?\d)")
_MINUS = re.compile(r"(?:^|[\s(\[=:,])[-−]$")


def amounts(text: str) -> Iterator[Amount]:
    """The numbers that a text says, in order; one that can be read in two ways is given as both.

    >>> [amount.value for amount in amounts("$1,200 for me and my wife, 3 / 4 of a dozen, 5k")]
    [1200.0, 2.0, 3.0, 4.0, 0.75, 12.0, 5.0, 5000.0]
    """
    for match in _NUMBER.finditer(text):
        span, kind = match.span(), match.lastgroup
        values = [2.0]
        if match["digits"]:
            below = _MINUS.search(text, max(0, span[0] - 2), span[0]) is not None
            sign = -1.0 if below and not text[max(0, span[0] - 3) : span[0] - 2].isdecimal() else 1.0
            values = [sign * value for value in _read_digits(match)]
            if text[span[1] : span[1] + 1] == "M" and not text[span[1] + 1 : span[1] + 2].isalnum():
                values.append(sign * 1e6 * float(match["digits"].replace(",", "")[:_MAX_DIGITS]))
        elif kind == "words":
            values = [*_read_number_words(match["words"].casefold())]
        elif kind == "counts":
            values = [float(_QUANTITY_WORDS[match["counts"].casefold()])]
        elif kind == "dozen":
            values = [6.0]
        elif kind == "more":
            count = match["many"].casefold()
            whole_number = float(count) if count.isdecimal() else float(_NUMBER_WORDS.get(count, 1))
            values = [whole_number + 0.5, whole_number]
        yield from (Amount(value, span) for value in values)
    yield from (Amount(value, span) for value, span in scientific_numbers(text))
    for match in _SPACED_NUMBER.finditer(text):
        yield Amount(float(re.sub(r"\s", "", match[0])), match.span())


def _read_digits(match: re.Match[str]) -> Iterator[float]:
    """What a number in digits may mean: separated thousands are one number, or several."""
    digits = match["digits"]
    if len(digits) > _MAX_DIGITS:
        return
    value = float(digits.replace(",", ""))
    yield value
    if "," in digits and _THOUSANDS.fullmatch(digits) is None:
        groups = digits.split(",")
        yield from (float(group) for group in groups)
        if len(groups) == 2 and "." not in digits:
            yield float(digits.replace(",", "."))
    if match["over"]:
        below = float(match["below"])
        yield below
        if below:
            yield value / below
    elif match["tail"]:
        yield value * _SCALE_SUFFIXES[match["tail"].casefold()]


def _read_number_words(words: str) -> Iterator[float]:
    """What number words say together, and each by itself: "twenty five" is 25, "two three" are 2 and 3."""
    tokens = [token for token in re.split(r"[ \n-]", words) if token != "and"]
    total = current = 0
    alone: list[float] = []
    for token in tokens:
        if token in _SCALES:
            scale = _SCALES[token]
            current = max(current, 1) * scale
            if scale > 100:
                total, current = total + current, 0
        elif token == "dozen":
            current = max(current, 1) * 12
        else:
            value = int(_NUMBER_WORDS.get(token, _QUANTITY_WORDS.get(token, 0)))
            if value < 10 and alone and alone[-1] in range(20, 100, 10):
                alone[-1] += value
            else:
                alone.append(float(value))
            current += value
        if max(total, current) > 10**15:
            break
    yield float(total + current)
    if len(alone) > 1 and not any(token in _SCALES or token == "dozen" for token in tokens):
        yield from alone


# ----------------------------------------------------------------------
# Whether a question says a number: itself, in another unit, or as a sum of counts.
_UNIT_FACTORS = (2.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 1440.0, 3600.0, 86400.0)
_UNIT_WORDS = re.compile(
    r"(?i)\b(?:second|sec|minute|min|hour|hr|day|night|week|month|year|decade|annual\w{0,2}|yearly|monthly|weekly"
    r"|daily|km|kilomet\w{1,3}|met(?:er|re)|cm|mm|mile|kg|kilo|gram|pound|lb|lit(?:er|re)|ml|cent|dollar"
    r"|percent|degree|mb|gb|pair|couple|double|twice)s?\b|%|(?<=\d)(?:km|m|cm|mm|kg|g|h|min|s)\b"
)
_METRIC_UNITS = re.compile(
    r"(?i)(?:\b|(?<=\d))(?:k?m|mm|k?g|ml|[kmg]b|ms|s|(?:kilo|milli)?(?:met(?:er|re)|gram|lit(?:er|re)|second|watt)s?|kilos?)\b"
)
"""Units of which a thousand make another."""
_COMPANION_WORDS = re.compile(
    r"(?i)\b(?:me|myself|and i|my|us|our|friends?|famil(?:y|ies)|parents|wife|husband|partner|spouse|kids?"
    r"|children|(?:girl|boy)(?:friend)?|colleagues?|someone)\b"
)
_ADDITION = re.compile(
    r"(?i)(?:[ -]?[\w'’-]{1,20}){0,4}?(?:,? (?:and|plus|with|as well as)|,|\ ?[+&])"
    r"\ (?:[\w'’]{1,12}\ ){0,2}(?:[$€£¥₹]\ ?)?"
)
"""What stands between counts that add up."""
_NEXT_WORD = re.compile(r"[ -]?[\w'’-]{1,20}")
_CURRENCY_BEFORE = re.compile(r"(?i)(?:[$€£¥₹]|\b(?:usd|eur|gbp))\ ?$")
_CURRENCY = re.compile(r"(?i)[$€£¥₹]|\b(?:euro|buck|dollar|pound|rupee|yen|usd|eur|gbp)s?\b")
_MAX_SEQUENCE = 1_000
_MAX_SHARE = 2.0
"""Of a percentage no share is larger."""
_MAX_DISTANCE = 40
"""Counts that many characters apart may be of one party."""


def find_stated_number(number: float, amounts: Sequence[Amount]) -> Ground | None:
    """What says a number itself, or as a percentage.

    Args:
        number: The number.
        amounts: The numbers that the question says.

    >>> find_stated_number(0.05, [Amount(5.0, (0, 1))]).how
    'unit'
    """
    for amount in amounts:
        if are_equal(amount.value, number):
            return Ground("number", amount.span)
    for amount in amounts:
        share = min(abs(amount.value), abs(number)) <= _MAX_SHARE
        scaled_numbers = (100 * number, number / 100) if share else ()
        if any(
            are_equal(amount.value, other) for other in (*scaled_numbers, *((-number,) if number < 0 else ()))
        ):
            return Ground("unit", amount.span)
    return None


def is_stated_sequence(value: Value, amounts: Sequence[Amount]) -> bool:
    """Whether a list holds numbers at equal distances, of which a question says the ends and the distance.

    Args:
        value: The list.
        amounts: The numbers that the question says.

    >>> said = [Amount(22.0, (0, 2)), Amount(28.0, (6, 8)), Amount(2.0, (12, 13))]
    >>> is_stated_sequence([22, 24, 26, 28], said), is_stated_sequence([22, 24, 27, 28], said)
    (True, False)
    """
    if not isinstance(value, list) or not 3 <= len(value) <= _MAX_SEQUENCE:
        return False
    numbers = [number for item in value if (number := number_of(item)) is not None]
    if len(numbers) < len(value):
        return False
    step = numbers[1] - numbers[0]
    stated = {amount.value for amount in amounts}
    return (
        {numbers[0], numbers[-1]} <= stated
        and abs(step) in {1, *stated}
        and all(are_equal(right - left, step) for left, right in pairwise(numbers))
    )


def find_sum_of_counts(number: float, amounts: Sequence[Amount], text: str) -> Ground | None:
    """A sum of counts that stand near one another, or of them and who asks.

    Args:
        number: The number.
        amounts: The numbers that the question says.
        text: The question.

    >>> said = [Amount(2.0, (4, 5)), Amount(3.0, (17, 18))]
    >>> find_sum_of_counts(5, said, "for 2 adults and 3 children").span
    (4, 18)
    """
    if number != int(number) or not 2 <= number <= 50:
        return None
    for amount, next_amount in pairwise(amounts):
        is_near = amount.span != next_amount.span and next_amount.span[0] - amount.span[1] < _MAX_DISTANCE
        if (
            is_near
            and amount.value + next_amount.value == number
            and _can_be_added(text, amount, next_amount)
        ):
            return Ground("sum", (amount.span[0], next_amount.span[1]))
    company = _COMPANION_WORDS.search(text)
    if company is None:
        return None
    for amount in amounts:
        if amount.value == number - 1:
            return Ground("sum", amount.span, sure=False)
    return Ground("sum", company.span(), sure=False) if number <= 5 and not amounts else None


def _can_be_added(text: str, amount: Amount, next_amount: Amount) -> bool:
    """Whether two numbers add up: "2 adults and 3 kids" do, "5 miles in 40 minutes" do not."""
    if _ADDITION.fullmatch(text, amount.span[1], next_amount.span[0]) is None:
        return False
    first, second = _unit(text, amount), _unit(text, next_amount)
    behind = _NEXT_WORD.match(text, next_amount.span[1])
    elided = second is None and (behind is None or behind[0].strip(" -").casefold() in FUNCTION_WORDS)
    return first == second or elided


def _unit(text: str, amount: Amount) -> str | None:
    """The unit of a number: what stands before or behind it, without its plural."""
    before = _CURRENCY_BEFORE.search(text, max(0, amount.span[0] - 5), amount.span[0])
    behind = _NEXT_WORD.match(text, amount.span[1])
    if before is not None:
        return before[0].strip().casefold()
    match = behind and (_UNIT_WORDS.search(behind[0]) or _CURRENCY.search(behind[0]))
    return match[0].casefold().rstrip("s") if match else None


def find_conversion(number: float, amounts: Sequence[Amount], text: str) -> Ground | None:
    """A number that is said in another unit; the arguments are as above.

    >>> find_conversion(6, [Amount(0.5, (0, 4))], "half a year").span
    (0, 4)
    """
    if _UNIT_WORDS.search(text) is None:
        return None
    units = [unit for unit in _UNIT_FACTORS if unit != 1000 or _METRIC_UNITS.search(text)]
    for amount in amounts:
        for unit in units:
            if are_equal(amount.value * unit, number) or are_equal(amount.value / unit, number):
                return Ground("unit", amount.span)
    return None


def are_equal(left: float, right: float) -> bool:
    """Whether two numbers are one, up to what rounding does.

    >>> are_equal(0.1 + 0.2, 0.3), are_equal(3.0, 3.001)
    (True, False)
    """
    return left == right or abs(left - right) <= 1e-6 * max(abs(left), abs(right))


# ----------------------------------------------------------------------
# Numbers that nobody has to say: arithmetic, and what its formulas hold of themselves.
CONSTANTS = frozenset(TABLES["formula_constants"])
"""Numbers that formulas hold of themselves: percent, units, angles. So are integers up to 12."""


def is_arithmetic(call: Call) -> bool:
    """Whether a call is given nothing but numbers and references."""
    return all(
        isinstance(normalise_number(value), (int, float, Ref, Unresolved))
        for _, argument in call.arguments
        for _, value in leaves(argument)
    )


def is_constant(value: Value) -> bool:
    """Whether a number is one that formulas hold of themselves.

    >>> is_constant(100), is_constant("7"), is_constant(137)
    (True, True, False)
    """
    number = normalise_number(value)
    if not isinstance(number, (int, float)):
        return False
    size = abs(float(number)) if abs(number) < 1e15 else 0.0
    return size in CONSTANTS or (size <= 12 and size == int(size)) or abs(size - pi) < 0.01
