"""Simulated worlds: databases with APIs over them, in which plans run and their effects show.

>>> from planner_eval.execution.worlds import World
>>> with World("appbench", seed=7) as world:
...     world.call("Weather", "getweather", {"city": "Atlantis"})
{}
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from planner_eval.execution.worlds.definition import CallError, Definition
    from planner_eval.execution.worlds.facts import facts_of
    from planner_eval.execution.worlds.generic import extend
    from planner_eval.execution.worlds.reading import load, read
    from planner_eval.execution.worlds.world import World, world_source


_HOMES = {
    "CallError": "definition",
    "Definition": "definition",
    "World": "world",
    "extend": "generic",
    "facts_of": "facts",
    "load": "reading",
    "read": "reading",
    "world_source": "world",
}
__all__ = ["CallError", "Definition", "World", "extend", "facts_of", "load", "read", "world_source"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"planner_eval.execution.worlds.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
