"""BFCL's verdicts as its paper and documentation mean them, each difference with its reason."""

from __future__ import annotations

from planner_eval.benchmarks.bfcl.official import Settings, judge_answers, make_report
from planner_eval.benchmarks.report import Records, Report


def score_corrected(records: Records, *, mode: str = "auto", names: str = "auto") -> Report:
    """The corrected scores, and one row a record."""
    pairs = list(records)
    return make_report("corrected", pairs, judge_answers(pairs, Settings(mode, names)), strict=False)
