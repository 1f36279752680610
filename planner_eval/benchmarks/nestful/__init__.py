"""NESTful: nested sequences of API calls, each labelled, later ones using the results of earlier ones.

Source: "NESTful: A Benchmark for Evaluating LLMs on Nested Sequences of API Calls" (the paper),
repository IBM/NESTFUL (its code and data).
"""

from planner_eval.benchmarks.nestful.corrected import score_corrected
from planner_eval.benchmarks.nestful.official import score_official

__all__ = ["score_corrected", "score_official"]
