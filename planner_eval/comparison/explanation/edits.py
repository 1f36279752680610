"""The edits that a comparison finds, and their codes."""

from __future__ import annotations

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.plan.model import Path, Value

EDITS: dict[str, str] = {
    "call.missing": "gold makes a call that the prediction does not make",
    "call.extra": "the prediction makes a call that gold does not make",
    "call.duplicated": "the prediction makes an equal call again, which gold makes less often or not at all",
    "call.replaced": "another tool is called in the place of gold's",
    "call.merged": "one call asks in a list what gold asks call by call",
    "call.split": "several calls ask one by one what gold asks in a list",
    "app.changed": "the tool is called in another app than gold's",
    "name.spelling": "gold's tool is called, but for ., _, - and case",
    "argument.missing": "gold gives an argument that the prediction leaves out",
    "argument.extra": "the prediction gives an argument that gold does not give",
    "argument.renamed": "the prediction gives gold's value, or one in its place, under another name",
    "argument.object": 'all arguments stand in one object that has no name, as in f({"x": 1})',
    "argument.value": "the argument's value, or a part of it, is another",
    "argument.type": "the value, or a part of it, is of another type, e.g. text for a number",
    "arguments.swapped": "arguments, of one call or of several, have one another's values",
    "reference.literal": "a literal stands where gold takes another call's output",
    "reference.unwanted": "another call's output is taken where gold has a literal",
    "reference.unresolved": "a reference names no call of the prediction",
    "reference.producer": "the output of the wrong call is taken",
    "reference.output": "the wrong output of the right call is taken",
    "order.broken": "a call is written before one whose output it needs, or that gold wants first",
    "order.steps": "steps of a chain are made in another order",
    "answer.missing": "gold's answer names a value that the prediction's does not",
    "answer.extra": "the prediction's answer names a value that gold's does not",
    "answer.renamed": "the answer gives gold's value under another name",
    "answer.value": "a value of the answer, or a part of it, is another",
    "answer.type": "a value of the answer, or a part of it, is of another type",
    "answer.swapped": "values of the answer stand under one another's names",
    "answer.literal": "the answer is a literal where gold gives a call's output",
    "answer.unwanted": "the answer is a call's output where gold gives a literal",
    "answer.unresolved": "the answer refers to no call of the prediction",
    "answer.producer": "the answer is the output of the wrong call",
    "answer.output": "the answer is the wrong output of the right call",
}
"""Every code of an edit with its meaning in one line."""


class Place(NamedTuple):
    """A place in one plan.

    Args:
        call: Position of the call; None for the plan's answer or the plan as a whole.
        argument: The argument's name (of the answer, where `call` is None); None for the whole call.
        at: The way into the argument's value; () is the whole value.
    """

    call: int | None = None
    argument: str | None = None
    at: Path = ()


class Edit(NamedTuple):
    """One difference.

    Args:
        code: A stable dotted code; the meanings are in :data:`EDITS`.
        message: One sentence that names calls, arguments, values and places.
        pred: Where it is in the prediction; None where the prediction has nothing.
        gold: Where it is in gold; None where gold has nothing.
        pred_value: What the prediction says there; of arguments that are exchanged an object of them.
        gold_value: What gold says there, likewise.
        cause: Position in the diff's edits of the edit that this one follows from; None for a root cause.
        also: Further places, in the prediction and in gold, that this one mistake concerns.
        own: What the message alone says where several edits are told in one sentence; None where it is told
            as it stands.
    """

    code: str
    message: str
    pred: Place | None = None
    gold: Place | None = None
    pred_value: Value = None
    gold_value: Value = None
    cause: int | None = None
    also: tuple[tuple[Place | None, Place | None], ...] = ()
    own: str | None = None

    @property
    def places(self) -> tuple[tuple[Place | None, Place | None], ...]:
        """All places that it concerns, in the prediction and in gold."""
        return ((self.pred, self.gold), *self.also)
