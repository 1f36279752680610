"""Mending root causes of a difference, one or several of them, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.explanation.causes import REPEATABLE_CODES, UNSHARED_ARGUMENT_CODES, change_key
from planner_eval.comparison.explanation.edits import Edit, Place
from planner_eval.comparison.patch import apply_operations, make_patch, relabel_gold
from planner_eval.plan.canonical import producers_of
from planner_eval.plan.model import Plan, Value

ArgumentKey = tuple[int | None, str | None]
"""A call by gold's position, None for the answer, and its argument."""


class Fix(NamedTuple):
    """How one root cause is mended.

    Args:
        root: The root cause.
        operations: Which operations of the patch do it: a bit each.
        arguments: The arguments that they set.
    """

    root: Edit
    operations: int
    arguments: frozenset[ArgumentKey]


class Fixes:
    """How the root causes of a difference are mended, each by itself.

    What is mended does not ask what follows from what. A call is mended with its links: the arguments in
    which gold takes a missing call's output, or the prediction an extra one's; a tool with the arguments and
    outputs that only one of the two tools has; a change that was made again wherever it was made.

    Args:
        diff: The difference.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.plan.model import Call
    >>> gold, pred = (Plan((Call("a", "f", (("x", x), ("y", y))),)) for x, y in ((1, "s"), (2, "t")))
    >>> mending = Fixes(diff(pred, gold))
    >>> [mend.root.code for mend in mending.mends]
    ['argument.value', 'argument.value']
    >>> mending.plan(mending.mends[1].operations).calls[0].arguments
    (('x', 2), ('y', 's'))
    """

    def __init__(self, diff: Diff) -> None:
        self.found = diff
        self.operations: list[dict[str, Any]] = make_patch(diff)["operations"]
        self._to_gold: dict[int | None, int] = dict(diff.alignment.pairs)
        self._kept = {diff.pred.calls[pred].id: gold for pred, gold in diff.alignment.pairs}
        self._removed = {diff.pred.calls[position].id: position for position in diff.alignment.extra}
        codes = {edit.code for edit in diff.edits}
        self._ordering = "order.broken" if "order.broken" in codes else "order.steps"
        self._named = {call.id: position for position, call in enumerate(relabel_gold(diff).calls)}
        self.mends = tuple(self._mend(root) for root in diff.roots)

    def plan(self, operations: int) -> Plan:
        """The prediction after some of the operations, a bit each; after all of them it is right."""
        chosen = [operation for index, operation in enumerate(self.operations) if operations >> index & 1]
        return apply_operations(self.found.pred, chosen)

    def gold_place(self, pred: Place) -> ArgumentKey:
        """Where an argument of the prediction stands by gold's calls."""
        return self._to_gold.get(pred.call), pred.argument

    def _mend(self, root: Edit) -> Fix:
        diff = self.found
        missing, extra, renamed, arguments = set[int](), set[int](), set[int](), set[ArgumentKey]()
        repeated_change = change_key(root) if root.code in REPEATABLE_CODES else None
        for edit in diff.edits:
            if edit is not root and (
                repeated_change is None or edit.code != root.code or change_key(edit) != repeated_change
            ):
                continue
            for pred, gold in edit.places:
                if gold is None and pred is not None and pred.call is not None:
                    extra.add(pred.call)
                elif pred is None and gold is not None and gold.call is not None:
                    missing.add(gold.call)
                elif gold is not None and gold.argument is None and edit.code != "order.broken":
                    assert gold.call is not None
                    renamed.add(gold.call)
                if pred is not None and pred.argument is not None:
                    arguments.add(self.gold_place(pred))
                if gold is not None and gold.argument is not None:
                    arguments.add((gold.call, gold.argument))
        if root.code != "name.spelling":
            arguments |= {*self._links(missing, extra, renamed)}
        return self._chosen(root, missing, extra, renamed, arguments)

    def _links(self, missing: set[int], extra: set[int], renamed: set[int]) -> Iterator[ArgumentKey]:
        diff = self.found
        if missing:
            for call, name, value in _list_arguments(diff.gold):
                if missing.intersection(producers_of(value)):
                    yield call, name
        if extra:
            for call, name, value in _list_arguments(diff.pred):
                if (call is None or call in self._to_gold) and extra.intersection(producers_of(value)):
                    yield self._to_gold.get(call), name
        for edit in diff.edits if missing else ():  # what stands as the other operand goes with its link
            if edit.code == "reference.literal" and missing.intersection(producers_of(edit.gold_value)):
                yield from ((gold.call, gold.argument) for _, gold in edit.places if gold is not None)
        yield from self._of_tools(renamed)

    def _of_tools(self, renamed: set[int]) -> Iterator[ArgumentKey]:
        """What follows from another tool: what only one of the two takes, and outputs that only one has."""
        for edit in self.found.edits if renamed else ():
            if edit.gold is None:
                continue
            if edit.code.endswith(".output") and renamed.intersection(producers_of(edit.gold_value)):
                yield edit.gold.call, edit.gold.argument
            if edit.gold.call in renamed and edit.code in UNSHARED_ARGUMENT_CODES:
                yield from ((edit.gold.call, p.argument) for places in edit.places for p in places if p)

    def _chosen(
        self, root: Edit, missing: set[int], extra: set[int], renamed: set[int], arguments: set[ArgumentKey]
    ) -> Fix:
        """The operations that mend these calls and arguments; some set more arguments, which count as set."""
        diff, operations, more = self.found, 0, set[ArgumentKey]()
        for index, operation in enumerate(self.operations):
            op, call = operation["op"], self._kept.get(operation.get("id", ""))
            if op == "add":
                chosen = self._named[operation["call"]["id"]] in missing
            elif op == "remove":
                chosen = self._removed[operation["id"]] in extra
            elif op == "order":
                chosen = root.code == self._ordering
            elif op == "rename":
                chosen = call in renamed
            elif op in ("arguments", "answer"):  # they set all at once
                chosen = any(c == call for c, _ in arguments)
                gold_arguments = diff.gold.answer if call is None else diff.gold.calls[call].arguments
                pred_answer = diff.pred.answer if call is None else ()
                more.update(
                    (call, name) for name, _ in (*(gold_arguments or ()), *(pred_answer or ())) if chosen
                )
            else:
                chosen = (call, operation["argument"]) in arguments
            operations |= chosen << index
        return Fix(root, operations, frozenset(arguments | more))


def _list_arguments(plan: Plan) -> Iterator[tuple[int | None, str, Value]]:
    for position, call in enumerate(plan.calls):
        yield from ((position, name, value) for name, value in call.arguments)
    yield from ((None, name, value) for name, value in plan.answer or ())
