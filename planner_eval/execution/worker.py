"""The worker's side of isolation: runs plans, and speaks with the parent.

What a process started by `channel` becomes, `start` says; this is the confined worker of level process,
and what the processes of level strict have in common with it.

Messages in: 4 bytes of length, then a `marshal` dict (from the parent, which is trusted; never the
other way round). Messages out: JSON lines, one a call, then one that ends the plan.
"""

from __future__ import annotations

import marshal
import os
import select

from planner_eval.execution import core, load, lockdown, wire
from planner_eval.execution.job import Program, Row
from planner_eval.execution.printed import Printed

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# ---------------------------------------------------------------- running one plan
def answer(request: dict[str, Any], tools: Any, write: Callable[[str], object], printed: Printed) -> None:
    """Run one plan and write a line a call, then the line that ends it."""
    budget = request["value_size"]
    program = Program.of(request["program"])

    def emit(row: Row) -> None:
        given = row.arguments
        shown = "null" if given is None else wire.encode([[n, v] for n, v in given], budget)
        text = wire.encode(row.value if row.problem is None else list(row.problem), budget)
        said = wire.quoted(row.printed)
        write(f'[{row.position},"{row.status}",{text},{row.seconds!r},{row.attempts},{shown},{said}]\n')

    with printed:
        core.run(program, tools, emit, printed)
    state = load.state_of(tools) if program.manner.state else None
    write(f'["end",{wire.encode(state, budget)}]\n')


def refuse(kind: str, message: str, write: Callable[[str], object]) -> None:
    """Write that nothing was run, and why."""
    write(f'["refused",{wire.quoted(kind)},{wire.quoted(message)}]\n')


def all_hold(
    setup: dict[str, Any], report: lockdown.Report, write: Callable[[str], object], *, say: bool = True
) -> bool:
    """Whether the required layers hold; says so, and which layers hold at all where `say` asks for it."""
    if say:
        write(f'["layers",{wire.encode([[n, ok, text] for n, (ok, text) in report.items()])}]\n')
    lacking = [f"{layer} ({report[layer][1]})" for layer in setup["required"] if not report[layer][0]]
    if lacking:
        refuse("isolation", ", ".join(lacking), write)
    return not lacking


def settle_in(folder: str) -> None:
    """Nothing of the parent's environment; work and keep temporary files in `folder`."""
    os.environ.clear()
    os.environ.update({"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"})
    os.chdir(folder)


def writer(out: int) -> Callable[[str], object]:
    """What writes text whole to a descriptor."""

    def write(text: str) -> None:
        data = text.encode("ascii")
        while data:
            data = data[os.write(out, data) :]

    return write


def receive(file: int) -> dict[str, Any] | None:
    """The next message; None where there is none any more."""
    data = receive_bytes(file)
    return None if data is None else marshal.loads(data)


def receive_bytes(file: int) -> bytes | None:
    """What follows its length; None where there is nothing any more."""
    head = _read(file, 4)
    return _read(file, int.from_bytes(head, "little")) if len(head) == 4 else None


def _read(file: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(file, size - len(data))
        if not chunk:
            return b""
        data += chunk
    return data


# ---------------------------------------------------------------- level process
def worker(setup: dict[str, Any]) -> None:
    """Confine a process, load the tools once, answer plans until the parent closes the pipe."""
    _supervised(setup["parent"])
    requests = os.dup(0)
    out = os.dup(1)
    os.dup2(2, 0)
    os.dup2(2, 1)
    write = writer(out)
    load.preload(setup["source"])
    settle_in("/")
    rules = {"read": setup["read"], "names": setup["names"], "folder": None}
    filter_ = lockdown.prepared_filter("worker", threads=setup["threads"])
    if not all_hold(setup, lockdown.lock_down(setup["limits"], rules, filter_), write):
        return
    printed = Printed()
    try:
        with printed:  # what keeps standard output for later, a logger above all, keeps this
            tools = load.load(setup["source"])
    except load.LoadError as error:
        refuse("tools", str(error), write)
        return
    while (request := receive(requests)) is not None:
        lines: list[str] = []
        answer(request, tools, lines.append, printed)
        write("".join(lines))


def _supervised(parent: int) -> None:
    """Go on in a child that cannot outlive the parent; this process waits for it, and leaves as it does.

    A worker that hangs does not see that its pipe is closed. The kernel's own way of ending it counts the
    parent's threads: it would strike as soon as the thread that started it ends.
    """
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        lockdown.die_with_parent(own)
        return
    os.close(0)
    os.close(1)
    lockdown.set_limits({"CORE": 0})
    poll = select.poll()
    if hasattr(os, "pidfd_open"):
        poll.register(os.pidfd_open(pid), select.POLLIN)
    while True:
        poll.poll(1000 if hasattr(os, "pidfd_open") else 50)
        gone, status = os.waitpid(pid, os.WNOHANG)
        if gone and os.WIFSIGNALED(status):
            os.kill(own, os.WTERMSIG(status))
        if gone:
            os._exit(os.WEXITSTATUS(status))
        if os.getppid() != parent:
            os.kill(pid, 9)
