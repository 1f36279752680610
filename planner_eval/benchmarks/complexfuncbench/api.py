"""The API behind response-based matching: anything that answers a call.

The benchmark asks a live service. Here an API is a callable ``call → Answer``; the one that ships
replays recorded answers, so that scores do not change with the day on which they are computed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from planner_eval.benchmarks.complexfuncbench.calls import FunctionCall, Step


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

EMPTY: dict[str, Any] = {}


class NotRecorded(LookupError):
    """A replayed API was asked something that it has no answer to."""


def response(api: Api, call: FunctionCall) -> Any:
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
    >>> response(api, {"name": "f", "arguments": {"n": "2"}})
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


def successful(api: Api, call: FunctionCall) -> Any:
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
    return response(lambda _: answer, call) or None
