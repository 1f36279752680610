"""All that is said in a record before its answer: what may ground a gold value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from planner_eval.datasets.sample import Sample
from planner_eval.dialects.messages import join_messages
from planner_eval.dialects.talks import texts_of

_SPOKEN = ("user", "human", "tool", "function", "observation", "assistant", "system", "developer", "gpt")
_ASSISTANT = ("assistant", "gpt")


def heard(sample: Sample) -> str:
    r"""The query of a sample, and of a conversation all that is said before the answer, by whomever.

    A value may come from an earlier turn, from what a tool answered, or from the system's first words.

    Args:
        sample: Of any reader; its conversation is ``messages`` or ``question`` of ``extra``.

    >>> said = [{"role": "user", "content": "I am Kim."}, {"role": "user", "content": "Call me a cab."}]
    >>> heard(Sample("a", "Call me a cab.", extra={"messages": said}))
    'I am Kim.\nCall me a cab.'
    """
    messages = sample.extra.get("messages") or sample.extra.get("question")
    texts = [text for text in _parts(messages) if text.strip()] if isinstance(messages, list) else []
    if not any(sample.query in text for text in texts):
        texts.append(sample.query)
    return "\n".join(texts)


def heard_in(talk: Any) -> str | None:
    r"""All that is said in a conversation of a user's file before its answer; None where it is none.

    Turns of the assistant at its end are left out, for gold may be one of them.

    Args:
        talk: What stands in the field.

    >>> turns = [("system", "Today is Monday."), ("user", "And tomorrow?"), ("assistant", "Tuesday.")]
    >>> heard_in([{"role": role, "content": text} for role, text in turns])
    'Today is Monday.\nAnd tomorrow?'
    """
    talk = join_messages(talk)
    if not isinstance(talk, list) or not all(isinstance(message, dict) for message in talk):
        return None
    last = max((end for end, message in enumerate(talk, 1) if _role(message) not in _ASSISTANT), default=0)
    return "\n".join(text for text in _parts(talk[:last]) if text.strip()) or None


def _role(message: dict[str, Any]) -> Any:
    return message.get("role", message.get("from", "user"))


def _parts(messages: list[Any]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, dict) and _role(message) in _SPOKEN:
            yield from texts_of(message.get("content", message.get("value")))
            if message.get("tool_calls"):
                yield json.dumps(message["tool_calls"], ensure_ascii=False, default=str)
