"""A rule of a policy: how the values of some arguments compare. Most comparisons have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from planner_eval.base.errors import PolicyError
from planner_eval.comparison.policy.policy import fits, format_unknown_name, tool_fits
from planner_eval.comparison.policy.values import Form, casefold
from planner_eval.plan.model import Value

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
