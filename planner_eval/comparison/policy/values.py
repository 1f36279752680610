"""Rules of a policy, and how values are brought into one form before they are compared: dates, numbers, text.

A normaliser maps a value to a form that equal-enough values share; it leaves alone what it does not
understand, so that nothing is guessed. References pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import inf
from typing import Any
from unicodedata import normalize

from planner_eval.base.errors import PolicyError
from planner_eval.base.limits import MAX_DIGITS
from planner_eval.comparison.policy.policy import fits, format_unknown_name, tool_fits
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Bag, Template, Value, fold


# ----------------------------------------------------------------------
# Dates and times of day as people write them, each brought into one form; what is not certain is left alone.
#
# Own code, though libraries exist: python-dateutil takes "Friday, May 1, 2024" for that Wednesday, "2th May"
# for a day of this year, and 03/04/2024 for March; ``strptime`` takes any weekday as well, knows no "1st",
# and
# asks for a pattern a form. A comparison may guess nothing. docs/values.md lists what is read.
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
        or day not in (number, number + _ordinal_suffix(int(number)))
    ):
        return None
    return _make_date(year, str(MONTHS[month]), number)


def _ordinal_suffix(number: int) -> str:
    """What stands behind a number that counts.

    >>> [_ordinal_suffix(number) for number in (1, 2, 3, 4, 11, 22)]
    ['st', 'nd', 'rd', 'th', 'th', 'nd']
    """
    return "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


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


# ----------------------------------------------------------------------
# How values may be brought into one form before they are compared: one small function a rule.
@dataclass(frozen=True, slots=True)
class TypedFloat:
    """A number that equals only numbers of its own type."""

    value: float


_INVISIBLE = str.maketrans("", "", "\u200b\u2060\ufeff")
"""Blanks of no width, which models write in the middle of words."""


def _fold_case(text: str) -> str:
    """Text without case, one for all of Unicode's canonical forms of it (its standard, D145), in NFC."""
    return normalize("NFC", normalize("NFD", text.translate(_INVISIBLE)).casefold())


def casefold(value: Value) -> Value:
    r"""Text without case, without blanks at its ends, and with single blanks within; é is e with an accent.

    >>> casefold("  New   YORK "), casefold("Cafe\u0301") == casefold("CAF\u00c9")
    ('new york', True)
    """
    if type(value) is not str:
        return value
    return " ".join((value.lower() if value.isascii() else _fold_case(value)).split())


def remove_blanks(value: Value) -> Value:
    r"""Text without case and without any blank, be it a tab, a no-break space or one of no width.

    >>> remove_blanks("New\tYork"), remove_blanks("New\u00a0York")
    ('newyork', 'newyork')
    """
    return casefold(value).replace(" ", "") if type(value) is str else value


def mark_float(value: Value) -> Value:
    """A float that no longer equals the integer of the same value.

    >>> mark_float(7.0) == mark_float(7), mark_float(-0.0) == mark_float(0.0)
    (False, True)
    """
    return TypedFloat(value + 0.0) if type(value) is float else value  # -0.0 is 0.0


_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*+)(?:\.([0-9]*+))?+(?:[eE]([+-]?[0-9]++))?+")
_NUMBER_ENDS = frozenset("0123456789.")
_MAX_EXACT_FLOAT = 2**53
"""Below this a float stands for one integer."""
_MAX_FLOAT_LENGTH = 16
"""So many characters are never more digits than a float tells apart."""
_MAX_POWER = 10**8
"""Powers of ten that a decimal takes on every machine."""


