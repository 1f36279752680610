"""Values that a question names: numbers, dates, quoted words, names, allowed values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.catalogs.catalog import Parameter, Type
from planner_eval.catalogs.value_errors import ValueChecker
from planner_eval.comparison.policy.dates import normalise_date, possible_dates
from planner_eval.curation.audit.words import QUOTED, TABLES, word_set
from planner_eval.curation.suggest.candidates import words
from planner_eval.curation.suggest.values import (
    CURRENCIES,
    NUMBER_WORDS,
    SCALES,
    Interpretation,
    ValueReader,
    format_for_catalog,
    is_counted_in,
    number_in_words,
)
from planner_eval.plan.model import Plan, Value, leaves

_MAX_QUERY_CHARACTERS = 20_000
_MAX_CANDIDATES = 300

# Every repetition is bounded or possessive: a question may be a model's, or an attacker's.
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}+"
_DATE = re.compile(
    r"\b(\d{4}-\d\d?-\d\d?(?:T[\d:]{5,8}Z?)?|\d{1,2}[/.]\d{1,2}[/.]\d{4}"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH},? \d{{4}})\b"
)
_DAY = re.compile(rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)\b")
_TIME = re.compile(r"(?i)\b(\d{1,2}:\d\d(?: ?[ap]\.?m\b)?|\d{1,2} ?[ap]\.?m\b)")
_NUMBER = re.compile(
    r"(?<![\w.,])-?\d{1,3}(?:,\d{3})++(?:\.\d++)?+(?!\w|,\d)|(?<![\w.])-?\d{1,40}+(?:\.\d{1,40}+)?+(?!\w)"
)
_NUMBER_WORD = "|".join(sorted({*NUMBER_WORDS, *SCALES}, key=len, reverse=True))
_SPELLED_NUMBER = re.compile(
    rf"(?i)(?<![^\W_])(?:{'|'.join(NUMBER_WORDS)})(?:(?:[ -]| and )(?:{_NUMBER_WORD})){{0,8}}(?![^\W_])"
)
_AFTER_NUMBER = re.compile(r"[ -]?([^\W\d_]{1,20}|[$€£¥%])")
_BEFORE_NUMBER = re.compile(r"([$€£¥]|\b[A-Z]{3}) ?$")
_CURRENCY_CODE = re.compile(r"[A-Z]{3}")
_CURRENCY_SIGNS = "$€£¥"
_AMOUNT_WORDS = word_set("money_words")
_MAX_DESCRIPTION_CHARACTERS = 2_000
_PERCENT_FORMS = frozenset(form for form, unit in CURRENCIES.items() if unit == "percent")
_CURRENCY_FORMS = frozenset(CURRENCIES) - _PERCENT_FORMS
_MULTIPLIER_WORDS = word_set("multiplier_words")
_DURATION_WORDS = word_set("duration_words")
_BOUND_BEFORE_NUMBER = re.compile(
    r"(?i)\b(?:less|more|fewer|greater|under|over|below|above|at (?:least|most)|up)\b[a-z ]*$"
)
_BOUND_WORDS = word_set("bound_words")
_CODE = re.compile(r"(?<![\w-])(?=[A-Za-z_-]{0,30}\d)(?=[\d_-]{0,30}[A-Za-z])[A-Za-z0-9][\w-]{1,60}+")
_DIGITS = re.compile(r"(?<![\w.,$€£-])\d{3,40}(?![\w%]|[.,]\d)")
_MAIL = re.compile(r"[\w.+-]{1,64}+@[\w-]{1,64}+(?:\.[\w-]{1,64}+){1,4}|https?://[^\s\"'<>]{1,300}+")
_NAME = re.compile(
    r"(?<![\w'])[^\W\d_a-z][\w'’.-]{0,40}+"
    r"(?: (?:(?:of|the|de|la|del|and|&) (?=[^\W\d_a-z]))?[^\W\d_a-z][\w'’-]{0,40}+){0,5}"
)
_LIST = re.compile(r"\[[^\[\]]{1,2000}+\]|\[(?:[^\[\]]{0,50}\[[^\[\]]{0,200}+\]){1,50}[^\[\]]{0,50}\]")
_WORD = re.compile(r"[^\W_]{1,60}+")

_DIRECTION_WORDS: dict[str, frozenset[str]] = {
    word: frozenset(words.split()) for word, words in TABLES["directions"].items()
}
"""Words before a value, and the words of arguments that it is then for."""

_MAX_WORDS_AFTER_DIRECTION = 5
"""Words before a value among which the last ``from`` or ``to`` says where it belongs."""

_MAX_RIVALS = 20

_MAX_CHARACTERS_BEFORE, _MAX_CHARACTERS_AFTER = 40, 14
"""Characters before a value, and after it, in which the words of an argument's name tell that it is meant."""

