"""Days and times of day that a text says, and whether a question says one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import islice

from planner_eval.base.limits import Span
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.policy.dates import MONTHS, WEEKDAYS
from planner_eval.curation.audit.literals import Amount
from planner_eval.curation.audit.words import MAX_MENTIONS, TABLES, Ground
from planner_eval.reading.files.context import DAY, MONTH, WEEKDAY


# ----------------------------------------------------------------------
# Days and times of day that a text says, whole or in part: "March 5th", "the 5th", "Friday", "5:30".
class Day(NamedTuple):
    """A day that a text says, as far as it says it.

    Args:
        day: The day of the month; None where a whole month or year is meant.
        month: The month, counted from 1.
        year: The year.
        span: Where it stands.
    """

    day: int | None
    month: int | None
    year: int | None
    span: Span


class ClockTime(NamedTuple):
    """A time of day that a text says.

    Args:
        times: The minutes after midnight that it may mean.
        span: Where it stands.
    """

    times: tuple[int, ...]
    span: Span


class Moments(NamedTuple):
    """What a text says of days and times.

    Args:
        days: Days named by number or month.
        weekdays: Days of the week, counted from Monday as 0, with their places.
        clocks: Times of day.
        relative: A place where it speaks of a day that today's date decides, if it does.
        lasting: A place where it speaks of a length of days, or of now, if it does.
        vague: Words of a part of the day or a length of time, with their places, but those that say which
            half of the day a time beside them means.
    """

    days: tuple[Day, ...]
    weekdays: tuple[tuple[int, Span], ...]
    clocks: tuple[ClockTime, ...]
    relative: Span | None
    lasting: Span | None
    vague: tuple[tuple[str, Span], ...]


_ORDINALS: dict[str, int] = TABLES["ordinals"]
_SPELLED_ORDINAL = "(?:" + "|".join(sorted(_ORDINALS, key=len, reverse=True)) + ")"
_DAY_OF_MONTH = rf"(?:{DAY}|{_SPELLED_ORDINAL})"
_OPTIONAL_YEAR = r"(?:,?[ ]?(?:of[ ])?(?P<{0}>\d{{4}})\b(?!:))?+"
_DAY_SEPARATOR = r"[ ]?(?:-|–|—|/|,|to|until|till|til|and|through|thru|or|&|,[ ]and)[ ]?(?:on[ ])?(?:the[ ])?"
_NOT_A_TIME = r"(?!:|[ ]?[ap]\.?m\b)"
_DAY_RANGE_SEPARATOR = r"[ ]?(?:-|–|—|to|until|till|and|through|or|,[ ]and)[ ]?(?:on[ ])?(?:the[ ])?"

# Every repetition is bounded or possessive: a text of a model's takes time in proportion to its length.
_DAY_PATTERN = re.compile(
    rf"""(?ix)
    (?<!\d)(?P<iso>\d{{4}})[-/.](?P<iso_month>\d{{1,2}})(?:[-/.](?P<iso_day>\d{{1,2}}))?+(?!\d)
  | (?<![\d/.-])(?P<one>\d{{1,2}})[-/.](?P<two>\d{{1,2}})(?:[-/.](?P<short>\d{{4}}|\d\d))?+(?![\d/]|-\d|\.\d)
  | \b{MONTH}\b\.?,?[ ]?(?:the[
      ])?(?P<after>{_DAY_OF_MONTH}\b{_NOT_A_TIME}(?:{_DAY_SEPARATOR}{_DAY_OF_MONTH}\b{_NOT_A_TIME}){{0,6}}+)
      {_OPTIONAL_YEAR.format("after_year")}
  | (?<![\d/.:-])\b(?P<before>{_DAY_OF_MONTH}\b(?:{_DAY_RANGE_SEPARATOR}{_DAY_OF_MONTH}\b){{0,6}}+)(?:[
      ]day)?(?:[ ]of)?[ ,-]{{1,2}} {MONTH}\b\.?{_OPTIONAL_YEAR.format("before_year")}
  | \b{MONTH}\b\.?{_OPTIONAL_YEAR.format("month_year")}
  | \b(?P<nth>(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th))\b
  | \bthe[ ](?P<spelled>{_SPELLED_ORDINAL})\b
  | (?<![\d.,:])(?P<year>(?:19|20)\d\d)(?![\d:]|[.,]\d)
    """
)
_MONTH_OF_MAY = 5
_BEFORE_MONTH_OF_MAY = re.compile(r"(?i)\b(?:in|of|for|during|this|next|last|early|late)\s$")
"""What tells the month from the verb."""
_MONTH_NAME = re.compile(rf"(?i)\b{MONTH}\b")
_DAY_OF_MONTH_PATTERN = re.compile(rf"(?i)\b{_DAY_OF_MONTH}\b")
_WEEKDAY_PATTERN = re.compile(rf"(?i)\b(?P<name>{WEEKDAY}|mon|tue|tues|wed|thu|thur|thurs|fri)s?\b")
_RELATIVE_TIME = re.compile(
    r"""(?ix)\b(?:to-?day|tonight|tonite|to-?morrow|yesterday|immediately|asap|soon
    |(?:next|last|(?<!of\ )this|coming|following|upcoming|past|previous|every|each)\ (?:\w{1,12}\ ){0,2}
       (?:day|night|week|weekend|month|year|quarter|evening|morning|afternoon|date|time)s?
    |weekend|later|earlier
    |christmas|easter|thanksgiving|halloween|new\ year(?:['’]s)?
    |valentine(?:['’]?s)?|birthday|holiday)s?\b"""
)
_PERIOD_WORDS = re.compile(
    r"""(?ix)\b(?:now|currently|current|recent(?:ly)?|latest|(?:day|night|week|month|year|fortnight)s?|daily|weekly|monthly
    |annual|yearly|quarterly)\b"""
)
_CLOCK_TIME_PATTERN = re.compile(
    r"""(?ix)
    (?<![\d:.,$])(?P<hour>[01]?\d|2[0-4])(?:[:.h](?P<minute>[0-5]\d)(?::[0-5]\d)?+)?+(?![\d:])
      (?:\ ?-?(?P<half>[ap])\.?\ ?m\b\.?|\ ?(?P<clock>o['’]?\ ?clock))?+(?!\w|\ ?%|[.,]\d)
  | \b(?P<past>half|quarter)\ (?P<way>past|to|after|before|till)\ (?P<of>\w{1,8})\b
  | (?:\b|(?P<at>\bat\ ))(?P<minutes>five|ten|twenty(?:[ -]five)?+)(?:\ minutes)?+
      \ (?:past|(?P<until>(?(at)to|till)))\ (?P<from>\w{1,8})\b
  | \b(?P<word>noon|midday|midnight)\b
  | \bat\ (?P<spelled>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)
      (?:[ -](?P<more>thirty|fifteen|forty-?five))?+\b
    """
)
_BEFORE_HOUR = re.compile(
    r"(?i)(?:\b(?:at|around|about|by|after|before|until|till|from|between|past|and|or|to)|[-–@~])\ ?$"
)
_AFTER_HOUR = re.compile(
    r"(?i)\ ?(?:-|–|or|to|and|until|till)\ ?\d|\ (?:in|this|tomorrow|tonight|sharp|hrs|hours)\b"
)
_VAGUE_TIME_WORDS = re.compile(
    r"(?i)\b(?:morning|noon|afternoon|evening|night|tonight|lunch|lunchtime|dinner|breakfast|brunch|now|later|earlier"
    r"|asap|early|late|matinee|same\ time|any\ ?time|hours?|minutes?|mins?|hrs?)\b"
)
_DAY_PART = r"(?P<part>morning|afternoon|evening|night)\b"
_DAY_PART_AFTER = re.compile(rf"(?i),?\ ?(?:in\ the|at|this|that|tomorrow)?\ (?:to)?{_DAY_PART}")
_DAY_PART_BEFORE = re.compile(rf"(?i)\b(?:to)?{_DAY_PART},?\ (?:at|around|about|by)\ $")
_MEAL = "(?:lunch|dinner|breakfast|brunch|supper)"
_DAY_PART_OR_MEAL_AFTER = re.compile(
    rf"(?i),?\ ?(?:in\ the|at|this|that|tomorrow|for)?\ (?:early\ |late\ )?(?:(?:to)?{_DAY_PART}|{_MEAL}\b)"
)
_DAY_PART_OR_MEAL_BEFORE = re.compile(
    rf"(?i)\b(?:early\ |late\ )?(?:(?:to)?{_DAY_PART}|{_MEAL}),?\ (?:at|around|about|by|for)?\ ?$"
)
"""A part of the day beside a time of day: it says which half of the day is meant, and no other time."""
_HOUR_WORDS: dict[str, int] = {**TABLES["numbers"], **TABLES["hours"]}


def moments(text: str, *, written: bool = False) -> Moments:
    """What a text says of days and times of day, of each kind no more than :data:`MAX_MENTIONS`.

    Args:
        text: The text.
        written: Whether it is a value, whose hours of two digits are those of 24.

    >>> said = moments("from March 5th to 8th, 2024 at half past five, back next Friday")
    >>> [(day.day, day.month, day.year) for day in said.days], said.clocks[0].times, said.weekdays[0][0]
    ([(5, 3, 2024), (8, 3, 2024)], (330, 1050), 4)
    """
    relative, lasting = _RELATIVE_TIME.search(text), _PERIOD_WORDS.search(text)
    weekdays = (
        (WEEKDAYS[match["name"].casefold()], match.span()) for match in _WEEKDAY_PATTERN.finditer(text)
    )
    clocks = tuple(islice(_find_clock_times(text, written), MAX_MENTIONS))
    return Moments(
        tuple(islice(_days(text), MAX_MENTIONS)),
        tuple(islice(weekdays, MAX_MENTIONS)),
        clocks,
        relative.span() if relative else None,
        lasting.span() if lasting else None,
        tuple(_find_vague_words(text, clocks)),
    )


def _find_vague_words(text: str, clocks: Sequence[ClockTime]) -> Iterator[tuple[str, Span]]:
    """Words of a part of the day or a length of time that belong to no time of day."""
    covered_spans = [clock.span for clock in clocks]
    for start, end in covered_spans[:]:
        after = _DAY_PART_OR_MEAL_AFTER.match(text, end)
        before = _DAY_PART_OR_MEAL_BEFORE.search(text, max(0, start - 40), start)
        covered_spans += [match.span() for match in (after, before) if match is not None]
    covered_spans.sort()
    index = 0
    for match in islice(_VAGUE_TIME_WORDS.finditer(text), MAX_MENTIONS):
        while index < len(covered_spans) and covered_spans[index][1] < match.end():
            index += 1
        if index == len(covered_spans) or match.start() < covered_spans[index][0]:
            yield match[0].casefold(), match.span()


def _days(text: str) -> Iterator[Day]:
    for match in _DAY_PATTERN.finditer(text):
        span = match.span()
        if match["iso"]:
            yield Day(_parse_number(match["iso_day"]), int(match["iso_month"]), int(match["iso"]), span)
        elif match["one"]:
            if match["short"] is None and "." in match[0]:
                continue  # a decimal number
            year = _parse_number(match["short"])
            year = year + 2000 if year is not None and year < 100 else year
            first, second = int(match["one"]), int(match["two"])
            yield Day(first, second, year, span)
            yield Day(second, first, year, span)
        elif match["year"]:
            yield Day(None, None, int(match["year"]), span)
        elif match["nth"] or match["spelled"]:
            yield Day(_parse_day_of_month(match["nth"] or match["spelled"]), None, None, span)
        else:
            named = _MONTH_NAME.search(match[0])
            month = MONTHS[named[0].casefold()] if named else None
            year = _parse_number(match["after_year"] or match["before_year"] or match["month_year"])
            listed = match["after"] or match["before"]
            if listed is None and (
                month != _MONTH_OF_MAY
                or year
                or _BEFORE_MONTH_OF_MAY.search(text, max(0, span[0] - 8), span[0])
            ):
                yield Day(None, month, year, span)
            for one_day in _DAY_OF_MONTH_PATTERN.finditer(listed or ""):
                yield Day(_parse_day_of_month(one_day[0]), month, year, span)


def _parse_number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _parse_day_of_month(written: str) -> int:
    return _ORDINALS.get(written.casefold()) or int(written.casefold().rstrip("stndrh"))


def _find_clock_times(text: str, written: bool) -> Iterator[ClockTime]:
    for match in _CLOCK_TIME_PATTERN.finditer(text):
        span = match.span()
        if match["hour"]:
            hour, minute = int(match["hour"]), int(match["minute"] or 0)
            half = (match["half"] or "").casefold()
            if half:
                yield ClockTime((hour % 12 * 60 + minute + (720 if half == "p" else 0),), span)
            elif match["minute"] or match["clock"]:
                exact = match["hour"][0] == "0" or (written and len(match["hour"]) == 2)
                times = (hour * 60 + minute,) if exact else _times_in_day_part(text, span, hour, minute)
                yield ClockTime(times, span)
            elif (
                _DAY_PART_AFTER.match(text, span[1])
                or _BEFORE_HOUR.search(text, max(0, span[0] - 9), span[0])
                or _AFTER_HOUR.match(text, span[1])
            ):
                yield ClockTime(_times_in_day_part(text, span, hour, 0), span)
        elif match["word"]:
            yield ClockTime((0, 1440) if match["word"].casefold() == "midnight" else (720,), span)
        elif match["past"]:
            minutes = 30 if match["past"].casefold() == "half" else 15
            back = match["way"].casefold() in ("to", "before", "till")
            yield from _times_past_hour(text, span, match["of"], -minutes if back else minutes)
        elif match["minutes"]:
            minutes = _HOUR_WORDS.get(match["minutes"].casefold(), 25)
            yield from _times_past_hour(text, span, match["from"], -minutes if match["until"] else minutes)
        else:
            more = {"thirty": 30, "fifteen": 15, None: 0}.get((match["more"] or "").casefold() or None, 45)
            yield ClockTime(
                _times_in_day_part(text, span, _HOUR_WORDS[match["spelled"].casefold()], more), span
            )


def _times_past_hour(text: str, span: Span, of: str, minutes: int) -> Iterator[ClockTime]:
    """So many minutes past an hour, or before it."""
    hour = _HOUR_WORDS.get(of.casefold(), int(of) if of.isdecimal() and len(of) < 3 else -1)
    if of.casefold() in ("noon", "midday", "midnight"):
        yield ClockTime(((hour * 60 + minutes) % 1440,), span)
    elif 1 <= hour <= 12:
        times = _times_in_day_part(text, span, hour, 0)
        yield ClockTime(tuple((time + minutes) % 1440 for time in times), span)


def _times_in_day_part(text: str, span: Span, hour: int, minute: int) -> tuple[int, ...]:
    """An hour of the part of the day that is said beside it; of either half where none is."""
    if hour > 12 or not hour:
        return (hour * 60 + minute,)
    times = (hour % 12 * 60 + minute, hour % 12 * 60 + minute + 720)
    match = _DAY_PART_AFTER.match(text, span[1]) or _DAY_PART_BEFORE.search(
        text, max(0, span[0] - 24), span[0]
    )
    if match is None:
        return times
    day_part = match["part"].casefold()
    if day_part == "night":
        return times if 1 <= hour <= 5 else (times[hour != 12],)
    return (times[day_part != "morning"],)


# ----------------------------------------------------------------------
# Whether a question says a day or a time of day, as far as it can be judged without today's date.
_LAST_MINUTE = 24 * 60 - 1
_MAX_CHARACTERS = 60
"""A text of more characters is no day and no time."""
_MAX_WEEKDAY_DISTANCE = 6
"""So many characters stand between a day of the week and its date at most."""
_MAX_TRIED = 50
"""Of lengths that a question says no more are tried."""
_FILLER_TEXT = re.compile(r"(?i)(?:at|on|the|and|to|t|z|utc|gmt|of|[ap]m|th|st|nd|rd|[\W_]|\+?00:?00)*+")
_ISO_TIME = re.compile(
    r"(?i)(?:(?P<y>\d{4})(?P<dash>-?)(?P<m>\d\d)(?P=dash)(?P<d>\d\d)(?:T| (?=\d\d:)))?+"
    r"(?(y)|T?)(?P<hour>[01]\d|2[0-4])(?:(?P<colon>:)|(?(y)|(?<=T\d\d)))(?P<minute>[0-5]\d)"
    r"(?:(?(colon):)[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?"
)
"""A time, or a date with one, as programs write it; its zone says nothing of the hour that is meant."""
_DAY_PART_MINUTES: dict[str, Sequence[int]] = TABLES["day_parts"]
"""The minutes that a part of the day has: where a time is said as well, it may be another within them."""
_DATE_WITHOUT_YEAR = re.compile(r"\d+\W\d+")


def read_moment(text: str) -> Moments | None:
    """What a value says of a day or a time of day, where it says nothing else.

    >>> said = ("2024-05-01T10:00", "5th of May", "7 pm", "May Fair Hotel", "4/5")
    >>> [read_moment(one) is not None for one in said]
    [True, True, True, False, False]
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    if (iso := _ISO_TIME.fullmatch(text.strip())) is not None:
        date_ = f"{iso['y']}-{iso['m']}-{iso['d']} " if iso["y"] else ""
        text = f"{date_}{iso['hour']}:{iso['minute']}"
    text_moments = moments(text, written=True)
    bare = _DATE_WITHOUT_YEAR.fullmatch(text.strip()) is not None
    days = tuple(day for day in text_moments.days if day.year is not None or not bare)
    clocks = tuple(
        clock
        for clock in text_moments.clocks
        if not any(day.span[0] <= clock.span[0] and clock.span[1] <= day.span[1] for day in days)
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
    return text_moments._replace(days=days, clocks=clocks) if all(map(_FILLER_TEXT.fullmatch, left)) else None


def moment_ground(value: Moments, question_moments: Moments, amounts: Sequence[Amount]) -> Ground | None:
    """What grounds a day, a time of day or both: each that the value says has to be said.

    Args:
        value: What the value says.
        question_moments: What the question says of days and times.
        amounts: The numbers that it says, for "three nights from March 5th".
    """
    grounds = [day_ground(value, question_moments, amounts)] if value.days else []
    minutes = {minute for clock in value.clocks for minute in clock.times}
    # midnight and the minute before it only bound a day, of which a question names no time
    is_bound = value.days and not question_moments.clocks and minutes <= {0, _LAST_MINUTE}
    if value.clocks and not is_bound:
        grounds.append(_clock_ground(value, question_moments))
    if None in grounds:
        return None
    return min(filter(None, grounds), key=lambda ground: ground.sure)


def day_ground(value: Moments, question_moments: Moments, amounts: Sequence[Amount]) -> Ground | None:
    """What grounds the day of a value alone; the arguments are those of :func:`moment_ground`."""
    days = value.days[:4]
    named = {weekday for weekday, _ in value.weekdays}
    if (
        named
        and question_moments.weekdays
        and not named & {weekday for weekday, _ in question_moments.weekdays}
    ):
        return None
    fitting = [other for day in days for other in question_moments.days if _is_same_day(day, other)]
    if fitting:
        return Ground("day", next((day for day in fitting if day.day is not None), fitting[0]).span)
    dates = [when for day in days if (when := date_of(day)) is not None]
    for weekday, span in question_moments.weekdays:
        if any(
            when.weekday() == weekday and not _is_beside_own_date(span, question_moments, when)
            for when in dates
        ):
            return Ground("day", span)
    if question_moments.relative is not None or question_moments.lasting is not None:
        for when in dates:
            if (later := _find_shifted_day(when, question_moments, amounts)) is not None:
                return Ground("day", later)
    if question_moments.relative is None and any(day.day is not None for day in question_moments.days):
        return None
    decided = question_moments.relative or question_moments.lasting
    return Ground("relative", decided, sure=False) if decided else None


def _is_beside_own_date(weekday: Span, question_moments: Moments, when: date) -> bool:
    """Whether a day of the week stands beside its date, which then is what is meant: "Friday, June 5th".

    In a year where that date is another day of the week the question contradicts itself, and either may be.
    """
    for day in question_moments.days[:_MAX_TRIED]:
        gaps = day.span[0] - weekday[1], weekday[0] - day.span[1]
        if any(0 <= gap <= _MAX_WEEKDAY_DISTANCE for gap in gaps):
            stated = date_of(day._replace(month=day.month or when.month, year=day.year or when.year))
            if stated is not None and stated.weekday() == when.weekday():
                return True
    return False


def _find_shifted_day(when: date, question_moments: Moments, amounts: Sequence[Amount]) -> Span | None:
    """A day that the question names, so many days, nights or weeks before or after another."""
    lengths = {1.0, 7.0} | {amount.value * unit for amount in amounts[:_MAX_TRIED] for unit in (1, 7)}
    for length in sorted(lengths):
        if 0 < length < 1000 and length == int(length):
            for shift in (-length, length):
                if (span := _find_day_beside(when, shift, question_moments)) is not None:
                    return span
    return None


def _find_day_beside(when: date, shift: float, question_moments: Moments) -> Span | None:
    """A day that the question names so many days after a date."""
    try:
        other = when + timedelta(days=shift)
    except OverflowError:
        return None
    moved = Day(other.day, other.month, other.year, (0, 0))
    named = (day for day in question_moments.days[:_MAX_TRIED] if day.day is not None)
    return next((day.span for day in named if _is_same_day(moved, day)), None)


def is_adjacent_day(value: Moments, question_moments: Moments, shifts: Sequence[int] = (-1, 1)) -> bool:
    """Whether the day of a value is the one before or after a day that is said.

    Args:
        value: What the value says.
        question_moments: What the question says of days and times.
        shifts: How many days the value may lie from it.
    """
    return any(
        _find_day_beside(when, -shift, question_moments) is not None
        for when in filter(None, map(date_of, value.days[:4]))
        for shift in shifts
    )


def _clock_ground(value: Moments, question_moments: Moments) -> Ground | None:
    times = {time % 1440 for clock in value.clocks[:4] for time in clock.times}
    for clock in question_moments.clocks:
        if any(time % 1440 in times for time in clock.times):
            return Ground("time", clock.span)
    exact = {clock.times[0] for clock in question_moments.clocks if len(clock.times) == 1}
    if any((time + 720) % 1440 in exact for time in times):
        return None
    for word, span in question_moments.vague:
        first, last = _DAY_PART_MINUTES.get(word, (0, 1440)) if question_moments.clocks else (0, 1440)
        if any(first <= time <= last or time + 1440 <= last for time in times):
            return Ground("vague", span, sure=False)
    return None


def _is_same_day(value: Day, question_day: Day) -> bool:
    """Whether a day is the one said, lies in the month said, or begins or ends the year said."""
    for value_field, question_field in ((value.month, question_day.month), (value.year, question_day.year)):
        if value_field is not None and question_field is not None and value_field != question_field:
            return False
    if value.day is None:
        return question_day.month is not None or question_day.year is not None
    if question_day.day is not None:
        return value.day == question_day.day
    return question_day.month is not None or (value.month, value.day) in ((1, 1), (12, 31)) or value.day == 1


def date_of(day: Day) -> date | None:
    """The date of a day whose month and year are known; None of another, and where there is no such date."""
    if day.day is None or day.month is None or day.year is None:
        return None
    try:
        return date(day.year, day.month, day.day)
    except ValueError:
        return None
