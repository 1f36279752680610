"""planeval execute: run plans with tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import DRAWN, RECORDS
from planner_eval.base.tables import table
from planner_eval.base.text import one_line
from planner_eval.cli.drawing import Look, draw_one, drawing
from planner_eval.cli.options import Applies, emit, note, output, reading, refuse_idle, written
from planner_eval.cli.sources import chosen, dataset_places, ids, read_plans
from planner_eval.cli.targets import Target
from planner_eval.cli.terminal import counting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.execution import ToolSource, Trace
    from planner_eval.records.files import Record
    from planner_eval.verbs.running import Ran


@click.command("execute")
@click.argument("plan", metavar="PLAN|DATASET")
@click.option(
    "--tools",
    "spec",
    metavar="SPEC",
    required=True,
    help="nestful, nestful:sane, nestful:FOLDER, world:NAME, recorded:FILE, tools.py[:NAME] or "
    "package.module[:NAME].",
)
@reading
@dataset_places
@ids("Run only the record of this id")
@click.option("--facts", metavar="FILE", help="Plans that a world must be able to answer; gold, usually.")
@click.option("--seed", metavar="SEED", default="0", show_default=True, help="What a world is made from.")
@click.option("--trace", is_flag=True, help="Show each call with its arguments, value or error, and time.")
@click.option("--state", is_flag=True, help="Show what the tools say of their state afterwards.")
@click.option(
    "--isolation",
    type=click.Choice(["strict", "process", "inline"]),
    help="Where the tools run; left out: strict for tools of yours, process for those that come along.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Time for one plan (not enforced inline).",
)
@click.option(
    "--by",
    "binding",
    type=click.Choice(["name", "position"]),
    default="name",
    show_default=True,
    help="Pass arguments by name, or by position as written, as NESTful's own executor does.",
)
@click.option(
    "--concurrency",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Independent calls that may run at once.",
)
@click.option(
    "--retries",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="How often a failing call is tried again.",
)
@click.option(
    "--backoff",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=0.1,
    show_default=True,
    help="Wait before the first retry; twice as long before each further one.",
)
@click.option(
    "--record", metavar="FILE", type=Target(), help="Answer from FILE what it holds, run the rest and add it."
)
@click.option("--allow-read", metavar="PATH", multiple=True, help="A file or folder that tools may read.")
@written("text", *RECORDS, *DRAWN, help="How to write the result.")
@drawing
@output
def command(
    plan: str,
    spec: str,
    dialect: str | None,
    wanted: tuple[str, ...],
    facts: str | None,
    seed: str,
    trace: bool,
    state: bool,
    isolation: str | None,
    timeout: float,
    binding: str,
    concurrency: int,
    retries: int,
    backoff: float,
    record: str | None,
    allow_read: tuple[str, ...],
    form: str,
    look: Look,
    output: str | None,
    **fields: Any,
) -> int:
    """Run the calls of a plan, or of many, with tools, and show what comes out.

    PLAN is a plan, a file of records, or a directory of plans; - is standard input. A call
    that fails stops only the calls that need it. Tools run in a worker process that can reach
    neither files nor network.
    Exit code: 0 every call gave a value, 1 one failed or a plan could not be read, 2 usage, 3 nothing ran.
    """
    _refuse_idle(spec, form, isolation, retries)
    source = read_plans([plan], **fields)[0]
    records = source.records
    if wanted:
        records = tuple(chosen(records, wanted, lambda record: record.id, source.name))
    many = source.many and len(wanted) != 1
    if form in DRAWN and len(records) > 1:
        raise InputError(
            f"{source.name} holds {len(records):,} plans, and one drawing holds one: name a record with --id"
        )
    from planner_eval.execution import Options

    found = pe.execute(
        source._replace(records=records),
        _tools(spec, seed, facts, isolation),
        isolation=isolation,
        timeout=timeout,
        options=Options(binding, concurrency, retries, backoff, arguments=trace, state=state),
        allow_read=allow_read,
        record=record,
        dialect=dialect,
    )
    ran: list[Ran] = []
    interrupted = _gather(found, ran, len(records))
    if ran and form in DRAWN:
        emit(_drawn(ran[0], form, look, output), output)
    elif ran:
        emit(_written(ran, form, many=many, trace=trace), output)
    if state and not any(t is None or t.ended or t.state is not None for t in (one.trace for one in ran)):
        note(
            f"--state: {spec} says nothing of a state; worlds do, and objects and classes with a method state"
        )
    code = _code(ran)
    return 130 if interrupted else code


def _refuse_idle(spec: str, form: str, isolation: str | None, retries: int) -> None:
    """Refuse options that would do nothing, above all those whose limits nobody would hold."""
    drawn = form in DRAWN
    apart = "where the tools run apart: --isolation strict or process"
    refuse_idle(
        [
            Applies(("facts", "seed"), spec.startswith("world:"), "with --tools world:NAME"),
            Applies(("backoff",), retries > 0, "with --retries N"),
            Applies(("timeout", "allow_read"), isolation != "inline", apart),
            Applies(("trace",), not drawn, "to formats that are not drawn"),
            Applies(("state",), form in ("text", "json", "jsonl"), "to --format text, json and jsonl"),
            Applies(("theme", "deadline", "force"), drawn, f"to --format {', '.join(DRAWN)}"),
        ]
    )


# ---------------------------------------------------------------- running
def _tools(spec: str, seed: str, facts: str | None, isolation: str | None) -> ToolSource:
    """The tools; says so where they run without isolation."""
    tools = pe.tool_source(spec, seed=seed, facts=facts)
    if (isolation or tools.level) == "inline" and tools.data.get("kind") != "recorded":
        note("inline: the tools run in this process, without any isolation")
    return tools


def _gather(found: Iterator[Ran], ran: list[Ran], total: int) -> bool:
    """Put what became of each record into `ran`; whether that was interrupted."""
    try:
        for one in counting(found, total):
            ran.append(one)
    except KeyboardInterrupt:
        note(f"interrupted after {len(ran)} of {total} records; what was done follows")
        return True
    return False


def _code(ran: list[Ran]) -> int:
    """The exit code; says which records could not be read."""
    for one in ran:
        if one.error is not None:
            note(f"{one.record.where}: {one.error}")
    traces = [one.trace for one in ran if one.trace is not None]
    if not traces:
        return 3
    return 0 if len(traces) == len(ran) and all(trace.ok for trace in traces) else 1


# ---------------------------------------------------------------- writing
def _drawn(one: Ran, form: str, look: Look, output: str | None) -> bytes:
    """The plan of one record with what became of each call."""
    from planner_eval.drawing.runs import run_scene

    if one.plan is None or one.trace is None:
        raise InputError(f"there is nothing to draw: {one.error}")
    return draw_one(run_scene(one.plan, one.trace), form, look, output)


def _written(ran: list[Ran], form: str, *, many: bool, trace: bool) -> str:
    told = [(one.record, one.trace, one.error) for one in ran]
    if form == "json":
        data = [_data(*one) for one in told]
        return json.dumps(data if many else data[0], ensure_ascii=False, indent=1, allow_nan=False)
    if form == "jsonl":
        return "\n".join(json.dumps(_data(*one), ensure_ascii=False, allow_nan=False) for one in told)
    rows = [row for one in told for row in (_calls(*one) if trace else _finals(*one))]
    if trace and any(row["printed"] for row in rows):
        rows = [{**row, "printed": row["printed"] or None} for row in rows]
    else:
        rows = [{key: item for key, item in row.items() if key != "printed"} for row in rows]
    if not many:
        rows = [{key: item for key, item in row.items() if key != "record"} for row in rows]
    text = table(rows, form)
    states = [f"state: {_shown(t.state, 1000)}" for _, t, _ in told if t is not None and t.state is not None]
    return "\n".join([text, *states]) if form == "text" else text


def _name(record: Record) -> str:
    return record.id if record.id is not None else str(record.position + 1)


def _data(record: Record, trace: Trace | None, error: str | None) -> dict[str, Any]:
    head = {"record": _name(record)}
    return {**head, "ok": False, "error": error} if trace is None else {**head, **trace.to_dict()}


def _calls(record: Record, trace: Trace | None, error: str | None) -> list[dict[str, Any]]:
    """A row a call, in full."""
    if trace is None:
        return [_row(record, "–", "–", "unreadable", (error or "").split("\n")[0], arguments="–", ms=None)]
    return [
        _row(
            record,
            call.id,
            call.tool,
            call.status,
            _shown(call.value) if call.error is None else str(call.error),
            arguments=", ".join(f"{name}={_shown(value, 30)}" for name, value in call.arguments or ()),
            ms=round(1000 * call.seconds, 3),
            printed=one_line(call.printed.rstrip("\n"), 100),
        )
        for call in trace.calls
    ] + _ending(record, trace, arguments="–", ms=None)


def _finals(record: Record, trace: Trace | None, error: str | None) -> list[dict[str, Any]]:
    """What a plan came to: its answer or the value of its last call, and each call that failed."""
    if trace is None:
        return [_row(record, "–", "–", "unreadable", (error or "").split("\n")[0])]
    rows = [_row(record, call.id, call.tool, "failed", str(call.error)) for call in trace.failed]
    if trace.answer is not None:
        rows += [_row(record, name, "(answer)", "ok", _shown(value)) for name, value in trace.answer]
    elif trace.calls and trace.calls[-1].status == "ok":
        last = trace.calls[-1]
        rows.append(_row(record, last.id, last.tool, last.status, _shown(last.value)))
    return rows + _ending(record, trace) or [_row(record, "–", "–", "ok", "no calls")]


def _ending(record: Record, trace: Trace, **more: Any) -> list[dict[str, Any]]:
    """Why a run was cut short where no call of it says so."""
    told = trace.ended is None or any(call.error == trace.ended for call in trace.calls)
    return [] if told else [_row(record, "–", "–", "failed", str(trace.ended), **more)]


def _row(record: Record, call: str, tool: str, status: str, value: str, **more: Any) -> dict[str, Any]:
    head = {"record": _name(record), "call": call, "tool": tool}
    given = {"arguments": more["arguments"]} if "arguments" in more else {}
    time = {"ms": more["ms"]} if "ms" in more else {}
    said = {"printed": more.get("printed", "")}
    return {**head, **given, "status": status, "value": value, **time, **said}


def _shown(value: Any, width: int = 60) -> str:
    from planner_eval.execution.wire import Opaque, bounded_text

    return one_line(
        f"<{value.type}> {value.text}" if isinstance(value, Opaque) else bounded_text(value, 4 * width), width
    )
