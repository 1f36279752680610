"""execute(): a plan and tools in, a trace out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planner_eval.base.errors import ExecutionError
from planner_eval.execution.core import copy_containers, follow_path, resolve
from planner_eval.execution.program import (
    CallFailed,
    Options,
    PlanWithState,
    compile_plan,
    running_order,
    tree,
)
from planner_eval.execution.sandbox.reply import Program, Reply, Row
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.execution.trace import CallTrace, Failure, Trace
from planner_eval.plan.model import Plan


def execute(
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
        raise ExecutionError(
            f"arguments are bound by 'name' or by 'position', not by {run_options.binding!r}"
        )
    if isinstance(tools, Sandbox):
        yield from _run_plans(plans, tools, run_options)
        return
    source = tool_source(tools)
    threads = run_options.concurrency > 1
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
    for position in _run_order(plan, rows):
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


def _run_order(plan: Plan, rows: Mapping[int, Row]) -> list[int]:
    if len(rows) == len(plan.calls):
        return list(range(len(plan.calls)))
    return running_order(plan)


def _call_trace(plan: Plan, row: Row) -> CallTrace:
    call = plan.calls[row.position]
    arguments = None if row.arguments is None else tuple(row.arguments)
    error = None if row.problem is None else Failure(*row.problem)
    if error is not None and error.kind == "producer-failed":
        error = Failure(error.kind, _explain_skipped_call(plan, error.message))
    return CallTrace(
        call.id, call.tool, row.status, row.value, error, row.seconds, row.attempts, arguments, row.printed
    )


def _explain_skipped_call(plan: Plan, cause: str) -> str:
    position = int(cause) if cause.isdecimal() else -1
    if not 0 <= position < len(plan.calls):
        return cause
    return f"it needs {plan.calls[position].id} ({plan.calls[position].tool}), which gave no value"


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
