"""What an assistant says: in a conversation that calls nothing, and in the sentence around a call.

A model that was given tools often writes its calls into the text of its answer; the server that did not
see them keeps them there, beside a list of calls that is null, empty or missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_DENIED = re.compile(
    r"\b(?:cannot|can't|can’t|(?:can|could|would|do|does|did|will) not|couldn't|wouldn't|don't|won't"
    r"|(?:un|not )able to|hypothetical(?:ly)?|(?:had|were|if) (?:I|you|we|it|they|there|the|a|such)\b"
    r"[^.!?]{0,120}?\b(?:had|were|was|could|would|existed|provided?|available|knew))\b",
    re.I,
)
_SENTENCE = re.compile(r"[.!?](?=\s)|\n[ \t]*\n")


def is_denied(text: str, start: int, end: int) -> bool:
    r"""Whether the sentence in which a call stands says that it is not made: it could not, or would if.

    Args:
        text: The text.
        start: Where the call, or the fence around it, begins.
        end: Where it ends.

    >>> text = "If I had the city, I would call:\nget_weather(city='Rome')"
    >>> is_denied(text, text.index("get"), len(text)), is_denied("I will call f: f(a=1)", 15, 21)
    (True, False)
    """
    before = re.sub(r"[\s`]*(?:```\w*\s*)?\Z", "", text[max(0, start - 400) : start])
    sentence = before[max((m.end() for m in _SENTENCE.finditer(before)), default=0) :]
    after = re.split(r"[.!?](?=\s|\Z)|\n", text[end : end + 200], maxsplit=1)[0]
    return bool(_DENIED.search(sentence) or _DENIED.search(after))


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
