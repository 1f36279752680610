"""What every integration says of an answer: whether it is the gold plan, and if not, why."""

from __future__ import annotations

from typing import Any

import planner_eval as pe
from planner_eval.base.errors import InputError, ParseError, PlanevalError
from planner_eval.base.named import NamedTuple
from planner_eval.base.text import counted
from planner_eval.records.fields import KNOWN

_SHOWN = 10
"""Root causes that a reason tells."""


class Verdict(NamedTuple):
    """What is said of one answer.

    Args:
        state: ``"same"``, ``"different"``, or ``"unreadable"``, which is no plan at all.
        reason: Why, for people: a line a root cause, or what could not be read.
        causes: The codes of the root causes, in the order of the reason.
    """

    state: str
    reason: str
    causes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the answer means what gold means; the one figure that an integration gives."""
        return self.state == "same"

    @property
    def metadata(self) -> dict[str, Any]:
        """What stands beside the figure."""
        return {"state": self.state, "causes": list(self.causes)}


def judge(pred: Any, gold: Any, *, policy: Any = "default", repair: bool = True) -> Verdict:
    r"""Whether an answer is the gold plan, and the root causes where it is not.

    Args:
        pred: The answer, as a framework has it: text, messages, calls, or an object with one of them in a
            field that is known to hold answers.
        gold: The gold plan, likewise.
        policy: How values compare, as for :func:`planner_eval.diff`.
        repair: Mend small faults of an answer that strict reading refuses, as ``planeval score`` does.

    Raises:
        InputError: the gold plan cannot be read, or there is no such policy.

    >>> judge("f(#x='1')", "f(#x='2')").reason
    '1 root cause:\nargument.value: f (call 1): argument \'x\' is "1", gold gives "2"'
    >>> judge("f(#x='1')", "f(#x='1')").same, judge("f(#x=", "f(#x='1')").state
    (True, 'unreadable')
    """
    try:
        wanted = pe.parse(_taken(gold, "gold"))
    except ParseError as error:
        raise InputError(f"the gold plan cannot be read: {error}") from None
    try:
        plan = pe.parse(_taken(pred, "answer"), repair=repair)
    except PlanevalError as error:  # a model may write anything, be it the name of a file
        return Verdict("unreadable", f"unreadable: {error}")
    found = pe.diff(plan, wanted, policy)
    if found.same:
        return Verdict("same", f"the same plan: {counted(len(wanted), 'call')}")
    roots = found.roots
    lines = [f"{edit.code}: {edit.message}" for edit in roots[:_SHOWN]]
    more = [f"… and {len(roots) - _SHOWN:,} more"] if len(roots) > _SHOWN else []
    heads = [f"{counted(len(roots), 'root cause')}:"]
    return Verdict("different", "\n".join([*heads, *lines, *more]), tuple(edit.code for edit in roots))


def _taken(value: Any, role: Any) -> Any:
    """The plan in what a framework hands over: of an object with a field of answers, what stands there."""
    if isinstance(value, dict) and not KNOWN.isdisjoint(value):
        return pe.read([value], role=role).records[0]
    return "" if value is None else value
