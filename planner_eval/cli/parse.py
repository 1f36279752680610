"""planeval parse: read plans, and say in which notation, why, and what was ignored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import ParseError
from planner_eval.base.formats import shows
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import JsonObject, join_pieces, line_and_column, one_line, printable
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    argument,
    compute_option,
    emit,
    format_option,
    infer_option,
    note,
    option,
    output_option,
    reading_options,
)
from planner_eval.cli.outcome import Tally
from planner_eval.cli.sources import dataset_options, read_plans
from planner_eval.cli.workers import PlansJob, WorkOptions, run_plans_job, work_options

if TYPE_CHECKING:
    from planner_eval.base.limits import Span
    from planner_eval.plan.model import Call, Diagnostic, Plan, Value
    from planner_eval.reading.files.record import Record


# ----------------------------------------------------------------------
# Where the grammar found calls, arguments and references, in words and as data.
def span_lines(plan: Plan, call: Call) -> Iterator[str]:
    """A line for the call and one an argument, places as line:column-column, the last one past the end.

    ``total at 2:38-62, ← add at 2:49-60``
    """
    from planner_eval.plan.model import Ref, references

    text = plan.text or ""
    if call.span is not None:
        yield f"at {_span_text(text, call.span)}"
    for (name, value), span in zip(call.arguments, call.spans, strict=False):
        phrases = [f"{name} at {_span_text(text, span)}"]
        for _, ref in references(value):
            if ref.span is not None:
                producer = plan.calls[ref.call].id if isinstance(ref, Ref) else f"?{ref.name}"
                phrases.append(f"← {producer} at {_span_text(text, ref.span)}")
        yield ", ".join(phrases)


def _span_text(text: str, span: Span) -> str:
    (line, column), (last, end) = line_and_column(text, span[0]), line_and_column(text, span[1])
    return f"{line}:{column}-{end}" if line == last else f"{line}:{column}-{last}:{end}"


def span_data(call: Call) -> JsonObject:
    """A call's places as JSON data: characters [start, end) of the text, null where they are not known."""
    spans = call.spans or (None,) * len(call.arguments)
    return {
        "id": call.id,
        "span": call.span,
        "arguments": [
            {"name": name, "span": span, "references": list(_reference_spans(value))}
            for (name, value), span in zip(call.arguments, spans, strict=True)
        ],
    }


def _reference_spans(value: Value) -> Iterator[dict[str, Any]]:
    from planner_eval.plan.model import references

    for path, ref in references(value):
        yield {"at": path, "span": ref.span}


# ----------------------------------------------------------------------
# planeval parse: read plans, and say in which notation, why, and what was ignored.
@click.command("parse", cls=Command)
@argument("files", "FILE|DATASET...")
@reading_options
@dataset_options
@option("--repair", "Repair small syntax errors where strict reading fails, and list them.")
@infer_option
@option(
    "--grammar",
    "Read with the notation's Lark grammar, and show positions of calls, arguments and references.",
)
@compute_option
@option("--catalog FILE", "A tool catalog that gives the types of values in untyped notations.")
@format_option("plain", "data", "records", help="Output format: a listing, or a JSON line per plan.")
@work_options
@output_option
def command(
    files: tuple[str, ...],
    dialect: str | None,
    repair: bool,
    infer: bool,
    grammar: bool,
    compute: str | None,
    catalog: str | None,
    form: str,
    running: WorkOptions,
    output: str | None,
    **fields: Any,
) -> int:
    """Show how plans are read: the notation and why, the calls, what was ignored or repaired.

    FILE is a plan, a model's output with a plan in it, a file of records, a directory, a quoted pattern of
    files, or - for standard input. --grammar reads the whole text, or the inside of its fences, strictly by
    the notation's grammar. A plan that a record holds as JSON data is first written as text; positions
    refer to that text.
    """
    from planner_eval.reading.parse import enable_inference, signatures_of, types_of

    options: dict[str, Any] = {"repair": repair, "compute": compute, "tools": catalog and types_of(catalog)}
    if infer and catalog:
        options["infer"] = signatures_of(catalog)
    if grammar:
        if repair:
            raise click.UsageError("--grammar reads strictly: drop --repair or --grammar")
        options["reader"] = "grammar"
    sources = read_plans(files, **fields)
    named = len(sources) > 1
    if infer and not catalog:
        sources = [enable_inference(source) for source in sources]

    plain = shows(form, "plain")
    job = _ParseJob(dialect, options, plain, named, many=named or sources[0].many)
    with run_plans_job(sources, job, running) as (tally, lines):
        emit(join_pieces(map(json.loads, lines) if plain else lines), output)
    if sum(len(source.records) for source in sources) > 1:
        note(str(tally))
    return 0 if not tally.unread else 1 if tally.read else 3


@dataclass(frozen=True)
class _ParseJob(PlansJob):
    """How plans are read and shown."""

    kind, counts = "parse", Tally

    dialect: str | None
    reading: dict[str, Any]
    plain: bool
    named: bool
    many: bool

    def line(self, record: Record, fold: Tally) -> str:
        """A plan's listing as a JSON text, or its data."""
        listing = self._said(record, fold)
        return _line(self.named, record, listing) if isinstance(listing, dict) else json.dumps(listing)

    def _said(self, record: Record, tally: Tally) -> str | dict[str, Any]:
        head = f"{record.where}\n" if self.many else ""
        grammar = self.reading.get("reader") == "grammar"
        try:
            plan = pe.parse(record, dialect=self.dialect, **self.reading)
        except ParseError as error:
            state = tally.missed(error)
            strict = not (self.reading["repair"] or grammar)
            repaired = (
                _parse_with_repair(record, {**self.reading, "dialect": self.dialect}) if strict else None
            )
            return _format_failure(error, self.plain, f"{head}{state}", repaired)
        tally.took(plan)
        if self.plain:
            return head + _plan_text(record, plan, self.dialect, grammar=grammar)
        return _data(record, plan, grammar=grammar)


