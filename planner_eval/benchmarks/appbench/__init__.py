"""AppBench: plans across apps and APIs, in the line format ``App: [outputs = api(#key='value')]``.

Source: "AppBench: Planning of Multiple APIs from Various APPs for Complex User Instruction"
(the paper), repository ruleGreen/AppBench at 81539ee (its code and data).
"""

from planner_eval.benchmarks.appbench.corrected import score_corrected
from planner_eval.benchmarks.appbench.official import score_official

__all__ = ["score_corrected", "score_official"]
