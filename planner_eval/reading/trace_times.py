"""What a trace records beside its calls: when each span ran, whether it failed, and what the model said."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Call, Plan
from planner_eval.reading.dialects.conversations.messages import failed_calls
from planner_eval.reading.dialects.conversations.spans import (
    START_TIME_KEYS,
    attributes_of,
    decode_attribute,
    exported_spans,
    id_of,
    messages_of,
    nest_attributes,
    normalize_id,
    parent_of,
    sort_by_time,
    spans_in,
    tool_message,
    value_at_path,
)
from planner_eval.reading.dialects.conversations.traces import spans_of
from planner_eval.reading.dialects.conversations.wrappers import Turn, read_conversation
from planner_eval.reading.dialects.read import parse

END_TIME_KEYS = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "ended_at", "endTime")
"""Keys under which exporters write when a span ended."""

NANOSECONDS_PER_SECOND = 1_000_000_000
"""Times are whole nanoseconds."""


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
        any(item.get(key) for key in END_TIME_KEYS) and _read_time(item, END_TIME_KEYS) is None
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
    turns, failed = _turns(data, plan)
    spans: list[Span] = []
    clock = 0
    left = list(enumerate(plan.calls))
    for number, turn in enumerate(turns, 1):
        clock += _TURN_TICKS
        if turn.words:
            spans.append(Span(None, None, "model", "", None, clock, clock + 1, said=turn.words))
        while left and left[0][1].turn in (number, None):
            position, call = left.pop(0)
            spans.append(_recorded_span(position, call, clock, marked=position in failed))
            if not turn.answers:  # those that follow a message are of calls at once
                clock += _TURN_TICKS
    for position, call in left:
        clock += _TURN_TICKS
        spans.append(_recorded_span(position, call, clock, marked=position in failed))
    return Run(tuple(spans), timed=False)


_TURN_TICKS = 2
"""A call begins when its turn does and ends before the next one."""


def _turns(data: Any, plan: Plan) -> tuple[tuple[Turn, ...], frozenset[int]]:
    """The turns of the conversation that a plan is all of, and the calls that its messages call failed."""
    try:
        talk = read_conversation(data) if isinstance(data, (dict, list)) else None
        turns = talk.turns if talk is not None else ()
        failed = failed_calls([item for turn in turns for item in (*turn.items, *turn.answers)])
    except PlanevalError:
        return (), frozenset()
    numbered = len(turns) == 1 or all(call.turn is not None for call in plan.calls)
    return turns if numbered else (), failed if numbered else frozenset()


def _recorded_span(position: int, call: Call, start: int, *, marked: bool) -> Span:
    error = _describe_failure(call.result, marked=marked) if call.has_result else None
    return Span(None, None, "tool", call.tool, position, start, start + 1, error)


def is_failed(call: Call) -> bool:
    """Whether the recorded answer of a call says that it failed.

    >>> [is_failed(Call("a", "f", (), result=text, has_result=True)) for text in ("Error: no seat", "sold")]
    [True, False]
    """
    return call.has_result and _describe_failure(call.result, marked=False) is not None


_FAILURE = re.compile(
    r"\s*+(?:[\w.]{0,60}(?:error|exception)\b[^:\n]{0,80}:|traceback \(most recent call last\))", re.I
)
"""How the text of a failure begins: "Error: …", "ValueError: …", "Error executing tool f: …"."""


def _describe_failure(result: Any, *, marked: bool) -> str | None:
    """How a call failed by its answer, in the answer's words; None where it did not."""
    words = result
    if isinstance(result, dict):
        words = result.get("error")
        failed = bool(words) or result.get("status") == "error" or result.get("isError") is True
    else:
        failed = isinstance(result, str) and _FAILURE.match(result) is not None
    if not (failed or marked):
        return None
    return words if isinstance(words, str) and words else json.dumps(result, ensure_ascii=False, default=str)


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
        _read_time(item, START_TIME_KEYS),
        _read_time(item, END_TIME_KEYS),
        _find_span_error(item, attribute_tree),
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


_TIME_UNITS = ((1e17, 1), (1e14, 1_000), (1e11, 1_000_000), (0, NANOSECONDS_PER_SECOND))
"""From which size on a number of a time counts nanoseconds, microseconds, milliseconds, seconds."""


