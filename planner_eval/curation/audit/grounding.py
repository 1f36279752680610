"""Literals of a gold plan that its query does not say, why that is doubtful, and how sure it is.

The check is the third of AppBench's construction (paper 3.3: each value is the user's, none the system's),
with values normalised as people write them; docs/grounding.md says what is read. It is meant to be right
before it is complete: a value that cannot be judged (a flag that is off, "tomorrow", a single ticket, a query
in another language) is no finding.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, TypeGuard

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Type
from planner_eval.comparison.policy.values import normalise_boolean, normalise_number, number_of
from planner_eval.curation.audit.dates import Moments, day_ground, is_adjacent_day, read_moment
from planner_eval.curation.audit.literals import (
    amounts,
    are_equal,
    find_longer_code,
    is_arithmetic,
    is_code,
    is_constant,
    is_stated_sequence,
)
from planner_eval.curation.audit.near_misses import (
    find_described_choice,
    find_misspelt_name,
    find_near_text,
    find_other_day,
    find_other_place_name,
    is_described,
)
from planner_eval.curation.audit.question import Question, read_question
from planner_eval.curation.audit.words import FUNCTION_WORDS, Ground, is_denied, lookup_key, word_set, words
from planner_eval.plan.inference import last_name
from planner_eval.plan.model import Call, Path, Plan, Template, Value, contains_kind, leaves
from planner_eval.results.findings import Confidence, GoldFinding

# ----------------------------------------------------------------------
# Why a literal that nothing grounds is doubtful, and how sure that is.
_RANGE_SEPARATOR = re.compile(r"(?i)\s?(?:-|–|—|and|to|until|till|or)\s?(?:around |at )?")
"""What stands between the ends of a range of time."""
_MAX_TIMES = 50
"""Of times that a question says no more are looked at for ranges."""
_DAY_SHIFTING_WORDS = re.compile(
    r"(?i)\b(?:before|after|prior to|preceding|following|ahead of|earlier than|later than|(?<!the )eve of)\b"
)
"""What makes a day another than the one that is named behind it."""
_BIRTH = re.compile(r"(?i)birth|\bdob\b|_dob|\bborn\b")
_EVE = re.compile(r"(?i)\beve of\b")
_TIME_ZONE_WORDS = re.compile(
    r"\b(?:time ?zones?|local time|UTC|GMT|[ECMP][SDE]?T|CEST|IST|JST|BST)\b"
    r"|(?:\d|m\.?|noon|midnight) (?:[A-Z][\w'’]{1,20} ){1,3}time\b"
    r"|\bin [A-Z][\w'’]{1,20} (?:it|that|this) is\b"
)
"""What makes the day of one place another than that of the other."""
_SMALL_HOURS = 360
"""Before so many minutes after midnight a time may be one of the night after the day that is said."""
_INFERRED_PLACE = re.compile(
    r"(?i)\b(?:capital|city|town|country|birthplace|home ?town|home|seat|headquarters)"
    r" (?:city )?(?:of|where)\b"
)
"""What names a place by what is known of it."""
_NAME_ARGUMENT_WORDS = word_set("named_arguments")
_IP_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_MAIL_ADDRESS = re.compile(r"[\w.+-]{1,64}+@[\w-]{1,100}+(?:\.[\w-]{1,100}+){1,6}+")
_LANGUAGES = word_set("languages")
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
        parameter: What the tool declares for its argument; None where that is not known.
    """

    call: int
    argument: str
    path: Path
    value: Value
    type: Type
    ground: Ground | None
    parameter: Parameter | None


