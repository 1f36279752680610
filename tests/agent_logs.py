"""Two weeks of logs of a desk's agent, made from a seed: what the docs' trial and its test look at.

In the second week the agent pays before the member agreed, makes a renewal that failed again unchanged, and
reserves at the main branch whatever was asked; cancelling is right, which it was not in the first.
"""

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.conftest import tables

TABLES = tables(__file__)

KINDS = ("renew", "reserve", "pay", "cancel")
BRANCHES = ("North", "Harbour", "Old Town")
TRIALS = 2
TASKS = 12


class _Talk:
    """A conversation that is being made."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._calls = 0

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def says(self, text: str) -> None:
        self.messages.append({"role": "assistant", "content": text})

    def call(self, tool: str, answer: Any, **arguments: Any) -> None:
        self._calls += 1
        name = f"call_{self._calls}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        self.messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": function}],
            },
            {
                "role": "tool",
                "tool_call_id": name,
                "content": answer if isinstance(answer, str) else json.dumps(answer),
            },
        ]


def conversation(kind: str, week: int, random: Random, member: str) -> tuple[list[dict[str, Any]], bool]:
    """The messages of one conversation, and whether it went well."""
    talk, number = _Talk(), sum(map(ord, member)) % 900 + 100
    loan, fee, branch = f"LN-{number}", number % 9 + 2, BRANCHES[number % len(BRANCHES)]
    talk.user(f"Hello, member {member} here.")
    talk.says("Hello! What can I do for you?")
    if kind == "renew":
        talk.user("Please renew my book for two weeks.")
        talk.call("get_member", {"member": member, "loans": [loan], "fees": 0}, member=member)
        if random.random() < 0.5:
            talk.call("renew_loan", "Error: another member waits for this copy", loan=loan, weeks=2)
            if week == 2:
                talk.call("renew_loan", "Error: another member waits for this copy", loan=loan, weeks=2)
                talk.says("I could not renew it.")
                return talk.messages, False
            talk.says("Two weeks are not possible, but one is. Shall I?")
            talk.user("Yes, one week then.")
            talk.call("renew_loan", {"loan": loan, "weeks": 1, "state": "renewed"}, loan=loan, weeks=1)
            talk.says(f"{loan} is renewed for one week.")
            return talk.messages, True
        talk.call("renew_loan", {"loan": loan, "weeks": 2, "state": "renewed"}, loan=loan, weeks=2)
        talk.says(f"{loan} is renewed for two weeks.")
        return talk.messages, False  # a copy that others wait for may be renewed for one week
    if kind == "reserve":
        talk.user(f"I would like to pick up 'Emma' at {branch}.")
        talk.call("find_book", {"title": "Emma", "book": f"BK-{number}"}, title="Emma")
        wrong = week == 2 and random.random() < 0.7
        place = "Main" if wrong else branch
        talk.call(
            "reserve_book", {"book": f"BK-{number}", "branch": place}, book=f"BK-{number}", branch=place
        )
        talk.says(f"'Emma' waits for you at {place}.")
        return talk.messages, not wrong
    if kind == "pay":
        talk.user("Do I owe you anything?")
        talk.call("get_member", {"member": member, "loans": [], "fees": fee}, member=member)
        if week == 1 or random.random() < 0.3:
            talk.says(f"You owe {fee} euros. Do you want to pay now?")
            talk.user("Yes, please.")
        talk.call("pay_fee", {"member": member, "paid": fee}, member=member, amount=fee)
        talk.says(f"{fee} euros are paid.")
        return talk.messages, True
    talk.user("Cancel my reservation, please.")
    talk.call("get_member", {"member": member, "reservations": [f"BK-{number}"]}, member=member)
    if week == 1 and random.random() < 0.7:
        talk.says("Your reservation is cancelled.")
        return talk.messages, False
    talk.call("cancel_reservation", {"book": f"BK-{number}", "state": "cancelled"}, book=f"BK-{number}")
    talk.says(f"The reservation of BK-{number} is cancelled.")
    return talk.messages, True


def gold(kind: str, member: str) -> list[dict[str, Any]]:
    """What shall be done."""
    number = sum(map(ord, member)) % 900 + 100
    book, branch = f"BK-{number}", BRANCHES[number % len(BRANCHES)]
    call: dict[str, tuple[str, dict[str, Any]]] = {
        "renew": ("renew_loan", {"loan": f"LN-{number}", "weeks": 1}),
        "reserve": ("reserve_book", {"book": book, "branch": branch}),
        "pay": ("pay_fee", {"member": member, "amount": number % 9 + 2}),
        "cancel": ("cancel_reservation", {"book": book}),
    }
    name, arguments = call[kind]
    return [{"name": name, "arguments": arguments}]


def week_of_logs(week: int, seed: int = 20260202) -> str:
    """The logs of a week as JSON lines: a record a conversation."""
    random, lines = Random(f"{seed}/{week}"), []
    start = datetime(2026, 2, 2, 9, tzinfo=UTC) + timedelta(days=7 * (week - 1))
    for number in range(TASKS):
        kind, member = KINDS[number % len(KINDS)], f"m-{3104 + 37 * number}"
        for trial in range(TRIALS):
            messages, success = conversation(kind, week, random, member)
            began = start + timedelta(minutes=37 * (number * TRIALS + trial))
            ended = began + timedelta(seconds=2 * len(messages) + random.randint(0, 9))
            tokens = sum(len(json.dumps(message)) for message in messages) // 4
            record = {
                "task_id": f"{kind}-{number // len(KINDS) + 1}",
                "trial": trial,
                "kind": kind,
                "start_time": began.isoformat(),
                "end_time": ended.isoformat(),
                "messages": messages,
                "usage": {"prompt_tokens": tokens * len(messages) // 2, "completion_tokens": tokens // 3},
                "success": success,
                "gold": gold(kind, member),
            }
            lines.append(json.dumps(record, ensure_ascii=False))
    return "\n".join(lines) + "\n"


_TOOLS: tuple[tuple[str, str, bool, dict[str, str]], ...] = TABLES["_TOOLS"]

CATALOG = [
    {
        "name": name,
        "description": words,
        "inputSchema": {
            "type": "object",
            "properties": {argument: {"type": kind} for argument, kind in arguments.items()},
            "required": [*arguments],
        },
        "annotations": {"readOnlyHint": reads},
    }
    for name, words, reads, arguments in _TOOLS
]
"""The desk's tools, as an MCP server lists them."""
