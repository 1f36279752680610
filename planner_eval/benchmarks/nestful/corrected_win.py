"""NESTful's win and its equal calls as the paper defines them.

Source: the paper, section 4.3. The published code passes values by position in written order, takes a
failed run for the answer False, which equals a gold 0, fails on the older layouts of tool specs, and rounds
what comes out to the decimals that gold has, so that 0.14 is 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.nestful.official import Outcome, outcome_of
from planner_eval.benchmarks.nestful.reading import usual_layout
from planner_eval.benchmarks.paired import Match, argument_keys, count_shared, matches_of, pair_calls
from planner_eval.benchmarks.report import Run
from planner_eval.comparison.matching.names import Tool, find_respellings, is_similar_name
from planner_eval.execution.answers import answers_match, is_rounded
from planner_eval.plan.canonical import compare
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value
from planner_eval.plan.values import contains_kind


# ----------------------------------------------------------------------
# NESTful's win as its paper defines it: every call is valid, and running them gives the gold answer.
def is_winning(plan: Plan, sample: Sample, run: Run, gold: Plan | None = None) -> bool:
    """Whether a plan's calls are all valid and lead to the gold answer.

    The gold answer may be what gold's own calls lead to, rounded as people write it down. Only then may a
    result differ from it: it is what gold's calls lead to, or this rounded to no fewer decimals than gold's.

    Args:
        plan: What the answer says.
        sample: Its ``tools`` are the specs, ``extra["gold_answer"]`` is what must come out.
        run: Runs calls, see :mod:`.win`; values are passed by name. It is given the specs of the tools
            that are called, for most samples have many more.
        gold: The gold plan, run where only rounding makes a result the gold answer; without it none does.

    >>> from planner_eval.benchmarks.nestful.official import in_process_runner
    >>> from planner_eval.reading.dialects.read import parse
    >>> tools = [{"name": "less", "parameters": {"a": {}, "b": {}}, "output_parameters": {"result": {}}}]
    >>> sample = Sample("a", tools=tools, extra={"gold_answer": 0.1})
    >>> run = in_process_runner({"less": lambda a, b: a - b})
    >>> plan, gold = (parse([{"name": "less", "arguments": {"b": 2, "a": a}}]) for a in (2.14, 2.1))
    >>> is_winning(plan, sample, run, gold), is_winning(gold, sample, run, gold)
    (False, True)
    """
    answer, text = sample.extra.get("gold_answer"), sample.extra.get("gold_answer_text")
    result = _run_plan(plan, sample, run)
    if result is None or not answers_match(result.value, answer, text):
        return False
    if plan is gold or answers_match(result.value, answer, text, rounding=False):
        return True
    exact = None if gold is None else _run_plan(gold, sample, run)
    return (
        exact is not None
        and answers_match(exact.value, answer, text)
        and is_rounded(result.value, exact.value)
    )


def _run_plan(plan: Plan, sample: Sample, run: Run) -> Outcome | None:
    """What the calls come to; None where one is not valid or fails."""
    usual = replace(
        sample, tools=usual_layout(_select_tools(sample.tools, {call.name for call in plan.calls}))
    )
    calls = executable_calls(plan, usual.tools)
    if not calls:
        return None
    outcome = outcome_of(run, calls, usual)
    return outcome if outcome.failure is None else None


def _select_tools(tools: Any, names: set[str]) -> Any:
    """Tool specs without those that say another name."""
    if not isinstance(tools, list):
        return tools
    return [
        spec
        for spec in tools
        if not isinstance(spec, dict) or type(name := spec.get("name")) is not str or name in names
    ]


def executable_calls(plan: Plan, tools: Any) -> list[dict[str, Any]] | None:
    """The calls as the executor wants them; None where one is not valid.

    A call is valid when a listed tool of its name takes all its arguments, none is given twice, and each
    reference means the one output of an earlier call as a whole. Whether one is missing the function says.
    """
    specs: dict[str, Any] = {}
    for spec in tools if isinstance(tools, list) else []:
        if isinstance(spec, dict):
            specs.setdefault(str(spec.get("name")), spec)
    outputs: list[str] = []
    calls = []
    for position, call in enumerate(plan.calls):
        spec = specs.get(call.name)
        values = dict(call.arguments)
        if spec is None or len(values) < len(call.arguments) or not values.keys() <= _parameter_names(spec):
            return None
        returned = spec.get("output_parameters")
        outputs.append(next(iter(returned)) if isinstance(returned, dict) and len(returned) == 1 else "")
        written = {}
        for name, value in values.items():
            if not _is_resolvable(value, position, outputs):
                return None
            written[name] = f"$var_{value.call}.{outputs[value.call]}$" if isinstance(value, Ref) else value
        calls.append({"name": call.name, "label": f"$var_{position}", "arguments": written})
    return calls


def _parameter_names(spec: Any) -> set[str]:
    """The names of the parameters that a spec lists."""
    parameters = spec.get("parameters")
    return set(parameters) if isinstance(parameters, dict) else set()


def _is_resolvable(value: Value, position: int, outputs: list[str]) -> bool:
    """Whether a value is a literal, or a reference that the executor can follow."""
    if isinstance(value, Ref):
        output = outputs[value.call] if value.call < position else ""
        return bool(output) and value.path in ((), (output,))
    return not contains_kind(value, (Ref, Unresolved))


# ----------------------------------------------------------------------
# How many calls of an answer are equal to the calls of gold that they stand for.
#
# Which stands for which is for a search, :mod:`planner_eval.comparison.matching.align`; calls of one tool
# stand for one
# another so that the most calls are equal. The number alone is mostly known without a search.
def count_equal_calls(pred: Plan, gold: Plan) -> int | None:
    r"""How many calls are equal to those of gold that they stand for; None where the plans mean the same.

    Args:
        pred: The prediction.
        gold: What was wanted.

    >>> from planner_eval.reading.dialects.read import parse
    >>> pred, gold = parse("a = f(#x='1')\nb = f(#y=a)"), parse("a = f(#x='2')\nb = f(#y=a)")
    >>> count_equal_calls(pred, gold), count_equal_calls(gold, gold)
    (1, None)
    """
    if pred is gold:
        return None
    if not pred.answer and not gold.answer:
        comparison = compare(pred, gold, ordered=False)
        if comparison.same:
            if not _has_early_call(pred) or (_has_early_call(gold) and compare(pred, gold).same):
                return None
            return len(gold)
        number = _count_equal_as_written(pred, gold) if comparison.proved else None
        if number is not None:
            return number
    pairs = pair_calls(pred, gold)
    return None if pairs is None else _maximize_equal_calls(pred, gold, pairs)


_MAX_EXCHANGES = 5_000
"""Exchanges of partners that are tried."""


def _maximize_equal_calls(pred: Plan, gold: Plan, pairs: Sequence[tuple[int, int]]) -> int:
    """The most equal calls of this pairing and of those that exchanging partners of one tool leads to."""
    partners = dict(pairs)
    number = _count_equal(pred, gold, partners)
    if len(pred) * len(gold) > _MAX_EXCHANGES:
        return number
    bound = count_shared(_blank_calls(pred), _blank_calls(gold))
    tools = enumerate(_tools(pred)), enumerate(_tools(gold))
    exchanges = [(p, g) for (p, tool), (g, other) in product(*tools) if tool == other]
    attempts, improved = 0, True
    while improved and number < bound and attempts < _MAX_EXCHANGES:
        improved = False
        for pred_index, gold_index in exchanges:
            if partners.get(pred_index) != gold_index:
                attempts += 1
                changed = _exchange_partners(partners, pred_index, gold_index)
                count = _count_equal(pred, gold, changed)
                if count > number:
                    partners, number, improved = changed, count, True
    return number


def _exchange_partners(partners: dict[int, int], pred: int, gold: int) -> dict[int, int]:
    """The partners where these two are ones; who had gold's gets what the other had."""
    changed = {p: g for p, g in partners.items() if g != gold}
    former = next((p for p, g in partners.items() if g == gold), None)
    if former is not None and pred in partners:
        changed[former] = partners[pred]
    changed[pred] = gold
    return changed


