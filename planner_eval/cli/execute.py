"""planeval execute: run plans with tools."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import shows
from planner_eval.base.text import format_count, to_json
from planner_eval.cli.drawing import DrawingOptions, draw_one, drawing_options, is_folder
from planner_eval.cli.execute_job import ROWS_FORM, ExecuteJob, ExecuteSettings, format_runs, unread_lines
from planner_eval.cli.help import Command
from planner_eval.cli.options import (
    COUNT,
    LIST_ASPECTS,
    WHOLE,
    Seconds,
    argument,
    emit,
    format_condition,
    format_option,
    note,
    option,
    output_options,
    reading_options,
    refuse_idle,
)
from planner_eval.cli.sources import (
    binding_option,
    dataset_options,
    id_option,
    isolation_options,
    original_names,
    read_plans,
    say_unmet_facts,
    select_by_id,
)
from planner_eval.cli.terminal import Target, count_items
from planner_eval.cli.workers import (
    WorkOptions,
    WorkResult,
    run_job,
    storage_options,
    store_option,
    work_options,
)
from planner_eval.results.runs.pairs import UnpairedRecords, is_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.execution.run import RecordRun
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.results.runs.folder import Input


_UsedFiles: TypeAlias = "list[tuple[str, str]]"

_EXTRA_SECONDS = 60.0
"""Seconds for a record beside those of its plan, before it counts as one that hangs."""


@click.command("execute", cls=Command)
@argument("plan", "PLAN|DATASET")
@option(
    "--tools SPEC",
    "nestful, nestful:sane, nestful:FOLDER, world:NAME, recorded:FILE, tools.py[:NAME] or "
    "package.module[:NAME].",
    "spec",
    required=True,
)
@reading_options
@dataset_options
@id_option("Run only the record with this id")
@option("--facts FILE", "Plans that the world must be able to answer, usually gold.")
@option("--seed SEED", "The seed of the world's data.", default="0")
@option(
    "--seeds N",
    "Run in the worlds of seeds 0 to N-1, and report how often each plan succeeds.",
    type=click.IntRange(min=1, max=10_000),
)
@option(
    "--initial FILE|FIELD",
    "The initial state of the tools: a JSON object, a .jsonl file of records with id and "
    "state, a field of the record, or none.",
)
@option("--trace", "Show each call with its arguments, value or error, and time.")
@option("--state", "Show the tools' state afterwards.")
@isolation_options
@binding_option
@option("--concurrency N", "How many independent calls may run at once.", type=COUNT, default=1)
@option("--retries N", "How often to retry a failing call.", type=WHOLE, default=0)
@option(
    "--backoff SECONDS",
    "Wait before the first retry, doubled for each further one.",
    type=Seconds(zero=True),
    default=0.1,
)
@option(
    "--record FILE",
    "Replay outputs stored in FILE; run the other calls, and store their outputs.",
    type=Target(),
)
@option("--allow-read PATH...", "A file or folder that tools may read.")
@format_option(*LIST_ASPECTS, "records", "picture")
@drawing_options
@work_options
@store_option
@output_options(folder=True, into="store the run in DIR/ and, if it is there already, resume it")
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
    look: DrawingOptions,
    running: WorkOptions,
    store: str | None,
    output: str | None,
    **fields: Any,
) -> int:
    """Run the calls of plans with tools, and show the results.

    PLAN is a plan, a file of records, or a directory of plans; - is standard input. A failing call stops
    only the calls that depend on it. Tools run in a worker process without access to files or network.
    Large files are split among several processes; -o DIR/ stores the run, and the same command resumes it.
    Exit code: 0 every call returned a value; 1 a call failed, or a plan is unreadable; 2 usage error; 3
    nothing ran.
    """
    in_folder = is_folder(output)
    _refuse_idle(spec, form, isolation, retries, in_folder=in_folder)
    if seeds is not None:
        _refuse_with_seeds(form, in_folder=in_folder)
    (plan,) = original_names(output, plan)
    source = read_plans([plan], **fields)[0]
    if wanted:
        records = tuple(select_by_id(source.records, wanted, lambda record: record.name, source.name))
        source = source._replace(records=records)
    many = source.many and len(wanted) != 1
    if shows(form, "picture") and len(source.records) > 1:
        raise InputError(
            f"{source.name} holds {len(source.records):,} plans, but a drawing shows one: choose "
            "a record with --id"
        )
    from planner_eval.execution.program import Options
    from planner_eval.reading.files.states import find_states

    states = find_states(initial, source.records)
    manner = Options(binding, concurrency, retries, backoff, arguments=trace, state=state)
    if seeds is not None:
        limits = {"isolation": isolation, "timeout": timeout, "options": manner, "initial": states}
        return _run_seeds(source, spec, form, output, seeds=seeds, facts=facts, dialect=dialect, **limits)
    tools = _open_tools(spec, seed, facts, isolation)
    how = ExecuteSettings(tools, isolation, timeout, manner, allow_read, dialect, states)
    separable = record is None and not shows(form, "picture") and not _can_keep_state(how)
    _refuse_parts(separable=separable, in_folder=in_folder)
    used = _used_files(tools, facts, initial)
    job = ExecuteJob(how, ROWS_FORM if in_folder else form, trace, {})
    ran: list[RecordRun] = []
    if in_folder or running.wanted or (separable and not wanted and is_large(source)):
        settings = {"spec": spec, "seed": seed, "ids": list(wanted), **fields}
        settings |= {} if initial is None else {"initial": initial}
        how_kept = _storage_settings(how, source, output, store, (plan,), used)
        # A plan has its own time, which is told as what it came to.
        how_kept["deadline"] = timeout + _EXTRA_SECONDS
        job = job._replace(said=_deciding_settings(how, settings))
        work = run_job(job, UnpairedRecords([source.records]), running, large=True, what="plans", **how_kept)
    else:
        work = _run_together(job, source, record, ran, used, quiet=running.quiet)
    with work as (runs, lines):
        if in_folder:
            emit(runs.said, None)
        elif shows(form, "picture") and ran:
            emit(_draw_run(ran[0], form, look, output), output)
        elif runs.plans:
            emit(format_runs(lines, runs, form, many=many, trace=trace), output)
        if state and not runs.stated:
            note(
                f"--state: {spec} have no state; worlds have one, and so do objects and classes with a "
                "method 'state'"
            )
        for problem in unread_lines(lines, job.form):
            note(problem)
    code: int = 130 if runs.interrupted else runs.code
    return code


def _run_seeds(source: PlanFile, spec: str, form: str, output: str | None, **how: Any) -> int:
    """Run the plans in several worlds, and tell how often each is carried out."""
    from planner_eval.cli.execute_job import exit_code, format_seeds, judge_seeds

    judgement = judge_seeds(source, spec, **how)
    emit(format_seeds(judgement, form), output)
    return exit_code(judgement)


def _refuse_idle(spec: str, form: str, isolation: str | None, retries: int, *, in_folder: bool) -> None:
    """Refuse options that would do nothing, above all those whose limits nobody would hold."""
    drawn = shows(form, "picture")
    condition = "with --isolation strict or process"
    refuse_idle(
        ("facts seed seeds", spec.startswith("world:"), "with --tools world:NAME"),
        ("backoff", retries > 0, "with --run retries=N"),
        ("timeout allow_read", isolation != "inline", condition),
        ("trace", not drawn, "to formats that are not drawn"),
        ("state", *format_condition(form, "plain", "data", "records")),
        ("form", not in_folder, "to output in a file, not to a run's directory"),
        ("store", in_folder, "with -o DIR/, which stores the run"),
        ("theme deadline force", *format_condition(form, "picture")),
    )


def _refuse_with_seeds(form: str, *, in_folder: bool) -> None:
    """Refuse what tells of one world, where plans are judged in many."""
    once = ("seed", "trace", "state", "record", "allow_read", *WorkOptions._fields[:-1])
    refuse_idle((once, False, "to one world: without --run seeds=N"))
    if in_folder or shows(form, "picture"):
        raise click.UsageError("--run seeds=N writes a table or JSON: drop --format or choose one of these")


# ---------------------------------------------------------------- running
def _open_tools(spec: str, seed: str, facts: str | None, isolation: str | None) -> ToolSource:
    """The tools; says so where they run without isolation."""
    tools = pe.tool_source(spec, seed=seed, facts=facts)
    if (isolation or tools.level) == "inline" and tools.data.get("kind") != "recorded":
        note("inline: the tools run in this process, without any isolation")
    say_unmet_facts(tools)
    return tools


def _can_keep_state(how: ExecuteSettings) -> bool:
    """Whether the tools run in the process itself, where they may keep something from plan to plan."""
    inline = (how.isolation or how.tools.level) == "inline"
    return inline and how.tools.data.get("kind") != "recorded"


def _refuse_parts(*, separable: bool, in_folder: bool) -> None:
    """Refuse what is done in parts where plans cannot be run each for itself."""
    why = "without --record, --isolation inline and drawings"
    refuse_idle((WorkOptions._fields[:-1], separable, why))
    if in_folder and not separable:
        raise click.UsageError(f"-o names a directory for a run, which is kept only {why}")


@contextmanager
def _run_together(
    job: ExecuteJob,
    source: PlanFile,
    record: str | None,
    ran: list[RecordRun],
    used: _UsedFiles,
    *,
    quiet: bool,
) -> Iterator[WorkResult]:
    """Run all plans with the same workers, some of them ahead; what is done when interrupted is told."""
    from planner_eval.results.runs.pairs import make_change_check

    how, total = job.how, len(source.records)
    check = make_change_check(source, used=[name for _, name in used])
    if record is not None:
        _say_cut_line(record)
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
        for result in results if quiet else count_items(results, total):
            unrecorded += result.unrecorded
            if shows(job.form, "picture"):
                ran.append(result)
                runs.add(result.trace)
            else:
                lines.append(job.line(result, runs))
    except KeyboardInterrupt:
        note(
            f"interrupted after {runs.plans.total()} of {format_count(total, 'plan')}; the results so far "
            "follow"
        )
        runs.interrupted = True
    check()
    if unrecorded:
        note(
            f"{record}: {format_count(unrecorded, 'plan')} not recorded and run "
            "each time: a tool "
            "returned an object that a file cannot store"
        )
    yield WorkResult(runs, lines)


def _say_cut_line(record: str) -> None:
    from pathlib import Path

    from planner_eval.execution.record import find_cut_line

    if find_cut_line(Path(record)) is not None:
        note(f"{record}: the incomplete last line was ignored; its plan is run again")


def _used_files(tools: ToolSource, facts: str | None, initial: str | None) -> _UsedFiles:
    """The files that tools and their states are made of, each with what it is for."""
    from planner_eval.execution.tool_sources import own_files

    supplied_files = (("facts", facts), ("initial", initial))
    existing_files = [
        (role, path) for role, path in supplied_files if path is not None and os.path.isfile(path)
    ]
    return [*(("tools", path) for path in own_files(tools)), *existing_files]


def _deciding_settings(how: ExecuteSettings, settings: dict[str, Any]) -> dict[str, Any]:
    """All that decides the rows of a run, as JSON data; files are known by what is in them."""
    from planner_eval.results.runs.jobs import describe
    from planner_eval.results.runs.work import digest_of

    data = {name: value for name, value in how.tools.data.items() if name != "path"}
    digest = digest_of(repr(describe(data)).encode("utf-8", "backslashreplace"))
    manner = asdict(how.options)
    where = {name: value for name, value in settings.items() if name not in ("cache", "folder")}
    limits = {"isolation": how.isolation, "timeout": how.timeout, "allow_read": list(how.allow_read)}
    return {**where, "dialect": how.dialect, **limits, **manner, "made_of": digest}


def _storage_settings(
    how: ExecuteSettings,
    source: PlanFile,
    output: str | None,
    store: str | None,
    operands: tuple[str, ...],
    used: _UsedFiles,
) -> dict[str, Any]:
    """How a run is kept: in a folder with what tells its files from others, or nowhere."""

    def inputs() -> list[Input]:
        from planner_eval.results.runs.folder import input_of, inputs_of

        read = used + [("read", path) for path in how.allow_read if os.path.isfile(path)]
        return [*inputs_of("plans", source), *(input_of(role, path) for role, path in read)]

    return storage_options(
        output if is_folder(output) else None, store, source, given=operands, inputs=inputs,
        report=lambda runs: to_json(runs.report, 1),
        used=[name for _, name in used],
    )  # fmt: skip


# ---------------------------------------------------------------- writing
def _draw_run(ran: RecordRun, form: str, look: DrawingOptions, output: str | None) -> bytes:
    """The plan of one record with what became of each call."""
    from planner_eval.results.drawing.overlay import run_scene

    if ran.plan is None or ran.trace is None:
        raise InputError(f"there is nothing to draw: {ran.error}")
    return draw_one(run_scene(ran.plan, ran.trace), form, look, output)
