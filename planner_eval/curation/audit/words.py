"""Words of a text with their places, in a form in which inflected ones meet; flags and their denials.

The words and units that questions are read by stand in ``data/english.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from unicodedata import combining, normalize

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import read
from planner_eval.base.text import count_shared_letters, differing_letters, is_swap
from planner_eval.comparison.policy.values import normalise_number

TABLES: dict[str, Any] = tomllib.loads(read("data/english.toml"))
"""Numbers by word, and other tables, by the names that they have there."""


def word_set(name: str) -> frozenset[str]:
    """The words of a list.

    Args:
        name: The list's name.

    >>> "without" in word_set("denial_words")
    True
    """
    return frozenset(TABLES[name].split())


# ----------------------------------------------------------------------
# Words of a text with their places, in a form in which inflected ones meet, and other names of things.
_WORD = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]++)*+|\d++|[€$£¥₹]")
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
QUOTED = re.compile(
    r"\"([^\"\n]{1,200}+)\"|“([^”\n]{1,200}+)”|(?<!\w)'([^'\n]{1,200}+)'(?!\w)|`([^`\n]{1,200}+)`"
)
"""Quoted words; every repetition is bounded or possessive: a text may be a model's, or an attacker's."""
_MAX_WORD_CHARACTERS = 60
"""A word of more characters is kept as it is."""

_ENDINGS: dict[str, str] = TABLES["endings"]
FUNCTION_WORDS = word_set("function_words")
"""English words that stand in every text and tell nothing of its matter."""


class Word(NamedTuple):
    """A word of a text.

    Args:
        form: Its form, see :func:`stem`.
        span: Where it stands.
        plain: The word without accents and case.
    """

    form: str
    span: Span
    plain: str


def words(text: str) -> Iterator[Word]:
    """The words and digits of a text in order; a word of several written together is taken apart.

    >>> [word.form for word in words("Cafés near O'Hare, next_day: hasWifi 24")]
    ['cafe', 'near', 'ohare', 'next', 'day', 'ha', 'wifi', '24']
    """
    for match in _WORD.finditer(text):
        start = match.start()
        pieces = _CAMEL_CASE_BOUNDARY.split(match[0]) if len(match[0]) <= _MAX_WORD_CHARACTERS else [match[0]]
        for piece in pieces:
            yield Word(stem(piece), (start, start + len(piece)), normalize_word(piece))
            start += len(piece)


@lru_cache(maxsize=4096)
def normalize_word(word: str) -> str:
    """A word without accents, case and apostrophes.

    >>> normalize_word("Café’s")
    'cafes'
    """
    if word.isascii():
        return word.casefold().replace("'", "")
    bare = "".join(c for c in normalize("NFKD", word) if not combining(c))
    return bare.casefold().replace("'", "").replace("’", "")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A form that most inflections of an English word share; not always a word.

    >>> [stem(word) for word in ("Cities", "city", "Booked", "booking", "book's", "classes", "05")]
    ['city', 'city', 'book', 'book', 'book', 'class', '5']
    """
    bare = normalize_word(word[:-2] if word[-2:] in ("'s", "’s") else word)
    if bare.isdecimal():
        return bare.lstrip("0") or "0"
    if len(bare) > _MAX_WORD_CHARACTERS:
        return bare
    for ending, instead in _ENDINGS.items():
        if bare.endswith(ending) and len(bare) - len(ending) >= 2 + (len(ending) > 1):
            return bare.removesuffix(ending) + instead
    return bare


def has_word(text: str, word: str) -> bool:
    """Whether a word, or several, stand in a text, and not only their letters inside another one.

    >>> has_word("a city guide", "city"), has_word("electricity", "city")
    (True, False)
    """
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def are_related_forms(first: str, second: str) -> bool:
    """Whether two forms are of one word or of one family of words.

    >>> (
    ...     are_related_forms("histor", "historical"), are_related_forms("animat", "animation"),
    ...     are_related_forms("san", "sand")
    ... )
    (True, True, False)
    """
    if first == second:
        return True
    short, long = sorted((first, second), key=len)
    if len(short) < 4 or short.isdecimal() or len(long) > _MAX_WORD_CHARACTERS:
        return False
    shared = count_shared_letters(short, long)
    return shared >= 4 and shared >= len(short) - (len(short) > 5) - (len(short) > 8)


@lru_cache(maxsize=1)
def aliases() -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """What else a thing is called: forms of a name, and of those that mean the same; both ways.

    >>> ("new", "york") in aliases()[("big", "apple")]
    True
    """
    alias_sets: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
    for name, other_names in tomllib.loads(read("data/other_names.toml")).items():
        for other in other_names:
            name_forms, other_forms = (tuple(word.form for word in words(text)) for text in (name, other))
            alias_sets.setdefault(name_forms, {})[other_forms] = None
            alias_sets.setdefault(other_forms, {})[name_forms] = None
    return {name: tuple(forms) for name, forms in alias_sets.items()}


@lru_cache(maxsize=1)
def name_words() -> frozenset[str]:
    """The words, as forms, of all names that :func:`aliases` knows."""
    return frozenset(form for name in aliases() for form in name)


_ENGLISH_WORDS = word_set("english_words")
"""English words that a question is told by."""
_FOREIGN_WORDS = word_set("foreign_words")
"""Words that stand in every text of other languages in Latin letters; a few of them are English too."""


