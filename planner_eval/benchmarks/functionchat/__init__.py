"""FunctionChat-Bench: calls and conversational answers in Korean tool-use dialogs.

Source: paper "FunctionChat-Bench: Comprehensive Evaluation of Language Models' Generative Capabilities in
Korean Tool-use Dialogs"; data and code: repository kakao/FunctionChat-Bench at cb32af3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.benchmark import Benchmark, as_json, deferred_fields, has_keys, score_functions

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

score_official, score_corrected = score_functions("functionchat")


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
    fits=lambda gold: has_keys("name", "arguments")(gold) or has_keys("role")(gold),
    signs=("function_num", "dialog_num", "input_messages"),
    difference="the paper's criteria decide every item, without the published shortcuts",
    judged=True,
    gold_text=_gold_text,
    notations=frozenset({"json"}),
    nothing="null",
    lower=("* undecided",),
    turned=True,
    **deferred_fields(
        __name__,
        read="data:read_functionchat",
        read_file="data:read_part_file",
        paper="tables:paper_cells",
        prompt_files="data:PROMPT_FILES",
        details="tables:detail_tables",
        charts="tables:CHARTS",
        result_file="official:result_file",
        gold_of="reading:gold_of",
    ),
)