def normalise_number(value: Value) -> Value:
    """Text that is a number becomes the number, exactly; ``True`` stays what it is.

    A number is what its decimal digits say, of a float the fewest that read back as it. What neither an
    integer of a plan nor a float is becomes a decimal, which nothing writes out.

    >>> normalise_number(" 7 "), normalise_number("2.50"), normalise_number("1,5"), normalise_number("7 pm")
    (7, 2.5, '1,5', '7 pm')
    >>> (
    ...     normalise_number("9007199254740993.0"), normalise_number("1e400") == normalise_number("1e999"),
    ...     normalise_number("1e23") == normalise_number(1e23)
    ... )
    (9007199254740993, False, True)
    """
    if type(value) is str and len(value) <= MAX_DIGITS + 1:
        text = value.strip()
    elif type(value) is float and abs(value) >= _MAX_EXACT_FLOAT:
        text = repr(value)
    else:
        return value
    if text[-1:] not in _NUMBER_ENDS or (match := _NUMBER.fullmatch(text)) is None:
        return value
    is_whole = match[3] is match[4] is None
    if len(text) <= _MAX_FLOAT_LENGTH and match[4] is None:
        return int(text) if is_whole else float(text)
    sign, digits, power = _split_number(match)
    if 0 <= power <= MAX_DIGITS - len(digits):
        integer = int(f"{sign}{digits or 0}") * 10**power
        return integer if is_whole or abs(integer) >= _MAX_EXACT_FLOAT else float(integer)
    written = f"{sign}{digits}e{power}"
    shortest = _NUMBER.fullmatch(repr(float(written)))
    if shortest is not None and _split_number(shortest) == (sign, digits, power):
        return float(written)
    if abs(power) > _MAX_POWER:
        return written
    from decimal import Decimal

    return Decimal(written)


def _split_number(match: re.Match[str]) -> tuple[str, str, int]:
    """A number's sign, its digits without zeros at either end, and the power of ten that they count."""
    sign, integer, fraction, power = match.groups("")
    digits = (integer + fraction).lstrip("0")
    significant = digits.rstrip("0")
    scale = int(power or 0) - len(fraction) + len(digits) - len(significant)
    return ("-" if sign == "-" else "", significant, scale) if significant else ("", "", 0)


def normalise_boolean(value: Value) -> Value:
    """True and false become 1 and 0, and so do their names as text.

    >>> normalise_boolean(True), normalise_boolean("False"), normalise_boolean("yes")
    (1, 0, 'yes')
    """
    if type(value) is str:
        return {"true": 1, "false": 0}.get(value.strip().casefold(), value)
    return int(value) if type(value) is bool else value


LEAF_NORMALISERS: dict[str, Callable[[Value], Value]] = {
    "numbers": normalise_number,
    "booleans": normalise_boolean,
    "date": normalise_date,
    "time": normalise_time,
    "casefold": casefold,
    "blankless": remove_blanks,
    "typed": mark_float,
}
"""Rules that look at one leaf at a time, by their names, in the order in which they act: what is read as
something else first, then what is left of text."""

_FOLD_RULES = ("casefold", "blankless")
_BLANK_GUARD = "\0"
"""What keeps the blanks beside a reference, as it is none and joins with no accent."""

_READING_RULES = ("numbers", "booleans", "date", "time")


