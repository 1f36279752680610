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

from planner_eval.base.errors import PolicyError
from planner_eval.base.text import shortened
from planner_eval.comparison.matching.agreement import agree
from planner_eval.comparison.matching.pairing import MISSING, Asked
from planner_eval.plan.canonical import LEFT_OUT, OWN, value_key
from planner_eval.plan.model import Arguments, Call, Plan, Ref, Template, Unresolved, Value
from planner_eval.plan.walk import holds
from planner_eval.policy import NO_TERMS, Policy, Terms
from planner_eval.policy.rule import NOTHING, Rule


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
        self._rules: dict[tuple[str | None, str, str], Rule] = {}
        self._tools: tuple[Plan | None, list[str]] = None, []
        changes = policy.defaults or any(
            rule.compare or rule.aliases or rule.default is not NOTHING for rule in policy.rules
        )
        asks = policy.wildcards or policy.defaults or terms.accepted or terms.omittable
        self.normalise = self.normalised if changes else None
        self.matcher = self.matches if asks or any(rule.one_sided for rule in policy.rules) else None

    def rule(self, call: Call | None, argument: str) -> Rule:
        """The rule that holds for an argument, looked up once."""
        key = (None, "", argument) if call is None else (call.app, call.name, argument)
        found = self._rules.get(key)
        if found is None:
            found = self._rules[key] = self.policy.rule(*key) or _AS_IT_IS
        return found

    def normalised(self, plan: Plan, position: int, arguments: Arguments) -> Arguments:
        """A call's arguments as the policy compares them."""
        if self._tools[0] is not plan:
            self._tools = plan, [call.tool for call in plan.calls]
        call = plan.calls[position] if position < len(plan.calls) else None
        found = []
        for name, value in arguments:
            rule = self.rule(call, name)
            if "ignore" in rule.compare:
                found.append((name, LEFT_OUT))
                continue
            made, default = rule.form.of(value, self._tools[1]), self._default(rule, call, name)
            left = default is not NOTHING and _equal(made, rule.form.of(default))
            found.append((name, LEFT_OUT if left else made))
        return tuple(found)

    def _default(self, rule: Rule, call: Call | None, argument: str) -> Value:
        """What the tool takes where the argument is left out; NOTHING where that is not known."""
        if rule.default is not NOTHING or call is None or not self.policy.defaults:
            return rule.default
        known = self.policy.defaults
        return known.get((call.tool, argument), known.get((call.name, argument), NOTHING))

    def agree(self, call: Call, argument: str, ours: Value, theirs: Value) -> bool:
        """Whether one literal will do for another, both as written."""
        rule = self.rule(call, argument)
        one, other = rule.form.of(ours), rule.form.of(theirs)
        if "ignore" in rule.compare or _equal(one, other):
            return True
        return self.matches(call, argument, one, other, Asked(_equal, lambda: ours, lambda: theirs))

    def matches(self, call: Call | None, argument: str, ours: Value, theirs: Value, asked: Asked) -> bool:
        """Whether the prediction's value will do for gold's where the two are not alike.

        Args:
            call: Gold's call; None for the answer.
            argument: The argument.
            ours: The prediction's value in its form; MISSING where it gives none.
            theirs: Gold's, likewise.
            asked: What else there is to know of the two values.
        """
        rule = self.rule(call, argument)
        if ours is MISSING or theirs is MISSING:
            omittable = self.terms.omittable.get(call.id, ()) if call is not None else ()
            if "optional" in rule.compare or (argument in omittable if ours is MISSING else False):
                return True
            if theirs is MISSING and "extra" in rule.compare:
                return True
            default = self._default(rule, call, argument)
            if default is NOTHING:
                return False
            form = rule.form.of(default)
            if ours is MISSING:
                ours, asked = form, asked._replace(ours=lambda: default)
            else:
                theirs, asked = form, asked.of(default)
        wild, given = self.policy.wildcards, self.terms.accepted
        if not (rule.weighs or wild or given):
            return False
        if "any" in rule.compare or (wild and any(_equal(asked.theirs(), one) for one in wild)):
            return True
        more = given.get(call.id, {}).get(argument, ()) if call is not None and given else ()
        if _right(rule, ours, theirs, asked):
            return True
        accepted = ((value, rule.form.of(value)) for value in (*rule.accepted, *more))
        return any(_right(rule, ours, form, asked.of(value)) for value, form in accepted)


_AS_IT_IS = Rule()
_LINKED = (Ref, Unresolved, Template)


def _equal(one: Value, other: Value) -> bool:
    return bool(value_key(one, OWN) == value_key(other, OWN))


def _right(rule: Rule, ours: Value, theirs: Value, asked: Asked) -> bool:
    """Whether a value will do for one of those that are right; one yes is enough."""
    if agree(ours, theirs, rule, asked.alike):
        return True
    if rule.pattern is None and rule.function is None:
        return False
    one, other = asked.ours(), asked.theirs()
    if holds(one, _LINKED) or holds(other, _LINKED):
        return False
    if rule.pattern is not None and isinstance(one, str) and re.fullmatch(rule.pattern, one, re.DOTALL):
        return True
    return rule.function is not None and _answered(rule, rule.function, one, other)


def _answered(rule: Rule, function: Callable[[Value, Value], bool], ours: Value, theirs: Value) -> bool:
    """What a function of the user's says of two values.

    Raises:
        PolicyError: it fails; names the rule and the values.
    """
    try:
        return bool(function(ours, theirs))
    except (Exception, SystemExit) as error:  # a function may not end the command either
        named = getattr(function, "__name__", "function")
        values = f"{shortened(repr(ours), 40)} (the prediction's) and {shortened(repr(theirs), 40)} (gold's)"
        reason = f"{type(error).__name__}: {error}"
        raise PolicyError(f"{rule.where or 'a rule'}: {named!r} failed on {values}: {reason}") from error
