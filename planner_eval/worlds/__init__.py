"""Simulated worlds: databases with APIs over them, in which plans run and their effects show.

>>> from planner_eval.worlds import World
>>> with World("appbench", seed=7) as world:
...     world.call("Weather", "getweather", {"city": "Atlantis"})
{}
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from planner_eval.worlds.definition import CallError, Definition
    from planner_eval.worlds.facts import facts_of
    from planner_eval.worlds.generic import extend
    from planner_eval.worlds.reading import load, read
    from planner_eval.worlds.replay import Replay
    from planner_eval.worlds.source import world_source
    from planner_eval.worlds.world import World

_HOMES = {
    "CallError": "definition",
    "Definition": "definition",
    "Replay": "replay",
    "World": "world",
    "extend": "generic",
    "facts_of": "facts",
    "load": "reading",
    "read": "reading",
    "world_source": "source",
}
__all__ = ["CallError", "Definition", "Replay", "World", "extend", "facts_of", "load", "read", "world_source"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"planner_eval.worlds.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