_MAX_DOUBTFUL_SCORE = 0.55
"""The most that a value scores which may well be another's, or none: less than what a patch takes."""

_MAX_SENTENCE_CHARACTERS = 80
_EXCLUDING_WORDS = word_set("excluding_words")
"""Words before a value in its sentence that say that it is not, or no longer, what is wanted."""
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n")

_CAPITALISED_WORDS = word_set("capitalised_words")
_COMMON_WORDS = word_set("common_words")
"""Words of any English sentence: a question that has one need not mean the allowed value called so."""


class _Candidate(NamedTuple):
    """What a question names: a value, from where to where, how likely it is, what it is, and its most."""

    value: Value
    start: int
    end: int
    base: float
    what: str
    most: float = 0.95


def find_named_values(
    query: str,
    parameter: Parameter,
    checker: ValueChecker,
    used: frozenset[str] = frozenset(),
    other_names: Sequence[str] = (),
) -> list[Interpretation]:
    """Values that a question names for a parameter, the likeliest first.

    Args:
        query: The question.
        parameter: The parameter: a value beside its name comes first.
        checker: Checks values against types.
        used: What the plan says already, each as text: it is less likely to be meant again.
        other_names: The names of other arguments that are not given either, which a value may be meant for.

    >>> seats = Parameter("seats", Type(("integer",)))
    >>> [one.value for one in find_named_values("2 seats on 2024-05-01", seats, ValueChecker())]
    [2]
    """
    query, kind = query[:_MAX_QUERY_CHARACTERS], parameter.type
    about = f"{parameter.name}\n{parameter.description}"
    argument_words, *rivals = ({*words(name)} for name in (parameter.name, *other_names[:_MAX_RIVALS]))
    meanings_by_text: dict[str, Interpretation] = {}
    for candidate in _candidates(query, kind, about):
        reading = ValueReader(checker, about).best(candidate.value, kind)
        if reading is None:
            continue
        text = _text(reading.value)
        before = _WORD.findall(query[: candidate.start][-_MAX_CHARACTERS_BEFORE:].casefold())
        after = _WORD.findall(query[candidate.end :][:_MAX_CHARACTERS_AFTER].casefold())[:2]
        closeness, *rival_scores = (_closeness(before, after, names) for names in (argument_words, *rivals))
        score = candidate.base * (0.6 + 0.4 * reading.score) + closeness
        score -= 0.22 if text in used else 0.0
        elsewhere = _is_meant_elsewhere(query[: candidate.start], before, argument_words)
        if elsewhere or max(rival_scores, default=0) > closeness:
            score = min(score, _MAX_DOUBTFUL_SCORE)
        if text not in meanings_by_text or meanings_by_text[text].score < score:
            value, reason = format_for_catalog(reading.value, checker), candidate.what
            meaning = Interpretation(value, f"the question mentions it: {reason}", min(score, candidate.most))
            meanings_by_text[text] = meaning
    meanings = [meaning for meaning in meanings_by_text.values() if meaning.score > 0.2]
    return sorted(meanings, key=lambda meaning: -meaning.score)[:20]


def _closeness(before: Sequence[str], after: Sequence[str], argument_words: Set[str]) -> float:
    """What the words around a value tell of whether an argument is meant."""
    near = {form for word in (*before, *after) for form in (word, word.rstrip("s"))}
    share = sum(not near.isdisjoint((word, f"{word}s")) for word in argument_words)
    towards = _DIRECTION_WORDS.get(before[-1], frozenset()) if before else frozenset()
    return 0.3 * share / max(len(argument_words), 1) + 0.25 * (not towards.isdisjoint(argument_words))


