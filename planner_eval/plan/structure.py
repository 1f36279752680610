"""The structure of one plan: pure functions over plain adjacency lists, and its shape in one line.

Parallel references count once here: structure is about which call needs which. Self references and
circles occur in real data; where a figure needs an order, the calls of a circle are placed together
in the first generation whose earlier producers are all done (:mod:`planner_eval.plan.graph`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from planner_eval.plan.graph import (
    ProducerLists,
    circles,
    component_leaders,
    group_by_level,
    levels,
    levels_in_steps,
    longest_chain,
    producers,
)
from planner_eval.plan.model import Plan, Ref, Template, Unresolved, Value, contains_kind


# ----------------------------------------------------------------------
# The structure of one plan: small pure functions over plain adjacency lists.
def consumers(plan: Plan) -> list[list[int]]:
    """For each call the other calls that use its output, each once, in ascending order."""
    return consumers_of(producers(plan))


def consumers_of(needs: Sequence[Collection[int]]) -> list[list[int]]:
    """For each call those that need it, in ascending order; from those that each needs.

    >>> consumers_of([[], [0], [0, 1]])
    [[1, 2], [2], []]
    """
    users: list[list[int]] = [[] for _ in needs]
    for consumer, needed in enumerate(needs):
        for producer in needed:
            users[producer].append(consumer)
    return users


def components(plan: Plan) -> list[list[int]]:
    r"""The weakly connected components, each in ascending order, ordered by their first call.

    >>> from planner_eval.reading.dialects.read import parse
    >>> components(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    [[0, 1], [2]]
    """
    return _components(producers(plan))


def _components(needs: ProducerLists) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for call, leader in enumerate(component_leaders(needs)):
        groups.setdefault(leader, []).append(call)
    return list(groups.values())


def scope(plan: Plan) -> str | None:
    r"""AppBench's word for a plan: one or several apps, and one or several calls of an app.

    SS is one call, SM several calls of one app, MS one call each of several apps, MM any other; a repeated
    call counts again.

    Returns:
        None for a plan without calls, or with a call that names no app.

    Source: the AppBench paper, section 3.1; so the gold plans of its four parts are told apart.

    >>> from planner_eval.reading.dialects.read import parse
    >>> scope(parse("Trams: [a = f(#x='1')]\nShops: [g(#y=a)]")), scope(parse("f(#x='1')"))
    ('MS', None)
    """
    apps = {call.app for call in plan.calls}
    if not apps or not all(apps):
        return None
    return ("S" if len(apps) == 1 else "M") + ("S" if len(apps) == len(plan.calls) else "M")


def topological_generations(plan: Plan) -> list[list[int]]:
    r"""The calls in generations: each needs only calls of earlier ones; in ascending order within one.

    Calls of a plan's ``steps`` come after all of earlier ones.

    >>> from planner_eval.reading.dialects.read import parse
    >>> topological_generations(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    [[0, 2], [1]]
    """
    needs = producers(plan)
    return group_by_level(levels_in_steps(needs, plan.steps) if plan.steps else levels(needs))


def topological_order(plan: Plan) -> list[int]:
    """One topological order: generation by generation, in written order within each."""
    return [i for generation in topological_generations(plan) for i in generation]


def depth(plan: Plan) -> int:
    r"""The number of generations: calls on the longest dependency path; 0 for an empty plan.

    >>> from planner_eval.reading.dialects.read import parse
    >>> depth(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    2
    """
    return len(topological_generations(plan))


def critical_path(plan: Plan) -> list[int]:
    r"""The calls of one longest dependency path, producer first; the earliest where several tie.

    >>> from planner_eval.reading.dialects.read import parse
    >>> critical_path(parse("h(#z='2')\na = f(#x='1')\nb = g(#y=a)"))
    [1, 2]
    """
    return longest_chain(producers(plan))


def sinks(plan: Plan) -> list[int]:
    """The calls whose output no other call uses."""
    return [i for i, users in enumerate(consumers(plan)) if not users]


def fan_in(plan: Plan) -> list[int]:
    """For each call the number of calls whose output it uses."""
    return [len(needed) for needed in producers(plan)]


def fan_out(plan: Plan) -> list[int]:
    """For each call the number of calls that use its output."""
    return [len(users) for users in consumers(plan)]


def parallel_scale(plan: Plan) -> int:
    """The number of weakly connected components (AppBench's parallel scale, section 3 of its paper)."""
    return len(components(plan))


def nesting_patterns(plan: Plan) -> dict[str, int]:
    r"""How the calls hang together, one pattern a meeting point, with its count.

    ``A→B``: one consumer of one producer that serves nobody else. ``{A,B}→C``: one call that uses
    several others. ``A→{B,C}``: one call that serves several. ``A``: a lone call.

    >>> from planner_eval.reading.dialects.read import parse
    >>> nesting_patterns(parse("a = f(#x='1')\nb = f(#x='2')\ng(#y=a, #z=b)\nh()"))
    {'A': 1, '{A,B}→C': 1}
    """
    needed, users = producers(plan), consumers(plan)
    patterns: Counter[str] = Counter()
    for i in range(len(plan.calls)):
        if not needed[i] and not users[i]:
            patterns["A"] += 1
        if len(needed[i]) > 1:
            patterns[f"{{{_letters(len(needed[i]))}}}→{_letter(len(needed[i]))}"] += 1
        if len(users[i]) > 1:
            patterns[f"A→{{{_letters(len(users[i]), 1)}}}"] += 1
        if len(needed[i]) == 1 and len(users[needed[i][0]]) == 1:
            patterns["A→B"] += 1
    return dict(sorted(patterns.items()))


def _letter(k: int) -> str:
    return chr(ord("A") + k) if k < 26 else f"A{k}"


def _letters(count: int, start: int = 0) -> str:
    return ",".join(_letter(k) for k in range(start, start + count)) if count <= 6 else f"{count} calls"


KINDS = (
    "reference", "ref in text", "ref in values", "unresolved",
    "string", "integer", "number", "boolean", "null", "array", "object",
)  # fmt: skip
"""The kinds of arguments: what refers to other calls, then the types of JSON."""

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def argument_kinds(plan: Plan) -> dict[str, int]:
    r"""What the arguments hold, one of :data:`KINDS` each, with its count.

    An argument that is, or holds, a reference to no other call counts as unresolved.

    >>> from planner_eval.reading.dialects.read import parse
    >>> argument_kinds(parse("a = f(#x='1')\nb = g(#y=a, #z='2')"))
    {'reference': 1, 'string': 2}
    """
    own = {(edge.consumer, edge.argument) for edge in plan.edges if edge.producer == edge.consumer}
    counts = Counter(
        "unresolved" if (position, name) in own else _argument_kind(value)
        for position, call in enumerate(plan.calls)
        for name, value in call.arguments
    )
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _argument_kind(value: Value) -> str:
    kind = type(value)
    if kind in _JSON_TYPES:
        return _JSON_TYPES[kind]
    if contains_kind(value, Unresolved):
        return "unresolved"
    if kind is Ref:
        return "reference"
    inside = contains_kind(value, Ref)
    if kind is Template:
        return "ref in text" if inside else "string"
    return "ref in values" if inside else "array" if kind is list else "object"


# ----------------------------------------------------------------------
# The shape of a plan in one line: which call needs which, whatever the calls are named.
MAX_EXACT_CALLS = 16
"""Calls of a piece up to which its text tells it from every other."""

_MAX_CALL_CHARS = 400
"""Characters up to which the text of a call holds those of its producers."""

ProducerTuples: TypeAlias = tuple[tuple[int, ...], ...]


def shape(plan: Plan) -> str:
    r"""The plan's dependency shape in one line: each call's producers in its brackets, in a canonical order.

    Names and arguments play no part, and self references none. ``+`` stands between pieces that nothing
    joins. A call that serves several has a letter, ``a:()``, and is that letter where it is needed again.
    Plans whose pieces have at most 16 calls each, and no circle, have one text if and only if their
    dependency graphs are isomorphic. In larger pieces whose calls serve several, and in circles, ``×2``
    stands behind a call that serves two; there, plans of one text may differ. A circle whose output no other
    call uses is written from its last call, and ``*`` closes it.

    >>> from planner_eval.reading.dialects.read import parse
    >>> shape(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"))
    '(()) + ()'
    >>> shape(parse("a = f()\ng(#x=a)\nh(#x=a)"))
    '(a:()) (a)'
    """
    needed, users = producers(plan), consumers(plan)
    text, circular = _call_texts(plan, needed, users)
    if not circular and all(len(those) < 2 for those in users):
        return _join_pieces([text[i] for i, those in enumerate(users) if not those])
    rings = [group for group in circles(needed) if len(group) > 1] if circular else []
    in_ring = {i for group in rings for i in group}
    texts = []
    for piece in _components(needed):
        if (
            len(piece) <= MAX_EXACT_CALLS
            and in_ring.isdisjoint(piece)
            and any(len(users[i]) > 1 for i in piece)
        ):
            index_in_piece = {call: index for index, call in enumerate(piece)}
            texts.append(
                _canonical_text(tuple(tuple(index_in_piece[p] for p in needed[call]) for call in piece))
            )
            continue
        members = set(piece)
        ends = [text[i] for i in piece if not users[i]]
        for group in rings:
            if group[0] in members and all(user in group for i in group for user in users[i]):
                ends.append(max((text[i] for i in group), key=lambda end: (len(end), end)))
        texts.append(" ".join(sorted(ends, key=_longest_first_key)))
    return _join_pieces(texts)


def _join_pieces(pieces: list[str]) -> str:
    return " + ".join(sorted(pieces, key=_longest_first_key))


def _longest_first_key(text: str) -> tuple[int, str]:
    return -len(text), text


def _call_texts(
    plan: Plan, needed: Sequence[Sequence[int]], users: Sequence[Sequence[int]]
) -> tuple[dict[int, str], bool]:
    """For each call its brackets around those of its producers, and whether some need one another."""
    text: dict[int, str] = {}
    circular = False
    for i in topological_order(plan):
        circular = circular or any(p not in text for p in needed[i])
        inner = sorted(
            (text.get(p, "*") if len(users[p]) == 1 else f"{text.get(p, '*')}×{len(users[p])}")
            for p in needed[i]
        )
        text[i] = f"({''.join(inner)})" if sum(map(len, inner)) < _MAX_CALL_CHARS else f"(…{len(inner)})"
    return text, circular


# ---------------------------------------------------------------- canonical texts of small pieces
@lru_cache(maxsize=4096)
def _canonical_text(needs: ProducerTuples) -> str:
    """The text of a piece without circles, in its canonical order.

    Calls are told apart by what stands around them, again and again; where that leaves calls alike, each is
    tried as the first of them, unless one that was tried before gave the same graph: then the piece looks the
    same from either. Of the graphs that are left, calls numbered in their order, the least counts.
    """
    return _write_piece(min(_find_numberings(needs, consumers_of(needs), [0] * len(needs))))


def _find_numberings(
    needs: ProducerTuples, users: Sequence[Sequence[int]], colors: list[int]
) -> set[ProducerTuples]:
    """The graph, numbered in all orders that agree with the colours, but for those equal by symmetry."""
    colors = _refine_colors(needs, users, colors)
    tied = _find_tied_calls(colors)
    if not tied:
        return {_renumber(needs, colors)}
    numberings: set[ProducerTuples] = set()
    for call in tied:
        first = _individualize(colors, call)
        if not numberings or _find_one_numbering(needs, users, first) not in numberings:
            numberings |= _find_numberings(needs, users, first)
    return numberings


def _find_one_numbering(
    needs: ProducerTuples, users: Sequence[Sequence[int]], colors: list[int]
) -> ProducerTuples:
    """The graph, numbered in one order that agrees with the colours."""
    while tied := _find_tied_calls(colors := _refine_colors(needs, users, colors)):
        colors = _individualize(colors, tied[0])
    return _renumber(needs, colors)


def _find_tied_calls(colors: Sequence[int]) -> list[int]:
    """The calls of the first colour that several have."""
    counts = Counter(colors)
    color = min((c for c, count in counts.items() if count > 1), default=None)
    return [call for call, c in enumerate(colors) if c == color]


def _individualize(colors: Sequence[int], call: int) -> list[int]:
    """The colours, one call before all others of its own."""
    return [2 * c + (c == colors[call] and other != call) for other, c in enumerate(colors)]


def _renumber(needs: ProducerTuples, order: Sequence[int]) -> ProducerTuples:
    """The graph with calls as their places in an order."""
    calls_in_order = sorted(range(len(needs)), key=order.__getitem__)
    return tuple(tuple(sorted([order[p] for p in needs[call]])) for call in calls_in_order)


def _refine_colors(needs: ProducerTuples, users: Sequence[Sequence[int]], colors: list[int]) -> list[int]:
    """The colours, told apart by those of producers and consumers until nothing changes."""
    count = 0
    while True:
        around = [
            (colors[call], sorted([colors[p] for p in needs[call]]), sorted([colors[u] for u in users[call]]))
            for call in range(len(needs))
        ]
        ranked = [key for key, _ in groupby(sorted(around))]
        colors = [ranked.index(key) for key in around]
        if len(ranked) == count:
            return colors
        count = len(ranked)


def _write_piece(needs: ProducerTuples) -> str:
    """The text of a piece: it says the whole graph."""
    users = consumers_of(needs)
    letters: dict[int, str] = {}

    def of(call: int) -> str:
        if call in letters:
            return letters[call]
        name = ""
        if len(users[call]) > 1:
            name = letters[call] = chr(ord("a") + len(letters))
            name += ":"
        return f"{name}({''.join([of(producer) for producer in needs[call]])})"

    return " ".join([of(call) for call, those in enumerate(users) if not those])
