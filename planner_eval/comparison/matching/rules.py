"""A policy at work: what it does to plans and arguments before they are compared.

Verdict, pairing, edits and figures all ask here. The parts of a rule act in one order: what need not be
compared (``ignore``, ``default``), what need not be there (``optional``, ``extra``, gold's omittable
arguments), values for which any will do (``any``, wildcards as gold writes them), then gold's value and each
accepted one in turn: equal in form (:class:`planner_eval.comparison.policy.values.Form`), as collections
whose items agree, within tolerance number by number; at last pattern and function, of what was written. One
yes is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from planner_eval.base.errors import PolicyError
from planner_eval.base.patterns import Pattern
from planner_eval.base.text import shorten
from planner_eval.comparison.matching.likeness import Tool, assign, find_respellings
from planner_eval.comparison.matching.pairing import MISSING, ComparedValues
from planner_eval.comparison.policy.counting import choose_called_in_order, keep_calls, leave_out_free_calls
from planner_eval.comparison.policy.policy import NO_TERMS, Policy, Terms
from planner_eval.comparison.policy.values import NOTHING, Rule
from planner_eval.plan.canonical import LEFT_OUT, OWN_POSITIONS, NumberedPlan, value_key
from planner_eval.plan.linking import build_plan, move_arguments, replace_arguments
from planner_eval.plan.model import (
    WHOLE_RESULT_NAMES,
    Arguments,
    Bag,
    Call,
    Path,
    Plan,
    Ref,
    Value,
    is_dependent,
    map_leaves,
)
from planner_eval.reading.trace_times import is_failed

# ----------------------------------------------------------------------
# Whether two values agree under a rule, given which of their parts are alike: collections and tolerance.
EqualityTest: TypeAlias = Callable[[Value, Value], bool]
"""Whether two values are equal: (the prediction's, gold's)."""


def agree(pred_value: Value, gold_value: Value, rule: Rule, equal: EqualityTest) -> bool:
    """Whether two values, in their forms, agree.

    Args:
        pred_value: The prediction's.
        gold_value: Gold's.
        rule: What is asked of collections and numbers.
        equal: Which values are equal.
    """
    measured = rule.tolerance is not None or rule.relative is not None

    def is_near(first: Value, second: Value) -> bool:
        return equal(first, second) or (measured and _is_near(first, second, rule, equal))

    if is_near(pred_value, gold_value):
        return True
    subset, superset = "subset" in rule.compare, "superset" in rule.compare
    if type(pred_value) is dict and type(gold_value) is dict:
        return (subset and _has_near_fields(pred_value, gold_value, is_near)) or (
            superset
            and _has_near_fields(
                gold_value, pred_value, lambda pred_item, gold_item: is_near(gold_item, pred_item)
            )
        )
    if type(pred_value) is not Bag or type(gold_value) is not Bag:
        return False
    if not rule.form.set:
        if len(pred_value) != len(gold_value):
            return False
        mismatches = [
            [not is_near(pred_item, gold_item) for gold_item in gold_value] for pred_item in pred_value
        ]
        return not any(mismatches[row][column] for row, column in assign(mismatches))
    within = all(any(is_near(pred_item, gold_item) for gold_item in gold_value) for pred_item in pred_value)
    if within and subset:
        return True
    return (within or superset) and all(
        any(is_near(pred_item, gold_item) for pred_item in pred_value) for gold_item in gold_value
    )


def _has_near_fields(fields: dict[str, Value], all_fields: dict[str, Value], is_near: EqualityTest) -> bool:
    return all(key in all_fields and is_near(item, all_fields[key]) for key, item in fields.items())


def _is_near(pred_value: Value, gold_value: Value, rule: Rule, equal: EqualityTest) -> bool:
    """Whether two values are alike but for numbers within the rule's tolerance."""
    if type(pred_value) is list and type(gold_value) is list:
        return len(pred_value) == len(gold_value) and all(
            equal(pred_item, gold_item) or _is_near(pred_item, gold_item, rule, equal)
            for pred_item, gold_item in zip(pred_value, gold_value, strict=True)
        )
    if type(pred_value) is dict and type(gold_value) is dict:
        return pred_value.keys() == gold_value.keys() and all(
            equal(pred_value[key], gold_value[key]) or _is_near(pred_value[key], gold_value[key], rule, equal)
            for key in gold_value
        )
    return is_close(pred_value, gold_value, rule.tolerance or 0, rule.relative or 0)


