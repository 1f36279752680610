"""How what vendors and frameworks put around a message is undone: a function for each kind of object."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.base.json_text import decode_whole
from planner_eval.base.text import JsonObject
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.conversations.answers import (
    AnswerState,
    answer_state,
    failure_state,
    refusal_state,
    stop_reason_state,
)
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    format_value,
)
from planner_eval.reading.dialects.conversations.spans import decode_json, value_at_path

if TYPE_CHECKING:
    from planner_eval.reading.dialects.conversations.turns import TurnCollector

JOIN_ADVICE = "join the pieces into one message first, or ask without streaming"
STREAM_PIECE_MESSAGE = f"this is a piece of a stream, not a complete answer: {JOIN_ADVICE}"
"""What is said of an event of a stream."""

_EVENTS = frozenset({
    "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
    "content_block_stop",
})  # fmt: skip


def is_event(item: JsonObject) -> bool:
    """Whether an object that has a type is an event of a stream."""
    kind = item["type"]
    if not isinstance(kind, str):
        return False
    return kind in _EVENTS or (kind.startswith("response.") and not isinstance(item.get("response"), dict))


BEDROCK_EVENTS = (
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop",
)  # fmt: skip
"""The keys under which the events of a stream of Bedrock's stand, each alone."""


def is_message_piece(item: JsonObject) -> bool:
    """Whether a message of LangChain's holds a piece of a call, and is not the sum of all its pieces.

    >>> pieces = [{"name": "f", "args": "{"}, {"name": None, "args": "}"}]
    >>> [is_message_piece({"tool_call_chunks": [piece]}) for piece in pieces]
    [True, True]
    >>> is_message_piece({"tool_call_chunks": [{"name": "f", "args": "{}"}]})
    False
    """
    pieces = item.get("tool_call_chunks")
    about = item.get("response_metadata")
    no_arguments = "{}" if isinstance(about, dict) and "stop_reason" in about else "{"
    return isinstance(pieces, list) and any(
        isinstance(piece, dict) and not (piece.get("name") and _is_json(piece.get("args") or no_arguments))
        for piece in pieces
    )


def _is_json(text: Any) -> bool:
    try:
        decode_whole(str(text))
    except (ValueError, RecursionError):
        return False
    return True


def is_streamed(item: Any) -> bool:
    """Whether an object is a piece of a stream.

    >>> is_streamed({"choices": [{"delta": {"content": "I"}}]}), is_streamed({"choices": []})
    (True, False)
    """
    if not isinstance(item, dict):
        return False
    if item.get("object") == "chat.completion.chunk" or ("type" in item and is_event(item)):
        return True
    if item.get("done") is False and "created_at" in item:  # of Ollama
        return True
    if (item and item.keys() <= {*BEDROCK_EVENTS, "metadata"}) or is_message_piece(item):
        return True
    choices = item.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, dict) and "delta" in choice for choice in choices
    )


ASSISTANT_ROLES = frozenset(
    {"assistant", "model", "gpt", "ai", "chatgpt", "AIMessageChunk", "function_call", "tool_call"}
)
"""Who speaks where the assistant does, in all notations."""
TOOL_ROLES = frozenset({
    "tool", "function", "observation", "function_response", "tool_response", "ipython", "environment",
    "ToolMessageChunk", "FunctionMessageChunk",
})  # fmt: skip
OTHER_ROLES = frozenset({"user", "human", "system", "developer", "HumanMessageChunk", "SystemMessageChunk"})
TEXT_KEYS = ("generated_text", "output_text", "text", "completion", "response", "content")
"""Keys under which a server of texts gives one."""
FRAMEWORK_ROLES = ASSISTANT_ROLES | TOOL_ROLES | OTHER_ROLES
_HOSTED_CALL_SUFFIX = "_call"
"""How the types end of the calls of an API's own tools, which name no tool of the user's."""

TakeFunction = Callable[["TurnCollector", JsonObject], None]


def take_message(walk: TurnCollector, item: JsonObject) -> None:
    """A message with a role, whose content and calls are in the form of any vendor."""
    who = item["role"]
    if who in ASSISTANT_ROLES or (
        who not in TOOL_ROLES and who not in OTHER_ROLES and any(item.get(key) for key in CALL_LIST_KEYS)
    ):
        walk.said(item, None)
    else:
        walk.heard(item, who)


def take_shared(walk: TurnCollector, item: JsonObject) -> None:
    """A message of ShareGPT's: ``from`` and ``value``."""
    who, value = item["from"].replace("-", "_"), item["value"]
    if who in ("function_call", "tool_call"):
        turn = walk.turn()
        calls = decode_json(value) if isinstance(value, str) else value
        if not isinstance(value, (str, list, dict)):
            raise wrong_shape_error(value, "the value of a message: a call, or its text")
        if calls is None:
            turn.texts, turn.spoken = [str(value)], True
        else:
            turn.items.append(
                {"role": "assistant", "tool_calls": calls if isinstance(calls, list) else [calls]}
            )
    elif who in ASSISTANT_ROLES:
        walk.said({"content": value, **{k: item[k] for k in CALL_LIST_KEYS if k in item}}, None)
    else:
        walk.heard({"role": "tool" if who in TOOL_ROLES else "user", "content": value}, who)


