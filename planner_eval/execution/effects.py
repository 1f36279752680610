"""Two plans run side by side: do they come to the same, and where do their values part?"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import expect_or_none, instance_of
from planner_eval.base.text import shorten
from planner_eval.comparison.evaluate import gold_of
from planner_eval.comparison.gold_alternatives import Gold
from planner_eval.comparison.matching.align import align, match
from planner_eval.comparison.matching.rules import Rules
from planner_eval.comparison.policy.counting import keep_calls
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Terms
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.execution.program import Options, PlanWithState, running_order, sink_calls
from planner_eval.execution.run import execute_many
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.execution.sandbox.wire import Opaque, bounded_text
from planner_eval.execution.tool_sources import tool_source
from planner_eval.execution.trace import CallTrace, Trace
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.canonical import compare as compare_plans
from planner_eval.plan.linking import build_plan, move_arguments, replace_arguments
from planner_eval.plan.model import Call, Plan, Value, fold
from planner_eval.reading.parse import Source, parse

if TYPE_CHECKING:
    from planner_eval.comparison.policy.policy import Policy

    Same = Callable[[Call, Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where two runs differ.

    Args:
        pred: The prediction's call as it ran; None where no call of it stands for gold's.
        gold: Gold's call as it ran; None where the call is the prediction's alone.
    """

    pred: CallTrace | None
    gold: CallTrace | None

    def __str__(self) -> str:
        if self.pred is None or self.gold is None:
            call, whose = (self.gold, "gold") if self.pred is None else (self.pred, "the prediction")
            assert call is not None
            return f"{call.id} ({call.tool}) is made only by {whose} and {_describe_outcome(call)}"
        pred_text = f"{self.pred.id} ({self.pred.tool}) {_describe_outcome(self.pred)}"
        return f"{pred_text}, gold's {self.gold.id} ({self.gold.tool}) {_describe_outcome(self.gold)}"


def _describe_outcome(call: CallTrace) -> str:
    if call.error is not None:
        return f"fails with {call.error}"
    return f"gives {bounded_text(call.value, 100)}"


def _outcome_texts(call: CallTrace) -> list[str]:
    text = shorten(str(call.error), 400) if call.error is not None else bounded_text(call.value, 400)
    return [call.status, text]


