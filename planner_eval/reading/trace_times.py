"""What a trace records beside its calls: when each span ran, whether it failed, and what the model said."""

from __future__ import annotations

import itertools
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from planner_eval.base.errors import PlanevalError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count, shorten
from planner_eval.plan.model import Call, Diagnostic, Plan, Value
from planner_eval.reading.conversation_findings import find_conversation_findings
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


# ----------------------------------------------------------------------
# What is wrong with a trace as a record: what it lacks, what contradicts itself; and where its time went.
_MAX_SHOWN_LENGTH = 60


def find_trace_defects(run: Run) -> Iterator[Diagnostic]:
    """What a trace lacks or contradicts, by which other findings may be missed.

    >>> from planner_eval.reading.trace_times import Span
    >>> [found.code for found in find_trace_defects(Run((Span("a", None, "tool", "f", 0, 5, 3),)))]
    ['trace.out_of_order']
    """
    for text in _describe_missing_spans(run):
        yield Diagnostic("trace.incomplete", text, "warning")
    untimed = [span for span in run.spans if span.start is None]
    if untimed and run.tools:
        text = (
            f"{len(untimed):,} of {format_count(len(run.spans), 'span')} have no start times, "
            "so calls are in the order of the file: export the times"
        )
        yield Diagnostic("trace.untimed", text, "warning")
    by_id = {span.id: span for span in run.spans if span.id is not None}
    for span in run.spans:
        outer = by_id.get(span.parent or "")
        backward = None not in (span.start, span.end) and (span.end or 0) < (span.start or 0)
        early = (
            outer is not None
            and None not in (outer.start, span.start)
            and (span.start or 0) < (outer.start or 0)
        )
        if backward or early:
            what = (
                "ended before it began"
                if backward
                else f"began before the span {outer and outer.id} it ran in"
            )
            text = (
                f"{shorten(span.name, _MAX_SHOWN_LENGTH)} (span {span.id}) {what}: clocks "
                "disagree, so the order "
                "of the calls may be wrong"
            )
            yield Diagnostic("trace.out_of_order", text, "warning", span.call)


def _describe_missing_spans(run: Run) -> Iterator[str]:
    span_ids = {span.id for span in run.spans}
    orphans = [span for span in run.spans if span.parent is not None and span.parent not in span_ids]
    has_root = any(span.parent is None for span in run.spans)
    # One that is called over the network goes on another's trace: its first span's parent stands elsewhere.
    orphans = [span for span in orphans if span.whole is not False]
    if orphans and (
        has_root or any(span.whole for span in orphans) or len({span.parent for span in orphans}) > 1
    ):
        parents = ", ".join(dict.fromkeys(str(span.parent) for span in orphans[:3]))
        yield (
            f"{format_count(len(orphans), 'span')} have parents that are "
            f"not in the file ({parents}): "
            "export complete traces"
        )
    open_ones = [span for span in run.spans if span.start is not None and span.end is None]
    if run.unended:
        yield f"of {format_count(run.unended, 'span')} the end is not a readable time; export times"
    elif open_ones and any(span.end is not None for span in run.spans):
        names = ", ".join(shorten(span.name, _MAX_SHOWN_LENGTH) for span in open_ones[:3])
        some = format_count(len(open_ones), "span")
        yield f"{some} did not end ({names}): the run was cut off, or its end was not exported"
    if run.repeated:
        yield f"{format_count(run.repeated, 'span')} are duplicated in the file and counted once"


def describe_critical_path(run: Run) -> Iterator[Diagnostic]:
    """What a run waited for, and how long.

    >>> from planner_eval.reading.trace_times import Span
    >>> print(next(describe_critical_path(Run((Span("a", None, "tool", "f", 0, 0, 5_000_000),)))).message)
    the critical path is 5.0 ms of 5.0 ms: f 5.0 ms; speeding up other steps does not help
    """
    path = critical_path(run)
    if path is None:
        return
    steps = [f"{shorten(step.span.name, 30)} {format_duration(step.time)}" for step in path.steps]
    if len(steps) > 8:
        steps = [*steps[:4], f"{len(steps) - 7} more", *steps[-3:]]
    text = (
        f"the critical path is {format_duration(path.time)} of {format_duration(path.whole)}: "
        f"{' → '.join(steps)}; "
        f"speeding up other steps does not help{_format_concurrent_spans(path)}"
    )
    yield Diagnostic("trace.critical_path", text, "info")