def _read_time(item: dict[str, Any], keys: tuple[str, ...]) -> int | None:
    """A time in nanoseconds; None where it is not said, or 0, as of a span that has not ended."""
    value = next((item[key] for key in keys if item.get(key)), None)
    if isinstance(value, str) and value.isdecimal() and len(value) < 25:
        value = int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e19:
        return int(value * next(unit for least, unit in _TIME_UNITS if value >= least))
    if isinstance(value, str):
        try:
            when = datetime.fromisoformat(value)
            return int(when.timestamp()) * NANOSECONDS_PER_SECOND + when.microsecond * 1000
        except (ValueError, OverflowError, OSError):
            return None
    return None


def _find_span_error(item: dict[str, Any], attribute_tree: dict[str, Any]) -> str | None:
    """How a span failed; None where it did not."""
    status = item.get("status")
    code = status.get("status_code", status.get("code")) if isinstance(status, dict) else None
    if code == 2 or "ERROR" in str(code).upper():
        words = status.get("message") or status.get("description") if isinstance(status, dict) else None
        return str(words or _exception_message(item) or "its status is ERROR")
    error = item.get("error")
    if isinstance(error, dict):
        inner = error.get("data")
        words = inner.get("error") if isinstance(inner, dict) else None
        return str(words or error.get("message") or error)
    if error:
        return str(error)
    output = value_at_path(attribute_tree, "output", "value")
    answer = tool_message(
        decode_attribute(
            output if output is not None else value_at_path(attribute_tree, "mlflow", "spanOutputs")
        )
    )
    return str(answer["content"]) if answer is not None and answer.get("status") == "error" else None


def _exception_message(item: dict[str, Any]) -> str | None:
    """What the exception that a span recorded says."""
    for event in reversed(item.get("events") or ()) if isinstance(item.get("events"), list) else ():
        if isinstance(event, dict) and event.get("name") == "exception":
            message = attributes_of(event).get("exception.message")
            return str(message) if message else None
    return None


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


# ----------------------------------------------------------------------
# The critical path of a trace: the spans that made it take as long as it took.
class PathStep(NamedTuple):
    """A span on the path, and for how many nanoseconds the trace waited for it alone."""

    span: Span
    time: int


class CriticalPath(NamedTuple):
    """The steps in time, and how long the whole trace took.

    Args:
        steps: The steps.
        whole: From its beginning to its end, in nanoseconds.
        beside: Tools and models that are not on the path and ran where nothing on it did, be it that they
            were waited for: what they gave may have been used before they ended.
        unsaid: For how long they did.
    """

    steps: tuple[PathStep, ...]
    whole: int
    beside: tuple[Span, ...] = ()
    unsaid: int = 0

    @property
    def time(self) -> int:
        """For how long a tool or a model ran on the path; the rest of the whole is the framework's own."""
        return sum(step.time for step in self.steps)


def critical_path(run: Run) -> CriticalPath | None:
    """The chain of tools and models that a trace waited for, from its end back to its beginning.

    From the end of the trace back, the tool or model that ended last is what was waited for, down to its
    beginning; then what had ended last before that. A tool that began while a model still spoke was asked
    for by it: the model is waited for until then. A tool in which others ran stands for them. Each moment
    belongs to one step, so that the times add up to no more than the whole (as Z. Zhang et al., CRISP:
    Critical Path Analysis of Large-Scale Microservice Architectures, USENIX ATC 2022). What went on long
    after the span around it had ended was not waited for.

    Args:
        run: The trace.

    Returns:
        The path; None where no tool or model says when it began and ended.

    >>> spans = (Span("a", None, "tool", "f", 0, 0, 5), Span("b", None, "tool", "g", 1, 0, 3))
    >>> [(step.span.name, step.time) for step in critical_path(Run(spans)).steps]
    [('f', 5)]
    """
    timed = _find_awaited_spans(run)
    steps: list[PathStep] = []
    models = _model_calls(run.spans[index] for _, _, index in timed)
    for end, start, index in sorted(timed, reverse=True):
        span = run.spans[index]
        if span.kind == "other" or (steps and end > (steps[-1].span.start or 0)):
            continue
        asker = _find_requesting_model(steps[-1].span, span, models) if steps else None
        if asker is not None:
            steps.append(asker)
        if asker is None or end <= (asker.span.start or 0):
            steps.append(PathStep(span, end - start))
    if not steps:
        return None
    asker = _find_requesting_model(steps[-1].span, None, models)
    if asker is not None:
        steps.append(asker)
    steps.reverse()
    first = min(start for _, start, _ in timed)
    total = max(end for end, _, _ in timed) - first
    return CriticalPath(tuple(steps), total, *_find_concurrent_spans(run, timed, steps, (first, total)))


_TimedSpans = list[tuple[int, int, int]]


