"""Values that are nearly what a question says: names, days after today, described choices, other names."""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import islice, product

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import differing_letters
from planner_eval.catalogs.catalog import Parameter
from planner_eval.curation.audit.dates import Moments, date_of, read_moment
from planner_eval.curation.audit.question import Question
from planner_eval.curation.audit.words import (
    FUNCTION_WORDS,
    MAX_MENTIONS,
    MIN_NAME_LETTERS,
    QUOTED,
    TABLES,
    aliases,
    are_related_forms,
    has_word,
    is_denied,
    is_misspelling,
    is_subsequence,
    name_words,
    normalize_word,
    stem,
    word_set,
    words,
)
from planner_eval.plan.model import Value
from planner_eval.results.findings import Confidence

# ----------------------------------------------------------------------
# Names of programs and files, words, and quoted texts: one letter or one word off, or half of one.
_TOKEN = re.compile(r"[A-Za-z_$][\w$]{3,80}(?:\.[A-Za-z]\w{0,4})?|[\w-]{2,60}\.[A-Za-z]\w{1,4}")
_PROGRAM_NAME = re.compile(r"[A-Za-z_$]*?(?:[a-z\d][A-Z]|_[A-Za-z\d]|\$)[\w$]*")
_FILE_NAME = re.compile(r"[\w$-]*[A-Za-z][\w$-]*\.[A-Za-z]\w{1,4}")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_MAX_NAME_DIGITS = 2
_WORD = re.compile(r"[^\W\d_]{5,40}")
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
_MIN_QUOTED_WORDS, _MAX_QUOTED_WORDS = 4, 200
_CALENDAR_WORDS = frozenset(
    word.casefold() for word in (*calendar.month_name, *calendar.day_name) if len(word) > 4
)


class NearMiss(NamedTuple):
    """What a question says in place of a value.

    Args:
        text: What it says.
        reason: How the value differs from it.
        confidence: How sure it is that the value is wrong.
        replaces: Whether it may stand for the whole value.
    """

    text: str
    reason: str
    confidence: Confidence
    replaces: bool = False


def is_program_name(value: Value) -> bool:
    """Whether a text is the name of something in a program: in camel case, or with underscores.

    >>> [is_program_name(value) for value in ("cleanupStage", "user_id", "Rome", "two words")]
    [True, True, False, False]
    """
    return isinstance(value, str) and _PROGRAM_NAME.fullmatch(value) is not None


def find_near_text(
    value: str, question: Question, others: Collection[Value] = (), texts: Iterable[str] = ()
) -> NearMiss | None:
    """A name, a word or a quoted text that a question says and a value nearly is.

    Args:
        value: The value; None where the question says it as it is written.
        question: What is asked.
        others: The other values of the plan, which the question says for themselves.
        texts: What the tools on offer say.

    >>> question = Question("Call `cleanupStageFunction` with the parameterObjects of notes.md in Feb")
    >>> values = ("parameterObject", "cleanupFunction", "note.md", "Febuary")
    >>> [find_near_text(value, question).text for value in values]
    ['parameterObjects', 'cleanupStageFunction', 'notes.md', 'Feb']
    >>> question = Question("Post 'Concerns regarding the seating arrangements'")
    >>> find_near_text("Concern regarding the seating arrangements", question).reason
    'differs by one letter'
    """
    spaced = re.escape(" ".join(value.split()))
    if re.search(rf"(?<!\w){spaced}(?!\w|\.\w)", question.spaced):
        return None
    return (
        _find_near_name(value, question, others)
        or _find_near_word(value, question, texts)
        or _find_near_quote(value, question, others)
    )


def _find_near_name(value: str, question: Question, others: Collection[Value]) -> NearMiss | None:
    if _TOKEN.fullmatch(value) is None or value.casefold() in question.text.casefold().split():
        return None
    tokens = dict.fromkeys(match[0] for match in islice(_TOKEN.finditer(question.text), MAX_MENTIONS))
    names = [token for token in tokens if _is_name(token) and token not in others]
    if value in tokens or not (_is_name(value) or any(map(_is_name, tokens))):
        return None
    for token in names:
        if _differs_by_a_letter(value, token):
            return NearMiss(token, "differs by one letter", "high", True)
    if sum(c.isdecimal() for c in value) > _MAX_NAME_DIGITS:
        return None  # an identifier, of which another may hold a part
    parts = [part.casefold() for part in _NAME_PART.findall(value)]
    for token in names:
        token_parts = [part.casefold() for part in _NAME_PART.findall(token)]
        short, long = sorted((parts, token_parts), key=len)
        if 2 <= len(short) < len(long) <= 2 * len(short) and is_subsequence(short, long):
            reason = "is a part of it" if short is parts else "contains more than it"
            return NearMiss(token, reason, "medium", True)
    return None