def _format_concurrent_spans(path: CriticalPath) -> str:
    """What may have been waited for beside the path, in words."""
    if not path.beside:
        return ""
    names = [*dict.fromkeys(shorten(span.name, 30) for span in path.beside)]
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f", unless the run waited for {some} in {format_duration(path.unsaid)} of the rest"


# ----------------------------------------------------------------------
# What is wrong with a recorded run by itself, without gold and without a catalog.
MIN_LOOP_ROUNDS = 3
"""How often the same calls in a row are a loop."""

_MAX_LOOP_PERIOD = 20
"""The longest round of a loop that is looked for."""


_MAX_ANCESTORS = 50
"""How many spans around a call are looked at."""

_MAX_NAMED_CALLS = 6
"""How many calls of a loop's round are named."""

_TRANSIENT_FAILURE = re.compile(
    r"time[d ]?-? ?out|rate.?limit|too many requests|\b429\b|\b50[234]\b|unavailable|temporar|overload|"
    r"connection|reset by peer|(?:database|table|file|resource) is (?:locked|busy)|deadlock|"
    r"\b500\b|internal server error|try again",
    re.I,
)
"""Failures that may pass: the same call again is the right answer to them."""

_DONE_WORDS = frozenset(
    {"ok", "okay", "done", "success", "successfully", "has", "been", "was", "the", "is", "it"}
)
"""Words of answers that only say that something was done: another such call may do it again."""

_MAX_OTHER_WORDS = 2
"""With no more other words than that, and no number, an answer proves nothing: "clicked", "vote counted"."""


def findings(
    plan: Plan, run: Run, acting: Collection[str] = (), conversation: Any = None, documented: str = ""
) -> tuple[Diagnostic, ...]:
    """Everything that a trace shows to be wrong, by call.

    Args:
        plan: Its calls.
        run: Its spans, as :func:`planner_eval.reading.trace_times.read_run` gives them for that plan, or
            :func:`planner_eval.reading.trace_times.recorded_run` of a conversation.
        acting: The tools that are known to change something: to call such a one again may be meant.
        conversation: The messages that the calls stand in, where it is one.
        documented: What is said of the tools, in one text.

    >>> from planner_eval.reading.dialects.read import parse
    >>> from planner_eval.reading.trace_times import read_run
    >>> told = {"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "1.09"}
    >>> span = {"name": "execute_tool f", "attributes": told}
    >>> trace = [{**span, "startTime": 1}, {**span, "startTime": 2}]
    >>> plan = parse(trace)
    >>> [found.code for found in findings(plan, read_run(trace, plan))]
    ['trace.repeated_call']
    """
    trace = _RecordedCalls(plan, run, acting)
    diagnostics = [*_find_repetitions(trace), *_find_unused_answers(trace), *_find_unrun_requests(run)]
    if conversation is not None:
        diagnostics += find_conversation_findings(plan, conversation, acting, documented)
    if run.timed:
        diagnostics += [*find_trace_defects(run), *describe_critical_path(run)]
    return tuple(sorted(diagnostics, key=lambda finding: (finding.call is None, finding.call or 0)))


