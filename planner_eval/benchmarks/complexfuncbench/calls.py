"""What a call is in ComplexFuncBench, and the texts and error records that ComplexEval makes of calls.

A call is the released JSON object ``{"name": …, "arguments": {…}}``; treat it as read-only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

FunctionCall: TypeAlias = Mapping[str, Any]
"""``{"name": str, "arguments": {parameter: JSON value}}``."""

ErrorRecord: TypeAlias = dict[str, str]
"""``{"error_type": …, "content": …}``, the scorer's record of one wrong call."""

LAT_LONG = "Location_to_Lat_Long"
FREE_FUNCTIONS = (
    LAT_LONG,
    "Search_Hotel_Destination",
    "Search_Attraction_Location",
    "Search_Car_Location",
    "Search_Flight_Location",
    "Taxi_Search_Location",
)
"""The look-ups that the published code lets a model make earlier, later or not at all."""


class OfficialFailure(Exception):
    """The published code would end its run here; `text` names the exception as Python prints it.

    >>> str(OfficialFailure("KeyError", "'search_type'"))
    "KeyError: 'search_type'"
    """

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(f"{exception}: {message}" if message else exception)


@dataclass(frozen=True, slots=True)
class Step:
    """One annotated step: calls that may be made together, and what the API answered to each.

    Args:
        calls: The gold calls.
        observations: As many API responses, in the same order.
    """

    calls: tuple[FunctionCall, ...]
    observations: tuple[Any, ...]


def sorted_call(call: FunctionCall) -> FunctionCall:
    """The call with its arguments in alphabetical order, as ComplexEval compares calls.

    >>> sorted_call({"name": "f", "arguments": {"b": 1, "a": 2}})
    {'name': 'f', 'arguments': {'a': 2, 'b': 1}}
    """
    arguments = call["arguments"]
    return {"name": call["name"], "arguments": {key: arguments[key] for key in sorted(arguments)}}


def call_text(call: FunctionCall) -> str:
    """The call's JSON text: what is embedded.

    >>> call_text({"name": "f", "arguments": {"to": "Malmö"}})
    '{"name": "f", "arguments": {"to": "Malmö"}}'
    """
    return json.dumps({"name": call["name"], "arguments": call["arguments"]}, ensure_ascii=False)


def free_key(call: FunctionCall) -> str:
    """How free calls are told apart: JSON text in the call's own key order, non-ASCII escaped."""
    return json.dumps({"name": call["name"], "arguments": call["arguments"]})


def free_of(key: str) -> FunctionCall:
    """The call that a key of :func:`free_key` stands for."""
    call: FunctionCall = json.loads(key)
    return call


def error(error_type: str, content: str) -> ErrorRecord:
    """An error record."""
    return {"error_type": error_type, "content": content}


def steps_of(conversations: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The annotated steps of a released conversation, observations beside their calls.

    >>> steps_of([{"role": "user", "content": "hi"},
    ...           {"role": "assistant", "function_call": [{"name": "f", "arguments": {}}]},
    ...           {"role": "observation", "content": [1]}])[0].observations
    (1,)
    """
    steps: list[Step] = []
    for turn in conversations:
        if "function_call" in turn:
            calls = tuple(turn["function_call"])
            steps.append(Step(calls, (None,) * len(calls)))
        elif turn.get("role") == "observation" and steps:
            observations = tuple(turn["content"])
            calls = steps[-1].calls
            steps[-1] = Step(calls, (observations + (None,) * len(calls))[: len(calls)])
    return tuple(steps)


def free_calls(steps: Iterable[Step]) -> dict[str, Any]:
    """The sample's free calls: key of :func:`free_key` → observation of the first one.

    Source: published code; the paper knows no free calls.
    """
    observations: dict[str, Any] = {}
    for step in steps:
        for call, observation in zip(step.calls, step.observations, strict=True):
            if call["name"] in FREE_FUNCTIONS:
                observations.setdefault(free_key(call), observation)
    return observations
