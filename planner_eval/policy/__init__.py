"""How plans compare, as data: rules for values by tool and argument, and what order and repeats mean.

The default compares values exactly, numbers by value (7 is 7.0), and booleans are not numbers. Rules
say otherwise for the tools and arguments that they name, with wildcards; where several fit, the
last one holds. Files are read by :mod:`planner_eval.policy.file`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from planner_eval.base.errors import PolicyError
from planner_eval.base.text import did_you_mean
from planner_eval.plan.model import Value

COMPARE: dict[str, str] = {
    "exact": "the value itself",
    "typed": "7 and 7.0 differ",
    "casefold": "text without regard to case and blanks",
    "blankless": "text without case and without any blank",
    "numbers": "text that is a number is the number",
    "booleans": "true is 1 and false is 0, also as text",
    "date": "dates in ISO, US and long forms; an ambiguous one is not guessed",
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

ORDERS = {
    "data": "a call may not be written before one whose output it needs; else order does not count",
    "free": "order does not count at all",
    "written": "calls must come in gold's written order",
    "flat": "as written where gold holds no reference, so that nothing else says what needs what; else data",
}


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()
"""No default is known."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How the values of some arguments compare.

    Args:
        tool: The tools it is for: a name, or ``App.name``; ``*`` and ``?`` stand for any text and
            any character.
        argument: The arguments it is for, likewise.
        compare: Names of :data:`COMPARE`, applied from left to right.
        tolerance: Numbers may differ by so much.
        relative: Numbers may differ by this share of gold's.
        accepted: Values that are right besides gold's.
        aliases: Other names of a value: alias → name, both without regard to case.
        default: What the tool takes where the argument is left out: giving it equals leaving it out.
        pattern: A regular expression that the prediction's text must match as a whole.
        function: A function of (prediction's value, gold's value) that says whether it will do.
        where: The place of the rule in a file of the user's, for messages.
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

    def __post_init__(self) -> None:
        given: Any = self.compare
        if isinstance(given, str):  # one name, which is a sequence of letters as well
            object.__setattr__(self, "compare", (given,))
        for name in self.compare:
            if name not in COMPARE:
                raise PolicyError(_unknown(name, COMPARE))
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                raise PolicyError(f"the pattern {self.pattern!r} does not compile: {error}") from None
        for number in (self.tolerance, self.relative):
            if number is not None and not number >= 0:
                raise PolicyError(f"a tolerance is a number from 0 on, found {number!r}")

    def fits(self, app: str | None, name: str, argument: str) -> bool:
        """Whether the rule is for this argument of this tool."""
        return _fits(self.argument, argument) and (
            _fits(self.tool, name) or (app is not None and _fits(self.tool, f"{app}.{name}"))
        )

    @property
    def one_sided(self) -> bool:
        """Whether the rule can only be asked of two values, not of each alone."""
        asked = self.tolerance is not None or self.relative is not None or self.pattern is not None
        return bool(asked or self.accepted or self.function or _PAIRWISE.intersection(self.compare))


_PAIRWISE = frozenset({"subset", "superset", "any", "optional", "extra"})


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything a comparison depends on besides the two plans.

    Args:
        name: What reports call it.
        rules: The rules for values; the last that fits an argument holds.
        order: One of :data:`ORDERS`.
        answer: Whether the plan's named answer counts.
        inline: Whether a call written as an argument's value is a call of its own.
        repeats: Whether equal calls count as often as they are made; False merges those of tools
            that are not `stateful`.
        stateful: Tools whose repeated calls always count; wildcards as in rules.
        wildcards: Values of gold for which any value will do.
        defaults: (tool, argument) → what the tool takes where the argument is left out, as its schema
            says; the tool is a name, or ``App.name``. A rule's own default comes first.
        tools: Tools that are known beside those of the plans → their arguments.
        outputs: Tool → the name of its only output, which equals its whole result; "" for one without.
        unknown: Is told of a rule of the user's own that names what nothing has; None: that is an error.

    >>> Policy(rules=(Rule(argument="city", compare=("casefold",)),)).rule(None, "f", "city").compare
    ('casefold',)
    """

    name: str = "default"
    rules: tuple[Rule, ...] = ()
    order: str = "data"
    answer: bool = True
    inline: bool = False
    repeats: bool = True
    stateful: tuple[str, ...] = ()
    wildcards: tuple[Value, ...] = ()
    defaults: Mapping[tuple[str, str], Value] = field(default_factory=dict)
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    unknown: Callable[[str], object] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise PolicyError(_unknown(self.order, ORDERS))

    def rule(self, app: str | None, name: str, argument: str) -> Rule | None:
        """The rule that holds for an argument; None where none fits."""
        for rule in reversed(self.rules):
            if rule.fits(app, name, argument):
                return rule
        return None

    def is_stateful(self, app: str | None, name: str) -> bool:
        """Whether repeated calls of a tool always count."""
        return any(Rule(tool=pattern).fits(app, name, "") for pattern in self.stateful)


DEFAULT_POLICY = Policy()
"""Values exactly, numbers by value, order by data flow."""


def _unknown(name: str, known: Mapping[str, object]) -> str:
    hint = did_you_mean(name, known, f"known are {', '.join(known)}")
    return f"there is no rule {name!r}; {hint}"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    quoted = re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(quoted, re.DOTALL)


def _fits(pattern: str, text: str) -> bool:
    return pattern in ("*", text) or (
        ("*" in pattern or "?" in pattern) and _pattern(pattern).fullmatch(text) is not None
    )


class Terms(NamedTuple):
    """What one gold plan leaves open, by the ids of its calls.

    Args:
        optional: Calls that need not be made.
        before: Pairs (first, then): the one must be written before the other, data flow or not.
        unordered: Groups of calls whose order does not count where the policy's order is "written".
        accepted: Call → argument → values that are right besides gold's.
    """

    optional: frozenset[str] = frozenset()
    before: tuple[tuple[str, str], ...] = ()
    unordered: tuple[frozenset[str], ...] = ()
    accepted: Mapping[str, Mapping[str, tuple[Any, ...]]] = {}


NO_TERMS = Terms()
"""Nothing is left open."""