_INCONCLUSIVE_FAILURES = (
    "timeout",
    "worker-died",
    "worker-lied",
    "output-limit",
    "disk-limit",
    "task-limit",
    "not-run",
    "not-recorded",
    "initial-state",
)
"""Failures that say nothing of what the call would have given."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Whether two plans agree in effect.

    Args:
        results_same: The values that come out are known to be the same: the named answers, where both
            plans have one, else the values that no call uses, each counted once; of plans that mean the same,
            those of the same calls. Where calls failed:
            the plans mean the same and failed at the same calls for the same reasons.
        state_same: The tools are left in the same state; None where they say nothing of their state, or
            a run did not come to saying it.
        first: The first call, in gold's order, whose value differs; None where none does.
        pred: The prediction's run.
        gold: Gold's run.
        known: Whether the two runs tell; False where both failed and what they did until then does not
            differ, or one was cut short, or the tools kept something of a plan for the next.
        varies: Whether the prediction, run again, came to something else.
        cut: What agrees only as far as it is described: a value that is too large, say; "" where nothing.
        seen: Every value that gold's answer names was given by some call of the prediction; without one,
            every value of gold's that no call of it uses. None where gold did not come to them.
    """

    results_same: bool
    state_same: bool | None
    first: Divergence | None
    pred: Trace
    gold: Trace
    known: bool = True
    varies: bool = False
    cut: str = ""
    seen: bool | None = None

    @property
    def same(self) -> bool:
        """Whether the plans are known to agree in results and state."""
        return self.results_same and self.state_same is not False and not self.cut

    @property
    def reached(self) -> bool | None:
        """Whether the prediction reaches gold's goal: its final state, and the values that it names are seen.

        What else the prediction calls, and which of its calls fail, makes no difference. None where a run
        tells too little: gold's fails, one was cut short, or the tools keep something for the next plan.
        """
        if self.varies or self.seen is None or _has_inconclusive_failure((self.pred, self.gold)):
            return None
        reached = self.seen and self.state_same is not False
        return None if reached and self.cut else reached

    @property
    def verdict(self) -> str:
        """``"same"``, ``"different"`` or ``"unknown"``."""
        agrees = self.results_same and self.state_same is not False
        if self.varies or (self.cut if agrees else not self.known):
            return "unknown"
        return "same" if self.same else "different"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON data: the verdict, what it is made of, and in words."""
        return {
            "verdict": self.verdict,
            "results_same": self.results_same,
            "state_same": self.state_same,
            "outputs_seen": self.seen,
            "reached": self.reached,
            "said": str(self),
        }

    def values(self) -> dict[str, list[list[str]]]:
        """What each call of either run came to: its status, and its value or failure in words, cut."""
        return {
            "pred": [*map(_outcome_texts, self.pred.calls)],
            "gold": [*map(_outcome_texts, self.gold.calls)],
        }

    @property
    def failure(self) -> CallTrace | None:
        """The first call that failed: gold's, else the prediction's; None where none did."""
        return next((call for trace in (self.gold, self.pred) for call in trace.failed), None)

    def __str__(self) -> str:
        """The verdict in words: ``the same``, ``different; …`` or ``unknown: …``."""
        if self.varies:
            return f"unknown: {_OTHER_RESULT_MESSAGE}"
        failed = self.failure
        both_fail = self.pred.failed and self.gold.failed
        how = f"both fail at {failed.id} ({failed.tool}) with {failed.error}" if both_fail and failed else ""
        if self.same:
            return f"the same; {how}" if how else "the same"
        where = str(self.first) if self.first is not None else how
        if self.verdict == "unknown" and self.cut:
            return f"unknown: {self.cut}"
        if not self.known:
            return f"unknown: {where or 'a run was cut short'}"
        state = "the tools end in another state" if self.state_same is False else ""
        reached = "but gold's state and values are reached" if self.reached else ""
        return "; ".join(filter(None, ("different", where, state, reached)))


def compare_effects(
    pred: Source,
    gold: Source | Gold,
    tools: Any,
    *,
    policy: AnyPolicy | None = None,
    isolation: str | None = None,
    options: Options | None = None,
    initial: Any = None,
) -> Effects:
    """Run two plans with the same tools, each from the tools' first state, and compare what comes out.

    Python objects are copied for it as they are; of functions and modules of this process there are no
    copies: where the plans differ and the prediction, run again, does not come to the same, it is said.

    Args:
        pred: The prediction: a plan, its text or data, or the path of its file, ``Path("pred.json")``.
        gold: What was wanted, likewise, or a gold record; or several right plans with what they leave open,
            the nearest first: the first that comes to the same counts, else the first whose state and values
            are reached.
        tools: As for :func:`execute`.
        policy: How values compare; its rules see a call's value as its argument ``"result"``. For its
            wildcards in gold the prediction's values are taken.
        isolation: As for :func:`execute`.
        options: As for :func:`execute`; the state is asked for in any case.
        initial: The state in which the tools begin, for both, as JSON data; their own when left out.

    Returns:
        Whether the plans agree in effect, and where they part; ``str()`` of it says so in words.

    Raises:
        ExecutionError: as for :func:`execute`.

    >>> add = '[{"name": "add", "arguments": {"arg_0": 2, "arg_1": 2}}]'
    >>> multiply = '[{"name": "multiply", "arguments": {"arg_0": 2, "arg_1": 2}}]'
    >>> str(compare_effects(add, multiply, "nestful"))
    'the same'
    """
    expect_or_none(instance_of(Options, "Options(…) of planner_eval.execution.program"), options=options)
    plan, chosen = parse(pred), DEFAULT_POLICY if policy is None else policy_of(policy)
    run_options = replace(options or Options(), state=True)
    sandbox = tools if isinstance(tools, Sandbox) else Sandbox(tool_source(tools), level=isolation)
    golds = (gold if isinstance(gold, Gold) else gold_of(gold, NO_TERMS)).plans
    best: Effects | None = None
    with nullcontext() if sandbox is tools else sandbox:
        for gold_plan, terms in golds:
            plans = plan, _settle_terms(plan, gold_plan, terms, chosen.wildcards)
            effects = _compare_runs(plans, sandbox, chosen, run_options, initial)
            if best is None or _agreement(effects) > _agreement(best):
                best = effects
            if best.same and best.reached is not False:
                break
    assert best is not None, "there is no gold plan to run"
    return best


def _agreement(effects: Effects) -> tuple[bool, bool]:
    return effects.verdict == "same", effects.reached is True


def _compare_runs(
    plans: tuple[Plan, Plan], sandbox: Sandbox, chosen: Policy, run_options: Options, initial: Any
) -> Effects:
    """Run two plans, each from the tools' first state, and compare what comes out."""
    pred_plan, gold_plan = plans
    starts, own = _fresh_sandboxes(sandbox)
    rules = Rules(chosen)

    def same(call: Call, pred_value: Any, gold_value: Any) -> bool:
        """Whether two values of one call are the same by the policy's rules for its argument ``result``."""
        return rules.agree(call, "result", _to_plan_value(pred_value), _to_plan_value(gold_value))

    with ExitStack() as stack:
        for box in starts:
            if box is not sandbox:
                stack.enter_context(box)
        starting_plans = PlanWithState(pred_plan, initial), PlanWithState(gold_plan, initial)
        if starts[0] is starts[1]:
            pred_trace, gold_trace = execute_many(starting_plans, starts[0], options=run_options)
        else:
            (pred_trace,), (gold_trace,) = (
                execute_many([plan], box, options=run_options)
                for plan, box in zip(starting_plans, starts, strict=True)
            )
        traces = pred_trace, gold_trace
        first = _first_divergence(plans, traces, chosen, same)
        state = (
            None
            if gold_trace.state is None or pred_trace.state is None
            else same(Call("state", "state"), pred_trace.state, gold_trace.state)
        )
        mapping = compare_plans(*plans).mapping
        results_same = _results_same(plans, traces, mapping, first, same)
        in_order = mapping is not None and _run_in_one_order(plans, mapping)
        if in_order and pred_trace.ok and gold_trace.ok:  # whatever a clock or chance makes of it
            state = None if state is None else True
            return Effects(True, state, None, pred_trace, gold_trace, seen=True)
        if not (results_same and state is not False) and (starts[0] is starts[1] or not own):
            (repeat,) = execute_many(starting_plans[:1], starts[0], options=run_options)
            if _outcome_key(repeat) != _outcome_key(pred_trace):
                return Effects(False, state, first, pred_trace, gold_trace, known=False, varies=True)
    certain = results_same or state is False or _is_conclusive(traces, first)
    seen = _covers_gold_values(gold_plan, traces, same)
    cut = _described_only(gold_plan, gold_trace) if results_same or seen else ""
    return Effects(results_same, state, first, pred_trace, gold_trace, certain, cut=cut, seen=seen)


