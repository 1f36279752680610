"""NESTful: nested sequences of API calls, each labelled, later ones using the results of earlier ones.

Source: "NESTful: A Benchmark for Evaluating LLMs on Nested Sequences of API Calls" (the paper),
repository IBM/NESTFUL (its code and data).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.base.resources import deferred, deferred_names
from planner_eval.benchmarks.benchmark import Benchmark, Option, all_have_keys, scorers_in

if TYPE_CHECKING:
    from planner_eval.benchmarks.nestful.corrected import score_corrected
    from planner_eval.benchmarks.nestful.official import score_official


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_MODEL_OPTION = Option(
    "model",
    "granite-3.1-8b-instruct",
    (),
    "The model name by which the published scorer chooses one of its 16 answer formats.",
)


__getattr__ = deferred_names(__name__, score_official="official", score_corrected="corrected")

BENCHMARK = Benchmark(
    name="nestful",
    apart=scorers_in("nestful"),
    title="NESTful",
    read=deferred("planner_eval.benchmarks.nestful.data:read_nestful"),
    read_file=deferred("planner_eval.benchmarks.nestful.data:read_nestful_file"),
    fits=all_have_keys("name", "arguments"),
    signs=("gold_answer", "var_result"),
    paper=deferred("planner_eval.benchmarks.nestful.tables:paper_cells"),
    difference="the paper compares plans; the published code compares texts of calls",
    options=(_MODEL_OPTION,),
    runner=deferred("planner_eval.execution.nestful:NestfulRunner"),
    details=deferred("planner_eval.benchmarks.nestful.tables:tables"),
    charts=deferred("planner_eval.benchmarks.nestful.tables:CHARTS"),
    gold_of=deferred("planner_eval.benchmarks.nestful.reading:gold_of"),
    gold_beside={"output": ""},
    lower=("num_errors_*", "num_pred_examples_w_parsing_errors"),
)
