"""The Berkeley Function Calling Leaderboard, version 4: calls in one turn and in several.

Source: paper "The Berkeley Function Calling Leaderboard (BFCL): From Tool Use to Agentic Evaluation of Large
Language Models"; data and code: package bfcl-eval 2026.3.23, of repository ShishirPatil/gorilla.
"""

from __future__ import annotations

from planner_eval.base.resources import deferred
from planner_eval.benchmarks.benchmark import Benchmark, Option, score_functions

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_OPTIONS = (
    Option(
        "mode", "auto", ("auto", "calls", "prompt"), "How answers were asked for: as function calls or text."
    ),
    Option("names", "auto", ("auto", "underscores", "dots"), "How a dot in a tool's name is written."),
)

score_official, score_corrected = score_functions("bfcl")

BENCHMARK = Benchmark(
    name="bfcl",
    title="BFCL",
    read=deferred("planner_eval.benchmarks.bfcl.data:read_bfcl"),
    read_file=deferred("planner_eval.benchmarks.bfcl.data:read_category_file"),
    fits=deferred("planner_eval.benchmarks.bfcl.data:is_gold"),
    signs=("ground_truth",),
    paper=deferred("planner_eval.benchmarks.bfcl.tables:paper_cells"),
    difference="its documentation decides where the code does otherwise; --details says where",
    options=_OPTIONS,
    details=deferred("planner_eval.benchmarks.bfcl.tables:detail_tables"),
    explain=deferred("planner_eval.benchmarks.bfcl.page:explain_answers"),
    gold_text=deferred("planner_eval.benchmarks.bfcl.gold:gold_text"),
    nothing='{"unanswered": []}',
    gold_beside={"ground_truth": "", "possible_answer": ""},
    answer_text=deferred("planner_eval.benchmarks.bfcl.reading:answer_text"),
    read_results=deferred("planner_eval.benchmarks.bfcl.reading:read_results"),
    answer_texts=deferred("planner_eval.benchmarks.bfcl.reading:answer_texts"),
    read_asked=deferred("planner_eval.benchmarks.bfcl.data:read_answered"),
    asking=deferred("planner_eval.benchmarks.bfcl.dialog:ASKING"),
    result_files="BFCL_v4_*_result.json*",
    pipelines=("function-calling", "prompt"),
    sampling={"temperature": 0.001},
    turned=True,
)
