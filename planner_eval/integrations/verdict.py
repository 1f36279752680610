"""What every integration says of an answer: whether it is the gold plan, and if not, why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.comparison.gold_alternatives import read_gold_strictly
from planner_eval.integrations.asserting import compare_pair
from planner_eval.reading.files.record import Record
from planner_eval.reading.parse import gold_record, only_record, text_as_record

_MAX_CAUSES = 10
"""Root causes that a reason tells."""


UNJUDGED_METADATA: Mapping[str, Any] = {"state": "gold_unreadable", "causes": []}
"""What stands beside the figure that is none, where a package has a way to say so."""


class GoldError(InputError):
    """There is no gold plan, or none that can be read: nothing can be said of the answer."""


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
        gold: The gold plan, likewise, or a gold record, whose own terms and alternatives count. One without
            calls is an empty list; words are none.
        policy: How values compare, as for :func:`planner_eval.diff`.
        repair: Mend small faults of an answer that strict reading refuses, as ``planeval score`` does.

    Raises:
        GoldError: there is no gold plan that can be read.
        InputError: there is no such policy.

    >>> judge("f(#x='1')", "f(#x='2')").reason
    '1 root cause:\nargument.value: f (call 1): argument \'x\' is "1", gold gives "2"'
    >>> judge("f(#x='1')", "f(#x='1')").same, judge("f(#x=", "f(#x='1')").state
    (True, 'unreadable')
    """
    record = _read_gold_record(gold)
    answer = _read_answer(pred)
    row = compare_pair(answer, record, policy, repair=repair)
    if row.state == "gold_unreadable":
        raise GoldError(f"the gold plan cannot be read: {_strip_location(row.error, record)}")
    if row.diff is None:
        return Verdict("unreadable", f"unreadable: {_strip_location(row.error, answer)}")
    if row.diff.same:
        return Verdict("same", f"the same plan: {format_count(len(row.diff.gold), 'call')}")
    roots = row.diff.roots
    lines = [f"{edit.code}: {edit.message}" for edit in roots[:_MAX_CAUSES]]
    more = [f"… and {len(roots) - _MAX_CAUSES:,} more"] if len(roots) > _MAX_CAUSES else []
    heads = [f"{format_count(len(roots), 'root cause')}:"]
    return Verdict("different", "\n".join([*heads, *lines, *more]), tuple(edit.code for edit in roots))


def expect_gold_record(gold: Any) -> Record:
    """The gold record of what a framework has as gold, with a plan that can be read.

    Args:
        gold: As for :func:`judge`.

    Raises:
        GoldError: there is none.

    >>> expect_gold_record('{"gold": "f()", "alternatives": ["g()"]}').source
    'f()'
    """
    record = _read_gold_record(gold)
    try:
        read_gold_strictly(record)
    except (ParseError, InputError) as error:
        raise GoldError(f"the gold plan cannot be read: {_strip_location(str(error), record)}") from None
    return record


def _read_gold_record(gold: Any) -> Record:
    """The record of gold, be its plan what it may."""
    if gold is None or gold == {}:  # a framework's sample without gold
        raise GoldError("there is no gold plan; one without calls is written []")
    if isinstance(gold, (list, tuple)):  # calls or messages: a framework's sample is never several records
        return Record("gold", 0, None, gold)
    try:
        return gold_record(gold)
    except InputError as error:
        raise GoldError(f"the gold plan cannot be read: {error}") from None


def _read_answer(value: Any) -> Record:
    """The record of an answer; of what is no plan at all, with the reason: a model may write anything."""
    if isinstance(value, (list, tuple)):
        return Record("answer", 0, None, value)
    try:
        return only_record(text_as_record("" if value is None else value), "answer")
    except InputError as error:
        return Record("answer", 0, None, "", error=ParseError(str(error)))


def _strip_location(problem: str | None, record: Record) -> str:
    """Why a record cannot be read, without its place: there is only the one."""
    return (problem or "").removeprefix(f"{record.where}: ")
