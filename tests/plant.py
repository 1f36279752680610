"""Planting one known mistake in a plan, so that a test knows what a comparison must find."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from planner_eval.plan.canonical import NumberedPlan
from planner_eval.plan.model import Call, Edge, Plan, Ref, Template, Unresolved, references


@dataclass(frozen=True)
class Planted:
    """A plan with one mistake, the code of its edit, and where it is: the call of gold or of pred."""

    plan: Plan
    code: str
    gold: int | None = None
    argument: str | None = None
    at: tuple[str | int, ...] = ()
    pred: int | None = None


@dataclass(frozen=True)
class Root:
    """A plan with one mistake and its consequences, and the call of gold, or the added call, that has it."""

    plan: Plan
    gold: int | None = None
    pred: int | None = None


KINDS: dict[str, Callable[[Plan, Random], Planted | None]] = {}
ROOTS: dict[str, Callable[[Plan, Random], Root | None]] = {}


def kept(kinds: dict[str, Any]) -> Callable[[Any], Any]:
    """Keep a kind of mistake by its name; of a plan that cannot express it, it makes None."""

    def keep(plant: Callable[[Plan, Random], Any]) -> Any:
        def planted(plan: Plan, random: Random) -> Any:
            try:
                return plant(plan, random)
            except IndexError:  # of nothing to choose from
                return None

        kinds[plant.__name__] = planted
        return planted

    return keep


def rebuild(calls: list[Call], answer: Any, place: dict[int, int], lost: dict[int, str]) -> Plan:
    """A plan of `calls` in their order, references moved to `place`, those to `lost` calls unresolved."""

    def moved(value: Any) -> Any:
        if isinstance(value, Ref):
            if value.call in place:
                return Ref(place[value.call], value.path)
            return Unresolved(lost[value.call], value.path)
        if isinstance(value, list):
            return [moved(item) for item in value]
        if isinstance(value, dict):
            return {key: moved(item) for key, item in value.items()}
        if isinstance(value, Template):
            return Template(tuple(p if isinstance(p, str) else moved(p) for p in value.parts))
        return value

    new = tuple(
        Call(f"n{i}", call.name, tuple((n, moved(v)) for n, v in call.arguments), call.app)
        for i, call in enumerate(calls)
    )
    edges = tuple(
        Edge(ref.call, i, name, at, ref.path)
        for i, call in enumerate(new)
        for name, value in call.arguments
        for at, ref in references(value)
        if isinstance(ref, Ref)
    )
    named = None if answer is None else tuple((name, moved(value)) for name, value in answer)
    return Plan(new, edges, named)


def in_order(plan: Plan, order: list[int]) -> Plan:
    place = {old: new for new, old in enumerate(order)}
    return rebuild([plan.calls[old] for old in order], plan.answer, place, {})


def producers_first(plan: Plan, random: Random) -> list[int] | None:
    """The calls in a random order in which producers come first; None where there is none."""
    waits: dict[int, set[int]] = {at: set() for at in range(len(plan.calls))}
    for edge in plan.edges:
        waits[edge.consumer].add(edge.producer)
    order: list[int] = []
    while waits:
        ready = [at for at, needed in waits.items() if needed.isdisjoint(waits)]
        if not ready:
            return None
        order.append(random.choice(ready))
        del waits[order[-1]]
    return order


def topological(plan: Plan, random: Random) -> Plan | None:
    """The same plan in a random order that writes producers first; None where there is none."""
    order = producers_first(plan, random)
    return None if order is None else in_order(plan, order)


def with_call(plan: Plan, position: int, call: Call) -> Plan:
    """The plan with one call changed; its references mean the same calls."""
    calls = list(plan.calls)
    calls[position] = call
    return rebuild(calls, plan.answer, {at: at for at in range(len(calls))}, {})


def with_argument(plan: Plan, position: int, name: str, value: Any) -> Plan:
    """The plan with one argument's value changed."""
    call = plan.calls[position]
    given = tuple((key, value if key == name else old) for key, old in call.arguments)
    return with_call(plan, position, replace(call, arguments=given))


