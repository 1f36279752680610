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
    said = moments(text, written=True)
    bare = _NO_YEAR.fullmatch(text.strip()) is not None
    days = tuple(day for day in said.days if day.year is not None or not bare)
    clocks = tuple(one for one in said.clocks if not any(_within(one.span, day.span) for day in days))
    if not days and not clocks:
        return None
    left, end = [], 0
    spans = [*(one.span for one in days), *(one.span for one in clocks), *(span for _, span in said.weekdays)]
    for start, stop in sorted(spans):
        left.append(text[end:start])
        end = max(end, stop)
    left.append(text[end:])
    return said._replace(days=days, clocks=clocks) if all(map(_LEFT.fullmatch, left)) else None


def moment_ground(value: Moments, said: Moments, amounts: Sequence[Amount]) -> Ground | None:
    """What grounds a day, a time of day or both: each that the value says has to be said.

    Args:
        value: What the value says.
        said: What the question says of days and times.
        amounts: The numbers that it says, for "three nights from March 5th".
    """
    grounds = [day_ground(value, said, amounts)] if value.days else []
    grounds += [_clock(value, said)] if value.clocks else []
    found = [one for one in grounds if one is not None]
    return min(found, key=lambda one: one.sure) if len(found) == len(grounds) else None


def day_ground(value: Moments, said: Moments, amounts: Sequence[Amount]) -> Ground | None:
    """What grounds the day of a value alone; the arguments are those of :func:`moment_ground`."""
    days = value.days[:4]
    named = {weekday for weekday, _ in value.weekdays[:FEW]}
    if named and said.weekdays and not named & {weekday for weekday, _ in said.weekdays[:FEW]}:
        return None
    fitting = [other for day in days for other in said.days[:FEW] if _same(day, other)]
    if fitting:
        return Ground("day", next((one for one in fitting if one.day is not None), fitting[0]).span)
    whole = [when for day in days if (when := _date(day)) is not None]
    for weekday, span in said.weekdays[:FEW]:
        if any(when.weekday() == weekday and not _dated(span, said, when) for when in whole):
            return Ground("day", span)
    if said.relative is not None or said.lasting is not None:
        for when in whole:
            if (later := _later(when, said, amounts)) is not None:
                return Ground("day", later)
    if said.relative is None and any(day.day is not None for day in said.days):
        return None
    decided = said.relative or said.lasting
    return Ground("relative", decided, sure=False) if decided else None


def _dated(weekday: Span, said: Moments, when: date) -> bool:
    """Whether a day of the week stands beside its date, which then is what is meant: "Friday, June 5th".

    In a year where that date is another day of the week the question contradicts itself, and either may be.
    """
    for day in said.days[:_LENGTHS]:
        if 0 <= day.span[0] - weekday[1] <= _BESIDE or 0 <= weekday[0] - day.span[1] <= _BESIDE:
            month, year = day.month or when.month, day.year or when.year
            meant = _date(Day(day.day, month, year, day.span))
            if meant is not None and meant.weekday() == when.weekday():
                return True
    return False


def _later(when: date, said: Moments, amounts: Sequence[Amount]) -> Span | None:
    """A day that the question names, so many days, nights or weeks before or after another."""
    lengths = {1.0, 7.0} | {one.value * unit for one in amounts[:_LENGTHS] for unit in (1, 7)}
    for length in sorted(lengths):
        for shift in (-length, length) if 0 < length < 1000 and length == int(length) else ():
            try:
                other = when + timedelta(days=shift)
            except OverflowError:
                continue
            moved = Day(other.day, other.month, other.year, (0, 0))
            for day in said.days[:_LENGTHS]:
                if day.day is not None and _same(moved, day):
                    return day.span
    return None


def is_beside(value: Moments, said: Moments, shifts: Sequence[int] = (-1, 1)) -> bool:
    """Whether the day of a value is the one before or after a day that is said.

    Args:
        value: What the value says.
        said: What the question says of days and times.
        shifts: How many days the value may lie from it.
    """
    for when in filter(None, map(_date, value.days[:4])):
        for shift in shifts:
            try:
                other = when - timedelta(days=shift)
            except OverflowError:
                continue
            moved = Day(other.day, other.month, other.year, (0, 0))
            if any(day.day is not None and _same(moved, day) for day in said.days[:_LENGTHS]):
                return True
    return False


def _clock(value: Moments, said: Moments) -> Ground | None:
    wanted = {time % 1440 for one in value.clocks[:4] for time in one.times}
    for one in said.clocks[:FEW]:
        if any(time % 1440 in wanted for time in one.times):
            return Ground("time", one.span)
    exact = {one.times[0] for one in said.clocks[:FEW] if len(one.times) == 1}
    if any((time + 720) % 1440 in exact for time in wanted):
        return None
    for word, span in said.vague:
        first, last = _PARTS.get(word, (0, 1440)) if said.clocks else (0, 1440)
        if any(first <= time <= last or time + 1440 <= last for time in wanted):
            return Ground("vague", span, sure=False)
    return None


def _within(one: Span, other: Span) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def _same(value: Day, said: Day) -> bool:
    """Whether a day is the one said, lies in the month said, or begins or ends the year said."""
    for mine, theirs in ((value.month, said.month), (value.year, said.year)):
        if mine is not None and theirs is not None and mine != theirs:
            return False
    if value.day is None:
        return said.month is not None or said.year is not None
    if said.day is not None:
        return value.day == said.day
    return said.month is not None or (value.month, value.day) in ((1, 1), (12, 31)) or value.day == 1


def _date(day: Day) -> date | None:
    if day.day is None or day.month is None or day.year is None:
        return None
    try:
        return date(day.year, day.month, day.day)
    except ValueError:
        return None