class _RecordedCalls:
    """The calls of a run with what tells two apart: what was asked, what came back, whether it failed.

    Where equal calls get other answers in time, somebody waits, or turns pages, and repeats nothing.
    """

    def __init__(self, plan: Plan, run: Run, acting: Collection[str]) -> None:
        self.run = run
        self.acting = acting
        self.calls = plan.calls
        self.spans = run.tools
        self.known = {span.id: span for span in run.spans if span.id is not None}
        blind = {
            diagnostic.call for diagnostic in plan.diagnostics if diagnostic.code == "trace.no_arguments"
        }
        self.asked = [
            _json_key(call.tool, dict(call.arguments)) if index not in blind else f"{index}: not recorded"
            for index, call in enumerate(plan.calls)
        ]
        self.answers = [_json_key(call.result) if call.has_result else None for call in plan.calls]
        self.errors = [self._error(index) for index in range(len(plan.calls))]
        self.silent = [call.tool in acting or _says_done(call) for call in plan.calls]
        self.works: dict[str, int] = {}
        answers: dict[str, set[str]] = {}
        for index, (call_key, answer) in enumerate(zip(self.asked, self.answers, strict=True)):
            if self.errors[index] is None:
                self.works[call_key] = index
                answers.setdefault(call_key, set()).add(answer or "")
        self.changing = {call_key for call_key, outputs in answers.items() if len(outputs) > 1}
        keys = [*zip(self.asked, self.answers, strict=True)]
        self.waited_for = {
            call_key
            for (call_key, answer), (next_key, next_answer) in itertools.pairwise(keys)
            if call_key == next_key and answer != next_answer
        }
        """Calls that were answered otherwise with no other call in between: somebody waited."""

    def _error(self, index: int) -> str | None:
        span = self.spans.get(index)
        return span.error if span is not None else None

    def place(self, index: int) -> str:
        """A call's span, by which people find it in their viewer."""
        span = self.spans.get(index)
        return f" (span {span.id})" if span is not None and span.id is not None else ""

    def may_change(self, first: int, second: int) -> bool:
        """Whether the second of two equal calls may have been made to see whether the answer changed."""
        call_key = self.asked[second]
        if second == first + 1 and self.answers[first] == self.answers[second]:
            return call_key in self.waited_for
        return call_key in self.changing

    def between(self, first: int, second: int) -> bool:
        """Whether another call was made between two equal ones."""
        return any(call_key != self.asked[second] for call_key in self.asked[first + 1 : second])

    def apart(self, first: int, second: int) -> bool:
        """Whether two calls ran in different spans that ran at the same time, as agents beside each other."""
        first_spans, second_spans = (self._above(index) for index in (first, second))
        for depth, span in enumerate(first_spans):
            if span in second_spans:
                return (
                    depth > 0
                    and second_spans.index(span) > 0
                    and _are_concurrent(first_spans[depth - 1], second_spans[second_spans.index(span) - 1])
                )
        return bool(first_spans and second_spans) and _are_concurrent(first_spans[-1], second_spans[-1])

    def _above(self, index: int) -> list[Span]:
        """The spans in which a call ran, the nearest first."""
        ancestors: list[Span] = []
        span = self.spans.get(index)
        while span is not None and len(ancestors) < _MAX_ANCESTORS:
            span = self.known.get(span.parent or "")
            if span is None or span in ancestors:
                break
            ancestors.append(span)
        return ancestors

    def at_once(self, first: int, second: int) -> bool:
        """Whether two calls ran at the same time, so that neither can follow from the other's answer."""
        first_span, second_span = self.spans.get(first), self.spans.get(second)
        return (
            first_span is not None
            and second_span is not None
            and None not in (first_span.end, second_span.start)
            and (second_span.start or 0) < (first_span.end or 0)
        )


def _are_concurrent(first: Span, second: Span) -> bool:
    """Whether two spans ran at the same time."""
    return (
        first != second
        and None not in (first.start, first.end, second.start, second.end)
        and (first.start or 0) < (second.end or 0)
        and (second.start or 0) < (first.end or 0)
    )


def _json_key(*values: Value) -> str:
    return json.dumps(values, sort_keys=True, default=str)


# ---------------------------------------------------------------- calls made again
def _find_repetitions(trace: _RecordedCalls) -> Iterator[Diagnostic]:
    """Loops, failures retried unchanged, and calls whose answer was there already."""
    looping: set[int] = set()
    for start, period, rounds in _find_loops(trace):
        looping.update(range(start, start + period * rounds))
        yield _loop_finding(trace, start, period, rounds)
    last: dict[str, int] = {}
    for index, call_key in enumerate(trace.asked):
        before = last.get(call_key)
        last[call_key] = index
        if before is None:
            continue
        if trace.errors[before] is not None:
            yield from _find_failed_retries(trace, before, index)
        elif index not in looping and trace.errors[index] is None and not trace.may_change(before, index):
            yield _repeated_call_finding(trace, before, index)


