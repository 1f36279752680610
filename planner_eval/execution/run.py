"""Plans run with tools."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeGuard, Unpack, overload

from planner_eval.base.errors import (
    NAMES,
    PATH,
    SECONDS,
    ExecutionError,
    InputError,
    ParseError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.core import copy_containers, follow_path, resolve
from planner_eval.execution.program import Options, PlanWithState, compile_plan, running_order, tree
from planner_eval.execution.record import (
    find_cut_line,
    is_recordable,
    lock_record_file,
    read_record,
    record_lines,
    repair_end,
)
from planner_eval.execution.sandbox.job import Program, Row
from planner_eval.execution.sandbox.reply import Reply
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import ToolSource, recorded_source
from planner_eval.execution.tool_sources import tool_source as find_tools
from planner_eval.execution.trace import CallTrace, Failure, Trace
from planner_eval.plan.model import Plan
from planner_eval.reading.files.context import StateSource, find_states
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.record import Record, read_plan
from planner_eval.reading.parse import Source, parse


# ----------------------------------------------------------------------
# execute(): a plan and tools in, a trace out.
def execute_plan(
    plan: Plan,
    tools: Any,
    *,
    isolation: str | None = None,
    timeout: float = 10.0,
    options: Options | None = None,
    initial: Any = None,
) -> Trace:
    """Run a plan with tools.

    Args:
        plan: The plan.
        tools: What `tool_source` takes: ``"nestful"``, ``"tools.py"``, ``"package.module:NAME"``, a
            mapping of callables …; or a `Sandbox`, which is then left open.
        isolation: ``"strict"``, ``"process"`` or ``"inline"``; None takes what the tools call for.
        timeout: Seconds for the whole plan (not enforced inline).
        options: How calls are made.
        initial: JSON data that the tools take as the state in which they begin; their own when left out.

    Returns:
        The trace; a call that fails is an entry in it, never an exception.

    Raises:
        ExecutionError: the tools cannot be loaded, or the isolation that was asked for is not to be had.

    >>> from planner_eval.plan.model import Call, Ref
    >>> plan = Plan((Call("a", "add", (("arg_0", 2), ("arg_1", 3))), Call("b", "sqrt", (("arg_0", Ref(0)),))))
    >>> execute(plan, "nestful", isolation="inline").result
    2
    """
    starts = [PlanWithState(plan, initial)]
    return next(execute_many(starts, tools, isolation=isolation, timeout=timeout, options=options))


def execute_many(
    plans: Iterable[Plan | PlanWithState],
    tools: Any,
    *,
    isolation: str | None = None,
    timeout: float = 10.0,
    options: Options | None = None,
) -> Iterator[Trace]:
    """Run plans one after the other with the same workers; arguments as in `execute`, traces in order.

    Each begins in the tools' first state, or in that which a `Start` names.
    """
    run_options = options or Options()
    if run_options.binding not in ("name", "position"):
        raise ExecutionError(f"arguments are bound by 'name' or by 'position', not {run_options.binding!r}")
    if isinstance(tools, Sandbox):
        yield from _run_plans(plans, tools, run_options)
        return
    source = find_tools(tools)
    threads = True if run_options.concurrency > 1 else None
    with Sandbox(source, level=isolation, limits=Limits(seconds=timeout), threads=threads) as box:
        yield from _run_plans(plans, box, run_options)


def _run_plans(plans: Iterable[Plan | PlanWithState], box: Sandbox, options: Options) -> Iterator[Trace]:
    sent: list[Plan] = []

    def programs() -> Iterator[Program]:
        for entry in plans:
            plan, initial = entry if isinstance(entry, PlanWithState) else PlanWithState(entry)
            sent.append(plan)
            yield compile_plan(plan, options, initial)

    for reply in box.map(programs()):
        yield trace_of(sent.pop(0), reply, box)


def trace_of(plan: Plan, reply: Reply, box: Sandbox) -> Trace:
    """The trace that a worker's reply tells, one entry a call of the plan."""
    ended = reply.ended
    rows = {row.position: row for row in reply.rows}
    calls: dict[int, CallTrace] = {}
    blamed = ended
    in_full = len(rows) == len(plan.calls)
    for position in range(len(plan.calls)) if in_full else running_order(plan):
        if position in rows:
            calls[position] = _call_trace(plan, rows[position])
        else:
            call = plan.calls[position]
            error = blamed or Failure("not-run", "the run had ended")
            status = "failed" if blamed is not None else "skipped"
            calls[position] = CallTrace(call.id, call.tool, status, error=error)
            blamed = None  # the first call without a row is the one that was running
    entries = tuple(calls[position] for position in range(len(plan.calls)))
    answer = _resolve_answer(plan, entries)
    return Trace(entries, ended, answer, reply.state, reply.seconds, box.level, box.layers, reply.turns)


