"""Running plans: tools, isolation, traces. Nothing is imported until asked for: workers start from here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOMES = {
    "Limits": "sandbox",
    "NestfulRunner": "nestful",
    "Sandbox": "sandbox",
    "Options": "run",
    "Trace": "trace",
    "CallTrace": "trace",
    "Failure": "trace",
    "Opaque": "wire",
    "ToolSource": "source",
    "tool_source": "source",
    "execute": "run",
    "execute_many": "run",
    "pass_k": "repeat",
    "symbolic": "symbolic",
    "compare_effects": "effects",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"planner_eval.execute.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
