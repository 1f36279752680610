"""Running plans: tools, isolation, traces. Nothing is imported until asked for: workers start from here."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from planner_eval.execution.effects import compare_effects
    from planner_eval.execution.nestful import NestfulRunner
    from planner_eval.execution.program import Options
    from planner_eval.execution.run import execute_many
    from planner_eval.execution.run import execute_plan as execute
    from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
    from planner_eval.execution.sandbox.wire import Opaque
    from planner_eval.execution.terms import same_meaning, symbolic
    from planner_eval.execution.tool_sources import ToolSource, tool_source
    from planner_eval.execution.trace import CallTrace, Failure, Trace


_HOMES = {
    "Limits": "sandbox.sandbox",
    "NestfulRunner": "nestful",
    "Sandbox": "sandbox.sandbox",
    "Options": "program",
    "Trace": "trace",
    "CallTrace": "trace",
    "Failure": "trace",
    "Opaque": "sandbox.wire",
    "ToolSource": "tool_sources",
    "tool_source": "tool_sources",
    "execute": "run:execute_plan",
    "execute_many": "run",
    "same_meaning": "terms",
    "symbolic": "terms",
    "compare_effects": "effects",
}
__all__ = [
    "CallTrace",
    "Failure",
    "Limits",
    "NestfulRunner",
    "Opaque",
    "Options",
    "Sandbox",
    "ToolSource",
    "Trace",
    "compare_effects",
    "execute",
    "execute_many",
    "same_meaning",
    "symbolic",
    "tool_source",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        module, _, attribute = _HOMES[name].partition(":")
        return getattr(import_module(f"planner_eval.execution.{module}"), attribute or name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
