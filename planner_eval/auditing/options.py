"""What an answer on offer says: a number, with its unit, as people write them in multiple choice."""

from __future__ import annotations

import re
from math import isclose
from typing import Any

from planner_eval.base.named import NamedTuple

_MINUS = "[-−–]"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
# One number, or a fraction, or a ratio; words or a sign before it, and a unit after it that holds no more
# numbers than a power. Every repetition is possessive or bounded.
_OPTION = re.compile(
    rf"""
    (?P<before> (?: (?:rs|s|re)[ ]?[.:][ ] | [a-z$€£₹=][a-z$€£₹= ]{{0,11}}+ (?: :[ ] )?+ )?+ \s*+ )
    (?P<minus> {_MINUS}?+ ) \s*+
    (?: (?P<whole> \d+ ) \s++ (?P<up> \d+ ) \s*+ [/⁄] \s*+ (?P<low> \d+ )
      | (?P<over> {_NUMBER} ) \s*+ (?P<sign> [/⁄:] ) \s*+ (?P<under> {_NUMBER} )
      | (?P<number> {_NUMBER} ) )
    \s*+ (?P<after> %?+ [a-z$€°²³ .]{{0,30}}+
        (?: / [ ]* (?:hr?|hour|sec?|min|minute|day) )?+ (?: (?<=[a-z ]) \^?[ ]?[23] )?+ )
    [ .)]*+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMERALS = "zero one two three four five six seven eight nine ten eleven twelve"
_WORDS = {word: value for value, word in enumerate(_NUMERALS.split(" "))}


_MOST = 26
_LABEL = re.compile(
    r"""\s{0,9}[(\[]?\ ?
      (?: (?P<letter>[a-z])(?:\ ?[)\]:]|\ ?\.(?=\ )|\ [-–—](?=\ ))
        | (?P<number>\d\d?)(?:[)\]]|\.(?=\ )) )\s{0,9}""",
    re.VERBOSE | re.IGNORECASE,
)
"""A letter or number before an answer on offer."""


class Offered(NamedTuple):
    """What an answer on offer says.

    Args:
        value: Its number.
        plain: Whether it is that number and a unit: no fraction, no ratio, no share of a hundred.
        decimals: How many it is written with.
        unit: What stands around the number.
    """

    value: float
    plain: bool = True
    decimals: int = 0
    unit: str = ""

    def is_near(self, value: float) -> bool:
        """Whether a value may be meant by it: however it is rounded, of a hundred, of a part of the whole.

        Wide on purpose: one that is near the right answer, or is cut to it, is no doubt about gold.
        """
        if self.value and float(int(value)) == self.value:
            return True
        readings = (self.value, self.value / 100, self.value * 100)
        return any(_close(abs(reading), abs(value), self.decimals) for reading in readings)

    def is_value(self, value: float) -> bool:
        """Whether it says exactly this value."""
        return isclose(self.value, value, rel_tol=1e-9, abs_tol=1e-12)

    def is_rounded(self, value: float) -> bool:
        """Whether it says this value, rounded to the decimals that it is written with, or of a hundred."""
        readings = (self.value, self.value / 100, self.value * 100) if "%" in self.unit else (self.value,)
        return any(
            abs(reading - value) <= 0.5 * 10.0**-self.decimals * reading / (self.value or 1)
            for reading in readings
        )


def _close(value: float, other: float, decimals: int) -> bool:
    return abs(value - other) <= max(0.01 * max(value, other), 0.5 * 10.0**-decimals, 0.01)


def offered(text: str) -> Offered | None:
    """What an answer on offer says; None where it is no single number: words, terms, several numbers.

    Args:
        text: The answer as it is shown.

    >>> offered("rs . 1,200"), offered("3 1 / 2 days").value, offered("25 √ 3")
    (Offered(value=1200.0, plain=True, decimals=0, unit='rs .'), 3.5, None)
    """
    text = text.strip().lower()
    if text in _WORDS:
        return Offered(float(_WORDS[text]))
    match = _OPTION.fullmatch(text)
    if match is None:
        return None
    unit = " ".join((match["before"] + match["after"]).split())
    sign = -1.0 if match["minus"] else 1.0
    if match["whole"]:
        low = float(match["low"])
        return (
            Offered(sign * (float(match["whole"]) + float(match["up"]) / low), False, 2, unit)
            if low
            else None
        )
    if match["over"]:
        under = _float(match["under"])
        return (
            Offered(sign * _float(match["over"]) / under, False, 2, unit + match["sign"]) if under else None
        )
    number = match["number"]
    decimals = len(number.rpartition(".")[2]) if "." in number else 0
    return Offered(sign * _float(number), "%" not in unit, decimals, unit)


def _float(text: str) -> float:
    return float(text.replace(",", ""))


def read_options(options: Any) -> tuple[tuple[str, str], ...]:
    """The answers on offer by letter, as records hold them: an object, or a list of texts.

    A letter that a text begins with is its own ("A. 38", "(a) 38", "a ) 38") and no part of it;
    so is a number where all of a list have one.

    Args:
        options: What the record holds.

    >>> read_options({"a": "38", "b": 27.675}), read_options(["x", "y"])
    ((('a', '38'), ('b', '27.675')), (('a', 'x'), ('b', 'y')))
    >>> read_options(["B. 7", "A. 12"]), read_options(["1) 7", "2) 12"])
    ((('b', '7'), ('a', '12')), (('1', '7'), ('2', '12')))
    """
    if isinstance(options, dict):
        named = ((str(key).strip().lower(), str(value)) for key, value in options.items())
        return tuple((key, _without(key, value)) for key, value in named)
    if isinstance(options, list) and len(options) <= _MOST:
        texts = [str(value) for value in options]
        letters = [chr(97 + index) for index in range(len(texts))]
        own = [_label(text)[0] for text in texts]
        for keys in (letters, [str(number) for number in range(1, len(texts) + 1)]):
            if len(texts) > 1 and sorted(own) == sorted(keys):
                letters = own
        return tuple((key, _without(key, text)) for key, text in zip(letters, texts, strict=True))
    return ()


def _label(text: str) -> tuple[str, int]:
    """The letter or number before an answer, and where the answer begins."""
    match = _LABEL.match(text)
    if match is None or match.end() == len(text):
        return "", 0
    return (match["letter"] or match["number"]).lower(), match.end()


def _without(key: str, text: str) -> str:
    """An answer without its own letter."""
    label, begins = _label(text)
    return text[begins:] if label == key else text
