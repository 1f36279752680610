"""What FunctionChat-Bench asks the model under test and the judge.

The prompts are our own; the published files take their place where the user has them (:data:`PROMPT_FILES`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.judge_prompts import PromptFile
from planner_eval.benchmarks.judging import JudgeRequest, make_request

# ----------------------------------------------------------------------
# What FunctionChat-Bench's paper asks a judge for: pass or fail, by kind of turn.
_VERDICT_PROMPT = """You decide whether an assistant's turn in a conversation with tools is right.
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
PROMPT_FILES = {
    f"functionchat.{kind}": PromptFile(
        f"data/rubric_{kind}.txt", (*_FIELDS, "acceptable_arguments") if kind == "call" else _FIELDS
    )
    for kind in OUTPUT_TYPES
}
"""The published files of prompts, by task."""


def verdict_request(output_type: str, material: Mapping[str, Any], fields: Mapping[str, Any]) -> JudgeRequest:
    """Asks for pass or fail on one turn by the criterion of its output type.

    Args:
        output_type: One of :data:`OUTPUT_TYPES`.
        material: Headings and what stands under them: tools, conversation, reference, answer …
        fields: The same for the published prompts, by the names in their braces.

    Source: FunctionChat-Bench, section 4 and appendix B; temperature as in the published settings.

    >>> verdict_request("slot", {"Answer": "Which city?"}, {"response": "Which city?"}).task
    'functionchat.slot'
    """
    instructions = _VERDICT_PROMPT.format(criterion=_CRITERIA[output_type])
    return make_request(f"functionchat.{output_type}", instructions, material, temperature=0.1, fields=fields)


# ----------------------------------------------------------------------
# The requests that FunctionChat-Bench sends to the model under test, as its code writes them.
#
# Source: repository kakao/FunctionChat-Bench at cb32af3.
TOOLS_TYPES = ("all", "4_close", "4_random", "8_close", "8_random")
"""What the published option accepts; ``exact`` exists in the data, and is refused."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The requests of one part, or the exception with which the published code refuses to write them."""

    requests: tuple[dict[str, Any], ...] = ()
    error: str | None = None


def payload(samples: Iterable[Sample], *, tools_type: str = "all", temperature: float = 0.1) -> Payload:
    """The requests for the samples.

    Args:
        samples: Of the FunctionChat reader.
        tools_type: Which single calls: those with this kind of tool list, or ``"all"``.
        temperature: For the model under test.

    >>> payload([], tools_type="exact").error
    "ValueError: tools_type must be one of ['all', '4_close', '4_random', '8_close', '8_random']."
    """
    if tools_type not in TOOLS_TYPES:
        return Payload(error=f"ValueError: tools_type must be one of {list(TOOLS_TYPES)}.")
    selected = (s for s in samples if tools_type in ("all", s.extra.get("tools_type", "all")))
    return Payload(tuple(model_request(sample, temperature) for sample in selected))


def model_request(sample: Sample, temperature: float = 0.1) -> dict[str, Any]:
    """The request for one sample, keys in the published order."""
    extra = sample.extra
    common = {
        "serial_num": extra["serial_num"],
        "messages": extra["messages"],
        "tools": sample.tools,
        "temperature": temperature,
        "tool_choice": "auto",
        "ground_truth": sample.gold,
        "acceptable_arguments": acceptable_text(extra["acceptable_arguments"]),
    }
    if extra["part"] == "singlecall":
        return common | {"tools_type": extra["tools_type"]}
    if extra["part"] == "dialog":
        return common | {"type_of_output": extra["type_of_output"]}
    return common | {"category": sample.category, "type_of_output": extra["type_of_output"]}


def acceptable_text(acceptable: Any) -> Any:
    """The alternatives as the request holds them: an object becomes JSON text.

    >>> acceptable_text({"city": "Seoul"})
    '{"city": "Seoul"}'
    """
    return json.dumps(acceptable, ensure_ascii=False) if isinstance(acceptable, dict) else acceptable
