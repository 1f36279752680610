"""Edits as they are told: what is done again and again on one line, consequences under their cause."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.argument_names import find_form_difference
from planner_eval.comparison.explanation.bundles import Bundle, bundle_edits
from planner_eval.comparison.explanation.causes import change_key
from planner_eval.comparison.explanation.edits import (
    Edit,
    Place,
    name_type_difference,
    name_writing_difference,
)
from planner_eval.comparison.explanation.sentences import calls_numbers
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Ref

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff


MIN_EXTRA_ARGUMENTS = 3
"""So many arguments too much are one habit, whatever they are."""

MAX_NAMED_ARGUMENTS = 4
"""So many arguments of a habit are told by name."""


class EditLine(NamedTuple):
    """One edit, or several that are one habit, as told.

    Args:
        name: The code of the edit, or what the habit is called.
        edits: Positions in the diff's edits.
        calls: Where it is: ``calls 1, 3``; empty for a single edit, whose message says it.
        times: How often it is done.
        said: The sentence of the first, and what arguments a call of another tool has of it.
        depth: How far it stands below its root cause.
        mistakes: How many mistakes it is to who asks whether it is another plan.
    """

    name: str
    edits: tuple[int, ...]
    calls: str
    times: int
    said: str
    depth: int
    mistakes: int = 1

    @property
    def head(self) -> str:
        """What stands before the sentence: ``number for text ×2 (calls 1, 3)``."""
        times = f" ×{self.times}" if self.times > 1 else ""
        return f"{self.name}{times} ({self.calls})" if self.calls else self.name + times


def make_edit_lines(diff: Diff, *, each: bool = False) -> list[EditLine]:
    """The edits of a comparison, line by line.

    Args:
        diff: The comparison.
        each: Give each edit a line of its own.
    """
    edits = diff.edits
    keys: dict[int, Hashable] = {} if each or len(edits) < 2 else _find_habit_keys(diff)
    in_passing: set[int] = set() if each else _find_unshared_arguments(edits)
    groups: list[list[int]] = []
    group_of_edit: list[int] = []
    parents: list[int | None] = []
    group_numbers: dict[Hashable, int] = {}
    for index, edit in enumerate(edits):
        parent_group, key = None if edit.cause is None else group_of_edit[edit.cause], keys.get(index, index)
        if parent_group is not None and (index in in_passing or keys.get(groups[parent_group][0]) == key):
            group = parent_group  # the same again follows from the first
        else:
            group = group_numbers.setdefault((parent_group, key), len(groups))
        if group == len(groups):
            groups.append([])
            parents.append(parent_group)
        groups[group].append(index)
        group_of_edit.append(group)
    return [
        _make_line(diff, keys, groups[group], in_passing, depth) for group, depth in _walk_groups(parents)
    ]


def habits_data(diff: Diff) -> list[dict[str, Any]]:
    """What is done again and again, as JSON data: its name, how often, and which edits it is."""
    lines = (line for line in make_edit_lines(diff) if line.times > 1)
    return [{"name": line.name, "count": line.times, "edits": list(line.edits)} for line in lines]


def _walk_groups(parents: list[int | None]) -> Iterator[tuple[int, int]]:
    """Groups with their depths, each followed by those that follow from it."""
    children: dict[int | None, list[int]] = {}
    for group, parent in enumerate(parents):
        children.setdefault(parent, []).append(group)
    stack = [(group, 0) for group in reversed(children.get(None, []))]
    while stack:
        group, depth = stack.pop()
        yield group, depth
        stack += [(child, depth + 1) for child in reversed(children.get(group, []))]


def _find_unshared_arguments(edits: tuple[Edit, ...]) -> set[int]:
    """Arguments that only one of two tools takes, where they are several: the line of the tools has them."""
    consequences: dict[int, list[int]] = {}
    for index, edit in enumerate(edits):
        if (
            edit.cause is not None
            and edit.code in _UNSHARED_ARGUMENT_CODES
            and edits[edit.cause].code in _REPLACEMENT_CODES
        ):
            consequences.setdefault(edit.cause, []).append(index)
    return {index for indexes in consequences.values() if len(indexes) > 1 for index in indexes}


def _format_unshared_arguments(edits: list[Edit]) -> str:
    """What a call lacks and has too much as a call of another tool."""
    clauses = []
    for code, end in _UNSHARED_ARGUMENT_CODES.items():
        names = dict.fromkeys(
            location.argument for edit in edits if edit.code == code and (location := edit.gold or edit.pred)
        )
        if names:
            clauses.append(f"{_format_names(names)} {'are' if len(names) > 1 else 'is'} {end}")
    return f"; so {', '.join(clauses)}" if clauses else ""


def _format_names(names: Collection[str | None]) -> str:
    """Arguments by name: ``'a', 'b', 'c', 'd' and 2 more``."""
    text = ", ".join(repr(name) for name in [*names][:MAX_NAMED_ARGUMENTS])
    return text + (
        f" and {len(names) - MAX_NAMED_ARGUMENTS} more" if len(names) > MAX_NAMED_ARGUMENTS else ""
    )


def _make_line(
    diff: Diff, keys: dict[int, Hashable], group: list[int], in_passing: set[int], depth: int
) -> EditLine:
    edits = [diff.edits[index] for index in group if index not in in_passing]
    first = edits[0]
    message = first.message + _format_unshared_arguments(
        [diff.edits[index] for index in group if index in in_passing]
    )
    if len(edits) == 1:
        return EditLine(first.code, tuple(group), "", 1, message, depth)
    key = keys[group[0]]
    name, mistakes = key if isinstance(key, str) else first.code, 1
    if isinstance(key, Bundle):
        name, message, mistakes = key.name, key.said, key.mistakes
    pred_calls = [edit.pred.call for edit in edits if edit.pred is not None]
    where = (
        calls_numbers(pred_calls)
        if pred_calls
        else calls_numbers((e.gold.call for e in edits if e.gold is not None), "gold's ")
    )
    if name in _FORM_HABITS:
        message = f"{_FORM_HABITS[name]}: {_format_renamings(edits)}"
    names = dict.fromkeys(
        location.argument for edit in edits if (location := edit.gold or edit.pred) and location.argument
    )
    if len(names) > 1 and all(edit.code in _ARGUMENT_CODES for edit in edits):
        where += f": {_format_names(names)}"
    return EditLine(name, tuple(group), where, len(edits), message, depth, mistakes)


def _format_renamings(edits: list[Edit]) -> str:
    """Names with gold's: ``'of' for '0', 'tone' for '1' and 2 more``."""
    renamings = dict.fromkeys(
        f"{edit.pred.argument!r} for {edit.gold.argument!r}" for edit in edits if edit.pred and edit.gold
    )
    more = f" and {len(renamings) - MAX_NAMED_ARGUMENTS} more" if len(renamings) > MAX_NAMED_ARGUMENTS else ""
    return ", ".join([*renamings][:MAX_NAMED_ARGUMENTS]) + more