def _call_trace(plan: Plan, row: Row) -> CallTrace:
    call = plan.calls[row.position]
    arguments = None if row.arguments is None else tuple(row.arguments)
    error = None if row.problem is None else Failure(*row.problem)
    if error is not None and error.kind == "producer-failed":
        position, why = int(error.message) if error.message.isdecimal() else -1, error.message
        if 0 <= position < len(plan.calls):
            why = f"it needs {plan.calls[position].id} ({plan.calls[position].tool}), which returned no value"
        error = Failure(error.kind, why)
    return CallTrace(
        call.id, call.tool, row.status, row.value, error, row.seconds, row.attempts, arguments, row.printed
    )


def _resolve_answer(plan: Plan, entries: tuple[CallTrace, ...]) -> tuple[tuple[str, Any], ...] | None:
    """The named values of the plan's answer; None where it has none, or a call that it takes gave none."""
    if plan.answer is None:
        return None

    def take(call: int, path: list[str | int]) -> Any:
        if entries[call].status != "ok":
            raise CallFailed("producer-failed", str(call))
        return copy_containers(follow_path(entries[call].value, path, list(plan.calls[call].returns)))

    try:
        return tuple((name, resolve(tree(value), take)) for name, value in plan.answer)
    except CallFailed:
        return None


# ----------------------------------------------------------------------
# Plans run with tools.
class RecordRun(NamedTuple):
    """What became of one record.

    Args:
        record: The record.
        plan: Its plan, where it could be read.
        trace: The plan's run.
        error: Why the plan could not be read.
        unrecorded: Its answers cannot be recorded: a tool gave an object that JSON cannot carry.
        initial: The state that its tools began in, where it names one.
    """

    record: Record
    plan: Plan | None = None
    trace: Trace | None = None
    error: str | None = None
    unrecorded: bool = False
    initial: Any = None


def tool_source(
    tools: Any, *, seed: int | str = 0, facts: str | os.PathLike[str] | PlanFile | None = None
) -> ToolSource:
    """The tools that plans are run with.

    Args:
        tools: ``"nestful"``, ``"world:NAME"``, ``"recorded:FILE"``, ``"tools.py"``, ``"package.module:NAME"``
            …, or a mapping of callables, a module, an object, a list of functions.
        seed: What a world is made from.
        facts: A file of plans that a world must be able to answer, or what :func:`planner_eval.read` gave;
            the gold plans, usually.

    Raises:
        ExecutionError: nothing is where the text points.
        InputError: there is no such world, or the file of facts cannot be read.

    >>> tool_source("nestful").level, tool_source({"double": lambda x: 2 * x}).level
    ('process', 'inline')
    """
    if not (isinstance(tools, str) and tools.startswith("world:")):
        return find_tools(tools)
    from planner_eval.execution.worlds.world import read_facts, world_source

    file = facts if facts is None or isinstance(facts, PlanFile) else os.fspath(facts)
    world_facts = read_facts(file) if file is not None else ()
    return world_source(tools.removeprefix("world:"), seed=seed, facts=world_facts)


