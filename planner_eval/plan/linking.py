"""From calls as written to a plan: labels and returned names become references between calls.

A name means the nearest earlier call that binds it. Where only a later call does, the reference is
kept and reported (`reference.forward`), so that a plan written in the wrong order still shows its
data flow; where only the call itself does, likewise (`reference.self`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from planner_eval.base.errors import LimitError
from planner_eval.base.limits import MAX_DIGITS, Span
from planner_eval.base.text import shorten
from planner_eval.plan.graph import blocked_positions
from planner_eval.plan.model import (
    Arguments,
    Call,
    Diagnostic,
    Edge,
    Path,
    Plan,
    RawCall,
    RawComputed,
    RawPlan,
    RawRef,
    RawTemplate,
    Ref,
    Template,
    Unresolved,
    Value,
    map_leaves,
    references,
)

MAX_DEPTH = 200
"""How deep lists and objects in an argument may nest unless a caller says otherwise."""

_INTEGER_BOUND = 10**MAX_DIGITS
SMALL_INTEGER = 10**9
"""Whole numbers nearer to zero are kept without a further look."""
_LEAF_TYPES = frozenset({str, bool, type(None)})

_UNLABELLED_IDS = tuple(f"c{i + 1}" for i in range(16))
"""Of calls without labels; most plans have no more."""
_make_edge = tuple.__new__  # as Edge(…) does itself, in half the time: one is made for each reference
_INFINITIES = (float("inf"), float("-inf"))


def link(
    raw: RawPlan,
    *,
    dialect: str | None = None,
    text: str | None = None,
    depth: int = MAX_DEPTH,
    compute: Callable[[str], Value] | None = None,
) -> Plan:
    """Resolve every reference of raw calls and give the plan.

    Args:
        raw: The calls as a dialect's parser gives them.
        dialect: The dialect's name, kept on the plan.
        text: The text they were read from, kept on the plan.
        depth: How deep lists and objects in an argument may nest.
        compute: Gives the value of an expression of literals, or None; without it its source text stands.

    Returns:
        The plan; everything doubtful is one of its diagnostics, never an exception.

    Raises:
        LimitError: a value nests deeper than `depth`, or is an integer of more than `MAX_DIGITS` digits.

    >>> producer = RawCall("search", binds=(("v1", ()),))
    >>> link(RawPlan((producer, RawCall("book", (("id", RawRef("v1", ("id",))),))))).edges
    (Edge(producer=0, consumer=1, argument='id', at=(), path=('id',), inferred=False),)
    """
    linker = _Linker(raw, depth, compute)
    ids = _assign_ids(raw.calls, linker.notes)
    linked = []
    for i, call in enumerate(raw.calls):
        arguments = linker.arguments(i, call.arguments, call.spans)
        linked.append(
            Call(
                ids[i], call.name, arguments, call.app, call.returns, call.span,
                call.spans, call.result, call.has_result, call.turn, call.failed,
            )
        )  # fmt: skip
    calls = tuple(linked)
    answer = None
    if raw.answer is not None:
        answer = linker.arguments(len(raw.calls), raw.answer, ())
        linker.edges = [e for e in linker.edges if e.consumer < len(calls)]
    if linker.missing:
        other_ids = _choose_other_ids(ids, linker.missing)
        calls = tuple(
            call if written.label is not None else replace(call, id=other)
            for call, written, other in zip(calls, raw.calls, other_ids, strict=True)
        )
    if linker.backward_only is False:
        linker.note_cycle(len(calls))
    notes = (*raw.notes, *linker.notes)
    return Plan(calls, tuple(linker.edges), answer, notes, dialect, text, reason=raw.reason)


def _assign_ids(calls: tuple[RawCall, ...], notes: list[Diagnostic]) -> list[str]:
    """One unique id a call: its label, or c1, c2 …; a repeated label gets a suffix and a note."""
    labels_written = [call.label for call in calls]
    if labels_written.count(None) == len(labels_written):
        return [
            *_UNLABELLED_IDS[: len(labels_written)],
            *[f"c{i + 1}" for i in range(len(_UNLABELLED_IDS), len(labels_written))],
        ]
    labels = {*labels_written}
    if len(labels) == len(calls) and None not in labels:
        return [*map(str, labels_written)]
    used: set[str] = set()
    copies: dict[str, int] = {}
    ids: list[str] = []
    for i, call in enumerate(calls):
        name = call.label if call.label is not None else f"c{i + 1}"
        if call.label is not None and name in used:
            notes.append(
                Diagnostic("label.duplicate", f"call {i + 1} ({call.name}) repeats the label {name!r}",
                           call=i, span=call.span)
            )  # fmt: skip
        unique, copy = name, copies.get(name, 1)
        while unique in used or (unique != call.label and unique in labels):
            copy += 1
            unique = f"{name}_{copy}"
        copies[name] = copy
        used.add(unique)
        ids.append(unique)
    return ids


def _choose_other_ids(ids: list[str], missing: set[str]) -> list[str]:
    """Ids that no unresolved reference names: a call under such a name would mend the plan."""
    used = {*ids, *missing}
    replacements = []
    for name in ids:
        other, copy = name, 1
        while other in missing or (other != name and other in used):
            copy += 1
            other = f"{name}_{copy}"
        used.add(other)
        replacements.append(other)
    return replacements


_Binders: TypeAlias = dict[str, list[tuple[int, Path]]]
"""For each name the calls that bind it, in order, and its way into their results."""


def _add_binders(binders: _Binders, calls: tuple[RawCall, ...], first: int, end: int) -> None:
    for i in range(first, end):
        for name, path in calls[i].binds:
            if name in binders:
                binders[name].append((i, path))
            else:
                binders[name] = [(i, path)]


class _Linker:
    """The state of one link(): who binds what, and what has been found so far."""

    __slots__ = (
        "backward_only", "bound", "calls", "compute", "depth", "edges", "every", "known", "missing", "notes",
    )  # fmt: skip

    def __init__(self, raw: RawPlan, depth: int, compute: Callable[[str], Value] | None) -> None:
        self.calls = raw.calls
        self.depth = depth
        self.compute = compute
        self.missing: set[str] = set()
        self.edges: list[Edge] = []
        self.notes: list[Diagnostic] = []
        self.backward_only = True
        self.bound: _Binders = {}
        self.known = 0
        self.every: _Binders | None = None

    def arguments(self, i: int, raw: Arguments, spans: tuple[Span, ...]) -> Arguments:
        out: list[tuple[str, Value]] | None = None
        count = len(raw)
        # Two names, as most calls have, are compared in a third of the time that a dict of them takes.
        repeats = count > 1 and (raw[0][0] == raw[1][0] if count == 2 else len(dict(raw)) < count)
        seen: set[str] | None = set() if repeats else None
        for k, (argument, value) in enumerate(raw):
            kind = type(value)
            if type(argument) is not str and not isinstance(argument, str):
                raise TypeError(f"{self.where(i)} has an argument named {argument!r}, which is no text")
            if seen is not None:
                if argument in seen:
                    message = f"argument {argument!r} is given twice in {self.where(i)}"
                    span = spans[k] if spans else None
                    self.note("argument.duplicate", message, "error", i, argument, span)
                seen.add(argument)
            elif kind is str:  # as most are
                continue
            if kind in _LEAF_TYPES or (kind is int and -SMALL_INTEGER < value < SMALL_INTEGER):
                continue
            span = spans[k] if spans else None
            linked = (self.resolve if kind is RawRef else self.value)(value, i, argument, (), span)
            if linked is not value:
                if out is None:
                    out = [*raw]
                out[k] = (argument, linked)
        return raw if out is None else tuple(out)

    def where(self, i: int) -> str:
        return f"call {i + 1}" if i < len(self.calls) else "the answer"

    def value(  # noqa: C901, PLR0911 - a kind of value each
        self, value: Value, i: int, argument: str, path: Path, span: Span | None
    ) -> Value:
        kind = type(value)
        if kind in _LEAF_TYPES:
            return value
        if kind is float:
            if value not in _INFINITIES:
                return value
            past = "a number outside ±1.8e308, which would equal any other such number"
            raise LimitError(f"argument {argument!r} of {self.where(i)} is {past}")
        if kind is int:
            if -_INTEGER_BOUND < value < _INTEGER_BOUND:
                return value
            long = f"an integer of more than {MAX_DIGITS:,} digits, which is the limit"
            raise LimitError(f"argument {argument!r} of call {i + 1} is {long}")
        if len(path) > self.depth:
            raise LimitError(f"argument {argument!r} of call {i + 1} nests deeper than {self.depth} levels")
        if kind is RawRef:
            return self.resolve(value, i, argument, path, span)
        if kind is list:
            return [self.value(item, i, argument, (*path, k), span) for k, item in enumerate(value)]
        if kind is dict:
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"argument {argument!r} of {self.where(i)} has the key {key!r}, no text")
            return {key: self.value(item, i, argument, (*path, key), span) for key, item in value.items()}
        if kind is RawTemplate:
            return Template(
                tuple(
                    piece if type(piece) is str else self.resolve(piece, i, argument, (*path, k), span)
                    for k, piece in enumerate(value.parts)
                )
            )
        if kind is RawComputed:
            return self.computed(value.text, i, argument, span)
        if isinstance(value, dict):  # a key is repeated; the last value counts, as JSON readers have it
            where = self.where(i)
            message = f"an object in {argument!r} of {where} gives a key twice; the last value counts"
            self.note("value.duplicate", message, "error", i, argument, span)
            return self.value(dict(value), i, argument, path, span)
        raise TypeError(f"argument {argument!r} of {self.where(i)} is a {kind.__name__}")

    def computed(self, text: str, i: int, argument: str, span: Span | None) -> Value:
        """The value of an expression, or its source text, and a note that says which."""
        value = self.compute(text) if self.compute is not None else None
        beginning = f"{argument!r} of call {i + 1} is the expression {shorten(text, 60)}"
        outcome = "; its text is used" if value is None else f", computed as {value!r}"
        severity = "warning" if value is None else "info"
        self.note("value.computed", beginning + outcome, severity, i, argument, span)
        return text if value is None else value

    def resolve(
        self, ref: RawRef, i: int, argument: str, location: Path, span: Span | None
    ) -> Ref | Unresolved:
        if self.known < i:  # call by call, and only where something refers: what is bound so far is earlier
            _add_binders(self.bound, self.calls, self.known, i)
            self.known = i
        earlier = self.bound.get(ref.name)
        if earlier is None:
            return self.late(ref, i, argument, location, ref.span or span)
        producer, path = earlier[-1]
        if len(earlier) > 1 and self.calls[producer].label != ref.name:
            binders = ", ".join([str(p + 1) for p, _ in earlier])
            subject = self._shown(i, argument)
            message = f"{subject} refers to {ref.name!r}, which calls {binders} return; the nearest is used"
            self.note("reference.ambiguous", message, "info", i, argument, ref.span or span)
        full = path + ref.path
        self.edges.append(_make_edge(Edge, (producer, i, argument, location, full, False)))
        return Ref(producer, full, ref.span)

    def late(self, ref: RawRef, i: int, argument: str, location: Path, span: Span | None) -> Ref | Unresolved:
        """:meth:`resolve` where no earlier call binds the name."""
        if self.every is None:
            self.every = {}
            _add_binders(self.every, self.calls, 0, len(self.calls))
        binders = self.every.get(ref.name)
        if binders is None:
            message = f"{self._shown(i, argument)} refers to {ref.name!r}, which no call returns"
            self.note("reference.unresolved", message, "error", i, argument, span)
            self.missing.add(ref.name)
            return Unresolved(ref.name, ref.path, ref.span)
        later = next((b for b in binders if b[0] > i), None)
        producer, path = later or binders[0]
        code = "reference.forward" if later else "reference.self"
        reason = f"only the later call {producer + 1} returns" if later else "only the call itself returns"
        message = f"{self._shown(i, argument)} refers to {ref.name!r}, which {reason}"
        self.note(code, message, "error", i, argument, span)
        self.backward_only = False
        full = path + ref.path
        self.edges.append(Edge(producer, i, argument, location, full))
        return Ref(producer, full, ref.span)

    def _shown(self, i: int, argument: str) -> str:
        return f"{argument!r} of {self.where(i)}"

    def note(self, code: str, message: str, severity: str, i: int, argument: str, span: Span | None) -> None:
        call = i if i < len(self.calls) else None
        self.notes.append(Diagnostic(code, message, severity, call, argument, span))

    def note_cycle(self, size: int) -> None:
        """Say which calls depend on one another in a circle (self references have their own code)."""
        needs: list[list[int]] = [[] for _ in range(size)]
        for edge in self.edges:
            if edge.producer != edge.consumer:
                needs[edge.consumer].append(edge.producer)
        circle = blocked_positions(needs)
        if circle:
            listed = ", ".join(str(i + 1) for i in circle[:10]) + (" …" if len(circle) > 10 else "")
            message = f"calls {listed} depend on each other in a cycle, or on calls that do"
            self.notes.append(Diagnostic("plan.cycle", message, "error", circle[0]))


# ----------------------------------------------------------------------
# Building a plan from another one's calls, references following their producers.
def move_references(
    value: Value, positions: Mapping[int, int], lost_names: Mapping[int, str] | None = None
) -> Value:
    """A value whose references point to the new places of their producers.

    Args:
        value: A linked value.
        positions: Old position → new position.
        lost_names: Names for producers that have no new place; a reference to one is unresolved.

    >>> move_references([Ref(3), "text"], {3: 0})
    [Ref(call=0, path=()), 'text']
    """

    def change(leaf: Value) -> Value:
        if type(leaf) is not Ref:
            return leaf
        if leaf.call in positions:
            return Ref(positions[leaf.call], leaf.path)
        return Unresolved((lost_names or {}).get(leaf.call, f"c{leaf.call + 1}"), leaf.path)

    return map_leaves(change, value)


def move_arguments(arguments: Arguments, positions: Mapping[int, int]) -> Arguments:
    """:func:`move_references` of each argument's value."""
    return tuple((name, move_references(value, positions)) for name, value in arguments)


def build_plan(calls: Iterable[Call], answer: Arguments | None = None) -> Plan:
    """The plan of linked calls, its edges read off their references."""
    calls = tuple(calls)
    edges = tuple(
        Edge(ref.call, position, name, path, ref.path)
        for position, call in enumerate(calls)
        for name, value in call.arguments
        for path, ref in references(value)
        if isinstance(ref, Ref)
    )
    return Plan(calls, edges, answer)


def replace_arguments(call: Call, arguments: Arguments) -> Call:
    """The call with other arguments; their places in the text are lost."""
    return Call(call.id, call.name, arguments, call.app, call.returns, call.span)