def _find_loops(trace: _RecordedCalls) -> Iterator[tuple[int, int, int]]:
    """Where calls go round: from which call on, how many are a round, how many rounds there are.

    A round is the same calls with the same answers, none of which failed or only says that it was done.
    """
    signs = [
        None
        if trace.errors[index] is not None
        or not call.has_result
        or call_key in trace.waited_for
        or trace.silent[index]
        else (call_key, trace.answers[index])
        for index, (call_key, call) in enumerate(zip(trace.asked, trace.calls, strict=True))
    ]
    start = 0
    while start < len(signs):
        period = next(
            (
                p
                for p in range(1, _MAX_LOOP_PERIOD + 1)
                if _count_rounds(signs, start, p) >= MIN_LOOP_ROUNDS
                and (p == 1 or trace.changing.isdisjoint(trace.asked[start : start + p]))
            ),
            None,
        )
        if period is None:
            start += 1
            continue
        rounds = _count_rounds(signs, start, period)
        yield start, period, rounds
        start += period * rounds


def _count_rounds(signs: Sequence[tuple[str, str | None] | None], start: int, period: int) -> int:
    first = signs[start : start + period]
    if len(first) < period or None in first:
        return 0
    rounds = 1
    while signs[start + rounds * period : start + (rounds + 1) * period] == first:
        rounds += 1
    return rounds


def _loop_finding(trace: _RecordedCalls, start: int, period: int, rounds: int) -> Diagnostic:
    named = [
        shorten(call.tool, _MAX_SHOWN_LENGTH)
        for call in trace.calls[start : start + min(period, _MAX_NAMED_CALLS)]
    ]
    names = " → ".join(
        [*named, f"… {period - _MAX_NAMED_CALLS} more"] if period > _MAX_NAMED_CALLS else named
    )
    text = (
        f"a loop: {names} {rounds} times in calls {start + 1} to {start + period * rounds}, each round with "
        f"the same answers{trace.place(start)}; "
        "stop after the first round, or tell the model what it already has"
    )
    return Diagnostic("trace.loop", text, "warning", start)


def _find_failed_retries(trace: _RecordedCalls, before: int, index: int) -> Iterator[Diagnostic]:
    """A call that failed, made again as it was, and failed again; one that then works is right."""
    error = trace.errors[index]
    if error is None or trace.at_once(before, index) or trace.works.get(trace.asked[index], -1) > index:
        return
    words = shorten(error.partition("\n")[0], 2 * _MAX_SHOWN_LENGTH)
    passing = _TRANSIENT_FAILURE.search(error) is not None
    between = trace.between(before, index)
    why = "; another tool ran in between, and may have changed it" if between else ""
    text = (
        f"call {before + 1} failed, was retried unchanged and failed again: "
        f"{words!r}{trace.place(index)}{why}; "
        + ("wait longer between tries" if passing else "change the arguments, or give up and say so")
    )
    yield Diagnostic("trace.failed_retry", text, "info" if passing or between else "warning", index)


def _repeated_call_finding(trace: _RecordedCalls, before: int, index: int) -> Diagnostic:
    """A call whose answer was there already."""
    recorded = trace.answers[before] is not None and trace.answers[index] is not None
    between = trace.between(before, index) and not trace.at_once(before, index)
    concurrent = trace.apart(before, index)
    sure = recorded and not concurrent and not trace.silent[index] and not between
    answer_note = "with the same answer" if recorded else "and the trace does not record the answers"
    why = "; another tool ran in between, and may have changed it" if between else ""
    why = "; two agents at once, of which neither may know of the other" if concurrent else why
    text = (
        f"the same call as call {before + 1}, {answer_note}{trace.place(index)}{why}; "
        "reuse the first output, or drop the second call"
    )
    return Diagnostic("trace.repeated_call", text, "warning" if sure else "info", index)


def _says_done(call: Call) -> bool:
    """Whether an answer, beyond what the call itself said, only says that something was done.

    Such calls are made again with reason, to scroll on or to go up once more, where the answer may be ``{}``;
    one of an answer that tells something is not.
    """
    argument_words = set(_WORD.findall(_json_key(dict(call.arguments)).lower()))
    values = list(call.result.values()) if isinstance(call.result, dict) else [call.result]
    return all(_is_done(value, argument_words) for value in values)


