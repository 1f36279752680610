"""What vendors and frameworks put around a message or an item of an answer, a function for each kind.

To know a further kind, write its function and a line of ``_OPENERS``; tests/cases/answers has a case of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.base.jsontext import loads
from planner_eval.base.limits import Limits
from planner_eval.dialects.messages import CALLS, is_call, shown
from planner_eval.dialects.states import REASONS, ended, failed, refused, stopped
from planner_eval.plan.model import Diagnostic

if TYPE_CHECKING:
    from planner_eval.dialects.talks import Walk

ASSISTANT = frozenset(
    {"assistant", "model", "gpt", "ai", "chatgpt", "AIMessageChunk", "function_call", "tool_call"}
)
"""Who speaks where the assistant does, in all notations."""
TOOLS = frozenset({
    "tool", "function", "observation", "function_response", "tool_response", "ipython", "environment",
    "ToolMessageChunk", "FunctionMessageChunk",
})  # fmt: skip
OTHERS = frozenset({"user", "human", "system", "developer", "HumanMessageChunk", "SystemMessageChunk"})
_FRAMEWORK = ASSISTANT | TOOLS | OTHERS
_HOSTED = "_call"
"""How the types end of the calls of an API's own tools, which name no tool of the user's."""

Opener = Callable[["Walk", dict[str, Any], int], None]


def opens(item: dict[str, Any]) -> Opener | None:
    """How an object is taken that is a message, an item or an answer; None where it is a call, or unknown."""
    found = _kind(item)
    return None if found is None else found[1]


def sign_of(item: dict[str, Any]) -> str | None:
    """The key by which an object is known as a message, an item or an answer; None where it is none of them.

    >>> sign_of({"id": "r1", "choices": []}), sign_of({"role": "user"}), sign_of({"name": "f"})
    ('choices', 'role', None)
    """
    found = _kind(item)
    return None if found is None else found[0]


def _kind(item: dict[str, Any]) -> tuple[str, Opener] | None:
    if item.keys().isdisjoint(_SIGNS):
        return None
    if isinstance(item.get("role"), str):
        return "role", _message
    if is_call(item):
        return None
    for key, fits, opener in _OPENERS:
        if key in item and fits(item):
            return key, opener
    return None


def _is(kind: type, key: str) -> Callable[[dict[str, Any]], bool]:
    return lambda item: isinstance(item.get(key), kind)


def _holds(key: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an object holds a message or an answer under a key."""
    return lambda item: isinstance(item[key], dict) and opens(item[key]) is not None


def _is_error(item: dict[str, Any]) -> bool:
    known = item.keys().isdisjoint(("jsonrpc", "span_data", "attributes", "spans", "name"))
    return known and bool(item["error"]) and isinstance(item["error"], (str, dict))


def _message(walk: Walk, item: dict[str, Any], depth: int) -> None:
    who = item["role"]
    if who in ASSISTANT or (who not in TOOLS and who not in OTHERS and any(item.get(key) for key in CALLS)):
        walk.said(item, None)
    else:
        walk.heard(item, who)


