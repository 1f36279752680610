"""Running plans: five-call plans with their win, inline, process, strict, and a fresh interpreter each."""

import marshal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from statistics import median
from types import SimpleNamespace
from typing import Any

from planner_eval.benchmarks.nestful.official import is_win
from planner_eval.execution.nestful import NestfulRunner, compile_calls
from planner_eval.execution.sandbox.channel import _interpreter_flags
from tests.conftest import ROOT

ROUNDS = 5
FRESH = 30
"""Interpreters started a round; they take the same time each."""
LEVELS = {"strict": "≥ 10 ×", "process": "≥ 20 ×", "inline": ""}
GOLD = 7.714285714285714

_CHILD = """
import sys
package = type(sys)("planner_eval")
package.__path__ = [sys.argv[1] + "/planner_eval"]
sys.modules["planner_eval"] = package
sys.path.append(sys.argv[1])
import marshal
from planner_eval.execution import core, printed, tool_loading
from planner_eval.execution.sandbox import wire
program = core.Program.of(marshal.loads(sys.stdin.buffer.read()))
tools = tool_loading.load({"kind": "nestful", "table": "official"})
core.run(program, tools, lambda row: print(wire.encode(row.value)), printed.OutputCapture())
"""


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of running plans."""
    prefix, writes = sys.pycache_prefix, sys.dont_write_bytecode
    with tempfile.TemporaryDirectory() as compiled:  # every child finds its modules compiled, as installed
        sys.pycache_prefix, sys.dont_write_bytecode = compiled, False
        try:
            yield from _levels()
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = prefix, writes


def _five_calls() -> tuple[list[dict[str, Any]], Any]:
    given = [("add", 2, 3), ("multiply", "$v1.result$", 4), ("subtract", "$v2.result$", 1)]
    given += [("divide", "$v3.result$", 7), ("add", "$v4.result$", "$v1.result$")]
    calls = [
        {"name": name, "label": f"$v{i}", "arguments": {"arg_0": one, "arg_1": other}}
        for i, (name, one, other) in enumerate(given, 1)
    ]
    names = ("add", "multiply", "subtract", "divide")
    tools = [{"name": name, "output_parameters": {"result": {}}} for name in names]
    return calls, SimpleNamespace(tools=tools)


def _levels() -> Iterable[tuple[str, str, str]]:
    calls, sample = _five_calls()
    fresh = [_rate(lambda: [_child(calls, sample) for _ in range(FRESH)], FRESH) for _ in range(ROUNDS)]
    yield "a fresh interpreter a plan", f"{median(fresh):,.0f} plans/s", ""
    for level, target in LEVELS.items():
        with NestfulRunner(level=level) as runner:
            assert _won(runner, [(calls, sample)] * 10) == 10
            speed = median(
                _rate(lambda r=runner: _won(r, [(calls, sample)] * 1000), 1000)  # type: ignore[misc]
                for _ in range(ROUNDS)
            )
            times = [1 / _rate(lambda r=runner: r(calls, sample), 1) for _ in range(300)]  # type: ignore[misc]
        shown = f"{speed:,.0f} plans/s = {speed / median(fresh):,.1f} ×"
        yield f"{level}: answers run and compared with gold", shown, target
        shown = f"{median(times) * 1000:.3f} ms (best {min(times) * 1000:.3f})"
        yield f"round trip of a five-call plan, {level}", shown, "≤ 0.3 ms" if level == "process" else ""


def _won(runner: NestfulRunner, answers: list[tuple[Any, Any]]) -> int:
    outcomes = runner.outcomes(answers)
    return sum(is_win(False if one.failure is not None else one.value, GOLD) for one in outcomes)


def _rate(work: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def _child(calls: list[dict[str, Any]], sample: Any) -> None:
    """One plan in an interpreter of its own, started as lean as workers are."""
    command = [sys.executable, *_interpreter_flags(), "-c", _CHILD, str(ROOT)]
    program = marshal.dumps(compile_calls(calls, sample.tools).plain())
    subprocess.run(command, input=program, capture_output=True, check=True, env={})
