"""Whether a question may say a name by another that no table knows: as an airport's, or spelled otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from planner_eval.base.limits import Span
from planner_eval.curation.audit.question import Question
from planner_eval.curation.audit.words import (
    MAX_MENTIONS,
    MIN_NAME_LETTERS,
    aliases,
    is_misspelling,
    words,
)

_ORIGIN_WORDS, _DESTINATION_WORDS = (
    frozenset(("from", "origin", "departure")),
    frozenset(("to", "destination", "arrival")),
)
_ROUTE_WORDS = _ORIGIN_WORDS | _DESTINATION_WORDS
_PLACE_WORDS = _ROUTE_WORDS | frozenset(("city", "town", "location", "airport", "place", "where", "station"))
_CAPITALISED_WORD = r"[A-Z][\w'’.-]{0,40}+"
_PLACE_NAME = re.compile(
    rf"\b(?P<way>from|out of|leaving|departing|to|into|for|towards?|in|at|via|near|by|and)\ (?:the\ )?"
    rf"(?P<name>{_CAPITALISED_WORD}"
    rf"(?:\ (?:(?:de|la|le|di|du|del|da|von|van|der|of)\ ){{0,2}}{_CAPITALISED_WORD}){{0,4}}+)"
)
_DIRECTION_WORDS = {
    "from": _ORIGIN_WORDS,
    "out of": _ORIGIN_WORDS,
    "leaving": _ORIGIN_WORDS,
    "departing": _ORIGIN_WORDS,
    "to": _DESTINATION_WORDS,
    "into": _DESTINATION_WORDS,
    "for": _DESTINATION_WORDS,
}
_FLIGHT_WORDS = re.compile(
    r"\b(?:fl(?:y|ies|ew|own|ying|ights?)|planes?|airports?|airlines?|take-?off|layover|boarding)\b", re.I
)
_BUILDING_WORDS = re.compile(
    r"\b(?:airport|station|terminal|museum|tower|stadium|arena|university|hospital|square|bridge|palace"
    r"|cathedral|castle|harbou?r)\b",
    re.I,
)


def find_other_place_name(argument: str, question: Question, claimed: Sequence[Span]) -> Span | None:
    """A name in the place of a place's, which may be another name of it: an airport's, a building's.

    A name that our table of other names knows is that of a place by itself, and one by which another value of
    the plan is said is not meant.

    Args:
        argument: The argument's name.
        question: What is asked.
        claimed: Where the other values of the plan are said.

    >>> said = Question("Fly me from O'Hare to Rome")
    >>> said.text[slice(*find_other_place_name("from_city", said, []))]
    "O'Hare"
    >>> find_other_place_name("from_city", Question("Fly me from Boston to Rome"), [])
    """
    argument_words = {word.plain for word in words(argument)} & _PLACE_WORDS
    if not argument_words:
        return None
    flies = _FLIGHT_WORDS.search(question.text) is not None
    for match in islice(_PLACE_NAME.finditer(question.text), MAX_MENTIONS):
        span = (match.start("name"), match.start("name") + len(match["name"].rstrip(".")))
        direction = _DIRECTION_WORDS.get(match["way"], frozenset[str]())
        if (argument_words & _ROUTE_WORDS and not argument_words & direction) or any(
            _overlaps(span, other) for other in claimed
        ):
            continue
        if (flies or _BUILDING_WORDS.search(question.text, span[0], span[1] + 12)) and not _is_known_alias(
            match["name"]
        ):
            return span
    return None


def find_misspelt_name(value: str, question: Question) -> Span | None:
    """A name of the question that differs from a value's in one letter.

    Args:
        value: The name in gold.
        question: What is asked.

    >>> (
    ...     find_misspelt_name("Tokyo", Question("A room in Tokio")),
    ...     find_misspelt_name("Oslo", Question("A room in Osla"))
    ... )
    ((10, 15), None)
    """
    names = [
        word.plain
        for word in words(value)
        if len(word.plain) >= MIN_NAME_LETTERS and value[word.span[0]].isupper()
    ]
    for word in islice(question.words, MAX_MENTIONS) if names else ():
        if question.text[word.span[0]].isupper() and any(
            is_misspelling(word.plain, name) for name in names[:MAX_MENTIONS]
        ):
            return word.span
    return None


def _is_known_alias(name: str) -> bool:
    """Whether a name, or a part of it, is in the table of other names."""
    forms = [word.form for word in words(name) if name[word.span[0]].isupper()]
    return any(run in aliases() for run in _form_ngrams(forms))


def _form_ngrams(forms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(forms)):
        yield from (tuple(forms[start:end]) for end in range(start + 1, min(start + 4, len(forms) + 1)))


def _overlaps(left: Span, right: Span) -> bool:
    return left[0] < right[1] and right[0] < left[1]