def _settle_terms(pred: Plan, gold: Plan, terms: Terms, wildcards: tuple[Value, ...]) -> Plan:
    """Gold as the prediction makes use of what it leaves open: the plan to run beside the prediction.

    Args:
        pred: The prediction.
        gold: The gold plan.
        terms: What it leaves open.
        wildcards: Values of gold that stand for any.

    Returns:
        Gold with the values of the prediction that are right, too, and without what it leaves out and may.
    """
    if not (terms.optional or terms.accepted or terms.omittable or wildcards):
        return gold
    matching = match(pred, gold, replace(DEFAULT_POLICY, wildcards=wildcards), terms)
    pairs = dict(matching.alignment.pairs)
    partners = {
        gold_call: replace_arguments(
            pred.calls[pred_call], move_arguments(pred.calls[pred_call].arguments, pairs)
        )
        for pred_call, gold_call in pairs.items()
    }
    open_keys = {value_key(wildcard, OWN_POSITIONS) for wildcard in wildcards}
    calls = [
        replace(call, arguments=tuple(_settle_arguments(partners[position], call, terms, open_keys)))
        if position in partners
        else call
        for position, call in enumerate(gold.calls)
    ]
    made = [position for position in range(len(calls)) if position not in matching.waived]
    return keep_calls(build_plan(calls, gold.answer), made, answer=True)


