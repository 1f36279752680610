"""execute(): a plan and tools in, a trace out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_eval.base.errors import ExecutionError
from planner_eval.execution import core
from planner_eval.execution.bind import CallFailed
from planner_eval.execution.program import compile_plan, running_order, tree
from planner_eval.execution.reply import Reply
from planner_eval.execution.sandbox import Limits, Sandbox
from planner_eval.execution.source import tool_source
from planner_eval.execution.trace import CallTrace, Failure, Trace
from planner_eval.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are made.

    Args:
        binding: ``"name"``: arguments by name (``arg_0`` … also stand for positions);
            ``"position"``: values in written order whatever their names, as NESTful's own executor does.
        concurrency: How many independent calls may run at once.
        retries: How often a failing call is tried again.
        backoff: Seconds before the first retry; doubled for each further one.
        arguments: Keep in the trace the values that each call was made with.
        state: Ask the tools for their state afterwards.
        outputs: Tool → the names of its outputs, where they are known.
    """

    binding: str = "name"
    concurrency: int = 1
    retries: int = 0
    backoff: float = 0.1
    arguments: bool = False
    state: bool = False
    outputs: Mapping[str, Sequence[str]] | None = None


def execute(
    plan: Plan,
    tools: Any,
    *,
    isolation: str | None = None,
    timeout: float = 10.0,
    options: Options | None = None,
) -> Trace:
    """Run a plan with tools.

    Args:
        plan: The plan.
        tools: What `tool_source` takes: ``"nestful"``, ``"tools.py"``, ``"package.module:NAME"``, a
            mapping of callables …; or a `Sandbox`, which is then left open.
        isolation: ``"strict"``, ``"process"`` or ``"inline"``; None takes what the tools call for.
        timeout: Seconds for the whole plan (not enforced inline).
        options: How calls are made.

    Returns:
        The trace; a call that fails is an entry in it, never an exception.

    Raises:
        ExecutionError: the tools cannot be loaded, or the isolation that was asked for is not to be had.

    >>> from planner_eval.plan.model import Call, Ref
    >>> plan = Plan((Call("a", "add", (("arg_0", 2), ("arg_1", 3))), Call("b", "sqrt", (("arg_0", Ref(0)),))))
    >>> execute(plan, "nestful", isolation="inline").result
    2
    """
    return next(execute_many([plan], tools, isolation=isolation, timeout=timeout, options=options))


def execute_many(
    plans: Iterable[Plan],
    tools: Any,
    *,
    isolation: str | None = None,
    timeout: float = 10.0,
    options: Options | None = None,
) -> Iterator[Trace]:
    """Run plans one after the other with the same workers; arguments as in `execute`, traces in order."""
    wanted = options or Options()
    if wanted.binding not in ("name", "position"):
        raise ExecutionError(f"arguments are bound by 'name' or by 'position', not by {wanted.binding!r}")
    if isinstance(tools, Sandbox):
        yield from _traces(plans, tools, wanted)
        return
    source = tool_source(tools)
    threads = wanted.concurrency > 1
    with Sandbox(source, level=isolation, limits=Limits(seconds=timeout), threads=threads) as box:
        yield from _traces(plans, box, wanted)


def _traces(plans: Iterable[Plan], box: Sandbox, options: Options) -> Iterator[Trace]:
    sent: list[Plan] = []

    def programs() -> Iterator[dict[str, Any]]:
        for plan in plans:
            sent.append(plan)
            yield program_for(plan, options)

    for reply in box.map(programs()):
        yield trace_of(sent.pop(0), reply, box)


def program_for(plan: Plan, options: Options) -> dict[str, Any]:
    """The plan as `core` runs it, under the given options."""
    program = compile_plan(
        plan,
        binding=options.binding,
        workers=options.concurrency,
        retries=options.retries,
        backoff=options.backoff,
        outputs=options.outputs,
    )
    return {**program, "arguments": options.arguments, "state": options.state}


def trace_of(plan: Plan, reply: Reply, box: Sandbox) -> Trace:
    """The trace that a worker's reply tells, one entry a call of the plan."""
    ended = None if reply.ended is None else Failure(*reply.ended)
    rows = {row[0]: row for row in reply.rows}
    calls, blamed = [], ended
    for position in _run_order(plan, rows):
        if position in rows:
            calls.append((position, _entry(plan, rows[position])))
        else:
            call = plan.calls[position]
            error = blamed or Failure("not-run", "the run had ended")
            status = "failed" if blamed is not None else "skipped"
            calls.append((position, CallTrace(call.id, call.tool, status, error=error)))
            blamed = None  # the first call without a row is the one that was running
    entries = tuple(entry for _, entry in sorted(calls, key=lambda pair: pair[0]))
    answer = _answer(plan, entries) if plan.answer is not None else None
    return Trace(entries, ended, answer, reply.state, reply.seconds, box.level, box.layers)


def _run_order(plan: Plan, rows: Mapping[int, core.CallRow]) -> list[int]:
    if len(rows) == len(plan.calls):
        return list(range(len(plan.calls)))
    return running_order(plan)


def _entry(plan: Plan, row: core.CallRow) -> CallTrace:
    position, status, value, seconds, attempts, given = row
    call = plan.calls[position]
    arguments = None if given is None else tuple((name, item) for name, item in given)
    if status == "ok":
        return CallTrace(call.id, call.tool, status, value, None, seconds, attempts, arguments)
    kind, message = value
    if kind == "producer-failed":
        message = _because(plan, message)
    return CallTrace(call.id, call.tool, status, None, Failure(kind, message), seconds, attempts, arguments)


def _because(plan: Plan, cause: str) -> str:
    position = int(cause) if cause.isdecimal() else -1
    if not 0 <= position < len(plan.calls):
        return cause
    return f"it needs {plan.calls[position].id} ({plan.calls[position].tool}), which gave no value"


def _answer(plan: Plan, entries: tuple[CallTrace, ...]) -> tuple[tuple[str, Any], ...] | None:
    values = {position: entry.value for position, entry in enumerate(entries) if entry.status == "ok"}
    outputs: list[Any] = [("", "", [], [], list(call.returns)) for call in plan.calls]
    program = {"calls": outputs, "shared": False}
    try:
        return tuple((name, core.resolve(tree(value), program, values)) for name, value in plan.answer or ())
    except (CallFailed, KeyError):
        return None
