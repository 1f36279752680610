"""Repairs: the operations that turn a prediction into the gold plan, and applying them.

    {"schema": "planeval.patch/1", "operations": [
      {"op": "set", "id": "c1", "argument": "city", "value": "Rome", "why": "argument.value"},
      {"op": "unset", "id": "c1", "argument": "town"},
      {"op": "rename", "id": "c2", "app": null, "name": "book"},
      {"op": "arguments", "id": "c2", "arguments": [["x", 1], ["x", 2]]},
      {"op": "remove", "id": "c3"},
      {"op": "add", "call": {"id": "c4", "name": "pay", "arguments": {}}, "after": "c2"},
      {"op": "answer", "value": {"total": {"$ref": "c4"}}},
      {"op": "order", "ids": ["c1", "c2", "c4"]}]}

Values and calls are in the interchange notation ``plan``; ids are those of the prediction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.diff import Diff
from planner_eval.comparison.explanation.causes import REPEATABLE_CODES, UNSHARED_ARGUMENT_CODES, change_key
from planner_eval.comparison.explanation.edits import Edit, Place
from planner_eval.plan.canonical import producers_of
from planner_eval.plan.model import Call, Plan, Unresolved, Value, references
from planner_eval.reading.dialects.notations.json_calls import arguments_data
from planner_eval.reading.dialects.notations.plan import to_data, value_data
from planner_eval.reading.dialects.read import parse

SCHEMA = "planeval.patch/1"


def make_patch(diff: Diff) -> dict[str, Any]:
    """The operations that turn ``found.pred`` into a plan that means the same as ``found.gold``.

    Returns:
        The patch as JSON data; without operations where the plans are the same.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.plan.model import Call, Plan
    >>> one, two = (Plan((Call("a", "f", (("x", value),)),)) for value in (1, 2))
    >>> make_patch(diff(one, two))["operations"]
    [{'op': 'set', 'id': 'a', 'argument': 'x', 'value': 2, 'why': 'argument.value'}]
    """
    if diff.same:
        return {"schema": SCHEMA, "operations": []}
    relabelled_gold = relabel_gold(diff)
    written = [
        *_make_change_operations(diff, relabelled_gold),
        *_make_answer_operations(diff, relabelled_gold),
    ]
    codes = {edit.pred.call: edit.code for edit in diff.edits if edit.pred and edit.gold is None}
    operations = [
        *(
            {"op": "remove", "id": diff.pred.calls[position].id, "why": codes.get(position, "call.extra")}
            for position in diff.alignment.extra
        ),
        *_make_add_operations(diff, relabelled_gold, written),
        *written,
    ]
    patch = {"schema": SCHEMA, "operations": operations}
    repaired = apply_operations(diff.pred, operations)
    if any(edit.code == "order.broken" for edit in diff.edits) or any(
        edge.producer > edge.consumer for edge in repaired.edges
    ):
        operations.append(
            {"op": "order", "ids": [call.id for call in relabelled_gold.calls], "why": "order.broken"}
        )
    return patch


def relabel_gold(diff: Diff) -> Plan:
    """Gold with the ids that its calls have in the repaired plan.

    >>> from planner_eval.comparison.diff import diff
    >>> from planner_eval.plan.model import Call
    >>> gold = Plan((Call("a", "f"), Call("b", "g")))
    >>> [call.id for call in relabel_gold(diff(Plan((Call("b", "f"),)), gold)).calls]
    ['b', 'b_2']
    >>> needy = Plan((Call("a", "f", (("x", Unresolved("b")),)),))
    >>> [call.id for call in relabel_gold(diff(needy, gold)).calls]
    ['a', 'b_2']
    """
    partner = {gold: pred for pred, gold in diff.alignment.pairs}
    used_ids = {call.id for call in diff.pred.calls}
    used_ids |= {ref.name for c in diff.pred.calls for _, v in c.arguments for _, ref in references(v)
              if isinstance(ref, Unresolved)}  # fmt: skip
    calls: list[Call] = []
    for position, call in enumerate(diff.gold.calls):
        if position in partner:
            name = diff.pred.calls[partner[position]].id
        else:
            name, copy = call.id, 1
            while name in used_ids:
                copy += 1
                name = f"{call.id}_{copy}"
            used_ids.add(name)
        calls.append(replace(call, id=name, result=None, has_result=False))
    return replace(diff.gold, calls=tuple(calls))


def _make_add_operations(
    diff: Diff, relabelled_gold: Plan, written: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Gold's calls that are missing; optional ones only where what is written takes their output."""
    data = to_data(relabelled_gold)["calls"]
    required = {e.gold.call for e in diff.edits if e.code == "call.missing" and e.gold}
    optional = {data[i]["id"]: i for i in diff.alignment.missing if i not in required}
    waiting = [
        *_find_referred_ids(written),
        *_find_referred_ids([data[position] for position in required if position is not None]),
    ]
    while waiting:
        position = optional.pop(waiting.pop(), None)
        if position is not None:
            required.add(position)
            waiting += _find_referred_ids(data[position])
    return [
        {
            "op": "add",
            "call": data[position],
            "after": relabelled_gold.calls[position - 1].id if position else None,
            "why": "call.missing",
        }
        for position in diff.alignment.missing
        if position in required
    ]


