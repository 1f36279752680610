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
        has_terms = policy.wildcards or policy.defaults or terms.accepted or terms.omittable
        self.normalise = self.normalised if changes else None
        self.matcher = self.matches if has_terms or any(rule.one_sided for rule in policy.rules) else None

    def rule(self, call: Call | None, argument: str) -> Rule:
        """The rule that holds for an argument, looked up once."""
        key = (None, "", argument) if call is None else (call.app, call.name, argument)
        stored = self._rules.get(key)
        if stored is None:
            stored = self._rules[key] = self.policy.rule(*key) or _AS_IT_IS
        return stored

    def normalised(self, plan: Plan, position: int, arguments: Arguments) -> Arguments:
        """A call's arguments as the policy compares them."""
        if self._tools[0] is not plan:
            self._tools = plan, [call.tool for call in plan.calls]
        call = plan.calls[position] if position < len(plan.calls) else None
        normalised = []
        for name, value in arguments:
            rule = self.rule(call, name)
            if "ignore" in rule.compare:
                normalised.append((name, LEFT_OUT))
                continue
            normal_form, default = rule.form.of(value, self._tools[1]), self._default(rule, call, name)
            left = default is not NOTHING and _equal(normal_form, rule.form.of(default))
            normalised.append((name, LEFT_OUT if left else normal_form))
        return tuple(normalised)

    def _default(self, rule: Rule, call: Call | None, argument: str) -> Value:
        """What the tool takes where the argument is left out; NOTHING where that is not known."""
        if rule.default is not NOTHING or call is None or not self.policy.defaults:
            return rule.default
        defaults = self.policy.defaults
        return defaults.get((call.tool, argument), defaults.get((call.name, argument), NOTHING))

    def agree(self, call: Call, argument: str, pred_value: Value, gold_value: Value) -> bool:
        """Whether one literal will do for another, both as written."""
        rule = self.rule(call, argument)
        pred_form, gold_form = rule.form.of(pred_value), rule.form.of(gold_value)
        if "ignore" in rule.compare or _equal(pred_form, gold_form):
            return True
        return self.matches(
            call, argument, pred_form, gold_form, Asked(_equal, lambda: pred_value, lambda: gold_value)
        )

    def matches(
        self, call: Call | None, argument: str, pred_value: Value, gold_value: Value, context: Asked
    ) -> bool:
        """Whether the prediction's value will do for gold's where the two are not alike.

        Args:
            call: Gold's call; None for the answer.
            argument: The argument.
            pred_value: The prediction's value in its form; MISSING where it gives none.
            gold_value: Gold's, likewise.
            context: What else there is to know of the two values.
        """
        rule = self.rule(call, argument)
        if pred_value is MISSING or gold_value is MISSING:
            omittable = self.terms.omittable.get(call.id, ()) if call is not None else ()
            if "optional" in rule.compare or (argument in omittable if pred_value is MISSING else False):
                return True
            if gold_value is MISSING and "extra" in rule.compare:
                return True
            default = self._default(rule, call, argument)
            if default is NOTHING:
                return False
            form = rule.form.of(default)
            if pred_value is MISSING:
                pred_value, context = form, context._replace(ours=lambda: default)
            else:
                gold_value, context = form, context.of(default)
        wildcards, accepted_values = self.policy.wildcards, self.terms.accepted
        if not (rule.weighs or wildcards or accepted_values):
            return False
        if "any" in rule.compare or (
            wildcards and any(_equal(context.theirs(), wildcard) for wildcard in wildcards)
        ):
            return True
        further_values = (
            accepted_values.get(call.id, {}).get(argument, ()) if call is not None and accepted_values else ()
        )
        if _right(rule, pred_value, gold_value, context):
            return True
        accepted = ((value, rule.form.of(value)) for value in (*rule.accepted, *further_values))
        return any(_right(rule, pred_value, form, context.of(value)) for value, form in accepted)


_AS_IT_IS = Rule()
_LINKED = (Ref, Unresolved, Template)


def _equal(first: Value, second: Value) -> bool:
    return bool(value_key(first, OWN) == value_key(second, OWN))


def _right(rule: Rule, pred_value: Value, gold_value: Value, context: Asked) -> bool:
    """Whether a value will do for one of those that are right; one yes is enough."""
    if agree(pred_value, gold_value, rule, context.alike):
        return True
    if rule.pattern is None and rule.function is None:
        return False
    pred_written, gold_written = context.ours(), context.theirs()
    if holds(pred_written, _LINKED) or holds(gold_written, _LINKED):
        return False
    if (
        rule.pattern is not None
        and isinstance(pred_written, str)
        and re.fullmatch(rule.pattern, pred_written, re.DOTALL)
    ):
        return True
    return rule.function is not None and _answered(rule, rule.function, pred_written, gold_written)


def _answered(
    rule: Rule, function: Callable[[Value, Value], bool], pred_value: Value, gold_value: Value
) -> bool:
    """What a function of the user's says of two values.

    Raises:
        PolicyError: it fails; names the rule and the values.
    """
    try:
        return bool(function(pred_value, gold_value))
    except (Exception, SystemExit) as error:  # a function may not end the command either
        function_name = getattr(function, "__name__", "function")
        pred_text, gold_text = shortened(repr(pred_value), 40), shortened(repr(gold_value), 40)
        values = f"{pred_text} (the prediction's) and {gold_text} (gold's)"
        reason = f"{type(error).__name__}: {error}"
        raise PolicyError(
            f"{rule.where or 'a rule'}: {function_name!r} failed on {values}: {reason}"
        ) from error
