"""Why a literal that nothing grounds is doubtful, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from planner_eval.auditing.asked import Question
from planner_eval.auditing.codes import is_code, said_in
from planner_eval.auditing.finding import Confidence, GoldFinding
from planner_eval.auditing.ground import Ground
from planner_eval.auditing.moments import Moments
from planner_eval.auditing.renamed import misspelt, other_place
from planner_eval.auditing.when import day_ground, is_beside, moment_of
from planner_eval.auditing.words import FUNCTION, words
from planner_eval.base.limits import Span
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import shortened
from planner_eval.catalogs.catalog import Type
from planner_eval.plan.model import Call, Path, Value
from planner_eval.policy.values import booleans, numbers

_TO = re.compile(r"\s?(?:-|–|—|and|to|until|till|or)\s?(?:around |at )?", re.IGNORECASE)
"""What stands between the ends of a range of time."""
_CLOCKS = 50
"""Of times that a question says no more are looked at for ranges."""
_BEFORE = re.compile(
    r"\b(?:before|after|prior to|preceding|following|ahead of|earlier than|later than|(?<!the )eve of)\b",
    re.IGNORECASE,
)
"""What makes a day another than the one that is named behind it."""
_EVE = re.compile(r"\beve of\b", re.IGNORECASE)
_ZONES = re.compile(
    r"\b(?:time ?zones?|local time|UTC|GMT|[ECMP][SDE]?T|CEST|IST|JST|BST)\b"
    r"|(?:\d|m\.?|noon|midnight) (?:[A-Z][\w'’]{1,20} ){1,3}time\b"
    r"|\bin [A-Z][\w'’]{1,20} (?:it|that|this) is\b"
)
"""What makes the day of one place another than that of the other."""
_SMALL_HOURS = 360
"""Before so many minutes after midnight a time may be one of the night after the day that is said."""
_INFERRED = re.compile(
    r"\b(?:capital|city|town|country|birthplace|home ?town|home|seat|headquarters) (?:city )?(?:of|where)\b",
    re.IGNORECASE,
)
"""What names a place by what is known of it."""
_NAMING = frozenset(
    (
        *("from", "to", "city", "town", "location", "origin", "destination", "airport", "place", "where"),
        *("address", "station", "street", "receiver", "recipient", "sender", "person", "hotel", "restaurant"),
        *("movie", "event", "venue", "film", "artist", "singer", "band", "musician", "composer", "author"),
        *("actor", "actress", "director"),
    )
)
_MAIL = re.compile(r"[\w.+-]{1,64}+@[\w-]{1,100}+(?:\.[\w-]{1,100}+){1,6}+")
_LANGUAGES = frozenset(
    (
        *("english", "french", "german", "spanish", "italian", "japanese", "chinese", "mandarin", "korean"),
        *("portuguese", "russian", "hindi", "arabic", "dutch", "turkish", "polish", "swedish"),
    )
)
"""Languages may be seen from the text itself."""


class Literal(NamedTuple):
    """A literal of a plan, and what grounds it.

    Args:
        call: The position of its call, counted from 0.
        argument: The argument's name.
        path: The way into the argument's value.
        value: The literal.
        type: What the tool declares for it, as far as that is known.
        ground: What grounds it; None where nothing does.
    """

    call: int
    argument: str
    path: Path
    value: Value
    type: Type
    ground: Ground | None


def unasked(
    call: Call, position: int, call_literals: list[Literal], question: Question, claimed: Sequence[Span] = ()
) -> GoldFinding | None:
    """The finding about a call of whose names, days and times the query says hardly anything.

    Told where two of them or more, and at least two in three, are not said; days and times alone have to be
    three, for the query may say others.

    Args:
        call: The call.
        position: Its position.
        call_literals: Its literals.
        question: What is asked.
        claimed: Where the values of the plan are said, which other names of its lacking names are not.
    """
    telling = [literal for literal in call_literals if _tells(literal)]
    lacking = [literal for literal in telling if literal.ground is None]
    if len(lacking) < 2 or 3 * len(lacking) < 2 * len(telling) or not question.plain:
        return None
    if all(_other_name(literal, question, claimed) for literal in lacking):
        return None
    if all(_kind(literal.value) for literal in lacking) and len(lacking) < 3:
        return None
    all_lacking = len(lacking) == len(telling)
    what = "nothing" if all_lacking else "hardly anything"
    listing = ", ".join(f"{literal.argument}={_shown(literal.value)}" for literal in lacking[:4])
    if all(_kind(literal.value) == "day" and _BEFORE.search(question.text) for literal in lacking):
        return None
    message = (
        f"the query says {what} of what {call.tool} is given: {listing}{', …' if len(lacking) > 4 else ''}"
    )
    sure: Confidence = "medium" if _INFERRED.search(question.text) else "high"
    return GoldFinding("gold.unasked", message, sure, position)


def _tells(literal: Literal) -> bool:
    """Whether a literal is a name, a day or a time: what nobody can know unless it is said."""
    value = literal.value
    if not isinstance(value, str) or isinstance(booleans(value), int) or not isinstance(numbers(value), str):
        return False
    return literal.type.enum is None and (_kind(value) is not None or _proper(value))


def _kind(value: Value) -> str | None:
    """``"day"`` or ``"time"``."""
    moment = moment_of(value) if isinstance(value, str) and isinstance(numbers(value), str) else None
    return None if moment is None else "day" if moment.days else "time"


def _proper(value: str) -> bool:
    """Whether a text looks like the name of something: capitalised words, no code of a program's."""
    if "_" in value or value.isupper() or not any(c.islower() for c in value):
        return False
    return any(word[:1].isupper() for word in value.split()) and sum(c.isalpha() for c in value) > 3