def _find_referred_ids(data: Any) -> Iterator[str]:
    """The ids that interchange data refers to."""
    if isinstance(data, dict):
        if "$ref" in data:
            yield data["$ref"]
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from _find_referred_ids(item)


def _make_change_operations(diff: Diff, relabelled_gold: Plan) -> list[dict[str, Any]]:
    """What changes in calls that have partners: names first, then arguments, each once."""
    operations: list[dict[str, Any]] = []
    repeating = _find_repeating_calls(diff.pred)
    wanted_repeating = _find_repeating_calls(relabelled_gold)
    objects = (edit.gold for edit in diff.edits if edit.code == "argument.object")
    wanted_repeating |= {p.call for p in objects if p is not None and p.call is not None}
    arguments_by_call: dict[int, dict[str, Value]] = {}
    handled: set[tuple[object, ...]] = set()
    for edit, (pred, gold) in [(e, place_pair) for e in diff.edits for place_pair in e.places]:
        if gold is None or pred is None or gold.call is None or pred.call is None:
            continue
        call, name = relabelled_gold.calls[gold.call], gold.argument
        key = (gold.call, name, pred.argument)
        if edit.code == "order.broken" or key in handled:
            continue
        if name is not None and (gold.call, "all") in handled:  # all of its arguments are written already
            continue
        handled.add(key)
        if name is None:
            operations.append(
                {"op": "rename", "id": call.id, "app": call.app, "name": call.name, "why": edit.code}
            )
        elif gold.call in wanted_repeating or pred.call in repeating or _is_rotation(edit):
            if (gold.call, "all") not in handled:
                handled.add((gold.call, "all"))
                pairs = [[key, value_data(value, relabelled_gold)] for key, value in call.arguments]
                operations.append({"op": "arguments", "id": call.id, "arguments": pairs, "why": edit.code})
        else:
            if gold.call not in arguments_by_call:
                arguments_by_call[gold.call] = dict(call.arguments)
            operations += _make_argument_operations(
                edit.code, call.id, arguments_by_call[gold.call], pred.argument, name, relabelled_gold
            )
    return operations


def _is_rotation(edit: Edit) -> bool:
    """Whether more than two values are exchanged: to set a part of them would make more edits."""
    calls = {location.call for location, _ in edit.places if location is not None}
    return edit.code == "arguments.swapped" and len(edit.also) > 1 and len(calls) == 1


def _make_argument_operations(
    code: str,
    call: str,
    arguments: dict[str, Value],
    pred_name: str | None,
    gold_name: str,
    relabelled_gold: Plan,
) -> list[dict[str, Any]]:
    operations: list[dict[str, Any]] = []
    if pred_name is not None and pred_name not in arguments:
        operations.append({"op": "unset", "id": call, "argument": pred_name, "why": code})
    if gold_name in arguments:
        value = value_data(arguments[gold_name], relabelled_gold)
        operations.append({"op": "set", "id": call, "argument": gold_name, "value": value, "why": code})
    return operations


def _find_repeating_calls(plan: Plan) -> set[int]:
    """The calls that give an argument twice."""
    return {
        position
        for position, call in enumerate(plan.calls)
        if len({name for name, _ in call.arguments}) < len(call.arguments)
    }


def _make_answer_operations(diff: Diff, relabelled_gold: Plan) -> list[dict[str, Any]]:
    code = next((edit.code for edit in diff.edits if edit.code.startswith("answer.")), None)
    if code is None:
        return []
    value = to_data(relabelled_gold).get("answer")
    return [{"op": "answer", "value": value, "why": code}]


def apply_patch(plan: Plan, patch: Any) -> Plan:
    """The plan after the patch's operations, in their order.

    Args:
        plan: The prediction that the patch was made for.
        patch: What :func:`make_patch` gave, or a part of its operations.

    Raises:
        InputError: the patch is none, or names a call that the plan does not have.

    >>> from planner_eval.plan.model import Call
    >>> patch = {"schema": SCHEMA, "operations": [{"op": "remove", "id": "a"}]}
    >>> apply_patch(Plan((Call("a", "f"), Call("b", "g"))), patch).calls[0].name
    'g'
    """
    if not isinstance(patch, dict) or patch.get("schema") != SCHEMA:
        raise InputError(f"not a patch: expected an object with the schema {SCHEMA!r}")
    from planner_eval.comparison.schemas import PatchFile

    PatchFile.check(patch, "the patch")
    return apply_operations(plan, patch["operations"])