class _RunOptions(TypedDict, total=False):
    isolation: str | None
    timeout: float
    options: Options | None
    initial: Any


class _SourceOptions(_RunOptions, total=False):
    dialect: str | None
    allow_read: Sequence[str]
    record: str | os.PathLike[str] | None


@overload
def execute(plan: Plan | str, tools: Any, **how: Unpack[_RunOptions]) -> Trace: ...


@overload
def execute(
    plan: PlanFile | Sequence[Record], tools: Any, **how: Unpack[_SourceOptions]
) -> Iterator[RecordRun]: ...


@overload
def execute(plan: Source, tools: Any, **how: Unpack[_SourceOptions]) -> Any: ...


def execute(  # noqa: PLR0913 - the options of a public function
    plan: Source,
    tools: Any,
    *,
    dialect: str | None = None,
    isolation: str | None = None,
    timeout: float = 10.0,
    options: Options | None = None,
    allow_read: Sequence[str] = (),
    initial: Any = None,
    record: str | os.PathLike[str] | None = None,
) -> Any:
    """Run a plan with tools, or many with the same workers.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``. Or many:
            what :func:`planner_eval.read` gave, or a list of its records.
        tools: What :func:`planner_eval.tool_source` takes or gave; or a
            :class:`planner_eval.execution.Sandbox`, which is then left open and has limits of its own.
        dialect: The notation of the plans; recognised when left out.
        isolation: ``"strict"``, ``"process"`` or ``"inline"``; None takes what the tools call for.
        timeout: Seconds for a whole plan (not enforced inline).
        options: How calls are made.
        allow_read: Files and folders that tools may read.
        initial: The state in which the tools begin, as JSON data; or, as text, a file of states by id, or the
            field of a record that holds its own: ``state``, ``initial_state`` or ``initial_config`` when left
            out, ``"none"`` for none.
        record: A file of answers: what it holds is answered from it, the rest is run and added; a last line
            that was cut as it was written is replaced.

    Returns:
        Of one plan its trace; a call that fails is an entry in it, never an exception. Of many an
        iterator of :class:`RecordRun`, one a record: one whose plan cannot be read says why.

    Raises:
        ExecutionError: the tools cannot be loaded, or the isolation that was asked for is not to be had.
        ParseError: a single plan cannot be read.

    >>> execute('[{"name": "add", "arguments": {"arg_0": 2, "arg_1": 3}}]', "nestful").result
    5
    """
    expect(NAMES, allow_read=allow_read)
    expect(SECONDS, timeout=timeout)
    expect_or_none(PATH, record=record)
    expect_or_none(instance_of(Options, "Options(…) of planner_eval.execution.program"), options=options)
    if isinstance(tools, Sandbox) and (record is not None or allow_read):
        raise InputError("a Sandbox has its own tools and limits: drop record and allow_read")
    many = plan.records if isinstance(plan, PlanFile) else plan if _are_records(plan) else ()
    parsed = None if many or isinstance(plan, PlanFile) else parse(plan, dialect=dialect)
    run_options = options or Options()
    if record is not None:
        run_options = replace(run_options, arguments=True)
    recorder, box = _Recorder(record, run_options), tools
    if not isinstance(tools, Sandbox):
        limits = Limits(seconds=timeout, read=tuple(allow_read))
        threads = True if run_options.concurrency > 1 else None
        box = Sandbox(tool_source(tools), level=isolation, limits=limits, threads=threads)
    context = nullcontext(box) if box is tools else box
    states = find_states(initial, many)
    if parsed is None:
        return _run_records(_read_plans(many, dialect, states, box), context, run_options, recorder)
    single = plan if isinstance(plan, Record) else None
    state = initial_state_of(states, single, box)
    if record is None:
        with context:
            return next(execute_many([PlanWithState(parsed, state)], box, options=run_options))
    record_run = RecordRun(single or Record("plan", 0, None, None), parsed, initial=state)
    return next(_run_records(iter([record_run]), context, run_options, recorder)).trace