def finding(literal: Literal, question: Question, claimed: Sequence[Span] = ()) -> GoldFinding:
    """The finding about one literal that nothing grounds.

    Args:
        literal: The literal.
        question: What is asked; of one that is not in English all findings are ``low``.
        claimed: Where the other values of the plan are said.
    """
    code, reason, confidence = _reason(literal, question)
    if confidence == "high" and (other := _other_name(literal, question, claimed)) is not None:
        quoted = question.text[slice(*other)]
        reason, confidence = f'does not say it, unless "{quoted}" is another name of it', "medium"
    location = literal.argument + "".join(f"[{step!r}]" for step in literal.path)
    message = f"{location} is {_shown(literal.value)}, but the query {reason}"
    return GoldFinding(code, message, confidence if question.plain else "low", literal.call, literal.argument)


def _other_name(literal: Literal, question: Question, claimed: Sequence[Span]) -> Span | None:
    """What may be another name of a name, or a misspelt one."""
    value = literal.value
    if not isinstance(value, str) or _kind(value) or _code(value) or not _proper(value):
        return None
    return misspelt(value, question) or other_place(literal.argument, question, claimed)


def _reason(literal: Literal, question: Question) -> tuple[str, str, Confidence]:
    value, kind = literal.value, _kind(literal.value)
    if isinstance(booleans(value), int) and isinstance(value, (bool, str)):
        return _flag(literal, question)
    if kind == "day":
        moment = moment_of(str(value))
        timed = moment is not None and moment.clocks and question.moments.clocks
        other = timed and moment and day_ground(moment, question.moments, question.amounts)
        return _time(question, value) if other else _day(question, moment)
    if kind == "time":
        return _time(question, value)
    if (other := _chosen(literal, question)) is not None:
        return "gold.contradicted", f"speaks of {_shown(other)}, another of its values", "medium"
    if literal.type.enum is not None:
        return "gold.ungrounded", "leaves the choice open", "low"
    return ("gold.ungrounded", *_unsaid(literal, question))


def _unsaid(literal: Literal, question: Question) -> tuple[str, Confidence]:
    """What the question does instead of saying a text or number, and how sure that is."""
    value = literal.value
    if (longer := said_in(str(value), question.text) if _is_part(value) else None) is not None:
        sure = _code(value) and not longer.apart
        return (
            f'says it only as a part of "{question.text[slice(*longer.span)]}"',
            "high" if sure else "medium",
        )
    if isinstance(value, str) and _MAIL.fullmatch(value.strip()):
        match = _MAIL.search(question.text)
        return ("does not say it", "medium") if match is None else (f'says another ("{match[0]}")', "high")
    if not _code(value) and isinstance(numbers(value), (int, float)):
        return "does not say this number", "medium"
    return "does not say it", _sureness(value, literal.argument, question)


