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
    mine = {word.plain for word in words(argument)} & _PLACES
    if not mine:
        return None
    flies = _FLIGHT.search(question.text) is not None
    for match in islice(_NAME.finditer(question.text), FEW):
        span = (match.start("name"), match.start("name") + len(match["name"].rstrip(".")))
        way = _WAYS.get(match["way"], frozenset[str]())
        if (mine & _ENDS and not mine & way) or any(_meets(span, other) for other in claimed):
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
    wanted = [plain(word) for word in value.split() if len(word) >= _SHORTEST and word[:1].isupper()]
    for word in islice(question.words, FEW) if wanted else ():
        if question.text[word.span[0]].isupper() and any(_nearly(word.plain, one) for one in wanted[:FEW]):
            return word.span
    return None


def _nearly(one: str, other: str) -> bool:
    """Whether two words that begin alike differ in one letter, or in two that changed places."""
    if one[:1] != other[:1] or abs(len(one) - len(other)) > 1 or one == other or len(one) < _SHORTEST:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    at = next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
    if len(one) == len(other):
        swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
        return swapped or one[at + 1 :] == other[at + 1 :]
    short, long = sorted((one, other), key=len)
    return short[at:] == long[at + 1 :]


def _is_known(name: str) -> bool:
    """Whether a name, or a part of it, is in the table of other names."""
    forms = [word.form for word in words(name) if name[word.span[0]].isupper()]
    return any(part in aliases() for part in _parts(forms))


def _parts(forms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(forms)):
        yield from (tuple(forms[start:end]) for end in range(start + 1, min(start + 4, len(forms) + 1)))


def _meets(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
