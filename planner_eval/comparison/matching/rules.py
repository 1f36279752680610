"""A policy at work: what it does to arguments before they are compared, and what it takes for right.

Verdict, pairing, edits and figures all ask here. The parts of a rule act in one order: what need not be
compared (``ignore``, ``default``), what need not be there (``optional``, ``extra``, gold's omittable
arguments), values for which any will do (``any``, wildcards as gold writes them), then gold's value and each
accepted one in turn: equal in form (:class:`planner_eval.policy.values.Form`), as collections whose items
agree, within tolerance number by number; at last pattern and function, of what was written. One yes is
enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planner_eval.base.errors import PolicyError
from planner_eval.base.text import shortened
from planner_eval.comparison.matching.agreement import Alike, Items, agree
from planner_eval.comparison.matching.pairing import Given, Missing
from planner_eval.plan.canonical import LEFT_OUT, value_key
from planner_eval.plan.model import Arguments, Call, Plan, Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds
from planner_eval.policy import NO_TERMS, Policy, Terms
from planner_eval.policy.rule import NOTHING, Rule
from planner_eval.policy.values import Form


class Prepared:
    """A rule, ready for use on many values."""

    __slots__ = ("accepted", "default", "form", "items", "rule")

    def __init__(self, rule: Rule, default: Value) -> None:
        self.rule = rule
        self.form = Form(rule.compare, rule.aliases)
        self.items = Items(rule.compare, rule.tolerance, rule.relative)
        self.accepted = [self.given(value) for value in rule.accepted]
        self.default = None if default is NOTHING else self.given(default)

    def given(self, value: Value) -> Given:
        """A value of the rule's or of gold's terms, in its form and as written."""
        return Given(self.form.of(value), value)


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
        self._prepared: dict[tuple[str | None, str, str], Prepared] = {}
        self._tools: tuple[Plan | None, list[str]] = None, []
        changes = policy.defaults or any(
            rule.compare or rule.aliases or rule.default is not NOTHING for rule in policy.rules
        )
        open_values = terms.accepted or terms.omittable
        asks = policy.wildcards or policy.defaults or open_values
        self.normalise = self.normalised if changes else None
        self.matcher = self.matches if asks or any(rule.one_sided for rule in policy.rules) else None

    def rule(self, call: Call | None, argument: str) -> Prepared:
        """The rule that holds for an argument, looked up once."""
        key = (None, "", argument) if call is None else (call.app, call.name, argument)
        found = self._prepared.get(key)
        if found is None:
            rule = self.policy.rule(*key) or _AS_IT_IS
            default = rule.default
            if default is NOTHING and call is not None and self.policy.defaults:
                known = self.policy.defaults
                default = known.get((call.tool, argument), known.get((call.name, argument), NOTHING))
            found = self._prepared[key] = Prepared(rule, default)
        return found

    def normalised(self, plan: Plan, position: int, arguments: Arguments) -> Arguments:
        """A call's arguments as the policy compares them."""
        if self._tools[0] is not plan:
            self._tools = plan, [call.tool for call in plan.calls]
        call = plan.calls[position] if position < len(plan.calls) else None
        found = []
        for name, value in arguments:
            prepared = self.rule(call, name)
            if "ignore" in prepared.rule.compare:
                found.append((name, LEFT_OUT))
                continue
            made = prepared.form.of(value, self._tools[1])
            default = prepared.default
            left = default is not None and _equal(made, default.value)
            found.append((name, LEFT_OUT if left else made))
        return tuple(found)

    def agree(self, call: Call, argument: str, ours: Value, theirs: Value) -> bool:
        """Whether one literal will do for another, both as written."""
        prepared = self.rule(call, argument)
        if "ignore" in prepared.rule.compare:
            return True
        one, other = prepared.given(ours), prepared.given(theirs)
        return _equal(one.value, other.value) or self.matches(call, argument, one, other, _equal)

    def matches(
        self, call: Call | None, argument: str, ours: Given | Missing, theirs: Given | Missing, alike: Alike
    ) -> bool:
        """Whether the prediction's value will do for gold's where the two are not alike.

        Args:
            call: Gold's call; None for the answer.
            argument: The argument.
            ours: The prediction's value, in its form and as written; MISSING where it gives none.
            theirs: Gold's, likewise.
            alike: Whether two values, or items of them, are equal, references by what they refer to.
        """
        prepared = self.rule(call, argument)
        compare = prepared.rule.compare
        if isinstance(ours, Missing):
            omittable = self.terms.omittable.get(call.id, ()) if call is not None else ()
            if "optional" in compare or argument in omittable:
                return True
        if isinstance(theirs, Missing) and ("optional" in compare or "extra" in compare):
            return True
        one = prepared.default if isinstance(ours, Missing) else ours
        other = prepared.default if isinstance(theirs, Missing) else theirs
        if one is None or other is None:
            return False
        if "any" in compare or any(_equal(other.written, wild) for wild in self.policy.wildcards):
            return True
        given = self.terms.accepted.get(call.id, {}).get(argument, ()) if call is not None else ()
        accepted = [prepared.given(value) for value in given] if given else ()
        return any(_right(prepared, one, good, alike) for good in (other, *prepared.accepted, *accepted))


_AS_IT_IS = Rule()
_LINKED = (Ref, Unresolved, Template)


class _Own(list[int | None]):
    """Positions in place of numbers, for values of one and the same plan."""

    def __getitem__(self, position: Any) -> Any:
        return position


_OWN = _Own()


def _equal(one: Value, other: Value) -> bool:
    return bool(value_key(one, _OWN) == value_key(other, _OWN))


def _right(prepared: Prepared, ours: Given, theirs: Given, alike: Alike) -> bool:
    """Whether a value will do for one of those that are right; one yes is enough."""
    rule = prepared.rule
    if agree(ours.value, theirs.value, prepared.items, alike):
        return True
    if rule.pattern is None and rule.function is None:
        return False
    if holds(ours.written, _LINKED) or holds(theirs.written, _LINKED):
        return False
    text = ours.written if isinstance(ours.written, str) else None
    if rule.pattern is not None and text is not None and re.fullmatch(rule.pattern, text, re.DOTALL):
        return True
    return rule.function is not None and _answered(rule, rule.function, ours.written, theirs.written)


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