def is_english(text_words: Sequence[Word]) -> bool:
    """Whether words are English beyond doubt, so that what is lacking in them may be held against gold.

    >>> is_english([*words("A table for two")]), is_english([*words("Vuelo a Londres el 3 de mayo")])
    (True, False)
    """
    letters = [word.plain for word in text_words if word.plain.isalpha()]
    english_count = sum(word in _ENGLISH_WORDS and word not in _FOREIGN_WORDS for word in letters)
    return 12 * english_count >= len(letters) > 0 and english_count > sum(
        word in _FOREIGN_WORDS and word not in _ENGLISH_WORDS for word in letters
    )


def is_readable(text_words: Sequence[Word]) -> bool:
    """Whether words are English enough for its numbers, dates and inflections to be read.

    >>> (
    ...     is_readable([*words("Find me a room in Rome")]),
    ...     is_readable([*words("Suche bitte einen Flug nach Rom morgen")])
    ... )
    (True, False)
    """
    letters = [word.plain for word in text_words if not word.plain.isdecimal()]
    if not letters:
        return True
    latin = sum(word.isascii() for word in letters)
    if 10 * latin < 7 * len(letters):
        return False
    return len(letters) < 6 or any(
        word in FUNCTION_WORDS for word in letters if word not in ("in", "an", "was", "so")
    )


# ----------------------------------------------------------------------
# Whether a question speaks of a flag, by the words of the argument's name, and whether it denies it.
OPPOSITES: dict[str, str] = TABLES["flag_contraries"]
"""Words that say the contrary of another."""
_FLAG_FILLER_WORDS = word_set("flag_filler_words")
"""Words of names that say nothing of the matter."""
_DENIAL_AFTER = re.compile(
    r"(?i)(?: (?:is|are|was|will be))? ?(?:(?:not|isn['’]t|aren['’]t|isnt|won['’]t be)"
    r" (?:\w{1,12} )?(?:needed|necessary|required|wanted|included|desired|important)|unnecessary)\b"
    r"| (?:is|are|was|were|be|should|must|will|shall) not\b"
)
"""What denies the thing before it."""
_DENIAL_WORDS = word_set("denial_words")


def find_telling_words(name: str) -> list[Word]:
    """The words of a flag's name that say what it is about.

    >>> [word.plain for word in find_telling_words("has_laundry_service")]
    ['laundry']
    """
    return [
        word
        for word in words(name)
        if word.form not in _FLAG_FILLER_WORDS and word.plain not in _FLAG_FILLER_WORDS
    ]


def is_denied(text: str, span: Span) -> bool:
    """Whether a word of denial stands shortly before a place, or "off" or "false" behind it.

    >>> is_denied("a car without any insurance", (18, 27)), is_denied("insurance, no luggage", (0, 9))
    (True, False)
    """
    before = [*words(text[max(0, span[0] - 40) : span[0]])][-4:]
    after = [*words(text[span[1] : span[1] + 30])][:2]
    if _DENIAL_AFTER.match(text, span[1]):
        return True
    return any(word.plain in _DENIAL_WORDS for word in before) or any(
        word.plain in ("off", "false") for word in after
    )


# ----------------------------------------------------------------------
# What grounds a value in a question: in which way, and where.
MAX_MENTIONS = 2_000
"""Of numbers, days, times and kindred words of a question no more are looked at."""


class Ground(NamedTuple):
    """What grounds a value.

    Args:
        how: ``"text"`` (word for word, up to case, accents, inflection and punctuation), ``"words"`` (all
            its words, in other order or by another name), ``"part"`` (half of its words or more),
            ``"number"``, ``"unit"`` (a percentage, or in another unit), ``"sum"`` (of counts), ``"day"``,
            ``"time"``, ``"flag"`` (the words of the argument's name); ``"result"`` (an earlier answer holds
            it); and of what cannot be judged: ``"relative"`` (a day that today's date decides), ``"vague"``
            (a part of the day), ``"absent"`` (a flag that is off and not spoken of), ``"one"`` (a single
            thing), ``"default"`` (the tool takes it anyway), ``"empty"`` (nothing to ground), ``"unread"``
            (the question is not in English, or too long).
        span: Where it stands in the question; None where no place does.
        sure: Whether the question says the value; False where that cannot be judged.
    """

    how: str
    span: Span | None = None
    sure: bool = True


MIN_NAME_LETTERS = 5
"""Of names of fewer letters two that differ in one are two names."""


def is_misspelling(word: str, other: str) -> bool:
    """Whether two words that begin alike differ in one letter, or in two that changed places."""
    if word[:1] != other[:1] or word == other or len(word) < MIN_NAME_LETTERS:
        return False
    _, left, right = differing_letters(word, other)
    return max(len(left), len(right)) == 1 or is_swap(left, right)


def is_subsequence(short: Iterable[str], long: Iterable[str]) -> bool:
    """Whether all letters, or words, of one stand in another in their order.

    >>> is_subsequence("phl", "philadelphia"), is_subsequence("lax", "losangeles")
    (True, False)
    """
    remaining = iter(long)
    return all(item in remaining for item in short)


def lookup_key(value: Any) -> Any:
    """A value as it is looked up in answers: the text of a number is the number."""
    return normalise_number(value.strip().casefold()) if isinstance(value, str) else value