def without(plan: Plan, position: int) -> Plan:
    """The plan without one call; references to it are unresolved."""
    kept = [at for at in range(len(plan.calls)) if at != position]
    place = {old: new for new, old in enumerate(kept)}
    return rebuild([plan.calls[at] for at in kept], plan.answer, place, {position: "lost"})


def users(plan: Plan, position: int) -> list[int]:
    """Who refers to a call: positions, each once; the answer is -1."""
    found = {edge.consumer for edge in plan.edges if edge.producer == position}
    for _, value in plan.answer or ():
        if any(isinstance(ref, Ref) and ref.call == position for _, ref in references(value)):
            found.add(-1)
    return sorted(found)


def _unrepeated(plan: Plan) -> list[tuple[int, str, Any]]:
    """Position, name and value of each argument that its call gives once."""
    return [
        (at, name, value)
        for at, call in enumerate(plan.calls)
        for name, value in call.arguments
        if [n for n, _ in call.arguments].count(name) == 1
    ]


def _literals(plan: Plan) -> list[tuple[int, str, Any]]:
    return [(a, n, v) for a, n, v in _unrepeated(plan) if next(references(v), None) is None]


def _whole_references(plan: Plan) -> list[tuple[int, str, Ref]]:
    return [(a, n, v) for a, n, v in _unrepeated(plan) if isinstance(v, Ref)]


@kept(KINDS)
def call_missing(plan: Plan, random: Random) -> Planted | None:
    at = random.choice([at for at in range(len(plan.calls)) if not users(plan, at)])
    return Planted(without(plan, at), "call.missing", at)


@kept(KINDS)
def call_extra(plan: Plan, random: Random) -> Planted | None:
    """Add a call: of a tool of its own, or of one that the plan calls too."""
    app, name = None, "unasked"
    if plan.calls and random.random() < 0.5:
        model = random.choice(plan.calls)
        app, name = model.app, model.name
    return _inserted(plan, Call("new", name, (("unasked", "value"),), app), "call.extra", random)


def _inserted(plan: Plan, call: Call, code: str, random: Random, after: int = -1) -> Planted:
    at = random.randint(after + 1, len(plan.calls))
    place = {old: old + (old >= at) for old in range(len(plan.calls))}
    calls = list(plan.calls)
    calls.insert(at, call)
    return Planted(rebuild(calls, plan.answer, place, {}), code, pred=at)


@kept(KINDS)
def call_duplicated(plan: Plan, random: Random) -> Planted | None:
    """Make one call twice; not one of a circle, for the copy would refer to its original."""
    numbers = NumberedPlan(plan, {}).numbers
    at = random.choice([at for at in range(len(plan.calls)) if numbers[at] is not None])
    last = max([at, *(e.producer for e in plan.edges if e.consumer == at)])
    return _inserted(plan, plan.calls[at], "call.duplicated", random, after=last)


@kept(KINDS)
def call_replaced(plan: Plan, random: Random) -> Planted | None:
    """Call another tool with the same arguments; not for a call that shares nothing with anything."""
    if not plan.calls:
        return None
    at = random.randrange(len(plan.calls))
    if not plan.calls[at].arguments and not users(plan, at):
        return None
    others = [c.name for c in plan.calls if (c.app, c.name) != (plan.calls[at].app, plan.calls[at].name)]
    name = random.choice([*others, "another_tool"])
    if name == plan.calls[at].name:
        return None
    return Planted(with_call(plan, at, replace(plan.calls[at], name=name)), "call.replaced", at)


@kept(KINDS)
def argument_missing(plan: Plan, random: Random) -> Planted | None:
    at, name, _ = random.choice(_unrepeated(plan))
    given = tuple((n, v) for n, v in plan.calls[at].arguments if n != name)
    changed = with_call(plan, at, replace(plan.calls[at], arguments=given))
    return Planted(changed, "argument.missing", at, name)


