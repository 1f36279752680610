"""A policy at work: what it does to arguments before they are compared, and which pairs it accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planner_eval.base.errors import PolicyError
from planner_eval.base.text import shortened
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.plan.canonical import value_key
from planner_eval.plan.model import Arguments, Call, Plan, Ref, Template, Value
from planner_eval.plan.walk import holds, map_leaves
from planner_eval.policy import NO_TERMS, Policy, Terms
from planner_eval.policy.rule import NOTHING, Rule
from planner_eval.policy.values import LEAVES, as_bag, as_set, casefold, split


class Rules:
    """The rules of one policy and of one gold plan's terms, ready for use on many arguments.

    ``normalise`` and ``matcher`` are what :func:`planner_eval.comparison.align.match` takes; None where the
    policy leaves values as they are.

    Args:
        policy: The policy.
        terms: What the gold plan leaves open.
    """

    def __init__(self, policy: Policy, terms: Terms = NO_TERMS) -> None:
        self.policy, self.terms = policy, terms
        self._rules: dict[tuple[str | None, str, str], Rule | None] = {}
        changes = policy.defaults or any(
            rule.compare or rule.aliases or rule.default is not NOTHING for rule in policy.rules
        )
        open_values = terms.accepted or terms.omittable
        asks = any(rule.one_sided for rule in policy.rules) or policy.wildcards or open_values
        self.normalise = self.normalised if changes else None
        self.matcher = self.matches if asks else None

    def rule(self, call: Call | None, argument: str) -> Rule | None:
        """The rule that holds for an argument, looked up once."""
        key = (None, "", argument) if call is None else (call.app, call.name, argument)
        if key not in self._rules:
            self._rules[key] = self.policy.rule(*key)
        return self._rules[key]

    def normalised(self, plan: Plan, position: int, arguments: Arguments) -> Arguments:
        """A call's arguments as the policy compares them."""
        call = plan.calls[position] if position < len(plan.calls) else None
        found = []
        for name, value in arguments:
            rule = self.rule(call, name) or _AS_IT_IS
            if "ignore" in rule.compare:
                continue
            value, default = normal(rule, value, plan), self._default(rule, call, name)
            if default is NOTHING or not _equal(value, normal(rule, default, plan)):
                found.append((name, value))
        return tuple(found)

    def _default(self, rule: Rule, call: Call | None, argument: str) -> Value:
        """What the tool takes where the argument is left out; NOTHING where that is not known."""
        if rule.default is not NOTHING or call is None or not self.policy.defaults:
            return rule.default
        known = self.policy.defaults
        return known.get((call.tool, argument), known.get((call.name, argument), NOTHING))

    def matches(self, call: Call | None, argument: str, ours: Value, theirs: Value) -> bool:
        """Whether the prediction's value will do for gold's; both are normalised already."""
        rule = self.rule(call, argument)
        compare = rule.compare if rule is not None else ()
        if ours is MISSING:
            omittable = self.terms.omittable.get(call.id, ()) if call is not None else ()
            return "optional" in compare or argument in omittable
        if theirs is MISSING:
            return "optional" in compare or "extra" in compare
        if "any" in compare or any(_equal(theirs, wild) for wild in self.policy.wildcards):
            return True
        if holds(ours, _LINKED) or holds(theirs, _LINKED):
            return False
        if call is not None and self._accepted(call, argument, ours, rule):
            return True
        return rule is not None and _asked(rule, ours, theirs)

    def _accepted(self, call: Call, argument: str, ours: Value, rule: Rule | None) -> bool:
        """Whether a value that gold accepts besides its own will do; a rule asks of it as of gold's own."""
        values = self.terms.accepted.get(call.id, {}).get(argument, ())
        if rule is None:
            return any(_equal(ours, value) for value in values)
        forms = [normal(rule, value, Plan()) for value in values]
        return any(_equal(ours, value) or _asked(rule, ours, value) for value in forms)


_AS_IT_IS = Rule()
_LINKED = (Ref, Template)


