"""What ComplexFuncBench's paper asks a judge for: final answers, and like calls.

The prompts are our own. The published ones stand inside code; who has copied their text into files uses them
(:data:`FILES`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner_eval.llm.prompts import request
from planner_eval.llm.protocol import JudgeRequest
from planner_eval.llm.templates import PromptFile

_COMPLETE = """You judge how completely an answer covers what a user asked.
2: every part of the request is answered. 1: some parts are answered, others are missing. \
0: none is answered, or the answer only asks back or gives up.
Judge coverage alone, not whether the answer is true."""

_CORRECT = """You judge whether an assistant's final answer is true to what the tools returned.
2: everything it states agrees with the results in the conversation. 1: some statements agree, others \
do not or have no ground. 0: nothing agrees. Judge truth alone, not whether something is missing."""

_SCALE = 'Answer with one JSON object: {"reason": "<short>", "score": <0, 1 or 2>}.'

_SAME = """You decide whether two calls of one tool ask for the same thing.
Values are the same if they mean the same: another language, another wording or spelling, a place with \
or without its country, arguments in another order, an optional argument that is left out and whose \
default is meant. They differ if any value that changes the result differs.
Answer with one JSON object: {"reason": "<short>", "is_equal": <true or false>}."""

FILES = {
    "complexfuncbench.completeness": PromptFile("completeness.txt", ("query", "response")),
    "complexfuncbench.correctness": PromptFile("correctness.txt", ("conversation", "response")),
    "complexfuncbench.same_call": PromptFile("same_call.txt", ("tool", "predicted", "gold")),
}
"""Files that take the place of our prompts, by task."""


def completeness(query: str, response: str) -> JudgeRequest:
    """Asks whether a final answer covers the whole query, 0 to 2; read with :func:`read_scale`.

    Source: ComplexFuncBench, section 3.2.
    """
    material = {"Request": query, "Answer": response}
    fields = {"query": query, "response": response}
    return request("complexfuncbench.completeness", f"{_COMPLETE}\n{_SCALE}", material, fields=fields)


def correctness(conversation: Sequence[Any], response: str) -> JudgeRequest:
    """Asks whether a final answer agrees with the tool results, 0 to 2; read with :func:`read_scale`.

    Source: ComplexFuncBench, section 3.2.
    """
    material = {"Conversation": list(conversation), "Answer": response}
    fields = {"conversation": list(conversation), "response": response}
    return request("complexfuncbench.correctness", f"{_CORRECT}\n{_SCALE}", material, fields=fields)


def same_call(tool: Any, predicted: Any, gold: Any) -> JudgeRequest:
    """Asks whether two calls of one tool mean the same; read with :func:`read_equal`.

    Source: ComplexFuncBench, section 3.1 (LLM-based matching).
    """
    material = {"Tool": tool, "Predicted call": predicted, "Correct call": gold}
    fields = {"tool": tool, "predicted": predicted, "gold": gold}
    return request("complexfuncbench.same_call", _SAME, material, fields=fields)
