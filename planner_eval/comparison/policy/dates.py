"""Dates and times of day as people write them, each brought into one form; what is not certain is left alone.

Own code, though libraries exist: python-dateutil takes "Friday, May 1, 2024" for that Wednesday, "2th May"
for a day of this year, and 03/04/2024 for March; ``strptime`` takes any weekday as well, knows no "1st", and
asks for a pattern a form. A comparison may guess nothing. docs/values.md lists what is read.
"""

from __future__ import annotations

import re
from datetime import date

from planner_eval.base.text import format_ordinal
from planner_eval.plan.model import Value


def _number_names(names: str) -> dict[str, int]:
    """Names by their place; between commas stand several names of one."""
    return {name: index for index, group in enumerate(names.split(",")) for name in group.split()}


MONTHS = _number_names(
    ",january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,"
    "october oct,november nov,december dec"
)
WEEKDAYS = _number_names(
    "monday mon,tuesday tue tues,wednesday wed weds,thursday thu thur thurs,friday fri,"
    "saturday sat,sunday sun"
)
_MAX_LENGTH = 60
_DATE_ENDS = frozenset("0123456789zct")

_DATE_FIELD = r"([a-z]++|[0-9]++(?:st|nd|rd|th)?)"
_GAP = r"(?:\.?,?\s+|\.?\s*[-/,]\s*)"
_DATE_PATTERN = re.compile(
    rf"(?:({'|'.join(WEEKDAYS)})\.?,?\s+)?"
    rf"(?:([0-9]{{8}})|([0-9]++)([-/.])([0-9]++)\4([0-9]++)"
    rf"|(?:the\s+)?{_DATE_FIELD}{_GAP}(?:(?:of|the)\s+)?{_DATE_FIELD}{_GAP}{_DATE_FIELD})"
    r"(?:(?:t|\s+)00:00(?::00(?:\.0+)?)?\s*(?:z|utc|gmt|[-+]00:?00)?)?"
)


def normalise_date(value: Value) -> Value:
    """A date becomes its ISO form; one that can be read in two ways, or not at all, is left as it is.

    ``03/04/2024`` may be March or April and is not guessed; ``03/14/2024`` can only be March. A weekday has
    to be the right one. A time of day other than midnight makes it no date.

    >>> [normalise_date(text) for text in ("May 1, 2024", "Wed, 1st of May 2024", "05/31/2024", "20240501")]
    ['2024-05-01', '2024-05-01', '2024-05-31', '2024-05-01']
    >>> [normalise_date(text) for text in ("03/04/2024", "Friday, May 1, 2024", "2th May 2024")]
    ['03/04/2024', 'Friday, May 1, 2024', '2th May 2024']
    """
    if type(value) is str:
        text = value.strip().casefold() if 8 <= len(value) <= _MAX_LENGTH else ""
        if text[-1:] not in _DATE_ENDS:
            return value
    elif type(value) in (int, float) and 10_000_000 <= value < 100_000_000 and value == int(value):
        text = str(int(value))  # a policy may have made a number of the text, and 20240501.0 is 20240501
    else:
        return value
    match = _DATE_PATTERN.fullmatch(text)
    if match is None:
        return value
    weekday, digits, first, _, second, third, *named = match.groups()
    if digits:
        day = _make_date(digits[:4], digits[4:6], digits[6:])
    elif first:
        day = _date_from_numbers(first, second, third)
    else:
        day = _date_from_names(*named)
    if day is None or (weekday and day.weekday() != WEEKDAYS[weekday]):
        return value
    return day.isoformat()


def possible_dates(text: str) -> frozenset[Value]:
    """The ISO forms of the days that a text may mean: of day and month that cannot be told apart both.

    >>> (
    ...     sorted(possible_dates("12/01/2024")), sorted(possible_dates("May 1, 2024")),
    ...     sorted(possible_dates("soon"))
    ... )
    (['2024-01-12', '2024-12-01'], ['2024-05-01'], [])
    """
    numbers = _DATE_PATTERN.fullmatch(text.strip().casefold()) if 8 <= len(text) <= _MAX_LENGTH else None
    if numbers is None:
        return frozenset()
    first, second, third = numbers[3], numbers[5], numbers[6]
    if not first or len(first) > 2:
        return frozenset((normalise_date(text),))
    days = _make_date(third, first, second), _make_date(third, second, first)
    return frozenset(day.isoformat() for day in days if day is not None)


