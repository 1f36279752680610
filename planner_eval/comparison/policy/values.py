"""Rules of a policy, and how values are brought into one form before they are compared: numbers, text, sets.

A normaliser maps a value to a form that equal-enough values share; it leaves alone what it does not
understand, so that nothing is guessed. References pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any
from unicodedata import normalize

from planner_eval.base.errors import PolicyError
from planner_eval.base.limits import MAX_DIGITS
from planner_eval.comparison.policy.dates import normalise_date, normalise_time
from planner_eval.comparison.policy.policy import fits, format_unknown_name, tool_fits
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Bag, Template, Value, fold


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


def number_of(value: Any) -> float | None:
    """A value as a number; None where it is none that a float holds, or a truth value.

    >>> number_of(7), number_of(True), number_of("7"), number_of(10**400)
    (7.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


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

    __slots__ = ("bag", "changes", "folds", "names", "read", "set", "spelled")

    def __init__(self, compare: Collection[str], aliases: Mapping[str, str]) -> None:
        self.names = {casefold(name): casefold(name) for name in aliases.values()}
        # Those that only case tells apart, as ``m`` and ``M``, are taken as spelled.
        names: dict[str, set[str]] = {}
        for alias, name in aliases.items():
            names.setdefault(casefold(alias), set()).add(casefold(name))
        self.spelled = {
            alias: casefold(name) for alias, name in aliases.items() if len(names[casefold(alias)]) > 1
        }
        self.names |= {
            casefold(alias): casefold(name) for alias, name in aliases.items() if alias not in self.spelled
        }
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
        >>> Form(["casefold"], {}).text((Ref(0), " Up "))
        Template(parts=(Ref(call=0, path=()), ' up'))
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
        if type(value) is not str:
            return value
        return self.spelled.get(value) or self.names.get(casefold(value), value)

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
    "exact": "the same value; 7 equals 7.0",
    "typed": "the same value of the same JSON type; 7 and 7.0 differ",
    "casefold": "text, ignoring case, white space and Unicode form",
    "blankless": "text, ignoring case and all white space",
    "numbers": "text that is a number equals that number",
    "booleans": "true equals 1 and false 0, also as text",
    "date": "dates in ISO, US and long forms; ambiguous or wrong ones are not guessed",
    "time": "times of day in 12 and 24 hours",
    "set": "lists, and texts of items with commas between, as sets",
    "unordered": "lists, ignoring order",
    "subset": "the prediction's items are among gold's",
    "superset": "gold's items are among the prediction's",
    "ignore": "the argument is ignored",
    "any": "the argument must be given, with any value",
    "optional": "the argument is optional",
    "extra": "the argument may be added",
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
        tolerance: Numbers may differ by this much.
        relative: Numbers may differ by this share of gold's.
        accepted: Other values that are right.
        aliases: Other names of a value: alias → name, both without regard to case; of aliases that only
            case tells apart, in their case.
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
                raise PolicyError(f"a tolerance is a number, 0 or more, found {number!r}")

        chained = _find_chained_alias(self.aliases)
        if chained is not None:
            raise PolicyError(
                f"the alias {chained[0]!r} stands for {chained[1]!r}, which "
                "is an alias: use the last name for both"
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
