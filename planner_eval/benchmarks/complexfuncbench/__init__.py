"""ComplexFuncBench: ComplexEval on recorded conversations, and as a simulator that answers calls.

``score_official`` gives what the published code prints, ``score_corrected`` what the paper defines,
``table3`` the paper's table of the data. To talk with a model, see :mod:`.conversation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.base.resources import deferred, deferred_names
from planner_eval.benchmarks.benchmark import (
    Benchmark,
    Option,
    all_have_keys,
    deferred_fields,
    score_functions,
)

if TYPE_CHECKING:
    from planner_eval.benchmarks.complexfuncbench.tables import table3
    from planner_eval.benchmarks.complexfuncbench.turn import Settings

__all__ = ["BENCHMARK", "Settings", "score_corrected", "score_official", "table3"]


score_official, score_corrected = score_functions("complexfuncbench")
__getattr__ = deferred_names(__name__, Settings="turn", table3="tables")
_gold_prediction = deferred("planner_eval.benchmarks.complexfuncbench.official:gold_prediction")

BENCHMARK = Benchmark(
    name="complexfuncbench",
    title="ComplexFuncBench",
    reads_messages=True,
    fits=all_have_keys("role"),
    signs=("conversations",),
    difference="the paper counts the samples at hand, and every annotated call once",
    options=(
        Option(
            "runner",
            "gpt",
            (),
            "Which published runner, one per family of models, ran the conversations.",
            ("official",),
        ),
    ),
    judged=True,
    gold_text=lambda sample: _gold_prediction(sample.gold),
    notations=frozenset({"json"}),
    gold_beside={"conversations": "functions"},
    lower=("error *", "extra steps"),
    turned=True,
    **deferred_fields(
        __name__,
        read="data:read_complexfuncbench",
        read_file="data:read_complexfuncbench",
        paper="tables:table3",
        prompt_files="turn:PROMPT_FILES",
        charts="tables:CHARTS",
    ),
)
