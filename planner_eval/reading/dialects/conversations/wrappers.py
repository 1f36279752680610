"""Conversations and answers of APIs as turns of the assistant, whatever wraps them.

To know a further kind, write its line of :data:`KINDS` and, where none fits, how it is taken
; tests/cases/answers has a case of each.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject
from planner_eval.plan.model import Diagnostic
from planner_eval.reading.dialects.conversations.answers import (
    REASON_KEYS,
    STATE_KEYS,
    AnswerState,
    answer_state,
    failure_state,
    refusal_state,
    stop_reason_state,
)
from planner_eval.reading.dialects.conversations.messages import (
    CALL_LIST_KEYS,
    format_value,
    is_call,
    is_event,
)
from planner_eval.reading.dialects.conversations.spans import TRACE_KEYS, decode_json

if TYPE_CHECKING:
    from planner_eval.reading.dialects.conversations.turns import TurnCollector

# ----------------------------------------------------------------------
# How what vendors and frameworks put around a message is undone, a function for each kind of object.
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

JOIN_ADVICE = "join the pieces into one message first, or ask without streaming"
STREAM_PIECE_MESSAGE = f"this is a piece of a stream, not a complete answer: {JOIN_ADVICE}"
"""What is said of an event of a stream."""

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


def _is_pydantic_message(item: JsonObject) -> bool:
    return (
        item.get("kind") in ("request", "response")
        and isinstance(item["parts"], list)
        and all(isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in item["parts"])
    )


def take_trajectory(walk: TurnCollector, item: JsonObject) -> None:
    """DSPy's trajectory of ReAct: numbered keys for each step, of which the last calls its own `finish`."""
    for number in itertools.takewhile(lambda n: f"tool_name_{n}" in item, itertools.count()):
        name, observation = item[f"tool_name_{number}"], item.get(f"observation_{number}")
        call = {"id": str(number), "name": name, "arguments": item.get(f"tool_args_{number}")}
        walk.said({"tool_calls": [] if name == "finish" else [call]}, None)
        failed = str(observation).startswith("Execution error in ")
        answer = {"role": "tool", "tool_call_id": str(number), "content": observation, "is_error": failed}
        walk.heard(answer, "tool")


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


def _is_update(item: JsonObject) -> bool:
    """Whether an object is from one node's name to messages of LangChain's, which no call of a tool is."""
    state = next(iter(item.values())) if len(item) == 1 else None
    messages = state.get("messages") if isinstance(state, dict) else None
    return isinstance(messages, list) and all(
        isinstance(message, dict) and find_marker_key(message) in ("type", "data", "kwargs")
        for message in messages
    )


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
    about = item.get("incomplete_details")
    reason = about.get("reason") if isinstance(about, dict) else None
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


# ----------------------------------------------------------------------
# The kinds of objects in which answers of APIs and conversations come, and how each is told.
def _holds_message(key: str) -> Callable[[JsonObject], bool]:
    """Whether an object holds a message or an answer under a key, and no calls beside it."""
    return lambda item: (
        isinstance(item[key], dict)
        and find_take_function(item[key]) is not None
        and not any(item.get(calls) for calls in CALL_LIST_KEYS)
    )


def find_take_function(item: JsonObject) -> TakeFunction | None:
    """How an object is taken that is a message, an item or an answer; None where it is a call, or unknown."""
    kind = _find_kind(item)
    return None if kind is None else kind[1]


def find_marker_key(item: JsonObject) -> str | None:
    """The key by which an object is known as a message, an item or an answer; None where it is none of them.

    >>> (
    ...     find_marker_key({"id": "r1", "choices": []}), find_marker_key({"role": "user"}),
    ...     find_marker_key({"name": "f"})
    ... )
    ('choices', 'role', None)
    """
    kind = _find_kind(item)
    return None if kind is None else kind[0]


def _find_kind(item: JsonObject) -> tuple[str, TakeFunction] | None:
    if item.keys().isdisjoint(MARKER_KEYS):
        return ("update", take_update) if _is_update(item) else None
    if isinstance(item.get("role"), str):
        return "role", take_message
    signs = item.keys() & MARKER_KEYS
    for kind in KINDS if len(signs) > 1 else _KINDS_BY_MARKER_KEY[signs.pop()]:  # most have one sign
        if kind.key in item and kind.fits(item):
            return None if is_call(item) else (kind.key, kind.opener)
    return None


def _is_error(item: JsonObject) -> bool:
    is_plain_object = item.keys().isdisjoint(("jsonrpc", "span_data", "attributes", "spans", "name"))
    return is_plain_object and bool(item["error"]) and isinstance(item["error"], (str, dict))


