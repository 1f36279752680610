"""What an assistant says in a conversation that calls nothing: its words may hold calls all the same.

A model that was given tools often writes its calls into the text of its answer; the server that did not
see them keeps them there, beside a list of calls that is null, empty or missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_ROLES = frozenset({"assistant", "model", "gpt", "ai"})
_INSIDE = ("choices", "candidates", "messages", "conversations", "message", "response", "outputs", "content")
_TEXTS = ("content", "value", "parts")


def said(data: Any) -> str:
    """The words of the assistant in a message, a conversation or an API's answer; "" where there are none.

    Args:
        data: Structure that is JSON already.

    >>> said([{"role": "user", "content": "f()"}, {"role": "assistant", "content": "[f(a=1)]"}])
    '[f(a=1)]'
    """
    return "\n".join(text for text in _texts(data, 0) if text.strip())


def _texts(data: Any, depth: int) -> Iterator[str]:
    if depth > 8:
        return
    if isinstance(data, list):
        for item in data:
            yield from _texts(item, depth + 1)
    elif isinstance(data, dict):
        role = data.get("role", data.get("from"))
        if role is None:
            for key in _INSIDE:
                if isinstance(data.get(key), (dict, list)):
                    yield from _texts(data[key], depth + 1)
        elif isinstance(role, str) and role in _ROLES:
            content = next((data[key] for key in _TEXTS if data.get(key) is not None), None)
            yield from _parts(content)


def _parts(content: Any) -> Iterator[str]:
    """The words of a message's content: a text, or parts that are texts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text
