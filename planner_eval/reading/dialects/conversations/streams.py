"""Which objects are pieces of a stream, and no whole answers."""

from __future__ import annotations

from typing import Any

from planner_eval.base.json_text import decode_whole
from planner_eval.base.text import JsonObject

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