def take_framework(walk: TurnCollector, item: JsonObject) -> None:
    """A message of LangChain's, dumped: ``type`` says who speaks."""
    who = item["type"]
    if is_message_piece(item):
        take_event(walk, item)
    if who in ASSISTANT_ROLES:
        keys = ("content", "tool_calls", "additional_kwargs")
        message: JsonObject = {key: item[key] for key in keys if key in item}
        unread = item.get("invalid_tool_calls") or []
        if unread:
            lists = [message.get("tool_calls") or [], unread]
            if not all(isinstance(calls, list) for calls in lists):
                raise wrong_shape_error(lists, "lists of calls")
            message["tool_calls"] = [call for calls in lists for call in calls]
        walk.said(message, answer_state(item))
    else:
        walk.heard({**item, "role": "tool" if who in TOOL_ROLES else "user"}, who)


def take_wrapped(walk: TurnCollector, item: JsonObject) -> None:
    """A message of LangChain's in an object that says who speaks."""
    take_framework(walk, {**item["data"], "type": item["type"]})


def take_pydantic(walk: TurnCollector, item: JsonObject) -> None:
    """A message of Pydantic AI's: a response is the model's, the parts of a request are others'."""
    if item["kind"] == "response":
        texts = [part.get("content") for part in item["parts"] if part["part_kind"] == "text"]
        calls = [
            {"id": part.get("tool_call_id"), "name": part.get("tool_name"), "arguments": part.get("args")}
            for part in item["parts"]
            if part["part_kind"] == "tool-call"
        ]
        content = [{"type": "text", "text": text} for text in texts]
        walk.said({"content": content, "tool_calls": calls}, answer_state(item))
        return
    for part in item["parts"]:
        kind = part["part_kind"]
        if part.get("tool_name"):
            failed = kind == "retry-prompt" or part.get("outcome") in ("failed", "denied")
            walk.heard({**part, "role": "tool", "is_error": failed}, "tool")
        else:
            role = "system" if kind == "system-prompt" else "user"
            walk.heard({"role": role, "content": part.get("content")}, role)


def take_trajectory(walk: TurnCollector, item: JsonObject) -> None:
    """DSPy's trajectory of ReAct: numbered keys for each step, of which the last calls its own `finish`."""
    for number in itertools.takewhile(lambda n: f"tool_name_{n}" in item, itertools.count()):
        name, observation = item[f"tool_name_{number}"], item.get(f"observation_{number}")
        call = {"id": str(number), "name": name, "arguments": item.get(f"tool_args_{number}")}
        walk.said({"tool_calls": [] if name == "finish" else [call]}, None)
        if f"observation_{number}" not in item:
            continue
        failed = str(observation).startswith("Execution error in ")
        answer = {"role": "tool", "tool_call_id": str(number), "content": observation, "is_error": failed}
        walk.heard(answer, "tool")


def take_next_tool(walk: TurnCollector, item: JsonObject) -> None:
    """DSPy's next step of ReAct, without what its tool gave."""
    take_trajectory(walk, {"tool_name_0": item["next_tool_name"], "tool_args_0": item.get("next_tool_args")})


def take_inside(key: str) -> TakeFunction:
    """What an object holds under one key, and nothing else of it."""

    def opener(walk: TurnCollector, item: JsonObject) -> None:
        inner = item[key]
        if isinstance(inner, list):
            walk.joins = False
            walk.all(inner)
        else:
            walk.take(inner)

    return opener


def take_update(walk: TurnCollector, item: JsonObject) -> None:
    """What a node of LangGraph's adds to the state, out of a stream of such updates: its messages."""
    for state in item.values():
        take_inside("messages")(walk, state)


def take_event(walk: TurnCollector, item: JsonObject) -> None:
    """An event of a stream, which holds a piece of an answer."""
    raise ParseError(STREAM_PIECE_MESSAGE, code="parse.shape")


def take_error(walk: TurnCollector, item: JsonObject) -> None:
    """An API's error in place of an answer."""
    walk.turn(failure_state(item["error"]))


def take_batch(walk: TurnCollector, item: JsonObject) -> None:
    """A line of an API's batch: the answer's body, with its status."""
    body, status = item.get("body", item), item.get("status_code")
    if isinstance(status, int) and status >= 400:
        walk.turn(failure_state(body if isinstance(body, dict) and body else f"status {status}"))
    elif isinstance(body, dict) and body is not item:
        walk.take(body)
    else:
        raise wrong_shape_error(body, "the body of a response: an object")


def take_result(walk: TurnCollector, item: JsonObject) -> None:
    """A result of Anthropic's message batches."""
    result = item["result"]
    if isinstance(result.get("message"), dict):
        walk.take(result["message"])
    else:
        walk.turn(failure_state(result.get("error") or result["type"]))


