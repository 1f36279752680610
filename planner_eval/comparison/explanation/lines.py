"""Edits as lines: what is done again and again or belongs together on one, consequences under their cause."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.causes import change_key, is_amount, is_prose, name_wording
from planner_eval.comparison.explanation.edits import (
    EMPTY_VALUES,
    Edit,
    Place,
    find_form_difference,
    name_type_difference,
    name_writing_difference,
)
from planner_eval.comparison.explanation.merged_lines import (
    MIN_EXTRA_ARGUMENTS,
    OTHER_CALL,
    Bundle,
    bundle_edits,
    call_key,
)
from planner_eval.comparison.explanation.names import (
    CallNames,
    calls_numbers,
    is_computed,
    path_name,
    value_name,
)
from planner_eval.comparison.explanation.sentences import format_names
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Ref

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff


class EditLine(NamedTuple):
    """One edit, or several that are one habit, as told.

    Args:
        name: The code of the edit, or what the habit is called.
        edits: Positions in the diff's edits.
        calls: Where it is: ``calls 1, 3``; empty for a single edit, whose message says it.
        times: How often it is done.
        said: The sentence of the first, and what arguments a call of another tool has of it.
        depth: How far it stands below its root cause.
    """

    name: str
    edits: tuple[int, ...]
    calls: str
    times: int
    said: str
    depth: int

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
    in_passing: set[int] = set() if each else _find_in_passing(edits)
    following = {} if each else _find_following_amounts(edits, keys)
    groups: list[list[int]] = []
    group_of_edit: list[int] = []
    children: dict[int | None, list[int]] = {}
    group_numbers: dict[Hashable, int] = {}
    for index, edit in enumerate(edits):
        cause, key = following.get(index, edit.cause), keys.get(index, index)
        parent = None if cause is None else group_of_edit[cause]
        if parent is not None and (index in in_passing or keys.get(groups[parent][0]) == key):
            group = parent  # the same again follows from the first
        else:
            group = group_numbers.setdefault((parent, key), len(groups))
        if group == len(groups):
            groups.append([])
            children.setdefault(parent, []).append(group)
        groups[group].append(index)
        group_of_edit.append(group)
    lines = []
    stack = [(group, 0) for group in reversed(children.get(None, []))]
    while stack:
        group, depth = stack.pop()
        lines.append(_make_line(diff, keys, groups[group], in_passing, depth))
        stack += [(child, depth + 1) for child in reversed(children.get(group, []))]
    return lines


def habits_data(diff: Diff) -> list[dict[str, Any]]:
    """What is done again and again, as JSON data: its name, how often, and which edits it is."""
    lines = (line for line in make_edit_lines(diff) if line.times > 1)
    return [{"name": line.name, "count": line.times, "edits": list(line.edits)} for line in lines]


def _make_line(
    diff: Diff, keys: Mapping[int, Hashable], group: list[int], in_passing: set[int], depth: int
) -> EditLine:
    edits = [diff.edits[index] for index in group if index not in in_passing]
    first, key = edits[0], keys.get(group[0])
    message = first.message
    if len(edits) < len(group):
        message += _format_in_passing(diff, [diff.edits[index] for index in group if index in in_passing])
    if len(edits) == 1:
        if first.code == "argument.value" and (writing := _name_form(diff, first) or name_wording(first)):
            message += f"; {_WRITINGS[writing][0]}"
        name = key if isinstance(key, str) and key in _FORM_HABITS else first.code
        return EditLine(name, tuple(group), "", 1, message, depth)
    name = key if isinstance(key, str) else first.code
    if isinstance(key, Bundle):
        name, message = key.name, key.message
    elif name in _FORM_HABITS:
        renamings = (f"{e.pred.argument!r} for {e.gold.argument!r}" for e in edits if e.pred and e.gold)
        message = f"{_FORM_HABITS[name]}: {format_names(renamings)}"
    where = calls_numbers(edit.pred.call for edit in edits if edit.pred is not None)
    if all(edit.pred is None for edit in edits):
        where = calls_numbers((edit.gold.call for edit in edits if edit.gold is not None), "gold's ")
    places = (edit.gold or edit.pred for edit in edits)
    names = {place.argument: None for place in places if place is not None and place.argument}
    paths = {path_name(edit.pred.at): None for edit in edits if edit.pred is not None and edit.pred.at}
    if len(names) > 1 and all(edit.code in _ARGUMENT_CODES for edit in edits):
        where += f": {format_names(map(repr, names))}"
    elif len(paths) > 1 and not isinstance(key, Bundle):
        where += f": {format_names(paths)}"
    return EditLine(name, tuple(group), where, 1 if name == OTHER_CALL else len(edits), message, depth)


def _find_following_amounts(edits: Sequence[Edit], keys: Mapping[int, Hashable]) -> dict[int, int]:
    """Amounts that are told under the first other mistake of their call: what is paid follows from it."""
    roots: dict[int | None, int] = {}
    following: dict[int, int] = {}
    for index, edit in enumerate(edits):
        if edit.cause is not None or edit.pred is None or edit.pred.argument is None:
            continue
        key = keys.get(index)
        line = key.edits if isinstance(key, Bundle) else [index]
        if not is_amount(edit):
            roots.setdefault(edit.pred.call, index)
        elif edit.pred.call in roots and all(is_amount(edits[other]) for other in line):
            following[index] = roots[edit.pred.call]
    return following


def _find_in_passing(edits: Collection[Edit]) -> set[int]:
    """Consequences that the line of their cause has: of another tool, and of a call in the answer.

    Arguments that only one of two tools takes, where they are several, outputs that only one of them has;
    values of the answer that are a missing call's, or one's that is too much.
    """
    causes = {i: edit.code for i, edit in enumerate(edits) if edit.code in _CAUSE_CODES}
    arguments: dict[int, list[int]] = {}
    in_passing: set[int] = set()
    for index, edit in enumerate(edits) if causes else ():
        if edit.cause not in causes:
            continue
        if causes[edit.cause] not in _TOOL_CODES:
            if edit.code in _ANSWER_CODES:
                in_passing.add(index)
        elif edit.code in _UNSHARED_ARGUMENT_CODES:
            arguments.setdefault(edit.cause, []).append(index)
        elif edit.code in _OUTPUT_CODES:
            in_passing.add(index)
    return in_passing.union(*(indexes for indexes in arguments.values() if len(indexes) > 1))


def _format_in_passing(diff: Diff, edits: list[Edit]) -> str:
    """What a call lacks, has too much and gives as a call of another tool; what the answer has of a call."""
    number = CallNames.of(diff.pred, diff.gold, diff.alignment.pairs).their_number
    names: dict[str, dict[str, None]] = {}
    for edit in edits:
        place = edit.gold or edit.pred
        name = repr(place and place.argument)
        if edit.code in _OUTPUT_CODES:
            name = f"{path_name(edit.pred_value.path)!r} for {path_name(edit.gold_value.path)!r}"
        elif edit.code == "argument.missing":
            name = f"{place and place.argument}={value_name(edit.gold_value, number)}"
        names.setdefault(edit.code, {})[name] = None
    clauses = [
        f"{format_names(names[code])} {'are' if len(names[code]) > 1 else 'is'} {end}"
        for code, end in _UNSHARED_ARGUMENT_CODES.items()
        if code in names
    ]
    outputs = dict.fromkeys(name for code in _OUTPUT_CODES for name in names.get(code, ()))
    if outputs:
        clauses.append(f"its output is {format_names(outputs)}")
    clauses += [
        f"the answer {verb} {format_names(names[code])}"
        for code, verb in _ANSWER_CODES.items()
        if code in names
    ]
    return f"; so {', '.join(clauses)}"


# ---------------------------------------------------------------- habits
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
    for index, key in keys.items() if repeats else ():
        if key in repeats and diff.edits[index].cause is not None:
            keys[index] = repeats[key]
    keys |= bundles
    extra = [i for i in keys if diff.edits[i].code == "argument.extra" and diff.edits[i].cause is None]
    extra = [i for i in extra if keys[i] != "empty argument" and not isinstance(keys[i], Bundle)]
    if len(extra) >= MIN_EXTRA_ARGUMENTS:
        keys |= dict.fromkeys(extra, "argument.extra")
    return keys


def _habit_key(diff: Diff, edit: Edit) -> Hashable:
    code, pred, gold = edit.code, edit.pred, edit.gold
    if code in _HABIT_NAMES:
        return _HABIT_NAMES[code]
    if code == "argument.extra" and edit.pred_value in EMPTY_VALUES:
        return "empty argument"
    if code == "call.duplicated" and pred is not None and pred.call is not None:
        return code, *call_key(diff.pred, pred.call)
    if pred is None or gold is None:
        return change_key(edit)
    if code in ("argument.value", "argument.type"):
        null = edit.pred_value is None and pred.call is not None and not pred.at
        if null and (pred.argument, None) in diff.pred.calls[pred.call or 0].arguments:
            return "null for value"
        return _name_form(diff, edit) or change_key(edit)
    if code in ("argument.missing", "argument.extra") and gold.call is not None:
        moved = edit.cause is not None and diff.edits[edit.cause].code == "argument.value"
        return (code, gold.argument) if moved else (change_key(edit), diff.gold.calls[gold.call].tool)
    return _producer_or_name_key(edit, pred, gold) or change_key(edit)


def _name_form(diff: Diff, edit: Edit) -> str | None:
    """How two values differ that say the same; in a calculation nothing says that one is a per cent."""
    values = edit.pred_value, edit.gold_value
    if edit.code == "argument.type":
        return name_type_difference(*values)
    form, call = name_writing_difference(*values), diff.gold.calls[(edit.gold and edit.gold.call) or 0]
    return "factor 100" if form and type(edit.gold_value) is not str and is_computed(call) else form


def name_light_kinds(diff: Diff) -> list[str]:
    """In what plans differ that differ in form, type or free text alone; empty where they differ in more."""
    kinds = set[str]()
    for edit in diff.roots:
        if (kind := _name_light_kind(diff, edit)) is None:
            return []
        kinds.add(kind)
    return sorted(kinds)


def _name_light_kind(diff: Diff, edit: Edit) -> str | None:
    """What an edit is about: ``form``, ``type`` or ``free text``; None of what is, or may be, more."""
    is_empty = edit.code == "argument.extra" and edit.pred_value in EMPTY_VALUES
    if edit.code in ("name.spelling", "argument.object") or is_empty or find_form_difference(edit):
        return "form"
    if edit.code not in ("argument.value", "argument.type"):
        return None
    writing = _name_form(diff, edit) or name_wording(edit) or ""
    kind = _WRITINGS.get(writing, (None, "type" if writing else None))[1]
    values = edit.pred_value, edit.gold_value
    is_prose_alone = kind != "free text" or all(map(is_prose, values))
    pred_words, gold_words = ({*_END_MARK.sub("", f"{value}").split()} for value in values)
    is_of_words = writing not in _WORD_WRITINGS or all(map(_PLAIN_WORD.fullmatch, pred_words ^ gold_words))
    return kind if is_prose_alone and is_of_words else None


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
    "reference.unwanted": "result for literal",
}
"""Codes of edits that are one habit whatever they are about, and what it is called."""

_WRITINGS = {
    "letter case": ("letter case differs", "form"),
    "end mark": ("only letter case or the mark at the end differs", "form"),
    "spacing": ("only the blanks differ", "form"),
    "brackets or quotes": ("only brackets or quotes differ", "form"),
    "date format": ("the date has another format", "form"),
    "time format": ("the time has another format", "form"),
    "date without year": ("the same day, without the year", "form"),
    "date with year": ("the same day, with a year", "form"),
    "plural": ("only singular and plural differ", None),
    "free text": ("both are free text", "free text"),
    "more words": ("gold's words and more", "free text"),
    "cut gold": ("gold's text may break off within a word", None),
    "fewer words": ("a part of gold's words", "free text"),
    "per cent for fraction": ("a per cent for a fraction", None),
    "fraction for per cent": ("a fraction for a per cent", None),
    "factor 100": ("one is a hundred times the other", None),
}
"""What is said of one value that differs from another in how it is written, and what of the whole difference:
a per cent for a fraction is wrong where the tool asks for the one."""

_WORD_WRITINGS = frozenset({"letter case", "end mark", "spacing"})
_END_MARK = re.compile(r"(?<=[^\W\d_])[.,;:!?]++(?=\s|\Z)")
_PLAIN_WORD = re.compile(r"[\[{('\"]*+[^\W\d_]{3,}[\]})'\",]*+")
"""A word that is no unit, code, path or address, where letter case counts: ``5 M`` is no ``5 m``."""

_FORM_HABITS = {
    "named.arguments": "arguments are named, expected by position",
    "positional.arguments": "arguments are given by position, expected by name",
}
"""Habits of form, which a sentence of their own tells."""

_UNSHARED_ARGUMENT_CODES = {"argument.missing": "missing", "argument.extra": "not in gold"}
"""Codes of edits that follow from another tool, and what they say of arguments."""

_TOOL_CODES = ("call.replaced", "app.changed")
_CAUSE_CODES = (*_TOOL_CODES, "call.missing", "call.extra", "call.duplicated")
"""Codes of edits whose lines tell some of what follows from them."""

_ANSWER_CODES = {"answer.missing": "lacks", "answer.extra": "has an extra"}
"""Codes of edits of the answer that follow from a call, and what they say of its values."""

_OUTPUT_CODES = ("reference.output", "answer.output")
"""Codes of edits that follow from another tool where its output has another name."""

_ARGUMENT_CODES = (
    "argument.value", "argument.type", "argument.extra", "argument.renamed", "reference.literal",
    "reference.producer", "reference.unwanted",
)  # fmt: skip
"""Codes of edits of which one habit may concern arguments of several names."""

_SINGLE_EDIT_CODES = (
    "call.missing", "call.extra", "call.merged", "call.split", "order.broken", "order.steps",
    "arguments.swapped",
)  # fmt: skip
"""Codes of edits that say nothing of values: each is told for itself."""
