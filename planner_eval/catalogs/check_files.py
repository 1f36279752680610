"""Plans against the tools that they may use, and traces by themselves."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from planner_eval.base.arguments import NAMES, expect, one_of
from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import loads_if_json
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.catalogs.check import check as check_plan
from planner_eval.catalogs.formats import read_catalog
from planner_eval.catalogs.record_tools import listed_tools, tools_of_record
from planner_eval.plan.model import Call, Diagnostic, Plan
from planner_eval.reading.dialects.conversations.spans import (
    QUOTED_SPAN_KEYS,
    has_tool_run,
    is_span,
    spans_in,
)
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import Source, only_record, parse

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Catalog


LEVELS = ("error", "warning", "info")
"""How serious a finding is, the worst first."""


def check(
    plan: Source,
    catalog: Any = None,
    *,
    trace: Any = None,
    ignore: Collection[str] = (),
    level: str = "info",
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
        ignore: Codes of findings to leave out.
        level: The least severity that is told: ``"error"``, ``"warning"`` or ``"info"``.

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
        raise InputError("there is nothing to check: the plan is None, as of a trace in which no tool ran")
    if isinstance(plan, os.PathLike):
        plan = only_record(plan)
    talk, trace = trace, trace_of(plan) if trace is None else _trace_spans(trace)
    brought = tools_of_record(plan) if catalog is None and isinstance(plan, Record) else None
    tools = read_catalog(catalog) if catalog is not None else brought
    read = parse(plan)
    recorded = trace is not None or any(call.has_result for call in read.calls)
    if tools is None and not recorded:
        raise InputError(
            "there is no catalog to check the plan against, it records no answers of tools, and it is no "
            "trace: a trace is a list of spans, or what OpenTelemetry, OpenInference, the OpenAI Agents SDK "
            "or MLflow export"
        )
    diagnostics: list[Diagnostic] = []
    if recorded:
        from planner_eval.reading.traces.findings import findings
        from planner_eval.reading.traces.run import read_run, recorded_run

        talk = data_of(plan) if talk is None else talk
        run = read_run(trace, read) if trace is not None else recorded_run(read, talk)
        acting = {tool.full_name for tool in tools.tools if tool.action} if tools is not None else ()
        diagnostics += findings(read, run, acting) if run is not None else ()
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
    if trace_of(record) is not None or listed_tools(record).tools is not None:
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
