"""Edits as lines: what is done again and again or belongs together on one, consequences under their cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.argument_names import find_form_difference
from planner_eval.comparison.explanation.causes import change_key, find_lookups, is_conversation
from planner_eval.comparison.explanation.edits import (
    Edit,
    Place,
    name_type_difference,
    name_writing_difference,
)
from planner_eval.comparison.explanation.line_sentences import LineWording
from planner_eval.comparison.explanation.multi_call_edits import find_nearest_call
from planner_eval.comparison.explanation.names import (
    CallNames,
    calls_numbers,
    computes,
    links_of,
    no_call_suffix,
    path_name,
    value_name,
)
from planner_eval.comparison.explanation.partners import CALLS_PER_SHARED_CALL
from planner_eval.comparison.explanation.prices import Proposal, choose_cheapest
from planner_eval.comparison.explanation.sentences import format_names
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Plan, Ref

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff

MIN_TRAILING_EXTRA, MIN_TRAILING_MISSING = 3, 4
"""So many calls at the end that gold has not, or that only gold has, are one sentence."""

MIN_EXTRA_ARGUMENTS = 3
"""So many arguments too much are one habit, whatever they are."""


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
    groups: list[list[int]] = []
    group_of_edit: list[int] = []
    children: dict[int | None, list[int]] = {}
    group_numbers: dict[Hashable, int] = {}
    for index, edit in enumerate(edits):
        parent, key = None if edit.cause is None else group_of_edit[edit.cause], keys.get(index, index)
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
        writing = first.code == "argument.value" and name_writing_difference(
            first.pred_value, first.gold_value
        )
        message += f"; {_WRITINGS[writing]}" if writing in _WRITINGS else ""
        return EditLine(first.code, tuple(group), "", 1, message, depth)
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
    return EditLine(name, tuple(group), where, len(edits), message, depth)


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
    if code == "call.duplicated" and pred is not None and pred.call is not None:
        return code, *_call_key(diff.pred, pred.call)
    if pred is None or gold is None:
        return change_key(edit)
    if code in ("argument.value", "argument.type"):
        null = edit.pred_value is None and pred.call is not None and not pred.at
        if null and (pred.argument, None) in diff.pred.calls[pred.call or 0].arguments:
            return "null for value"
        name_form = name_writing_difference if code == "argument.value" else name_type_difference
        return name_form(edit.pred_value, edit.gold_value) or change_key(edit)
    if code in ("argument.missing", "argument.extra") and gold.call is not None:
        return change_key(edit), diff.gold.calls[gold.call].tool
    return _producer_or_name_key(edit, pred, gold) or change_key(edit)


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


def _call_key(plan: Plan, position: int) -> tuple[Hashable, ...]:
    call = plan.calls[position]
    return call.tool, tuple((name, value_key(value, OWN_POSITIONS)) for name, value in call.arguments)


_HABIT_NAMES = {
    "name.spelling": "name.spelling",
    "argument.object": "argument.object",
    "reference.literal": "literal for result",
    "reference.unwanted": "result for literal",
}
"""Codes of edits that are one habit whatever they are about, and what it is called."""

_WRITINGS = {
    "letter case": "letter case differs",
    "date format": "the date has another format",
    "time format": "the time has another format",
    "per cent for fraction": "a per cent for a fraction",
    "fraction for per cent": "a fraction for a per cent",
}
"""What is said of one value that differs from another in how it is written."""

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

_EMPTY_VALUES: tuple[Any, ...] = ("", None, [], {})

_SINGLE_EDIT_CODES = (
    "call.missing", "call.extra", "call.merged", "call.split", "order.broken", "order.steps",
    "arguments.swapped",
)  # fmt: skip
"""Codes of edits that say nothing of values: each is told for itself."""


# ---------------------------------------------------------------- bundles
class Bundle(NamedTuple):
    """Edits that are told in one sentence.

    Args:
        name: What they are called.
        message: The sentence.
        edits: Their positions in the diff's edits.
    """

    name: str
    message: str
    edits: tuple[int, ...]


IndexedEdits = list[tuple[int, Edit]]


class Roots(NamedTuple):
    """The root causes of a difference that no line tells yet.

    Args:
        diff: The comparison.
        names: How calls are called.
        edits: The edits with their positions among all.
    """

    diff: Diff
    names: CallNames
    edits: IndexedEdits

    def by_code(self, code: str) -> dict[int, tuple[int, Edit]]:
        """The edits of a code about whole calls, by their call."""
        found = {}
        for index, edit in self.edits:
            place = edit.pred if edit.pred is not None else edit.gold
            if edit.code == code and place is not None and place.call is not None:
                found[place.call] = index, edit
        return found

    def grouped(self, key: Callable[[Edit], Hashable]) -> Iterator[IndexedEdits]:
        """Two or more edits of one key; what has none belongs to nothing."""
        groups: dict[Hashable, IndexedEdits] = {}
        for index, edit in self.edits:
            if (group_key := key(edit)) is not None:
                groups.setdefault(group_key, []).append((index, edit))
        return (group for group in groups.values() if len(group) > 1)

    def argument(self, edit: Edit) -> tuple[str | None, str]:
        """The tool of the call of an edit, None for the answer, and gold's argument."""
        call = edit.pred.call if edit.pred is not None else None
        tool = None if call is None else self.diff.pred.calls[call].tool
        return tool, (edit.gold and edit.gold.argument) or ""


