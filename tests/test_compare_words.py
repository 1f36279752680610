"""Which values are equal under which word of a policy: pairs of a pool, asked of an oracle of its own."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from planner_eval.comparison.diff import diff
from planner_eval.plan.model import Call, Plan
from planner_eval.policy import Policy
from planner_eval.policy.rule import COMPARE, Rule

ABSENT = object()
POOL: list[Any] = [
    ABSENT, None, True, False, 1, 7, 7.0, 7.5, 0.0, -0.0, 2**53 + 1, float(2**53), float("nan"), float("inf"),
    "", " ", "7", " 7.00", "0.7e1", "7.50", "seven", "1", "0", "true", "False ", "nan", "9007199254740993.0",
    "New York", " new\tYORK", "NewYork", "new\u00a0york", "Caf\u00e9", "CAFE\u0301", "cafe", "2024-05-01",
    "May 1, 2024", "20240501", 20240501, "Friday, May 1, 2024", "05/01/2024", "18:30", "6:30 pm",
    "06:30:00 P.M.", "6:30m", "a, b", "b,a,a", "a", ["a", "b"], ["b", "a"], ["a", "b", "a"], ["a"], [],
    ["A", " b"], [1, "7"], [True, 7], {}, {"k": "a"}, {"k": "A"}, {"k": "a", "m": [1]},
    {"m": [1.0], "k": "a"}, [["a", "b"]], [["b", "a"]],
]  # fmt: skip

DAYS = {"2024-05-01", "May 1, 2024", "20240501"}
TIMES = {"18:30", "6:30 pm", "06:30:00 P.M."}
TRUTHS: dict[str, int] = {"true": 1, "False ": 0}
NUMBER = re.compile(r"\s*-?[0-9]+(\.[0-9]+)?(e[0-9]+)?")


def exact(leaf: Any) -> Any:
    if type(leaf) in (int, float):
        return Fraction(leaf) if abs(leaf) < float("inf") else ("no fraction", str(leaf))
    return type(leaf).__name__, leaf


def typed(leaf: Any) -> Any:
    return type(leaf).__name__, exact(leaf)


def casefold(leaf: Any) -> Any:
    return exact(" ".join(re.findall(r"\S+", folded(leaf))) if type(leaf) is str else leaf)


def blankless(leaf: Any) -> Any:
    return exact("".join(re.findall(r"\S", folded(leaf))) if type(leaf) is str else leaf)


def folded(text: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).lower())


def numbers(leaf: Any) -> Any:
    return Fraction(leaf) if type(leaf) is str and NUMBER.fullmatch(leaf) else exact(leaf)


def booleans(leaf: Any) -> Any:
    if type(leaf) is bool:
        return Fraction(leaf)
    return Fraction(TRUTHS[leaf]) if type(leaf) is str and leaf in TRUTHS else exact(leaf)


def day(leaf: Any) -> Any:
    named = (type(leaf) is str and leaf in DAYS) or leaf == 20240501
    return ("1 May 2024",) if named else exact(leaf)


def time(leaf: Any) -> Any:
    return ("half past six in the evening",) if type(leaf) is str and leaf in TIMES else exact(leaf)


def key(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Something that is equal for equal values, given what leaves are."""
    if isinstance(value, list):
        return "list", *(key(item, leaf) for item in value)
    if isinstance(value, dict):
        return frozenset((name, key(item, leaf)) for name, item in value.items())
    return leaf(value)


def items(value: Any) -> list[Any] | None:
    """The exact keys of a list's or a text's items."""
    if type(value) is str:
        value = [part.strip() for part in value.split(",") if part.strip()]
    return [key(item, exact) for item in value] if isinstance(value, list) else None


SETS = ("set", "subset", "superset")


def alone(one: Any, other: Any) -> bool:
    """Whether a number meets a list or a text: what it is there, a set of one or none, is not said here."""
    kinds = [type(value) in (bool, int, float) for value in (one, other)]
    return kinds[0] is not kinds[1]


def same(one: Any, other: Any) -> bool:
    return bool(key(one, exact) == key(other, exact))


def within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and same(item, whole[name]) for name, item in part.items())
    few, many = items(part), items(whole)
    return same(part, whole) or (few is not None and many is not None and {*few} <= {*many})


def as_sets(one: Any, other: Any) -> bool:
    few, many = items(one), items(other)
    return same(one, other) or (few is not None and many is not None and {*few} == {*many})


def as_bags(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return Counter(items(one)) == Counter(items(other))
    return same(one, other)


def by(leaf: Callable[[Any], Any]) -> Callable[[Any, Any], bool]:
    return lambda one, other: key(one, leaf) == key(other, leaf)


ORACLE: dict[str, Callable[[Any, Any], bool]] = {
    "exact": same, "typed": by(typed), "casefold": by(casefold), "blankless": by(blankless),
    "numbers": by(numbers), "booleans": by(booleans), "date": by(day), "time": by(time),
    "set": as_sets, "unordered": as_bags, "subset": within, "superset": lambda one, other: within(other, one),
    "ignore": lambda one, other: True, "any": lambda one, other: True, "optional": same, "extra": same,
}  # fmt: skip


def wanted(word: str, pred: Any, gold: Any) -> bool:
    """What the oracle says of a pair, of which either may be absent."""
    if pred is ABSENT or gold is ABSENT:
        forgiven = ("ignore", "optional") if pred is ABSENT else ("ignore", "optional", "extra")
        return pred is gold or word in forgiven
    return ORACLE[word](pred, gold)


def plan(value: Any) -> Plan:
    return Plan((Call("c", "f", () if value is ABSENT else (("x", value),)),))


def test_pairs_are_what_the_oracle_says_which_finds_them_equal_and_unequal() -> None:
    for word in COMPARE:
        apart = {wanted(word, one, other) for one in POOL for other in POOL if one is not other}
        assert apart == ({True} if word == "ignore" else {True, False}), word
        policy = Policy(rules=(Rule(compare=(word,)),))
        pairs = [(one, POOL[at - step]) for step in (0, 1, 2, 3, 9, 20) for at, one in enumerate(POOL)]
        for pred, gold in pairs:
            if not (word in SETS and alone(pred, gold)):
                found = diff(plan(pred), plan(gold), policy).same
                assert found is wanted(word, pred, gold), (word, pred, gold)