class Form:
    """How a rule brings a value into the form that it compares: aliases, leaves, then collections.

    Args:
        compare: The names of :data:`planner_eval.comparison.policy.values.COMPARE` that the rule has, in any
            order.
        aliases: Other names of a value: alias → name.
    """

    __slots__ = ("bag", "changes", "folds", "names", "read", "set")

    def __init__(self, compare: Collection[str], aliases: Mapping[str, str]) -> None:
        self.names = {casefold(name): casefold(name) for name in aliases.values()}
        self.names |= {casefold(alias): casefold(name) for alias, name in aliases.items()}
        alias_readers = (self._named,) if aliases else ()
        self.read = (*alias_readers, *(LEAF_NORMALISERS[name] for name in _READING_RULES if name in compare))
        self.changes = (
            *alias_readers,
            *(change for name, change in LEAF_NORMALISERS.items() if name in compare),
        )
        self.folds = [LEAF_NORMALISERS[name] for name in _FOLD_RULES if name in compare]
        self.set = not SET_RULES.isdisjoint(compare)
        self.bag = "unordered" in compare

    def of(self, value: Value, tools: Sequence[str] = ()) -> Value:
        """The form of a value; references stay as they are.

        Args:
            value: The value.
            tools: The tools of its plan's calls.

        >>> Form(["numbers", "set"], {"nyc": "New York"}).of("2, NYC, 1, 1.0")
        ['new york', 1.0, 2]
        """
        if not self.set:
            form = fold(value, self.leaf, text=self.text) if self.changes else value
            return Bag(_sort_items(form, tools)) if self.bag and type(form) is list else form
        items = self.items(value)
        if items is None:
            return fold(value, self.leaf, text=self.text)
        distinct = {repr(value_key(item, range(len(tools)))): item for item in items}
        return Bag(_sort_items(list(distinct.values()), tools))

    def items(self, value: Value) -> list[Value] | None:
        """The items of a list, of a text with commas between them, a scalar alone; None for anything else."""
        if type(value) is str:
            if "," not in value or self._whole(value):
                return [self.leaf(value)] if value.strip(" ,") else []
            return [self.leaf(item) for item in map(str.strip, value.split(",")) if item]
        if type(value) in (bool, int, float):
            return [self.leaf(value)]
        if not isinstance(value, list):
            return None
        return [fold(item, self.leaf, text=self.text) for item in value]

    def leaf(self, value: Value) -> Value:
        """The form of one leaf."""
        for change in self.changes:
            value = change(value)
        return value

    def text(self, segments: Sequence[Value]) -> Value:
        """The form of a text around references: it is no number and no date, and its ends are those of all.

        >>> from planner_eval.plan.model import Ref
        >>> Form(["casefold", "numbers"], {}).text((" 7 ", Ref(0), " Up "))
        Template(parts=('7 ', Ref(call=0, path=()), ' up'))
        """
        formed: list[Value] = []
        last = len(segments) - 1
        for index, segment in enumerate(segments):
            if type(segment) is not str:
                formed.append(segment)
                continue
            before, after = _BLANK_GUARD * (index > 0), _BLANK_GUARD * (index < last)
            for change in self.folds:
                segment = change(f"{before}{segment}{after}")
                segment = str(segment)[len(before) : len(segment) - len(after)]
            if segment:
                formed.append(segment)
        return Template(tuple(formed))

    def _named(self, value: Value) -> Value:
        """A text by the name that it is an alias of."""
        return self.names.get(casefold(value), value) if type(value) is str else value

    def _whole(self, text: str) -> bool:
        """Whether a text with commas is read as one value, as a date is."""
        value: Value = text
        for change in self.read:
            value = change(value)
        return bool(value != text)


SET_RULES = frozenset({"set", "subset", "superset"})
"""Rules that compare collections in which neither order nor repetition counts."""


def _sort_items(items: list[Value], tools: Sequence[str]) -> list[Value]:
    """Items in an order that depends on what they are, references by their tools; of equals as written."""
    blank = [0] * len(tools)
    return sorted(items, key=lambda item: (repr(value_key(item, blank)), repr(value_key(item, tools))))


# ----------------------------------------------------------------------
# A rule of a policy: how the values of some arguments compare. Most comparisons have none.
COMPARE: dict[str, str] = {
    "exact": "the value itself",
    "typed": "7 and 7.0 differ",
    "casefold": "text without regard to case, blanks and Unicode form",
    "blankless": "text without case and without any blank",
    "numbers": "text that is a number is the number, exactly",
    "booleans": "true is 1 and false is 0, also as text",
    "date": "dates in ISO, US and long forms; one that is ambiguous or wrong is not guessed",
    "time": "times of day in 12 and 24 hours",
    "set": "lists, and texts of items with commas between, as sets",
    "unordered": "lists without regard to order",
    "subset": "the prediction's items are among gold's",
    "superset": "gold's items are among the prediction's",
    "ignore": "the argument does not count",
    "any": "the argument must be there, whatever its value",
    "optional": "the argument may be left out, or given where gold does not",
    "extra": "the argument may be given where gold does not",
}
"""What a rule's ``compare`` can say."""


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"

    def __reduce__(self) -> str:
        return "NOTHING"  # there is one, in another process too


