"""Plans and tool specs of NESTful as its paper means them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import CatalogError, LimitError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS, UNEXPLAINED_LIMITS
from planner_eval.base.resources import deferred
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.formats import find_reader
from planner_eval.benchmarks.paired import change_leaves
from planner_eval.plan.linking import build_plan, move_references, replace_arguments
from planner_eval.plan.model import Plan, RawRef, Ref, Template, Value, contains_kind
from planner_eval.reading.dialects.conversations.wrappers import may_hold_conversation
from planner_eval.reading.dialects.notations.nestful import ANSWER_NAME, read_references
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.dialects.round_trip import convert


# ----------------------------------------------------------------------
# The layouts of NESTful's tool specs: version 2's, and older ones brought into it.
def usual_layout(tools: Any) -> Any:
    """Tool specs with outputs and parameters where version 2 has them.

    Older files say ``output_parameter``, or nest fields below ``properties``; the published executor
    fails on both.

    >>> usual_layout([{"output_parameter": {"result": {}}, "parameters": {"properties": {"a": {}}}}])
    [{'parameters': {'a': {}}, 'output_parameters': {'result': {}}}]
    """
    if not is_older_layout(tools):
        return tools
    return [_usual_spec(spec) if isinstance(spec, dict) else spec for spec in tools]


def is_older_layout(tools: Any) -> bool:
    """Whether :func:`usual_layout` changes tool specs."""
    return isinstance(tools, list) and any(
        "output_parameter" in spec
        or any(_is_nested(spec.get(f"{what}parameters")) for what in ("", "output_"))
        for spec in tools
        if isinstance(spec, dict)
    )


def _is_nested(fields: Any) -> bool:
    return isinstance(fields, dict) and isinstance(fields.get("properties"), dict)


def _usual_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    changed = {key: value for key, value in spec.items() if key != "output_parameter"}
    outputs = spec.get("output_parameters", spec.get("output_parameter"))
    for key, fields in (("parameters", spec.get("parameters")), ("output_parameters", outputs)):
        if isinstance(fields, dict) and _is_nested(fields):
            fields = fields["properties"]
        if fields is not None:
            changed[key] = fields
    return changed


# ----------------------------------------------------------------------
# Plans of NESTful as its paper means them: read by label, without the closing pseudo call.
_BARE_REFERENCE = re.compile(r"(?<==)\s*(\$[\w.]+\$)(?=\s*[,)])")
"""A reference without quotes, as an argument's whole value."""
_MAX_JSON_CHARS = 1_000_000
"""Longer answers are the reader's own to refuse."""
_read_catalog = deferred("planner_eval.catalogs.benchmark_formats:read_nestful")


@fast_frozen
class Reading:
    """What could be read of an answer.

    Args:
        plan: The calls; none where nothing could be read.
        error: Why nothing could be read, a diagnostic code.
    """

    plan: Plan
    error: str | None = None


def read_gold(calls: Any) -> Plan:
    """What a sample's gold calls mean, without the closing pseudo call.

    Raises:
        ParseError: they cannot be read.
    """
    return drop_named_answer(parse(calls, dialect="nestful"))


def read_prediction(text: str, model: str, tools: Any = None) -> Reading:
    """Read an answer: as NESTful's JSON, else in the model's own format, else in any dialect we know.

    Args:
        text: The whole answer.
        model: The model name that chooses the published reader.
        tools: The sample's tool specs, which type what a Python-like answer writes in quotes.

    >>> tagged = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    >>> [call.name for call in read_prediction(tagged, "Hermes-2-Pro-Mistral-7B").plan.calls]
    ['now']
    >>> read_prediction("I cannot help.", "DeepSeek-V3").error
    'parse.syntax'
    """
    try:
        plan = parse(_read_json_calls(text) or text, dialect="nestful", limits=UNEXPLAINED_LIMITS)
        return Reading(_close_references(drop_named_answer(plan)))
    except ParseError as problem:
        code = problem.code
    decoded = find_reader(model)(text).raw
    for source, dialect in ((_read_python_calls(text, tools), "nestful"), (decoded, "nestful"), (text, None)):
        try:
            plan = drop_named_answer(parse(source, dialect=dialect, limits=UNEXPLAINED_LIMITS))
        except ParseError:
            continue
        if plan.calls:
            return Reading(_close_references(plan))
    return Reading(Plan(), code)


def _read_json_calls(text: str) -> list[Any] | None:
    """The calls of an answer that is their JSON list, as nearly all are; None of any other."""
    if not text.startswith("[") or len(text) > _MAX_JSON_CHARS:
        return None
    try:
        values = loads_if_json(text, DEFAULT_LIMITS)
    except LimitError:
        return None
    plain = values is not None and len(values) == 1 and values[0] and all(map(_is_plain_call, values[0]))
    return values[0] if plain and values is not None else None


