"""The Berkeley Function Calling Leaderboard, version 4: calls in one turn and in several.

Source: paper "The Berkeley Function Calling Leaderboard (BFCL): From Tool Use to Agentic Evaluation of Large
Language Models"; data and code: package bfcl-eval 2026.3.23, of repository ShishirPatil/gorilla.
"""

from __future__ import annotations

from planner_eval.benchmarks.benchmark import Benchmark, Option, deferred_fields, score_functions

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
    signs=("ground_truth",),
    difference="its documentation decides where the code does otherwise; --details says where",
    options=_OPTIONS,
    nothing='{"unanswered": []}',
    gold_beside={"ground_truth": "", "possible_answer": ""},
    result_files="BFCL_v4_*_result.json*",
    pipelines=("function-calling", "prompt"),
    sampling={"temperature": 0.001},
    turned=True,
    **deferred_fields(
        __name__,
        read="data:read_bfcl",
        read_file="data:read_category_file",
        fits="data:is_gold",
        paper="tables:paper_cells",
        details="tables:detail_tables",
        explain="page:explain_answers",
        gold_text="gold:gold_text",
        answer_text="reading:answer_text",
        read_results="reading:read_results",
        answer_texts="reading:answer_texts",
        answer_content="messages:runner_content",
        read_asked="data:read_answered",
        asking="dialog:ASKING",
    ),
)