NOTHING = _Nothing()
"""No default is known."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How the values of some arguments compare.

    Args:
        tool: The tools it is for: a name, or ``App.name``; ``*`` and ``?`` stand for any text and
            any character.
        argument: The arguments it is for, likewise.
        compare: Names of :data:`COMPARE`, in any order.
        tolerance: Numbers may differ by so much.
        relative: Numbers may differ by this share of gold's.
        accepted: Values that are right besides gold's.
        aliases: Other names of a value: alias → name, both without regard to case.
        default: What the tool takes where the argument is left out: giving it equals leaving it out.
        pattern: A regular expression that the prediction's text must match as a whole.
        function: A function of (prediction's value, gold's value) that says whether it will do.
        where: The place of the rule in a file of the user's, for messages.
        form: How it brings a value into the form that it compares.
        weighs: Whether it may take one value for another that has another form.

    >>> import planner_eval as pe
    >>> dates = pe.Policy(rules=(pe.Rule(argument="date", compare=("date",)),))
    >>> pe.diff("f(#date='6 December 2026')", "f(#date='2026-12-06')", dates).same
    True
    """

    tool: str = "*"
    argument: str = "*"
    compare: tuple[str, ...] = ()
    tolerance: float | None = None
    relative: float | None = None
    accepted: tuple[Value, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    default: Value = NOTHING
    pattern: str | None = None
    function: Callable[[Value, Value], bool] | None = None
    where: str = field(default="", compare=False)
    form: Form = field(init=False, repr=False, compare=False)
    weighs: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        compare: Any = self.compare
        if isinstance(compare, str):  # one name, which is a sequence of letters as well
            object.__setattr__(self, "compare", (compare,))
        for name in self.compare:
            if name not in COMPARE:
                raise PolicyError(format_unknown_name(name, COMPARE))
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                raise PolicyError(f"the pattern {self.pattern!r} does not compile: {error}") from None
        for number in (self.tolerance, self.relative):
            if number is not None and not 0 <= number < inf:
                raise PolicyError(f"a tolerance is a number from 0 on, found {number!r}")

        chained = _find_chained_alias(self.aliases)
        if chained is not None:
            raise PolicyError(
                f"the alias {chained[0]!r} stands for {chained[1]!r}, which is an alias itself: "
                "let both stand for the last name"
            )
        object.__setattr__(self, "form", Form(self.compare, self.aliases))
        has_criteria = self.tolerance is not None or self.relative is not None or self.pattern is not None
        weighs = (
            has_criteria or self.accepted or self.function or not _PAIRWISE_RULES.isdisjoint(self.compare)
        )
        object.__setattr__(self, "weighs", bool(weighs))

    def fits(self, app: str | None, name: str, argument: str) -> bool:
        """Whether the rule is for this argument of this tool."""
        return fits(self.argument, argument) and tool_fits(self.tool, app, name)

    @property
    def one_sided(self) -> bool:
        """Whether the rule can only be asked of two values, not of each alone."""
        return self.weighs or "optional" in self.compare or "extra" in self.compare


def _find_chained_alias(aliases: Mapping[str, str]) -> tuple[str, str] | None:
    """The first alias whose name is the alias of another name."""
    names_by_alias = {casefold(alias): casefold(name) for alias, name in aliases.items()}
    chained = (
        (a, n) for a, n in aliases.items() if names_by_alias.get(casefold(n), casefold(n)) != casefold(n)
    )
    return next(chained, None)


_PAIRWISE_RULES = frozenset({"set", "unordered", "subset", "superset", "any"})
