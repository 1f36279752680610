"""Graph-based analyzer of the tool-use plans that language models write.

Text of any tool-call dialect → one typed call DAG → compared, executed, drawn, counted. Every public
verb is loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import sys
from types import ModuleType

from planner_eval._version import __version__

TYPE_CHECKING = False  # typing's own would double the time that --version takes
if TYPE_CHECKING:
    from typing import Any

    from planner_eval.canonical import same
    from planner_eval.catalog import Catalog, read_catalog
    from planner_eval.check import check
    from planner_eval.diff import Diff, diff
    from planner_eval.errors import ParseError, PlanevalError
    from planner_eval.execute import Trace, execute
    from planner_eval.figures import stats
    from planner_eval.metrics import score
    from planner_eval.model import Call, Plan, Ref
    from planner_eval.policy import Policy, Rule
    from planner_eval.read import parse, write
    from planner_eval.render import render

_WHERE = {
    "Call": "model",
    "Catalog": "catalog",
    "Diff": "diff",
    "ParseError": "errors",
    "Plan": "model",
    "PlanevalError": "errors",
    "Policy": "policy",
    "Ref": "model",
    "Rule": "policy",
    "Trace": "execute",
    "check": "check",
    "diff": "diff",
    "execute": "execute",
    "parse": "read",
    "read_catalog": "catalog",
    "render": "render",
    "same": "canonical",
    "score": "metrics",
    "stats": "figures",
    "write": "read",
}

__all__ = [
    "Call",
    "Catalog",
    "Diff",
    "ParseError",
    "Plan",
    "PlanevalError",
    "Policy",
    "Ref",
    "Rule",
    "Trace",
    "__version__",
    "check",
    "diff",
    "execute",
    "parse",
    "read_catalog",
    "render",
    "same",
    "score",
    "stats",
    "write",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module 'planner_eval' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"planner_eval.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """The package: a public verb is never hidden by the submodule of its name (diff, execute, render)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _WHERE and isinstance(value, ModuleType)):  # what importing a submodule does
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted(__all__)
