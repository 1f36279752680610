"""The worker's side of isolation: runs plans, and speaks with the parent.

What a process started by `channel` becomes, `start` says; this is the confined worker of level process,
and what the processes of level strict have in common with it.

Messages in: 4 bytes of length, then a `marshal` dict (from the parent, which is trusted; never the
other way round). Messages out: JSON lines: the layers, before any tool is loaded; then, a plan, its token,
a line a call, and one that ends it (see `reply`, which believes none of it unseen).
"""

from __future__ import annotations

import marshal
import os
import select
import sys

from planner_eval.execution import core, tool_loading
from planner_eval.execution.printed import OutputCapture
from planner_eval.execution.sandbox import lockdown, wire
from planner_eval.execution.sandbox.folders import remove_tree
from planner_eval.execution.sandbox.job import Program, Row
from planner_eval.execution.sandbox.namespaces import separate_worker_task_count, task_count

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeAlias

    from planner_eval.execution.sandbox.job import Message

    Write: TypeAlias = Callable[[str], object]
    """Writes a text whole."""


# ---------------------------------------------------------------- running one plan
def write_begin(request: Message, write: Write) -> None:
    """Write that the tools are loaded and whose lines follow."""
    write(f'["begin","{request["token"]}"]\n')


def run_plan(request: Message, tools: Any, write: Write, printed: OutputCapture) -> None:
    """Run one plan and write a line a call and turn, then the line that ends it, or says why it cannot."""
    budget = request["value_size"]
    program = Program.of(request["program"])

    def emit(row: Row) -> None:
        arguments, arguments_text = row.arguments, "null"
        if arguments is not None:
            arguments_text = (
                f"[{','.join(f'[{wire.quote_text(n)},{wire.encode(v, budget)}]' for n, v in arguments)}]"
            )
        text = wire.encode(row.value if row.problem is None else list(row.problem), budget)
        printed_text = wire.quote_text(row.printed)
        write(
            f'[{row.position},"{row.status}",{text},{row.seconds!r},{row.attempts},{arguments_text},{printed_text}]\n'
        )

    def turned(turn: int) -> None:
        write(f'["turn",{turn},{wire.encode(tool_loading.state_of(tools), budget)}]\n')

    kind = "initial-state"
    try:
        with printed:
            tool_loading.set_initial_state(tools, program.initial)
            kind = "worker-died"
            core.run(program, tools, emit, printed, turned=turned if program.manner.state else None)
            state = tool_loading.state_of(tools) if program.manner.state else None
    except tool_loading.StateError as error:
        write(f'["ended","{kind}",{wire.quote_text(str(error))}]\n')
    else:
        write(f'["end",{wire.encode(state, budget)}]\n')


def write_unloadable(error: tool_loading.LoadError, write: Write) -> None:
    """Write that the tools do not load, and why."""
    write(f'["unloadable",{wire.quote_text(str(error))}]\n')


def check_layers(setup: Message, report: lockdown.Report, write: Write, *, say: bool = True) -> bool:
    """Whether the required layers hold; writes which ones do where `say` asks for it or one is lacking.

    The line comes before the tools are loaded, so that it cannot be theirs.
    """
    hold = all(report[layer][0] for layer in setup["required"])
    layers_text = (
        "null" if hold and not say else wire.encode([[n, ok, text] for n, (ok, text) in report.items()])
    )
    write(f'["layers",{layers_text}]\n')
    return hold


def prepare_environment(folder: str) -> None:
    """Nothing of the parent's environment; work and keep temporary files in `folder`."""
    os.environ.clear()
    os.environ.update({"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"})
    os.chdir(folder)


def writer(out: int) -> Write:
    """What writes text whole to a descriptor."""

    def write(text: str) -> None:
        data = text.encode("ascii")
        while data:
            data = data[os.write(out, data) :]

    return write


def receive(file: int) -> Message | None:
    """The next message; None where there is none any more."""
    data = receive_bytes(file)
    return None if data is None else marshal.loads(data)


def receive_bytes(file: int) -> bytes | None:
    """What follows its length; None where there is nothing any more."""
    head = _read_exactly(file, 4)
    return _read_exactly(file, int.from_bytes(head, "little")) if len(head) == 4 else None


def _read_exactly(file: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(file, size - len(data))
        if not chunk:
            return b""
        data += chunk
    return data


# ---------------------------------------------------------------- level process
def run_worker(setup: Message) -> None:
    """Confine a process, load the tools once, answer plans until the parent closes the pipe."""
    _continue_in_child(setup["parent"], setup["tasks"] if setup["threads"] else None)
    requests = os.dup(0)
    out = os.dup(1)
    os.dup2(2, 0)
    os.dup2(2, 1)
    write = writer(out)
    tool_loading.preload(setup["source"])
    prepare_environment("/")
    rules = {"read": setup["read"], "names": setup["names"], "folder": None}
    filter_ = lockdown.prepare_filter("worker", threads=setup["threads"])
    limits = dict(setup["limits"])
    counted = _count_own_tasks(limits) if setup["threads"] else lockdown.tasks_layer(limits, None)
    if not check_layers(setup, lockdown.lock_down(limits, rules, filter_) | counted, write):
        return
    printed = OutputCapture()
    tools, known = None, frozenset(sys.modules)
    while True:
        try:
            with printed:  # what keeps standard output for later, a logger above all, keeps this
                tools = tool_loading.load(setup["source"]) if tools is None else tools
        except tool_loading.LoadError as error:
            write_unloadable(error, write)
            return
        request = receive(requests)
        if request is None:
            return
        lines: list[str] = []
        write_begin(request, write)
        run_plan(request, tools, lines.append, printed)
        write("".join(lines))
        if setup["stateful"]:
            tools = None  # made anew for each plan: what one changes no other sees
            tool_loading.forget_modules(known)


def _count_own_tasks(limits: dict[str, int]) -> lockdown.Report:
    """Have this process's tasks counted by themselves; where that cannot be had, do not limit the user's."""
    try:
        separate_worker_task_count()
    except OSError as error:
        layer = lockdown.tasks_layer(limits, error.strerror or str(error))
        del limits["NPROC"]
        return layer
    return lockdown.tasks_layer(limits, None)


def _continue_in_child(parent: int, most: int | None) -> None:
    """Go on in a child that cannot outlive the parent; this process waits for it, and leaves as it does.

    A worker that hangs does not see that its pipe is closed. The kernel's own way of ending it counts the
    parent's threads: it would strike as soon as the thread that started it ends.
    """
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        lockdown.die_with_parent(own)
        return
    wait_for_child(pid, parent, most)


def wait_for_child(pid: int, parent: int, most: int | None = None, folder: str | None = None) -> NoReturn:
    """Wait for a child, and leave as it does; end it where the parent goes, or its tasks are too many.

    Args:
        pid: The child.
        parent: The process that started this one.
        most: How many tasks the child may have.
        folder: Removed when the child is gone.
    """
    os.close(0)
    os.close(1)
    lockdown.set_limits({"CORE": 0})
    poll = select.poll()
    if hasattr(os, "pidfd_open"):
        poll.register(os.pidfd_open(pid), select.POLLIN)
    while True:
        poll.poll((1000 if most is None else 100) if hasattr(os, "pidfd_open") else 50)
        exited, status = os.waitpid(pid, os.WNOHANG)
        if exited and folder is not None:
            remove_tree(folder)
        if exited and os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if exited:
            os._exit(os.WEXITSTATUS(status))
        if os.getppid() != parent or (most is not None and task_count(pid) > most):
            os.kill(pid, 9)
