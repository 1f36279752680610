"""Edges that nobody wrote: an argument that repeats a value of an earlier answer, a hole that a call fills.

Such an edge is a guess and is marked so; nothing infers unless it is asked to. What is not certain is left
out: a link too few costs less than a wrong one. docs/statistics.md says how often either happens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from planner_eval.plan.model import Call, Edge, Path, Plan, Value

MIN_CHARS = 2
"""Texts of fewer characters, and numbers of one digit, occur everywhere and say nothing."""

COMMON_VALUE = re.compile(r"-?\d{1,4}|-?\d\.\d{1,3}|[^\W\d_]+|\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?")
"""Values that several things may have by chance: small numbers, single words, days, times of day."""

CHANGING_NAMES = ("date", "time", "status")
"""Names of what a call often sets anew: that an earlier one returns it does not say that it stays."""

_WORD = re.compile(r"[^\W\d_]+")
_WORD_BREAK = re.compile(r"[^\w.:\-]+")
_MAX_DEPTH = 100

OutputPath: TypeAlias = tuple[int, Path]
"""A call, and the way into its result."""


class Signatures(NamedTuple):
    """What a catalog says of its tools.

    Args:
        takes: Tool → parameter → its JSON type, ``""`` where that is not said.
        returns: Tool → returned name → its JSON type, likewise.
        holes: Texts that stand for values that are not known yet.
    """

    takes: Mapping[str, Mapping[str, str]]
    returns: Mapping[str, Mapping[str, str]]
    holes: Collection[str]


def infer_edges(plan: Plan, signatures: Signatures | None = None, question: str | None = None) -> Plan:
    """The plan with inferred edges after its own, and its written steps as generations.

    An argument takes from the first result that holds its value, unless the user, or an earlier call's
    argument, named the value before; calls of one turn do not see one another's results. A value of
    :data:`COMMON_VALUE` form counts only under a name that fits the argument's. A number and its text are one
    value, for results hold numbers where calls pass texts. A hole is filled by the only earlier call that
    returns its name and type and does not itself take it; holes of names in :data:`CHANGING_NAMES` stay open.

    Args:
        plan: The plan.
        signatures: What its tools take and return, and what stands for a hole.
        question: The words of the user, where the plan is a conversation; one that numbers no turns has one.

    >>> from planner_eval.plan.model import Call
    >>> producer = Call("c1", "find", result={"id": "SYD"}, has_result=True)
    >>> infer_edges(Plan((producer, Call("c2", "book", (("to", "SYD"),))))).edges
    (Edge(producer=0, consumer=1, argument='to', at=(), path=('id',), inferred=True),)
    """
    edges = _ValueOrigins(plan, question).edges() if any(call.has_result for call in plan.calls) else []
    if signatures is not None and signatures.holes:
        edges += _fill_holes(plan, signatures)
        edges.sort(key=lambda edge: edge.consumer)
    turns = [call.turn or 0 for call in plan.calls]
    steps = tuple(turns) if len(set(turns)) > 1 else ()
    return replace(plan, edges=(*plan.edges, *edges), steps=steps) if edges or steps else plan


class _ValueOrigins:
    """The values met so far: who named them first, a result or somebody else."""

    def __init__(self, plan: Plan, question: str | None) -> None:
        self.plan = plan
        self.talk = question is not None
        self.said = frozenset(word.strip(".:-") for word in _WORD_BREAK.split(question or ""))
        self.given: set[str] = set()
        self.first: dict[str, OutputPath] = {}
        self.named: dict[tuple[str, str], OutputPath] = {}

    def edges(self) -> list[Edge]:
        edges: list[Edge] = []
        for _, step in groupby(enumerate(self.plan.calls), self.step):
            calls = list(step)
            for i, call in calls:
                edges += self.taken(i, call)
            for i, call in calls:
                if call.has_result:
                    self.learn(i, call.result)
        return edges

    def step(self, numbered: tuple[int, Call]) -> tuple[int, int]:
        """Calls of one turn stand together; those of no conversation are a step each."""
        position, call = numbered
        return (1, call.turn or 0) if self.talk or call.turn is not None else (0, position)

    def taken(self, consumer: int, call: Call) -> Iterator[Edge]:
        """The edges to one call."""
        for argument, value in call.arguments:
            for path, text in _leaves(value):
                origin = self.place(text, last_name(path) or argument)
                if origin is not None:
                    yield Edge(origin[0], consumer, argument, path, origin[1], inferred=True)
                    continue
                if text not in self.first:
                    self.given.add(text)
                for number, item in enumerate(text.split(",")) if "," in text else ():
                    item_origin = self.place(item.strip(), last_name(path) or argument)
                    if item_origin is not None:
                        yield Edge(
                            item_origin[0], consumer, argument, (*path, number), item_origin[1], inferred=True
                        )

    def place(self, text: str, argument: str) -> OutputPath | None:
        """Where a value comes from; None where nothing says so for certain."""
        first = self.first.get(text)
        if first is None or all(word in self.said for word in text.split()):
            return None
        same = self.named.get((text, normalise_name(argument)))
        if same is not None or not COMMON_VALUE.fullmatch(text):
            return same or first
        key, name = normalise_name(last_name(first[1])), normalise_name(argument)
        fits = key and (name.endswith(key) or (key.endswith("id") and _WORD.fullmatch(text)))
        return first if fits else None

    def learn(self, producer: int, result: Value) -> None:
        for path, text in _leaves(result):
            if text not in self.given:
                self.first.setdefault(text, (producer, path))
                self.named.setdefault((text, normalise_name(last_name(path))), (producer, path))


def _fill_holes(plan: Plan, signatures: Signatures) -> Iterator[Edge]:
    """The edges to holes."""
    offers: dict[str, tuple[OutputPath, str] | None] = {}
    for position, call in enumerate(plan.calls):
        types = signatures.takes.get(call.tool, {})
        for argument, value in call.arguments:
            for value_path, text in _leaves(value):
                offer = (
                    offers.get(normalise_name(last_name(value_path) or argument))
                    if text in signatures.holes
                    else None
                )
                kinds = {offer[1], "" if value_path else types.get(argument, "")} - {""} if offer else set()
                if offer is not None and len(kinds) < 2:
                    (producer, path), _ = offer
                    yield Edge(producer, position, argument, value_path, path, inferred=True)
        own_arguments = {normalise_name(argument) for argument, _ in call.arguments}
        for name, kind in signatures.returns.get(call.tool, {}).items():
            plain = normalise_name(name)
            if plain not in own_arguments and not plain.endswith(CHANGING_NAMES):
                offers[plain] = None if plain in offers else ((position, (name,)), kind)


def last_name(path: Path) -> str:
    """The last name on a way into a value; "" where it has none."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def normalise_name(name: str) -> str:
    """A name without its spelling: ``accountID``, ``AccountId`` and ``account_id`` are one."""
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()


def _leaves(value: Value, path: Path = (), depth: int = 0) -> Iterator[tuple[Path, str]]:
    """The texts and numbers in a value that say something, as texts, with the way to each."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key), depth + 1)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _leaves(item, (*path, position), depth + 1)
    else:
        text = _value_text(value)
        if text is not None:
            yield path, text


def _value_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value if len(value) >= MIN_CHARS else None
    if type(value) in (int, float):
        text = repr(value)
        return text if len(text.lstrip("-")) >= MIN_CHARS else None
    return None
