"""What a model answers: words, calls of tools, both, or neither."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from planner_eval.benchmarks.judging import Usage

_TOKEN_COUNTS = ("prompt_tokens", "completion_tokens")
_UNKNOWN_USAGE = Usage()
_MAX_TOKENS = 2**53
"""A server that counts more, or fewer than none, counts wrong."""

NO_TEXT = "the answer has no text"
"""What is said of a completion whose content is no words, where words were asked for."""

MAX_CALLS = 1_000
"""Calls of one reply that are kept; a reply with more is cut."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency.

    Args:
        input: Price of a million input tokens.
        output: Price of a million output tokens.
    """

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """The price of one answer.

        >>> Prices(input=2.5, output=10.0).cost(1000, 100)
        0.0035
        """
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the model wrote it.

    Args:
        id: What the reply calls it; "" where it has no name.
        name: The tool's.
        arguments: A text, which should be a JSON object.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Args:
        text: What it says; "" where it says nothing.
        tool_calls: The calls that it makes beside.
        usage: Tokens and cost of the answer when it was first given.
        finish_reason: Why it ended, in the endpoint's word: ``"stop"``, ``"length"``, ``"tool_calls"`` …
        model: The model that answered, as the endpoint names it.
        tries: How many times the endpoint was asked before it answered.
        cached: The answer was replayed and cost nothing now.
        refusal: The words in which the model refuses, where the endpoint keeps them apart.

    >>> Reply("Done.").tool_calls
    ()
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = _UNKNOWN_USAGE
    finish_reason: str = ""
    model: str = ""
    tries: int = 1
    cached: bool = False
    refusal: str = ""


@runtime_checkable
class Model(Protocol):
    """Anything that answers a conversation."""

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **sampling: Any
    ) -> Reply:
        """The answer to `messages`.

        Raises:
            ModelError: no answer could be had; the message says why and what to do.
        """
        ...


def read_completion(
    completion: Any, prices: Prices | None, tries: int, requested_model: str, *, words: bool = False
) -> Reply | str:
    """The reply that a chat completion holds; or why the data is none.

    Args:
        completion: The decoded body.
        prices: For the cost.
        tries: How many times it was asked for.
        requested_model: The model's name where the completion gives none.
        words: Whether a message whose content is no text is none.

    >>> body = {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}
    >>> read_completion(body, None, 1, "m").finish_reason, read_completion({}, None, 1, "m")
    ('stop', 'the answer is not a chat completion')
    """
    choices = completion.get("choices") if isinstance(completion, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        return "the answer is not a chat completion"
    content = message.get("content")
    if words and not isinstance(content, str):
        return NO_TEXT
    model, finish_reason = completion.get("model"), first.get("finish_reason")
    return Reply(
        _content_text(content),
        tuple(_read_calls(message)),
        _usage(completion.get("usage"), prices),
        finish_reason if isinstance(finish_reason, str) else "",
        model if isinstance(model, str) else requested_model,
        tries,
        refusal=_refusal(message),
    )


def _usage(usage: Any, prices: Prices | None) -> Usage:
    counts = [usage.get(name) if isinstance(usage, Mapping) else None for name in _TOKEN_COUNTS]
    checked = [count if type(count) is int and 0 <= count < _MAX_TOKENS else None for count in counts]
    input_tokens, output_tokens = (count or 0 for count in checked)
    counted = None not in checked
    return Usage(
        input_tokens,
        output_tokens,
        prices.cost(input_tokens, output_tokens) if prices and counted else None,
        counted,
    )


def _content_text(content: Any) -> str:
    """The words of a message: a text, or parts of which some are texts."""
    if isinstance(content, str):
        return content
    return _join_texts("text", content if isinstance(content, list) else [])


def _join_texts(key: str, segments: Sequence[Any]) -> str:
    texts = [segment.get(key) for segment in segments if isinstance(segment, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _refusal(message: Mapping[str, Any]) -> str:
    """The words of a refusal, which stand beside the content, or as parts of it."""
    content = message.get("content")
    return _join_texts("refusal", [message, *(content if isinstance(content, list) else [])])


def _read_calls(message: Mapping[str, Any]) -> list[ToolCall]:
    """The message's calls; ``function_call`` is the older form for one."""
    listed, older = message.get("tool_calls"), message.get("function_call")
    if not isinstance(listed, list):
        listed = [{"function": older}] if isinstance(older, Mapping) else []
    return [_read_call(entry) for entry in listed[:MAX_CALLS] if isinstance(entry, Mapping)]


def _read_call(entry: Mapping[str, Any]) -> ToolCall:
    inner = entry.get("function")
    inner = inner if isinstance(inner, Mapping) else entry
    name, args, call_id = inner.get("name"), inner.get("arguments"), entry.get("id")
    text = args if isinstance(args, str) else "" if args is None else json.dumps(args, ensure_ascii=False)
    return ToolCall(call_id if isinstance(call_id, str) else "", name if isinstance(name, str) else "", text)


def read_reply_data(data: Mapping[str, Any]) -> Reply:
    """The reply whose fields are given as JSON data.

    >>> from dataclasses import asdict
    >>> read_reply_data(asdict(Reply("a", (ToolCall("1", "f", "{}"),)))).tool_calls[0].name
    'f'
    """
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return Reply(**{**data, "tool_calls": calls, "usage": Usage(**data["usage"])})
