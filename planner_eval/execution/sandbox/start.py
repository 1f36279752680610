"""Where a process of the sandbox begins.

A process started by `channel` becomes either the one confined worker of level process (`worker`),
or the supervisor of level strict (`server`), which has a confined child forked for each plan (`zygote`).
"""

from __future__ import annotations

from planner_eval.execution.sandbox.worker import receive, run_worker


def main() -> None:
    """Read the setup message and be what it says."""
    setup = receive(0)
    if setup is None:
        return
    if setup["mode"] == "server":
        from planner_eval.execution.sandbox.server import run_server

        run_server(setup)
    else:
        run_worker(setup)
