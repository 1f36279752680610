"""planeval check: plans against a tool catalog, and traces by themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.base.counts import Counts
from planner_eval.base.errors import CatalogError
from planner_eval.base.formats import rows_view
from planner_eval.base.text import (
    did_you_mean,
    encodable,
    format_count,
    join_pieces,
    line_and_column,
    to_json,
)
from planner_eval.cli.options import as_command, compute_option, note, option
from planner_eval.cli.output import (
    FINDING_ASPECTS,
    LIST_ASPECTS,
    Output,
    finding_line,
    findings_in,
    location_phrases,
    output_options,
)
from planner_eval.cli.sources import RECORD_TOOLS, CatalogOptions, Input, catalog_options, input_options
from planner_eval.cli.workers import PlansJob, Work, work_options
from planner_eval.reading.files.record import format_record_name

if TYPE_CHECKING:
    from planner_eval.plan.model import Diagnostic
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.reading.files.record import Record


_MAX_REMARKS = 5
_LEVELS = ("error", "warning", "info")


def _validate_codes(
    context: click.Context, _option: click.Parameter, codes: tuple[str, ...]
) -> tuple[str, ...]:
    """Codes of findings; one that there is not would leave out nothing, and is refused."""
    for code in codes:
        if code not in code_meanings():
            hint = did_you_mean(code, list(code_meanings()), "codes are in brackets at the end of findings")
            raise click.UsageError(f"--ignore {code!r}: there is no such code: {hint}", context)
    return codes


@as_command("check", plans="PLAN|DATASET...")
@catalog_options(RECORD_TOOLS + " Traces, and conversations with tool outputs, need none.")
@input_options
@compute_option
@option("--ignore CODE...", "Ignore findings with this code; repeatable.", callback=_validate_codes)
@option("--level", "The lowest severity to show and count.", type=click.Choice(_LEVELS), default="warning")
@work_options
@output_options(*LIST_ASPECTS, "records", *FINDING_ASPECTS)
def command(
    plans: tuple[str, ...],
    named_tools: CatalogOptions,
    source: Input,
    compute: str | None,
    ignore: tuple[str, ...],
    level: str,
    work: Work,
    output: Output,
) -> int:
    """Check plans against their tools without running them; check agents' runs.

    PLAN is a plan, a file of records, a directory, a quoted pattern of files, or - for standard input.
    Checked are tool names, arguments, types and allowed values, references to outputs, unused results and
    permissions of apps. Traces and conversations with tool outputs, with or without a catalog, are also
    checked for loops, repeated calls, failures retried unchanged and unused results; traces for missing
    spans and their critical path (--level info).
    Exit code: 0 no findings; 1 findings or an unreadable plan; 2 usage error; 3 no plan at all.
    """
    from planner_eval.catalogs.json_schema.keywords import catalog_remarks
    from planner_eval.reading.parse import types_of

    catalog = named_tools.read()
    sources = source.read(*plans)
    if catalog is None:
        _refuse_plans(sources)
    many_files, alone = len(sources) > 1, len(sources) == 1 and not sources[0].many
    as_findings, plain = output.shows(*FINDING_ASPECTS), output.shows("plain")
    types = None if catalog is None else types_of(catalog)
    reading = {"dialect": source.dialect, "compute": compute, "tools": types}
    job = _CheckJob(catalog, reading, {"ignore": ignore, "level": level}, many_files, alone, as_findings)
    with job.run(sources, work) as (tally, lines):
        if as_findings:
            output.emit_findings(findings_in(lines), _summary(tally, catalog))
        elif tally.findings or not plain or output.file is not None:
            rows = (row for line in lines for row in json.loads(line))
            output.emit(join_pieces(map(_line, rows)) if plain else rows_view(rows).write(output.form))
    if catalog is not None:
        remarks = catalog_remarks(catalog)
        if (more := len(remarks) - _MAX_REMARKS) > 0:
            remarks[_MAX_REMARKS:] = [f"{format_count(more, 'more remark')} of that kind"]
        note(*(f"{catalog.name}: {remark}" for remark in remarks))
    if plain:
        note(_summary(tally, catalog))
    if not tally.read:
        return 3
    return 1 if tally.findings else 0


def _refuse_plans(sources: list[PlanFile]) -> None:
    """Without a catalog plans alone have nothing to be held against; the first records tell a file."""
    from planner_eval.catalogs.check import can_check
    from planner_eval.reading.files.fields import HEAD_SIZE

    for source in sources:
        first = next((r for r in source.records if r.error is None), None)
        text = first.source if first is not None and isinstance(first.source, str) else None
        if text is not None and text[:9].strip() in ("", "[]", "{}") and len(text) < 9:
            raise click.UsageError(f"{source.name} is empty: it holds no traces")
        if first is not None and not any(map(can_check, source.records[:HEAD_SIZE])):
            raise click.UsageError(
                f"{source.name} holds no traces, tool outputs or tool definitions: "
                "give a catalog with --catalog"
            )


class _CheckCounts(Counts):
    """How many plans were read, and how many findings of each severity there are, first come first.

    Of the plans that were held against the tools of their own record it counts how many there are, too.
    """

    read: int
    unread: int
    severities: Counter[str]
    own: int

    @property
    def findings(self) -> int:
        return self.severities.total() + self.unread

    def add(self, rows: list[dict[str, Any]]) -> None:
        found = [row["severity"] for row in rows if row["code"] != "unreadable"]
        good = len(found) == len(rows)
        self.read, self.unread = self.read + good, self.unread + (not good)
        self.severities.update(found)


@dataclass(frozen=True)
class _CheckJob(PlansJob):
    """Against what plans are checked, and how they are read and named."""

    kind, counts = "check", _CheckCounts

    catalog: pe.Catalog | None
    reading: dict[str, Any]
    which: dict[str, Any]
    several: bool
    alone: bool
    ci: bool

    def line(self, record: Record, fold: _CheckCounts) -> str:
        """The findings of a plan."""
        from planner_eval.catalogs.record_tools import tools_of_record
        from planner_eval.results.findings import finding_of_check

        name = f"{record.file}: {record.name}" if self.several else record.name
        tools, rows = self.catalog, []
        try:
            tools = tools_of_record(record) if tools is None else tools
        except CatalogError as error:
            rows.append(_row(name, _unreadable(f"its tools cannot be read: {error}")))
        else:
            reading = self.reading if self.catalog is not None else {**self.reading, "tools": tools}
            rows += _check_record(record, name, tools, reading, **self.which)
        fold.own += self.catalog is None and tools is not None
        fold.add(rows)
        if self.ci:
            return json.dumps([finding_of_check(row, record, many=not self.alone) for row in rows])
        if self.alone:
            rows = [{key: value for key, value in row.items() if key != "record"} for row in rows]
        return encodable(to_json(rows))


def _check_record(
    record: Record, name: str, catalog: pe.Catalog | None, how: dict[str, Any], **which: Any
) -> Iterator[dict[str, Any]]:
    """A row a finding; what the reader had to say of the plan comes first."""
    from planner_eval.catalogs.check import data_of, explain_empty_trace, filter_findings, trace_of
    from planner_eval.reading.dialects.read import locate

    try:
        plan = locate(pe.parse(record, **how))
    except pe.ParseError as error:
        empty = explain_empty_trace(trace_of(record)) if record.error is None else None
        yield _row(name, _unreadable(empty or str(error).split("\n")[0]))
        return
    trace = trace_of(record)
    recorded = trace is not None or any(call.has_result for call in plan.calls)
    if catalog is None and not recorded and plan.calls:
        text = "it is not a trace and has no tool outputs, so it needs a catalog: name one with --catalog"
        yield _row(name, _unreadable(text))
        return
    remarks = [d for d in plan.diagnostics if not recorded or d.code != "plan.no_call"]
    findings = list(filter_findings(remarks, **which))
    if catalog is not None or recorded:
        trace = data_of(record) if trace is None and recorded else trace
        findings += pe.check(plan, catalog, trace=trace, **which)
    for finding in findings:
        yield _row(name, finding, plan)


def _unreadable(message: str) -> Diagnostic:
    from planner_eval.plan.model import Diagnostic

    return Diagnostic("unreadable", message, "error")


def _row(record: str, finding: Diagnostic, plan: pe.Plan | None = None) -> dict[str, Any]:
    call, tool, line, column = None, None, None, None
    if plan is not None and finding.call is not None:
        call, tool = finding.call + 1, plan.calls[finding.call].tool
    if plan is not None and finding.span is not None and plan.text is not None:
        line, column = line_and_column(plan.text, finding.span[0])
    return {
        "record": record,
        "severity": finding.severity,
        "code": finding.code,
        "call": call,
        "tool": tool,
        "argument": finding.argument,
        "line": line,
        "column": column,
        "message": finding.message,
    }


def _line(row: dict[str, Any]) -> str:
    where = [format_record_name(row["record"])] if "record" in row else []
    where += location_phrases(row["line"], row["column"], row["call"], row["tool"] or '""')
    return finding_line(where, f"{row['severity']}: {row['message']}", row["code"])


def _summary(tally: _CheckCounts, catalog: pe.Catalog | None) -> str:
    named = [f"{count} {name}{'s' * (count > 1)}" for name, count in tally.severities.items()]
    plans = format_count(tally.read, "plan")
    if catalog is not None:
        tools = f"against {format_count(len(catalog), 'tool')}"
    elif tally.own:
        all_own = tally.own >= tally.read
        tools = "against each record's tools" if all_own else f"against the tools in {tally.own:,} of them"
    else:
        tools = "without a catalog"
    read = f"{tally.read:,} of {format_count(tally.read + tally.unread, 'plan')}" if tally.unread else plans
    unread = f"; {format_count(tally.unread, 'plan')} unreadable" if tally.unread else ""
    return f"{read} checked {tools}: {', '.join(named) or 'nothing found'}{unread}"
