"""What is expected of made plans: ranges of structure, and how the published benchmarks made theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import did_you_mean

# ----------------------------------------------------------------------
# What is wanted of made plans: ranges of structure, and what two of them may have in common.
MAX_CALLS = 64
"""Calls of a made plan at most."""

_RANGE = re.compile(r"(\d{1,6})(?:(\.\.|-)(\d{1,6})?)?")


class Range(NamedTuple):
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        return f"{self.low}.." if self.high >= MAX_CALLS else f"{self.low}..{self.high}"

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.low <= number <= self.high


def range_of(value: Any, name: str) -> Range:
    """A range as people write it: ``3``, ``"2..4"``, ``"2.."``, or a pair of numbers.

    Args:
        value: What was written.
        name: What it is called in messages.

    Raises:
        InputError: it is none.

    >>> range_of("2..4", "depth"), str(range_of(3, "depth"))
    (Range(low=2, high=4), '3')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(type(bound) is int for bound in value):
        value = f"{value[0]}..{value[1]}"
    match = _RANGE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"{name} {value!r}: expected a number or a range of numbers, as 3, 2..4 or 2..")
    low = int(match[1])
    high = low if match[2] is None else int(match[3]) if match[3] else MAX_CALLS
    if high < low:
        raise InputError(f"{name} {value!r}: the range ends before it begins")
    if high > MAX_CALLS:
        raise InputError(f"{name} {value!r}: a made plan has at most {MAX_CALLS} calls")
    return Range(low, high)


ANY_NUMBER = Range(0, MAX_CALLS)

PATTERNS = ("chain", "fan-out", "fan-in", "diamond", "independent")
"""Patterns that have a name; any other is a shape as ``planeval stats`` writes it."""

SCOPES = ("ss", "sm", "ms", "mm")
"""AppBench's: single or multiple app, single or multiple call of an app."""

DISTINCTIONS = ("skeleton", "values")
"""How two plans differ: in their calls and references, or in those or a value."""

JOINS = ("auto", "name", "type")
"""What makes an output one that a parameter may take."""

BOUNDED_FIGURES = ("calls", "depth", "width", "components", "reuse")
"""The figures of a plan that may be wanted."""


@fast_frozen
class Wishes:
    """What is wanted of each plan.

    Args:
        calls: How many calls.
        depth: How many generations.
        width: How many calls in the largest generation.
        components: How many pieces that nothing joins.
        reuse: How often outputs are used again: uses by a further call, summed over all calls.
        pattern: A name of :data:`PATTERNS`, or a shape as ``planeval stats`` writes it.
        scope: One of :data:`SCOPES`.
        single: Whether one call alone gives the answer, as NESTful has it.
    """

    calls: Range = Range(2, 5)
    depth: Range = Range(1, MAX_CALLS)
    width: Range = Range(1, MAX_CALLS)
    components: Range = Range(1, MAX_CALLS)
    reuse: Range = ANY_NUMBER
    pattern: str | None = None
    scope: str | None = None
    single: bool = False

    @property
    def bounds(self) -> dict[str, Range]:
        """The figures that are bounded, by name."""
        return {name: getattr(self, name) for name in BOUNDED_FIGURES}