def apply_operations(plan: Plan, operations: Sequence[Mapping[str, Any]]) -> Plan:
    """The plan after operations that are as they should be: those of :func:`make_patch`, or a part.

    Args:
        plan: The prediction that the patch was made for.
        operations: The operations, in their order.

    Raises:
        InputError: one names a call that the plan does not have.

    >>> from planner_eval.plan.model import Call
    >>> apply_operations(Plan((Call("a", "f"), Call("b", "g"))), [{"op": "remove", "id": "a"}]).calls[0].name
    'g'
    """
    data = to_data(plan)
    calls: CallsById = {call["id"]: call for call in data["calls"]}
    added: _QueuedCalls = {}
    for number, operation in enumerate(operations, 1):
        kind = operation["op"]
        try:
            if kind == "add" and _queue_call(operation, calls, added):
                continue
            calls, added = _insert_queued(calls, added), {}
            calls = _apply(operation, calls, data)
        except (KeyError, TypeError) as error:
            location = f"operation {number} of the patch ({kind})"
            raise InputError(f"{location} does not fit the plan: {_reason(error, calls)}") from None
    data["calls"] = list(_insert_queued(calls, added).values())
    return parse(data, dialect="plan")


def _reason(error: KeyError | TypeError, calls: Mapping[str, Any]) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} does not exist; the plan's calls are {', '.join(calls) or 'none'}"
    return "the call has an argument twice; set them all with the operation 'arguments'"


CallsById = dict[str, dict[str, Any]]
_QueuedCalls = dict[str | None, list[dict[str, Any]]]


def _apply(operation: Mapping[str, Any], calls: CallsById, data: dict[str, Any]) -> CallsById:
    """The calls after one operation; an answer stands in the plan's data."""
    kind, name = operation["op"], operation.get("id", "")
    if kind == "remove":
        del calls[name]
    elif kind == "set":
        calls[name]["arguments"] |= {operation["argument"]: operation["value"]}
    elif kind == "unset":
        del calls[name]["arguments"][operation["argument"]]
    elif kind == "arguments":
        pairs = tuple((argument, value) for argument, value in operation["arguments"])
        calls[name]["arguments"] = arguments_data(pairs)
    elif kind == "rename":
        calls[name].pop("app", None)
        calls[name] |= {"name": operation["name"], **({"app": app} if (app := operation.get("app")) else {})}
    elif kind == "add":
        new, after, items = operation["call"], operation.get("after"), [*calls.items()]
        index = 1 + [*calls].index(after) if after in calls else len(items) if after is not None else 0
        return dict([*items[:index], (new["id"], dict(new)), *items[index:]])
    elif kind == "answer":
        data["answer"] = operation["value"]
    else:
        return {key: calls[key] for key in operation["ids"] if key in calls} | calls
    return calls


def _queue_call(operation: Mapping[str, Any], calls: CallsById, added: _QueuedCalls) -> bool:
    """Whether a new call now waits to be put behind another one, so that many take one pass."""
    new, after = operation["call"], operation.get("after")
    name = new["id"]
    placed = after is None or after in calls or after in added
    if name in calls or name in added or not placed:
        return False
    added.setdefault(after, []).append(dict(new))
    added[name] = []
    return True


def _insert_queued(calls: CallsById, added: _QueuedCalls) -> CallsById:
    """The calls with those that wait; of several behind one call the last stands first."""
    if not added:
        return calls
    placed_calls: CallsById = {}
    waiting = [*reversed(calls.values()), *added.get(None, ())]
    while waiting:
        call = waiting.pop()
        placed_calls[call["id"]] = call
        waiting += added.get(call["id"], ())
    return placed_calls


# ----------------------------------------------------------------------
# Mending root causes of a difference, one or several of them, and nothing else.
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
        missing, extra, renamed, arguments = set[int](), set[int](), set[int | None](), set[ArgumentKey]()
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
                    renamed.add(gold.call)
                if pred is not None and pred.argument is not None:
                    arguments.add(self.gold_place(pred))
                if gold is not None and gold.argument is not None:
                    arguments.add((gold.call, gold.argument))
        if root.code != "name.spelling":
            arguments |= {*self._links(missing, extra, renamed)}
        return self._chosen(root, missing, extra, renamed, arguments)

    def _links(self, missing: set[int], extra: set[int], renamed: set[int | None]) -> Iterator[ArgumentKey]:
        """What is mended with calls: arguments that take from them, what only one of two tools has."""
        diff = self.found
        for call, name, value in _list_arguments(diff.gold) if missing else ():
            if missing.intersection(producers_of(value)):
                yield call, name
        for call, name, value in _list_arguments(diff.pred) if extra else ():
            if (call is None or call in self._to_gold) and extra.intersection(producers_of(value)):
                yield self._to_gold.get(call), name
        for edit in diff.edits:
            locations = [location for pair in edit.places for location in pair if location]
            gold_producers = {*producers_of(edit.gold_value)}
            if edit.code == "reference.literal" and not missing.isdisjoint(gold_producers):
                # what stands as the other operand goes with its link
                yield from ((gold.call, gold.argument) for _, gold in edit.places if gold)
            if edit.gold is None:
                continue
            if edit.code.endswith(".output") and not renamed.isdisjoint(gold_producers):
                yield edit.gold.call, edit.gold.argument
            if edit.gold.call in renamed and edit.code in UNSHARED_ARGUMENT_CODES:
                yield from ((edit.gold.call, location.argument) for location in locations)

    def _chosen(
        self,
        root: Edit,
        missing: set[int],
        extra: set[int],
        renamed: set[int | None],
        arguments: set[ArgumentKey],
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
