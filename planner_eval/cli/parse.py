"""planeval parse: read plans, and say in which notation, why, and what was ignored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import JsonObject, join_pieces, line_and_column, one_line, printable
from planner_eval.cli.options import (
    as_command,
    compute_option,
    infer_option,
    note,
    option,
    repair_option,
    types_option,
)
from planner_eval.cli.output import Output, output_options
from planner_eval.cli.sources import Input, input_options
from planner_eval.cli.workers import PlansJob, Tally, Work, work_options

if TYPE_CHECKING:
    from planner_eval.base.limits import Span
    from planner_eval.plan.model import Diagnostic
    from planner_eval.reading.files.record import Record


# ----------------------------------------------------------------------
# Where the grammar found calls, arguments and references, in words and as data.
def _span_lines(plan: pe.Plan, call: pe.Call) -> Iterator[str]:
    """A line for the call and one an argument, places as line:column-column, the last one past the end.

    ``total at 2:38-62, ← add at 2:49-60``
    """
    from planner_eval.plan.model import references

    text = plan.text or ""
    if call.span is not None:
        yield f"at {_span_text(text, call.span)}"
    for (name, value), span in zip(call.arguments, call.spans, strict=False):
        phrases = [f"{name} at {_span_text(text, span)}"]
        for _, ref in references(value):
            if ref.span is not None:
                phrases.append(f"← {_producer_name(ref, plan)} at {_span_text(text, ref.span)}")
        yield ", ".join(phrases)


def _span_text(text: str, span: Span) -> str:
    (line, column), (last, end) = line_and_column(text, span[0]), line_and_column(text, span[1])
    return f"{line}:{column}-{end}" if line == last else f"{line}:{column}-{last}:{end}"


def _span_data(call: pe.Call) -> JsonObject:
    """A call's places as JSON data: characters [start, end) of the text, null where they are not known."""
    from planner_eval.plan.model import references

    spans = call.spans or (None,) * len(call.arguments)
    return {
        "id": call.id,
        "span": call.span,
        "arguments": [
            {
                "name": name,
                "span": span,
                "references": [{"at": p, "span": r.span} for p, r in references(value)],
            }
            for (name, value), span in zip(call.arguments, spans, strict=True)
        ],
    }


# ----------------------------------------------------------------------
# planeval parse: read plans, and say in which notation, why, and what was ignored.
@as_command("parse", files="FILE|DATASET...")
@input_options
@repair_option
@infer_option
@option(
    "--grammar",
    "Read with the notation's Lark grammar, and show positions of calls, arguments and references.",
)
@compute_option
@types_option
@work_options
@output_options("plain", "data", "records", help="Output format: a listing, or a JSON line per plan.")
def command(
    files: tuple[str, ...],
    source: Input,
    repair: bool,
    infer: bool,
    grammar: bool,
    compute: str | None,
    catalog: str | None,
    work: Work,
    output: Output,
) -> int:
    """Show how plans are read: the notation and why, the calls, what was ignored or repaired.

    FILE is a plan, a model's output with a plan in it, a file of records, a directory, a quoted pattern of
    files, or - for standard input. --grammar reads the whole text, or the inside of its fences, strictly by
    the notation's grammar. A plan that a record holds as JSON data is first written as text; positions
    refer to that text.
    """
    from planner_eval.reading.parse import enable_inference, signatures_of, types_of

    reading: dict[str, Any] = {"dialect": source.dialect, "repair": repair, "compute": compute}
    reading["tools"] = catalog and types_of(catalog)
    if infer and catalog:
        reading["infer"] = signatures_of(catalog)
    if grammar:
        if repair:
            raise click.UsageError("--grammar reads strictly: drop --repair or --grammar")
        reading["reader"] = "grammar"
    sources = source.read(*files)
    named, plain = len(sources) > 1, output.shows("plain")
    if infer and not catalog:
        sources = [enable_inference(file) for file in sources]

    job = _ParseJob(reading, plain, named, many=named or sources[0].many)
    with job.run(sources, work) as (tally, lines):
        output.emit(join_pieces(map(json.loads, lines) if plain else lines))
    if sum(len(file.records) for file in sources) > 1:
        note(str(tally))
    return 0 if not tally.states else 1 if tally.read else 3