def is_close(pred_value: Value, gold_value: Value, tolerance: float, relative: float) -> bool:
    """Whether two values are numbers within a tolerance, or within a share of the second, as written.

    Args:
        pred_value: The prediction's value.
        gold_value: Gold's.
        tolerance: By how much they may differ.
        relative: By which share of gold's they may differ.

    >>> is_close(19.99, 20.00, 0.01, 0), is_close(1.1, 1, 0, 0.1), is_close(True, 1, 1, 0)
    (True, True, False)
    """
    from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal  # where a rule has a tolerance

    def exactly(number: Any) -> Decimal:
        return Decimal(repr(number)) if type(number) is float else Decimal(number)

    if any(type(value) not in (int, float, Decimal) for value in (pred_value, gold_value)):
        return False
    pred_number, gold_number, allowed = exactly(pred_value), exactly(gold_value), exactly(tolerance)
    if not (pred_number.is_finite() and gold_number.is_finite()):
        return False
    exact = Context(prec=DECIMAL_PRECISION, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    if relative and gold_number:
        allowed = max(allowed, exact.multiply(gold_number.copy_abs(), exactly(relative)))
    return exact.subtract(pred_number, gold_number).copy_abs() <= allowed


DECIMAL_PRECISION = 2000
"""Enough for the difference of any two floats."""


# ----------------------------------------------------------------------
# A policy at work: what it does to plans and arguments before they are compared.
# ----------------------------------------------------------------------
# A policy at work: what it does to arguments before they are compared, and what it takes for right.
class Rules:
    """The rules of one policy and of one gold plan's terms, ready for use on many arguments.

    ``normalise`` and ``matcher`` are what :func:`planner_eval.comparison.matching.align.match` takes; None
    where the policy leaves values as they are.

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
            stored = self._rules[key] = self.policy.rule(*key) or _EMPTY_RULE
        return stored

    def normalised(self, plan: Plan, position: int, arguments: Arguments) -> Arguments:
        """A call's arguments as the policy compares them."""
        tools_plan, tools = self._tools
        if tools_plan is not plan:
            tools = [call.tool for call in plan.calls]
            self._tools = plan, tools
        call = plan.calls[position] if position < len(plan.calls) else None
        normalised = []
        for name, value in arguments:
            rule = self.rule(call, name)
            if "ignore" in rule.compare:
                normalised.append((name, LEFT_OUT))
                continue
            normal_form, default = rule.form.of(value, tools), self._default(rule, call, name)
            left = default is not NOTHING and _is_equal(normal_form, rule.form.of(default))
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
        if "ignore" in rule.compare or _is_equal(pred_form, gold_form):
            return True
        return self.matches(
            call,
            argument,
            pred_form,
            gold_form,
            ComparedValues(_is_equal, lambda: pred_value, lambda: gold_value),
        )

    def matches(
        self, call: Call | None, argument: str, pred_value: Value, gold_value: Value, context: ComparedValues
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
            wildcards and any(_is_equal(context.theirs(), wildcard) for wildcard in wildcards)
        ):
            return True
        further_values = accepted_values.get(call.id, {}).get(argument, ()) if call is not None else ()
        if _is_acceptable(rule, pred_value, gold_value, context):
            return True
        accepted = ((value, rule.form.of(value)) for value in (*rule.accepted, *further_values))
        return any(_is_acceptable(rule, pred_value, form, context.of(value)) for value, form in accepted)


_EMPTY_RULE = Rule()


def _is_equal(first: Value, second: Value) -> bool:
    return bool(value_key(first, OWN_POSITIONS) == value_key(second, OWN_POSITIONS))


def _is_acceptable(rule: Rule, pred_value: Value, gold_value: Value, context: ComparedValues) -> bool:
    """Whether a value will do for one of those that are right; one yes is enough."""
    if agree(pred_value, gold_value, rule, context.alike):
        return True
    if rule.pattern is None and rule.function is None:
        return False
    pred_written, gold_written = context.ours(), context.theirs()
    if is_dependent(pred_written) or is_dependent(gold_written):
        return False
    if (
        rule.pattern is not None
        and isinstance(pred_written, str)
        and _matches(rule, rule.pattern, pred_written)
    ):
        return True
    return rule.function is not None and _call_user_function(rule, rule.function, pred_written, gold_written)


@cache
def _whole_pattern(text: str) -> Pattern:
    return Pattern(text, whole=True)


def _matches(rule: Rule, pattern: str, text: str) -> bool:
    """Whether a text of the prediction matches a rule's pattern.

    Raises:
        PolicyError: to find out could take too long; names the rule.
    """
    matches = _whole_pattern(pattern).found(text)
    if matches is None:
        raise PolicyError(
            f"{rule.where or 'a rule'}: the pattern {pattern!r} could take too long on a text of "
            f"{len(text):,} characters: write it without look-arounds, back-references and repeated choices"
        )
    return matches


def _call_user_function(
    rule: Rule, function: Callable[[Value, Value], bool], pred_value: Value, gold_value: Value
) -> bool:
    """What a function of the user's says of two values.

    Raises:
        PolicyError: it fails, or gives neither True nor False; names the rule and the values.
    """
    cause: BaseException | None = None
    try:
        answer = function(pred_value, gold_value)
        if type(answer).__name__ in ("bool", "bool_"):  # NumPy's too
            return bool(answer)
        is_plain = answer is None or isinstance(answer, (str, int, float))
        text = shorten(repr(answer), 40) if is_plain else f"its {type(answer).__name__}"
        problem = f"{text} is neither True nor False"
        if hasattr(answer, "close"):  # of an async function: never awaited, of which nobody is to be warned
            answer.close()
    except (Exception, SystemExit) as error:  # a function may not end the command either
        cause, problem = error, f"{type(error).__name__}: {error}"
    function_name = getattr(function, "__name__", "function")
    pred_text, gold_text = shorten(repr(pred_value), 40), shorten(repr(gold_value), 40)
    values = f"{pred_text} (the prediction's) and {gold_text} (gold's)"
    raise PolicyError(f"{rule.where or 'a rule'}: {function_name!r} failed on {values}: {problem}") from cause


# ----------------------------------------------------------------------
# What a policy does to whole plans before they are compared: outputs, inlined calls, repeats, the answer.
_ARGUMENT_KEYS = ("arguments", "parameters", "args")


def list_failed_calls(pred: Plan, policy: Policy) -> tuple[Call, ...]:
    """The calls that failed, where these do not count."""
    return tuple(filter(is_failed, pred.calls)) if policy.failed == "free" else ()


def prepare(policy: Policy, pred: Plan, gold: Plan, terms: Terms) -> tuple[Plan, Plan, Terms]:
    """The two plans as the policy compares them, and what gold leaves open of its calls as they are then."""
    if policy.names == "loose":
        pred = _respell_tools(pred, gold, policy)
    if policy.outputs:
        pred, gold = _drop_only_outputs(pred, policy), _drop_only_outputs(gold, policy)
    if policy.inline:
        pred, gold = _outline_calls(pred, gold), _outline_calls(gold, pred)
    if policy.leaves_out_calls:
        pred, gold = leave_out_free_calls(pred, gold, policy)
    if not policy.repeats:
        (pred, _), (gold, merged_ids) = _merge_repeats(pred, policy), _merge_repeats(gold, policy)
        terms = terms if terms is NO_TERMS else terms.merged(merged_ids)
    if policy.missing == "free":
        terms = terms._replace(optional=frozenset(call.id for call in gold.calls))
    if not policy.answer:
        pred, gold = replace(pred, answer=None), replace(gold, answer=None)
    return pred, gold, terms


def drop_extra_calls(
    numbered: tuple[NumberedPlan, NumberedPlan], paired: Sequence[int], policy: Policy
) -> Plan:
    """The prediction without the calls that stand for none of gold's.

    Args:
        numbered: The prediction and gold.
        paired: The prediction's calls that have partners; of equal ones those in gold's order are preferred.
        policy: Whether order counts.
    """
    pred, gold = (side.plan for side in numbered)
    chosen = None
    if policy.order in ("written", "flat"):
        pred_numbers, gold_numbers = (side.numbers for side in numbered)
        chosen = choose_called_in_order(pred_numbers[: len(pred.calls)], gold_numbers[: len(gold.calls)])
    return keep_calls(pred, chosen or paired, answer=policy.answer)


def _respell_tools(pred: Plan, gold: Plan, policy: Policy) -> Plan:
    """The prediction with its tools by gold's names, where these differ in spelling alone."""
    pred_tools, gold_tools = ([Tool(call.app, call.name) for call in plan.calls] for plan in (pred, gold))
    respellings = find_respellings(pred_tools, gold_tools, policy.tools)
    if not respellings:
        return pred
    new_tools = [respellings.get(tool, tool) for tool in pred_tools]
    calls = (
        replace(call, app=new.app, name=new.name) for call, new in zip(pred.calls, new_tools, strict=True)
    )
    return replace(pred, calls=tuple(calls))


def _drop_only_outputs(plan: Plan, policy: Policy) -> Plan:
    """The plan with the only output of a tool taken as its whole result, whatever it is called."""
    outputs = policy.outputs
    only_outputs = [outputs.get(call.tool, outputs.get(call.name)) for call in plan.calls]

    def remaining_path(producer: int, path: Path) -> Path:
        is_output = (
            only_outputs[producer] is not None
            and path
            and path[0] in (only_outputs[producer], *WHOLE_RESULT_NAMES)
        )
        return path[1:] if is_output else path

    def change(leaf: Value) -> Value:
        return (
            replace(leaf, path=remaining_path(leaf.call, leaf.path))
            if type(leaf) is Ref and leaf.path
            else leaf
        )

    def changed(arguments: Arguments) -> Arguments:
        return tuple((name, map_leaves(change, value)) for name, value in arguments)

    calls = tuple(replace(call, arguments=changed(call.arguments)) for call in plan.calls)
    edges = tuple(edge._replace(path=remaining_path(edge.producer, edge.path)) for edge in plan.edges)
    answer = None if plan.answer is None else changed(plan.answer)
    return replace(plan, calls=calls, edges=edges, answer=answer)


class _Outliner:
    """Gives each call that is written as a value a place of its own, just before its consumer."""

    def __init__(self, plan: Plan, other: Plan) -> None:
        self.plan = plan
        self.known = {call.name for call in other.calls}
        self.paths = {
            (other.calls[e.consumer].name, e.argument, other.calls[e.producer].name): e.path
            for e in reversed(other.edges)
        }
        self.calls: list[Call] = []
        self.place: dict[int, int] = {}

    def run(self) -> Plan:
        for position, call in enumerate(self.plan.calls):
            arguments = tuple((name, self.value(call.name, name, v)) for name, v in call.arguments)
            self.place[position] = len(self.calls)
            self.calls.append(replace_arguments(call, arguments))
        taken_out = {-index - 1: index for index in range(len(self.calls))}
        return _replace_calls(self.plan, self.calls, self.place | taken_out)

    def value(self, consumer: str, argument: str, value: Value) -> Value:
        """A value with the calls in it taken out; references to these are negative until the end."""
        if isinstance(value, list):
            return [self.value(consumer, argument, item) for item in value]
        if not isinstance(value, dict):
            return value
        inlined = next((value[key] for key in _ARGUMENT_KEYS if isinstance(value.get(key), dict)), None)
        name = value.get("name")
        if inlined is None or len(value) != 2 or name not in self.known:
            return {key: self.value(consumer, argument, item) for key, item in value.items()}
        arguments = tuple((key, self.value(name, key, item)) for key, item in inlined.items())
        self.calls.append(Call(f"inlined{len(self.calls) + 1}", name, arguments))
        return Ref(-len(self.calls), self.paths.get((consumer, argument, name), ()))


def _outline_calls(plan: Plan, other: Plan) -> Plan:
    """The plan with inlined calls as calls of their own, as far as the other plan makes such calls.

    A call written as a value stands for its whole result; where the other plan takes one output of
    that call at that place, this output is meant.
    """
    outlined = _Outliner(plan, other).run()
    return outlined if len(outlined.calls) > len(plan.calls) else plan


def _merge_repeats(plan: Plan, policy: Policy) -> tuple[Plan, dict[str, str]]:
    """The plan with equal calls of tools without state made once, and which call stands for each."""
    first: dict[Any, int] = {}
    twins = []
    for position, (call, number) in enumerate(zip(plan.calls, NumberedPlan(plan, {}).numbers, strict=False)):
        own = number is None or policy.is_stateful(call.app, call.name)
        twins.append(first.setdefault(("own", position) if own else number, position))
    merged_ids = {call.id: plan.calls[twin].id for call, twin in zip(plan.calls, twins, strict=True)}
    if len(first) == len(plan.calls):
        return plan, merged_ids
    retained = {position: index for index, position in enumerate(first.values())}
    new_positions = {position: retained[twin] for position, twin in enumerate(twins)}
    return _replace_calls(plan, [plan.calls[position] for position in retained], new_positions), merged_ids


def _replace_calls(plan: Plan, calls: list[Call], positions: Mapping[int, int]) -> Plan:
    """A plan of other calls, whose references, and the answer's, point to new places."""
    moved = [replace_arguments(call, move_arguments(call.arguments, positions)) for call in calls]
    answer = None if plan.answer is None else move_arguments(plan.answer, positions)
    return replace(build_plan(moved, answer), dialect=plan.dialect, text=plan.text)