def find_unasked_call(
    call: Call, position: int, call_literals: list[Literal], question: Question, claimed: Sequence[Span]
) -> GoldFinding | None:
    """The finding about a call of whose names, days and times the query says almost nothing.

    Told where two of them or more, and at least two in three, are not said; days and times alone have to be
    three, for the query may say others.

    Args:
        call: The call.
        position: Its position.
        call_literals: Its literals.
        question: What is asked.
        claimed: Where the values of the plan are said, which other names of its lacking names are not.
    """
    telling = [literal for literal in call_literals if _is_name_or_time(literal)]
    lacking = [literal for literal in telling if literal.ground is None]
    if len(lacking) < 2 or 3 * len(lacking) < 2 * len(telling) or not question.plain:
        return None
    if all(_find_other_name(literal, question, claimed) for literal in lacking):
        return None
    if all(_day_or_time(literal.value) for literal in lacking) and len(lacking) < 3:
        return None
    all_lacking = len(lacking) == len(telling)
    what = "nothing" if all_lacking else "almost nothing"
    listing = ", ".join(f"{literal.argument}={_format_value(literal.value)}" for literal in lacking[:4])
    if all(
        _day_or_time(literal.value) == "day" and _DAY_SHIFTING_WORDS.search(question.text)
        for literal in lacking
    ):
        return None
    message = (
        f"the question says {what} about the values of {call.tool}: {listing}"
        f"{', …' if len(lacking) > 4 else ''}"
    )
    sure: Confidence = "medium" if _INFERRED_PLACE.search(question.text) else "high"
    return GoldFinding("gold.unasked", message, sure, position)


def _is_name_or_time(literal: Literal) -> bool:
    """Whether a literal is a name, a day or a time: what nobody can know unless it is said."""
    value = literal.value
    if not _is_words(value) or isinstance(normalise_boolean(value), int):
        return False
    return literal.type.enum is None and (_day_or_time(value) is not None or _is_proper_name(value))


def _is_words(value: Value) -> TypeGuard[str]:
    """Whether a value is a text, and none of a number."""
    return isinstance(value, str) and isinstance(normalise_number(value), str)


def _day_or_time(value: Value) -> str | None:
    """``"day"`` or ``"time"``."""
    moment = read_moment(value) if _is_words(value) else None
    return None if moment is None else "day" if moment.days else "time"


def _is_proper_name(value: str) -> bool:
    """Whether a text looks like the name of something: capitalised words, no code of a program's."""
    if "_" in value or value.isupper() or not any(c.islower() for c in value):
        return False
    return any(word[:1].isupper() for word in value.split()) and sum(c.isalpha() for c in value) > 3


def make_finding(
    literal: Literal, question: Question, claimed: Sequence[Span], beside: Sequence[Value]
) -> GoldFinding:
    """The finding about one literal that nothing grounds.

    Args:
        literal: The literal.
        question: What is asked; of one that is not in English all findings are ``low``.
        claimed: Where the other values of the plan are said.
        beside: What the plan's calls of the tool hold in the argument: a question may ask both sides.
    """
    code, reason, confidence = _reason(literal, question, beside)
    if confidence == "high" and (other := _find_other_name(literal, question, claimed)) is not None:
        quoted = question.text[slice(*other)]
        reason, confidence = f'does not mention it, unless "{quoted}" is another name of it', "medium"
        if find_misspelt_name(str(literal.value), question) is not None:
            confidence = "low"  # a slip of the user
    location = literal.argument + "".join(f"[{step!r}]" for step in literal.path)
    message = f"{location} is {_format_value(literal.value)}, but the question {reason}"
    return GoldFinding(code, message, confidence if question.plain else "low", literal.call, literal.argument)


def _find_other_name(literal: Literal, question: Question, claimed: Sequence[Span]) -> Span | None:
    """What may be another name of a name, or a misspelt one."""
    value = literal.value
    if (
        not isinstance(value, str)
        or _day_or_time(value)
        or is_identifier(value)
        or not _is_proper_name(value)
    ):
        return None
    return find_misspelt_name(value, question) or find_other_place_name(_name_of(literal), question, claimed)


def _reason(literal: Literal, question: Question, beside: Sequence[Value]) -> tuple[str, str, Confidence]:
    value, kind = literal.value, _day_or_time(literal.value)
    if isinstance(normalise_boolean(value), int) and isinstance(value, (bool, str)):
        if len({normalise_boolean(other) for other in beside if isinstance(other, (bool, str))}) > 1:
            return "gold.ungrounded", "asks for both values", "low"
        return _reason_for_flag(literal, question)
    if kind == "day":
        moment = read_moment(str(value))
        if _BIRTH.search(_name_of(literal)) and not _BIRTH.search(question.text):
            return "gold.ungrounded", "gives no date of birth", "medium"
        timed = moment is not None and moment.clocks and question.moments.clocks
        other = timed and moment and day_ground(moment, question.moments, question.amounts)
        return _reason_for_time(question, value) if other else _reason_for_day(question, moment)
    if kind == "time":
        return _reason_for_time(question, value)
    if (other := _find_other_choice(literal, question, beside)) is not None:
        return "gold.contradicted", f"mentions {_format_value(other)}, another of its values", "medium"
    if literal.type.enum is not None:
        return "gold.ungrounded", "leaves the choice open", "low"
    return ("gold.ungrounded", *_reason_for_text(literal, question))