def _find_habit_keys(diff: Diff) -> dict[int, Hashable]:
    """What each edit has in common with others of one habit; a habit that has a name is called by it."""
    keys = {
        index: _habit_key(diff, edit)
        for index, edit in enumerate(diff.edits)
        if edit.code not in _SINGLE_EDIT_CODES
    }
    bundles = bundle_edits(diff, keys)
    # what follows as the same again
    repeats = {keys[index]: bundle for index, bundle in bundles.items() if index in keys}
    keys |= {
        index: repeats[key]
        for index, key in keys.items()
        if key in repeats and diff.edits[index].cause is not None
    } | bundles
    extra = [i for i in keys if diff.edits[i].code == "argument.extra" and diff.edits[i].cause is None]
    if len(extra) >= MIN_EXTRA_ARGUMENTS:
        lumped = (i for i in extra if keys[i] != "empty argument" and not isinstance(keys[i], Bundle))
        keys |= dict.fromkeys(lumped, "argument.extra")
    return keys


def _habit_key(diff: Diff, edit: Edit) -> Hashable:
    code, pred, gold = edit.code, edit.pred, edit.gold
    if code in _HABIT_NAMES:
        return _HABIT_NAMES[code]
    if code == "argument.extra" and edit.pred_value in _EMPTY_VALUES:
        return "empty argument"
    if pred is not None and gold is not None and (key := _producer_or_name_key(edit, pred, gold)):
        return key
    if code in ("argument.value", "argument.type"):
        if _is_null_argument(diff, edit):
            return "null for value"
        name_form = name_writing_difference if code == "argument.value" else name_type_difference
        return name_form(edit.pred_value, edit.gold_value) or change_key(edit)
    if code == "call.duplicated" and pred is not None and pred.call is not None:
        call = diff.pred.calls[pred.call]
        return (
            code,
            call.tool,
            tuple((name, value_key(value, OWN_POSITIONS)) for name, value in call.arguments),
        )
    if code in ("argument.missing", "argument.extra") and gold is not None and gold.call is not None:
        return change_key(edit), diff.gold.calls[gold.call].tool
    return change_key(edit)


def _is_null_argument(diff: Diff, edit: Edit) -> bool:
    """Whether null is written as the whole of an argument for which gold has something."""
    pred = edit.pred
    if edit.pred_value is not None or pred is None or pred.call is None or pred.at:
        return False
    return (pred.argument, None) in diff.pred.calls[pred.call].arguments


def _producer_or_name_key(edit: Edit, pred: Place, gold: Place) -> Hashable:
    """What a wrong producer, or another name, has in common with others; None for what is neither."""
    code, pred_value, gold_value = edit.code, edit.pred_value, edit.gold_value
    if code == "reference.producer" and type(pred_value) is Ref and type(gold_value) is Ref:
        if pred_value.call == (pred.call or 0):
            return "result of itself"
        return code, pred_value.call, gold_value.call, pred_value.path == gold_value.path
    if code != "argument.renamed":
        return None
    if form := find_form_difference(edit):
        return f"{form}.arguments"
    value_keys = value_key(pred_value, OWN_POSITIONS), value_key(gold_value, OWN_POSITIONS)
    return code, pred[1:], gold[1:], () if value_keys[0] == value_keys[1] else value_keys


_HABIT_NAMES = {
    "name.spelling": "name.spelling",
    "argument.object": "argument.object",
    "reference.literal": "literal for result",
}
"""Codes of edits that are one habit whatever they are about, and what it is called."""

_FORM_HABITS = {
    "named.arguments": "arguments are named where gold gives positions",
    "positional.arguments": "arguments have positions where gold names them",
}
"""Habits of form, which a sentence of their own tells."""

_UNSHARED_ARGUMENT_CODES = {"argument.missing": "missing", "argument.extra": "not in gold"}
"""Codes of edits that follow from another tool, and what they say of arguments."""

_REPLACEMENT_CODES = ("call.replaced", "app.changed")

_ARGUMENT_CODES = (
    "argument.value", "argument.type", "argument.extra", "argument.renamed", "reference.literal",
    "reference.producer",
)  # fmt: skip
"""Codes of edits of which one habit may concern arguments of several names."""

_EMPTY_VALUES: tuple[Any, ...] = ("", None, [], {})

_SINGLE_EDIT_CODES = (
    "call.missing", "call.extra", "call.merged", "call.split", "order.broken", "order.steps",
    "arguments.swapped",
)  # fmt: skip
"""Codes of edits that say nothing of values: each is told for itself."""
