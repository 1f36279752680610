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


_HOLD = frozenset({list, dict, Repeated})


def _repeats(answer: Any, call: int, limits: Limits) -> bool:
    """Whether an object in an answer repeats a key; level by level, for answers are large and hostile."""
    repeats = False
    level, depth = [answer] if type(answer) in _HOLD else [], 0
    while level:
        if depth > limits.depth:
            raise LimitError(f"the result of call {call + 1} nests deeper than {limits.depth} levels")
        repeats = repeats or Repeated in map(type, level)
        inside = [item if type(item) is list else item.values() for item in level]
        level = [value for values in inside for value in values if type(value) in _HOLD]
        depth += 1
    return repeats
