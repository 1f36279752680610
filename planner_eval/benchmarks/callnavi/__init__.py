"""CallNavi: choosing APIs from a long list, in order, and filling in their parameters.

Source: paper "CallNavi: A Study and Challenge on Function Calling Routing and Invocation in Large
Language Models"; data and code: repository Etamin/CallNavi at 520e280.
"""

from planner_eval.benchmarks.callnavi.corrected import score_corrected
from planner_eval.benchmarks.callnavi.official import score_official

__all__ = ["score_corrected", "score_official"]