def _settle_arguments(
    pred: Call, gold: Call, terms: Terms, open_keys: Container[Any]
) -> Iterator[tuple[str, Value]]:
    given, accepted = dict(pred.arguments), terms.accepted.get(gold.id, {})
    for name, value in gold.arguments:
        if name not in given:
            if name not in terms.omittable.get(gold.id, ()):
                yield name, value
            continue
        key = value_key(given[name], OWN_POSITIONS)
        is_accepted = any(value_key(other, OWN_POSITIONS) == key for other in accepted.get(name, ()))
        is_right = is_accepted or value_key(value, OWN_POSITIONS) in open_keys
        yield name, given[name] if is_right else value


def _described_only(plan: Plan, trace: Trace) -> str:
    """What in the values that a plan comes to, and in the tools' state, is only described, in words."""
    results = [(f"{name} of the answer", value) for name, value in trace.answer or ()] or [
        (f"{call.id} ({call.tool})", call.value) for call in map(trace.calls.__getitem__, sink_calls(plan))
    ]
    described = [(f"{name} gives", value) for name, value in results] + [
        ("the tools' state holds", trace.state)
    ]
    for what, holder in described:
        for value in _opaque_values(holder):
            if value.is_cut or value.is_type_only:
                return f"{what} {value.text}"
    return ""