_NON_CALL_ITEMS = frozenset({
    "reasoning", "function_call_output", "custom_tool_call_output", "computer_call_output",
    "local_shell_call_output", "shell_call_output", "apply_patch_call_output", "web_search_call",
    "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "compaction",
})  # fmt: skip


def _speaks(item: JsonObject) -> bool:
    """Whether the type of an object says who speaks."""
    return isinstance(item.get("type"), str) and item["type"] in FRAMEWORK_ROLES


def holds_output_messages(item: JsonObject) -> bool:
    """Whether what stands under `output` is a conversation, and no list of items of OpenAI's Responses.

    >>> message = {"role": "assistant", "content": "f()"}
    >>> holds_output_messages({"output": [message]})
    True
    >>> holds_output_messages({"output": [{**message, "type": "message"}]})
    False
    """
    output = item.get("output")
    return (
        isinstance(output, list)
        and bool(output)
        and item.get("object") != "response"
        and all(isinstance(message, dict) and _is_chat_message(message) for message in output)
    )


def _is_chat_message(item: JsonObject) -> bool:
    kind = item.get("type")
    if kind == "message" or (isinstance(kind, str) and kind in _NON_CALL_ITEMS):
        return False
    return find_marker_key(item) in _CHAT_MESSAGE_MARKERS


_CHAT_MESSAGE_MARKERS = frozenset({"role", "from", "data", "kwargs", "type"})
"""Signs of one message of a conversation, in the forms that chats and frameworks have."""


def _is_response(item: JsonObject) -> bool:
    output = item["output"]
    if not isinstance(output, list) or is_call(item):
        return False
    return item.get("object") == "response" or any(
        isinstance(item, dict)
        and (item.get("type") == "function_call" or find_take_function(item) is not None)
        for item in output
    )


def _is_answer_without_role(item: JsonObject) -> bool:
    """Whether a message without a role lists no call, or says why it stops."""
    return "schema" not in item and (
        not any(item.get(key) for key in CALL_LIST_KEYS) or not item.keys().isdisjoint(STATE_KEYS)
    )


def _holds_parts(item: JsonObject) -> bool:
    """Whether the content of an object is parts of a model's message: texts and calls."""
    content = item["content"]
    return (
        isinstance(content, list)
        and all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in content)
        and any(block["type"] in _SPOKEN_PARTS for block in content)
    )


_SPOKEN_PARTS = ("text", "output_text", "tool_use", "tool-call")


def _holds_completions(item: JsonObject) -> bool:
    """Whether what stands under `outputs` are texts that a server completed."""
    outputs = item["outputs"]
    return isinstance(outputs, list) and bool(outputs) and all(map(_is_completion, outputs))


def _is_completion(output: Any) -> bool:
    return isinstance(output, dict) and isinstance(output.get("text"), str) and not is_call(output)


def _is_text_answer(item: JsonObject) -> bool:
    """Whether an object without calls is a text and why it stops."""
    return any(isinstance(item.get(key), str) for key in TEXT_KEYS) and not any(
        item.get(key) for key in CALL_LIST_KEYS
    )


class WrapperKind(NamedTuple):
    """A kind of object that holds an answer, a conversation or a part of one.

    Args:
        key: A key that all objects of the kind have.
        what: What it is, in words.
        fits: Whether an object that has the key is of the kind.
        opener: How it is taken.
    """

    key: str
    what: str
    fits: Callable[[JsonObject], bool]
    opener: TakeFunction


def _make_kind(
    key: str, what: str, fits: type | Callable[[JsonObject], bool], opener: TakeFunction | None = None
) -> WrapperKind:
    """A kind of which what stands under the key has a type; without an opener that is all that is taken."""
    holds = (lambda item: isinstance(item.get(key), fits)) if isinstance(fits, type) else fits
    return WrapperKind(key, what, holds, opener or take_inside(key))


