"""The command line on a pseudo-terminal: what people see, where pipes see nothing of it."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from typing import NamedTuple

from tests.conftest import ROOT


class Shown(NamedTuple):
    code: int
    out: str
    err: str


PLAIN = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "TERM")}


def on_terminal(
    *argv: str,
    out: bool = True,
    err: bool = True,
    code: str | None = None,
    interrupt: str | None = None,
    **environment: str,
) -> Shown:
    """Run ``planeval``, or code that reads its arguments, with terminals where that is asked for, and pipes.

    With `interrupt` Ctrl-C is pressed when standard error has shown that; ``TERM`` is xterm.
    """
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "planner_eval"]
    ends = [pty.openpty() if terminal else os.pipe() for terminal in (out, err)]
    child = subprocess.Popen(
        [*command, *argv], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1],
        env={**PLAIN, "TERM": "xterm", **environment}, start_new_session=True,
    )  # fmt: skip
    for _, written in ends:
        os.close(written)
    found = {read: b"" for read, _ in ends}
    left = set(found)
    deadline = time.monotonic() + 60
    while left and time.monotonic() < deadline:
        for read in select.select(list(left), [], [], 1)[0]:
            try:
                data = os.read(read, 65_536)
            except OSError:  # a terminal whose other end is closed
                data = b""
            found[read] += data
            if not data:
                left.discard(read)
        if interrupt is not None and re.search(interrupt.encode(), found[ends[1][0]]):
            child.send_signal(2)
            interrupt = None
    for read, _ in ends:
        os.close(read)
    texts = [found[read].decode(errors="replace").replace("\r\n", "\n") for read, _ in ends]
    return Shown(child.wait(10), *texts)
