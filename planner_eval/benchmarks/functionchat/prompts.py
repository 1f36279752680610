"""What FunctionChat-Bench's paper asks a judge for: pass or fail, by kind of turn.

The prompts are our own; the published files take their place where the user has them (:data:`FILES`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.llm.prompts import request
from planner_eval.llm.protocol import JudgeRequest
from planner_eval.llm.templates import PromptFile

_VERDICT = """You decide whether an assistant's turn in a conversation with tools is right.
{criterion}
Explain your reasoning first, step by step. Then write your decision, pass or fail, on a line of its \
own, and repeat it on the last line, both times without any other character."""

_CRITERIA = {
    "call": """The right turn is a tool call. Pass it if the tool is the one of the reference, spelled \
alike; its arguments are exactly those of the reference; each value has the type that the tool declares; \
and each value is right: equal to the reference, or one of the acceptable alternatives, or, for free \
text, the same content in other words. If the acceptable alternatives say that only the reference \
counts, accept equal values only. Fail it if no tool or another tool is called, if an argument is \
missing or added, or if a value has the wrong type or another meaning.""",
    "completion": """The right turn tells the user what a tool returned. Pass it if it puts the result \
into natural conversation, not raw data, without changing its meaning. The reference is one good \
answer, not the only one; a shorter one is fine. Fail it if the content differs from the tool's result, \
or if it does not report the result.""",
    "slot": """The right turn asks the user for what a suitable tool still needs. Pass it if it asks \
properly for the missing information. Fail it if it calls a tool without that information or with \
values that the user never gave, if it calls another tool, or if it answers from its own knowledge.""",
    "relevance": """No tool fits the user's message. Pass the turn if it chats along where no tool is \
needed, or says that the request is beyond what is on offer. Fail it if it calls a tool, or claims to \
be able to do, or to have done, what only a missing tool could do.""",
}
OUTPUT_TYPES = tuple(_CRITERIA)
"""The four kinds of right answer in FunctionChat-Bench."""
_FIELDS = ("tools", "query", "ground_truth", "response")
FILES = {
    f"functionchat.{kind}": PromptFile(
        f"data/rubric_{kind}.txt", (*_FIELDS, "acceptable_arguments") if kind == "call" else _FIELDS
    )
    for kind in OUTPUT_TYPES
}
"""The published files of prompts, by task."""


def verdict(output_type: str, material: Mapping[str, Any], fields: Mapping[str, Any]) -> JudgeRequest:
    """Asks for pass or fail on one turn by the criterion of its output type.

    Args:
        output_type: One of :data:`OUTPUT_TYPES`.
        material: Headings and what stands under them: tools, conversation, reference, answer …
        fields: The same for the published prompts, by the names in their braces.

    Source: FunctionChat-Bench, section 4 and appendix B; temperature as in the published settings.

    >>> verdict("slot", {"Answer": "Which city?"}, {"response": "Which city?"}).task
    'functionchat.slot'
    """
    instructions = _VERDICT.format(criterion=_CRITERIA[output_type])
    return request(f"functionchat.{output_type}", instructions, material, temperature=0.1, fields=fields)