def _is_meant_elsewhere(text: str, before: Sequence[str], argument_words: Set[str]) -> bool:
    """Whether what stands before a value says that it is not wanted, or goes the other way."""
    sentence = _SENTENCE_END.split(text[-_MAX_SENTENCE_CHARACTERS:])[-1]
    if not _EXCLUDING_WORDS.isdisjoint(_WORD.findall(sentence.casefold())) or before[-1:] == ["but"]:
        return True
    leads = [word for word in before[-_MAX_WORDS_AFTER_DIRECTION:] if word in ("from", "to")]
    for direction, opposite in (("from", "to"), ("to", "from")):
        same_way, opposite_way = (argument_words & _DIRECTION_WORDS[word] for word in (direction, opposite))
        leads_there = leads[-1:] == [direction]
        is_named = direction in argument_words and opposite not in argument_words
        if (leads_there and opposite_way and not same_way) or (is_named and not leads_there):
            return True
    return False


def plan_literals(plan: Plan) -> frozenset[str]:
    """The literals of a plan, each as text."""
    values = [value for call in plan.calls for _, value in call.arguments]
    return frozenset(
        _text(literal) for value in values for literal in (value, *(leaf for _, leaf in leaves(value)))
    )


def _text(value: Value) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).casefold()


def _candidates(query: str, kind: Type, about: str) -> Iterable[_Candidate]:
    """What a question names that may be of a type."""
    kind = kind.unfolded
    if kind.enum is not None:
        return _find_allowed_values(query, kind)
    if kind.format in ("date", "date-time", "time"):
        return _moments(query, kind.format)
    kinds = set(kind.kinds) | {inner for member in kind.any_of for inner in member.kinds}
    candidates: list[_Candidate] = []
    if "array" in kinds:
        candidates += _lists(query)
        candidates += [
            candidate._replace(base=0.5 * candidate.base)
            for candidate in _candidates(query, kind.items or Type(("string",)), about)
        ]
    if not kinds or kinds & {"integer", "number"}:
        candidates += _numbers(_blank_out(query, _DATE, _DAY, _TIME, _MAIL), about)
    if not kinds or "string" in kinds:
        candidates += _texts(query)
    return candidates[:_MAX_CANDIDATES]


def _blank_out(query: str, *patterns: re.Pattern[str]) -> str:
    """The question without what is a date, say: as many blanks, so that places stay."""
    for pattern in patterns:
        query = pattern.sub(lambda match: " " * len(match[0]), query)
    return query


def _find_allowed_values(query: str, kind: Type) -> Iterator[_Candidate]:
    low = query.casefold()
    for value in (kind.enum or ())[:_MAX_CANDIDATES]:
        text = str(value).casefold()
        spoken = " ".join(words(text)) if isinstance(value, str) else text
        for form in dict.fromkeys((text, spoken)):
            match = _find_words(low, form) if len(form) > 1 or form.isdecimal() else None
            if match is not None:
                # IT and US in capitals are no "it" and "us"
                written = text.upper() == value == query[slice(*match.span())]
                common = (form in _COMMON_WORDS or (len(form) < 3 and form.isalpha())) and not written
                base = 0.8 if isinstance(value, str) else 0.55
                most = _MAX_DOUBTFUL_SCORE if common else 0.95
                yield _Candidate(value, *match.span(), base, "an allowed value", most)
                break


def _find_words(text: str, form: str) -> re.Match[str] | None:
    """Where a text has a word, or several, in the plural or not, and not only their letters inside another.

    Only Latin letters go on a word: other scripts write words without any space between them.
    """
    start, end = (char.isascii() and char.isalnum() for char in (form[0], form[-1]))
    return re.search(
        ("(?<![a-z0-9])" if start else "") + re.escape(form) + ("(?=s?(?![a-z0-9]))" if end else ""), text
    )


def _moments(query: str, format: str) -> Iterator[_Candidate]:
    if format != "time":
        matches = [(match, sorted(possible_dates(match[1]), key=str)) for match in _DATE.finditer(query)]
        most = _MAX_DOUBTFUL_SCORE if any(len(days) > 1 for _, days in matches) else 0.95
        for match, days in matches:
            for day in days or [normalise_date(match[1])]:
                yield _Candidate(day, *match.span(), 0.8, "a date", most)
    if format != "date":
        for match in _TIME.finditer(query):
            yield _Candidate(match[1], *match.span(), 0.8, "a time")


def _numbers(query: str, about: str) -> Iterator[_Candidate]:
    """The numbers of a question, each whole: a million of something is no one, and a week no day."""
    for match in _NUMBER.finditer(query):
        digits = match[0].replace(",", "")
        number = float(digits) if "." in digits else int(digits)
        yield from _read_counted_number(query, *match.span(), number, 0.55, "a number", about)
    for match in _SPELLED_NUMBER.finditer(query):
        spelled_number = number_in_words(match[0])
        if spelled_number is not None:
            yield from _read_counted_number(
                query, *match.span(), spelled_number, 0.5, "a number in words", about
            )


