"""The final answer's completeness and correctness, 0 to 2, as a judge sees them.

Source: ComplexFuncBench paper, section 3.2; what the judge is shown follows the published code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner_eval.benchmarks.complexfuncbench import prompts
from planner_eval.benchmarks.complexfuncbench.calls import FunctionCall
from planner_eval.benchmarks.complexfuncbench.matching import Functions, Same, never_same
from planner_eval.llm import Judge, JudgeRequest
from planner_eval.llm.prompts import read_equal, read_scale
from planner_eval.llm.protocol import JudgeReply

TRIES = 10
"""How often the published code asks before it gives a score up."""

FAILED = -1
EMPTY = -2


@dataclass(frozen=True, slots=True)
class Scores:
    """What the judge said of a final answer.

    Args:
        complete: 0, 1 or 2; -1 where the judge gave no usable answer, -2 for an empty answer, None
            where there was none to judge or no judge.
        correct: The same.
    """

    complete: int | None = None
    correct: int | None = None


def score_response(
    conversations: Sequence[Mapping[str, Any]], response: str | None, judge: Judge | None
) -> Scores:
    """Both scores of a final answer.

    Args:
        conversations: The annotated conversation: its first message is the query; correctness is
            judged against all of it but the last message, not against the model's own talk.
        response: The model's final text; None where it gave none.
        judge: Who judges; None for nobody.
    """
    if response is None or judge is None:
        return Scores()
    if not response:
        return Scores(EMPTY, EMPTY)
    query = str(conversations[0].get("content", "")) if conversations else ""
    complete = prompts.completeness(query, response)
    correct = prompts.correctness(conversations[:-1], response)
    return Scores(_ask(judge, complete), _ask(judge, correct))


def _ask(judge: Judge, request: JudgeRequest) -> int:
    for attempt in range(TRIES):
        score = read_scale(_reply(judge, request, attempt).text)
        if score is not None:
            return score
    return FAILED


def _reply(judge: Judge, request: JudgeRequest, attempt: int) -> JudgeReply:
    return judge.ask(replace(request, attempt=attempt))


def same_by(judge: Judge | None, functions: Functions) -> Same:
    """Model-based matching through a judge; without one no two calls match.

    Args:
        judge: Who decides.
        functions: The sample's functions by name; the judge is shown the called one.

    Source: ComplexFuncBench paper, section 3.1 "LLM-based Matching".
    """
    if judge is None:
        return never_same

    def same(prediction: FunctionCall, gold: FunctionCall) -> bool:
        request = prompts.same_call(functions.get(gold["name"]), prediction, gold)
        for attempt in range(TRIES):
            equal = read_equal(_reply(judge, request, attempt).text)
            if equal is not None:
                return equal
        return False

    return same
