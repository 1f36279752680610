"""Answers in messages, as the text that a benchmark's own code is given."""

from __future__ import annotations

from typing import Any

from planner_eval.base.errors import AnswerError, ParseError
from planner_eval.reading.dialects.conversations.messages import call_items, part_texts
from planner_eval.reading.dialects.conversations.turns import read_conversation


def message_text(content: Any) -> Any:
    """The words of a message, or of an API's answer, that calls nothing; anything else as it is.

    Args:
        content: An answer as data.

    Raises:
        AnswerError: the API refused or failed, or nobody answered.

    >>> message_text({"role": "assistant", "content": "f(a=1)"}), message_text([{"name": "f"}])
    ('f(a=1)', [{'name': 'f'}])
    """
    texts = part_texts(content) if isinstance(content, list) else None
    if texts is not None:
        return "\n".join(texts)
    try:
        talk = read_conversation(content) if isinstance(content, (list, dict)) else None
        if talk is None or len(talk.turns) != 1 or list(call_items(talk.turns[0].items)):
            return content
    except AnswerError:
        raise
    except ParseError:
        return content
    (turn,) = talk.turns
    if turn.state is not None and turn.state.code != "answer.cut":
        raise turn.state.error()
    return turn.words
