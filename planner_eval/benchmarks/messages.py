"""Answers in messages, as the text that a benchmark's own code is given."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.reading.dialects.conversations.messages import call_items
from planner_eval.reading.dialects.conversations.turns import read_conversation


def message_text(content: Any) -> Any:
    """The words of a message, or of an API's answer, that calls nothing; anything else as it is.

    Args:
        content: An answer as data.

    >>> message_text({"role": "assistant", "content": "f(a=1)"}), message_text([{"name": "f"}])
    ('f(a=1)', [{'name': 'f'}])
    """
    try:
        talk = read_conversation(content) if isinstance(content, (list, dict)) else None
        if talk is None or len(talk.turns) != 1 or list(call_items(talk.turns[0].items)):
            return content
    except ParseError:
        return content
    return talk.turns[0].words or content
