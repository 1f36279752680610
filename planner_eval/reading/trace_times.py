"""What a trace records beside its calls: when each span ran, whether it failed, and what the model said."""

from __future__ import annotations

import json
import re
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Call, Plan
from planner_eval.reading.dialects.conversations.spans import (
    END_TIME_KEYS,
    START_TIME_KEYS,
    attributes_of,
    decode_attribute,
    exported_spans,
    find_span_error,
    id_of,
    messages_of,
    nest_attributes,
    normalize_id,
    parent_of,
    read_time,
    sort_by_time,
    spans_in,
    value_at_path,
)
from planner_eval.reading.dialects.conversations.traces import spans_of
from planner_eval.reading.dialects.conversations.turns import Turn, read_conversation
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.fields import ABSENT
from planner_eval.reading.files.frameworks import parse_literal


class Span(NamedTuple):
    """One span of a trace.

    Args:
        id: Its id.
        parent: The id of the span in which it ran.
        kind: ``"tool"``, ``"model"`` or ``"other"``.
        name: The tool's name, or what the span is called.
        call: Of a tool's run its call's position in the plan.
        start: When it began, in nanoseconds since 1970.
        end: When it ended.
        error: How it failed, in the framework's words; None where it did not.
        said: What the model, or an agent, said in it.
        whole: Whether its parent must stand in the same file; None where it may be another process's.
    """

    id: str | None
    parent: str | None
    kind: str
    name: str
    call: int | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None
    said: str = ""
    whole: bool | None = None


class UnrunToolRequest(NamedTuple):
    """A tool that a model asked for and that never ran: its name, the model's span, whether refused."""

    name: str
    span: str | None
    refused: bool


class Run(NamedTuple):
    """A trace.

    Args:
        spans: Its spans by their start.
        repeated: How many of them were exported twice.
        unheard: The tools that were asked for and never ran.
        unended: How many spans have an end that is no time.
        timed: Whether its times are times; those of a conversation only say what came after what.
    """

    spans: tuple[Span, ...]
    repeated: int = 0
    unheard: tuple[UnrunToolRequest, ...] = ()
    unended: int = 0
    timed: bool = True

    @property
    def tools(self) -> dict[int, Span]:
        """The runs of the tools by their calls' positions."""
        return {span.call: span for span in self.spans if span.call is not None}


def read_run(data: Any, plan: Plan) -> Run:
    """What a trace says of its calls.

    Args:
        data: The trace, as JSON data.
        plan: What was read of it.

    >>> from planner_eval.reading.dialects.read import parse
    >>> span = {"name": "execute_tool f", "attributes": {}, "start_time": 1, "end_time": 3}
    >>> [(one.name, one.call, one.end - one.start) for one in read_run([span], parse([span])).spans]
    [('f', 0, 2000000000)]
    """
    spans = sort_by_time(spans_in(data))
    calls = _call_positions(data, plan)
    repeated = sum(1 for _ in exported_spans(data)) - len(spans)
    names = {normalize_id(name): name for name in map(id_of, reversed(spans))}
    run_spans = tuple(_build_span(span, plan, calls.get(id(span)), names) for span in spans)
    ran = {span.name for span in run_spans if span.kind == "tool"}
    requested: dict[str, str | None] = {}
    for item, span in zip(spans, run_spans, strict=True):
        for name in _requested_tools(item) if span.kind == "model" else ():
            if name not in ran:
                requested.setdefault(name, span.id)
    text = json.dumps(spans, default=str, ensure_ascii=False) if requested else ""
    unheard = tuple(UnrunToolRequest(name, span, _is_refused(text, name)) for name, span in requested.items())
    unended = sum(
        any(item.get(key) for key in END_TIME_KEYS) and read_time(item, END_TIME_KEYS) is None
        for item in spans
    )
    return Run(run_spans, repeated, unheard, unended)


