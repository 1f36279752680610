"""Which field of records holds the question, or the conversation."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.later import later
from planner_eval.base.text import did_you_mean
from planner_eval.dialects.messages import join_messages
from planner_eval.records.fields import HEAD
from planner_eval.records.files import PlanFile

QUESTIONS = (
    "question", "query", "input", "user_query", "instruction", "user_input", "utterance", "prompt", "request",
    "task", "conversations", "conversation", "messages", "dialogue", "dialog",
)  # fmt: skip
"""Fields that hold what was asked, the likeliest first."""

SURE = ("question", "query")
"""Those of which any text or number is one; a request or a task may be known by its number or its name."""

_NAME = later(r"(?a:[\w.:/-]*\d[\w.:/-]*)")
"""A text that names a task and asks nothing: one word with a digit in it, such as a hash."""


def question_field(query: str | None, *files: PlanFile) -> tuple[str | None, list[str]]:
    """The field that holds the question, and what is to be said of it.

    Args:
        query: What the user names; recognised when None, none when "".
        files: The gold plans, then the predictions.

    Raises:
        InputError: no record has the field that the user names, or none has words in it.
    """
    if query == "":
        return None, []
    for file in files:
        seen = [record.fields for record in islice(file.records, HEAD)]
        words, numbers = (QUESTIONS, SURE) if query is None else ((query,), (query,))
        asking = (name for name in words if any(_asks(fields.get(name), name in numbers) for fields in seen))
        counting = (name for name in numbers if any(_is_number(fields.get(name)) for fields in seen))
        name = next(chain(asking, counting), None)
        if name is not None:
            return name, [f'question: field "{name}" of {file.name}']
    if query is not None:
        names = dict.fromkeys(
            key for file in files for record in islice(file.records, HEAD) for key in record.fields
        )
        if query in names:
            raise InputError(f"--query {query!r}: no record asks anything there: its values are no words")
        hint = did_you_mean(query, names, lead="; ")
        available = f"; there are {', '.join(names)}" if names and not hint else ""
        raise InputError(f"--query {query!r}: no record has that field{hint}{available}")
    return None, []


def _asks(value: Any, sure: bool) -> bool:
    """Whether a value may be a question: words, or what was said turn by turn.

    >>> [_asks(text, sure=False) for text in ("Who?", "69d9bc51e53e4874", "task-12")]
    [True, False, False]
    """
    if isinstance(value, str):
        return bool(value.strip()) and (sure or not _NAME.fullmatch(value.strip()))
    value = join_messages(value)
    return isinstance(value, list) and bool(value) and all(isinstance(turn, dict) for turn in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
