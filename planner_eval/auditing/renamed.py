"""Whether a question may say a name by another that no table knows: as an airport's, or spelled otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from planner_eval.auditing.asked import Question
from planner_eval.auditing.ground import FEW
from planner_eval.auditing.words import aliases, plain, words
from planner_eval.base.limits import Span

_FROM, _TO = frozenset(("from", "origin", "departure")), frozenset(("to", "destination", "arrival"))
_ENDS = _FROM | _TO
_PLACES = _ENDS | frozenset(("city", "town", "location", "airport", "place", "where", "station"))
_CAPITAL = r"[A-Z][\w'’.-]{0,40}+"
_NAME = re.compile(
    rf"\b(?P<way>from|out of|leaving|departing|to|into|for|towards?|in|at|via|near|by|and)\ (?:the\ )?"
    rf"(?P<name>{_CAPITAL}(?:\ (?:(?:de|la|le|di|du|del|da|von|van|der|of)\ ){{0,2}}{_CAPITAL}){{0,4}}+)"
)
_WAYS = {
    "from": _FROM,
    "out of": _FROM,
    "leaving": _FROM,
    "departing": _FROM,
    "to": _TO,
    "into": _TO,
    "for": _TO,
}
_FLIGHT = re.compile(
    r"\b(?:fl(?:y|ies|ew|own|ying|ights?)|planes?|airports?|airlines?|take-?off|layover|boarding)\b", re.I
)
_BUILDING = re.compile(
    r"\b(?:airport|station|terminal|museum|tower|stadium|arena|university|hospital|square|bridge|palace"
    r"|cathedral|castle|harbou?r)\b",
    re.I,
)
_SHORTEST = 5
"""Of names of fewer letters two that differ in one are two names."""


def other_place(argument: str, question: Question, claimed: Sequence[Span]) -> Span | None:
    """A name in the place of a place's, which may be another name of it: an airport's, a building's.

    A name that our table of other names knows is that of a place by itself, and one by which another value of
    the plan is said is not meant.

    Args:
        argument: The argument's name.
        question: What is asked.
        claimed: Where the other values of the plan are said.

    >>> said = Question("Fly me from O'Hare to Rome")
    >>> said.text[slice(*other_place("from_city", said, []))]
    "O'Hare"
    >>> other_place("from_city", Question("Fly me from Boston to Rome"), [])
    """
    argument_words = {word.plain for word in words(argument)} & _PLACES
    if not argument_words:
        return None
    flies = _FLIGHT.search(question.text) is not None
    for match in islice(_NAME.finditer(question.text), FEW):
        span = (match.start("name"), match.start("name") + len(match["name"].rstrip(".")))
        direction = _WAYS.get(match["way"], frozenset[str]())
        if (argument_words & _ENDS and not argument_words & direction) or any(
            _meets(span, other) for other in claimed
        ):
            continue
        if (flies or _BUILDING.search(question.text, span[0], span[1] + 12)) and not _is_known(match["name"]):
            return span
    return None


def misspelt(value: str, question: Question) -> Span | None:
    """A name of the question that differs from a value's in one letter.

    Args:
        value: The name in gold.
        question: What is asked.

    >>> misspelt("Tokyo", Question("A room in Tokio")), misspelt("Oslo", Question("A room in Osla"))
    ((10, 15), None)
    """
    names = [plain(word) for word in value.split() if len(word) >= _SHORTEST and word[:1].isupper()]
    for word in islice(question.words, FEW) if names else ():
        if question.text[word.span[0]].isupper() and any(_nearly(word.plain, name) for name in names[:FEW]):
            return word.span
    return None


def _nearly(word: str, other: str) -> bool:
    """Whether two words that begin alike differ in one letter, or in two that changed places."""
    if word[:1] != other[:1] or abs(len(word) - len(other)) > 1 or word == other or len(word) < _SHORTEST:
        return False
    pairs = enumerate(zip(word, other, strict=False))
    index = next((index for index, (left, right) in pairs if left != right), min(len(word), len(other)))
    if len(word) == len(other):
        swapped = (
            word[index : index + 2] == other[index : index + 2][::-1]
            and word[index + 2 :] == other[index + 2 :]
        )
        return swapped or word[index + 1 :] == other[index + 1 :]
    short, long = sorted((word, other), key=len)
    return short[index:] == long[index + 1 :]


def _is_known(name: str) -> bool:
    """Whether a name, or a part of it, is in the table of other names."""
    forms = [word.form for word in words(name) if name[word.span[0]].isupper()]
    return any(run in aliases() for run in _parts(forms))


def _parts(forms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(forms)):
        yield from (tuple(forms[start:end]) for end in range(start + 1, min(start + 4, len(forms) + 1)))


def _meets(left: Span, right: Span) -> bool:
    return left[0] < right[1] and right[0] < left[1]
