"""Whether a question says a day or a time of day, as far as it can be judged without today's date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from planner_eval.auditing.amounts import Amount
from planner_eval.auditing.ground import FEW, Ground
from planner_eval.auditing.moments import Day, Moments, moments
from planner_eval.base.limits import Span

_LONGEST = 60
"""A text of more characters is no day and no time."""
_BESIDE = 6
"""So many characters stand between a day of the week and its date at most."""
_LENGTHS = 50
"""Of lengths that a question says no more are tried."""
_LEFT = re.compile(r"(?:at|on|the|and|to|t|z|utc|gmt|of|[ap]m|th|st|nd|rd|[\W_]|\+?00:?00)*+", re.IGNORECASE)
_ISO = re.compile(
    r"(?:(?P<y>\d{4})(?P<dash>-?)(?P<m>\d\d)(?P=dash)(?P<d>\d\d)(?:T| (?=\d\d:)))?+"
    r"(?(y)|T?)(?P<hour>[01]\d|2[0-4])(?:(?P<colon>:)|(?(y)|(?<=T\d\d)))(?P<minute>[0-5]\d)"
    r"(?:(?(colon):)[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?",
    re.IGNORECASE,
)
"""A time, or a date with one, as programs write it; its zone says nothing of the hour that is meant."""
_PARTS = {
    "morning": (0, 720), "noon": (660, 840), "afternoon": (720, 1080), "evening": (1020, 1440),
    "night": (1020, 1800), "tonight": (1020, 1800), "lunch": (660, 900), "lunchtime": (660, 900),
    "dinner": (1020, 1380), "breakfast": (300, 720), "brunch": (540, 840), "matinee": (660, 1080),
}  # fmt: skip
"""The minutes that a part of the day has: where a time is said as well, it may be another within them."""
_NO_YEAR = re.compile(r"\d+\W\d+")


def moment_of(text: str) -> Moments | None:
    """What a value says of a day or a time of day, where it says nothing else.

    >>> said = ("2024-05-01T10:00", "5th of May", "7 pm", "May Fair Hotel", "4/5")
    >>> [moment_of(one) is not None for one in said]
    [True, True, True, False, False]
    """
    if len(text) > _LONGEST:
        return None
    if (iso := _ISO.fullmatch(text.strip())) is not None:
        date_ = f"{iso['y']}-{iso['m']}-{iso['d']} " if iso["y"] else ""
        text = f"{date_}{iso['hour']}:{iso['minute']}"
    text_moments = moments(text, written=True)
    bare = _NO_YEAR.fullmatch(text.strip()) is not None
    days = tuple(day for day in text_moments.days if day.year is not None or not bare)
    clocks = tuple(
        clock for clock in text_moments.clocks if not any(_within(clock.span, day.span) for day in days)
    )
    if not days and not clocks:
        return None
    left, end = [], 0
    spans = [
        *(item.span for item in days),
        *(item.span for item in clocks),
        *(span for _, span in text_moments.weekdays),
    ]
    for start, stop in sorted(spans):
        left.append(text[end:start])
        end = max(end, stop)
    left.append(text[end:])
    return text_moments._replace(days=days, clocks=clocks) if all(map(_LEFT.fullmatch, left)) else None


def moment_ground(value: Moments, question_moments: Moments, amounts: Sequence[Amount]) -> Ground | None:
    """What grounds a day, a time of day or both: each that the value says has to be said.

    Args:
        value: What the value says.
        question_moments: What the question says of days and times.
        amounts: The numbers that it says, for "three nights from March 5th".
    """
    grounds = [day_ground(value, question_moments, amounts)] if value.days else []
    grounds += [_clock(value, question_moments)] if value.clocks else []
    valid_grounds = [ground for ground in grounds if ground is not None]
    return min(valid_grounds, key=lambda ground: ground.sure) if len(valid_grounds) == len(grounds) else None


def day_ground(value: Moments, question_moments: Moments, amounts: Sequence[Amount]) -> Ground | None:
    """What grounds the day of a value alone; the arguments are those of :func:`moment_ground`."""
    days = value.days[:4]
    named = {weekday for weekday, _ in value.weekdays[:FEW]}
    if (
        named
        and question_moments.weekdays
        and not named & {weekday for weekday, _ in question_moments.weekdays[:FEW]}
    ):
        return None
    fitting = [other for day in days for other in question_moments.days[:FEW] if _same(day, other)]
    if fitting:
        return Ground("day", next((day for day in fitting if day.day is not None), fitting[0]).span)
    dates = [when for day in days if (when := _date(day)) is not None]
    for weekday, span in question_moments.weekdays[:FEW]:
        if any(when.weekday() == weekday and not _dated(span, question_moments, when) for when in dates):
            return Ground("day", span)
    if question_moments.relative is not None or question_moments.lasting is not None:
        for when in dates:
            if (later := _later(when, question_moments, amounts)) is not None:
                return Ground("day", later)
    if question_moments.relative is None and any(day.day is not None for day in question_moments.days):
        return None
    decided = question_moments.relative or question_moments.lasting
    return Ground("relative", decided, sure=False) if decided else None


def _dated(weekday: Span, question_moments: Moments, when: date) -> bool:
    """Whether a day of the week stands beside its date, which then is what is meant: "Friday, June 5th".

    In a year where that date is another day of the week the question contradicts itself, and either may be.
    """
    for day in question_moments.days[:_LENGTHS]:
        if 0 <= day.span[0] - weekday[1] <= _BESIDE or 0 <= weekday[0] - day.span[1] <= _BESIDE:
            month, year = day.month or when.month, day.year or when.year
            stated_date = _date(Day(day.day, month, year, day.span))
            if stated_date is not None and stated_date.weekday() == when.weekday():
                return True
    return False


def _later(when: date, question_moments: Moments, amounts: Sequence[Amount]) -> Span | None:
    """A day that the question names, so many days, nights or weeks before or after another."""
    lengths = {1.0, 7.0} | {amount.value * unit for amount in amounts[:_LENGTHS] for unit in (1, 7)}
    for length in sorted(lengths):
        for shift in (-length, length) if 0 < length < 1000 and length == int(length) else ():
            try:
                other = when + timedelta(days=shift)
            except OverflowError:
                continue
            moved = Day(other.day, other.month, other.year, (0, 0))
            for day in question_moments.days[:_LENGTHS]:
                if day.day is not None and _same(moved, day):
                    return day.span
    return None


def is_beside(value: Moments, question_moments: Moments, shifts: Sequence[int] = (-1, 1)) -> bool:
    """Whether the day of a value is the one before or after a day that is said.

    Args:
        value: What the value says.
        question_moments: What the question says of days and times.
        shifts: How many days the value may lie from it.
    """
    for when in filter(None, map(_date, value.days[:4])):
        for shift in shifts:
            try:
                other = when - timedelta(days=shift)
            except OverflowError:
                continue
            moved = Day(other.day, other.month, other.year, (0, 0))
            if any(day.day is not None and _same(moved, day) for day in question_moments.days[:_LENGTHS]):
                return True
    return False


def _clock(value: Moments, question_moments: Moments) -> Ground | None:
    times = {time % 1440 for clock in value.clocks[:4] for time in clock.times}
    for clock in question_moments.clocks[:FEW]:
        if any(time % 1440 in times for time in clock.times):
            return Ground("time", clock.span)
    exact = {clock.times[0] for clock in question_moments.clocks[:FEW] if len(clock.times) == 1}
    if any((time + 720) % 1440 in exact for time in times):
        return None
    for word, span in question_moments.vague:
        first, last = _PARTS.get(word, (0, 1440)) if question_moments.clocks else (0, 1440)
        if any(first <= time <= last or time + 1440 <= last for time in times):
            return Ground("vague", span, sure=False)
    return None


def _within(inner: Span, outer: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _same(value: Day, question_day: Day) -> bool:
    """Whether a day is the one said, lies in the month said, or begins or ends the year said."""
    for value_field, question_field in ((value.month, question_day.month), (value.year, question_day.year)):
        if value_field is not None and question_field is not None and value_field != question_field:
            return False
    if value.day is None:
        return question_day.month is not None or question_day.year is not None
    if question_day.day is not None:
        return value.day == question_day.day
    return question_day.month is not None or (value.month, value.day) in ((1, 1), (12, 31)) or value.day == 1


def _date(day: Day) -> date | None:
    if day.day is None or day.month is None or day.year is None:
        return None
    try:
        return date(day.year, day.month, day.day)
    except ValueError:
        return None
