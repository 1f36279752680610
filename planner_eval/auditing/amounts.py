"""Numbers that a text says: digits, fractions, percentages, number words, ordinals, and words that count."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner_eval.base.limits import Span
from planner_eval.base.named import NamedTuple
from planner_eval.datasets.questions import NUMBER_WORD

_MOST_DIGITS = 300
"""A number of more digits is none that a float holds."""


class Amount(NamedTuple):
    """A number that a text says.

    Args:
        value: The number.
        span: Where it stands.
    """

    value: float
    span: Span


_FIRST = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_NAMED = {
    **{word: number for number, word in enumerate((*_FIRST, *_TEENS))},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    "dozen": 12,
}
_COUNTING = {
    "half": 0.5, "halves": 0.5, "third": 3, "thirds": 3, "quarter": 0.25, "quarters": 0.25, "single": 1,
    "solo": 1, "alone": 1, "myself": 1, "once": 1, "twice": 2, "double": 2, "doubled": 2, "doubles": 2,
    "couple": 2, "pair": 2, "both": 2, "twins": 2, "duo": 2, "thrice": 3, "triple": 3, "tripled": 3,
    "trio": 3, "quadruple": 4, "first": 1, "second": 2, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortnight": 14, "century": 100, "decade": 10,
    "biweekly": 2, "score": 20, "pi": 3.141592653589793, "square": 2, "squared": 2, "cube": 3, "cubed": 3,
}  # fmt: skip
_TAILS = {
    "k": 1e3, "thousand": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "hundred": 100.0, "dozen": 12.0,
    "lakh": 1e5, "lakhs": 1e5, "crore": 1e7, "crores": 1e7,
}  # fmt: skip

# Every repetition is bounded or possessive: a text of a model's takes time in proportion to its length.
_NUMBER = re.compile(
    rf"""
    \b(?P<dozen> half(?:\ a)?\ dozen )\b
  | \b(?P<more> (?P<many>an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{{1,3}})
      (?:\ \w{{1,12}})?\ and\ (?:a|one)\ half )\b
  | (?P<digits> \d++(?:,\d++)*+(?:\.\d++)?+ | (?<!\w)\.\d++ )
      (?:\ ?(?P<over>/)\ ?(?P<below>\d{{1,12}}+(?:\.\d{{1,12}}+)?+)(?![\d/])
        | \ ?(?P<tail>{"|".join(_TAILS)})\b )?+
  | \b(?P<words> {NUMBER_WORD}(?:(?:[ -]|[ ]and[ ]){NUMBER_WORD})*+(?:[ -](?:first|second|third|fourth|fifth|
      sixth|seventh|eighth|ninth))?+ )\b
  | \b(?P<counts> {"|".join(sorted(_COUNTING, key=len, reverse=True))} )\b
  | \b(?P<pair> (?:me|myself|my\ \w{{1,20}}|him|her)\ and\ (?:me|myself|my\ \w{{1,20}}|him|her|i) )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})++(?:\.\d++)?+")
_SPACED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3}){1,4}+(?![\d.,]?\d)")
_MINUS = re.compile(r"(?:^|[\s(\[=:,])[-−]$")


def amounts(text: str) -> Iterator[Amount]:
    """The numbers that a text says, in order; one that can be read in two ways is given as both.

    >>> [amount.value for amount in amounts("$1,200 for me and my wife, 3 / 4 of a dozen, 5k")]
    [1200.0, 2.0, 3.0, 4.0, 0.75, 12.0, 5.0, 5000.0]
    """
    for match in _NUMBER.finditer(text):
        span = match.span()
        kind = match.lastgroup
        if match["digits"]:
            below = _MINUS.search(text, max(0, span[0] - 2), span[0]) is not None
            sign = -1.0 if below and not text[max(0, span[0] - 3) : span[0] - 2].isdecimal() else 1.0
            yield from (Amount(sign * value, span) for value in _written(match))
            if text[span[1] : span[1] + 1] == "M" and not text[span[1] + 1 : span[1] + 2].isalnum():
                yield Amount(sign * 1e6 * float(match["digits"].replace(",", "")[:_MOST_DIGITS]), span)
        elif kind == "words":
            yield from (Amount(value, span) for value in _spelled(match["words"].casefold()))
        elif kind == "counts":
            yield Amount(float(_COUNTING[match["counts"].casefold()]), span)
        elif kind == "dozen":
            yield Amount(6.0, span)
        elif kind == "more":
            count = match["many"].casefold()
            whole_number = float(count) if count.isdecimal() else float(_NAMED.get(count, 1))
            yield from (Amount(value, span) for value in (whole_number + 0.5, whole_number))
        else:
            yield Amount(2.0, span)
    for match in _SPACED.finditer(text):
        yield Amount(float(re.sub(r"\s", "", match[0])), match.span())


def _written(match: re.Match[str]) -> Iterator[float]:
    """What a number in digits may mean: separated thousands are one number, or several."""
    digits = match["digits"]
    if len(digits) > _MOST_DIGITS:
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
        yield value * _TAILS[match["tail"].casefold()]


def _spelled(words: str) -> Iterator[float]:
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
            value = int(_NAMED.get(token, _COUNTING.get(token, 0)))
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
