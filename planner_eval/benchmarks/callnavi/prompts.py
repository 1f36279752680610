"""What CallNavi's paper asks a judge for: repairing an answer, and rating one.

The prompts are our own. The published ones stand inside code; who has copied their text into files uses them
(:data:`FILES`).
"""

from __future__ import annotations

from typing import Any

from planner_eval.llm.prompts import request
from planner_eval.llm.protocol import JudgeRequest
from planner_eval.llm.templates import PromptFile

_RATE = """You compare the tool calls that a model predicted with the correct ones.
Look at two things: are the same tools called in the same order, and does every call have the same \
arguments with the same values? An argument whose correct value is "$$$" is not known yet; any value is fine.
Rate the likeness from 0 (nothing in common) to 1 (the same), with three decimals. \
Answer with the rating alone, in double square brackets, for example [[0.350]]."""

_REPAIR = """Below is a model's answer that should have been one JSON object of the form
{"API": ["name", ...], "parameters": [{"argument": "value"}, ...]}
with one parameters object for each name, but it cannot be parsed. Write the object that it means. \
Calls written as code become entries of both lists; a call inside another call's arguments becomes an \
entry of its own before it, and "$$$" takes its place. Change no name and no value, add nothing. \
Answer with the JSON object alone."""

FILES = {
    "callnavi.gpt_score": PromptFile("gpt_score.txt", ("predicted", "gold")),
    "callnavi.repair": PromptFile("repair.txt", ("tools", "answer")),
}
"""Files that take the place of our prompts, by task."""


def rating(gold: Any, predicted: Any) -> JudgeRequest:
    """Asks how like the gold calls the predicted calls are, 0 to 1; read with :func:`read_rating`.

    Source: CallNavi, section 5.2.

    >>> rating({"API": []}, {"API": ["pay"]}).task
    'callnavi.gpt_score'
    """
    material = {"Predicted": predicted, "Correct": gold}
    return request("callnavi.gpt_score", _RATE, material, fields={"predicted": predicted, "gold": gold})


def repair(text: str, tools: Any) -> JudgeRequest:
    """Asks for the JSON object that an unparsable answer means.

    Source: CallNavi, section 5.1 (the repair step before structural accuracy).
    """
    material = {"Tools": tools, "Answer": text}
    return request("callnavi.repair", _REPAIR, material, fields={"tools": tools, "answer": text})