def _reason_for_text(literal: Literal, question: Question) -> tuple[str, Confidence]:
    """What the question does instead of saying a text or number, and how sure that is."""
    value = literal.value
    is_part = is_identifier(value) or (isinstance(value, int) and abs(value) >= 100)
    longer = find_longer_code(str(value), question.text) if is_part else None
    if longer is not None:
        sure = is_identifier(value) and not longer.apart
        return (
            f'mentions it only as a part of "{question.text[slice(*longer.span)]}"',
            "high" if sure else "medium",
        )
    if isinstance(value, str) and _MAIL_ADDRESS.fullmatch(value.strip()):
        match = _MAIL_ADDRESS.search(question.text)
        return (
            ("does not mention it", "medium")
            if match is None
            else (f'gives another value ("{match[0]}")', "high")
        )
    if not is_identifier(value) and isinstance(normalise_number(value), (int, float)):
        optional = literal.parameter is not None and not literal.parameter.required
        return "does not mention this number", "low" if optional else "medium"
    return "does not mention it", _text_confidence(value, _name_of(literal), question)


def _reason_for_flag(literal: Literal, question: Question) -> tuple[str, str, Confidence]:
    """Of a flag that is on: off and not spoken of would be grounded."""
    off = question.grounds(False, literal.argument)
    if normalise_boolean(literal.value) and off is not None and off.how == "absent":
        return "gold.ungrounded", "does not mention it", "low"
    return "gold.contradicted", "says the opposite", "medium"


def _reason_for_day(question: Question, value: Moments | None) -> tuple[str, str, Confidence]:
    question_moments = question.moments
    days = [day for day in question_moments.days if day.day is not None]
    if days:
        first, has_several = question.text[slice(*days[0].span)], len({day.span for day in days}) > 1
        if any(
            _DAY_SHIFTING_WORDS.search(question.text, max(0, day.span[0] - 30), day.span[0])
            for day in days[:_MAX_TIMES]
        ):
            return "gold.contradicted", f'mentions the day next to it ("{first}")', "low"
        if value is not None and _may_be_adjacent_day(question, value):
            return "gold.contradicted", f'mentions the day before or after ("{first}")', "low"
        other_days = f'other days ("{first}", …)' if has_several else f'another day ("{first}")'
        return (
            "gold.contradicted",
            f"mentions {other_days}",
            "medium" if question_moments.lasting else "high",
        )
    if question_moments.weekdays:
        first = question.text[slice(*question_moments.weekdays[0][1])]
        return "gold.contradicted", f'mentions another day of the week ("{first}")', "medium"
    return "gold.ungrounded", "gives no day", "medium"


def _may_be_adjacent_day(question: Question, value: Moments) -> bool:
    """Whether a day beside that which is said may be meant: elsewhere, past midnight, the eve."""
    question_moments = question.moments
    if _TIME_ZONE_WORDS.search(question.text):
        return is_adjacent_day(value, question_moments)
    late = any(
        len(clock.times) == 1 and clock.times[0] < _SMALL_HOURS
        for clock in question_moments.clocks[:_MAX_TIMES]
    )
    if late and is_adjacent_day(value, question_moments, (1,)):
        return True
    return _EVE.search(question.text) is not None and is_adjacent_day(value, question_moments, (-1,))


def _reason_for_time(question: Question, value: Value) -> tuple[str, str, Confidence]:
    clocks = question.moments.clocks
    if not clocks:
        return "gold.ungrounded", "gives no time", "medium"
    first = max((question.text[slice(*clock.span)].strip(" .") for clock in clocks[:20]), key=len)
    code_and_reason = "gold.contradicted", f'mentions another time ("{first}")'
    return (*code_and_reason, "low" if _is_in_stated_range(question, value) else "high")


