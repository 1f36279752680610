"""Graph-based analyzer of the tool-use plans that language models write.

Text of any tool-call dialect → one typed call DAG → compared, executed, drawn, counted. Every public
verb is loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from planner_eval._version import __version__
from planner_eval.base.resources import register

TYPE_CHECKING = False  # typing's own would double the time that --version takes

if TYPE_CHECKING:
    from typing import Any

    from planner_eval.base.errors import ParseError, PlanevalError
    from planner_eval.benchmarks.agree import agree
    from planner_eval.benchmarks.benchmark import BenchmarkRules
    from planner_eval.benchmarks.compare import compare_benchmark
    from planner_eval.benchmarks.datasets.fetch import fetch_dataset
    from planner_eval.benchmarks.datasets.published import list_datasets, read_dataset, verify_dataset
    from planner_eval.benchmarks.datasets.sources import open_sources
    from planner_eval.benchmarks.score_benchmark import score_benchmark
    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.catalogs.check import check
    from planner_eval.catalogs.formats import read_catalog
    from planner_eval.catalogs.grammars.grammar import grammar
    from planner_eval.comparison.diff import Diff
    from planner_eval.comparison.evaluate import compare_structure, diff, evaluate, pair, same
    from planner_eval.comparison.patch_files import apply, read_patches
    from planner_eval.comparison.policy.policy import Policy
    from planner_eval.comparison.policy.values import Rule
    from planner_eval.comparison.structure_diff import StructureDiff
    from planner_eval.curation.check_dataset import check_dataset
    from planner_eval.curation.coverage import coverage
    from planner_eval.curation.duplicates import duplicates
    from planner_eval.curation.make.make import make
    from planner_eval.curation.shrink.shrink import shrink
    from planner_eval.curation.suggest.suggest import suggest
    from planner_eval.execution.doctor import doctor
    from planner_eval.execution.effects import compare_effects
    from planner_eval.execution.run import execute, tool_source
    from planner_eval.execution.trace import Trace
    from planner_eval.integrations.rewarding import reward
    from planner_eval.integrations.schemas import schema
    from planner_eval.integrations.verdict import assert_same, assert_scores
    from planner_eval.models.predict.export import export_dataset
    from planner_eval.models.predict.predict import predict
    from planner_eval.models.table import chart, table
    from planner_eval.plan.model import Call, Plan, Ref
    from planner_eval.reading.dialects.listing import list_dialects
    from planner_eval.reading.dialects.read import write
    from planner_eval.reading.parse import convert, parse, read, stats
    from planner_eval.reading.settings import Reading
    from planner_eval.results.causes import attribute
    from planner_eval.results.drawing import render, render_many
    from planner_eval.results.gold_doubts import leave_out_doubts
    from planner_eval.results.page.report import report
    from planner_eval.results.runs.model import Running
    from planner_eval.results.score import compare, score
    from planner_eval.results.selftest import selftest


_WHERE = {
    "BenchmarkRules": "benchmarks.benchmark",
    "Call": "plan.model",
    "Catalog": "catalogs.catalog",
    "Diff": "comparison.diff",
    "ParseError": "base.errors",
    "Plan": "plan.model",
    "PlanevalError": "base.errors",
    "Policy": "comparison.policy.policy",
    "Reading": "reading.settings",
    "Ref": "plan.model",
    "Rule": "comparison.policy.values",
    "Running": "results.runs.model",
    "StructureDiff": "comparison.structure_diff",
    "Trace": "execution.trace",
    "agree": "benchmarks.agree",
    "apply": "comparison.patch_files",
    "assert_same": "integrations.verdict",
    "assert_scores": "integrations.verdict",
    "attribute": "results.causes",
    "chart": "models.table",
    "check": "catalogs.check",
    "check_dataset": "curation.check_dataset",
    "compare": "results.score",
    "compare_benchmark": "benchmarks.compare",
    "compare_effects": "execution.effects",
    "compare_structure": "comparison.evaluate",
    "convert": "reading.parse",
    "coverage": "curation.coverage",
    "diff": "comparison.evaluate",
    "doctor": "execution.doctor",
    "duplicates": "curation.duplicates",
    "evaluate": "comparison.evaluate",
    "execute": "execution.run",
    "export_dataset": "models.predict.export",
    "fetch_dataset": "benchmarks.datasets.fetch",
    "grammar": "catalogs.grammars.grammar",
    "leave_out_doubts": "results.gold_doubts",
    "list_datasets": "benchmarks.datasets.published",
    "list_dialects": "reading.dialects.listing",
    "open_sources": "benchmarks.datasets.sources",
    "make": "curation.make.make",
    "pair": "comparison.evaluate",
    "parse": "reading.parse",
    "predict": "models.predict.predict",
    "read": "reading.parse",
    "read_catalog": "catalogs.formats",
    "read_dataset": "benchmarks.datasets.published",
    "read_patches": "comparison.patch_files",
    "render": "results.drawing",
    "render_many": "results.drawing",
    "report": "results.page.report",
    "reward": "integrations.rewarding",
    "same": "comparison.evaluate",
    "schema": "integrations.schemas",
    "score": "results.score",
    "score_benchmark": "benchmarks.score_benchmark",
    "selftest": "results.selftest",
    "shrink": "curation.shrink.shrink",
    "stats": "reading.parse",
    "suggest": "curation.suggest.suggest",
    "table": "models.table",
    "tool_source": "execution.run",
    "verify_dataset": "benchmarks.datasets.published",
    "write": "reading.dialects.read",
}

__all__ = [
    "BenchmarkRules",
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
    "Running",
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
    "leave_out_doubts",
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
register("benchmark catalog", "planner_eval.benchmarks.benchmark:catalog_reader")
register("benchmark runs compared", "planner_eval.benchmarks.compare:compare_kept_benchmarks")
register("catalog", "planner_eval.catalogs.formats:read_catalog")
register("catalog facts", "planner_eval.catalogs.record_tools:catalog_facts")
register("dataset plans", "planner_eval.benchmarks.datasets.sources:read_dataset_plans")
register("hidden dataset", "planner_eval.benchmarks.datasets.sources:hides_dataset")
register("notebook drawing", "planner_eval.results.page.page:notebook_svg")
register("catalog signatures", "planner_eval.catalogs.record_tools:signatures")
register("notebook listing", "planner_eval.results.page.page:notebook_listing")
register("diff text", "planner_eval.results.views.rows:diff_text")
register("plan text", "planner_eval.results.page.page:plan_text")
register("row proof", "planner_eval.reading.dialects.listing:prove")
register("signatures of released tools", "planner_eval.catalogs.record_tools:Known")
register("world catalog", "planner_eval.execution.worlds.reading:world_catalog")
register("world tools", "planner_eval.execution.worlds.world:world_source")


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