def bundle_edits(diff: Diff, keys: Mapping[int, Hashable]) -> dict[int, Bundle]:
    """Which edits are told together; none is told twice.

    Args:
        diff: The comparison.
        keys: What edits have in common with others of one habit; a text is its name.

    Returns:
        The line of each edit that is told with others.
    """
    bundles: dict[int, Bundle] = {}
    roots = Roots(diff, CallNames.of(diff.pred, diff.gold, diff.alignment.pairs), [])
    wording = LineWording(diff.pred, diff.gold, roots.names)
    remaining = [
        (index, edit)
        for index, edit in enumerate(diff.edits)
        if edit.cause is None and not isinstance(keys.get(index), str)
    ]
    while len(remaining) > 1:  # what one line does not tell another may
        roots = roots._replace(edits=remaining)
        chosen = choose_cheapest(proposal for propose in BUNDLES for proposal in propose(roots))
        if not chosen:
            break
        for name, positions, data in chosen:
            edits = [diff.edits[index] for index in positions]
            message = wording.write(name, edits, data)
            if 0 in positions and (suffix := no_call_suffix(diff.pred, diff.gold)) not in message:
                message += suffix  # the first edit's own sentence ends so
            code = _BUNDLE_NAMES.get(name, edits[0].code)
            bundle = Bundle(code, message, positions)
            bundles.update(dict.fromkeys(positions, bundle))
        remaining = [(index, edit) for index, edit in remaining if index not in bundles]
    return bundles


_BUNDLE_NAMES = {
    "lookup": "lookup",
    "links": "missing link",
    "other computation": "other computation",
    "other answer": "other answer",
}
"""What bundles are called that have a name of their own; others go by the code of their first edit."""


def _propose(name: str, group: Iterable[tuple[int, Edit]], data: Any = None) -> Proposal:
    return Proposal(name, tuple(index for index, _ in group), data)


def _propose_lookups(roots: Roots) -> Iterator[Proposal]:
    """What an agent looks up, and thinks, between the calls that gold lists."""
    lookups = find_lookups(roots.diff.edits, roots.diff.pred, roots.diff.gold)
    talks = is_conversation(roots.diff.pred)
    group = [
        (index, edit)
        for index, edit in roots.edits
        if edit.pred
        and edit.pred.call in lookups
        and (talks or edit.own is not None or edit.code != "call.extra")
    ]
    times = Counter(roots.argument(edit)[0] for _, edit in group)
    least = 2 if talks else MIN_TRAILING_EXTRA
    if len(group) >= least and len(times) > 1:  # else their arguments are told
        yield _propose("lookup", group, times)


def _propose_computations(roots: Roots) -> Iterator[Proposal]:
    """Another computation, of which hardly a call has a partner."""
    pred, gold, pairs = roots.diff.pred, roots.diff.gold, roots.diff.alignment.pairs
    fewer = min(len(pred.calls), len(gold.calls))
    if fewer > 1 and CALLS_PER_SHARED_CALL * len(pairs) < fewer and computes(pred, gold):
        yield _propose("other computation", roots.edits)


