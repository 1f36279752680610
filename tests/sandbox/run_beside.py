"""run_beside.py SECRET HEAD FOLDER SPY …: plans that spy beside one that keeps a secret, strictly."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from planner_eval.base.errors import ExecutionError
from planner_eval.execution.run import execute_many
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.plan.model import Call, Plan

SECONDS = 3.0
"""How long the secret is kept: longer than all who spy on it take."""


def plans(secret: str, head: str, spies: list[str]) -> list[Plan]:
    """A plan that keeps a secret, one that gives it time to do so, and one that spies."""
    kept = Call("c1", "keep", (("secret", secret),))
    pause = Call("c1", "wait", (("seconds", 0.3),))
    calls = [Call(f"c{number}", spy, (("head", head),)) for number, spy in enumerate(spies)]
    return [Plan((kept, Call("c2", "wait", (("seconds", SECONDS),)))), Plan((pause,)), Plan(tuple(calls))]


def main() -> None:
    """Print one JSON object: who ran, how long all took, and what each spy found."""
    secret, head, folder, *spies = sys.argv[1:]
    source = tool_source(str(Path(__file__).with_name("attacks.py")))
    told = {"uid": os.getuid(), "found": {}}
    try:
        with Sandbox(source, level="strict", limits=Limits(read=("/proc", folder)), jobs=2) as box:
            keeper, pause, spied = execute_many(plans(secret, head, spies), box)
    except ExecutionError as error:
        told["refused"] = str(error)
    else:
        told["kept"] = keeper.ok
        told["keeping"], told["spied"] = keeper.seconds, pause.seconds + spied.seconds
        told["found"] = {call.tool: str(call.error or call.value) for call in spied.calls}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