def take_choices(walk: TurnCollector, item: JsonObject) -> None:
    """OpenAI's ChatCompletion: the first choice, and why it stops."""
    choice = _first_choice(walk, item["choices"], "choices")
    state = answer_state(choice) or answer_state(item)
    message = choice.get("message")
    if message is None and "delta" in choice:
        raise ParseError(STREAM_PIECE_MESSAGE, code="parse.shape")
    if isinstance(message, dict):
        walk.said(message, state)
    elif isinstance(choice.get("text"), str):
        walk.said({"content": choice["text"]}, state)
    elif state is not None:
        walk.turn(state)
    else:
        raise wrong_shape_error(message, "the message of a choice: an object")


def take_candidates(walk: TurnCollector, item: JsonObject) -> None:
    """Gemini's answer: the first candidate, and why it stops; or the prompt that was blocked."""
    feedback = item.get("promptFeedback", item.get("prompt_feedback"))
    reason = feedback.get("blockReason", feedback.get("block_reason")) if isinstance(feedback, dict) else None
    if reason and not item.get("candidates"):
        walk.turn(refusal_state(f"the prompt was blocked: {reason}"))
        return
    candidate = _first_choice(walk, item.get("candidates"), "candidates")
    content, state = candidate.get("content"), answer_state(candidate) or answer_state(item)
    if isinstance(content, dict):
        walk.said({**content, "role": "model"} if content.get("role") != "model" else content, state)
    elif state is not None:
        walk.turn(state)
    elif content is None:
        walk.turn()  # nothing was said
    else:
        raise wrong_shape_error(content, "the content of a candidate: an object")


def _first_choice(walk: TurnCollector, options: Any, key: str) -> JsonObject:
    """The answer of the lowest `index` to one question, else the first; the others are alternatives."""
    if not isinstance(options, list) or not options:
        description = "empty" if options == [] else format_value(options)
        raise AnswerError(f"no answer: {key!r} is {description}", code="answer.absent")
    if not isinstance(options[0], dict):
        raise wrong_shape_error(options[0], f"one of {key!r}: an object")
    if len(options) == 1:
        return options[0]
    message = f"the answer has {len(options)} {key}; the first was read"
    walk.notes.append(Diagnostic("find.choices", message, "info"))
    numbered = all(isinstance(option, dict) and type(option.get("index")) is int for option in options)
    return min(options, key=lambda option: option["index"]) if numbered else options[0]


def take_response(walk: TurnCollector, item: JsonObject) -> None:
    """OpenAI's Responses: items, and the state of the whole."""
    walk.turn(_response_state(item))
    walk.joins = True
    walk.all(item["output"])


def take_output_messages(walk: TurnCollector, item: JsonObject) -> None:
    """A conversation under `output`: each message is a turn, and the last one ends as the whole does."""
    take_inside("output")(walk, item)
    state = _response_state(item)
    if state is not None:
        last = walk.turns[-1] if walk.turns else walk.turn()
        last.state = last.state or state


def _response_state(item: JsonObject) -> AnswerState | None:
    """Why an object that holds its answer under `output` is no whole answer; None where it is one."""
    if item.get("error"):
        return failure_state(item["error"])
    reason = value_at_path(item, "incomplete_details", "reason")
    return stop_reason_state(reason, "incomplete_details.reason") or stop_reason_state(
        item.get("status"), "status"
    )


def take_outputs(walk: TurnCollector, item: JsonObject) -> None:
    """VLLM's answer: the first output, a text and why it stops."""
    take_text(walk, _first_choice(walk, item["outputs"], "outputs"))


def take_converse(walk: TurnCollector, item: JsonObject) -> None:
    """Bedrock's Converse, or another answer of one message in a field of a record."""
    message = item["output"].get("message")
    if not isinstance(message, dict):
        raise wrong_shape_error(message, "the message of an answer: an object")
    walk.said(message, answer_state(item) or answer_state(item["output"]))


def take_alone(walk: TurnCollector, item: JsonObject) -> None:
    """An answer that holds one message (Ollama), or that is one without a role."""
    if is_streamed(item):
        take_event(walk, item)
    message = item["message"] if isinstance(item.get("message"), dict) else item
    walk.said(message, answer_state(item))


def take_text(walk: TurnCollector, item: JsonObject) -> None:
    """A text that a server gave, and why it stops."""
    text = next(item[key] for key in TEXT_KEYS if isinstance(item.get(key), str))
    walk.said({"content": text}, answer_state(item))


def take_item(walk: TurnCollector, item: JsonObject) -> None:
    """An item of the Responses API that is no call."""
    kind = item["type"]
    if kind.endswith("_output"):
        walk.heard(item, "a tool")
        return
    walk.part({"type": "reasoning"})
    if kind.endswith(_HOSTED_CALL_SUFFIX):
        message = f"an item {kind!r} calls a tool of the API's own, without a name; it was not read"
        walk.notes.append(Diagnostic("shape.ignored", message, "info"))


def wrong_shape_error(value: Any, expected: str) -> ParseError:
    """The error of a part that is of another shape than its kind has."""
    return ParseError(f"found {format_value(value)}, expected {expected}", code="parse.shape")