class _Own(list[int | None]):
    """Positions in place of numbers, for values of one and the same plan."""

    def __getitem__(self, position: Any) -> Any:
        return position


_OWN = _Own()
_SETS = frozenset({"set", "subset", "superset"})


def _equal(one: Value, other: Value) -> bool:
    return bool(value_key(one, _OWN) == value_key(other, _OWN))


def normal(rule: Rule, value: Value, plan: Plan) -> Value:
    """A value in the form that a rule compares; references stay as they are.

    >>> normal(Rule(compare=("casefold", "set")), "Wifi, pool", Plan())
    ['pool', 'wifi']
    """
    for name in rule.compare:
        if name in LEAVES:
            value = map_leaves(LEAVES[name], value)
    if rule.aliases:
        value = map_leaves(_renamer(rule), value)
    if "unordered" in rule.compare:
        return as_bag(value, _order_in(plan))
    return as_set(value, _order_in(plan)) if _SETS.intersection(rule.compare) else value


def _renamer(rule: Rule) -> Callable[[Value], Value]:
    names = {casefold(name): casefold(name) for name in rule.aliases.values()}
    names |= {casefold(alias): casefold(name) for alias, name in rule.aliases.items()}
    return lambda value: names.get(casefold(value), value) if type(value) is str else value


def _order_in(plan: Plan) -> Callable[[Value], str]:
    """An order of items that depends on what they are; a reference is its producer's name and literals."""

    def order(value: Value) -> str:
        if isinstance(value, Ref):
            call = plan.calls[value.call]
            given = sorted((name, repr(v)) for name, v in call.arguments if not holds(v, _LINKED))
            return f"ref {call.app} {call.name} {given} {value.path}"
        return repr(value_key(value, _OWN))

    return order


def _asked(rule: Rule, ours: Value, theirs: Value) -> bool:
    """The questions that a rule can ask of two literals; one yes is enough."""
    if any(_equal(ours, normal(rule, value, Plan())) for value in rule.accepted):
        return True
    if rule.tolerance is not None or rule.relative is not None:
        return _close(rule, ours, theirs)
    if "subset" in rule.compare:
        return _within(ours, theirs)
    if "superset" in rule.compare:
        return _within(theirs, ours)
    if rule.pattern is not None:
        return isinstance(ours, str) and re.fullmatch(rule.pattern, ours, re.DOTALL) is not None
    return rule.function is not None and _answered(rule, rule.function, ours, theirs)


def _answered(rule: Rule, function: Callable[[Value, Value], bool], ours: Value, theirs: Value) -> bool:
    """What a function of the user's says of two values.

    Raises:
        PolicyError: it fails; names the rule and the values.
    """
    try:
        return bool(function(ours, theirs))
    except Exception as error:
        named = getattr(function, "__name__", "function")
        values = f"{shortened(repr(ours), 40)} (the prediction's) and {shortened(repr(theirs), 40)} (gold's)"
        reason = f"{type(error).__name__}: {error}"
        raise PolicyError(f"{rule.where or 'a rule'}: {named!r} failed on {values}: {reason}") from error


def _close(rule: Rule, ours: Value, theirs: Value) -> bool:
    """Numbers within the rule's tolerance, item by item in lists and fields."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            _equal(one, other) or _close(rule, one, other) for one, other in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            _equal(ours[key], theirs[key]) or _close(rule, ours[key], theirs[key]) for key in theirs
        )
    if type(ours) not in (int, float) or type(theirs) not in (int, float):
        return False
    try:
        return bool(abs(ours - theirs) <= max(rule.tolerance or 0, abs(theirs) * (rule.relative or 0)))
    except OverflowError:
        return False


def _within(part: Value, whole: Value) -> bool:
    """Whether every item, or every field, of one value is in the other."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _equal(item, whole[key]) for key, item in part.items())
    items, among = split(part), split(whole)
    if items is None or among is None:
        return False
    known = {repr(value_key(item, _OWN)) for item in among}
    return all(repr(value_key(item, _OWN)) in known for item in items)