def recorded_run(plan: Plan, data: Any = None) -> Run | None:
    """The run that the recorded answers of a plan's calls show; None where none is recorded.

    A conversation says in which order its calls were made, which were made at once, and what the model said
    after. It has no status of its own as spans have: a call failed where the message with its answer says so,
    or the answer begins as an error does.

    Args:
        plan: The calls, with the tools' answers.
        data: The conversation that it was read from, as JSON data.

    >>> plan = parse([{"name": "f", "arguments": {}, "result": "Error: no such city"}])
    >>> [(span.name, span.error) for span in recorded_run(plan).spans]
    [('f', 'Error: no such city')]
    """
    if not any(call.has_result for call in plan.calls):
        return None
    turns = _turns(data, plan)
    spans: list[Span] = []
    clock = 0
    left = list(enumerate(plan.calls))
    for number, turn in enumerate(turns, 1):
        clock += _TURN_TICKS
        if turn.words:
            spans.append(Span(None, None, "model", "", None, clock, clock + 1, said=turn.words))
        while left and left[0][1].turn in (number, None):
            position, call = left.pop(0)
            spans.append(_recorded_span(position, call, clock))
            if not turn.answers:  # those that follow a message are of calls at once
                clock += _TURN_TICKS
    for position, call in left:
        clock += _TURN_TICKS
        spans.append(_recorded_span(position, call, clock))
    return Run(tuple(spans), timed=False)


_TURN_TICKS = 2
"""A call begins when its turn does and ends before the next one."""


def _turns(data: Any, plan: Plan) -> tuple[Turn, ...]:
    """The turns of the conversation that a plan is all of."""
    try:
        talk = read_conversation(data) if isinstance(data, (dict, list)) else None
    except PlanevalError:
        return ()
    turns = talk.turns if talk is not None else ()
    return turns if len(turns) == 1 or all(call.turn is not None for call in plan.calls) else ()


def _recorded_span(position: int, call: Call, start: int) -> Span:
    return Span(None, None, "tool", call.tool, position, start, start + 1, describe_failure(call))


def is_failed(call: Call) -> bool:
    """Whether the recorded answer of a call, or what records it, says that the call failed.

    >>> [is_failed(Call("a", "f", (), result=text, has_result=True)) for text in ("Error: no seat", "sold")]
    [True, False]
    """
    return describe_failure(call) is not None


def describe_failure(call: Call) -> str | None:
    """How a call failed, in the words of its recorded answer; None where it did not.

    >>> describe_failure(Call("a", "f", (), result="no such city", has_result=True, failed=True))
    'no such city'
    """
    words = _find_error(call.result) if call.has_result else None
    if words is None and not call.failed:
        return None
    words = words or call.result
    return words if isinstance(words, str) and words else json.dumps(words, ensure_ascii=False, default=str)


def _find_error(result: Any) -> Any:
    """The part of a tool's answer that says that the call failed; None where none does."""
    if isinstance(result, str):
        data = decode_attribute(result)
        if data is result and result.startswith("{"):  # as str() writes an object
            data = parse_literal(result)
        if data is not result and data is not ABSENT:
            return _find_error(data)
        return result if _FAILURE.match(result) else None
    if isinstance(result, list):
        return _find_error(result[0]) if len(result) == 1 else None
    if not isinstance(result, dict):
        return None
    if len(result) == 1 and not result.keys().isdisjoint(_WRAPPING_KEYS):
        return _find_error(*result.values())
    error = result.get("error")
    if error and not isinstance(error, float) and not (isinstance(error, str) and _NO_ERROR.fullmatch(error)):
        return error if isinstance(error, str) else result
    marked = result.get("isError") is True or result.get("is_error") is True
    return result if marked or str(result.get("status")).lower() == "error" else None


_WRAPPING_KEYS = ("result", "output")
"""Keys under which Gemini's and MCP's packages put an answer that is a text."""

_FAILURE = re.compile(
    r"\s*+(?:(?-i:[\w.]{0,60}\w(?:Error|Exception)\b)[^:\n]{0,80}:"
    r"|(?:error|exception)(?:\s+(?:code\s+)?\d+[^:\n]{0,40}|\s*\([^()\n]{0,60}\)|\s+(?:at|code|during|from"
    r"|in (?:tool|function|call)|occurred|on|when|while|(?:call|connect|creat|delet|execut|fetch|gett|invok"
    r"|load|open|pars|process|read|retriev|runn|search|send|updat|writ)ing)\b[^:\n]{0,80})?\s*:"
    r"|an error (?:has )?occurred\b|traceback \(most recent call last\))",
    re.I,
)
"""How the text of a failure begins: "Error: …", "ValueError: …", "Error executing tool f: …".

A title such as "Error handling: a guide" is none.
"""

_NO_ERROR = re.compile(r"\s*+(?:no(?:ne| errors?)?|null|n/?a|ok|false|success|0)?\.?\s*+", re.I)
"""What stands for an error where there was none."""


def _call_positions(data: Any, plan: Plan) -> dict[int, int]:
    """Spans of tools, by identity, and the positions of their calls."""
    spans = spans_of(plan.dialect, data)
    return {id(span): position for position, span in enumerate(spans)} if len(spans) == len(plan) else {}


