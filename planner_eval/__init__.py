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
    from planner_eval.comparison.diff import Diff
    from planner_eval.comparison.structure_diff import StructureDiff
    from planner_eval.datasets.sources import open_sources
    from planner_eval.dialects.read import write
    from planner_eval.drawing import render_many
    from planner_eval.execution import Trace
    from planner_eval.integrations.asserting import assert_same, assert_scores
    from planner_eval.integrations.rewarding import reward
    from planner_eval.plan.model import Call, Plan, Ref
    from planner_eval.policy import Policy
    from planner_eval.policy.rule import Rule
    from planner_eval.verbs.agreeing import agree
    from planner_eval.verbs.attributing import attribute
    from planner_eval.verbs.benchmark import score_benchmark
    from planner_eval.verbs.benchmark_compare import compare_benchmark
    from planner_eval.verbs.catalogs import read_catalog
    from planner_eval.verbs.charting import chart
    from planner_eval.verbs.checking import check
    from planner_eval.verbs.comparing import compare
    from planner_eval.verbs.converting import convert
    from planner_eval.verbs.counting import stats
    from planner_eval.verbs.coverage import coverage
    from planner_eval.verbs.dataset_check import check_dataset
    from planner_eval.verbs.datasets import list_datasets, read_dataset, verify_dataset
    from planner_eval.verbs.dialects import list_dialects
    from planner_eval.verbs.doctor import doctor
    from planner_eval.verbs.drawing import render
    from planner_eval.verbs.duplicates import duplicates
    from planner_eval.verbs.effects import compare_effects
    from planner_eval.verbs.evaluating import compare_structure, diff, evaluate, pair, same
    from planner_eval.verbs.exporting import export_dataset
    from planner_eval.verbs.fetching import fetch_dataset
    from planner_eval.verbs.grammars import grammar
    from planner_eval.verbs.making import make
    from planner_eval.verbs.predicting import predict
    from planner_eval.verbs.reading import parse, read
    from planner_eval.verbs.readings import Reading
    from planner_eval.verbs.repairing import apply, read_patches
    from planner_eval.verbs.reporting import report
    from planner_eval.verbs.running import execute, tool_source
    from planner_eval.verbs.schemas import schema
    from planner_eval.verbs.scoring import score
    from planner_eval.verbs.selftest import selftest
    from planner_eval.verbs.shrinking import shrink
    from planner_eval.verbs.suggesting import suggest
    from planner_eval.verbs.tabling import table

_WHERE = {
    "Call": "plan.model",
    "Catalog": "catalogs.catalog",
    "Diff": "comparison.diff",
    "ParseError": "base.errors",
    "Plan": "plan.model",
    "PlanevalError": "base.errors",
    "Policy": "policy",
    "Reading": "verbs.readings",
    "Ref": "plan.model",
    "Rule": "policy.rule",
    "StructureDiff": "comparison.structure_diff",
    "Trace": "execution",
    "agree": "verbs.agreeing",
    "apply": "verbs.repairing",
    "assert_same": "integrations.asserting",
    "assert_scores": "integrations.asserting",
    "attribute": "verbs.attributing",
    "chart": "verbs.charting",
    "check": "verbs.checking",
    "check_dataset": "verbs.dataset_check",
    "compare": "verbs.comparing",
    "compare_benchmark": "verbs.benchmark_compare",
    "compare_effects": "verbs.effects",
    "compare_structure": "verbs.evaluating",
    "convert": "verbs.converting",
    "coverage": "verbs.coverage",
    "diff": "verbs.evaluating",
    "doctor": "verbs.doctor",
    "duplicates": "verbs.duplicates",
    "evaluate": "verbs.evaluating",
    "execute": "verbs.running",
    "export_dataset": "verbs.exporting",
    "fetch_dataset": "verbs.fetching",
    "grammar": "verbs.grammars",
    "list_datasets": "verbs.datasets",
    "list_dialects": "verbs.dialects",
    "open_sources": "datasets.sources",
    "make": "verbs.making",
    "pair": "verbs.evaluating",
    "parse": "verbs.reading",
    "predict": "verbs.predicting",
    "read": "verbs.reading",
    "read_catalog": "verbs.catalogs",
    "read_dataset": "verbs.datasets",
    "read_patches": "verbs.repairing",
    "render": "verbs.drawing",
    "render_many": "drawing",
    "report": "verbs.reporting",
    "reward": "integrations.rewarding",
    "same": "verbs.evaluating",
    "schema": "verbs.schemas",
    "score": "verbs.scoring",
    "score_benchmark": "verbs.benchmark",
    "selftest": "verbs.selftest",
    "shrink": "verbs.shrinking",
    "stats": "verbs.counting",
    "suggest": "verbs.suggesting",
    "table": "verbs.tabling",
    "tool_source": "verbs.running",
    "verify_dataset": "verbs.datasets",
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
    "Reading",
    "Ref",
    "Rule",
    "StructureDiff",
    "Trace",
    "__version__",
    "agree",
    "apply",
    "assert_same",
    "assert_scores",
    "attribute",
    "chart",
    "check",
    "check_dataset",
    "compare",
    "compare_benchmark",
    "compare_effects",
    "compare_structure",
    "convert",
    "coverage",
    "diff",
    "doctor",
    "duplicates",
    "evaluate",
    "execute",
    "export_dataset",
    "fetch_dataset",
    "grammar",
    "list_datasets",
    "list_dialects",
    "make",
    "open_sources",
    "pair",
    "parse",
    "predict",
    "read",
    "read_catalog",
    "read_dataset",
    "read_patches",
    "render",
    "render_many",
    "report",
    "reward",
    "same",
    "schema",
    "score",
    "score_benchmark",
    "selftest",
    "shrink",
    "stats",
    "suggest",
    "table",
    "tool_source",
    "verify_dataset",
    "write",
]

# What a room needs of one above it: who gives it, imported when it is first asked for.
register("benchmark catalog", "planner_eval.benchmarks.registry:catalog_reader")
register("benchmark runs compared", "planner_eval.verbs.benchmark_compare:compare_kept_benchmarks")
register("catalog", "planner_eval.catalogs.formats:read_catalog")
register("catalog facts", "planner_eval.catalogs.facts:catalog_facts")
register("dataset plans", "planner_eval.datasets.sources:read_dataset_plans")
register("hidden dataset", "planner_eval.datasets.sources:hides_dataset")
register("notebook drawing", "planner_eval.drawing.notebook:notebook_svg")
register("catalog signatures", "planner_eval.catalogs.signatures:signatures")
register("causes text", "planner_eval.scoring.causes_formats:causes_text")
register("notebook listing", "planner_eval.reports.notebook:notebook_listing")
register("diff text", "planner_eval.scoring.row_formats:diff_text")
register("plan text", "planner_eval.drawing.notebook:plan_text")
register("row proof", "planner_eval.dialects.proving:prove")
register("signatures of released tools", "planner_eval.catalogs.signatures:Known")
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
