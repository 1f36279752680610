"""The conversation of a pair as a page shows it: messages, each with the calls that it makes."""

from __future__ import annotations

from typing import Any

from planner_eval.comparison.turns import TurnComparison, turns_text
from planner_eval.plan.model import Plan
from planner_eval.reading.conversation import Message, read_messages
from planner_eval.reading.files.record import Record
from planner_eval.results.page.plan_data import arguments_data

ROLE_NUMBERS = {"user": 0, "assistant": 1, "tool": 2, "system": 3}
"""The roles by the numbers that viz/report/conversation.js knows them by."""

MAX_LENGTHS = {"user": 3_000, "assistant": 3_000, "tool": 600, "system": 300}
"""Characters of a message that a page shows, by its role: what people read is what was said."""

MAX_MESSAGES = 400
_MIN_MESSAGES = 2


def conversation_data(
    record: Record | None, plan: Plan | None, compared: Plan | None, turns: TurnComparison | None
) -> dict[str, Any]:
    """What a page tells of a conversation, as JSON data; empty where the prediction is none.

    A call that is compared stands as its number, one that does not count as its tool and arguments.

    Args:
        record: The prediction's record.
        plan: All of its calls.
        compared: Those that were compared.
        turns: What differs turn by turn.

    >>> talk = [{"role": "user", "content": "Book it."},
    ...         {"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{}"}}]}]
    >>> from planner_eval.reading.dialects.read import parse
    >>> conversation_data(Record("p", 0, None, talk), parse(talk), parse(talk), None)
    {'talk': {'m': [[0, 1, 'Book it.'], [1, 1, '', [0]]]}}
    """
    messages = () if plan is None else read_messages(record, plan)
    if plan is None or sum(message.role in ("user", "assistant") for message in messages) < _MIN_MESSAGES:
        return {}
    positions = {call.id: position for position, call in enumerate((compared or Plan()).calls)}
    listed = [_message_data(message, plan, positions) for message in messages[:MAX_MESSAGES]]
    data: dict[str, Any] = {"m": listed}
    if len(messages) > MAX_MESSAGES:
        data["more"] = len(messages) - MAX_MESSAGES
    if turns is not None:
        data["turns"] = turns.data()
        if said := turns_text(turns):
            data["said"] = said
    return {"talk": data}


def _message_data(message: Message, plan: Plan, positions: dict[str, int]) -> list[Any]:
    most = MAX_LENGTHS[message.role]
    more = len(message.text) - most
    text = message.text if more <= 0 else f"{message.text[:most]} … {more:,} more characters cut"
    data = [ROLE_NUMBERS[message.role], message.turn, text]
    calls = [plan.calls[position] for position in message.calls]
    if calls:
        data.append([positions.get(call.id, [call.tool, arguments_data(call.arguments)]) for call in calls])
    return data