def _flag(literal: Literal, question: Question) -> tuple[str, str, Confidence]:
    """Of a flag that is on: off and not spoken of would be grounded."""
    off = question.grounds(False, literal.argument)
    if booleans(literal.value) and off is not None and off.how == "absent":
        return "gold.ungrounded", "does not speak of it", "low"
    return "gold.contradicted", "says the opposite", "medium"


def _day(question: Question, value: Moments | None) -> tuple[str, str, Confidence]:
    question_moments = question.moments
    days = [day for day in question_moments.days if day.day is not None]
    if days:
        first, has_several = question.text[slice(*days[0].span)], len({day.span for day in days}) > 1
        if any(
            _BEFORE.search(question.text, max(0, day.span[0] - 30), day.span[0]) for day in days[:_CLOCKS]
        ):
            return "gold.contradicted", f'speaks of a day beside another ("{first}")', "low"
        if value is not None and _may_shift(question, value):
            return "gold.contradicted", f'speaks of the day before or after ("{first}")', "low"
        other_days = f'other days ("{first}", …)' if has_several else f'another day ("{first}")'
        return (
            "gold.contradicted",
            f"speaks of {other_days}",
            "medium" if question_moments.lasting else "high",
        )
    if question_moments.weekdays:
        first = question.text[slice(*question_moments.weekdays[0][1])]
        return "gold.contradicted", f'speaks of another day of the week ("{first}")', "medium"
    return "gold.ungrounded", "names no day", "medium"


def _may_shift(question: Question, value: Moments) -> bool:
    """Whether a day beside that which is said may be meant: elsewhere, past midnight, the eve."""
    question_moments = question.moments
    if _ZONES.search(question.text):
        return is_beside(value, question_moments)
    late = any(
        len(clock.times) == 1 and clock.times[0] < _SMALL_HOURS for clock in question_moments.clocks[:_CLOCKS]
    )
    if late and is_beside(value, question_moments, (1,)):
        return True
    return _EVE.search(question.text) is not None and is_beside(value, question_moments, (-1,))


def _time(question: Question, value: Value) -> tuple[str, str, Confidence]:
    clocks = question.moments.clocks
    if not clocks:
        return "gold.ungrounded", "names no time", "medium"
    first = max((question.text[slice(*clock.span)].strip(" .") for clock in clocks[:20]), key=len)
    code_and_reason = "gold.contradicted", f'speaks of another time ("{first}")'
    return (*code_and_reason, "low" if _between(question, value) else "high")


def _between(question: Question, value: Value) -> bool:
    """Whether a time lies in a range that is said: "between 7 and 8 pm"."""
    moment = moment_of(str(value))
    times = [time for clock in (moment.clocks if moment else ())[:2] for time in clock.times]
    for first, last in pairwise(question.moments.clocks[:_CLOCKS]):
        if _TO.fullmatch(question.text, first.span[1], last.span[0]):
            ends = [(start, end) for start in first.times for end in last.times if start < end]
            if any(start <= time <= end for start, end in ends for time in times):
                return True
    return False


def _sureness(value: Value, argument: str, question: Question) -> Confidence:
    if _code(value):
        return "high"
    if not _proper(value) or value.casefold() in _LANGUAGES:
        return "low"
    return "high" if _names(argument) and not _INFERRED.search(question.text) else "medium"


def _code(value: Value) -> bool:
    """Whether a text is an identifier that nobody guesses: one word with three digits or more, or groups."""
    if not isinstance(value, str) or not value.isascii() or "." in value:
        return False
    if len(value.split()) != 1 and not is_code(value):
        return False
    return sum(c.isdecimal() for c in value) >= 3 and len(value) >= 4


def _is_part(value: Value) -> bool:
    """Whether a value is looked for within longer identifiers."""
    return _code(value) or (isinstance(value, int) and abs(value) >= 100)


def _names(argument: str) -> bool:
    """Whether an argument takes the name of a place or of somebody, which no knowledge of the world gives."""
    return any(word.plain in _NAMING for word in words(argument))


def _chosen(literal: Literal, question: Question) -> Value:
    """Another of the values that may be chosen, which the query says."""
    for other in (literal.type.enum or ())[:50]:
        if other != literal.value and isinstance(other, str) and isinstance(numbers(other), str):
            ground = question.grounds(other)
            if ground is not None and ground.how == "text" and other.casefold() not in FUNCTION:
                return other
    return None


def _shown(value: Value) -> str:
    return shortened(repr(value), 60)
