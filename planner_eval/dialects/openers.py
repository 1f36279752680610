"""How what vendors and frameworks put around a message is undone, a function for each kind of object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.base.jsontext import loads
from planner_eval.base.limits import Limits
from planner_eval.dialects.messages import CALLS, shown
from planner_eval.dialects.states import ended, failed, refused, stopped
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
TEXTS = ("generated_text", "output_text", "text", "completion", "response", "content")
"""Keys under which a server of texts gives one."""
FRAMEWORK = ASSISTANT | TOOLS | OTHERS
_HOSTED = "_call"
"""How the types end of the calls of an API's own tools, which name no tool of the user's."""

JOIN = "join the pieces into one message first, as the vendor's package does, or ask without streaming"
STREAMED = f"this is a piece of a stream, no whole answer: {JOIN}"
"""What is said of an event of a stream."""

Opener = Callable[["Walk", dict[str, Any], int], None]


def take_message(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A message with a role, whose content and calls are in the form of any vendor."""
    who = item["role"]
    if who in ASSISTANT or (who not in TOOLS and who not in OTHERS and any(item.get(key) for key in CALLS)):
        walk.said(item, None)
    else:
        walk.heard(item, who)


def take_shared(walk: Walk, item: dict[str, Any], depth: int) -> None:
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


def take_framework(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A message of LangChain's, dumped: ``type`` says who speaks."""
    who, extra = item["type"], item.get("additional_kwargs")
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
        walk.said({"role": "assistant", **message}, ended(item))
    else:
        walk.heard({**item, "role": "tool" if who in TOOLS else "user"}, who)


def take_wrapped(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A message of LangChain's in an object that says who speaks."""
    take_framework(walk, {**item["data"], "type": item["type"]}, depth)


def take_inside(key: str) -> Opener:
    """What an object holds under one key, and nothing else of it."""

    def opener(walk: Walk, item: dict[str, Any], depth: int) -> None:
        inner = item[key]
        if isinstance(inner, list):
            walk.joins = False
            walk.all(inner, depth)
        else:
            walk.take(inner, depth + 1)

    return opener


def take_event(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """An event of a stream, which holds a piece of an answer."""
    raise ParseError(STREAMED, code="parse.shape")


def take_error(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """An API's error in place of an answer."""
    walk.turn(failed(item["error"]))


def take_batch(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A line of an API's batch: the answer's body, with its status."""
    body, status = item.get("body", item), item.get("status_code")
    if isinstance(status, int) and status >= 400:
        walk.turn(failed(body if isinstance(body, dict) and body else f"status {status}"))
    elif isinstance(body, dict) and body is not item:
        walk.take(body, depth + 1)
    else:
        raise wrong(body, "the body of a response: an object")


def take_result(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A result of Anthropic's message batches."""
    result = item["result"]
    if isinstance(result.get("message"), dict):
        walk.take(result["message"], depth + 1)
    else:
        walk.turn(failed(result.get("error") or result["type"]))


def take_choices(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """OpenAI's ChatCompletion: the first choice, and why it stops."""
    choice = _first(walk, item["choices"], "choices")
    state = ended(choice) or ended(item)
    message = choice.get("message")
    if message is None and "delta" in choice:
        raise ParseError(STREAMED, code="parse.shape")
    if isinstance(message, dict):
        walk.said({"role": "assistant", **message} if "role" not in message else message, state)
    elif isinstance(choice.get("text"), str):
        walk.said({"role": "assistant", "content": choice["text"]}, state)
    elif state is not None:
        walk.turn(state)
    else:
        raise wrong(message, "the message of a choice: an object")


def take_candidates(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """Gemini's answer: the first candidate, and why it stops; or the prompt that was blocked."""
    feedback = item.get("promptFeedback", item.get("prompt_feedback"))
    reason = feedback.get("blockReason", feedback.get("block_reason")) if isinstance(feedback, dict) else None
    if reason and not item.get("candidates"):
        walk.turn(refused(f"the prompt was blocked: {reason}"))
        return
    candidate = _first(walk, item.get("candidates"), "candidates")
    content, state = candidate.get("content"), ended(candidate) or ended(item)
    if isinstance(content, dict):
        walk.said({**content, "role": "model"} if content.get("role") != "model" else content, state)
    elif state is not None:
        walk.turn(state)
    elif content is None:
        walk.turn()  # nothing was said
    else:
        raise wrong(content, "the content of a candidate: an object")


def _first(walk: Walk, options: Any, key: str) -> dict[str, Any]:
    """The answer of the lowest `index` to one question, else the first; the others are alternatives."""
    if not isinstance(options, list) or not options:
        raise AnswerError(f"there is no answer: {key!r} is {'empty' if options == [] else shown(options)}",
                          code="answer.absent")  # fmt: skip
    if not isinstance(options[0], dict):
        raise wrong(options[0], f"one of {key!r}: an object")
    if len(options) == 1:
        return options[0]
    message = f"the answer has {len(options)} {key}; the first was read"
    walk.notes.append(Diagnostic("find.choices", message, "info"))
    numbered = all(isinstance(option, dict) and type(option.get("index")) is int for option in options)
    return min(options, key=lambda option: option["index"]) if numbered else options[0]


def take_response(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """OpenAI's Responses: items, and the state of the whole."""
    about = item.get("incomplete_details")
    reason = about.get("reason") if isinstance(about, dict) else None
    state = stopped(reason, "incomplete_details.reason") or stopped(item.get("status"), "status")
    if item.get("error"):
        state = failed(item["error"])
    walk.turn(state)
    walk.joins = True
    walk.all(item["output"], depth)


def take_converse(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """Bedrock's Converse."""
    message = item["output"].get("message")
    if not isinstance(message, dict):
        raise wrong(message, "the message of an answer: an object")
    walk.said(message if "role" in message else {"role": "assistant", **message}, ended(item))


def take_alone(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """An answer that holds one message (Ollama), or that is one without a role."""
    message = item["message"] if isinstance(item.get("message"), dict) else item
    walk.said(message if "role" in message else {"role": "assistant", **message}, ended(item))


def take_text(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """A text that a server gave, and why it stops."""
    text = next(item[key] for key in TEXTS if isinstance(item.get(key), str))
    walk.said({"role": "assistant", "content": text}, ended(item))


def take_item(walk: Walk, item: dict[str, Any], depth: int) -> None:
    """An item of the Responses API that is no call."""
    kind = item["type"]
    if kind.endswith("_output"):
        walk.heard(item, "a tool")
        return
    walk.part({"type": "reasoning"})
    if kind.endswith(_HOSTED):
        message = f"an item {kind!r} calls a tool of the API's own, without a name; it was not read"
        walk.notes.append(Diagnostic("shape.ignored", message, "info"))


def wrong(value: Any, expected: str) -> ParseError:
    """The error of a part that is of another shape than its kind has."""
    return ParseError(f"found {shown(value)}, expected {expected}", code="parse.shape")
