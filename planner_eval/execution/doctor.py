"""What isolation this machine offers: each level tried, each layer as it was found."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner_eval.base.errors import ExecutionError
from planner_eval.execution.program import compile_plan
from planner_eval.execution.sandbox import REQUIRED, Sandbox
from planner_eval.execution.source import tool_source
from planner_eval.execution.trace import Layer
from planner_eval.plan.model import Call, Plan


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One level, tried.

    Args:
        level: ``"strict"`` or ``"process"``.
        available: Whether a plan ran at this level.
        layers: The layers that were tried, each as it was found.
        reason: Why the level is not available; "" where it is.
    """

    level: str
    available: bool
    layers: tuple[Layer, ...]
    reason: str = ""

    def required(self, layer: str) -> bool:
        """Whether the level refuses to run without a layer."""
        return layer in REQUIRED[self.level]


def examine(level: str) -> LevelReport:
    """Run a small plan at a level and report what held.

    >>> examine("process").available
    True
    """
    program = compile_plan(Plan((Call("a", "add", (("arg_0", 1), ("arg_1", 2))),)))
    source = replace(tool_source("nestful"), writes=True)  # as most tools are
    with Sandbox(source, level=level, threads=True) as box:
        try:
            reply = box.run(program)
        except ExecutionError as error:
            return LevelReport(level, False, box.layers, str(error))
        ended = reply.ended
        return LevelReport(level, ended is None, box.layers, "" if ended is None else str(ended))
