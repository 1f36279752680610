"""FunctionChat-Bench: calls and conversational answers in Korean tool-use dialogs.

Source: paper "FunctionChat-Bench: Comprehensive Evaluation of Language Models' Generative Capabilities in
Korean Tool-use Dialogs"; data and code: repository kakao/FunctionChat-Bench at cb32af3.
"""

from planner_eval.benchmarks.functionchat.corrected import score_corrected
from planner_eval.benchmarks.functionchat.official import score_official

__all__ = ["score_corrected", "score_official"]