def _are_records(source: Source) -> TypeGuard[Sequence[Record]]:
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(r, Record) for r in source)


def _read_plans(
    records: Iterable[Record], dialect: str | None, states: StateSource, tools: Any
) -> Iterator[RecordRun]:
    for record in records:
        try:
            plan = read_plan(record, dialect=dialect)
            yield RecordRun(record, plan, initial=initial_state_of(states, record, tools))
        except (ParseError, InputError) as error:
            yield RecordRun(record, error=str(error))


def initial_state_of(states: StateSource, record: Record | None, tools: Any) -> Any:
    """The state that a record begins in; for a world the plans that are its facts as these."""
    state = states.of(record)
    if not isinstance(state, dict) or "facts" not in state:
        return state
    source = tools.source if isinstance(tools, Sandbox) else tools
    if not isinstance(source, ToolSource) or not source.name.startswith("world:"):
        return state
    from planner_eval.execution.worlds.facts import facts_of

    plan = parse(state["facts"])
    if not plan.calls:
        raise InputError("the facts of its state hold no call")
    return {**state, "facts": facts_of([plan])}


def _run_records(
    read: Iterator[RecordRun], context: AbstractContextManager[Sandbox], options: Options, recorder: _Recorder
) -> Iterator[RecordRun]:
    plans = (r if r.plan is None else r._replace(trace=recorder.replayed(r)) for r in read)
    with recorder, context as box:
        for is_left, ones in groupby(plans, lambda r: r.plan is not None and r.trace is None):
            if is_left:
                yield from _run_with_tools(ones, box, options, recorder)
            else:
                yield from ones


def _run_with_tools(
    ones: Iterator[RecordRun], box: Sandbox, options: Options, recorder: _Recorder
) -> Iterator[RecordRun]:
    """Plans that the tools run, some of them ahead."""
    sent: deque[RecordRun] = deque()

    def plans() -> Iterator[PlanWithState]:
        for ran in ones:
            if ran.plan is not None:
                sent.append(ran)
                yield PlanWithState(ran.plan, ran.initial)

    for trace in execute_many(plans(), box, options=options):
        yield recorder.added(sent.popleft()._replace(trace=trace))


class _Recorder:
    """A file of answers: read once, added to after each plan; nothing without a file."""

    def __init__(self, path: str | os.PathLike[str] | None, options: Options) -> None:
        self.path, self.options = None if path is None else Path(path), options
        self.mended = False
        self.let_go = weakref.finalize(self, lock_record_file(self.path)) if self.path is not None else None
        exists = self.path is not None and self.path.exists()
        entries = read_record(self.path, find_cut_line(self.path)) if self.path is not None and exists else []
        self.box = Sandbox(recorded_source(str(path), entries)) if entries else None

    def __enter__(self) -> _Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.let_go is not None:
            self.let_go()

    def replayed(self, ran: RecordRun) -> Trace | None:
        """A plan answered without the tools; None where not all of it was recorded.

        What was recorded and what runs never mix in one plan: the tools would not know of the calls that
        were answered for them.
        """
        if self.box is None or self.options.state or ran.plan is None:
            return None
        trace = execute_plan(ran.plan, self.box, options=self.options, initial=ran.initial)
        lacking = any(call.error is not None and call.error.kind == "not-recorded" for call in trace)
        return None if lacking else trace

    def added(self, ran: RecordRun) -> RecordRun:
        """A plan that was run, its answers in the file where they can be."""
        if self.path is None or ran.plan is None or ran.trace is None:
            return ran
        if not is_recordable(ran.trace):
            return ran._replace(unrecorded=True)
        lines = record_lines(ran.trace, compile_plan(ran.plan, self.options, ran.initial))
        if not self.mended:
            repair_end(self.path)
            self.mended = True
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        return ran