def _reason(record: Record, plan: Plan, dialect: str | None) -> str:
    """Why the notation was taken."""
    if dialect is not None and record.dialect is None:
        return "as requested"
    from planner_eval.reading.dialects.conversations.turns import find_dialect_reason

    if record.dialect is not None:
        return "as the data set declares"
    if plan.reason is not None and isinstance(record.source, str):
        return plan.reason
    reason = find_dialect_reason(record.source)
    if reason is not None:
        return reason
    if not isinstance(record.source, str):
        from planner_eval.reading.dialects.detect import detect_data

        return detect_data(record.source).reason
    from planner_eval.reading.dialects.finding.find import find_plan

    repaired = any(note.code.startswith("repair.") for note in plan.diagnostics)
    return find_plan(record.source, DEFAULT_LIMITS, repair=repaired).raw.reason or ""


def _plan_text(record: Record, plan: Plan, dialect: str | None, *, grammar: bool) -> str:
    how = ", read by the grammar" if grammar else ""
    lines = [f"{plan.dialect}: {_reason(record, plan, dialect)}{how}"] if plan.calls else []
    for call in plan.calls:
        lines.append(_call_line(plan, call))
        lines += [f"      {location}" for location in span_lines(plan, call)] if grammar else []
    lines += [f"  {edge_line(plan, edge)}" for edge in plan.edges if edge.inferred]
    text = (plan.text if grammar else record.source) or ""
    text = text if isinstance(text, str) else ""
    lines += [f"  {_diagnostic_line(d, text)}" for d in plan.diagnostics]
    return printable("\n".join(lines))


def _call_line(plan: Plan, call: Call) -> str:
    arguments = "  ".join(
        f"{key or 'after'}={one_line(_value_text(value, plan), 60)}" for key, value in call.arguments
    )
    result = f"  = {one_line(_value_text(call.result, plan), 40)}" if call.has_result else ""
    return f"  {call.id}  {call.tool}  {arguments}{result}".rstrip()


def edge_line(plan: Plan, edge: Any) -> str:
    """An inferred edge in words."""
    path = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in edge.path)
    return (
        f"inferred: {edge.argument} of {plan.calls[edge.consumer].id} ← {plan.calls[edge.producer].id}{path}"
    )


def _diagnostic_line(diagnostic: Diagnostic, text: str) -> str:
    """A diagnostic in one line, with its place."""
    location = ""
    if diagnostic.span is not None and text:
        line, column = line_and_column(text, diagnostic.span[0])
        location = f" (line {line}, column {column})"
    return f"{diagnostic.code}: {diagnostic.message}{location}"


def _value_text(value: Any, plan: Plan) -> str:
    from planner_eval.plan.model import Ref, Template, Unresolved
    from planner_eval.reading.dialects.notations.plan import value_data

    if isinstance(value, (Ref, Unresolved)):
        name = plan.calls[value.call].id if isinstance(value, Ref) else f"?{value.name}"
        return f"← {name}{''.join(f'[{s}]' if isinstance(s, int) else f'.{s}' for s in value.path)}"
    if isinstance(value, Template):
        return " + ".join(_value_text(p, plan) for p in value.parts)
    return json.dumps(value_data(value, plan), ensure_ascii=False, default=str)


def _line(named: bool, record: Record, data: dict[str, Any]) -> str:
    """A record's data as a line of JSON; `named` where lines of several files have to say which."""
    head = {"file": record.file, "id": record.id} if named else {"id": record.id}
    return json.dumps(head | data, ensure_ascii=False, default=str)


def _data(record: Record, plan: Plan, *, grammar: bool) -> JsonObject:
    from planner_eval.reading.dialects.notations.plan import to_data

    data = {
        "dialect": plan.dialect,
        "plan": to_data(plan),
        "diagnostics": [d._asdict() for d in plan.diagnostics],
        "inferred": [edge._asdict() for edge in plan.edges if edge.inferred],
    }
    if grammar:
        data["places"] = [span_data(call) for call in plan.calls]
        if not isinstance(record.source, str):
            data["text"] = plan.text
    return data


def _parse_with_repair(record: Record, options: dict[str, Any]) -> Plan | None:
    try:
        return pe.parse(record, **{**options, "repair": True})
    except ParseError:
        return None


def _format_failure(error: Any, plain: bool, head: str, mended: Plan | None) -> str | dict[str, Any]:
    from planner_eval.reading.dialects.notations.plan import to_data

    if plain:
        lines = [f"{head}: {error.coded}"]
        if mended is not None:
            lines += ["readable with --repair:", *(_call_line(mended, call) for call in mended.calls)]
        return printable("\n".join(lines))
    data: dict[str, Any] = {
        "error": error.reason,
        "code": error.code,
        "line": error.line,
        "column": error.column,
    }
    if mended is not None:
        data["readable_with_repair"] = to_data(mended)
    return data
