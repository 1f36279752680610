"""NESTful: nested sequences of API calls, each labelled, later ones using the results of earlier ones.

Source: "NESTful: A Benchmark for Evaluating LLMs on Nested Sequences of API Calls" (the paper),
repository IBM/NESTFUL (its code and data).
"""

from __future__ import annotations

from planner_eval.base.resources import deferred
from planner_eval.benchmarks.benchmark import (
    Benchmark,
    Option,
    all_have_keys,
    deferred_fields,
    score_functions,
)

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

score_official, score_corrected = score_functions("nestful")

BENCHMARK = Benchmark(
    name="nestful",
    title="NESTful",
    fits=all_have_keys("name", "arguments"),
    signs=("gold_answer", "var_result"),
    difference="the paper compares plans; the published code compares texts of calls",
    options=(
        Option(
            "model",
            "granite-3.1-8b-instruct",
            (),
            "The model name by which the published scorer chooses one of its 16 answer formats.",
        ),
    ),
    runner=deferred("planner_eval.execution.nestful:NestfulRunner"),
    gold_beside={"output": ""},
    lower=("num_errors_*", "num_pred_examples_w_parsing_errors"),
    **deferred_fields(
        __name__,
        read="data:read_nestful",
        read_file="data:read_nestful_file",
        paper="tables:paper_cells",
        details="tables:tables",
        charts="tables:CHARTS",
        gold_of="reading:gold_of",
    ),
)
