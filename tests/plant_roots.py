"""Planting one mistake early in a plan, with what follows from it in the calls that depend on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from planner_eval.plan.model import Call, Plan, Ref, Unresolved
from tests.plant import rebuild, users, with_call


@dataclass(frozen=True)
class Root:
    """A plan with one mistake and its consequences, and the call of gold, or the added call, that has it."""

    plan: Plan
    gold: int | None = None
    pred: int | None = None


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


def missing(plan: Plan, random: Random) -> Root | None:
    """Leave out a call; those who need it make its result up, do without it, or refer to nothing."""
    found = served(plan)
    if not found:
        return None
    at = random.choice(found)

    def change(_: int, __: str, value: Any) -> Any:
        if isinstance(value, Ref) and value.call == at:
            return random.choice([f"made up {random.random()}", DROP, Unresolved("lost", value.path)])
        return value

    calls = _calls_with(plan, change)
    kept = [i for i in range(len(calls)) if i != at]
    place = {old: new for new, old in enumerate(kept)}
    return Root(rebuild([calls[i] for i in kept], plan.answer, place, {at: "lost"}), gold=at)


def replaced(plan: Plan, random: Random) -> Root | None:
    """Call another tool, whose outputs have other names and whose arguments partly differ."""
    found = served(plan)
    if not found:
        return None
    at = random.choice(found)
    given = [
        (n, "other" if type(v) is str and random.random() < 0.3 else v) for n, v in plan.calls[at].arguments
    ]
    if len(given) > 1 and random.random() < 0.5:
        del given[random.randrange(len(given))]

    def change(_: int, __: str, value: Any) -> Any:
        if isinstance(value, Ref) and value.call == at and random.random() < 0.7:
            return Ref(at, ("other",))
        return value

    calls = _calls_with(plan, change)
    calls[at] = replace(calls[at], name="another_tool", arguments=tuple(given))
    return Root(rebuild(calls, plan.answer, {i: i for i in range(len(calls))}, {}), gold=at)


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
    if not places:
        return None
    at, _, old = random.choice(places)
    below = set(users(plan, at)) | {at}
    calls = _calls_with(plan, lambda i, _, v: "a wrong value" if i in below and v == old else v)
    return Root(rebuild(calls, plan.answer, {i: i for i in range(len(calls))}, {}), gold=at)


def extra(plan: Plan, random: Random) -> Root | None:
    """Make a call that nobody asked for and feed two calls from it."""
    found = served(plan)
    if not found:
        return None
    at = random.choice(found)
    fed = [user for user in users(plan, at) if user > at][:2]
    new = at + 1

    def change(i: int, _: str, old: Any) -> Any:
        return Ref(-1, old.path) if i in fed and isinstance(old, Ref) and old.call == at else old

    calls = _calls_with(plan, change)
    calls.insert(new, Call("x", "unasked", (("unasked", "value"),)))
    place = {i: i + (i >= new) for i in range(len(plan.calls))} | {-1: new}
    return Root(rebuild(calls, plan.answer, place, {}), pred=new)


def lone_value(plan: Plan, random: Random) -> Root | None:
    """Change one argument of a call that others need; nothing else changes in writing."""
    found = [at for at in served(plan) if plan.calls[at].arguments]
    if not found:
        return None
    at = random.choice(found)
    call = plan.calls[at]
    chosen = random.randrange(len(call.arguments))
    given = tuple((n, "a wrong value" if i == chosen else v) for i, (n, v) in enumerate(call.arguments))
    return Root(with_call(plan, at, replace(call, arguments=given)), gold=at)


ROOTS = {f.__name__: f for f in (missing, replaced, value, extra, lone_value)}
