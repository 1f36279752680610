"""The most memory that a command takes, itself alone.

``ru_maxrss`` will not do: a process that begins inherits what the one that starts it takes, which in a run of
tests is more than most commands do.
"""

import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024
"""
"""Code of a function that gives the most memory of the process so far, in MB."""

_MAIN = f"""
import sys
{PEAK}
from planner_eval.__main__ import main
told, seconds = sys.argv.pop(1), int(sys.argv.pop(1))
if seconds:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
sys.argv[0] = "planeval"
try:
    main()
finally:
    with open(told, "w") as out:
        out.write(str(peak()))
"""

measures = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="no /proc says how much memory was used"
)


@cache
def slowness() -> float:
    """How many times as long as a usual machine, for which limits are set, this one takes; at least 1."""
    start, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number * number
    return max(1.0, (time.process_time() - start) / 0.06)


def measured(*argv: str, seconds: int = 0, **how: Any) -> tuple[subprocess.CompletedProcess[str], int]:
    """What a command did, and the most memory that it took in MB.

    Args:
        argv: The command's arguments.
        seconds: Of the processor's, on a usual machine, after which the system ends it; 0 for any.
        how: More for ``subprocess.run``.
    """
    with tempfile.NamedTemporaryFile("r") as told:
        command = [sys.executable, "-c", _MAIN, told.name, str(round(seconds * slowness())), *argv]
        done = subprocess.run(command, capture_output=True, text=True, **how)
        return done, int(told.read() or -1)
