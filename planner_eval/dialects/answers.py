"""What tools answered, as conversations and traces record it: bounded as arguments are, repeats noted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner_eval.base.errors import LimitError
from planner_eval.base.jsontext import Repeated
from planner_eval.base.limits import Limits
from planner_eval.plan.model import Diagnostic, RawPlan
from planner_eval.plan.walk import fold


def checked(raw: RawPlan, limits: Limits) -> RawPlan:
    """A plan whose answers hold no repeated key any more: the last value counts, and a note says so.

    Args:
        raw: The calls with what the tools answered.
        limits: Bounds on nesting.

    Raises:
        LimitError: an answer nests too deeply.

    >>> from planner_eval.plan.model import RawCall
    >>> answer = Repeated([("a", 1), ("a", 2)])
    >>> done = checked(RawPlan((RawCall("f", result=answer, has_result=True),)), Limits())
    >>> type(done.calls[0].result), done.notes[0].message
    (<class 'dict'>, 'an object in the result of call 1 gives a key twice; the last value counts')
    """
    calls = list(raw.calls)
    notes = []
    for i, call in enumerate(raw.calls):
        if call.has_result and _repeats(call.result, i, limits):
            message = f"an object in the result of call {i + 1} gives a key twice; the last value counts"
            notes.append(Diagnostic("value.duplicate", message, "error", i))
            calls[i] = replace(call, result=fold(call.result, lambda leaf: leaf))
    return raw._replace(calls=tuple(calls), notes=(*raw.notes, *notes)) if notes else raw


def _repeats(answer: Any, call: int, limits: Limits) -> bool:
    """Whether an object in an answer repeats a key; level by level, for answers are large and hostile."""
    found = False
    level, depth = [answer], 0
    while level:
        inside: list[Any] = []
        held = False
        for item in level:
            kind = type(item)
            if kind is list:
                inside += item
                held = True
            elif kind is dict or kind is Repeated:
                inside += item.values()
                held = True
                found |= kind is Repeated
        if held and depth > limits.depth:
            raise LimitError(f"the result of call {call + 1} nests deeper than {limits.depth} levels")
        level, depth = inside, depth + 1
    return found
