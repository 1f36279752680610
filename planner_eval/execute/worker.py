"""The child's side: a lean server that forks a confined process for each plan, or one confined worker.

``server`` (level strict): reads plans, forks a child for each, watches its deadline, output and folder,
kills it, tidies up, and hands on what it wrote. It runs none of the tools itself.
``worker`` (level process): confines itself and runs plans one after the other.

Messages in: 4 bytes of length, then a `marshal` dict (from the parent, which is trusted; never the
other way round). Messages out: JSON lines, one a call, then one that ends the plan.
"""

from __future__ import annotations

import gc
import marshal
import os
import select
import sys
from time import monotonic, sleep

from planner_eval.execute import core, load, lockdown, wire
from planner_eval.execute.folders import remove_tree, tree_size

TYPE_CHECKING = False  # typing imports re, which would add half to a worker's time to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FRAME = 24
"""Bytes before a child's output: plan number (4), status (4), microseconds (8), length (8)."""

ENDED, TIMED_OUT, TOO_MUCH_OUTPUT, DISK_FULL = 0, 1, 2, 3
"""Why a child is gone; statuses above 1000 are 1000 + the signal that killed it."""

_OWN_LIMITS = ("CPU", "NPROC")
"""Limits that hold for each child and not for the server."""
_WATCH_EVERY = 0.1


# ---------------------------------------------------------------- running one plan
def answer(request: dict[str, Any], tools: Any, write: Callable[[str], object]) -> None:
    """Run one plan and write a line a call, then the line that ends it."""
    budget = request["value_size"]

    def emit(row: core.Row) -> None:
        position, status, value, seconds, attempts, arguments = row
        shown = wire.encode([[n, v] for n, v in arguments], budget) if arguments is not None else "null"
        text = wire.encode(value if status == "ok" else list(value), budget)
        write(f'[{position},"{status}",{text},{seconds!r},{attempts},{shown}]\n')

    core.run(request["program"], tools, emit)
    state = load.state_of(tools) if request["state"] else None
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


def _settle_in(folder: str) -> None:
    """Nothing of the parent's environment; work and keep temporary files in `folder`."""
    os.environ.clear()
    os.environ.update({"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"})
    os.chdir(folder)


def _writer(out: int) -> Callable[[str], object]:
    def write(text: str) -> None:
        data = text.encode("ascii")
        while data:
            data = data[os.write(out, data) :]

    return write


def _only(out: int) -> int:
    """Keep `out` as descriptor 3 and /dev/null, which the parent gives as 2, as 0, 1 and 2; no others."""
    os.dup2(out, 3)
    os.dup2(2, 0)
    os.dup2(2, 1)
    os.closerange(4, 1 << 16)
    return 3


def _receive(file: int) -> dict[str, Any] | None:
    head = _read(file, 4)
    if len(head) < 4:
        return None
    data = _read(file, int.from_bytes(head, "little"))
    return marshal.loads(data)  # type: ignore[no-any-return]


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
    """Confine this process, load the tools once, answer plans until the parent closes the pipe."""
    lockdown.die_with_parent(setup["parent"])
    requests = os.dup(0)
    out = os.dup(1)
    os.dup2(2, 0)
    os.dup2(2, 1)
    write = _writer(out)
    load.preload(setup["source"])
    _settle_in("/")
    rules = {"read": setup["read"], "names": setup["names"], "folder": None, "around": None}
    filter_ = lockdown.prepared_filter("worker", threads=setup["threads"])
    if not all_hold(setup, lockdown.lock_down(setup["limits"], rules, filter_), write):
        return
    try:
        tools = load.load(setup["source"])
    except load.LoadError as error:
        refuse("tools", str(error), write)
        return
    while (request := _receive(requests)) is not None:
        lines: list[str] = []
        answer(request, tools, lines.append)
        write("".join(lines))


# ---------------------------------------------------------------- level strict
class _Child:
    """A forked process at work on one plan."""

    __slots__ = ("deadline", "folder", "number", "output", "pid", "pipe", "size", "started", "status")

    def __init__(self, number: int, pid: int, pipe: int, folder: str, seconds: float) -> None:
        self.number, self.pid, self.pipe, self.folder = number, pid, pipe, folder
        self.started = monotonic()
        self.deadline = self.started + seconds
        self.output: list[bytes] = []
        self.size = 0
        self.status: int | None = None


