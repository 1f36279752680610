"""ComplexFuncBench: ComplexEval on recorded conversations, and as a simulator that answers calls.

``score_official`` gives what the published code prints, ``score_corrected`` what the paper defines,
``table3`` the paper's table of the data. To talk with a model, see :mod:`.conversation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.base.resources import deferred, deferred_names
from planner_eval.benchmarks.benchmark import Benchmark, Option, all_have_keys, score_functions

if TYPE_CHECKING:
    from planner_eval.benchmarks.complexfuncbench.tables import table3
    from planner_eval.benchmarks.complexfuncbench.turn import Settings

__all__ = ["BENCHMARK", "Settings", "score_corrected", "score_official", "table3"]

_RUNNER_OPTION = Option(
    "runner",
    "gpt",
    (),
    "Which published runner, one per family of models, ran the conversations.",
    ("official",),
)

score_official, score_corrected = score_functions("complexfuncbench")
__getattr__ = deferred_names(__name__, Settings="turn", table3="tables")
_gold_prediction = deferred("planner_eval.benchmarks.complexfuncbench.official:gold_prediction")
_read = deferred("planner_eval.benchmarks.complexfuncbench.data:read_complexfuncbench")

BENCHMARK = Benchmark(
    name="complexfuncbench",
    title="ComplexFuncBench",
    reads_messages=True,
    read=_read,
    read_file=_read,
    fits=all_have_keys("role"),
    signs=("conversations",),
    paper=deferred("planner_eval.benchmarks.complexfuncbench.tables:table3"),
    difference="the paper counts the samples at hand, and every annotated call once",
    options=(_RUNNER_OPTION,),
    judged=True,
    prompt_files=deferred("planner_eval.benchmarks.complexfuncbench.turn:PROMPT_FILES"),
    gold_text=lambda sample: _gold_prediction(sample.gold),
    charts=deferred("planner_eval.benchmarks.complexfuncbench.tables:CHARTS"),
    notations=frozenset({"json"}),
    gold_beside={"conversations": "functions"},
    lower=("error *", "extra steps"),
    turned=True,
)