def _is_in_stated_range(question: Question, value: Value) -> bool:
    """Whether a time lies in a range that is said: "between 7 and 8 pm"."""
    moment = read_moment(str(value))
    times = [time for clock in (moment.clocks if moment else ())[:2] for time in clock.times]
    for first, last in pairwise(question.moments.clocks[:_MAX_TIMES]):
        if _RANGE_SEPARATOR.fullmatch(question.text, first.span[1], last.span[0]):
            ends = [(start, end) for start in first.times for end in last.times if start < end]
            if any(start <= time <= end for start, end in ends for time in times):
                return True
    return False


def _name_of(literal: Literal) -> str:
    """What a literal is called: its field of an object, else its argument."""
    return last_name(literal.path) or literal.argument


def _text_confidence(value: Value, argument: str, question: Question) -> Confidence:
    if is_identifier(value):
        return "high"
    if not _is_proper_name(value) or value.casefold() in _LANGUAGES:
        return "low"
    # no knowledge of the world gives the name of a place or of somebody
    takes_a_name = any(word.plain in _NAME_ARGUMENT_WORDS for word in words(argument))
    return "high" if takes_a_name and not _INFERRED_PLACE.search(question.text) else "medium"


def is_identifier(value: Value) -> bool:
    """Whether a text is an identifier that nobody guesses: one word with three digits or more, or groups.

    >>> is_identifier("A-77120"), is_identifier("Rome")
    (True, False)
    """
    if not isinstance(value, str) or not value.isascii():
        return False
    if "." in value:
        return _IP_ADDRESS.fullmatch(value) is not None
    if len(value.split()) != 1 and not is_code(value):
        return False
    return sum(c.isdecimal() for c in value) >= 3 and len(value) >= 4


def _find_other_choice(literal: Literal, question: Question, beside: Sequence[Value]) -> Value:
    """Another of the values that may be chosen, which the query says and the plan has nowhere."""
    for other in (literal.type.enum or ())[:50]:
        if other != literal.value and other not in beside and _is_words(other):
            ground = question.grounds(other)
            if ground is None or ground.how != "text" or other.casefold() in FUNCTION_WORDS:
                continue
            if ground.span is None or not is_denied(question.text, ground.span):
                return other
    return None


def _format_value(value: Value) -> str:
    return shorten(repr(value), 60)


# ----------------------------------------------------------------------
# Literals of a gold plan that its query does not say.
CODES = ("gold.ungrounded", "gold.contradicted", "gold.unasked")


def literals(plan: Plan, query: str, catalog: Catalog | None = None) -> Iterator[Literal]:
    """The literals of a plan in written order, each with what grounds it.

    A value is also grounded where an earlier call's recorded result holds it, and where the tool takes it
    anyway. The text around references is left out: it is the plan's own.

    Args:
        plan: The plan.
        query: What is asked; of a conversation, all that is said in it.
        catalog: The tools.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse("f(to='Rome', n=3)")
    >>> [(one.value, one.ground is not None) for one in literals(plan, "Three nights in Oslo")]
    [('Rome', False), (3, True)]
    """
    question = read_question(query)
    seen: set[Any] = set()
    for position, call in enumerate(plan.calls):
        tools = catalog.find(call.name, call.app) if catalog is not None else ()
        declared = {parameter.name: parameter for tool in tools for parameter in tool.parameters}
        for name, argument_value in call.arguments:
            parameter = declared.get(name)
            if is_stated_sequence(argument_value, question.amounts):
                continue
            for path, value in leaves(argument_value):
                if _needs_ground(argument_value, path, value) and not (catalog and value in catalog.holes):
                    type_ = (parameter.type.at(path) if parameter else None) or ANY
                    ground = _find_literal_ground(question, value, name, path, parameter, seen)
                    yield Literal(position, name, path, value, type_, ground, parameter)
        if call.has_result:
            seen.update(
                lookup_key(value) for _, value in leaves(call.result) if isinstance(value, (str, int, float))
            )


