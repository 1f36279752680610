"""planeval execute: run plans with tools."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import DRAWN, RECORDS
from planner_eval.base.text import counted
from planner_eval.cli.drawing import Look, draw_one, drawing, is_folder
from planner_eval.cli.execute_job import KEPT, Asked, ExecuteJob, told, unread
from planner_eval.cli.options import Applies, Seconds, emit, note, outputs, reading, refuse_idle, written
from planner_eval.cli.requesting import binding as passing
from planner_eval.cli.requesting import confining
from planner_eval.cli.sources import as_begun, chosen, dataset_places, ids, read_plans, tell_of_facts
from planner_eval.cli.targets import Target
from planner_eval.cli.terminal import counting
from planner_eval.cli.workers import Done, Running, running, store_option, working
from planner_eval.results.runs.pairs import Alone, is_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.execution.run_records import Ran
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.reading.files.files import PlanFile


_Used: TypeAlias = "list[tuple[str, str]]"

_MORE = 60.0
"""Seconds for a record beside those of its plan, before it counts as one that hangs."""


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
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(min=1, max=10_000),
    help="Run in the worlds of the seeds 0 to N-1, and tell how often each plan is carried out.",
)
@click.option(
    "--initial",
    metavar="FILE|FIELD",
    help="The state that the tools begin in: a JSON object for all, records with id and state in a .jsonl "
    "file, a record's field; none for none.",
)
@click.option("--trace", is_flag=True, help="Show each call with its arguments, value or error, and time.")
@click.option("--state", is_flag=True, help="Show what the tools say of their state afterwards.")
@confining
@passing
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
    type=Seconds(zero=True),
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
@running
@store_option
@outputs(folder=True, into="keep the run in a folder, DIR/, and go on with one that is there")
def command(
    plan: str,
    spec: str,
    dialect: str | None,
    wanted: tuple[str, ...],
    facts: str | None,
    seed: str,
    seeds: int | None,
    initial: str | None,
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
    running: Running,
    store: str | None,
    output: str | None,
    **fields: Any,
) -> int:
    """Run the calls of a plan, or of many, with tools, and show what comes out.

    PLAN is a plan, a file of records, or a directory of plans; - is standard input. A call
    that fails stops only the calls that need it. Tools run in a worker process that can reach
    neither files nor network. Large files are run by several processes; with -o DIR/ all that comes out is
    kept, and a run that was stopped goes on where it was.
    Exit code: 0 every call gave a value, 1 one failed or a plan could not be read, 2 usage, 3 nothing ran.
    """
    in_folder = is_folder(output)
    _refuse_idle(spec, form, isolation, retries, in_folder=in_folder)
    if seeds is not None:
        _refuse_beside_seeds(form, in_folder=in_folder)
    (plan,) = as_begun(output, plan)
    source = read_plans([plan], **fields)[0]
    if wanted:
        records = tuple(chosen(source.records, wanted, lambda record: record.name, source.name))
        source = source._replace(records=records)
    many = source.many and len(wanted) != 1
    if form in DRAWN and len(source.records) > 1:
        raise InputError(
            f"{source.name} holds {len(source.records):,} plans, and one drawing holds one: name a record "
            "with --id"
        )
    from planner_eval.execution.program import Options
    from planner_eval.reading.files.task_fields import states_of

    states = states_of(initial, source.records)
    manner = Options(binding, concurrency, retries, backoff, arguments=trace, state=state)
    if seeds is not None:
        limits = {"isolation": isolation, "timeout": timeout, "options": manner, "initial": states}
        return _over_seeds(source, spec, form, output, seeds=seeds, facts=facts, dialect=dialect, **limits)
    tools = _tools(spec, seed, facts, isolation)
    how = Asked(tools, isolation, timeout, manner, allow_read, dialect, states)
    separable = record is None and form not in DRAWN and not _remembers(how)
    _refuse_together(separable=separable, in_folder=in_folder)
    used = _used(tools, facts, initial)
    job = ExecuteJob(how, KEPT if in_folder else form, trace, {})
    ran: list[Ran] = []
    if in_folder or running.wanted or (separable and not wanted and is_large(source)):
        settings = {"spec": spec, "seed": seed, "ids": list(wanted), **fields}
        settings |= {} if initial is None else {"initial": initial}
        how_kept = _kept(how, source, output, store, (plan,), used)
        if running.record_deadline is None:  # a plan has its own time, which is told as what it came to
            how_kept["deadline"] = timeout + _MORE
        job = job._replace(said=_said(how, settings))
        work = working(job, Alone([source.records]), running, large=True, what="plans", **how_kept)
    else:
        work = _together(job, source, record, ran, used, quiet=running.quiet)
    with work as (runs, lines):
        if in_folder:
            emit(runs.said, None)
        elif form in DRAWN and ran:
            emit(_drawn(ran[0], form, look, output), output)
        elif runs.plans:
            emit(told(lines, runs, form, many=many, trace=trace), output)
        if state and not runs.stated:
            note(
                f"--state: {spec} says nothing of a state; worlds do, and objects and classes with a method "
                "state"
            )
        for problem in unread(lines, job.form):
            note(problem)
    code: int = 130 if runs.interrupted else runs.code
    return code


def _over_seeds(source: PlanFile, spec: str, form: str, output: str | None, **how: Any) -> int:
    """Run the plans in several worlds, and tell how often each is carried out."""
    from planner_eval.cli.execute_job import code, format_seeds, judged

    judgement = judged(source, spec, **how)
    emit(format_seeds(judgement, form), output)
    return code(judgement)


def _refuse_idle(spec: str, form: str, isolation: str | None, retries: int, *, in_folder: bool) -> None:
    """Refuse options that would do nothing, above all those whose limits nobody would hold."""
    drawn = form in DRAWN
    condition = "where the tools run apart: --isolation strict or process"
    refuse_idle(
        [
            Applies(("facts", "seed", "seeds"), spec.startswith("world:"), "with --tools world:NAME"),
            Applies(("backoff",), retries > 0, "with --retries N"),
            Applies(("timeout", "allow_read"), isolation != "inline", condition),
            Applies(("trace",), not drawn, "to formats that are not drawn"),
            Applies(("state",), form in ("text", "json", "jsonl"), "to --format text, json and jsonl"),
            Applies(("form",), not in_folder, "to what is written into a file, not to a run's directory"),
            Applies(("store",), in_folder, "to a run that is kept: -o DIR/"),
            Applies(("theme", "deadline", "force"), drawn, f"to --format {', '.join(DRAWN)}"),
        ]
    )


def _refuse_beside_seeds(form: str, *, in_folder: bool) -> None:
    """Refuse what tells of one world, where plans are judged in many."""
    once = ("seed", "trace", "state", "record", "allow_read", *Running._fields[:-1])
    refuse_idle([Applies(once, False, "to one world: without --seeds")])
    if in_folder or form in DRAWN:
        raise click.UsageError("--seeds tells how often each plan is carried out, in a table or as JSON")


# ---------------------------------------------------------------- running
def _tools(spec: str, seed: str, facts: str | None, isolation: str | None) -> ToolSource:
    """The tools; says so where they run without isolation."""
    tools = pe.tool_source(spec, seed=seed, facts=facts)
    if (isolation or tools.level) == "inline" and tools.data.get("kind") != "recorded":
        note("inline: the tools run in this process, without any isolation")
    tell_of_facts(tools)
    return tools


def _remembers(how: Asked) -> bool:
    """Whether the tools run in the process itself, where they may keep something from plan to plan."""
    inline = (how.isolation or how.tools.level) == "inline"
    return inline and how.tools.data.get("kind") != "recorded"


def _refuse_together(*, separable: bool, in_folder: bool) -> None:
    """Refuse what is done in parts where plans cannot be run each for itself."""
    why = "where each plan runs for itself: without --record, --isolation inline and drawings"
    refuse_idle([Applies(Running._fields[:-1], separable, why)])
    if in_folder and not separable:
        raise click.UsageError(f"-o names a directory, which keeps a run, and that is done only {why}")


@contextmanager
def _together(
    job: ExecuteJob, source: PlanFile, record: str | None, ran: list[Ran], used: _Used, *, quiet: bool
) -> Iterator[Done]:
    """Run all plans with the same workers, some of them ahead; what is done when interrupted is told."""
    from planner_eval.results.runs.pairs import unchanged

    how, total = job.how, len(source.records)
    check = unchanged(source, used=[name for _, name in used])
    if record is not None:
        _tell_of_cut(record)
    results = pe.execute(
        source,
        how.tools,
        isolation=how.isolation,
        timeout=how.timeout,
        options=how.options,
        allow_read=how.allow_read,
        record=record,
        dialect=how.dialect,
        initial=how.states,
    )
    runs, lines, unrecorded = job.fold(), [], 0
    try:
        for result in results if quiet else counting(results, total):
            unrecorded += result.unrecorded
            if job.form in DRAWN:
                ran.append(result)
                runs.add(result.trace)
            else:
                lines.append(job.line(result, runs))
    except KeyboardInterrupt:
        note(f"interrupted after {runs.plans.total()} of {counted(total, 'plan')}; what was done follows")
        runs.interrupted = True
    check()
    if unrecorded:
        note(
            f"{record}: {counted(unrecorded, 'plan')} not recorded, and to be run each time: a tool gave an "
            "object, of which a file of answers would keep no fields"
        )
    yield Done(runs, lines)


def _tell_of_cut(record: str) -> None:
    from pathlib import Path

    from planner_eval.execution.record import cut_end

    if cut_end(Path(record)) is not None:
        note(f"{record}: its last line was cut as it was written, and is left out: its plan is run again")


def _used(tools: ToolSource, facts: str | None, initial: str | None) -> _Used:
    """The files that tools and their states are made of, each with what it is for."""
    from planner_eval.execution.tool_sources import own_files

    supplied_files = (("facts", facts), ("initial", initial))
    existing_files = [
        (role, path) for role, path in supplied_files if path is not None and os.path.isfile(path)
    ]
    return [*(("tools", path) for path in own_files(tools)), *existing_files]


def _said(how: Asked, settings: dict[str, Any]) -> dict[str, Any]:
    """All that decides the rows of a run, as JSON data; files are known by what is in them."""
    from planner_eval.results.runs.signature import described
    from planner_eval.results.runs.work import digest_of

    data = {name: value for name, value in how.tools.data.items() if name != "path"}
    digest = digest_of(repr(described(data)).encode("utf-8", "backslashreplace"))
    manner = asdict(how.options)
    where = {name: value for name, value in settings.items() if name not in ("cache", "folder")}
    limits = {"isolation": how.isolation, "timeout": how.timeout, "allow_read": list(how.allow_read)}
    return {**where, "dialect": how.dialect, **limits, **manner, "made_of": digest}


def _kept(
    how: Asked,
    source: PlanFile,
    output: str | None,
    store: str | None,
    operands: tuple[str, ...],
    used: _Used,
) -> dict[str, Any]:
    """How a run is kept: in a folder with what tells its files from others, or nowhere."""
    from planner_eval.results.runs.pairs import unchanged

    run_options: dict[str, Any] = {"unchanged": unchanged(source, used=[name for _, name in used])}
    if is_folder(output):
        from planner_eval.results.runs.inputs import input_of, inputs_of

        read = used + [("read", path) for path in how.allow_read if os.path.isfile(path)]
        inputs = [*inputs_of("plans", source), *(input_of(role, path) for role, path in read)]
        run_options |= {"folder": output, "store": store or "jsonl", "given": operands, "inputs": inputs}
        run_options["report"] = lambda runs: json.dumps(runs.report, ensure_ascii=False, indent=1)
    return run_options


# ---------------------------------------------------------------- writing
def _drawn(ran: Ran, form: str, look: Look, output: str | None) -> bytes:
    """The plan of one record with what became of each call."""
    from planner_eval.results.drawing.overlay import run_scene

    if ran.plan is None or ran.trace is None:
        raise InputError(f"there is nothing to draw: {ran.error}")
    return draw_one(run_scene(ran.plan, ran.trace), form, look, output)
