"""planeval execute: run plans with tools."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.formats import shows
from planner_eval.base.text import format_count
from planner_eval.cli.options import (
    COUNT,
    WHOLE,
    Seconds,
    as_command,
    format_condition,
    note,
    option,
    refuse_idle,
)
from planner_eval.cli.output import (
    LIST_ASPECTS,
    DrawingOptions,
    Output,
    draw_one,
    drawing_options,
    emit,
    output_options,
)
from planner_eval.cli.sources import (
    Input,
    binding_option,
    id_option,
    input_options,
    isolation_options,
    original_names,
    read_paths_option,
    say_unmet_facts,
)
from planner_eval.cli.terminal import Target
from planner_eval.cli.workers import PART_OPTIONS, Work, WorkResult, run_job, stored_work_options
from planner_eval.results.runs.execute_job import (
    ROWS_FORM,
    ExecuteJob,
    ExecuteSettings,
    runs_view,
    unread_lines,
)
from planner_eval.results.runs.model import UnpairedRecords, is_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.execution.run import RecordRun
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.reading.files.files import PlanFile
    from planner_eval.results.runs.folder import Input as RunInput


_UsedFiles: TypeAlias = "list[tuple[str, str]]"

_EXTRA_SECONDS = 60.0
"""Seconds for a record beside those of its plan, before it counts as one that hangs."""


@as_command("execute", plan="PLAN|DATASET")
@option(
    "--tools SPEC",
    "nestful, nestful:sane, nestful:FOLDER, world:NAME, recorded:FILE, tools.py[:NAME] or "
    "package.module[:NAME].",
    "spec",
    required=True,
)
@input_options
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
@read_paths_option
@drawing_options
@stored_work_options
@output_options(
    *LIST_ASPECTS,
    "records",
    "picture",
    folder=True,
    into="store the run in DIR/ and, if it is there already, resume it",
)
def command(
    plan: str,
    source: Input,
    spec: str,
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
    look: DrawingOptions,
    work: Work,
    output: Output,
) -> int:
    """Run the calls of plans with tools, and show the results.

    PLAN is a plan, a file of records, or a directory of plans; - is standard input. A failing call stops
    only the calls that depend on it. Tools run in a worker process without access to files or network.
    Large files are split among several processes; -o DIR/ stores the run, and the same command resumes it.
    Exit code: 0 every call returned a value; 1 a call failed, or a plan is unreadable; 2 usage error; 3
    nothing ran.
    """
    drawn, folder = output.shows("picture"), output.folder
    _refuse_idle(spec, output, isolation, retries, seeds)
    (plan,) = original_names(output.file, plan)
    (plans,) = source.read(plan, wanted=wanted)
    many = plans.many and len(wanted) != 1
    if drawn and len(plans.records) > 1:
        raise InputError(
            f"{plans.name} holds {len(plans.records):,} plans, but a drawing shows one: choose "
            "a record with --id"
        )
    from planner_eval.execution.program import Options
    from planner_eval.reading.files.context import find_states

    states = find_states(initial, plans.records)
    manner = Options(binding, concurrency, retries, backoff, arguments=trace, state=state)
    tools = pe.tool_source(spec, seed=seed, facts=facts)
    how = ExecuteSettings(tools, isolation, timeout, manner, allow_read, source.dialect, states)
    if seeds is not None:
        from planner_eval.results.runs.execute_job import exit_code, judge_seeds

        judgements = judge_seeds(plans, spec, seeds, facts, how)
        output.emit_rows([judgement.row() for judgement in judgements])
        return exit_code(judgements)
    # In this process tools may keep something from plan to plan.
    inline = (isolation or tools.level) == "inline" and tools.data.get("kind") != "recorded"
    if inline:
        note("inline: the tools run in this process, without any isolation")
    say_unmet_facts(tools)
    separable = record is None and not drawn and not inline
    why = "without --record, --isolation inline and drawings"
    refuse_idle((PART_OPTIONS, separable, why))
    if folder and not separable:
        raise click.UsageError(f"-o names a directory for a run, which is kept only {why}")
    used = _used_files(tools, facts, initial)
    job = ExecuteJob(how, ROWS_FORM if folder else output.form, trace, {})
    ran: list[RecordRun] = []
    if folder or work.wanted or (separable and not wanted and is_large(plans)):
        settings = {"spec": spec, "seed": seed, "ids": list(wanted), **source.decisive}
        settings |= {} if initial is None else {"initial": initial}

        def more() -> Iterator[RunInput]:
            from planner_eval.results.runs.folder import input_of

            return (input_of("read", path) for path in allow_read if os.path.isfile(path))

        running = run_job(
            replace(job, said=_deciding_settings(how, settings)), UnpairedRecords([plans.records]), work,
            [("plans", plans)], what="plans", folder=folder, given=(plan,), used=used, more=more,
            deadline=timeout + _EXTRA_SECONDS,  # a plan has its own time, which is told as what it came to
        )  # fmt: skip
    else:
        running = _run_together(job, plans, record, ran, used, work)
    with running as (runs, lines):
        if folder:
            emit(runs.said, None)
        elif drawn and ran:
            output.emit(_draw_run(ran[0], output, look))
        elif runs.plans:
            output.emit_view(runs_view(lines, runs, many=many, trace=trace))
        if state and not runs.stated:
            note(
                f"--state: {spec} have no state; worlds have one, and so do objects and classes with a "
                "method 'state'"
            )
        note(*unread_lines(lines, job.form))
    code: int = 130 if runs.interrupted else runs.code
    return code


def _refuse_idle(spec: str, output: Output, isolation: str | None, retries: int, seeds: int | None) -> None:
    """Refuse options that would do nothing, above all those whose limits nobody would hold."""
    folder, drawn = output.folder is not None, output.shows("picture")
    once = ("seed", "trace", "state", "record", "allow_read", *PART_OPTIONS)
    refuse_idle(
        ("facts seed seeds", spec.startswith("world:"), "with --tools world:NAME"),
        ("backoff", retries > 0, "with --run retries=N"),
        ("timeout allow_read", isolation != "inline", "with --isolation strict or process"),
        ("trace", not drawn, "to formats that are not drawn"),
        ("state", *format_condition(output.form, "plain", "data", "records")),
        ("form", not folder, "to output in a file, not to a run's directory"),
        ("store", folder, "with -o DIR/, which stores the run"),
        ("theme deadline force", *format_condition(output.form, "picture")),
        (once, seeds is None, "to one world: without --run seeds=N"),
    )
    if seeds is not None and (folder or drawn):
        raise click.UsageError("--run seeds=N writes a table or JSON: drop --format or choose one of these")


@contextmanager
def _run_together(
    job: ExecuteJob,
    plans: PlanFile,
    record: str | None,
    ran: list[RecordRun],
    used: _UsedFiles,
    work: Work,
) -> Iterator[WorkResult]:
    """Run all plans with the same workers, some of them ahead; what is done when interrupted is told."""
    from planner_eval.results.runs.model import make_change_check

    check = make_change_check(plans, used=[name for _, name in used])
    if record is not None:
        from pathlib import Path

        from planner_eval.execution.record import find_cut_line

        if find_cut_line(Path(record)) is not None:
            note(f"{record}: the incomplete last line was ignored; its plan is run again")
    results, total = job.how.run(plans, record), len(plans.records)
    runs, lines, unrecorded = job.fold(), [], 0
    try:
        for result in work.counted(results, total, "plans"):
            unrecorded += result.unrecorded
            if shows(job.form, "picture"):
                ran.append(result)
                runs.add(result.trace)
            else:
                lines.append(job.line(result, runs))
    except KeyboardInterrupt:
        plans_text = format_count(total, "plan")
        note(f"interrupted after {runs.plans.total()} of {plans_text}; the results so far follow")
        runs.interrupted = True
    check()
    if unrecorded:
        note(
            f"{record}: {format_count(unrecorded, 'plan')} not recorded and run each time: a tool returned "
            "an object that a file cannot store"
        )
    yield WorkResult(runs, lines)


def _used_files(tools: ToolSource, facts: str | None, initial: str | None) -> _UsedFiles:
    """The files that tools and their states are made of, each with what it is for."""
    from planner_eval.execution.tool_sources import own_files

    supplied = (("facts", facts), ("initial", initial))
    existing = [(role, path) for role, path in supplied if path is not None and os.path.isfile(path)]
    return [*(("tools", path) for path in own_files(tools)), *existing]


def _deciding_settings(how: ExecuteSettings, settings: dict[str, Any]) -> dict[str, Any]:
    """All that decides the rows of a run, as JSON data; files are known by what is in them."""
    from planner_eval.results.runs.jobs import describe
    from planner_eval.results.runs.work import digest_of

    data = {name: value for name, value in how.tools.data.items() if name != "path"}
    digest = digest_of(repr(describe(data)).encode("utf-8", "backslashreplace"))
    limits = {"isolation": how.isolation, "timeout": how.timeout, "allow_read": list(how.allow_read)}
    return {**settings, **limits, **asdict(how.options), "made_of": digest}


def _draw_run(ran: RecordRun, output: Output, look: DrawingOptions) -> bytes:
    """The plan of one record with what became of each call."""
    from planner_eval.results.drawing.overlay import run_scene

    if ran.plan is None or ran.trace is None:
        raise InputError(f"there is nothing to draw: {ran.error}")
    return draw_one(run_scene(ran.plan, ran.trace), output.form, look, output.file)