def ungrounded(plan: Plan, query: str, catalog: Catalog | None = None) -> Iterator[GoldFinding]:
    """What a gold plan says that its query does not.

    - ``gold.unasked``: nothing to the point that a call is given stands in the query.
    - ``gold.contradicted``: the query says another value of the kind: other days, another time of day, the
      flag's opposite, another of the values that may be chosen.
    - ``gold.ungrounded``: the query says nothing of the kind.

    Args:
        plan: The gold plan.
        query: What is asked; of a conversation, all that is said in it.
        catalog: The tools, whose defaults and listed values are then known.

    Source: AppBench, paper 3.3, third step; the rules are our own.

    >>> from planner_eval.reading.dialects.read import parse
    >>> gold = parse("book(city='Rome', day='2024-03-06')")
    >>> for found in ungrounded(gold, "A room in Rome for March 5th."): print(found.confidence, found.message)
    high day is '2024-03-06', but the question mentions another day ("March 5th")
    """
    question = read_question(query)
    if not question.words:
        return
    plan_literals = list(literals(plan, query, catalog))
    claimed = [literal.ground.span for literal in plan_literals if literal.ground and literal.ground.span]
    all_values = {literal.value for literal in plan_literals}
    values_by_argument: dict[tuple[str, str], list[Value]] = {}
    for literal in plan_literals:
        key = plan.calls[literal.call].tool, literal.argument
        values_by_argument.setdefault(key, []).append(literal.value)
    texts = [
        text
        for tool in (catalog.tools if catalog is not None else ())
        for text in (tool.description, *(parameter.description for parameter in tool.parameters))
    ]
    for position, group in groupby(plan_literals, key=attrgetter("call")):
        call, call_literals = plan.calls[position], list(group)
        if (call_finding := find_unasked_call(call, position, call_literals, question, claimed)) is not None:
            yield call_finding
            continue
        for literal in call_literals:
            if (
                question.plain
                and (miss := _find_near_miss(literal, call, question, all_values, texts)) is not None
            ):
                yield miss
                continue
            value, parameter = literal.value, literal.parameter
            if literal.ground is not None or (
                not isinstance(value, bool) and is_arithmetic(call) and is_constant(value)
            ):
                continue
            if parameter is None or literal.path or not is_described(value, parameter, question):
                beside = values_by_argument[call.tool, literal.argument]
                yield make_finding(literal, question, claimed, beside)


def _find_near_miss(
    literal: Literal, call: Call, question: Question, others: Collection[Value], texts: Iterable[str]
) -> GoldFinding | None:
    """The finding about a value that is nearly what the question says."""
    value, ground, parameter = literal.value, literal.ground, literal.parameter
    if not isinstance(value, str):
        return None
    result = ground is not None and ground.how == "result"
    miss = None if result else find_near_text(value, question, others, texts)
    if miss is None and (ground is None or ground.how not in ("text", "result")):
        miss = find_other_day(value, question)
    if miss is None and parameter is not None and not literal.path:
        miss = find_described_choice(value, parameter, question)
    if miss is None:
        return None
    message = (
        f'{literal.argument} is {_format_value(value)}, which {miss.reason}: the question says "{miss.text}"'
    )
    finding = GoldFinding("gold.contradicted", message, miss.confidence, literal.call, literal.argument)
    if literal.path or not miss.replaces:
        return finding
    operation = {"op": "set", "id": call.id, "argument": literal.argument, "value": miss.text}
    return finding._replace(operations=({**operation, "why": finding.code},))


def _needs_ground(argument_value: Value, path: Path, value: Value) -> bool:
    if isinstance(value, str):
        return not contains_kind(argument_value, Template)
    return isinstance(value, (int, float))


def _find_literal_ground(
    question: Question, value: Value, name: str, path: Path, parameter: Parameter | None, seen: set[Any]
) -> Ground | None:
    named = " ".join([name, *[step for step in path if isinstance(step, str)]])
    ground = question.grounds(value, named)
    if ground is not None:
        return ground
    if (
        parameter is not None
        and parameter.has_default
        and not path
        and lookup_key(parameter.default) == lookup_key(value)
    ):
        return Ground("default", sure=False)
    if lookup_key(value) in seen:
        return Ground("result")
    described = parameter is not None and not is_identifier(value) and _is_described(value, parameter)
    return Ground("tool", sure=False) if described else None


def _is_described(value: Value, parameter: Parameter) -> bool:
    """Whether the description of an argument holds a number, as its default or what it stands for."""
    number = number_of(normalise_number(value))
    return number is not None and any(
        are_equal(amount.value, number) for amount in amounts(parameter.description[:2000])
    )
