"""NESTful's win as its paper defines it: every call is valid, and running them gives the gold answer.

Source: the paper, section 4.3. The published code passes values by position in written order, takes a
failed run for the answer False, which equals a gold 0, and fails on the older layouts of tool specs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner_eval.benchmarks.nestful.specs import usual_layout
from planner_eval.benchmarks.nestful.win import outcome_of
from planner_eval.benchmarks.report import Run
from planner_eval.datasets.sample import Sample
from planner_eval.execution.answers import answers_match
from planner_eval.plan.model import Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import holds


def wins(plan: Plan, sample: Sample, run: Run) -> bool:
    """Whether a plan's calls are all valid and lead to the gold answer.

    Args:
        plan: What the answer says.
        sample: Its ``tools`` are the specs, ``extra["gold_answer"]`` is what must come out.
        run: Runs calls, see :mod:`.win`; values are passed by name. It is given the specs of the tools
            that are called, for most samples have many more.

    >>> from planner_eval.benchmarks.nestful.win import official_run
    >>> from planner_eval.dialects.read import parse
    >>> tools = [{"name": "less", "parameters": {"a": {}, "b": {}}, "output_parameters": {"result": {}}}]
    >>> sample = Sample("a", tools=tools, extra={"gold_answer": 2})
    >>> run = official_run({"less": lambda a, b: a - b})
    >>> wins(parse([{"name": "less", "arguments": {"b": 3, "a": 5}}]), sample, run)
    True
    """
    usual = replace(sample, tools=usual_layout(_called(sample.tools, {call.name for call in plan.calls})))
    calls = executable(plan, usual.tools)
    if not calls:
        return False
    outcome = outcome_of(run, calls, usual)
    if outcome.failure is not None:
        return False
    extra = sample.extra
    return answers_match(outcome.value, extra.get("gold_answer"), extra.get("gold_answer_text"))


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
