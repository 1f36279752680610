"""What a call is in ComplexFuncBench, and the API that answers it.

A call is the released JSON object ``{"name": …, "arguments": {…}}``; treat it as read-only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

# ----------------------------------------------------------------------
# What a call is in ComplexFuncBench, and the texts and error records that ComplexEval makes of calls.
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


def free_call(key: str) -> FunctionCall:
    """The call that a key of :func:`free_key` stands for."""
    call: FunctionCall = json.loads(key)
    return call


def error_record(error_type: str, content: str) -> ErrorRecord:
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


# ----------------------------------------------------------------------
# The API behind response-based matching: anything that answers a call.
#
# The benchmark asks a live service. Here an API is a callable ``call → Answer``; the one that ships
# replays recorded answers, so that scores do not change with the day on which they are computed.
@dataclass(frozen=True, slots=True)
class ApiResponse:
    """What the service sent back.

    Args:
        body: The decoded JSON body.
        status: The HTTP status; anything but 200 counts as no response.
    """

    body: Any
    status: int = 200


Api: TypeAlias = Callable[[FunctionCall], ApiResponse]
"""Answers a call; an exception means that the service could not be reached."""

EMPTY_OBJECT: dict[str, Any] = {}


class NotRecorded(LookupError):
    """A replayed API was asked something that it has no answer to."""


def compared_response(api: Api, call: FunctionCall) -> Any:
    """The response that is compared: None for a failure, ``data`` of a success, else the whole body.

    A failure that the service reports in a body of status 200 is a response like any other: two such
    bodies are equal. The time stamp never counts.

    Source: published code.
    """
    try:
        answer = api(call)
    except Exception:
        return None
    if answer.status != 200:
        return None
    body = answer.body
    if not isinstance(body, Mapping):
        return body
    content = {key: value for key, value in body.items() if key != "timestamp"}
    return content["data"] if content.get("status") and "data" in content else content


def query_key(call: FunctionCall) -> str:
    """The call as the service sees it: arguments are text, so 2 and ``"2"`` ask the same.

    >>> query_key({"name": "f", "arguments": {"n": 2}}) == query_key({"name": "f", "arguments": {"n": "2"}})
    True
    """
    arguments = call["arguments"]
    sent = {
        key: json.dumps(value) if isinstance(value, list | dict) else str(value)
        for key, value in arguments.items()
    }
    return json.dumps([call["name"], sent], sort_keys=True)


@dataclass(frozen=True, slots=True)
class Replay:
    """The API that ships: it answers what was recorded, and raises NotRecorded for the rest.

    Args:
        answers: Key of :func:`query_key` → recorded body.

    >>> api = replay([Step(({"name": "f", "arguments": {"n": 2}},), ({"status": True, "data": 7},))])
    >>> compared_response(api, {"name": "f", "arguments": {"n": "2"}})
    7
    """

    answers: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, call: FunctionCall) -> ApiResponse:
        """The recorded answer."""
        key = query_key(call)
        if key not in self.answers:
            raise NotRecorded(f"no recorded answer to {key}")
        return ApiResponse(self.answers[key])


def replay(steps: Iterable[Step], recorded: Iterable[tuple[FunctionCall, Any]] = ()) -> Replay:
    """An API that knows the sample's own observations, and further recorded exchanges.

    Args:
        steps: The sample's annotated steps.
        recorded: Further calls with the bodies that the service once sent.
    """
    answers: dict[str, Any] = {}
    for step in steps:
        for call, observation in zip(step.calls, step.observations, strict=True):
            if observation is not None:
                answers.setdefault(query_key(call), observation)
    for call, body in recorded:
        answers.setdefault(query_key(call), body)
    return Replay(answers)


def successful_response(api: Api, call: FunctionCall) -> Any:
    """The response to a call that the service could serve; None for every failure and for no data.

    Source: ComplexFuncBench paper, section 3.1 "Response-based Matching": equal *results*.
    """
    try:
        answer = api(call)
    except Exception:
        return None
    body = answer.body
    if answer.status != 200 or (isinstance(body, Mapping) and body.get("status") is False):
        return None
    return compared_response(lambda _: answer, call) or None