def _is_name(token: str) -> bool:
    return is_program_name(token) or _FILE_NAME.fullmatch(token) is not None


def _differs_by_a_letter(left: str, right: str) -> bool:
    """Whether one of two words is misspelt, or a plural; another number is another thing."""
    left, right = left.casefold(), right.casefold()
    if left == right or re.sub(r"\d", "", left) == re.sub(r"\d", "", right):
        return False
    return is_misspelling(left, right) or left in (right + "s", right.removesuffix("s"))


def _find_near_word(value: str, question: Question, texts: Iterable[str]) -> NearMiss | None:
    """A word that a question says and a value spells with another letter, where the question's is right.

    It is where the tools' descriptions write it so and not the other way, where it is a month, a day or a
    known name, or where it is one word of a name of several, as people's are; else either may be the slip. A
    plural is another word.
    """
    unsaid = [word for word in _WORD.findall(value)[:5] if word.casefold() not in question.text.casefold()]
    if not unsaid or len(value.split()) > 4:
        return None
    said = dict.fromkeys(match[0] for match in islice(_WORD.finditer(question.text), MAX_MENTIONS))
    written: str | None = None
    for left, right in product(unsaid, said):
        low, other = left.casefold(), right.casefold()
        same = normalize_word(left).removesuffix("s") == normalize_word(right).removesuffix("s")
        if is_misspelling(low, other) and not same:
            written = " ".join(texts).casefold() if written is None else written
            is_written = has_word(written, other) and not has_word(written, low)
            full_name = value.replace(left, right)
            if _is_name_of_several(value, left) and full_name in question.spaced:
                return NearMiss(full_name, "differs by one letter", "medium", True)
            if is_written or other in _CALENDAR_WORDS or (right[0].isupper() and _is_name_of(right, left)):
                return NearMiss(right, "differs by one letter", "medium", left == value)
    for left, name in product(unsaid, _CALENDAR_WORDS):
        short = re.search(rf"\b{name[:3]}\b", question.text, re.I)
        if short is not None and is_misspelling(left.casefold(), name):
            return NearMiss(short[0], f"differs by one letter from {name.title()!r}", "medium")
    return None


def _is_name_of_several(value: str, word: str) -> bool:
    """Whether a value is a name of several words, of which one is no known name."""
    is_name = " " in value and all(part[0].isupper() for part in value.split())
    return is_name and stem(word) not in name_words()


def _is_name_of(word: str, other: str) -> bool:
    """Whether one of two words is of a known name, and the other neither that nor a form of the word."""
    form, other_form = stem(word), stem(other)
    return form in name_words() and other_form not in name_words() and not are_related_forms(form, other_form)


def _find_near_quote(value: str, question: Question, others: Collection[Value]) -> NearMiss | None:
    """A quoted text that a value repeats but for a letter, a word or a sign."""
    value_words = _WORD_OR_SIGN.findall(value)
    if not _MIN_QUOTED_WORDS <= len(value_words) <= _MAX_QUOTED_WORDS:
        return None
    for match in islice(QUOTED.finditer(question.text), MAX_MENTIONS):
        quoted = next(group for group in match.groups() if group)
        _, left, right = differing_letters(value_words, _WORD_OR_SIGN.findall(quoted))
        if quoted in others or max(len(left), len(right)) != 1:
            continue
        signs = [sign for sign in (*left, *right) if not sign[0].isalnum()]
        if len(signs) == len(left) + len(right):
            return NearMiss(quoted, "differs by one sign", "low", True)
        if not signs and (not (left and right) or _differs_by_a_letter(left[0], right[0])):
            reason = "differs by one letter" if left and right else "differs by one word"
            return NearMiss(quoted, reason, "medium", True)
    return None


