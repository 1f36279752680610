"""All that is said in a record before its answer: what may ground a gold value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from planner_eval.datasets.sample import Sample
from planner_eval.dialects.talks import texts_of

_SPOKEN = ("user", "human", "tool", "function", "observation", "assistant", "system", "developer", "gpt")


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
    parts = [part for part in _parts(messages) if part.strip()] if isinstance(messages, list) else []
    if not any(sample.query in part for part in parts):
        parts.append(sample.query)
    return "\n".join(parts)


def _parts(messages: list[Any]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, dict) and message.get("role", "user") in _SPOKEN:
            yield from texts_of(message.get("content"))
            if message.get("tool_calls"):
                yield json.dumps(message["tool_calls"], ensure_ascii=False, default=str)
