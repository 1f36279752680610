"""FunctionChat-Bench: calls and conversational answers in Korean tool-use dialogs.

Source: paper "FunctionChat-Bench: Comprehensive Evaluation of Language Models' Generative Capabilities in
Korean Tool-use Dialogs"; data and code: repository kakao/FunctionChat-Bench at cb32af3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.base.resources import deferred
from planner_eval.benchmarks.benchmark import Benchmark, as_json, has_keys, score_functions

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

score_official, score_corrected = score_functions("functionchat")


def _fits(gold: Any) -> bool:
    return has_keys("name", "arguments")(gold) or has_keys("role")(gold)


def _gold_text(sample: Sample) -> str | None:
    if sample.extra["type_of_output"] != "call":
        return None
    gold: Mapping[str, Any] = sample.gold
    if "tool_calls" not in gold:
        call = {"id": "random_id", "type": "function", "function": gold}
        gold = {"role": "assistant", "content": None, "tool_calls": [call]}
    return as_json(gold)


BENCHMARK = Benchmark(
    name="functionchat",
    title="FunctionChat-Bench",
    reads_messages=True,
    read=deferred("planner_eval.benchmarks.functionchat.data:read_functionchat"),
    read_file=deferred("planner_eval.benchmarks.functionchat.data:read_part_file"),
    fits=_fits,
    signs=("function_num", "dialog_num", "input_messages"),
    paper=deferred("planner_eval.benchmarks.functionchat.tables:paper_cells"),
    difference="the paper's criteria decide every item, without the published shortcuts",
    judged=True,
    prompt_files=deferred("planner_eval.benchmarks.functionchat.data:PROMPT_FILES"),
    details=deferred("planner_eval.benchmarks.functionchat.tables:detail_tables"),
    charts=deferred("planner_eval.benchmarks.functionchat.tables:CHARTS"),
    result_file=deferred("planner_eval.benchmarks.functionchat.official:result_file"),
    gold_text=_gold_text,
    gold_of=deferred("planner_eval.benchmarks.functionchat.reading:gold_of"),
    notations=frozenset({"json"}),
    nothing="null",
    lower=("* undecided",),
    turned=True,
)