# ----------------------------------------------------------------------
# Days that today's date decides, where the question says which day today is.
_TODAY = re.compile(
    r"(?i)\b(?:today(?:['’]s date)?|current date|current day|the date today)\s?(?:is|was|=|:|,|being)?\s?"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s)?(?:the\s)?(?=[\dA-Z])"
)
_NEAR_DAYS = {"tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2, "the day before yesterday": -2}
_DECIDED = re.compile(r"(?i)\b(?:(?:the )?day (?:after tomorrow|before yesterday)|tomorrow|yesterday)\b")
_UNDECIDED = re.compile(
    r"(?i)\b(?:next|last|this|coming|following|past|previous|every|each|in (?:a|an|\d+|\w+))\s(?:few\s)?"
    r"(?:days?|weeks?|weekends?|months?|years?|quarters?)\b"
    r"|\b(?:weekend|holiday|birthday|ago|from now|later|earlier)\b"
)


def stated_today(question: Question) -> date | None:
    """The date that a question says today is.

    >>> stated_today(Question("Today is Friday, 2031-03-07. A table for Monday."))
    datetime.date(2031, 3, 7)
    """
    match = _TODAY.search(question.text)
    if match is None:
        return None
    for day in question.moments.days:
        if 0 <= day.span[0] - match.end() <= 2 and (when := date_of(day)) is not None:
            return when
    return None


def find_other_day(value: Value, question: Question) -> NearMiss | None:
    """The day that a question means by "Monday", where it says today's date and a value is another.

    Args:
        value: The value.
        question: What is asked.

    >>> question = Question("Today is 2031-03-07. A table for next Monday.")
    >>> find_other_day("2031-03-11", question).reason, find_other_day("2031-03-10", question)
    ('is no "Monday" after 2031-03-07', None)
    """
    moment = read_moment(value) if isinstance(value, str) else None
    dates = [when for day in (moment.days if moment else ())[:4] if (when := date_of(day)) is not None]
    today = stated_today(question) if dates else None
    if today is None or _UNDECIDED.search(question.text):
        return None
    meant = [*_decided_days(question.text, question.moments, today)]
    stated = [
        when
        for day in question.moments.days
        for year in (today.year - 1, today.year, today.year + 1)
        if (when := date_of(day._replace(year=day.year or year, month=day.month or today.month)))
    ]
    if not meant or any(when in stated or any(when == other for other, _ in meant) for when in dates):
        return None
    quoted = meant[0][1]
    return NearMiss(quoted, f'is no "{quoted}" after {today}', "high")


def _decided_days(text: str, said: Moments, today: date) -> Iterator[tuple[date, str]]:
    for match in _DECIDED.finditer(text):
        name = match[0].casefold()
        shift = next(days for phrase, days in _NEAR_DAYS.items() if phrase.endswith(name))
        yield today + timedelta(days=shift), match[0]
    start = _TODAY.search(text)
    beside = range(start.start(), start.end() + 25) if start is not None else ()
    # "today is Friday, March 7th" names today, and where its date is no Friday either may be meant
    weekdays = said.weekdays[:20]
    todays = {today.weekday(), *(weekday for weekday, span in weekdays if span[0] in beside)}
    for weekday, span in weekdays:
        for now in todays if span[0] not in beside else ():
            ahead = (weekday - now) % 7 or 7
            for shift in (ahead, ahead + 7, ahead - 7):
                yield today + timedelta(days=shift), text[slice(*span)]


# ----------------------------------------------------------------------
# A choice whose description says what the question does not.
_GLOSS = re.compile(
    r"['\"`’”]?\s?(?::|=|\(|-|–|\bfor\b|\bmeans\b|\bis\b|\buses?\b|\bgives\b|\breturns\b|\bstands for\b)"
    r"(?P<gloss>[^;.\n|)]{2,60})"
)
"""What a description says of a listed value, behind it."""
_GLOSS_END = re.compile(r"\b(?:or|and|while|whereas)\b|,")
_MAX_GLOSS_WORDS = 4
_MIN_CHOICE_LETTERS = 3
_NOT_WORDS = word_set("any_words")


def find_described_choice(value: Value, parameter: Parameter, question: Question) -> NearMiss | None:
    """Another listed value, by whose description a question means it: 'imperial' for "in Fahrenheit".

    Args:
        value: The value in gold.
        parameter: The argument, whose description says what its listed values stand for.
        question: What is asked.

    >>> from planner_eval.catalogs.catalog import Type
    >>> described = "Units: 'metric' for Celsius, 'imperial' for Fahrenheit"
    >>> parameter = Parameter("units", Type(("string",), ("metric", "imperial")), description=described)
    >>> find_described_choice("metric", parameter, Question("How warm is it, in Fahrenheit?")).text
    'Fahrenheit'
    """
    glosses = _read_glosses(value, parameter)
    if len(glosses) < 2 or not glosses.get(str(value)) or question.grounds(value) is not None:
        return None
    said = {word.form: word.span for word in reversed(question.words)}
    if any(word in said for word in glosses[str(value)]):
        return None
    for choice, gloss in glosses.items():
        word = next((word for word in gloss if word in said), None)
        if choice != value and word is not None and not is_denied(question.text, said[word]):
            quoted = question.text[slice(*said[word])]
            return NearMiss(quoted, f"is described differently from {choice!r}", "medium")
    return None


def is_described(value: Value, parameter: Parameter, question: Question) -> bool:
    """Whether a question means a listed value by its description; the arguments are as above."""
    gloss = _read_glosses(value, parameter).get(str(value), ())
    return any(word.form in gloss for word in question.words)


def _read_glosses(value: Value, parameter: Parameter) -> dict[str, list[str]]:
    """Of each listed value, where a value is one, the words by which its description alone tells it."""
    words_allowed = (choice for choice in (parameter.type.enum or ())[:50] if isinstance(choice, str))
    choices = [
        choice
        for choice in words_allowed
        if len(choice) >= _MIN_CHOICE_LETTERS and choice.isalpha() and choice.casefold() not in _NOT_WORDS
    ]
    if value not in choices:
        return {}
    description = parameter.description[:4000]
    glosses: dict[str, list[str]] = {}
    for choice in choices:
        mention = re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", description, re.IGNORECASE)
        match = _GLOSS.match(description, mention.end()) if mention is not None else None
        if match is not None:
            gloss = _GLOSS_END.split(match["gloss"].strip(), maxsplit=1)[0]
            told = [word for word in words(gloss) if len(word.form) > 3 and word.plain not in FUNCTION_WORDS]
            glosses[choice] = [word.form for word in told[:_MAX_GLOSS_WORDS]]
    common = {word.form for word in words(parameter.name)} | {w.form for c in choices for w in words(c)}
    counts = [word for gloss in glosses.values() for word in set(gloss)]
    return {
        choice: [word for word in gloss if counts.count(word) == 1 and word not in common]
        for choice, gloss in glosses.items()
    }


# ----------------------------------------------------------------------
# Whether a question may say a name by another that no table knows: as an airport's, or spelled otherwise.
_PLACE_WORDS = word_set("place_words")
_CAPITALISED_WORD = r"[A-Z][\w'’.-]{0,40}+"
_PLACE_NAME = re.compile(
    rf"\b(?P<way>from|out of|leaving|departing|to|into|for|towards?|in|at|via|near|by|and)\ (?:the\ )?"
    rf"(?P<name>{_CAPITALISED_WORD}"
    rf"(?:\ (?:(?:de|la|le|di|du|del|da|von|van|der|of)\ ){{0,2}}{_CAPITALISED_WORD}){{0,4}}+)"
)
_ROUTES: dict[str, list[str]] = {way: words.split() for way, words in TABLES["routes"].items()}
"""Words before a place, and those of arguments that it is then for."""
_ROUTE_WORDS = {word for words in _ROUTES.values() for word in words}
_FLIGHT_WORDS = re.compile(
    r"(?i)\b(?:fl(?:y|ies|ew|own|ying|ights?)|planes?|airports?|airlines?|take-?off|layover|boarding)\b"
)
_BUILDING_WORDS = re.compile(
    r"(?i)\b(?:airport|station|terminal|museum|tower|stadium|arena|university|hospital|square|bridge|palace"
    r"|cathedral|castle|harbou?r)\b"
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
        direction = _ROUTES.get(match["way"], ())
        if (argument_words & _ROUTE_WORDS and argument_words.isdisjoint(direction)) or any(
            span[0] < end and start < span[1] for start, end in claimed
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
    line = " ".join(word.form for word in words(name) if name[word.span[0]].isupper())
    return any(has_word(line, " ".join(alias)) for alias in aliases())