def _count_equal(pred: Plan, gold: Plan, partners: Mapping[int, int]) -> int:
    return sum(match.equal for match in matches_of(pred, gold, partners.items()))


def _blank_calls(plan: Plan) -> list[Any]:
    """The calls with what they refer to left out."""
    blank = [0] * len(plan)
    return [
        (call.app, call.name, frozenset(argument_keys(call.arguments, blank).items())) for call in plan.calls
    ]


def _has_early_call(plan: Plan) -> bool:
    """Whether a call is written before one that it needs, which is wrong unless gold writes it so too."""
    return any(edge.producer > edge.consumer for edge in plan.edges)


def _count_equal_as_written(pred: Plan, gold: Plan) -> int | None:
    """The number for plans of which no order makes one the other, where calls as they are written tell it.

    The search pairs as many calls of one tool as there can be. Of the pairings that do so it finds one of the
    least cost: the number of arguments of pairs that differ, of which one that refers to a call without a
    partner, for gold's of another tool that has none either, counts a quarter. That calls paired as they are
    written cost the least, and that all pairings of that cost have as many equal calls, is seen

    - where nothing differs, and all calls of one plan have partners: then in no such pairing anything does;
    - where one argument differs, and all calls have partners: if none did the plans would be the same, and
      one makes one pair unequal;
    - where all calls of pred have partners, and what differs are values that no call of gold's tool has under
      that name: these differ in every pairing, so in one of that cost nothing else does;
    - where nothing differs but that one call has a name that gold does not know, like that of gold's at its
      place. What refers to it counts a quarter in every pairing, so in one of that cost nothing else differs,
      and gold's refers there to the one call that is left over, which is of that like name. By their names
      these two become partners in the end, so that what refers to them is right.
    """
    pred_tools, gold_tools = _tools(pred), _tools(gold)
    pairs = _positional_pairs(pred, gold)
    renamed = [(pred_tools[p], gold_tools[g]) for p, g in pairs if pred_tools[p] != gold_tools[g]]
    equal_size = len(pred_tools) == len(gold_tools)
    if find_respellings(pred_tools, gold_tools) or (
        renamed and not (equal_size and _is_renamed(renamed, gold_tools))
    ):
        return None
    matches = matches_of(pred, gold, pairs)
    wrong = [match for match in matches if not match.equal]
    if not wrong:
        return len(matches)
    if renamed or len(pred_tools) > len(gold_tools):
        return None
    differing = [_differing_arguments(match) for match in wrong]
    single_difference = equal_size and sum(map(len, differing)) == 1
    if single_difference or all(
        map(set.issubset, differing, [_unknown_arguments(pred.calls[match.pred], gold) for match in wrong])
    ):
        return len(matches) - len(wrong)
    return None