def _opaque_values(value: Any) -> Iterator[Opaque]:
    """The values that could not leave the tools' process, wherever in a value they are."""
    if isinstance(value, Opaque):
        yield value
    elif isinstance(value, dict):
        for item in (*value, *value.values()):
            yield from _opaque_values(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _opaque_values(item)


def _covers_gold_values(gold: Plan, traces: tuple[Trace, Trace], same: Same) -> bool | None:
    """Whether the prediction's calls gave every value that gold comes to; None where gold did not."""
    pred_trace, gold_trace = traces
    if not gold_trace.ok:
        return None
    pred_values = [call.value for call in pred_trace if call.status == "ok"] + [
        value for _, value in pred_trace.answer or ()
    ]
    answer = Call("answer", "answer")
    expected = [(answer, value) for _, value in gold_trace.answer or ()] or [
        (gold.calls[position], gold_trace.calls[position].value) for position in sink_calls(gold)
    ]
    return all(
        any(same(call, value, expected_value) for value in pred_values) for call, expected_value in expected
    )


def _outcome_key(trace: Trace) -> tuple[Any, ...]:
    return trace.state, *((call.status, _to_plan_value(call.value), call.error) for call in trace)


_OTHER_RESULT_MESSAGE = (
    "run again, the prediction comes to something else: the tools keep state between plans, or answer by the "
    "time or by chance; of functions in this process, pass a class or an object, or the tools' file"
)


def _fresh_sandboxes(box: Sandbox) -> tuple[tuple[Sandbox, Sandbox], bool]:
    """Tools for each of two plans, and whether each certainly has their first state."""
    source = box.source
    if box.level == "strict" or not (source.stateful or source.objects):
        return (box, box), True
    if box.level == "process":
        return (box.anew(source), box.anew(source)), True
    if source.objects is None:
        return (box, box), source.data.get("kind") != "module"
    if source.make is not None:
        return (box, box), True
    try:
        pred_tools, gold_tools = deepcopy(source.objects), deepcopy(source.objects)
    except Exception:  # the tools' own code; some objects cannot be copied
        return (box, box), False
    own = all(gold_tools[name] is not tool for name, tool in source.objects.items())
    return (box.anew(replace(source, objects=pred_tools)), box.anew(replace(source, objects=gold_tools))), own


def _is_conclusive(traces: tuple[Trace, Trace], first: Divergence | None) -> bool:
    """Whether runs that do not agree are known to differ, and not only in how far they came."""
    if all(trace.ok for trace in traces):
        return True
    if first is None:
        return False
    failing = any(call is not None and call.error is not None for call in (first.pred, first.gold))
    return not (failing and _has_inconclusive_failure(traces))


def _has_inconclusive_failure(traces: tuple[Trace, Trace]) -> bool:
    """Whether a call ended for a reason that says nothing of what it would have given."""
    return any(
        call.error and call.error.kind in _INCONCLUSIVE_FAILURES for trace in traces for call in trace.failed
    )


def _run_in_one_order(plans: tuple[Plan, Plan], mapping: Sequence[int]) -> bool:
    """Whether plans that mean the same make their calls in the same order."""
    pred_order, gold_order = map(running_order, plans)
    return [mapping[position] for position in pred_order] == gold_order


def _results_same(
    plans: tuple[Plan, Plan],
    traces: tuple[Trace, Trace],
    mapping: Sequence[int] | None,
    first: Divergence | None,
    same: Same,
) -> bool:
    """Whether what comes out is the same: of plans that mean the same, out of the same calls."""
    if not all(trace.ok for trace in traces):
        both_fail = all(trace.failed or trace.ended for trace in traces)
        conclusive = first is None and not _has_inconclusive_failure(traces)
        return both_fail and conclusive and mapping is not None
    pred, gold = traces
    if pred.answer is not None and gold.answer is not None:
        answer = Call("answer", "answer")
        pred_answer, gold_answer = dict(pred.answer), dict(gold.answer)
        return pred_answer.keys() == gold_answer.keys() and all(
            same(answer, pred_answer[name], gold_answer[name]) for name in gold_answer
        )
    pred_sinks, gold_sinks = map(sink_calls, plans)

    def agree(pred_call: int, gold_call: int) -> bool:
        values = pred.calls[pred_call].value, gold.calls[gold_call].value
        can_pair = mapping is None or mapping[pred_call] == gold_call
        return can_pair and same(plans[1].calls[gold_call], *values)

    return all(any(agree(p, g) for p in pred_sinks) for g in gold_sinks) and all(
        any(agree(p, g) for g in gold_sinks) for p in pred_sinks
    )


def _first_divergence(
    plans: tuple[Plan, Plan], traces: tuple[Trace, Trace], policy: Policy, same: Same
) -> Divergence | None:
    (pred, gold), (pred_trace, gold_trace) = plans, traces
    alignment = align(pred, gold, policy)
    partner = {gold_position: pred_position for pred_position, gold_position in alignment.pairs}
    alone: Divergence | None = None
    for position in running_order(gold):
        gold_call = gold_trace.calls[position]
        if position not in partner:
            alone = alone or Divergence(None, gold_call)
            continue
        pred_call = pred_trace.calls[partner[position]]
        # An error's message may name the plan's own labels, addresses in memory or the time of day.
        outcomes = {(call.status, call.error and call.error.kind) for call in (pred_call, gold_call)}
        if len(outcomes) > 1 or not same(gold.calls[position], pred_call.value, gold_call.value):
            return Divergence(pred_call, gold_call)
    extra: Sequence[int] = alignment.extra
    return alone or (Divergence(pred_trace.calls[extra[0]], None) if extra else None)


def _to_plan_value(value: Any) -> Any:
    """The value as plans hold values: what JSON lacks as lists and text."""

    def leaf(value: Any) -> Any:
        if isinstance(value, (set, frozenset)):
            return sorted(map(_to_plan_value, value), key=repr)
        if isinstance(value, Opaque):
            return [value.type, value.text]
        return value if value is None or isinstance(value, (str, bool, int, float)) else repr(value)

    return fold(value, leaf, fields=lambda members: {str(key): item for key, item in members.items()})
