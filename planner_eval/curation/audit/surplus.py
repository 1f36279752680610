"""Calls that gold makes for nothing: results that nobody gets, equal calls, values that are there already.

What is said here is proved from the plan and from what is known of its tools, without running anything:
without the call, the plan comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from planner_eval.base.text import format_count, shorten
from planner_eval.curation.audit.subject import AuditedRecord
from planner_eval.execution.program import producers
from planner_eval.execution.terms import SymbolicRun, symbolic
from planner_eval.plan.graph import blocked_positions, circles
from planner_eval.plan.model import Call, Plan, Ref, Unresolved
from planner_eval.results.findings import Confidence, GoldFinding

_WIDTH = 60

CODES = ("gold.unresolved", "gold.cycle", "gold.dead", "gold.repeated", "gold.shorter")


def find_surplus(subject: AuditedRecord) -> Iterator[GoldFinding]:
    """What a plan could do without, and what of it can never run.

    Args:
        subject: The record.

    >>> from planner_eval.reading.dialects.read import parse
    >>> plan = parse([{"name": "add", "label": "$a", "arguments": {"arg_0": 1, "arg_1": 2}},
    ...               {"name": "multiply", "arguments": {"arg_0": "$a.result$", "arg_1": 1}}])
    >>> [(found.code, found.call) for found in find_surplus(AuditedRecord("q1", plan, basic=True))]
    [('gold.shorter', 1)]
    """
    plan = subject.plan
    yield from _find_unresolved(plan)
    circle = _find_cycle(plan)
    if circle is not None:
        text = (
            f"{_format_call(plan, circle)} waits for its own result, so that it and what waits for it "
            "never run"
        )
        yield GoldFinding("gold.cycle", text, "high", circle)
        return
    acts = {call.tool for call in plan.calls if subject.looks(call) is False}
    terms = symbolic(plan, answer="last" if subject.ends else "sinks", acts=acts)
    yield from _find_dead_results(subject, terms)
    yield from _find_repeated_calls(subject, terms)
    for position, call in enumerate(plan.calls):
        if subject.arithmetic(call) and (reason := _describe_redundant_call(plan, terms, call)):
            yield GoldFinding("gold.shorter", f"{_format_call(plan, position)} {reason}", "medium", position)


def _find_unresolved(plan: Plan) -> Iterator[GoldFinding]:
    for diagnostic in plan.diagnostics:
        if diagnostic.code == "reference.unresolved":
            yield GoldFinding(
                "gold.unresolved", diagnostic.message, "high", diagnostic.call, diagnostic.argument
            )


def _find_cycle(plan: Plan) -> int | None:
    """The first call that waits for itself, over others or not; None where none does."""
    needs = producers(plan)
    if not blocked_positions(needs):
        return None
    return min(min(circle) for circle in circles(needs) if len(circle) > 1 or circle[0] in needs[circle[0]])


def _find_dead_results(subject: AuditedRecord, terms: SymbolicRun) -> Iterator[GoldFinding]:
    """Results that nobody gets: sure where the plan names its answer, which says what the user gets.

    Where the last call is the answer, a user may have asked for more than one thing all the same.
    """
    plan = subject.plan
    named = plan.answer is not None
    used = {edge.producer for edge in plan.edges}
    for position in terms.dead:
        if position in used:
            continue  # it is dead for the sake of another, of which it is said
        confidence: Confidence = "high" if named else "low"
        what = "the answer" if named else "the last call, whose value is the answer,"
        text = f"nothing uses the result of {_format_call(plan, position)}, and {what} does not need it"
        yield GoldFinding("gold.dead", text, confidence, position)


def _find_repeated_calls(subject: AuditedRecord, terms: SymbolicRun) -> Iterator[GoldFinding]:
    """Equal calls, each group told once; of groups that are only part of larger ones the largest."""
    plan = subject.plan
    repeated_positions = {position for group in terms.duplicated for position in group[1:]}
    users: dict[int, set[int]] = {}
    for edge in plan.edges:
        users.setdefault(edge.producer, set()).add(edge.consumer)
    for group in terms.duplicated:
        repeats = [p for p in group[1:] if not users.get(p) or not users[p] <= repeated_positions]
        call = plan.calls[group[0]]
        looks = subject.looks(call)
        if not repeats or looks is False:
            continue
        confidence: Confidence = "medium" if looks else "low"
        text = (
            f"{_format_calls(plan, repeats)} {'makes' if len(repeats) == 1 else 'make'} the same call as "
            f"{_format_call(plan, group[0])}, whose result could be used again"
        )
        yield GoldFinding("gold.repeated", text, confidence, repeats[0])


# ---------------------------------------------------------------- what arithmetic gives back
_IDENTITY_OPERANDS: dict[str, tuple[tuple[int, int], ...]] = {
    "add": ((0, 0), (1, 0)),
    "subtract": ((1, 0),),
    "multiply": ((0, 1), (1, 1)),
    "divide": ((1, 1),),
    "power": ((1, 1),),
}
"""Functions that give back one operand where the other, at a place, is a number."""

_INVERSES: dict[str, tuple[tuple[str, int, int], ...]] = {
    "subtract": (("add", 0, 1), ("add", 1, 0)),
    "add": (("subtract", 0, 1),),
    "divide": (("multiply", 0, 1), ("multiply", 1, 0)),
    "multiply": (("divide", 0, 1),),
}
"""What undoes what: the function whose result is the first operand, which of its operands comes back, and
which of them stands as the second operand too."""

_UNARY_INVERSES = {"negate": "negate", "inverse": "inverse", "floor": "floor"}
"""Functions of one operand whose result, given to the other, comes back as it was, or as it is."""


def _describe_redundant_call(plan: Plan, terms: SymbolicRun, call: Call) -> str | None:
    """Why a call gives back a value that is there already; None where it does not."""
    arguments = [value for _, value in call.arguments]
    for index, number in _IDENTITY_OPERANDS.get(call.name, ()):
        if (
            len(arguments) == 2
            and _is_number(arguments[index], number)
            and isinstance(arguments[1 - index], Ref)
        ):
            producer = _format_call(plan, arguments[1 - index].call)
            return f"gives back the result of {producer}: {_format_operation(call.name, number)}"
    if not arguments or not isinstance(arguments[0], Ref):
        return None
    maker = plan.calls[arguments[0].call]
    if len(arguments) == 1 and _UNARY_INVERSES.get(call.name) == maker.name:
        if call.name == "floor":
            return f"gives back the result of {_format_call(plan, arguments[0].call)}, which is whole already"
        return f"undoes {_format_call(plan, arguments[0].call)}, and gives back what that was given"
    operands = [value for _, value in maker.arguments]
    for name, back, other in _INVERSES.get(call.name, ()):
        fits = maker.name == name and len(arguments) == len(operands) == 2 and isinstance(operands[back], Ref)
        if fits and _value_key(terms, operands[other]) == _value_key(terms, arguments[1]):
            return f"undoes {_format_call(plan, arguments[0].call)}, and gives back what that was given"
    return None


def _is_number(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == number


def _format_operation(name: str, number: int) -> str:
    words = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "divided by"}
    return f"{words.get(name, 'to the power of')} {number}"


def _value_key(terms: SymbolicRun, value: Any) -> Any:
    """What a value is, the same for equal values: of a reference the term that it stands for."""
    if isinstance(value, Ref):
        return ("ref", terms.keys[value.call])
    return value if not isinstance(value, Unresolved) else object()


# ---------------------------------------------------------------- words
def _format_call(plan: Plan, position: int) -> str:
    return f"call {position + 1} ({shorten(plan.calls[position].tool, _WIDTH)})"


def _format_calls(plan: Plan, positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return _format_call(plan, positions[0])
    numbers = [str(position + 1) for position in positions]
    shown_numbers = numbers if len(numbers) < 6 else [*numbers[:4], format_count(len(numbers) - 4, "more")]
    tool = shorten(plan.calls[positions[0]].tool, _WIDTH)
    return f"calls {', '.join(shown_numbers[:-1])} and {shown_numbers[-1]} ({tool})"
