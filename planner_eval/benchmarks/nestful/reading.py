"""Plans of NESTful as its paper means them: read by label, without the closing pseudo call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.nestful.formats import read_answer
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of an answer.

    Args:
        plan: The calls; none where nothing could be read.
        error: Why nothing could be read, a diagnostic code.
    """

    plan: Plan
    error: str | None = None


def read_prediction(text: str, model: str) -> Reading:
    """Read an answer: as NESTful's JSON, else in the model's own format, else in any dialect we know.

    Args:
        text: The whole answer.
        model: The model name that chooses the published reader.

    >>> tagged = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    >>> [call.name for call in read_prediction(tagged, "Hermes-2-Pro-Mistral-7B").plan.calls]
    ['now']
    >>> read_prediction("I cannot help.", "DeepSeek-V3").error
    'parse.syntax'
    """
    try:
        return Reading(without_answer(parse(text, dialect="nestful")))
    except ParseError as problem:
        code = problem.code
    decoded = read_answer(text, model).raw
    for source, dialect in ((decoded, "nestful"), (text, None)):
        try:
            plan = without_answer(parse(source, dialect=dialect))
        except ParseError:
            continue
        if plan.calls:
            return Reading(plan)
    return Reading(Plan(), code)


def without_answer(plan: Plan) -> Plan:
    """The plan without the named answer: version 1's gold closes with one that models are not asked for."""
    return plan if plan.answer is None else replace(plan, answer=None)


def usual_layout(tools: Any) -> Any:
    """Tool specs with outputs and parameters where version 2 has them.

    Older files say ``output_parameter``, or nest fields below ``properties``; the published executor
    fails on both.

    >>> usual_layout([{"output_parameter": {"result": {}}, "parameters": {"properties": {"a": {}}}}])
    [{'parameters': {'a': {}}, 'output_parameters': {'result': {}}}]
    """
    if not isinstance(tools, list):
        return tools
    return [_usual(spec) if isinstance(spec, dict) else spec for spec in tools]


def _usual(spec: Mapping[str, Any]) -> dict[str, Any]:
    changed = {key: value for key, value in spec.items() if key != "output_parameter"}
    outputs = spec.get("output_parameters", spec.get("output_parameter"))
    for key, fields in (("parameters", spec.get("parameters")), ("output_parameters", outputs)):
        if isinstance(fields, dict) and isinstance(fields.get("properties"), dict):
            fields = fields["properties"]
        if fields is not None:
            changed[key] = fields
    return changed
