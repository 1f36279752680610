"""NESTful's win as its paper defines it: every call is valid, and running them gives the gold answer.

Source: the paper, section 4.3. The published code passes values by position in written order, takes a
failed run for the answer False, which equals a gold 0, fails on the older layouts of tool specs, and rounds
what comes out to the decimals that gold has, so that 0.14 is 0.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner_eval.benchmarks.nestful.specs import usual_layout
from planner_eval.benchmarks.nestful.win import Outcome, outcome_of
from planner_eval.benchmarks.report import Run
from planner_eval.datasets.sample import Sample
from planner_eval.execution.answers import answers_match, is_rounded
from planner_eval.plan.model import Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import holds


def wins(plan: Plan, sample: Sample, run: Run, gold: Plan | None = None) -> bool:
    """Whether a plan's calls are all valid and lead to the gold answer.

    The gold answer may be what gold's own calls lead to, rounded as people write it down. Only then may a
    result differ from it: it is what gold's calls lead to, or this rounded to no fewer decimals than gold's.

    Args:
        plan: What the answer says.
        sample: Its ``tools`` are the specs, ``extra["gold_answer"]`` is what must come out.
        run: Runs calls, see :mod:`.win`; values are passed by name. It is given the specs of the tools
            that are called, for most samples have many more.
        gold: The gold plan, run where only rounding makes a result the gold answer; without it none does.

    >>> from planner_eval.benchmarks.nestful.win import official_run
    >>> from planner_eval.dialects.read import parse
    >>> tools = [{"name": "less", "parameters": {"a": {}, "b": {}}, "output_parameters": {"result": {}}}]
    >>> sample = Sample("a", tools=tools, extra={"gold_answer": 0.1})
    >>> run = official_run({"less": lambda a, b: a - b})
    >>> plan, gold = (parse([{"name": "less", "arguments": {"b": 2, "a": a}}]) for a in (2.14, 2.1))
    >>> wins(plan, sample, run, gold), wins(gold, sample, run, gold)
    (False, True)
    """
    answer, text = sample.extra.get("gold_answer"), sample.extra.get("gold_answer_text")
    result = _result(plan, sample, run)
    if result is None or not answers_match(result.value, answer, text):
        return False
    if plan is gold or answers_match(result.value, answer, text, rounding=False):
        return True
    exact = None if gold is None else _result(gold, sample, run)
    return (
        exact is not None
        and answers_match(exact.value, answer, text)
        and is_rounded(result.value, exact.value)
    )


def _result(plan: Plan, sample: Sample, run: Run) -> Outcome | None:
    """What the calls come to; None where one is not valid or fails."""
    usual = replace(sample, tools=usual_layout(_called(sample.tools, {call.name for call in plan.calls})))
    calls = executable(plan, usual.tools)
    if not calls:
        return None
    outcome = outcome_of(run, calls, usual)
    return outcome if outcome.failure is None else None


def _called(tools: Any, names: set[str]) -> Any:
    """Tool specs without those that say another name."""
    if not isinstance(tools, list):
        return tools
    return [
        spec
        for spec in tools
        if not isinstance(spec, dict) or type(name := spec.get("name")) is not str or name in names
    ]


def executable(plan: Plan, tools: Any) -> list[dict[str, Any]] | None:
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
        if spec is None or len(values) < len(call.arguments) or not values.keys() <= _parameters(spec):
            return None
        returned = spec.get("output_parameters")
        outputs.append(next(iter(returned)) if isinstance(returned, dict) and len(returned) == 1 else "")
        written = {}
        for name, value in values.items():
            if not _resolvable(value, position, outputs):
                return None
            written[name] = f"$var_{value.call}.{outputs[value.call]}$" if isinstance(value, Ref) else value
        calls.append({"name": call.name, "label": f"$var_{position}", "arguments": written})
    return calls


def _parameters(spec: Any) -> set[str]:
    """The names of the parameters that a spec lists."""
    parameters = spec.get("parameters")
    return set(parameters) if isinstance(parameters, dict) else set()


def _resolvable(value: Value, position: int, outputs: list[str]) -> bool:
    """Whether a value is a literal, or a reference that the executor can follow."""
    if isinstance(value, Ref):
        output = outputs[value.call] if value.call < position else ""
        return bool(output) and value.path in ((), (output,))
    return not holds(value, (Ref, Unresolved))
