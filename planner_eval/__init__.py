"""Graph-based analyzer of the tool-use plans that language models write.

Text of any tool-call dialect → one typed call DAG → compared, executed, drawn, counted. Every public
verb is loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from planner_eval._version import __version__
from planner_eval.base.registry import register

TYPE_CHECKING = False  # typing's own would double the time that --version takes
if TYPE_CHECKING:
    from typing import Any

    from planner_eval.base.errors import ParseError, PlanevalError
    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.catalogs.check import check
    from planner_eval.catalogs.formats import read_catalog
    from planner_eval.comparison.diff import Diff, diff
    from planner_eval.comparison.structure_diff import StructureDiff, compare_structure
    from planner_eval.dialects.read import parse, write
    from planner_eval.drawing import render
    from planner_eval.execution import Trace, execute
    from planner_eval.metrics import score
    from planner_eval.plan.canonical import same
    from planner_eval.plan.model import Call, Plan, Ref
    from planner_eval.plan.statistics import stats
    from planner_eval.policy import Policy, Rule

_WHERE = {
    "Call": "plan.model",
    "Catalog": "catalogs.catalog",
    "Diff": "comparison.diff",
    "ParseError": "base.errors",
    "Plan": "plan.model",
    "PlanevalError": "base.errors",
    "Policy": "policy",
    "Ref": "plan.model",
    "Rule": "policy",
    "StructureDiff": "comparison.structure_diff",
    "Trace": "execution",
    "check": "catalogs.check",
    "compare_structure": "comparison.structure_diff",
    "diff": "comparison.diff",
    "execute": "execution",
    "parse": "dialects.read",
    "read_catalog": "catalogs.formats",
    "render": "drawing",
    "same": "plan.canonical",
    "score": "metrics",
    "stats": "plan.statistics",
    "write": "dialects.read",
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
    "StructureDiff",
    "Trace",
    "__version__",
    "check",
    "compare_structure",
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

# What a room needs of one above it: who gives it, imported when it is first asked for.
register("benchmark catalog", "planner_eval.benchmarks.registry:catalog_reader")
register("notebook drawing", "planner_eval.drawing.notebook:notebook_svg")
register("row proof", "planner_eval.dialects.proving:prove")
register("schema defaults", "planner_eval.catalogs.defaults:schema_defaults")
register("world catalog", "planner_eval.worlds.reading:world_catalog")
register("world tools", "planner_eval.worlds.source:world_source")


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module 'planner_eval' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"planner_eval.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
