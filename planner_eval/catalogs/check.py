"""Check a plan against a tool catalog, without running anything.

Findings are diagnostics, in order of calls and arguments; their codes, ``check.…``, are explained in
:data:`planner_eval.base.errors.CODES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from planner_eval.base.text import closest_name
from planner_eval.catalogs.catalog import ANY, Catalog, Parameter, Tool, Type
from planner_eval.catalogs.value_errors import Fault, ValueChecker, format_path, is_compatible
from planner_eval.plan.model import (
    WHOLE_RESULT_NAMES,
    Call,
    Diagnostic,
    Plan,
    Ref,
    Template,
    Unresolved,
    Value,
    references,
)

if TYPE_CHECKING:
    from planner_eval.catalogs.json_schema.validation import ArgumentsValidator


_MAX_SHOWN_CHARS = 60
_WARNING_CODES = ("check.format", "check.undecided")
_MAX_HINTS = 20  # looking for the closest name costs more than all the rest; a plan of strangers gets no more


def check(plan: Plan, catalog: Catalog, *, hints: bool = True) -> tuple[Diagnostic, ...]:
    """Everything in a plan that contradicts a catalog.

    Args:
        plan: The plan.
        catalog: The tools it may call.
        hints: Whether the closest name is looked for where one is unknown, which takes longest of all.

    Returns:
        Findings by call and argument; what the plan's own diagnostics say already is not repeated.

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
        findings += _check_references(plan, position, call, chosen, catalog)
    findings += _check_answer(plan, chosen)
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
        text = f"{call.name} is offered by {', '.join(apps)}, and the call names none of them"
        findings.insert(0, Diagnostic("check.ambiguous_tool", text, "info", position, span=call.span))
    return tool, findings


def _unknown_tool_finding(call: Call, position: int, catalog: Catalog, *, hints: bool) -> Diagnostic:
    app, name = call.app, call.name
    if app is None and "." in name and name.rpartition(".")[0] in catalog.apps:
        app, _, name = name.rpartition(".")
    offers = sorted({tool.app for tool in catalog.named(name) if tool.app})
    if app and offers:
        text = f"{app} has no permission to call {name}; it belongs to {', '.join(offers)}"
        return Diagnostic("check.permission", text, "error", position, span=call.span)
    hint = _hint(call.name, catalog) if hints else ""
    text = f"{catalog.name} has no tool {call.tool[:_MAX_SHOWN_CHARS]!r}{hint}"
    return Diagnostic("check.unknown_tool", text, "error", position, span=call.span)


def _hint(name: str, catalog: Catalog) -> str:
    names = sorted({tool.name for tool in catalog.tools} | {tool.full_name for tool in catalog.tools})
    close = closest_name(name, names)
    return f"; did you mean {close}?" if close else ""


def _check_arguments(call: Call, position: int, tool: Tool, catalog: Catalog) -> Iterator[Diagnostic]:
    """What is wrong with the arguments as far as the call alone can say."""
    if tool.judge is not None:
        yield from _check_schema(call, position, tool, tool.judge, catalog)
        return
    parameters = {p.name: p for p in tool.parameters}
    checker = ValueChecker(catalog.text_values, catalog.holes)
    for name, value, span in _arguments_with_spans(call):
        parameter = parameters.get(name)
        if parameter is None and not tool.open:
            yield Diagnostic(
                "check.unknown_argument", _unknown_argument_text(tool, name), "error", position, name, span
            )
            continue
        kind = parameter.type if parameter is not None else tool.others or ANY
        for fault in checker.wrong(value, kind):
            yield _finding(fault, format_path(name, fault.at), position, name, span)
    argument_names = {name for name, _ in call.arguments}
    for declared in tool.parameters:
        if declared.required and declared.name not in argument_names:
            text = _missing_argument_text(tool, declared.name)
            yield Diagnostic("check.missing_argument", text, "error", position, declared.name, call.span)


def _check_schema(
    call: Call, position: int, tool: Tool, judge: ArgumentsValidator, catalog: Catalog
) -> Iterator[Diagnostic]:
    """What is wrong with the arguments of a tool whose schema says more than types do."""
    spans = {name: span for name, _, span in _arguments_with_spans(call)}
    wrong = judge.wrong(dict(call.arguments), texts=catalog.text_values, holes=catalog.holes)
    for fault in wrong:
        name = str(fault.at[0]) if fault.at else fault.name
        span = spans.get(name, call.span) if name is not None else call.span
        if len(fault.at) == 1 and fault.name == name and name is not None:
            yield Diagnostic(fault.code, _unknown_argument_text(tool, name), "error", position, name, span)
        elif not fault.at and name is not None:
            suffix = fault.text.removeprefix(f"the field {name!r} is needed")
            yield Diagnostic(
                fault.code, _missing_argument_text(tool, name) + suffix, "error", position, name, span
            )
        else:
            yield _finding(fault, format_path("", fault.at) or tool.full_name, position, name, span)


def _finding(
    fault: Fault, location: str, position: int, name: str | None, span: tuple[int, int] | None
) -> Diagnostic:
    severity = "warning" if fault.code in _WARNING_CODES else "error"
    return Diagnostic(fault.code, f"{location}: {fault.text}", severity, position, name, span)


def _unknown_argument_text(tool: Tool, name: str) -> str:
    return (
        f"{tool.full_name} takes no argument {name[:_MAX_SHOWN_CHARS]!r}; it takes "
        f"{_join_names(tool.parameters)}"
    )


def _missing_argument_text(tool: Tool, name: str) -> str:
    return f"{tool.full_name} needs the argument {name!r}"


def _check_references(
    plan: Plan, position: int, call: Call, chosen: list[Tool | None], catalog: Catalog
) -> Iterator[Diagnostic]:
    """What is wrong with the references of one call, given what their producers return."""
    tool = chosen[position]
    parameter_types = {p.name: p.type for p in tool.parameters} if tool else {}
    for name, value, span in _arguments_with_spans(call):
        for path, ref in references(value):
            if isinstance(ref, Unresolved):
                continue
            output, text = _referenced_type(ref, plan, chosen)
            if output is None:
                yield Diagnostic(
                    "check.unknown_output",
                    f"{format_path(name, path)}: {text}",
                    "error",
                    position,
                    name,
                    span,
                )
                continue
            into = ANY if isinstance(value, Template) else parameter_types.get(name, ANY).at(path) or ANY
            if not is_compatible(output, into, texts=catalog.text_values):
                text = f"{format_path(name, path)}: expected {into}, but {text} is {output}"
                yield Diagnostic("check.output_type", text, "error", position, name, span)


def _check_answer(plan: Plan, chosen: list[Tool | None]) -> Iterator[Diagnostic]:
    for name, value in plan.answer or ():
        for _, ref in references(value):
            if isinstance(ref, Ref):
                output, text = _referenced_type(ref, plan, chosen)
                if output is None:
                    yield Diagnostic("check.unknown_output", f"answer {name}: {text}", "error", None, name)


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
        hint = ", and only a tool with one output has it under that name" if has_several_outputs else ""
        return None, f"{text}; it returns {tool.returned or 'nothing with names'}{hint}"
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


def _join_names(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(p.name for p in parameters) or "none"
