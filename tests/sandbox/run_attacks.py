"""run_attacks.py HOW SECONDS NAME=JSON …: what became of attacks; HOW is strict, process, or threads."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from planner_eval.base.errors import ExecutionError
from planner_eval.execution.run import execute_plan
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.plan.model import Call, Plan


def main() -> None:
    """Read the attacks from the command line, print one JSON object."""
    source = tool_source(str(Path(__file__).with_name("attacks.py")))
    limits = Limits(seconds=float(sys.argv[2]))
    found = {"uid": os.getuid(), "results": {}}
    try:
        level = "process" if sys.argv[1] == "process" else "strict"
        threads = True if sys.argv[1] == "threads" else None
        with Sandbox(source, level=level, limits=limits, jobs=1, threads=threads) as box:
            for attack in sys.argv[3:]:
                name, _, given = attack.partition("=")
                arguments = json.loads(given.replace('"PARENT"', str(os.getpid())) or "{}")
                trace = execute_plan(Plan((Call("c1", name, tuple(arguments.items())),)), box)
                call = trace.calls[0]
                found["results"][attack] = {
                    "status": call.status, "kind": call.error.kind if call.error else None,
                    "message": call.error.message if call.error else repr(call.value)[:200],
                    "ended": trace.ended.kind if trace.ended else None, "seconds": trace.seconds,
                }  # fmt: skip
            found["layers"] = box.layers
    except ExecutionError as error:
        found["refused"] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
