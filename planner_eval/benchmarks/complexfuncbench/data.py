"""ComplexFuncBench's conversations: one JSON object a line, annotated step by step.

Only the paper's example and the published lists of tools were at hand when this was written; the
reader follows the record format that the published runner reads.

Source: repository THUDM/ComplexFuncBench at c37b284; paper section 2 and appendix A.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.datasets.published import Sample, load_json, load_jsonl, message_content
from planner_eval.plan.model import Diagnostic

DATA_FILE = "ComplexFuncBench.jsonl"
EXACT_VALUES_FILE = "exact_match_values.json"
_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def read_complexfuncbench(folder: Path) -> Iterator[Sample]:
    """The conversations of a folder, or of one file.

    ``gold`` is the annotated conversation as released. ``extra`` holds ``diagnostics`` and, where
    ``exact_match_values.json`` lies beside the data, the lists of parameters that the published
    scorer compares by equality, as ``exact_match_values``.

    Args:
        folder: Holds ``ComplexFuncBench.jsonl``; or such a file itself.

    Raises:
        DatasetError: there is no such file, or it cannot be read.
    """
    path = folder / DATA_FILE if folder.is_dir() else folder
    lists = path.parent / EXACT_VALUES_FILE
    checked = load_json(lists) if lists.is_file() else None
    if checked is not None and not isinstance(checked, dict):
        raise DatasetError(f"{lists}: expected an object of function names")
    seen: set[str] = set()
    for number, record, _ in load_jsonl(path):
        if not isinstance(record, dict):
            record = {"conversations": record}
        id_ = str(record.get("id", f"line {number}"))
        diagnostics = list(record_findings(record))
        if id_ in seen:
            diagnostics.append(
                Diagnostic("dataset.repeated_id", f"an earlier record has the id {id_!r}", "error")
            )
        seen.add(id_)
        extra: dict[str, Any] = {"diagnostics": tuple(diagnostics)}
        if checked is not None:
            extra["exact_match_values"] = checked
        talk = record.get("conversations")
        yield Sample(
            id_,
            message_content(talk, 0),
            record.get("functions"),
            talk,
            "complexfuncbench",
            domain_of(id_),
            extra,
        )


def domain_of(identifier: str) -> str:
    """The domain in an id: what stands before the last dash.

    >>> domain_of("Car-Rental-7")
    'Car-Rental'
    """
    return identifier.rpartition("-")[0] or identifier


def record_findings(record: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is irregular in one record.

    Args:
        record: The record as released.

    >>> talk = [{"role": "user", "content": "?"},
    ...         {"role": "assistant", "function_call": [{"name": "f", "arguments": {}}]}]
    >>> found = record_findings({"id": "Cross-1", "conversations": talk, "functions": []})
    >>> [d.code for d in found]
    ['dataset.length', 'dataset.no_answer', 'dataset.unknown_tool']
    """
    missing = [key for key in ("id", "conversations", "functions") if key not in record]
    talk = record.get("conversations")
    if missing or not isinstance(talk, list) or not all(isinstance(turn, dict) for turn in talk):
        what = f"no {', '.join(missing)}" if missing else "conversations is not a list of turns"
        yield Diagnostic("dataset.record", what, "error")
    if not isinstance(talk, list):
        return
    turns = [turn for turn in talk if isinstance(turn, dict)]
    yield from _turn_findings(turns)
    functions = {f.get("name"): f for f in record.get("functions") or () if isinstance(f, dict)}
    position = 0
    for turn in turns:
        for call in turn.get("function_call") or ():
            yield from _call_findings(call, functions, position)
            position += 1


def _turn_findings(turns: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    if turns and (role := turns[0].get("role")) != "user":
        yield Diagnostic("dataset.record", f"begins with a turn of role {role!r}", "error")
    for number, turn in enumerate(turns):
        if "function_call" not in turn:
            continue
        after = turns[number + 1] if number + 1 < len(turns) else {}
        answers = after.get("content") if after.get("role") == "observation" else []
        calls = turn["function_call"]
        if not isinstance(calls, list) or not isinstance(answers, list) or len(calls) != len(answers):
            yield Diagnostic(
                "dataset.length",
                f"turn {number} has {_list_length(calls)} calls and {_list_length(answers)} observations",
            )
    if not turns or turns[-1].get("role") != "assistant" or "function_call" in turns[-1]:
        yield Diagnostic("dataset.no_answer", "the conversation has no final answer")


def _list_length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _call_findings(call: Any, functions: Mapping[Any, Any], position: int) -> Iterator[Diagnostic]:
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict) or "name" not in call:
        yield Diagnostic(
            "dataset.record", f"call {position} has no name and arguments", "error", call=position
        )
        return
    name, arguments = call["name"], call["arguments"]
    if name not in functions:
        yield Diagnostic("dataset.unknown_tool", f"{name} is not in the record's functions", call=position)
        return
    parameters = functions[name].get("parameters") or {}
    declared = parameters.get("properties") or {}
    for key in parameters.get("required") or ():
        if key not in arguments:
            message = f"{name} requires {key}, which is missing"
            yield Diagnostic("dataset.missing_argument", message, call=position, argument=key)
    for key, value in arguments.items():
        if key not in declared:
            message = f"{name} declares no parameter {key}"
            yield Diagnostic("dataset.unknown_argument", message, call=position, argument=key)
        elif not isinstance(value, _JSON_TYPES.get(str(declared[key].get("type")), object)):
            message = f"{name}.{key} is {type(value).__name__}, declared {declared[key].get('type')}"
            yield Diagnostic("dataset.type", message, "info", call=position, argument=key)


# ----------------------------------------------------------------------
# What a call is in ComplexFuncBench, and the API that answers it.
#
# A call is the released JSON object ``{"name": …, "arguments": {…}}``; treat it as read-only.
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
# The benchmark asks a live service. Here an API is a callable ``call → Answer``; the one that ships replays
# recorded answers, so that scores do not change with the day on which they are computed.
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
