"""How the published benchmarks made their plans, as wishes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean

_APPBENCH: Mapping[str, Any] = {"tools": "world:appbench", "to": "appbench", "distinct": "values"}

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "nestful": {
            "tools": "nestful", "to": "nestful", "calls": "2..8", "depth": "2..", "single": True,
            "distractors": 8,
        },
        "appbench:ss": {**_APPBENCH, "scope": "ss", "calls": 1},
        "appbench:sm": {**_APPBENCH, "scope": "sm", "calls": "2..4"},
        "appbench:ms": {**_APPBENCH, "scope": "ms", "calls": "2..4"},
        "appbench:mm": {**_APPBENCH, "scope": "mm", "calls": "3..6"},
        "functionchat": {"to": "functionchat", "calls": 1, "distinct": "values"},
        "complexfuncbench": {"to": "complexfuncbench", "distinct": "values"},
    }
)  # fmt: skip
"""Name → arguments of :func:`planner_eval.make` that hold where none is given."""


def preset_of(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a preset and its user give together; what is given wins.

    Args:
        name: One of :data:`PRESETS`.
        arguments: Arguments by name; None where one is not given.

    Raises:
        InputError: there is no such preset, or it needs something that is not given.
    """
    if name not in PRESETS:
        raise InputError(
            f"there is no preset {name!r}; {did_you_mean(str(name), PRESETS, ', '.join(PRESETS))}"
        )
    preset = dict(PRESETS[name])
    own = any(arguments.get(key) is not None for key in ("tools", "catalog"))
    if own and name == "nestful":
        preset["calls"] = (
            preset["calls"] if str(arguments.get("tools") or "").startswith("nestful") else "2..3"
        )
    if own:
        preset.pop("tools", None)
    if not own and "tools" not in preset:
        raise InputError(f"preset {name!r} has no tools of its own: say which with a catalog, or tools")
    if name == "complexfuncbench" and arguments.get("like") is None:
        raise InputError(f"preset {name!r} makes plans like given ones: say which with like, --like FILE")
    return {**preset, **{key: value for key, value in arguments.items() if value is not None}}