def _propose_groups(roots: Roots) -> Iterator[Proposal]:
    """Edits that have one thing in common, by the table :data:`GROUPS`."""
    for name, key, may_be_one in GROUPS:
        for group in roots.grouped(lambda edit, key=key: key(roots, edit)):  # type: ignore[misc]
            if may_be_one is None or may_be_one(roots, group):
                changed_first = sorted(group, key=lambda root: root[1].code == "argument.extra")
                yield _propose(name, changed_first)


def _item_key(_: Roots, edit: Edit) -> Hashable:
    """The item of a list in which a value is wrong."""
    if edit.code not in _VALUE_CODES or edit.pred is None or edit.also:
        return None
    path = edit.pred.at
    first = next((n for n, step in enumerate(path) if type(step) is int), None)
    return None if first is None else (edit.pred.call, edit.pred.argument, path[: first + 1])


def _same_way_key(roots: Roots, edit: Edit) -> Hashable:
    """The list whose items are wrong, and in what."""
    item = _item_key(roots, edit)
    if not isinstance(item, tuple) or edit.pred is None:
        return None
    *argument, path = item
    return edit.code, *argument, path[:-1], tuple(step for step in edit.pred.at if type(step) is str)


def _same_value_key(roots: Roots, edit: Edit) -> Hashable:
    """The tool and the argument that have a value, a distinctive one or a list, in place of others."""
    value = edit.pred_value
    if edit.code not in _VALUE_CODES or not _is_whole_argument(edit):
        return None
    if not is_distinctive(value) and not (type(value) is list and len(value) > 1):
        return None
    return edit.code, roots.argument(edit), value_key(value, OWN_POSITIONS)


def _copied_value_key(_: Roots, edit: Edit) -> Hashable:
    """The call that has a value as wrong arguments and as some that gold has not."""
    if edit.code not in ("argument.value", "argument.extra") or not _is_whole_argument(edit):
        return None
    if not is_distinctive(edit.pred_value) or edit.pred is None or edit.pred.call is None:
        return None
    return edit.pred.call, value_key(edit.pred_value, OWN_POSITIONS)


def _missing_argument_key(roots: Roots, edit: Edit) -> tuple[Any, ...] | None:
    """The tool and the argument that is missing."""
    whole = edit.code == "argument.missing" and _is_whole_argument(edit) and not _is_missing_link(roots, edit)
    return roots.argument(edit) if whole else None


def _is_missing_link(roots: Roots, edit: Edit) -> bool | None:
    """Whether a link without an argument is missing; None where it is not."""
    link = edit.code == "argument.missing" and links_of(roots.argument(edit)[1], edit.gold_value)
    return True if link else None


def _has_several_gold_values(roots: Roots, group: IndexedEdits) -> bool:
    return len({value_name(edit.gold_value, roots.names.their_number) for _, edit in group}) > 1


GROUPS: tuple[
    tuple[str, Callable[[Roots, Edit], Hashable], Callable[[Roots, IndexedEdits], bool] | None], ...
]
GROUPS = (
    ("items", _same_way_key, None),
    ("item", _item_key, None),
    ("same value", _same_value_key, _has_several_gold_values),
    ("copied value", _copied_value_key,
     lambda _, group: [edit.code for _, edit in group].count("argument.value") == 1),
    ("missing throughout", _missing_argument_key, _has_several_gold_values),
    ("missing together",
     lambda roots, edit: edit.pred and edit.pred.call if _missing_argument_key(roots, edit) else None, None),
    ("links", _is_missing_link, None),
    ("other answer", lambda _, edit: True if edit.code.startswith("answer.") else None,
     lambda roots, group: bool(roots.diff.pred.answer and roots.diff.gold.answer)
     and {edit.code for _, edit in group} != {"answer.missing"}),
    ("missing answer", lambda _, edit: True if edit.code == "answer.missing" else None, None),
)  # fmt: skip
"""What edits are told together that have something in common: what they are called, what that is, and what
else has to be true of them."""


