"""What ComplexFuncBench asks a judge for: final answers, and like calls.

The prompts are our own. The published ones stand inside code; who has copied their text into files uses them
(:data:`PROMPT_FILES`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner_eval.benchmarks.complexfuncbench.data import FunctionCall
from planner_eval.benchmarks.complexfuncbench.matching import CallPredicate, Functions, never_matches
from planner_eval.benchmarks.judge_prompts import PromptFile
from planner_eval.benchmarks.judging import (
    Judge,
    JudgeReply,
    JudgeRequest,
    make_request,
    read_equal,
    read_scale,
)

# ----------------------------------------------------------------------
# What ComplexFuncBench's paper asks a judge for: final answers, and like calls.
_COMPLETENESS_PROMPT = """You judge how completely an answer covers what a user asked.
2: every part of the request is answered. 1: some parts are answered, others are missing. \
0: none is answered, or the answer only asks back or gives up.
Judge coverage alone, not whether the answer is true."""

_CORRECTNESS_PROMPT = """You judge whether an assistant's final answer is true to what the tools returned.
2: everything it states agrees with the results in the conversation. 1: some statements agree, others \
do not or have no ground. 0: nothing agrees. Judge truth alone, not whether something is missing."""

_SCALE_INSTRUCTION = 'Answer with one JSON object: {"reason": "<short>", "score": <0, 1 or 2>}.'

_SAME_CALL_PROMPT = """You decide whether two calls of one tool ask for the same thing.
Values are the same if they mean the same: another language, another wording or spelling, a place with \
or without its country, arguments in another order, an optional argument that is left out and whose \
default is meant. They differ if any value that changes the result differs.
Answer with one JSON object: {"reason": "<short>", "is_equal": <true or false>}."""

PROMPT_FILES = {
    "complexfuncbench.completeness": PromptFile("completeness.txt", ("query", "response")),
    "complexfuncbench.correctness": PromptFile("correctness.txt", ("conversation", "response")),
    "complexfuncbench.same_call": PromptFile("same_call.txt", ("tool", "predicted", "gold")),
}
"""Files that take the place of our prompts, by task."""


def completeness_request(query: str, response: str) -> JudgeRequest:
    """Asks whether a final answer covers the whole query, 0 to 2; read with :func:`read_scale`.

    Source: ComplexFuncBench, section 3.2.
    """
    material = {"Request": query, "Answer": response}
    fields = {"query": query, "response": response}
    return make_request(
        "complexfuncbench.completeness",
        f"{_COMPLETENESS_PROMPT}\n{_SCALE_INSTRUCTION}",
        material,
        fields=fields,
    )


def correctness_request(conversation: Sequence[Any], response: str) -> JudgeRequest:
    """Asks whether a final answer agrees with the tool results, 0 to 2; read with :func:`read_scale`.

    Source: ComplexFuncBench, section 3.2.
    """
    material = {"Conversation": list(conversation), "Answer": response}
    fields = {"conversation": list(conversation), "response": response}
    return make_request(
        "complexfuncbench.correctness",
        f"{_CORRECTNESS_PROMPT}\n{_SCALE_INSTRUCTION}",
        material,
        fields=fields,
    )


def same_call_request(tool: Any, predicted: Any, gold: Any) -> JudgeRequest:
    """Asks whether two calls of one tool mean the same; read with :func:`read_equal`.

    Source: ComplexFuncBench, section 3.1 (LLM-based matching).
    """
    material = {"Tool": tool, "Predicted call": predicted, "Correct call": gold}
    fields = {"tool": tool, "predicted": predicted, "gold": gold}
    return make_request("complexfuncbench.same_call", _SAME_CALL_PROMPT, material, fields=fields)


# ----------------------------------------------------------------------
# The final answer's completeness and correctness, 0 to 2, as a judge sees them.
#
# Source: ComplexFuncBench paper, section 3.2; what the judge is shown follows the published code.
MAX_ATTEMPTS = 10
"""How often the published code asks before it gives a score up."""

FAILED_SCORE = -1
EMPTY_SCORE = -2


@dataclass(frozen=True, slots=True)
class AnswerScores:
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
) -> AnswerScores:
    """Both scores of a final answer.

    Args:
        conversations: The annotated conversation: its first message is the query; correctness is
            judged against all of it but the last message, not against the model's own talk.
        response: The model's final text; None where it gave none.
        judge: Who judges; None for nobody.
    """
    if response is None or judge is None:
        return AnswerScores()
    if not response:
        return AnswerScores(EMPTY_SCORE, EMPTY_SCORE)
    query = str(conversations[0].get("content", "")) if conversations else ""
    complete = completeness_request(query, response)
    correct = correctness_request(conversations[:-1], response)
    return AnswerScores(_ask_score(judge, complete), _ask_score(judge, correct))


def _ask_score(judge: Judge, request: JudgeRequest) -> int:
    for attempt in range(MAX_ATTEMPTS):
        score = read_scale(_ask_judge(judge, request, attempt).text)
        if score is not None:
            return score
    return FAILED_SCORE


def _ask_judge(judge: Judge, request: JudgeRequest, attempt: int) -> JudgeReply:
    return judge.ask(replace(request, attempt=attempt))


def judge_matcher(judge: Judge | None, functions: Functions) -> CallPredicate:
    """Model-based matching through a judge; without one no two calls match.

    Args:
        judge: Who decides.
        functions: The sample's functions by name; the judge is shown the called one.

    Source: ComplexFuncBench paper, section 3.1 "LLM-based Matching".
    """
    if judge is None:
        return never_matches

    def same(prediction: FunctionCall, gold: FunctionCall) -> bool:
        request = same_call_request(functions.get(gold["name"]), prediction, gold)
        for attempt in range(MAX_ATTEMPTS):
            equal = read_equal(_ask_judge(judge, request, attempt).text)
            if equal is not None:
                return equal
        return False

    return same
