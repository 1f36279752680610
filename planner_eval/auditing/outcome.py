"""Gold that was run: it fails, or comes to another answer than its record says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.auditing.answered import doubt, number_of
from planner_eval.auditing.finding import Confidence, GoldFinding
from planner_eval.auditing.options import Offered, offered
from planner_eval.auditing.subject import Subject, Wanted
from planner_eval.base.text import shown
from planner_eval.execution.trace import CallTrace, Trace
from planner_eval.plan.model import Call

CODES = ("gold.fails", "gold.answer", "gold.option")

NOT_RUN = ("unknown-tool", "not-recorded", "not-run", "unsendable", "initial-state", "worker-lied")
"""Failures that say what the tools lack, and nothing of the plan."""

_TOLD = ("unresolved", "cycle", "producer-failed")
"""Failures of which the plan itself was found to be the cause."""

_OF_THE_CALL = ("missing-argument", "unknown-argument", "repeated-argument", "no-such-output")
"""Failures before a tool did anything."""

_OF_NAMES = ("missing-argument", "unknown-argument")
"""Failures of which a function that names its parameters otherwise than its specification is the cause."""

_CUT_SHORT = ("timeout", "worker-died", "output-limit", "disk-limit", "task-limit", "too-many-items")
"""Failures of which the time and room given may be the cause."""

_WIDTH = 60


def lacks_tools(trace: Trace) -> bool:
    """Whether a run says nothing of its plan: the tools do not have what it calls.

    Args:
        trace: The run.
    """
    kinds = [call.error.kind for call in trace.failed if call.error is not None]
    if trace.ended is not None:
        kinds.append(trace.ended.kind)
    return any(kind in NOT_RUN for kind in kinds)


def outcome(subject: Subject) -> Iterator[GoldFinding]:
    """What a plan's run says against it.

    Args:
        subject: The record, with its run.

    >>> from planner_eval.dialects.read import parse
    >>> from planner_eval.execution.run import execute
    >>> plan = parse([{"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}}], dialect="nestful")
    >>> run = execute(plan, "nestful", isolation="inline")
    >>> wanted = Wanted(options=(("a", "3"), ("b", "4")), correct="b")
    >>> [found.message for found in outcome(Subject("q1", plan, basic=True, wanted=wanted, trace=run))]
    ['the plan gives 3, which is option a; gold says b = 4']
    """
    trace = subject.trace
    if trace is None or not trace.calls or lacks_tools(trace):
        return
    if not trace.ok:
        yield from _failed(subject, trace)
        return
    value, is_known = _value(subject, trace)
    if not is_known:
        return
    expected = subject.wanted
    if expected.options:
        yield from _chosen(subject, expected, value)
    elif expected.known:
        yield from _other(subject, expected, value)


def _other(subject: Subject, expected: Wanted, value: Any) -> Iterator[GoldFinding]:
    """That a value is not the gold answer, or cannot be held against it."""
    sure = doubt(value, expected.answer, expected.text)
    if sure is None:
        return
    message = f"the plan gives {shown(value, _WIDTH)}; the gold answer is {shown(expected.answer, _WIDTH)}"
    if sure == "low":
        message += ", which cannot be compared with it"
    elif not subject.arithmetic(subject.plan.calls[-1]):
        sure = "medium"
    yield GoldFinding("gold.answer", message, sure, _end(subject))


def _value(subject: Subject, trace: Trace) -> tuple[Any, bool]:
    """What the user gets of a run, and whether that is known: the one named value, or the last call's."""
    if subject.plan.answer is not None:
        named = trace.answer
        if named is None:
            return None, False
        return (named[0][1] if len(named) == 1 else dict(named)), bool(named)
    return trace.result, True


def _end(subject: Subject) -> int | None:
    return None if subject.plan.answer is not None else len(subject.plan.calls) - 1


def _failed(subject: Subject, trace: Trace) -> Iterator[GoldFinding]:
    """The first failure: the others may follow from it."""
    first = next((index for index, call in enumerate(trace.calls) if call.status == "failed"), None)
    error = trace.calls[first].error if first is not None else trace.ended
    if error is None or error.kind in _TOLD:
        return
    message = f"the plan does not run: {error.kind}: {error.message}"
    sure = _sure(subject, trace, first)
    if first is not None and error.kind in _OF_NAMES and _is_specified(subject, subject.plan.calls[first]):
        message += ", but its specification takes gold's arguments (--by position passes them as written)"
        sure = "low"
    yield GoldFinding("gold.fails", message, sure, first)


def _is_specified(subject: Subject, call: Call) -> bool:
    """Whether a call has the arguments that its tool's specification names: the function has other names."""
    tools = subject.catalog.find(call.name, call.app) if subject.catalog is not None else ()
    names = {name for name, _ in call.arguments}
    return any(
        (tool.open or names <= {parameter.name for parameter in tool.parameters})
        and names >= {parameter.name for parameter in tool.parameters if parameter.required}
        for tool in tools
    )


def _sure(subject: Subject, trace: Trace, first: int | None) -> Confidence:
    """A tool of the user's may fail for reasons of its own; one of ours fails for its arguments alone."""
    failed: CallTrace | None = trace.calls[first] if first is not None else None
    kind = failed.error.kind if failed is not None and failed.error is not None else ""
    if first is None or kind in _CUT_SHORT:
        return "low"
    return "high" if kind in _OF_THE_CALL or subject.arithmetic(subject.plan.calls[first]) else "medium"


# ---------------------------------------------------------------- multiple choice
def _chosen(subject: Subject, expected: Wanted, value: Any) -> Iterator[GoldFinding]:
    """Which of the answers on offer a value is, where it is not the right one."""
    number = number_of(value)
    texts = dict(expected.options)
    read = {letter: offered(text) for letter, text in expected.options}
    right = read.get(expected.correct)
    if number is None or expected.correct not in texts or (right is not None and right.is_rounded(number)):
        return
    matching_letters = [
        letter for letter, option in read.items() if option is not None and option.is_value(number)
    ]
    gold = f"gold says {expected.correct} = {texts[expected.correct].strip()}"
    if matching_letters:
        which = f"option{'s' * (len(matching_letters) > 1)} {' and '.join(matching_letters)}"
        message = f"the plan gives {shown(value, _WIDTH)}, which is {which}; {gold}"
        yield GoldFinding("gold.option", message, _sure_of(read[matching_letters[0]], right), _end(subject))
    elif right is not None and not right.is_near(number) and None not in read.values():
        message = f"the plan gives {shown(value, _WIDTH)}, which is no option; {gold}"
        sure: Confidence = "high" if right.plain else "medium"
        yield GoldFinding("gold.answer", message, sure, _end(subject))


def _sure_of(other: Offered | None, right: Offered | None) -> Confidence:
    """Sure where both are numbers of one kind."""
    if other is None or right is None:
        return "low"
    return "high" if other.plain and right.plain and other.unit == right.unit else "medium"