def _date_from_numbers(first: str, second: str, third: str) -> date | None:
    """The day of three numbers: the year first, or last after day and month that can be told apart."""
    if len(first) > 2:
        return _make_date(first, second, third)
    if int(second) > 12:
        return _make_date(third, first, second)
    return _make_date(third, second, first) if int(first) > 12 or int(first) == int(second) else None


def _date_from_names(first: str, second: str, third: str) -> date | None:
    """The day of a month's name, a day and a year, in the three orders in which people write them."""
    if first in MONTHS:
        month, day, year = first, second, third
    elif len(first) == 4 and first.isdecimal():
        year, month, day = first, second, third
    else:
        day, month, year = first, second, third
    number = day[:-2] if day[-2:] in ("st", "nd", "rd", "th") else day
    if (
        month not in MONTHS
        or not number.isdecimal()
        or day not in (number, number + format_ordinal(int(number))[-2:])
    ):
        return None
    return _make_date(year, str(MONTHS[month]), number)


def _make_date(year: str, month: str, day: str) -> date | None:
    """The day of three numbers; None where there is none."""
    if len(year) != 4 or not year.isdecimal() or len(month) > 2 or len(day) > 2:
        return None
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def moment(text: str) -> tuple[str, str] | None:
    """The day and the time of day that a text means, the day empty where it names none; None for any other.

    >>> moment("Thursday, August 3, 2023, 9 AM"), moment("2023-08-03T09:00"), moment("7:30 pm"), moment("7")
    (('2023-08-03', '09:00'), ('2023-08-03', '09:00'), ('', '19:30'), None)
    """
    if len(text) > _MAX_LENGTH:
        return None
    clock = normalise_time(text)
    if clock != text or _CLOCK.fullmatch(text):
        return "", str(clock)
    for gap in _BEFORE_TIME.finditer(text):
        day, time = normalise_date(text[: gap.start()]), normalise_time(text[gap.end() :])
        if _CLOCK.fullmatch(str(time)) and _ISO_DATE.fullmatch(str(day)):
            return str(day), str(time)
    return None


def add_year(text: str, other: str) -> str:
    """A text that names a day by its month, with the year that only the other text names.

    >>> add_year("March 22nd", "2023-03-22"), add_year("22 Mar 14:00", "2023-03-22 14:00")
    ('March 22nd 2023', '22 Mar 2023 14:00')
    >>> add_year("March 22nd", "March 23rd"), add_year("March 2022", "2023-03-22")
    ('March 22nd', 'March 2022')
    """
    years = _YEAR.findall(other)
    if len(years) != 1 or _YEAR.search(text):
        return text
    return _DAY_OF_MONTH.sub(rf"\g<0> {years[0]}", text, count=1)


_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_MONTH_NAME, _DAY_NUMBER = rf"(?:{'|'.join(MONTHS)})\b\.?", r"[0-9]{1,2}(?:st|nd|rd|th)?\b"
_DAY_OF_MONTH = re.compile(rf"{_MONTH_NAME} {_DAY_NUMBER}|{_DAY_NUMBER} (?:of )?{_MONTH_NAME}", re.IGNORECASE)

_CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BEFORE_TIME = re.compile(r",?\s+(?:at\s+)?|(?<=[0-9])[Tt](?=[0-9])")

_TIME = re.compile(r"([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2})(?:\.0+)?)?)?\s*(?:([ap])(?:\.?m)?\.?)?")


def normalise_time(value: Value) -> Value:
    """A time of day becomes its 24-hour form, without seconds where there are none; a bare number is left.

    >>> [normalise_time(text) for text in ("6:30 pm", "18:30:00", "07:00:00 p.m.", "12 am", "6:30:05", "7",
    ...     "6:30m")]
    ['18:30', '18:30', '19:00', '00:00', '06:30:05', '7', '6:30m']
    """
    if type(value) is not str or len(value) > _MAX_LENGTH:
        return value
    match = _TIME.fullmatch(value.strip().casefold())
    if match is None or (match[2] is None and match[4] is None):
        return value
    hour, minute, second = (int(digits or 0) for digits in match.group(1, 2, 3))
    if match[4] is not None:
        if not 1 <= hour <= 12:
            return value
        hour = hour % 12 + (12 if match[4] == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return value
    return f"{hour:02}:{minute:02}:{second:02}" if second else f"{hour:02}:{minute:02}"