def _propose_repeated_runs(roots: Roots) -> Iterator[Proposal]:
    """Calls in a row that repeat calls in a row."""
    duplicates, plan = roots.by_code("call.duplicated"), roots.diff.pred
    if len(duplicates) < 2:
        return
    first: dict[Hashable, int] = {}
    twins = [first.setdefault(_call_key(plan, position), position) for position in range(len(plan.calls))]
    repeats = [call for call in sorted(duplicates) if twins[call] < call]
    for run in _find_runs(repeats, lambda call: twins[call] - call):
        yield _propose("repeated run", [duplicates[call] for call in run], [twins[call] for call in run])


def _propose_tries(roots: Roots) -> Iterator[Proposal]:
    """Calls that are made again and again with few other values."""
    pairing = roots.diff.matching.pairing if roots.diff.matching is not None else None
    extra = {call: root for call, root in roots.by_code("call.extra").items() if pairing is not None}
    tools = Counter(roots.diff.pred.calls[call].tool for call in extra)
    tries: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    firsts: list[int] = []
    for call in extra:
        assert pairing is not None
        again = tools[roots.diff.pred.calls[call].tool] > 1 and not pairing.pred.users[call]
        if not again:
            continue
        if nearest := find_nearest_call(pairing, call) or find_nearest_call(pairing, call, firsts):
            tries.setdefault(nearest.call, []).append((call, nearest.names))
        else:
            firsts.append(call)
    for near_call, calls in tries.items():
        if len(calls) > 1:
            yield _propose("tries", [extra[call] for call, _ in calls], (near_call, calls))


def _propose_ends(roots: Roots) -> Iterator[Proposal]:
    """A plan that goes on, or stops, where the other one does not."""
    diff, pairs = roots.diff, roots.diff.alignment.pairs
    if not pairs:
        return
    extra, missing = roots.by_code("call.extra"), roots.by_code("call.missing")
    if is_conversation(diff.pred):
        lookups = find_lookups(diff.edits, diff.pred, diff.gold)
        extra = {call: root for call, root in extra.items() if call not in lookups}
    tail = _find_tail(extra, len(diff.pred.calls))
    if len(tail) >= MIN_TRAILING_EXTRA:
        yield _propose("end", [extra[call] for call in tail], (tail, None))
    tail = _find_tail(missing, len(diff.gold.calls))
    last = max(pred for pred, _ in pairs)
    if len(tail) >= MIN_TRAILING_MISSING and last == len(diff.pred.calls) - 1:
        yield _propose("end", [missing[call] for call in tail], (tail, last))


def _find_tail(calls: Collection[int], end: int) -> list[int]:
    """The last calls of a plan, in order, as far as they are among some."""
    start = end
    while start - 1 in calls:
        start -= 1
    return [*range(start, end)]


def _propose_tool_runs(roots: Roots) -> Iterator[Proposal]:
    """Calls of one tool in a row that gold has not, or that only gold has; tries say more for themselves."""
    extra, missing = roots.by_code("call.extra"), roots.by_code("call.missing")
    extra = {call: root for call, root in extra.items() if root[1].own is not None}
    for calls, plan in ((extra, roots.diff.pred), (missing, roots.diff.gold)):
        for run in _find_runs(sorted(calls), lambda call, plan=plan: plan.calls[call].tool):  # type: ignore[misc]
            yield _propose("run", [calls[call] for call in run], run)


def _find_runs(calls: Iterable[int], key: Callable[[int], Hashable]) -> Iterator[list[int]]:
    """Two or more calls of one key that follow one another, of some in their order."""
    runs: list[list[int]] = []
    for call in calls:
        if runs and call == runs[-1][-1] + 1 and key(call) == key(runs[-1][-1]):
            runs[-1].append(call)
        else:
            runs.append([call])
    return (run for run in runs if len(run) > 1)


_VALUE_CODES = ("argument.value", "argument.type")


def _is_whole_argument(edit: Edit) -> bool:
    """Whether an edit is about a whole argument of two partners."""
    return edit.pred is not None and edit.gold is not None and not edit.pred.at and not edit.also


BUNDLES: tuple[Callable[[Roots], Iterator[Proposal]], ...] = (
    _propose_lookups, _propose_computations, _propose_groups, _propose_repeated_runs, _propose_tries,
    _propose_ends, _propose_tool_runs,
)  # fmt: skip
"""What may be one line; of those that save as much the first is taken."""
