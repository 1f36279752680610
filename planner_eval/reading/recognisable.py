"""The calls of a text that cannot be read as a whole, as far as each can be recognised by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from json import JSONDecoder

from planner_eval.base.errors import ParseError
from planner_eval.plan.linking import build_plan, move_arguments
from planner_eval.plan.model import Call, Plan
from planner_eval.reading.dialects.read import parse

MAX_LENGTH = 100_000
"""Characters of a text that are looked at."""

MAX_STARTS = 200
"""Brackets at which a value may begin that are tried."""


def recognise_calls(text: str) -> Plan:
    """The calls in the JSON values of a text, each value read for itself.

    >>> [call.name for call in recognise_calls('{"name": "f", "arguments": {}}, ...}]').calls]
    ['f']
    """
    text, end = text[:MAX_LENGTH], 0
    calls: list[Call] = []
    for start in islice((match.start() for match in re.finditer(r"[\[{]", text)), MAX_STARTS):
        if start < end:
            continue
        try:
            _, end = JSONDecoder().raw_decode(text, start)
            plan = parse(text[start:end])
        except (ParseError, RecursionError, ValueError):
            continue
        positions = {position: position + len(calls) for position in range(len(plan.calls))}
        calls += [
            replace(call, id=f"c{positions[position]}", arguments=move_arguments(call.arguments, positions))
            for position, call in enumerate(plan.calls)
        ]
    return build_plan(calls)