def wishes_of(  # noqa: PLR0913 - each is a bound of its own
    *,
    calls: Any = None,
    depth: Any = None,
    width: Any = None,
    components: Any = None,
    reuse: Any = None,
    pattern: str | None = None,
    scope: str | None = None,
    single: bool = False,
) -> Wishes:
    """Wishes that agree with one another; arguments as for :class:`Wishes`, ranges as people write them.

    Raises:
        InputError: one is none, or they contradict each other; says which, and the most that can be.

    >>> wishes_of(depth="3", width=2).calls
    Range(low=4, high=6)
    """
    named = {"depth": depth, "width": width, "components": components, "reuse": reuse}
    bounds = {name: range_of(value, name) for name, value in named.items() if value is not None}
    for name in ("depth", "width", "components"):
        if name in bounds and bounds[name].low < 1:
            raise InputError(f"{name} {bounds[name]}: a plan has at least 1")
    deep, wide = bounds.get("depth", Range(1, 64)), bounds.get("width", Range(1, 64))
    pieces = bounds.get("components", Range(1, 64))
    if single and pieces.low > 1:
        raise InputError(f"components {pieces}: where one call gives the answer, a plan has 1 component")
    if pieces.low > wide.high:
        raise InputError(
            f"components {pieces} and width {wide} contradict each other: each component begins in the first "
            f"generation, so that a plan of width {wide.high} has at most {wide.high}"
        )
    least = deep.low + max(wide.low, pieces.low) - 1
    if calls is not None:
        many = range_of(calls, "calls")
    else:
        low = max(least, 1 if deep.high == 1 else 2 if "depth" in bounds or not scope else 1)
        many = Range(low, max(5, low + 2))
    if many.low < 1:
        raise InputError(f"calls {many}: a plan has at least 1")
    if least > many.high:
        raise InputError(
            f"depth {deep}, width {wide} and components {pieces} need at least {least} calls; "
            f"at most {many.high} are wanted"
        )
    if many.low > deep.high * wide.high:
        raise InputError(
            f"calls {many}: a plan of depth {deep} and width {wide} has at most {deep.high * wide.high}"
        )
    if scope is not None and scope not in SCOPES:
        raise InputError(
            f"there is no scope {scope!r}; {did_you_mean(str(scope), SCOPES, ', '.join(SCOPES))}"
        )
    ranges = {**bounds, "calls": many}
    if single:
        ranges["components"] = Range(1, 1)
    return Wishes(**ranges, pattern=pattern, scope=scope, single=single)


# ----------------------------------------------------------------------
# How the published benchmarks made their plans, as wishes.
_APPBENCH_PRESET: Mapping[str, Any] = {"tools": "world:appbench", "to": "appbench", "distinct": "values"}

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "nestful": {
            "tools": "nestful", "to": "nestful", "calls": "2..8", "depth": "2..", "single": True,
            "distractors": 8,
        },
        "appbench:ss": {**_APPBENCH_PRESET, "scope": "ss", "calls": 1},
        "appbench:sm": {**_APPBENCH_PRESET, "scope": "sm", "calls": "2..4"},
        "appbench:ms": {**_APPBENCH_PRESET, "scope": "ms", "calls": "2..4"},
        "appbench:mm": {**_APPBENCH_PRESET, "scope": "mm", "calls": "3..6"},
        "functionchat": {"to": "functionchat", "calls": 1, "distinct": "values"},
        "complexfuncbench": {"to": "complexfuncbench", "distinct": "values"},
    }
)  # fmt: skip
"""Name → arguments of :func:`planner_eval.make` that hold where none is given."""


def apply_preset(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a preset and its user give together; what is given wins.

    Args:
        name: One of :data:`PRESETS`.
        arguments: Arguments by name; None where one is not given.

    Raises:
        InputError: there is no such preset, or it needs something that is not given.
    """
    if name not in PRESETS:
        raise InputError(
            f"there is no preset {name!r}; {did_you_mean(str(name), PRESETS, ', '.join(PRESETS))}"
        )
    preset = dict(PRESETS[name])
    own = any(arguments.get(key) is not None for key in ("tools", "catalog"))
    if own and name == "nestful":
        preset["calls"] = (
            preset["calls"] if str(arguments.get("tools") or "").startswith("nestful") else "2..3"
        )
    if own:
        preset.pop("tools", None)
    if not own and "tools" not in preset:
        raise InputError(f"preset {name!r} has no tools of its own: say which with a catalog, or tools")
    if name == "complexfuncbench" and arguments.get("like") is None:
        raise InputError(f"preset {name!r} makes plans like given ones: say which with like, --like FILE")
    return {**preset, **{key: value for key, value in arguments.items() if value is not None}}
