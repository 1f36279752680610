"""What the user said in a conversation: values in it come from no tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.dialects.messages import join_messages

_HOLDERS = ("conversations", "messages", "input", "question")


def asked(data: Any) -> str | None:
    """The words of the user's turns; None where data is no conversation.

    Args:
        data: Messages, an object that holds them, or anything else.

    >>> asked([{"role": "user", "content": "To Rome."}, {"role": "assistant", "content": "Yes."}])
    'To Rome.'
    """
    if isinstance(data, dict):
        data = next((data[key] for key in _HOLDERS if isinstance(data.get(key), list)), ())
    data = join_messages(data)
    listed = data if isinstance(data, list) else ()
    messages = [
        message for message in listed if isinstance(message, dict) and isinstance(message.get("role"), str)
    ]
    if not messages:
        return None
    contents = (message.get("content") for message in messages if message["role"] == "user")
    return "\n".join(text for content in contents for text in _texts(content))


def _texts(content: Any) -> Iterator[str]:
    """A turn's text, or those of its parts; a tool's result among them is none."""
    for item in content if isinstance(content, list) else [content]:
        text = item.get("text") if isinstance(item, dict) else item
        if isinstance(text, str):
            yield text