def _is_done(value: Value, argument_words: set[str]) -> bool:
    if not isinstance(value, str):
        return value is None or value is True
    words = [
        word
        for word in _WORD.findall(value[:_MAX_SHOWN_LENGTH].lower())
        if word not in argument_words and word not in _DONE_WORDS
    ]
    left = [word for word in words if len(word) > 1 or word.isdigit()]
    return (
        len(value) <= _MAX_SHOWN_LENGTH and len(left) <= _MAX_OTHER_WORDS and not any(map(_has_digit, left))
    )


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


_WORD = re.compile(r"\w+")


# ---------------------------------------------------------------- answers that nobody used
_TOKEN = re.compile(r"[^\W_]*\d[\d.,:]*[^\W_]*|[^\W\d_]{4,}")
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|without|unknown|missing|error|fail\w*|empty|invalid|false|denied)\b", re.I
)


def _find_unused_answers(trace: _RecordedCalls) -> Iterator[Diagnostic]:
    """Answers of which nothing stands in a later argument, nor in what the model said after.

    A trace that does not record what the model said in the end says nothing of that. It is no proof: an
    answer may have decided what came next, and "about twenty" may stand for 21.4.
    """
    heard = _LastMentions(trace)
    for index, call in enumerate(trace.calls):
        span = trace.spans.get(index)
        if span is None or span.end is None or not call.has_result or trace.errors[index] is not None:
            continue
        text = _json_key(call.result)
        own = _tokens(text) - heard.arguments[index] - _tokens(call.name)
        words_recorded = heard.ends or heard.last_said >= span.end
        if (
            not words_recorded
            or not own
            or _NEGATION.search(text)
            or _says_done(call)
            or call.tool in trace.acting
            or heard.uses(own, span.end)
        ):
            continue
        message = (
            f"nothing of the output of {shorten(call.name, _MAX_SHOWN_LENGTH)} appears in a later argument "
            f"or message{trace.place(index)}; drop the call, unless the model used it in other words"
        )
        yield Diagnostic("trace.unused_result", message, "info", index)


class _LastMentions:
    """When each word was last said by the model, or given to a tool."""

    def __init__(self, trace: _RecordedCalls) -> None:
        self.arguments = [_tokens(_json_key(dict(call.arguments))) for call in trace.calls]
        self.latest: dict[str, int] = {}
        self.ends: set[str] = set()
        self.last_said = -1
        for span in trace.run.spans:
            if span.said and span.kind == "model" and span.start is not None:
                self.last_said = max(self.last_said, span.start)
                self._note(_tokens(span.said), span.start)
            elif span.said:
                self.ends |= _tokens(span.said)
        for index, tokens in enumerate(self.arguments):
            start = trace.spans[index].start if index in trace.spans else None
            if start is not None:
                self._note(tokens, start)

    def _note(self, tokens: frozenset[str], when: int) -> None:
        for token in tokens:
            self.latest[token] = max(self.latest.get(token, 0), when)

    def uses(self, tokens: frozenset[str], since: int) -> bool:
        """Whether one of some words was said, or given to a tool, from some time on."""
        return any(token in self.ends or self.latest.get(token, -1) >= since for token in tokens)


def _tokens(text: str) -> frozenset[str]:
    """The numbers and longer words of a text; 1,200.00 and 1200 are one number."""
    return frozenset(_plain_token(token) for token in _TOKEN.findall(text))


_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")


def _plain_token(token: str) -> str:
    token = token.strip(".,:").lower()
    if _NUMBER.fullmatch(token) is None:
        return token
    token = token.replace(",", "")
    return token.rstrip("0").rstrip(".") if "." in token else token


# ---------------------------------------------------------------- tools that never ran
def _find_unrun_requests(run: Run) -> Iterator[Diagnostic]:
    """Tools that the model asked for and that never ran: refused, where the framework says so."""
    for name, span, refused in run.unheard:
        why = "the framework has no such tool" if refused else "no tool of that name ran in this trace"
        where = f" (span {span})" if span is not None else ""
        advice = (
            "offer it, or remove its name from the prompt"
            if refused
            else "a handoff, or a tool run elsewhere"
        )
        text = f"the model asked for {shorten(name, _MAX_SHOWN_LENGTH)!r}, but {why}{where}; {advice}"
        yield Diagnostic("trace.not_run", text, "warning" if refused else "info")