def _read_counted_number(
    query: str, start: int, end: int, number: float, base: float, what: str, about: str
) -> Iterator[_Candidate]:
    """A number with what stands beside it: a scale is part of it, a unit has to be the argument's."""
    after = _AFTER_NUMBER.match(query, end)
    next_word = after[1].casefold() if after else ""
    if next_word in SCALES:
        scaled = number * SCALES[next_word]
        if abs(scaled) < 1e15 and scaled == int(scaled):
            yield _Candidate(int(scaled), start, end, base, what)
        return
    if next_word in _MULTIPLIER_WORDS or (
        next_word in _DURATION_WORDS and not is_counted_in(next_word, about)
    ):
        return
    unit = next_word if next_word in _PERCENT_FORMS else _currency(query, start, end)
    if unit and not is_counted_in(unit, about) and (unit in _PERCENT_FORMS or not _is_money_argument(about)):
        base = min(base, 0.2)
    elif unit:
        base = base + 0.15
    if _BOUND_BEFORE_NUMBER.search(query[max(0, start - 16) : start]) and not {*words(about)} & _BOUND_WORDS:
        base = min(base, 0.2)
    yield _Candidate(number, start, end, base, what)


def _currency(query: str, start: int, end: int) -> str:
    """The sign or the code of a currency beside a number; "" where there is none."""
    before = _BEFORE_NUMBER.search(query[max(0, start - 5) : start])
    after = _AFTER_NUMBER.match(query, end)
    for match in (before, after):
        if match is not None and (match[1].casefold() in _CURRENCY_FORMS or match[1] in _CURRENCY_SIGNS):
            return match[1]
    return after[1] if after is not None and _CURRENCY_CODE.fullmatch(after[1]) else ""


def _is_money_argument(about: str) -> bool:
    """Whether an argument is an amount of money, of whatever currency."""
    name, _, description = about.partition("\n")
    if any(word.casefold() in _CURRENCY_FORMS for word in re.findall(r"[$€£¥]|[^\W_]+", about)):
        return False  # it is of another one: names_unit() knows
    description_words = {word.casefold() for word in _WORD.findall(description[:_MAX_DESCRIPTION_CHARACTERS])}
    return bool(_AMOUNT_WORDS & {*words(name)} or description_words & {"money", "monetary", "currency"})


def _lists(query: str) -> Iterator[_Candidate]:
    for match in _LIST.finditer(query):
        for text in (match[0], match[0].replace("'", '"')):
            parsed = loads_if_json(text, DEFAULT_LIMITS)
            if parsed and len(parsed) == 1:
                yield _Candidate(parsed[0], *match.span(), 0.85, "a list")
                break


_TEXTS = (
    (QUOTED, 0.65, "quoted words"),
    (_MAIL, 0.65, "an address"),
    (_DATE, 0.35, "a date"),
    (_DAY, 0.0, ""),
    (_TIME, 0.0, ""),
    (_CODE, 0.5, "a code"),
    (_NAME, 0.45, "a name"),
    (_DIGITS, 0.45, "a number"),
    (_NUMBER, 0.3, "a number"),
)
"""What a question names as text: the first that stands somewhere, with how likely it is and what it is."""


def _texts(query: str) -> Iterator[_Candidate]:
    for pattern, base, what in _TEXTS:
        for match in pattern.finditer(query) if base else ():
            text = next(filter(None, (*match.groups(), match[0])))
            if pattern is _NAME:
                text = text.rstrip(".,'’").removesuffix("'s").removesuffix("’s")
                if not text[:1].isupper() or len(text) < 2 or text in _CAPITALISED_WORDS:
                    continue
                begins_sentence = query[: match.start()].rstrip()[-1:] in ("", ".", "!", "?", "\n")
                start = match.start()
                yield _Candidate(text, start, start + len(text), 0.2 if begins_sentence else base, what)
            else:
                text = text.rstrip(".,") if pattern is _MAIL else text
                text = text.replace(",", "") if pattern is _NUMBER else text
                yield _Candidate(text, *match.span(), base, what)
        query = query if pattern is _NAME else _blank_out(query, pattern)