def _build_span(
    item: dict[str, Any], plan: Plan, call: int | None, names: dict[str | None, str | None]
) -> Span:
    attribute_tree, outer = nest_attributes(item), parent_of(item)
    kind = "tool" if call is not None else "model" if _is_model_span(item, attribute_tree) else "other"
    name = (
        plan.calls[call].tool
        if call is not None
        else str(item.get("name") or _span_data(item).get("type", ""))
    )
    return Span(
        names[normalize_id(id_of(item))],
        names.get(normalize_id(outer), outer),
        kind,
        name,
        call,
        read_time(item, START_TIME_KEYS),
        read_time(item, END_TIME_KEYS),
        find_span_error(item),
        "" if kind == "tool" else _output_text(item, attribute_tree),
        _has_local_parent(item, attribute_tree),
    )


_REMOTE_KNOWN_FLAG, _REMOTE_FLAG = 0x100, 0x200
"""Bits of a span's flags in OpenTelemetry's protocol: it says whether its parent is remote; the parent is."""


def _has_local_parent(item: dict[str, Any], attribute_tree: dict[str, Any]) -> bool | None:
    flags = item.get("flags")
    if isinstance(flags, int) and flags & _REMOTE_KNOWN_FLAG:
        return not flags & _REMOTE_FLAG
    return (
        True
        if "span_data" in item or value_at_path(attribute_tree, "mlflow", "spanType") is not None
        else None
    )


def _span_data(item: dict[str, Any]) -> dict[str, Any]:
    data = item.get("span_data")
    return data if isinstance(data, dict) else {}


def _is_model_span(item: dict[str, Any], attribute_tree: dict[str, Any]) -> bool:
    return (
        _span_data(item).get("type") in ("generation", "response")
        or value_at_path(attribute_tree, "openinference", "span", "kind") == "LLM"
        or value_at_path(attribute_tree, "gen_ai", "operation", "name")
        in ("chat", "text_completion", "generate_content")
        or decode_attribute(value_at_path(attribute_tree, "mlflow", "spanType")) in ("CHAT_MODEL", "LLM")
    )


def _requested_tools(item: dict[str, Any]) -> list[str]:
    """The tools that a model asks for in a span."""
    attribute_tree = nest_attributes(item)
    output = _span_data(item).get("output") or value_at_path(_span_data(item), "response", "output")
    written = (
        value_at_path(attribute_tree, "output", "value"),
        value_at_path(attribute_tree, "mlflow", "spanOutputs"),
    )
    for content in (messages_of([item]), output, *map(decode_attribute, written)):
        if isinstance(content, (list, dict)) and content:
            try:
                return [call.tool for call in parse(content).calls]
            except PlanevalError:
                continue
    return []


_REFUSAL_PATTERNS = (
    "{}.{{0,3}} is not a valid tool",
    "(?:unknown tool|tool not found|no such tool|no tool named)[^.]{{0,60}}{}",
    "tool .{{0,3}}{}.{{0,3}} (?:not found|does not exist|is unknown)",
)
"""How frameworks refuse a tool that there is not: LangGraph, Pydantic AI and the Agents SDK, others."""


def _is_refused(text: str, name: str) -> bool:
    """Whether a framework said somewhere in a trace that it has no such tool."""
    return any(re.search(pattern.format(re.escape(name)), text, re.I) for pattern in _REFUSAL_PATTERNS)


_OUTPUT_KEYS = ("gen_ai.output.messages", "output.value", "mlflow.spanOutputs")


def _output_text(item: dict[str, Any], attribute_tree: dict[str, Any]) -> str:
    """What a model said in a span, as text to look values up in; of an agent's run its answer.

    An agent that gives all its messages gives the tools' answers among them, which is no sign of their use.
    """
    attributes = attributes_of(item)
    data = _span_data(item)
    if not _is_model_span(item, attribute_tree):
        final = attributes.get("final_result", decode_attribute(attributes.get("mlflow.spanOutputs")))
        return final if isinstance(final, str) and parent_of(item) is None else ""
    answers = (
        value_at_path(attribute_tree, "llm", "output_messages"),
        value_at_path(attribute_tree, "gen_ai", "completion"),
    )
    output = data.get("output") or value_at_path(data, "response", "output")
    texts = [*(attributes.get(key) for key in _OUTPUT_KEYS), *answers, output]
    return "\n".join(str(value) for value in texts if value)