_RESULT_TYPES = ("succeeded", "errored", "canceled", "expired")
KINDS = tuple(
    itertools.starmap(
        _make_kind,
        (
            (
                "from",
                "ShareGPT: a message of `from` and `value`",
                lambda item: isinstance(item["from"], str) and "value" in item,
                take_shared,
            ),
            (
                "data",
                "LangChain's `messages_to_dict`: `type` and `data`",
                lambda item: isinstance(item["data"], dict) and _speaks(item),
                take_wrapped,
            ),
            (
                "kwargs",
                "LangChain's `dumpd`: a message's constructor",
                lambda item: "lc" in item and isinstance(item["kwargs"], dict),
            ),
            ("raw_item", "OpenAI Agents SDK: an item of a run", dict),
            ("type", "an event of a stream, which is not a complete answer", is_event, take_event),
            (
                "type",
                "LangChain: a message, by `model_dump()`",
                lambda item: _speaks(item) and "content" in item,
                take_framework,
            ),
            (
                "type",
                "OpenAI Responses, Agents SDK's `to_input_list()`: an item",
                lambda item: isinstance(item["type"], str) and item["type"] in _NON_CALL_ITEMS,
                take_item,
            ),
            (
                "type",
                "OpenAI Responses: a message without its role",
                lambda item: item["type"] == "message" and "content" in item,
                take_alone,
            ),
            ("parts", "Pydantic AI: a message of typed parts", _is_pydantic_message, take_pydantic),
            ("tool_name_0", "DSPy: the trajectory of ReAct", str, take_trajectory),
            ("choices", "OpenAI ChatCompletion, and compatible APIs", list, take_choices),
            ("candidates", "Gemini, in both spellings of its keys", list, take_candidates),
            (
                "candidates",
                "Gemini: a prompt that was blocked",
                lambda item: "promptFeedback" in item or "prompt_feedback" in item,
                take_candidates,
            ),
            ("promptFeedback", "Gemini: a prompt that was blocked", dict, take_candidates),
            ("output", "a conversation", holds_output_messages, take_output_messages),
            ("output", "OpenAI Responses", _is_response, take_response),
            (
                "output",
                "Bedrock Converse",
                lambda item: isinstance(item["output"], dict) and "message" in item["output"],
                take_converse,
            ),
            ("outputs", "vLLM: the outputs of a request", _holds_completions, take_outputs),
            ("error", "an API's error, alone or in a line of a batch", _is_error, take_error),
            ("status_code", "OpenAI Batch: `status_code` and `body`", int, take_batch),
            ("response", "a line of OpenAI's or Gemini's batches", _holds_message("response")),
            ("modelOutput", "a line of a batch of Bedrock's", _holds_message("modelOutput")),
            (
                "result",
                "Anthropic message batches: a result",
                lambda item: isinstance(item["result"], dict) and item["result"].get("type") in _RESULT_TYPES,
                take_result,
            ),
            ("messages", "a conversation; LangGraph's state", list),
            ("conversations", "ShareGPT: a conversation", list),
            ("conversation", "a conversation", list),
            ("contents", "Gemini: a conversation", list),
            (
                "message",
                "Ollama: an answer of one message",
                lambda item: (
                    isinstance(item["message"], dict)
                    and not item["message"].keys().isdisjoint(("role", "content", *CALL_LIST_KEYS))
                ),
                take_alone,
            ),
            ("content", "a message's parts without its role", _holds_parts, take_alone),
            *(
                (key, "a message without a role that calls nothing", _is_answer_without_role, take_alone)
                for key in CALL_LIST_KEYS
            ),
            *(
                (key, "a server's text, with the reason why it stops", _is_text_answer, take_text)
                for key in REASON_KEYS
            ),
        ),
    )
)
"""The kinds of objects, in the order in which they are asked; an object with a `role` is a message."""

MARKER_KEYS = frozenset({"role", *(kind.key for kind in KINDS)})
"""Keys of which all messages, items and answers have one."""

_KINDS_BY_MARKER_KEY = {sign: tuple([kind for kind in KINDS if kind.key == sign]) for sign in MARKER_KEYS}

_AMBIGUOUS_KEYS = frozenset({"type", "data", "output", "result"})
"""Keys that calls have, too; beside them another sign stands in every conversation and answer."""

_CONVERSATION_WORDS = sorted(
    MARKER_KEYS - _AMBIGUOUS_KEYS
    | _NON_CALL_ITEMS
    | {"ai", "human", "content", "custom_id", "output_messages", "llm"}
)
_CONVERSATION_HINT = rf"\"(?:{'|'.join(_CONVERSATION_WORDS)})\"|gen_ai\.(?:output|completion)|llm\.output"


def may_hold_conversation(text: str) -> bool:
    """Whether a text holds what stands in the text of every conversation and answer."""
    # compiled where it is first asked: every command imports this
    return re.search(_CONVERSATION_HINT, text) is not None


def may_be_conversation(data: Any) -> bool:
    """Whether data may be a conversation or an answer: a cheap look at the keys of its objects.

    >>> may_be_conversation([{"name": "f", "arguments": {}}]), may_be_conversation({"role": "user"})
    (False, True)
    """
    signed = False
    for item in data if isinstance(data, list) else (data,):
        if not isinstance(item, dict):
            return False
        signed = signed or not _CONVERSATION_KEYS.isdisjoint(item) or _is_update(item)
    return signed


_CONVERSATION_KEYS = MARKER_KEYS | TRACE_KEYS