@kept(KINDS)
def argument_extra(plan: Plan, random: Random) -> Planted | None:
    if not plan.calls:
        return None
    at = random.randrange(len(plan.calls))
    given = list(plan.calls[at].arguments)
    given.insert(random.randint(0, len(given)), ("unasked", "value"))
    changed = replace(plan.calls[at], arguments=tuple(given))
    return Planted(with_call(plan, at, changed), "argument.extra", at, "unasked")


@kept(KINDS)
def argument_value(plan: Plan, random: Random) -> Planted | None:
    """Change one literal, at times to the value that a call of the same name has there."""
    places = _literals(plan)
    at, name, value = random.choice(places)
    others = [v for a, n, v in places if n == name and a != at and type(v) is type(value) and v != value]
    new = random.choice([*others, "something else", 987654321])
    if type(new) is type(value) and new == value:
        return None
    if isinstance(new, (list, dict)):
        return None  # where within it is another matter
    alike = type(new) is type(value) or {type(new), type(value)} == {int, float} or value is None
    code = "argument.value" if alike else "argument.type"
    return Planted(with_argument(plan, at, name, new), code, at, name)


@kept(KINDS)
def reference_literal(plan: Plan, random: Random) -> Planted | None:
    """Put a literal where a reference stands, within lists and objects too."""
    places = [
        (at, name, value, inner)
        for at, name, value in _unrepeated(plan)
        if not isinstance(value, Template)
        for inner, ref in references(value)
        if isinstance(ref, Ref) and not _in_template(value, inner)
    ]
    at, name, value, inner = random.choice(places)
    changed = with_argument(plan, at, name, put(value, inner, "made up"))
    return Planted(changed, "reference.literal", at, name, inner)


def _in_template(value: Any, path: tuple[str | int, ...]) -> bool:
    for step in path:
        if isinstance(value, Template):
            return True
        value = value[step]
    return False


