"""Which call needs which, before anybody says what they call: drawn by wish, named, or read from a shape."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planner_eval.base.errors import InputError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import did_you_mean
from planner_eval.plan.graph import component_leaders, levels
from planner_eval.plan.structure import consumers_of

if TYPE_CHECKING:
    from random import Random

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
            f"components {pieces} and width {wide} contradict each other: each component begins in "
            f"the first generation, so a plan of width {wide.high} has at most {wide.high}"
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
            f"at most {many.high} are requested"
        )
    if many.low > deep.high * wide.high:
        raise InputError(
            f"calls {many}: a plan of depth {deep} and width {wide} has at most {deep.high * wide.high}"
        )
    if scope is not None and scope not in SCOPES:
        raise InputError(f"unknown scope {scope!r}; {did_you_mean(str(scope), SCOPES, ', '.join(SCOPES))}")
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
        raise InputError(f"unknown preset {name!r}; {did_you_mean(str(name), PRESETS, ', '.join(PRESETS))}")
    preset = dict(PRESETS[name])
    own = any(arguments.get(key) is not None for key in ("tools", "catalog"))
    if own and name == "nestful":
        preset["calls"] = (
            preset["calls"] if str(arguments.get("tools") or "").startswith("nestful") else "2..3"
        )
    if own:
        preset.pop("tools", None)
    if not own and "tools" not in preset:
        raise InputError(f"preset {name!r} has no tools of its own: name them with --catalog or --tools")
    if name == "complexfuncbench" and arguments.get("like") is None:
        raise InputError(f"preset {name!r} makes plans like given ones: name them with --like FILE")
    return {**preset, **{key: value for key, value in arguments.items() if value is not None}}


# ----------------------------------------------------------------------
# Which call needs which, before anybody says what they call: drawn by wish, named, or read from a shape.
Skeleton: TypeAlias = tuple[tuple[int, ...], ...]
"""For each call the calls whose outputs it takes, all of them before it."""

MAX_TRIES = 200
"""How often one skeleton is drawn until it is what is wished for."""


def figures(needs: Skeleton) -> dict[str, int]:
    """The figures that may be wanted of a plan, by name.

    >>> figures(((), (0,), (0,), (1, 2)))
    {'calls': 4, 'depth': 3, 'width': 2, 'components': 1, 'reuse': 1}
    """
    placed = levels(needs)
    sizes = [placed.count(level) for level in set(placed)]
    return {
        "calls": len(needs),
        "depth": len(sizes),
        "width": max(sizes, default=0),
        "components": len(set(component_leaders(needs))),
        "reuse": _count_reuse(consumers_of(needs)),
    }


def meets_wishes(needs: Skeleton, wishes: Wishes) -> bool:
    """Whether a skeleton is what is wished for."""
    structure = figures(needs)
    if any(structure[name] not in bound for name, bound in wishes.bounds.items()):
        return False
    return not wishes.single or sum(not users for users in consumers_of(needs)) == 1


def draw_skeleton(wishes: Wishes, most_in: int, random: Random) -> Skeleton | None:
    """A skeleton that meets the wishes; None where so many tries as :data:`MAX_TRIES` gave none.

    Of a pattern it is any of those that fit; None where none does.

    Args:
        wishes: What is wanted.
        most_in: How many calls' outputs one call can take.
        random: Where chance comes from.

    >>> from random import Random
    >>> found = draw_skeleton(Wishes(calls=Range(4, 4), depth=Range(3, 3), single=True), 2, Random(1))
    >>> found is not None and figures(found)["depth"]
    3
    """
    if wishes.pattern is not None:
        fitting = [
            needs
            for needs in generate_skeletons(wishes.pattern, wishes.calls)
            if meets_wishes(needs, wishes) and max(map(len, needs)) <= most_in
        ]
        return random.choice(fitting) if fitting else None
    for _ in range(MAX_TRIES):
        needs = _grow_skeleton(wishes, most_in, random)
        if needs is not None and meets_wishes(needs, wishes) and max(map(len, needs)) <= most_in:
            return needs
    return None


def _grow_skeleton(wishes: Wishes, most_in: int, random: Random) -> Skeleton | None:
    """A skeleton of a size, depth and number of pieces that are wanted; the rest is left to chance."""
    calls = random.randint(*wishes.calls)
    deep = _draw_between(wishes.depth, calls if most_in else 1, random)
    if deep is None:
        return None
    pieces = _draw_between(wishes.components, min(wishes.width.high, calls - deep + 1), random)
    if pieces is None:
        return None
    if wishes.components.high >= MAX_CALLS:  # few pieces are the commoner case, as in published plans
        pieces = random.randint(wishes.components.low, pieces)
    spread = max(wishes.reuse.low, min(wishes.reuse.high, calls // 2))
    reuse = random.choice((wishes.reuse.low, random.randint(wishes.reuse.low, spread))) if most_in else 0
    branches = 0 if wishes.single else random.randint(0, reuse)
    needs: list[set[int]] = [set() for _ in range(calls)]
    for index in range(1, deep):  # the first piece is as deep as is wanted
        needs[index].add(index - 1)
    for index in range(deep + pieces - 1, calls):
        _join_call(needs, index, deep, most_in, random, branch=_count_reuse(consumers_of(needs)) < branches)
    grown = [*map(set, _sort_calls(needs))]
    for _ in range(reuse - _count_reuse(consumers_of(grown))):  # outputs are given to one call more
        users, above = consumers_of(grown), levels([*map(sorted, grown)])
        pairs = [
            (producer, consumer)
            for producer, consumer in combinations(range(calls), 2)
            if users[producer] and producer not in grown[consumer]
            and len(grown[consumer]) < most_in and above[producer] < above[consumer]
        ]  # fmt: skip
        if pairs:
            producer, consumer = random.choice(pairs)
            grown[consumer].add(producer)
    return tuple(tuple(sorted(producers)) for producers in grown)


def _join_call(
    needs: list[set[int]], index: int, deep: int, most_in: int, random: Random, *, branch: bool
) -> None:
    """Join a further call to one that stands: as a producer of it, or as a consumer beside others."""
    users, placed = consumers_of(needs), range(index)
    above, below = levels([*map(sorted, needs)]), levels(users)
    free = [p for p in placed if len(needs[p]) < most_in and below[p] + 1 < deep]
    served = [p for p in placed if users[p] and above[p] + 1 < deep] if branch else []
    if served:
        needs[index].add(random.choice(served))
    elif free:
        needs[random.choice(free)].add(index)


def _draw_between(bound: Range, most: int, random: Random) -> int | None:
    low, high = max(bound.low, 1), min(bound.high, most)
    return random.randint(low, high) if low <= high else None


def _count_reuse(users: Sequence[Collection[int]]) -> int:
    """How often outputs are used by a further call."""
    return sum(max(0, len(consumers) - 1) for consumers in users)


def _sort_calls(needs: Sequence[set[int]]) -> Skeleton:
    """The skeleton with producers before consumers; calls that give an answer come as late as they can."""
    order: list[int] = []
    visited: set[int] = set()

    def visit(index: int) -> None:
        for producer in sorted(needs[index]):
            if producer not in visited:
                visit(producer)
        visited.add(index)
        order.append(index)

    for index, consumers in enumerate(consumers_of(needs)):
        if not consumers:
            visit(index)
    positions = {call: position for position, call in enumerate(order)}
    return tuple(tuple(sorted(positions[p] for p in needs[call])) for call in order)


# ----------------------------------------------------------------------
# Skeletons that have a name, and those that a shape says.
_MIN_PATTERN_CALLS = {"chain": 2, "fan-out": 3, "fan-in": 3, "diamond": 4, "independent": 1}
"""The calls that a pattern needs to be one."""

_MAX_SHAPE_CHARACTERS = 400
"""Characters of a shape at most."""


def generate_skeletons(pattern: str, sizes: Range) -> Iterator[Skeleton]:
    """The skeletons that a pattern stands for.

    Args:
        pattern: A name of :data:`.wishes.PATTERNS`, or a shape.
        sizes: How many calls they may have; a shape says that itself.

    Raises:
        InputError: it is neither.

    >>> list(generate_skeletons("diamond", Range(4, 4)))
    [((), (0,), (0,), (1, 2))]
    """
    if pattern not in PATTERNS:
        yield read_shape(pattern)
        return
    for size in range(max(sizes.low, _MIN_PATTERN_CALLS[pattern]), sizes.high + 1):
        yield _pattern_skeleton(pattern, size)


def _pattern_skeleton(pattern: str, size: int) -> Skeleton:
    middle = range(1, size - 1)
    if pattern == "chain":
        return tuple((index - 1,) if index else () for index in range(size))
    if pattern == "fan-out":
        return tuple((0,) if index else () for index in range(size))
    if pattern == "fan-in":
        return (*(() for _ in range(size - 1)), tuple(range(size - 1)))
    if pattern == "diamond":
        return ((), *((0,) for _ in middle), tuple(middle))
    return tuple(() for _ in range(size))


def read_shape(text: str) -> Skeleton:
    """The skeleton of a shape, as ``planeval stats`` and ``data coverage`` write it.

    Raises:
        InputError: it is neither a shape nor the name of a pattern.

    >>> read_shape("(a:()) (a)"), read_shape("(()) + ()")
    (((), (0,), (0,)), ((), (0,), ()))
    """
    needs = _parse_shape(text[: _MAX_SHAPE_CHARACTERS + 1])
    if len(needs) > MAX_CALLS:
        raise InputError(f"pattern {text!r:.80}: a made plan has at most {MAX_CALLS} calls")
    if needs and len(text) <= _MAX_SHAPE_CHARACTERS:
        return needs
    hint = did_you_mean(text, PATTERNS, f"the names are {', '.join(PATTERNS)}")
    raise InputError(f"pattern {text!r:.80} is neither a shape such as '(())' nor a name; {hint}")


_SHAPE_TOKEN = re.compile(r"[a-z]:(?=\()|[a-z]|[()]| \+ | ")


def _parse_shape(text: str) -> Skeleton:
    """The skeleton of a shape; without a call where the text is none.

    ``shape = piece (" + " piece)*``, ``piece = call (" " call)*``, ``call = [letter ":"] "(" (call | letter)*
    ")"``; a letter means the call that it stands before.
    """
    tokens = _SHAPE_TOKEN.findall(text)
    needs: list[tuple[int, ...]] = []
    names: dict[str, int] = {}
    opened: list[tuple[str, set[int]]] = [("", set())]
    label = ""
    for token in tokens:
        if token == "(":
            opened.append((label, set()))
            label = ""
        elif token == ")" and len(opened) > 1:
            name, producers = opened.pop()
            names[name] = len(needs)
            needs.append(tuple(sorted(producers)))
            opened[-1][1].add(names[name])
        elif token in names and len(opened) > 1:
            opened[-1][1].add(names[token])
        elif token.endswith(":"):
            label = token[0]
        elif (not token.isspace() and token != " + ") or len(opened) > 1:
            return ()
        elif token == " + ":
            names.clear()
    return tuple(needs) if len(opened) == 1 and "".join(tokens) == text else ()


# ----------------------------------------------------------------------
# The layouts that made records are written in.
LAYOUTS: Mapping[str, str] = {
    "planeval": "planeval's own: id, query, gold as interchange JSON, tools as a catalog, the result",
    "nestful": "NESTful's second version",
    "appbench": "AppBench's, with the tools as a separate catalogue",
    "functionchat": "FunctionChat-Bench's single calls, with lists of tools",
    "complexfuncbench": "ComplexFuncBench's conversations, with the output of each call",
}
"""Name → what it is."""

OWN_LAYOUT = "planeval"
"""Our own layout, which has a place for everything that is known of a record."""

SINGLE_ANSWER_LAYOUTS = frozenset(("nestful",))
"""Those whose gold answer is the value of one call, the last."""

JSON_LIST_LAYOUTS = frozenset(("appbench",))
"""Those whose file is one list."""