def _tools(plan: Plan) -> list[Tool]:
    return [Tool(call.app, call.name) for call in plan.calls]


def _positional_pairs(pred: Plan, gold: Plan) -> list[tuple[int, int]]:
    """The calls at like places; what one plan has more stands where the two begin to differ."""
    pred_calls, gold_calls = pred.calls, gold.calls
    common = range(min(len(pred_calls), len(gold_calls)))
    surplus = len(pred_calls) - len(gold_calls)
    if not surplus:
        return list(zip(common, common, strict=True))
    differing = (
        index
        for index in common
        if pred_calls[index].name != gold_calls[index].name
        or pred_calls[index].arguments != gold_calls[index].arguments
    )
    start = next(differing, len(common))
    return [
        (index, index) if index < start else (index + max(0, surplus), index + max(0, -surplus))
        for index in common
    ]


def _is_renamed(renamed: list[tuple[Tool, Tool]], gold_tools: list[Tool]) -> bool:
    """Whether one call is of a name that gold does not know, but like that of gold's at its place."""
    (pred_tool, gold_tool), *remaining = renamed
    return (
        not remaining
        and pred_tool not in gold_tools
        and pred_tool.name != gold_tool.name
        and is_similar_name(pred_tool.name, gold_tool.name)
    )


def _differing_arguments(match: Match) -> set[Any]:
    """The arguments of two partners that differ."""
    return {name for name, _ in match.given.items() ^ match.wanted.items()}


def _unknown_arguments(call: Call, gold: Plan) -> set[Any]:
    """The arguments of a call whose values, but for what they refer to, no call of gold's tool has there."""
    blank = [0] * len(gold)  # which has no fewer calls than the prediction
    heard = {
        item
        for other in gold.calls
        if (other.app, other.name) == (call.app, call.name)
        for item in argument_keys(other.arguments, blank).items()
    }
    return {name for name, key in argument_keys(call.arguments, blank).items() if (name, key) not in heard}