def _find_awaited_spans(run: Run) -> _TimedSpans:
    """The end, the beginning and the place of each span that may have been waited for."""
    timed = [
        (span.end, span.start, index)
        for index, span in enumerate(run.spans)
        if span.start is not None and span.end is not None and span.end >= span.start
    ]
    ends: dict[str | None, int | None] = {span.id: span.end for span in run.spans if span.id is not None}
    waited = []
    for end, start, index in timed:
        around = ends.get(run.spans[index].parent)
        if around is None or (end - around) * 10 <= end - start:  # a little is what clocks differ by
            waited.append((end, start, index))
    return waited if any(run.spans[index].kind != "other" for _, _, index in waited) else timed


def _find_concurrent_spans(
    run: Run, timed: _TimedSpans, steps: list[PathStep], bounds: tuple[int, int]
) -> tuple[tuple[Span, ...], int]:
    """What ran where nothing on the path did, and for how long; nothing where that is short."""
    first, total = bounds
    gaps = []
    for step in steps:
        begin = step.span.start or 0
        if begin > first:
            gaps.append((first, begin))
        first = max(first, begin + step.time)
    on = {id(step.span) for step in steps}
    spans = [(start, end, run.spans[index]) for end, start, index in timed if id(run.spans[index]) not in on]
    off_path, unsaid, counted = [], 0, 0
    for start, end, span in sorted(spans, key=lambda entry: entry[:2]):
        gap_index = bisect_right(gaps, start, key=lambda gap: gap[1])
        if span.kind == "other" or gap_index == len(gaps) or gaps[gap_index][0] >= end:
            continue
        off_path.append(span)
        gap_index = bisect_right(gaps, max(start, counted), key=lambda gap: gap[1])
        while gap_index < len(gaps) and gaps[gap_index][0] < end:
            begin, ended = max(gaps[gap_index][0], start, counted), min(gaps[gap_index][1], end)
            unsaid += max(0, ended - begin)
            gap_index += 1
        counted = max(counted, end)
    return (tuple(off_path), unsaid) if unsaid * 100 > total else ((), 0)


def _model_calls(spans: Iterable[Span]) -> dict[str | None, list[tuple[int, int, Span]]]:
    """Calls of models by the span in which they ran, and by their start."""
    by_parent: dict[str | None, list[tuple[int, int, Span]]] = {}
    for index, span in enumerate(spans):
        if span.kind == "model":
            by_parent.setdefault(span.parent, []).append((span.start or 0, index, span))
    for among in by_parent.values():
        among.sort(key=lambda entry: entry[:2])
    return by_parent


def _find_requesting_model(
    tool: Span, before: Span | None, models: dict[str | None, list[tuple[int, int, Span]]]
) -> PathStep | None:
    """The model that was still speaking when a tool began, up to there; None where none beside it was.

    Where another model had ended right before, the tool is that one's.
    """
    among, start = models.get(tool.parent, []), tool.start or 0
    index = bisect_left(among, (start,))
    if tool.kind != "tool" or not index:
        return None
    model_start, _, model = among[index - 1]
    if (model.end or 0) <= start or (
        before is not None and before.kind == "model" and model_start < (before.end or 0)
    ):
        return None
    return PathStep(model, start - model_start)


def format_duration(time: int) -> str:
    """A time for people.

    >>> (
    ...     format_duration(1_234_000_000), format_duration(8_200_000),
    ...     format_duration(75 * NANOSECONDS_PER_SECOND)
    ... )
    ('1.23 s', '8.2 ms', '75.0 s')
    >>> format_duration(3_000), format_duration(999_990_000), format_duration(7_230 * NANOSECONDS_PER_SECOND)
    ('3 µs', '1.00 s', '2 h 0 min')
    >>> format_duration(0), format_duration(7)
    ('0 µs', '7 ns')
    """
    if time < 999_500:
        return f"{round(time / 1e3)} µs" if time >= 1000 or not time else f"{time} ns"
    if time < 999_950_000:
        return f"{time / 1e6:.1f} ms"
    if time < 120 * NANOSECONDS_PER_SECOND:
        return (
            f"{time / NANOSECONDS_PER_SECOND:.2f} s"
            if time < 9.995 * NANOSECONDS_PER_SECOND
            else f"{time / NANOSECONDS_PER_SECOND:.1f} s"
        )
    minutes, remainder = divmod(round(time / NANOSECONDS_PER_SECOND), 60)
    if minutes < 60:
        return f"{minutes} min {remainder} s"
    hours, minutes = divmod(round(time / NANOSECONDS_PER_SECOND / 60), 60)
    return f"{hours} h {minutes} min"
