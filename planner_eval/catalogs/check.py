"""Check a plan against a tool catalog, without running anything.

Findings are diagnostics, in order of calls and arguments; their codes, ``check.…``, are explained in
``data/codes.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import NAMES, InputError, ParseError, expect, one_of
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import closest_name
from planner_eval.catalogs.catalog import ANY, Catalog, Tool, Type
from planner_eval.catalogs.formats import read_catalog
from planner_eval.catalogs.record_tools import listed_tools, offers_no_tools, tools_of_record
from planner_eval.catalogs.value_errors import (
    ValueChecker,
    describe_limits,
    find_text_problem,
    format_path,
    is_compatible,
)
from planner_eval.plan.model import (
    WHOLE_RESULT_NAMES,
    Call,
    Diagnostic,
    Plan,
    Ref,
    Template,
    Unresolved,
    Value,
    is_dependent,
    references,
)
from planner_eval.reading.dialects.conversations.spans import (
    QUOTED_SPAN_KEYS,
    has_tool_run,
    is_span,
    spans_in,
)
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import Source, only_record, parse

_MAX_SHOWN_CHARS = 60
_WARNING_CODES = ("check.format", "check.undecided")
_MAX_HINTS = 20  # looking for the closest name costs more than all the rest; a plan of strangers gets no more


def check_plan(plan: Plan, catalog: Catalog, *, hints: bool = True) -> tuple[Diagnostic, ...]:
    """Everything in a plan that contradicts a catalog.

    Args:
        plan: The plan.
        catalog: The tools it may call.
        hints: Whether the closest name is looked for where one is unknown, which takes longest of all.

    Returns:
        Findings by call and argument; what the plan's own diagnostics say already is not repeated.

    >>> from planner_eval.catalogs.catalog import Parameter
    >>> from planner_eval.plan.model import Call
    >>> catalog = Catalog((Tool("add", parameters=(Parameter("a", Type(("integer",))),)),))
    >>> [found.code for found in check(Plan((Call("1", "add", (("a", "x"),)),)), catalog)]
    ['check.wrong_type']
    """
    chosen: list[Tool | None] = []
    findings: list[Diagnostic] = []
    strangers = 0
    for position, call in enumerate(plan.calls):
        tool, call_findings = _choose_variant(call, position, catalog, hints=hints and strangers < _MAX_HINTS)
        strangers += tool is None
        chosen.append(tool)
        findings += call_findings
    for position, call in enumerate(plan.calls):
        for name, value, span in _arguments_with_spans(call):
            if is_dependent(value):
                tool = chosen[position]
                kinds = () if tool is None else (p.type for p in tool.parameters if p.name == name)
                kind = next(iter(kinds), (tool and tool.others) or ANY)
                problems = _find_reference_problems(name, value, kind, plan, chosen, catalog)
                findings += [Diagnostic(*problem, "error", position, name, span) for problem in problems]
    for name, value in plan.answer or ():
        problems = _find_reference_problems(name, value, ANY, plan, chosen, catalog)
        findings += [Diagnostic(code, f"answer {text}", "error", None, name) for code, text in problems]
    findings += _find_unused_results(plan, chosen, catalog)
    return tuple(sorted(findings, key=lambda finding: (finding.call is None, finding.call or 0)))


def find_tool(call: Call, catalog: Catalog) -> Tool | None:
    """The tool that a call means: of several variants the one it breaks least; None for an unknown one.

    >>> find_tool(Call("1", "add"), Catalog((Tool("add"),))).name
    'add'
    """
    return _choose_variant(call, 0, catalog, hints=False)[0]


def _choose_variant(
    call: Call, position: int, catalog: Catalog, *, hints: bool
) -> tuple[Tool | None, list[Diagnostic]]:
    """The tool that a call means (of several variants the one it breaks least) and what it breaks."""
    tools = catalog.find(call.name, call.app)
    if not tools:
        return None, [_unknown_tool_finding(call, position, catalog, hints=hints)]
    tries = [(tool, list(_check_arguments(call, position, tool, catalog))) for tool in tools]
    tool, findings = min(tries, key=lambda attempt: len(attempt[1]))
    apps = sorted({tool.app for tool in tools if tool.app})
    if call.app is None and len(apps) > 1 and "." not in call.name:
        text = f"{call.name} is offered by {', '.join(apps)}, but the call names none of them"
        findings.insert(0, Diagnostic("check.ambiguous_tool", text, "info", position, span=call.span))
    return tool, findings


def _unknown_tool_finding(call: Call, position: int, catalog: Catalog, *, hints: bool) -> Diagnostic:
    app, name = call.app, call.name
    if app is None and "." in name and name.rpartition(".")[0] in catalog.apps:
        app, _, name = name.rpartition(".")
    offers = sorted({tool.app for tool in catalog.named(name) if tool.app})
    if app and offers:
        text = f"{app} has no permission to call {name}, a tool of {', '.join(offers)}"
        return Diagnostic("check.permission", text, "error", position, span=call.span)
    names = {name for tool in catalog.tools for name in (tool.name, tool.full_name)} if hints else ()
    close = closest_name(call.name, sorted(names))
    hint = f"; did you mean {close}?" if close else ""
    text = f"{catalog.name} has no tool {call.tool[:_MAX_SHOWN_CHARS]!r}{hint}"
    return Diagnostic("check.unknown_tool", text, "error", position, span=call.span)


def _check_arguments(call: Call, position: int, tool: Tool, catalog: Catalog) -> Iterator[Diagnostic]:
    """What is wrong with the arguments as far as the call alone can say."""
    values, texts, holes = dict(call.arguments), catalog.text_values, catalog.holes
    if tool.judge is not None:
        faults = tool.judge.wrong(values, texts=texts, holes=holes)
    else:
        faults = ValueChecker(texts, holes).wrong(values, tool.arguments)
    spans = {name: span for name, _, span in _arguments_with_spans(call)} if faults else {}
    for fault in faults:
        name = str(fault.at[0]) if fault.at else fault.name
        text = f"{format_path('', fault.at) or tool.full_name}: {fault.text}"
        if name is not None and not fault.at:
            suffix = fault.text.removeprefix(f"the field {name!r} is required")
            text = f"{tool.full_name} needs the argument {name!r}{suffix}"
        elif name is not None and fault.at == (fault.name,) and fault.code == "check.unknown_argument":
            takes = ", ".join(p.name for p in tool.parameters) or "none"
            text = f"{tool.full_name} takes no argument {name[:_MAX_SHOWN_CHARS]!r}; it takes {takes}"
        severity = "warning" if fault.code in _WARNING_CODES else "error"
        span = call.span if name is None else spans.get(name, call.span)
        yield Diagnostic(fault.code, text, severity, position, name, span)


def _find_reference_problems(
    name: str, value: Value, kind: Type, plan: Plan, chosen: list[Tool | None], catalog: Catalog
) -> Iterator[tuple[str, str]]:
    """What is wrong with the references in an argument of a type, given what their producers return."""
    if isinstance(value, Template) and (problem := find_text_problem(value.parts, kind)) is not None:
        yield "check.output_type", f"{name}: {problem}"
    for path, ref in references(value):
        if isinstance(ref, Unresolved):
            continue
        output, text = _referenced_type(ref, plan, chosen)
        if output is None:
            yield "check.unknown_output", f"{format_path(name, path)}: {text}"
            continue
        into = ANY if isinstance(value, Template) else kind.at(path) or ANY
        if not is_compatible(output, into, texts=catalog.text_values):
            expected, returned = str(into), str(output)
            if expected == returned:
                expected, returned = describe_limits(into), describe_limits(output, every_field=True)
            problem = f"{format_path(name, path)}: expected {expected}, but {text} is {returned}"
            yield "check.output_type", problem


def _referenced_type(ref: Ref, plan: Plan, chosen: list[Tool | None]) -> tuple[Type | None, str]:
    """The type of what a reference means, with its name for people; None, with why, if there is none."""
    tool, producer = chosen[ref.call], plan.calls[ref.call]
    if tool is None:
        return ANY, ""
    output = tool.output(ref.path)
    named = f"{format_path('', ref.path) or 'the result'} of call {ref.call + 1} ({producer.name})"
    if output is None:
        text = (
            f"call {ref.call + 1} ({tool.full_name}) has no output "
            f"{format_path('', ref.path)[:_MAX_SHOWN_CHARS]!r}"
        )
        has_several_outputs = len(tool.returns.fields) > 1 and ref.path[0] in WHOLE_RESULT_NAMES
        hint = " (that name is only for tools with one output)" if has_several_outputs else ""
        return None, f"{text}{hint}; it returns {tool.returned or 'nothing named'}"
    single = tool.returns.fields
    if not ref.path and len(single) == 1:  # the whole result of a tool with one output stands for it
        output = Type(any_of=(output, single[0].type)) if single[0].type != ANY else ANY
    return output, named


def _find_unused_results(plan: Plan, chosen: list[Tool | None], catalog: Catalog) -> Iterator[Diagnostic]:
    """Calls that look something up which nothing uses.

    Without a named answer the last call is the answer, and a plan without any reference says nothing
    about use at all.
    """
    used = {edge.producer for edge in plan.edges}
    used |= {
        ref.call for _, value in plan.answer or () for _, ref in references(value) if isinstance(ref, Ref)
    }
    if not used:
        return
    for position, call in enumerate(plan.calls):
        tool = chosen[position]
        last = plan.answer is None and position == len(plan.calls) - 1
        if position in used or last or (tool is not None and tool.action):
            continue
        severity = "info" if catalog.reports_all else "warning"
        text = f"nothing uses the result of {call.name}"
        yield Diagnostic("check.unused_result", text, severity, position, span=call.span)


def _arguments_with_spans(call: Call) -> Iterator[tuple[str, Value, tuple[int, int] | None]]:
    """Name, value and place of each argument."""
    has_spans = len(call.spans) == len(call.arguments)
    for number, (name, value) in enumerate(call.arguments):
        yield name, value, call.spans[number] if has_spans else call.span


# ----------------------------------------------------------------------
# Plans against the tools that they may use, and traces by themselves.
LEVELS = ("error", "warning", "info")
"""How serious a finding is, the worst first."""


def check(
    plan: Source,
    catalog: Any = None,
    *,
    trace: Any = None,
    level: str = "info",
    ignore: Collection[str] = (),
) -> tuple[Diagnostic, ...]:
    """Everything in a plan that contradicts a catalog, and what is wrong in a recorded run by itself.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``. Of a trace's
            spans the calls are the plan; a trace needs no catalog, nor do calls whose answers are recorded,
            as in a conversation.
        catalog: The tools it may call: a catalog, or what :func:`planner_eval.read_catalog` takes. Left out,
            those that a record brings beside its plan.
        trace: The trace, or the conversation, that `plan` was read of, as JSON data: a plan by itself holds
            its times and failures no more. Where `plan` is no plan yet, but a text, data or a file, it is
            that.
        level: The least severity that is told: ``"error"``, ``"warning"`` or ``"info"``.
        ignore: Codes of findings to leave out.

    Returns:
        Findings by call and argument; what the plan's own diagnostics say already is not repeated.

    Raises:
        CatalogError: the catalog cannot be read.
        InputError: there is no plan; or no catalog, while the plan is no trace and records no answers.
        ParseError: the plan cannot be read.

    >>> [found.code for found in check("f(#x='1')", [{"name": "g", "parameters": {}}])]
    ['check.unknown_tool']
    >>> told = {"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "1.09"}
    >>> span = {"name": "execute_tool f", "attributes": told}
    >>> [found.code for found in check([span | {"spanId": name, "startTime": 1} for name in "ab"])]
    ['trace.repeated_call']
    """
    if plan is None:
        raise InputError("nothing to check: the plan is None, as in a trace without tool calls")
    if isinstance(plan, os.PathLike):
        plan = only_record(plan)
    talk, trace = trace, trace_of(plan) if trace is None else _trace_spans(trace)
    brought = tools_of_record(plan) if catalog is None and isinstance(plan, Record) else None
    tools = read_catalog(catalog) if catalog is not None else brought
    read = parse(plan, tools=tools)
    recorded = trace is not None or any(call.has_result for call in read.calls)
    if tools is None and not recorded:
        raise InputError(
            "the plan is not a trace, records no tool outputs, and has no catalog: pass one with catalog="
        )
    diagnostics: list[Diagnostic] = []
    if recorded:
        from planner_eval.reading.trace_findings import findings
        from planner_eval.reading.trace_times import read_run, recorded_run

        talk = data_of(plan) if talk is None else talk
        run = read_run(trace, read) if trace is not None else recorded_run(read, talk)
        acting = {tool.full_name for tool in tools.tools if tool.action} if tools is not None else ()
        if run is not None:
            documented = (
                "" if tools is None else repr([(tool.schema, tool.parameters) for tool in tools.tools])
            )
            diagnostics += findings(read, run, acting, talk if trace is None else None, documented)
    if tools is not None:
        diagnostics += check_plan(read, tools) if trace is None else _check_trace(read, tools)
    diagnostics.sort(key=lambda d: (d.call is None, d.call or 0))
    return filter_findings(diagnostics, ignore=ignore, level=level)


def _check_trace(plan: Plan, catalog: Catalog) -> Iterator[Diagnostic]:
    """What contradicts a catalog in a trace, which does not record everything.

    OpenInference for LangChain writes a tool's only argument without its name, and some exporters write no
    arguments: what was not recorded is no fault. That no call names another's result says nothing either.
    """
    blind = {d.call for d in plan.diagnostics if d.code == "trace.no_arguments"}
    for diagnostic in check_plan(
        replace(plan, calls=tuple(_name_only_argument(call, catalog) for call in plan.calls)), catalog
    ):
        if not (diagnostic.call in blind and diagnostic.code == "check.missing_argument"):
            yield diagnostic


def _name_only_argument(call: Call, catalog: Catalog) -> Call:
    """A call with its only argument under the name that its tool has for it, where the trace has none."""
    if [name for name, _ in call.arguments] != ["0"]:
        return call
    for tool in catalog.find(call.name, call.app):
        first = next((p for p in tool.parameters if p.required), next(iter(tool.parameters), None))
        if first is not None:
            return replace(call, arguments=((first.name, call.arguments[0][1]),))
    return call


def can_check(record: Record) -> bool:
    """Whether a record can be checked without a catalog: a trace, recorded answers, or tools that it brings.

    Args:
        record: The record.

    >>> can_check(Record("a.json", 0, None, [{"name": "f", "arguments": {}, "result": 3}]))
    True
    """
    if record.error is not None:
        return False
    if trace_of(record) is not None or listed_tools(record).tools is not None or offers_no_tools(record):
        return True
    try:
        return any(call.has_result for call in parse(record).calls)
    except ParseError:
        return False


def trace_of(source: Source) -> Any:
    """The trace that a source is, as JSON data; None where it is something else.

    Args:
        source: What :func:`planner_eval.parse` takes.

    >>> trace_of('{"name": "execute_tool f", "attributes": {}}')["name"]
    'execute_tool f'
    """
    if isinstance(source, os.PathLike):
        source = only_record(source)
    text = source.source if isinstance(source, Record) else source
    text = text.text if isinstance(text, Plan) else text
    has_values = isinstance(source, Record) and source.values is not None
    if isinstance(text, str) and not has_values and not any(sign in text for sign in QUOTED_SPAN_KEYS):
        return None
    return _trace_spans(data_of(source))


def data_of(source: Source) -> Any:
    """What a plan was read from, as JSON data; None where it is a text of another kind, or not known.

    Args:
        source: What :func:`planner_eval.parse` takes, but for a path.

    >>> data_of('{"role": "user"}'), data_of("f()")
    ({'role': 'user'}, None)
    """
    values = getattr(source, "values", None) if isinstance(source, Record) else None
    if isinstance(source, Record):
        source = source.source
    if isinstance(source, Plan):
        source = source.text
    if isinstance(source, str):
        if values is None and source.lstrip()[:1] in ("[", "{"):
            values = loads_if_json(source, DEFAULT_LIMITS)
        source = values[0] if values and len(values) == 1 else values
    return source


def _trace_spans(data: Any) -> Any:
    """Data that is a trace's spans; None where it is something else."""
    items = data if isinstance(data, list) else [data]
    spans = bool(items) and all(isinstance(item, dict) and is_span(item) for item in items)
    return data if spans else None


def filter_findings(
    findings: Sequence[Diagnostic], *, ignore: Collection[str] = (), level: str = "info"
) -> tuple[Diagnostic, ...]:
    """The findings that are serious enough and not to be ignored."""
    expect(one_of(LEVELS), level=level)
    expect(NAMES, ignore=ignore)
    worst = LEVELS[: LEVELS.index(level) + 1]
    return tuple(finding for finding in findings if finding.severity in worst and finding.code not in ignore)


def explain_empty_trace(trace: Any) -> str | None:
    """Why a trace is no plan: what it has not; None where it is no trace, or has what could be read.

    Args:
        trace: The trace, as :func:`trace_of` gives it.
    """
    if trace is None:
        return None
    if has_tool_run(trace if isinstance(trace, list) else [trace]):
        return None
    return "a trace without spans of tools or models" if spans_in(trace) else "the trace is empty: no spans"
