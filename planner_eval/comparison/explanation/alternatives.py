"""What else would be right: values that gold's terms, a policy or other gold plans allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.sentences import value_name
from planner_eval.comparison.policy.policy import Policy, Terms
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Call, Plan, Value

AlternativeValues: TypeAlias = Mapping[tuple[str, str], tuple[Value, ...]]
"""Values by the id of gold's call and the argument."""

NO_ALTERNATIVES: AlternativeValues = {}

_MAX_SHOWN_VALUES = 3
"""So many further values are named; of more it is said how many there are."""


class AcceptedValues(NamedTuple):
    """All that says what is right beside gold's own values; false where nothing does.

    Args:
        policy: Its rules may name values.
        terms: What the gold plan leaves open.
        others: What other gold plans have.
    """

    policy: Policy
    terms: Terms
    others: AlternativeValues

    def __bool__(self) -> bool:
        return bool(self.others or self.terms.accepted or self.terms.omittable or self.policy.rules)

    def is_optional(self, call: Call, argument: str) -> bool:
        """Whether gold's terms let an argument be left out.

        Args:
            call: Gold's call.
            argument: The argument.
        """
        return argument in self.terms.omittable.get(call.id, ())

    def said(self, call: Call, argument: str, value: Value, number: Callable[[int], str]) -> str:
        """The values that would be right besides one: ``"NY" or "N.Y."``; empty where none would.

        Args:
            call: Gold's call.
            argument: The argument.
            value: Gold's value.
            number: The number of a call of gold at a position.
        """
        rule = self.policy.rule(call.app, call.name, argument)
        values = {
            value_key(v, OWN_POSITIONS): v
            for v in (
                *(rule.accepted if rule is not None else ()),
                *self.terms.accepted.get(call.id, {}).get(argument, ()),
                *self.others.get((call.id, argument), ()),
            )
        }
        values.pop(value_key(value, OWN_POSITIONS), None)
        if self.is_optional(call, argument):
            values.pop(value_key("", OWN_POSITIONS), None)  # how BFCL writes that an argument may be left out
        texts = [value_name(v, number) for v in list(values.values())[:_MAX_SHOWN_VALUES]]
        texts += [f"{len(values) - _MAX_SHOWN_VALUES} more"] if len(values) > _MAX_SHOWN_VALUES else []
        return " or ".join(texts)


def find_alternative_values(gold: Plan, plans: Iterable[Plan]) -> AlternativeValues:
    """The values of plans that differ from gold in one argument of one call, and in nothing else.

    Of plans that differ in more, one value alone is not right.

    Args:
        gold: The gold plan.
        plans: The plans that are as right.
    """
    values: dict[tuple[str, str], tuple[Value, ...]] = {}
    for plan in plans:
        changed = _find_single_change(gold, plan) if len(plan.calls) == len(gold.calls) else None
        if changed is not None:
            location, value = changed
            values[location] = (*values.get(location, ()), value)
    return values


def _find_single_change(gold: Plan, plan: Plan) -> tuple[tuple[str, str], Value] | None:
    """Where a plan has another value than gold, and which, if it has so once and is else the same."""
    if (gold.answer is None) is not (plan.answer is None) or not _has_same_arguments(
        gold.answer or (), plan.answer or ()
    ):
        return None
    changed = [
        pair
        for pair in zip(gold.calls, plan.calls, strict=True)
        if pair[0].tool != pair[1].tool or not _has_same_arguments(pair[0].arguments, pair[1].arguments)
    ]
    if len(changed) != 1 or changed[0][0].tool != changed[0][1].tool:
        return None
    gold_arguments, plan_arguments = (dict(call.arguments) for call in changed[0])
    if gold_arguments.keys() != plan_arguments.keys():
        return None
    names = [
        name
        for name in gold_arguments
        if value_key(gold_arguments[name], OWN_POSITIONS) != value_key(plan_arguments[name], OWN_POSITIONS)
    ]
    return ((changed[0][0].id, names[0]), plan_arguments[names[0]]) if len(names) == 1 else None


def _has_same_arguments(
    first_arguments: Iterable[tuple[str, Value]], second_arguments: Iterable[tuple[str, Value]]
) -> bool:
    first, second = (
        {name: value_key(value, OWN_POSITIONS) for name, value in arguments}
        for arguments in (first_arguments, second_arguments)
    )
    return first == second