def _is_plain_call(item: Any) -> bool:
    """Whether an object is a call as the data write it: a name, a label, arguments, and nothing else."""
    return (
        type(item) is dict
        and len(item) == 3
        and type(item.get("label")) is str
        and type(item.get("arguments")) is dict
        and type(item.get("name")) is str
        and item["name"] != ""
    )


def _read_python_calls(text: str, tools: Any) -> list[dict[str, Any]] | None:
    """A Python-like answer as labelled calls; None where the text is none.

    Such an answer writes no labels: ``$var_2.result$`` means its second call. Where it writes every value in
    quotes, they are what the tools' specs say.
    """
    if not text.lstrip().startswith("[") or ("(" not in text and not may_hold_conversation(text)):
        return None
    try:
        plan = parse(_BARE_REFERENCE.sub(r'"\1"', text), dialect="pythonic")
    except ParseError:
        return None
    style = "$var_" if "$var_" in text else "var"
    quoted = all(isinstance(value, str) for call in plan.calls for _, value in call.arguments)
    types = _parameter_types(tools) if quoted else {}
    return [
        {
            "name": call.name,
            "label": f"{style}{number}",
            "arguments": {
                name: _convert_quoted(value, types.get((call.name, name), ())) if quoted else value
                for name, value in call.arguments
            },
        }
        for number, call in enumerate(plan.calls, 1)
    ]


def _convert_quoted(text: str, kinds: Sequence[str]) -> Any:
    """What a quoted value is as the first of these JSON types that it can be; the text itself else."""
    converted = (convert(text, kind) for kind in kinds)
    return next((value for value in converted if value != text), text)


def _parameter_types(tools: Any) -> dict[tuple[str, str], tuple[str, ...]]:
    """The JSON types of each tool's parameters; none where the specs cannot be read."""
    try:
        catalog = _read_catalog(usual_layout(tools), "tools")
    except CatalogError:
        return {}
    return {
        (tool.name, parameter.name): parameter.type.kinds
        for tool in catalog.tools
        for parameter in tool.parameters
        if "string" not in parameter.type.kinds
    }


def _close_references(plan: Plan) -> Plan:
    """The plan with references for texts such as ``$var_1.result``: the label of an earlier call and no end.

    The published scorer adds the ``$`` to any text that begins with one, prices too. Here the label decides,
    for a text that begins with one can mean nothing else.
    """
    if not any(
        value.startswith("$") if type(value) is str else contains_kind(value, (list, dict, Template))
        for call in plan.calls
        for _, value in call.arguments
    ):
        return plan
    positions = {call.id: position for position, call in enumerate(plan.calls)}

    def change(position: int, leaf: Value) -> Value:
        reference = read_references(f"{leaf}$") if isinstance(leaf, str) and leaf.startswith("$") else None
        if not isinstance(reference, RawRef) or positions.get(reference.name, position) >= position:
            return leaf
        return Ref(positions[reference.name], reference.path)

    return change_leaves(plan, change)


def drop_named_answer(plan: Plan) -> Plan:
    """The plan without the named answer: version 1's gold closes with one that models are not asked for.

    The pseudo call is none wherever it stands, as in the published code; what refers to it is unresolved.

    >>> calls = [{"name": name, "label": f"${name}", "arguments": {}} for name in ("f", "var_result", "g")]
    >>> [call.name for call in drop_named_answer(parse(calls, dialect="nestful")).calls]
    ['f', 'g']
    """
    if any(call.name == ANSWER_NAME for call in plan.calls):
        positions = [position for position, call in enumerate(plan.calls) if call.name != ANSWER_NAME]
        new_positions = {old: new for new, old in enumerate(positions)}
        answer_ids = {
            position: call.id for position, call in enumerate(plan.calls) if call.name == ANSWER_NAME
        }
        plan = build_plan(
            replace_arguments(
                call,
                tuple(
                    (name, move_references(value, new_positions, answer_ids))
                    for name, value in call.arguments
                ),
            )
            for call in map(plan.calls.__getitem__, positions)
        )
    return plan if plan.answer is None else replace(plan, answer=None)


# ----------------------------------------------------------------------
# Gold of NESTful for another plan.
def gold_of(sample: Sample, plan: Plan) -> list[Any]:
    """The gold of a sample whose right answer would be another plan: calls labelled as the record's.

    Args:
        sample: The sample.
        plan: The plan.

    Raises:
        WriteError: its record cannot say what the plan says.
    """
    marked = any(str(call.get("label", "")).startswith("$") for call in sample.gold if isinstance(call, dict))
    calls: list[Any] = json.loads(write(plan, "nestful"))
    for call in calls:
        if marked and "label" in call:
            call["label"] = f"${call['label']}"
    return calls