def server(setup: dict[str, Any]) -> None:
    """Fork a confined child for each plan that comes in, until the parent closes the pipe or dies.

    The server confines itself first, as far as its work allows: its children inherit that, and each
    needs only the rest.
    """
    load.preload(setup["source"])
    _settle_in(setup["folder"])
    rules = {
        "read": setup["read"],
        "names": setup["names"],
        "folder": setup["folder"],
        "around": os.path.dirname(setup["folder"]),
    }
    base = lockdown.lock_down(
        {name: value for name, value in setup["limits"].items() if name not in _OWN_LIMITS},
        rules,
        lockdown.prepared_filter("server", threads=True),
    )
    program = lockdown.prepared_filter("child", threads=setup["threads"])
    gc.disable()
    gc.freeze()  # a collection in a child would copy every page of it
    poll = select.poll()
    poll.register(0, select.POLLIN)
    children: dict[int, _Child] = {}
    try:
        while True:
            room = len(children) < setup["jobs"]
            poll.modify(0, select.POLLIN if room else 0)
            for file, _ in poll.poll(int(1000 * _patience(children)) + 1):
                if file == 0 and room:
                    request = _receive(0)
                    if request is None:
                        return
                    child = _fork(request, setup, (base, program))
                    children[child.pipe] = child
                    poll.register(child.pipe, select.POLLIN)
                elif file == 0:
                    return  # nothing was asked of 0 but errors: the parent is gone
                else:
                    _take(children[file], setup)
            _watch(children, setup)
            for child in [c for c in children.values() if c.status is not None]:
                poll.unregister(child.pipe)
                del children[child.pipe]
                _finish(child)
            if os.getppid() != setup["parent"]:
                return
    finally:
        for child in children.values():
            _end(child)
        remove_tree(setup["folder"])


def _patience(children: dict[int, _Child]) -> float:
    if not children:
        return 1.0
    return max(0.0, min(_WATCH_EVERY, min(child.deadline for child in children.values()) - monotonic()))


def _fork(request: dict[str, Any], setup: dict[str, Any], base: tuple[lockdown.Report, bytes]) -> _Child:
    folder = f"{setup['folder']}/{os.urandom(16).hex()}"  # no plan can guess where another one's lies
    os.mkdir(folder, 0o700)
    read_end, write_end = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            lockdown.die_with_parent(parent)
            _be_child(request, setup, base, folder, _writer(_only(write_end)))
        finally:
            os._exit(1)
    os.close(write_end)
    return _Child(request["number"], pid, read_end, folder, request["seconds"])


def _be_child(
    request: dict[str, Any],
    setup: dict[str, Any],
    base: tuple[lockdown.Report, bytes],
    folder: str,
    write: Callable[[str], object],
) -> None:
    gc.enable()
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    os.chdir(folder)
    limits = {name: value for name, value in setup["limits"].items() if name in _OWN_LIMITS}
    # what may be read at all is settled by the server's own layer
    rules = {"read": ["/"], "names": [], "folder": folder, "around": None}
    own = lockdown.lock_down(limits, rules, base[1], again=True)
    report = {layer: own.get(layer, found) if found[0] else found for layer, found in base[0].items()}
    if report["limits"][0]:
        report["limits"] = (True, f"{base[0]['limits'][1]}, {own['limits'][1]}")
    if "planner_eval" in sys.modules and not hasattr(sys.modules["planner_eval"], "__version__"):
        del sys.modules["planner_eval"]  # the stand-in; tools that import the package get all of it
    if all_hold(setup, report, write, say=request["layers"]):
        try:
            tools = load.load(setup["source"])
        except load.LoadError as error:
            refuse("tools", str(error), write)
        else:
            answer(request, tools, write)
    os._exit(0)


def _take(child: _Child, setup: dict[str, Any]) -> None:
    data = os.read(child.pipe, 1 << 16)
    child.output.append(data)
    child.size += len(data)
    if not data:
        child.status = ENDED
    elif child.size > setup["output_size"]:
        child.status = TOO_MUCH_OUTPUT


def _watch(children: dict[int, _Child], setup: dict[str, Any]) -> None:
    now = monotonic()
    for child in children.values():
        if child.status is not None:
            continue
        if now >= child.deadline:
            child.status = TIMED_OUT
        elif now - child.started > _WATCH_EVERY and tree_size(child.folder) > setup["disk_size"]:
            child.status = DISK_FULL


def _end(child: _Child) -> int:
    """Kill a child with all that it may have started, wait for it, and give its status."""
    for kill in (os.killpg, os.kill):
        try:
            kill(child.pid, 9)
        except OSError:
            continue
    _, status = os.waitpid(child.pid, 0)
    os.close(child.pipe)
    return status


def _finish(child: _Child) -> None:
    if child.status == ENDED:  # it closed its pipe: let it leave by itself, so that a signal can be told
        gone, status = os.waitpid(child.pid, os.WNOHANG)
        patience = monotonic() + 0.5
        while not gone and monotonic() < patience:
            sleep(0.00005)
            gone, status = os.waitpid(child.pid, os.WNOHANG)
        if gone:
            os.close(child.pipe)
        else:
            status = _end(child)
        if os.WIFSIGNALED(status):
            child.status = 1000 + os.WTERMSIG(status)
    else:
        _end(child)
    try:  # noqa: SIM105 (contextlib would be one more import in each worker)
        remove_tree(child.folder)
    except OSError:
        pass  # the parent looks again when everything is over
    output = b"".join(child.output)
    seconds = int((monotonic() - child.started) * 1e6)
    fields = ((child.number, 4), (child.status or 0, 4), (seconds, 8), (len(output), 8))
    data = b"".join(value.to_bytes(size, "little") for value, size in fields) + output
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    """Read the setup message and be what it says."""
    setup = _receive(0)
    if setup is not None:
        (server if setup["mode"] == "server" else worker)(setup)