def _shared(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A message of ShareGPT's: ``from`` and ``value``."""
    who, value = item["from"].replace("-", "_"), item["value"]
    if who in ("function_call", "tool_call"):
        turn = walk.turn()
        calls = decoded(value) if isinstance(value, str) else value
        if not isinstance(value, (str, list, dict)):
            raise wrong(value, "the value of a message: a call, or its text")
        if calls is None:
            turn.words, turn.spoken = [str(value)], True
        else:
            turn.items.append(
                {"role": "assistant", "tool_calls": calls if isinstance(calls, list) else [calls]}
            )
    elif who in ASSISTANT:
        walk.said({"role": "assistant", "content": value, **{k: item[k] for k in CALLS if k in item}}, None)
    else:
        walk.heard({"role": "tool" if who in TOOLS else "user", "content": value}, who)


def decoded(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        values = loads(text, Limits())
    except ParseError:
        return None
    return values[0] if len(values) == 1 else values


def _framework(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A message of LangChain's, dumped: ``type`` says who speaks."""
    who, extra, about = item["type"], item.get("additional_kwargs"), item.get("response_metadata")
    if who in ASSISTANT:
        message: dict[str, Any] = {key: item[key] for key in ("content", "tool_calls") if key in item}
        unread = item.get("invalid_tool_calls") or []
        if unread:
            lists = [message.get("tool_calls") or [], unread]
            if not all(isinstance(calls, list) for calls in lists):
                raise wrong(lists, "lists of calls")
            message["tool_calls"] = [call for calls in lists for call in calls]
        if not message.get("tool_calls") and isinstance(extra, dict):
            message |= {key: extra[key] for key in ("tool_calls", "function_call") if extra.get(key)}
        refusal = {"refusal": extra.get("refusal")} if isinstance(extra, dict) else {}
        state = ended({**(about if isinstance(about, dict) else {}), **refusal})
        walk.said({"role": "assistant", **message}, state)
    else:
        walk.heard({**item, "role": "tool" if who in TOOLS else "user"}, who)


def _inside(key: str) -> Opener:
    """What an object holds under one key, and nothing else of it."""

    def opener(walk: Walk, item: dict[str, Any], depth: int) -> None:
        inner = item[key]
        if isinstance(inner, list):
            walk.joins = False
            walk.all(inner, depth)
        else:
            walk.take(inner, depth + 1)

    return opener


def _failure(walk: Walk, item: dict[str, Any], depth: int) -> None:
    walk.turn(failed(item["error"]))


def _batch(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A line of an API's batch: the answer's body, with its status."""
    body, status = item.get("body", item), item.get("status_code")
    if isinstance(status, int) and status >= 400:
        walk.turn(failed(body if isinstance(body, dict) and body else f"status {status}"))
    elif isinstance(body, dict) and body is not item:
        walk.take(body, depth + 1)
    else:
        raise wrong(body, "the body of a response: an object")


def _result(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A result of Anthropic's message batches."""
    result = item["result"]
    if isinstance(result.get("message"), dict):
        walk.take(result["message"], depth + 1)
    else:
        walk.turn(failed(result.get("error") or result["type"]))


def _choices(walk: Walk, item: dict[str, Any], depth: int) -> None:
    choice = _first(walk, item["choices"], "choices")
    state = ended(choice)
    message = choice.get("message")
    if isinstance(message, dict):
        walk.said({"role": "assistant", **message} if "role" not in message else message, state)
    elif isinstance(choice.get("text"), str):
        walk.said({"role": "assistant", "content": choice["text"]}, state)
    elif state is not None:
        walk.turn(state)
    else:
        raise wrong(message, "the message of a choice: an object")


def _candidates(walk: Walk, item: dict[str, Any], depth: int) -> None:
    feedback = item.get("promptFeedback", item.get("prompt_feedback"))
    reason = feedback.get("blockReason", feedback.get("block_reason")) if isinstance(feedback, dict) else None
    if reason and not item.get("candidates"):
        walk.turn(refused(f"the prompt was blocked: {reason}"))
        return
    candidate = _first(walk, item.get("candidates"), "candidates")
    content, state = candidate.get("content"), ended(candidate)
    if isinstance(content, dict):
        walk.said({**content, "role": "model"} if content.get("role") != "model" else content, state)
    elif state is not None:
        walk.turn(state)
    elif content is None:
        walk.turn()  # nothing was said
    else:
        raise wrong(content, "the content of a candidate: an object")


def _first(walk: Walk, found: Any, key: str) -> dict[str, Any]:
    """The first of several answers to one question; the others are alternatives, no further turns."""
    if not isinstance(found, list) or not found:
        raise AnswerError(f"there is no answer: {key!r} is {'empty' if found == [] else shown(found)}",
                          code="answer.absent")  # fmt: skip
    if not isinstance(found[0], dict):
        raise wrong(found[0], f"one of {key!r}: an object")
    if len(found) > 1:
        message = f"the answer has {len(found)} {key}; the first was read"
        walk.notes.append(Diagnostic("find.choices", message))
    return found[0]


def _response(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """OpenAI's Responses: items, and the state of the whole."""
    about = item.get("incomplete_details")
    reason = about.get("reason") if isinstance(about, dict) else None
    state = stopped(reason, "incomplete_details.reason") or stopped(item.get("status"), "status")
    if item.get("error"):
        state = failed(item["error"])
    walk.turn(state)
    walk.joins = True
    walk.all(item["output"], depth)


def _converse(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """Bedrock's Converse."""
    message = item["output"].get("message")
    if not isinstance(message, dict):
        raise wrong(message, "the message of an answer: an object")
    walk.said(message if "role" in message else {"role": "assistant", **message}, ended(item))


def _alone(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """An answer that holds one message (Ollama), or that is one without a role."""
    message = item["message"] if isinstance(item.get("message"), dict) else item
    walk.said(message if "role" in message else {"role": "assistant", **message}, ended(item))


def _item(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """An item of the Responses API that is no call."""
    kind = item["type"]
    if kind.endswith("_output"):
        walk.heard(item, "a tool")
        return
    walk.part({"type": "reasoning"})
    if kind.endswith(_HOSTED):
        message = f"an item {kind!r} calls a tool of the API's own, without a name; it was not read"
        walk.notes.append(Diagnostic("shape.ignored", message, "info"))


_ITEMS = frozenset({
    "reasoning", "function_call_output", "custom_tool_call_output", "computer_call_output",
    "local_shell_call_output", "shell_call_output", "apply_patch_call_output", "web_search_call",
    "file_search_call", "computer_call", "code_interpreter_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "compaction",
})  # fmt: skip


def _is_item(item: dict[str, Any]) -> bool:
    return isinstance(item["type"], str) and item["type"] in _ITEMS


def _is_framework(item: dict[str, Any]) -> bool:
    return isinstance(item["type"], str) and item["type"] in _FRAMEWORK and "content" in item


def _is_wrapped(item: dict[str, Any]) -> bool:
    return isinstance(item["data"], dict) and isinstance(item.get("type"), str) and item["type"] in _FRAMEWORK


def _is_shared(item: dict[str, Any]) -> bool:
    return isinstance(item["from"], str) and "value" in item


def _is_response(item: dict[str, Any]) -> bool:
    output = item["output"]
    if not isinstance(output, list) or is_call(item):
        return False
    return item.get("object") == "response" or any(
        isinstance(one, dict) and (one.get("type") == "function_call" or opens(one) is not None)
        for one in output
    )


def _is_converse(item: dict[str, Any]) -> bool:
    return isinstance(item["output"], dict) and "message" in item["output"]


def _is_result(item: dict[str, Any]) -> bool:
    result = item["result"]
    return isinstance(result, dict) and result.get("type") in ("succeeded", "errored", "canceled", "expired")


def _is_message(item: dict[str, Any]) -> bool:
    message = item["message"]
    return isinstance(message, dict) and not message.keys().isdisjoint(("role", "content", *CALLS))


def _is_bare(item: dict[str, Any]) -> bool:
    """Whether a message without a role lists no call, or says why it stops."""
    return "schema" not in item and (
        not any(item.get(key) for key in CALLS) or not item.keys().isdisjoint(REASONS)
    )


_OPENERS: tuple[tuple[str, Callable[[dict[str, Any]], bool], Opener], ...] = (
    ("from", _is_shared, _shared),
    ("data", _is_wrapped, _inside("data")),
    ("kwargs", lambda item: "lc" in item and isinstance(item["kwargs"], dict), _inside("kwargs")),
    ("raw_item", _is(dict, "raw_item"), _inside("raw_item")),
    ("type", _is_framework, _framework),
    ("type", _is_item, _item),
    ("choices", _is(list, "choices"), _choices),
    ("candidates", _is(list, "candidates"), _candidates),
    ("candidates", lambda item: "promptFeedback" in item or "prompt_feedback" in item, _candidates),
    ("promptFeedback", _is(dict, "promptFeedback"), _candidates),
    ("output", _is_response, _response),
    ("output", _is_converse, _converse),
    ("error", _is_error, _failure),
    ("status_code", _is(int, "status_code"), _batch),
    ("response", _holds("response"), _inside("response")),
    ("modelOutput", _holds("modelOutput"), _inside("modelOutput")),
    ("result", _is_result, _result),
    ("messages", _is(list, "messages"), _inside("messages")),
    ("conversations", _is(list, "conversations"), _inside("conversations")),
    ("conversation", _is(list, "conversation"), _inside("conversation")),
    ("contents", _is(list, "contents"), _inside("contents")),
    ("message", _is_message, _alone),
    *((key, _is_bare, _alone) for key in CALLS),
)
"""A key of an object, whether the object is of the kind that has it, and how it is taken then; in order."""

_SIGNS = frozenset({"role", *(key for key, _, _ in _OPENERS)})

_VAGUE = frozenset({"type", "data", "output", "result"})
"""Keys that calls have, too; beside them another sign stands in every conversation and answer."""

_WORDS = sorted(_SIGNS - _VAGUE | _ITEMS | {"ai", "human", "content", "custom_id", "output_messages", "llm"})
HINT = re.compile(rf"\"(?:{'|'.join(_WORDS)})\"|gen_ai\.(?:output|completion)|llm\.output")
"""What stands in the text of every conversation and answer."""


def wrong(found: Any, expected: str) -> ParseError:
    """The error of a part that is of another shape than its kind has."""
    return ParseError(f"found {shown(found)}, expected {expected}", code="parse.shape")