def put(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    step, *rest = path
    if isinstance(value, list):
        return [put(item, tuple(rest), new) if at == step else item for at, item in enumerate(value)]
    return {key: put(item, tuple(rest), new) if key == step else item for key, item in value.items()}


@kept(KINDS)
def reference_unwanted(plan: Plan, random: Random) -> Planted | None:
    """Take an earlier call's output where a literal stands."""
    at, name = random.choice([(at, name) for at, name, _ in _literals(plan) if at > 0])
    changed = with_argument(plan, at, name, Ref(random.randrange(at), ("made_up",)))
    return Planted(changed, "reference.unwanted", at, name)


@kept(KINDS)
def reference_producer(plan: Plan, random: Random) -> Planted | None:
    numbers = NumberedPlan(plan, {}).numbers
    places = [
        (at, name, Ref(other, ref.path))
        for at, name, ref in _whole_references(plan)
        for other in range(at)
        if other != ref.call and numbers[other] != numbers[ref.call]
    ]
    at, name, ref = random.choice(places)
    return Planted(with_argument(plan, at, name, ref), "reference.producer", at, name)


@kept(KINDS)
def reference_output(plan: Plan, random: Random) -> Planted | None:
    at, name, ref = random.choice(_whole_references(plan))
    path = random.choice([(*ref.path, 0), (*ref.path[:-1], "another"), ("other",)])
    if path == ref.path:
        return None
    return Planted(with_argument(plan, at, name, Ref(ref.call, path)), "reference.output", at, name)


@kept(KINDS)
def order_broken(plan: Plan, random: Random) -> Planted | None:
    places = [
        (at, max(needed))
        for at in range(len(plan.calls))
        if (needed := [e.producer for e in plan.edges if e.consumer == at]) and max(needed) < at
    ]
    if not places or any(edge.producer >= edge.consumer for edge in plan.edges):
        return None
    at, producer = random.choice(places)
    order = [i for i in range(len(plan.calls)) if i != at]
    order.insert(order.index(producer), at)
    return Planted(in_order(plan, order), "order.broken", at)


def served(plan: Plan) -> list[int]:
    """The calls that at least two other calls depend on, directly or by way of others."""
    below: list[set[int]] = [set() for _ in plan.calls]
    for at in reversed(range(len(plan.calls))):  # producers are written first in the plans used here
        for user in users(plan, at):
            if user > at:
                below[at] |= {user, *below[user]}
    return [at for at, found in enumerate(below) if len(found) >= 2]


def _calls_with(plan: Plan, change: Callable[[int, str, Any], Any]) -> list[Call]:
    """The calls with each top-level argument value changed; None from `change` drops the argument."""
    calls = []
    for at, call in enumerate(plan.calls):
        given = [(name, change(at, name, value)) for name, value in call.arguments]
        calls.append(replace(call, arguments=tuple((n, v) for n, v in given if v is not DROP)))
    return calls


DROP = object()


@kept(ROOTS)
def missing(plan: Plan, random: Random) -> Root | None:
    """Leave out a call; those who need it make its result up, do without it, or refer to nothing."""
    at = random.choice(served(plan))

    def change(_: int, __: str, value: Any) -> Any:
        if isinstance(value, Ref) and value.call == at:
            return random.choice([f"made up {random.random()}", DROP, Unresolved("lost", value.path)])
        return value

    calls = _calls_with(plan, change)
    kept = [i for i in range(len(calls)) if i != at]
    place = {old: new for new, old in enumerate(kept)}
    return Root(rebuild([calls[i] for i in kept], plan.answer, place, {at: "lost"}), gold=at)


@kept(ROOTS)
def replaced(plan: Plan, random: Random) -> Root | None:
    """Call another tool, whose outputs have other names and whose arguments partly differ."""
    at = random.choice(served(plan))
    call = plan.calls[at]
    given = [(n, "other" if type(v) is str and random.random() < 0.3 else v) for n, v in call.arguments]
    if len(given) > 1 and random.random() < 0.5:
        del given[random.randrange(len(given))]

    def change(_: int, __: str, value: Any) -> Any:
        if isinstance(value, Ref) and value.call == at and random.random() < 0.7:
            return Ref(at, ("other",))
        return value

    calls = _calls_with(plan, change)
    calls[at] = replace(calls[at], name="another_tool", arguments=tuple(given))
    return Root(rebuild(calls, plan.answer, {i: i for i in range(len(calls))}, {}), gold=at)


@kept(ROOTS)
def value(plan: Plan, random: Random) -> Root | None:
    """Change a literal of a call that others need; where they repeat it, they repeat the mistake."""
    places = [
        (at, name, old)
        for at in served(plan)
        for name, old in plan.calls[at].arguments
        if type(old) is str
        and len(old) > 3
        # the repeated mistake must not come first: only calls that depend on this one repeat it
        and not any(old == v for i in range(at) for _, v in plan.calls[i].arguments)
    ]
    at, _, old = random.choice(places)
    below = set(users(plan, at)) | {at}
    calls = _calls_with(plan, lambda i, _, v: "a wrong value" if i in below and v == old else v)
    return Root(rebuild(calls, plan.answer, {i: i for i in range(len(calls))}, {}), gold=at)


@kept(ROOTS)
def extra(plan: Plan, random: Random) -> Root | None:
    """Make a call that nobody asked for and feed two calls from it."""
    at = random.choice(served(plan))
    fed = [user for user in users(plan, at) if user > at][:2]
    new = at + 1

    def change(i: int, _: str, old: Any) -> Any:
        return Ref(-1, old.path) if i in fed and isinstance(old, Ref) and old.call == at else old

    calls = _calls_with(plan, change)
    calls.insert(new, Call("x", "unasked", (("unasked", "value"),)))
    place = {i: i + (i >= new) for i in range(len(plan.calls))} | {-1: new}
    return Root(rebuild(calls, plan.answer, place, {}), pred=new)


@kept(ROOTS)
def lone_value(plan: Plan, random: Random) -> Root | None:
    """Change one argument of a call that others need; nothing else changes in writing."""
    at = random.choice([at for at in served(plan) if plan.calls[at].arguments])
    call = plan.calls[at]
    chosen = random.randrange(len(call.arguments))
    given = tuple((n, "a wrong value" if i == chosen else v) for i, (n, v) in enumerate(call.arguments))
    return Root(with_call(plan, at, replace(call, arguments=given)), gold=at)
