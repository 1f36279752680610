"""ComplexFuncBench: ComplexEval on recorded conversations, and as a simulator that answers calls.

``score_official`` gives what the published code prints, ``score_corrected`` what the paper defines,
``table3`` the paper's table of the data. To talk with a model, see :mod:`.conversation`.
"""

from planner_eval.benchmarks.complexfuncbench.corrected import score_corrected
from planner_eval.benchmarks.complexfuncbench.official import score_official
from planner_eval.benchmarks.complexfuncbench.scoring import Settings
from planner_eval.benchmarks.complexfuncbench.tables import table3

__all__ = ["Settings", "score_corrected", "score_official", "table3"]