@dataclass(frozen=True)
class _ParseJob(PlansJob):
    """How plans are read and shown."""

    kind, counts = "parse", Tally

    reading: dict[str, Any]
    plain: bool
    named: bool
    many: bool

    def line(self, record: Record, fold: Tally) -> str:
        """A plan's listing as a JSON text, or its data, which say their file where there are several."""
        grammar = self.reading.get("reader") == "grammar"
        try:
            plan = pe.parse(record, **self.reading)
        except pe.ParseError as error:
            listing = self._failure(record, error, fold.missed(error), strict=not grammar)
        else:
            fold.dialects[plan.dialect or "?"] += 1
            show = _plan_text if self.plain else _data
            listing = show(record, plan, self.reading["dialect"], grammar=grammar)
        if isinstance(listing, str):
            return json.dumps(f"{record.where}\n{listing}" if self.many else listing)
        head = {"file": record.file, "id": record.id} if self.named else {"id": record.id}
        return json.dumps(head | listing, ensure_ascii=False, default=str)

    def _failure(self, record: Record, error: Any, state: str, *, strict: bool) -> str | dict[str, Any]:
        """Why a plan cannot be read, and what repair would make of it."""
        from planner_eval.reading.dialects.notations.plan import to_data

        repaired = None
        if strict and not self.reading["repair"]:
            with suppress(pe.ParseError):
                repaired = pe.parse(record, **{**self.reading, "repair": True})
        if self.plain:
            lines = [f"{state}: {error.coded}"]
            if repaired is not None:
                lines += ["readable with --repair:", *(_call_line(repaired, call) for call in repaired.calls)]
            return printable("\n".join(lines))
        data = {"error": error.reason, "code": error.code, "line": error.line, "column": error.column}
        return data if repaired is None else {**data, "readable_with_repair": to_data(repaired)}


def _reason(record: Record, plan: pe.Plan, dialect: str | None) -> str:
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
    try:
        return find_plan(record.source, DEFAULT_LIMITS, repair=repaired).raw.reason or ""
    except pe.ParseError:  # of what is read as data, such as a printed object, the text gives no reason
        return ""


def _plan_text(record: Record, plan: pe.Plan, dialect: str | None, *, grammar: bool) -> str:
    how = ", read by the grammar" if grammar else ""
    reason = _reason(record, plan, dialect) if plan.calls else ""
    lines = [f"{plan.dialect}{': ' * bool(reason)}{reason}{how}"] if plan.calls else []
    for call in plan.calls:
        lines.append(_call_line(plan, call))
        lines += [f"      {location}" for location in _span_lines(plan, call)] if grammar else []
    lines += [f"  {_edge_line(plan, edge)}" for edge in plan.edges if edge.inferred]
    text = (plan.text if grammar else record.source) or ""
    text = text if isinstance(text, str) else ""
    lines += [f"  {_diagnostic_line(d, text)}" for d in plan.diagnostics]
    return printable("\n".join(lines))


def _call_line(plan: pe.Plan, call: pe.Call) -> str:
    arguments = "  ".join(
        f"{key or 'after'}={one_line(_value_text(value, plan), 60)}" for key, value in call.arguments
    )
    result = f"  = {one_line(_value_text(call.result, plan), 40)}" if call.has_result else ""
    return f"  {call.id}  {call.tool}  {arguments}{result}".rstrip()


def _edge_line(plan: pe.Plan, edge: Any) -> str:
    """An inferred edge in words."""
    consumer, producer = plan.calls[edge.consumer].id, plan.calls[edge.producer].id
    return f"inferred: {edge.argument} of {consumer} ← {producer}{_path_text(edge.path)}"


def _path_text(path: Iterable[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _producer_name(ref: Any, plan: pe.Plan) -> str:
    return plan.calls[ref.call].id if isinstance(ref, pe.Ref) else f"?{ref.name}"


def _diagnostic_line(diagnostic: Diagnostic, text: str) -> str:
    """A diagnostic in one line, with its place."""
    location = ""
    if diagnostic.span is not None and text:
        line, column = line_and_column(text, diagnostic.span[0])
        location = f" (line {line}, column {column})"
    return f"{diagnostic.code}: {diagnostic.message}{location}"


def _value_text(value: Any, plan: pe.Plan) -> str:
    from planner_eval.plan.model import Template, Unresolved
    from planner_eval.reading.dialects.notations.plan import value_data

    if isinstance(value, (pe.Ref, Unresolved)):
        return f"← {_producer_name(value, plan)}{_path_text(value.path)}"
    if isinstance(value, Template):
        return " + ".join(_value_text(p, plan) for p in value.parts)
    return json.dumps(value_data(value, plan), ensure_ascii=False, default=str)


def _data(record: Record, plan: pe.Plan, _dialect: str | None, *, grammar: bool) -> JsonObject:
    from planner_eval.reading.dialects.notations.plan import to_data

    data = {
        "dialect": plan.dialect,
        "plan": to_data(plan),
        "diagnostics": [d._asdict() for d in plan.diagnostics],
        "inferred": [edge._asdict() for edge in plan.edges if edge.inferred],
    }
    if grammar:
        data["places"] = [_span_data(call) for call in plan.calls]
        if not isinstance(record.source, str):
            data["text"] = plan.text
    return data
