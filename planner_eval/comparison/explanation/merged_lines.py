"""Edits that are told in one line: what such a line costs, which edits it may tell, and its sentence.

Of all lines that may be, those are chosen that tell most edits. A line is a row of :data:`LINES`; what it may
tell is found by a function of :data:`PROPOSERS`, or by a row of :data:`GROUPS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.causes import find_lookups, is_conversation, is_prose
from planner_eval.comparison.explanation.edits import Edit, kind_name
from planner_eval.comparison.explanation.names import (
    MAX_LISTED,
    CallNames,
    calls_numbers,
    cut_list,
    find_runs,
    format_list,
    links_of,
    no_call_suffix,
    tool_label,
    value_name,
)
from planner_eval.comparison.explanation.sentences import (
    argument_name,
    argument_path_name,
    narrow_difference,
)
from planner_eval.comparison.matching.pairing import MISSING
from planner_eval.comparison.matching.replaced import NearCall, find_nearest_call, is_identifier
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Call, Path, Plan, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff
    from planner_eval.comparison.matching.pairing import Pairing

MIN_TRAILING_EXTRA, MIN_TRAILING_MISSING = 3, 4
"""So many calls at the end that gold has not, or that only gold has, are one sentence."""


OTHER_CALL = "other call"
"""What the line is called of a call that is made for another: one mistake, of two edits."""


MIN_EXTRA_ARGUMENTS = 3
"""So many arguments too much are one habit, whatever they are, and of one call one sentence."""


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


class Proposal(NamedTuple):
    """A line that may be told in the place of several edits.

    Args:
        name: Its row in :data:`LINES`.
        edits: The positions of the edits.
        data: What its sentence needs beside them.
    """

    name: str
    edits: tuple[int, ...]
    data: Any = None

    @property
    def rank(self) -> tuple[int, int]:
        """Which is chosen first: what tells more edits, then the earlier row."""
        return -len(self.edits), [*LINES].index(self.name)


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

    @property
    def pairing(self) -> Pairing | None:
        """Which calls are partners; None where all are equal."""
        return self.diff.matching and self.diff.matching.pairing

    def by_code(self, code: str) -> dict[int, tuple[int, Edit]]:
        """The edits of a code about whole calls, by their call."""
        places = [(edit.pred or edit.gold, (index, edit)) for index, edit in self.edits if edit.code == code]
        return {place.call: root for place, root in places if place and place.call is not None}

    def grouped(self, key: Callable[[Roots, Edit], Hashable]) -> Iterator[IndexedEdits]:
        """Two or more edits of one key; what has none belongs to nothing."""
        groups: dict[Hashable, IndexedEdits] = {}
        for index, edit in self.edits:
            if (group_key := key(self, edit)) is not None:
                groups.setdefault(group_key, []).append((index, edit))
        return (group for group in groups.values() if len(group) > 1)

    def call(self, edit: Edit) -> Call:
        """The prediction's call of an edit that is about one."""
        return self.diff.pred.calls[(edit.pred and edit.pred.call) or 0]


def bundle_edits(diff: Diff, keys: Mapping[int, Hashable]) -> dict[int, Bundle]:
    """Which edits are told together; none is told twice.

    Args:
        diff: The comparison.
        keys: What edits have in common with others of one habit; a text is its name.

    Returns:
        The line of each edit that is told with others.
    """
    bundles: dict[int, Bundle] = {}
    remaining = [
        (index, edit)
        for index, edit in enumerate(diff.edits)
        if edit.cause is None and not isinstance(keys.get(index), str)
    ]
    names = CallNames.of(diff.pred, diff.gold, diff.alignment.pairs)
    while remaining:  # what one line does not tell another may
        roots = Roots(diff, names, remaining)
        chosen = choose_cheapest(proposal for propose in PROPOSERS for proposal in propose(roots))
        if not chosen:
            break
        for name, positions, data in chosen:
            edits = [diff.edits[index] for index in positions]
            message = LINES[name](roots, edits, data)
            if 0 in positions and (suffix := no_call_suffix(diff.pred, diff.gold)) not in message:
                message += suffix  # the first edit's own sentence ends so
            code = _LINE_NAMES.get(name, edits[0].code)
            bundles.update(dict.fromkeys(positions, Bundle(code, message, positions)))
        remaining = [(index, edit) for index, edit in remaining if index not in bundles]
    return bundles


def choose_cheapest(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Proposals that share no edit, by their ranks; of equal ones the earlier.

    Of 7,847 pairs of plans there was none of which another set of lines had saved more.

    >>> proposals = [Proposal("run", (0, 1)), Proposal("end", (0, 1, 2))]
    >>> [proposal.edits for proposal in choose_cheapest(proposals)]
    [(0, 1, 2)]
    """
    chosen: list[Proposal] = []
    covered: set[int] = set()
    for proposal in sorted(proposals, key=lambda proposal: proposal.rank):
        if covered.isdisjoint(proposal.edits):
            covered.update(proposal.edits)
            chosen.append(proposal)
    return chosen


# ---------------------------------------------------------------- which edits a line may tell
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
    times = Counter(roots.call(edit).tool for _, edit in group)
    least = 2 if talks else MIN_TRAILING_EXTRA
    if len(group) >= least and len(times) > 1:  # else their arguments are told
        yield _propose("lookup", group, times)


def _propose_groups(roots: Roots) -> Iterator[Proposal]:
    """Edits that have one thing in common, by the table :data:`GROUPS`."""
    for name, key, may_be_one in GROUPS:
        for group in roots.grouped(key):
            if may_be_one is None or may_be_one(roots, group):
                yield _propose(name, group)


_VALUE_CODES = ("argument.value", "argument.type")


def _is_whole_argument(edit: Edit) -> bool:
    """Whether an edit is about a whole argument of two partners."""
    return edit.pred is not None and edit.gold is not None and not edit.pred.at and not edit.also


def _item_key(_: Roots, edit: Edit) -> tuple[Any, ...] | None:
    """The item of a list, or the object, in which a value is wrong."""
    if edit.code not in _VALUE_CODES or edit.pred is None or edit.also:
        return None
    path = edit.pred.at
    end = next((n + 1 for n, step in enumerate(path) if type(step) is int), len(path) - 1)
    return (edit.pred.call, edit.pred.argument, path[:end]) if path else None


def _same_way_key(roots: Roots, edit: Edit) -> Hashable:
    """The list whose items are wrong, and in what."""
    item = _item_key(roots, edit)
    if item is None or edit.pred is None:
        return None
    *argument, path = item
    return edit.code, *argument, path[:-1], tuple(step for step in edit.pred.at if type(step) is str)


def _same_argument_key(roots: Roots, edit: Edit) -> Hashable:
    """The tool and the argument that is missing, or has other words than gold's, call by call."""
    name = argument_name(edit.gold)
    if edit.code not in ("argument.missing", "argument.value") or not _is_whole_argument(edit):
        return None
    if links_of(name, edit.gold_value):
        return None
    is_worded = kind_name(edit.pred_value) in ("text", "list") and not is_identifier(name, edit.pred_value)
    is_habit = edit.code == "argument.missing" or is_worded
    return (edit.code, roots.call(edit).tool, name) if is_habit else None


def _is_one_habit(_: Roots, group: IndexedEdits) -> bool:
    """Whether an argument is missing, holds one value for several, or is prose that is worded otherwise."""
    values = {value_key(edit.pred_value, OWN_POSITIONS) for _, edit in group}
    return len(values) == 1 or all(
        is_prose(edit.pred_value) and is_prose(edit.gold_value) for _, edit in group
    )


def _missing_argument_key(_: Roots, edit: Edit) -> Hashable:
    """The call that lacks an argument."""
    whole = edit.code == "argument.missing" and _is_whole_argument(edit)
    is_link = whole and links_of(argument_name(edit.gold), edit.gold_value)
    return edit.pred and edit.pred.call if whole and not is_link else None


def _extra_argument_key(roots: Roots, edit: Edit) -> Hashable:
    """The tool and the argument that it is given too much, in several calls."""
    is_value = edit.code == "argument.extra" and not links_of(argument_name(edit.pred), edit.pred_value)
    return (roots.call(edit).tool, argument_name(edit.pred)) if is_value else None


GROUPS: tuple[
    tuple[str, Callable[[Roots, Edit], Hashable], Callable[[Roots, IndexedEdits], bool] | None], ...
] = (
    ("items", _same_way_key, None),
    ("item", _item_key, None),
    ("same argument", _same_argument_key, _is_one_habit),
    ("extra throughout", _extra_argument_key,
     lambda _, group: len({value_name(edit.pred_value) for _, edit in group}) > 1),
    ("extra together",
     lambda _, edit: edit.pred and edit.pred.call if edit.code == "argument.extra" else None,
     lambda _, group: len(group) >= MIN_EXTRA_ARGUMENTS),
    ("missing together", _missing_argument_key, None),
    ("other answer", lambda _, edit: True if edit.code.startswith("answer.") else None,
     lambda roots, group: bool(roots.diff.pred.answer and roots.diff.gold.answer)
     and {edit.code for _, edit in group} != {"answer.missing"}),
    ("missing answer", lambda _, edit: True if edit.code == "answer.missing" else None, None),
)  # fmt: skip
"""What edits are told together that have something in common: the line, what that is, and what else has to be
true of them."""


def call_key(plan: Plan, position: int) -> tuple[Hashable, ...]:
    """What equal calls have in common."""
    call = plan.calls[position]
    return call.tool, tuple((name, value_key(value, OWN_POSITIONS)) for name, value in call.arguments)


def _propose_repeated_runs(roots: Roots) -> Iterator[Proposal]:
    """Calls in a row that repeat calls in a row: the prediction's, and gold's that are missing.

    Of equal calls the one is repeated that is needed by most that have partners, and has one itself.
    """
    if (pairing := roots.pairing) is None:
        return
    sides = (
        (pairing.pred, pairing.to_gold, "call.duplicated"),
        (pairing.gold, pairing.to_pred, "call.missing"),
    )
    for plan_calls, partner, code in sides:
        repeats, numbers = roots.by_code(code), plan_calls.numbered.numbers
        if len(repeats) < 2:
            continue
        needs = [[call, *(use.consumer for use in users)] for call, users in enumerate(plan_calls.users)]
        ranked = sorted((sum(partner[user] >= 0 for user in near), -near[0]) for near in needs)
        twins = {numbers[-call]: -call for _, call in ranked}
        offsets = {call: twins[numbers[call]] - call for call in sorted(repeats) if numbers[call] is not None}
        for run in find_runs([call for call in offsets if offsets[call]], offsets.__getitem__):
            if len(run) > 1:
                yield _propose("repeated run", [repeats[call] for call in run], (run, offsets[run[0]]))


def _propose_tries(roots: Roots) -> Iterator[Proposal]:
    """Calls that are made again and again, with few other values or with the same."""
    if (pairing := roots.pairing) is None:
        return
    extra, again = roots.by_code("call.extra"), roots.by_code("call.duplicated")
    tries: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    firsts: list[int] = []
    numbers = pairing.pred.numbered.numbers
    for call in (*extra, *again):
        if pairing.pred.users[call]:
            continue
        equals = [near for near, _ in pairing.pairs() if call in again and numbers[near] == numbers[call]]
        nearest = NearCall(equals[0], ()) if equals else find_nearest_call(pairing, call)
        nearest = nearest or find_nearest_call(pairing, call, firsts)
        if nearest:
            tries.setdefault(nearest.call, []).append((call, nearest.names))
        elif call in extra:
            firsts.append(call)
    for near_call, near_repeats in tries.items():
        if len(near_repeats) > 1 and any(names for _, names in near_repeats):
            group = [(extra | again)[call] for call, _ in near_repeats]
            yield _propose("tries", group, (near_call, near_repeats))


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
    for code, plan in (("call.extra", roots.diff.pred), ("call.missing", roots.diff.gold)):
        calls = {call: root for call, root in roots.by_code(code).items() if root[1].own is not None}
        tools = [call.tool for call in plan.calls]
        for run in find_runs(sorted(calls), tools.__getitem__):
            if len(run) > 1:
                yield _propose("run", [calls[call] for call in run], run)


def _propose_other_call(roots: Roots) -> Iterator[Proposal]:
    """The one call that is missing, and the one made at its place, of a tool that gold never calls."""
    diff, missing = roots.diff, roots.by_code("call.missing")
    if (
        len(missing) != 1
        or diff.gold.edges
        or diff.pred.edges
        or [e.code for e in diff.roots].count("call.missing") != 1
    ):
        return
    lookups = find_lookups(diff.edits, diff.pred, diff.gold)
    extra, gold_tools = roots.by_code("call.extra"), {call.tool for call in diff.gold.calls}
    for gold, lacking in missing.items():
        made = [
            pred
            for pred in diff.alignment.extra
            if pred not in lookups and all((p < pred) == (g < gold) for p, g in diff.alignment.pairs)
        ]
        root = extra.get(made[0]) if len(made) == 1 else None
        if root and root[1].own is not None and roots.call(root[1]).tool not in gold_tools:
            yield _propose("other call", (lacking, root))


PROPOSERS: tuple[Callable[[Roots], Iterator[Proposal]], ...] = (
    _propose_lookups, _propose_groups, _propose_repeated_runs, _propose_tries,
    _propose_ends, _propose_tool_runs, _propose_other_call,
)  # fmt: skip
"""What may be one line; of those that save as much the first is taken."""


# ---------------------------------------------------------------- sentences
def _write_lookups(_: Roots, edits: list[Edit], times: Mapping[str, int]) -> str:
    tools = (f"{tool} ×{count}" if count > 1 else f"{tool}" for tool, count in times.items())
    return f"gold lists none of them: {', '.join(tools)}"


def _write_items(_: Roots, edits: list[Edit], data: None) -> str:
    return "; ".join(cut_list([edits[0].message, *(edit.own or edit.message for edit in edits[1:])]))


def _write_same_argument(roots: Roots, edits: list[Edit], data: None) -> str:
    names, first, texts = roots.names, edits[0], []
    for edit in edits:
        pred = "missing" if edit.code == "argument.missing" else value_name(edit.pred_value, names.our_number)
        texts.append((pred, value_name(edit.gold_value, names.their_number)))
    if len({pred for pred, _ in texts}) == 1:
        label = f"{tool_label(roots.call(first))}: argument {argument_name(first.gold)!r}"
        return f"{label} is {texts[0][0]}, expected {format_list(dict.fromkeys(gold for _, gold in texts))}"
    numbers = [names.our_number((edit.pred and edit.pred.call) or 0) for edit in edits]
    others = zip(numbers[1:], texts[1:], strict=True)
    clauses = [first.message, *(f"{number}: {pred}, expected {gold}" for number, (pred, gold) in others)]
    return "; ".join(cut_list(clauses))


def _write_extra_argument(roots: Roots, edits: list[Edit], data: None) -> str:
    values = dict.fromkeys(value_name(edit.pred_value, roots.names.our_number) for edit in edits)
    end = edits[0].message.split(" is not in gold", 1)[1]
    label = f"{tool_label(roots.call(edits[0]))}: argument {argument_name(edits[0].pred)!r}"
    return f"{label} = {format_list(values)} {'is' if len(values) == 1 else 'are'} not in gold{end}"


def _write_extra_arguments(roots: Roots, edits: list[Edit], data: None) -> str:
    number = roots.names.our_number
    texts = (f"{argument_name(edit.pred)!r} = {value_name(edit.pred_value, number)}" for edit in edits)
    end = edits[0].message.split(" is not in gold", 1)[1]
    call = roots.names.ours(edits[0].pred and edits[0].pred.call)
    return f"{call}: {format_list(texts)} are not in gold{end}"


def _write_repeated_run(_: Roots, edits: list[Edit], data: tuple[list[int], int]) -> str:
    run, offset = data
    calls = calls_numbers(run, "" if edits[0].pred else "gold's ")
    return f"{calls} repeat {calls_numbers(call + offset for call in run)}"


def _write_tries(roots: Roots, edits: list[Edit], data: tuple[int, list[tuple[int, tuple[str, ...]]]]) -> str:
    near_call, near_repeats = data
    names, calls = roots.names, roots.diff.pred.calls
    near_args = dict(calls[near_call].arguments)
    by_change: dict[str, list[int]] = {}
    for call, changed in near_repeats:
        args = dict(calls[call].arguments)
        changes = []
        for name in changed:
            if name in args:
                path, value, _ = narrow_difference(args[name], near_args.get(name))
                changes.append(f"{argument_path_name(name, path)}={value_name(value, names.our_number)}")
        change = f"with {', '.join(changes)}" if changes else f"without {', '.join(changed)}"
        by_change.setdefault(change if changed else "unchanged", []).append(call)
    texts = [f"{calls_numbers(repeats)} {change}" for change, repeats in by_change.items()]
    return f"near repeats of {names.ours(near_call)}: {format_list(texts)}"


def _write_end(roots: Roots, edits: list[Edit], data: tuple[list[int], int | None]) -> str:
    tail, last = data
    plan, number = _plan_of(roots, is_pred=last is None)
    runs = [[*run] for _, run in groupby(tail, lambda call: tool_label(plan.calls[call]))]
    texts = [
        f"{tool_label(plan.calls[run[0]])}{_format_arguments(plan, run, number)}" for run in runs[:MAX_LISTED]
    ]
    if len(runs) > MAX_LISTED:
        texts.append(f"{sum(map(len, runs[MAX_LISTED:]))} more")
    if last is None:
        return f"the plan goes on with {len(tail)} extra calls: {'; '.join(texts)}"
    missing = f"gold's {'; '.join(texts)} are missing" if len(runs) > 1 else _write_run(roots, edits, tail)
    return f"the plan stops after {roots.names.our_number(last)}: {missing}"


def _write_run(roots: Roots, edits: list[Edit], calls: list[int]) -> str:
    is_pred = edits[0].pred is not None
    plan, number = _plan_of(roots, is_pred=is_pred)
    tool, details = tool_label(plan.calls[calls[0]]), _format_arguments(plan, calls, number)
    if is_pred:
        return f"{tool} is not in gold{details}"
    ends = {edit.own or "" for edit in edits}
    return f"gold's {tool} is missing{details}{ends.pop() if len(ends) == 1 else ''}"


def _write_other_call(_: Roots, edits: list[Edit], data: None) -> str:
    lacking, made = edits if edits[0].code == "call.missing" else edits[::-1]
    call, note = made.message.split(" is not in gold", 1)
    return f"{lacking.message}; {call} is made instead{note}"


def _write_other_answer(roots: Roots, edits: list[Edit], data: None) -> str:
    """The values of either answer by their names."""
    pred_values, gold_values = (
        format_list(f"{name!r} = {value_name(value, number)}" for name, value in plan.answer or ())
        for plan, number in (_plan_of(roots, is_pred=True), _plan_of(roots, is_pred=False))
    )
    return f"the answer gives {pred_values}, expected {gold_values}"


def _write_missing_answer(_: Roots, edits: list[Edit], data: None) -> str:
    return f"the answer lacks {format_list(repr(argument_name(edit.gold)) for edit in edits)}"


def _plan_of(roots: Roots, *, is_pred: bool) -> tuple[Plan, Callable[[int], str]]:
    """The prediction or gold, and how its calls are numbered."""
    names = roots.names
    return (names.pred, names.our_number) if is_pred else (names.gold, names.their_number)


def _format_arguments(plan: Plan, calls: list[int], number: Callable[[int], str]) -> str:
    """What calls of one tool are given: ``, with room="attic" and "hall", each time with floor=1``."""
    values = [
        {name: value for name, value in plan.calls[call].arguments if name != DEPENDENCY_ARGUMENT}
        for call in calls
    ]
    shared: dict[str, str] = {}
    own_texts = [dict[str, str]() for _ in calls]
    for name in dict.fromkeys(name for arguments in values for name in arguments):
        column = [arguments.get(name, MISSING) for arguments in values]
        path, texts = _narrow_values(column, number)
        if {*texts} == {texts[0]} != {None} and not path:
            shared[name] = str(texts[0])
            continue
        for own, text in zip(own_texts, texts, strict=True):
            own |= {} if text is None else {argument_path_name(name, path): text}
    shared_text = ", ".join(f"{name}={text}" for name, text in shared.items())
    if len(calls) == 1:
        return f" with {shared_text}" if shared else ""
    call_texts = [", ".join(f"{name}={text}" for name, text in own.items()) for own in own_texts]
    varying = {name for own in own_texts for name in own}
    if len(varying) == 1 and all(own_texts):
        details = format_list([call_texts[0], *(text for own in own_texts[1:] for text in own.values())])
    else:
        details = "; ".join(cut_list([text or "nothing" for text in call_texts]))
    details = f", with {details}" if varying else ""
    return details + (f", each time with {shared_text}" if shared else "")


def _narrow_values(values: list[Value], number: Callable[[int], str]) -> tuple[Path, list[str | None]]:
    """Values of one argument in words, None where there is none; of long ones what differs from the first."""
    texts = [None if value is MISSING else value_name(value, number) for value in values]
    narrowed = [narrow_difference(values[0], value) for value in values if value != values[0]]
    paths = {path for path, _, _ in narrowed}
    if len(paths) != 1 or not any(text and text.endswith("…") for text in texts):
        return (), texts
    others = iter(narrowed)
    parts = [narrowed[0][1] if value == values[0] else next(others)[2] for value in values]
    return paths.pop(), [value_name(part, number) for part in parts]


LINES: dict[str, Callable[[Roots, list[Edit], Any], str]] = {
    # look-up calls change no state, and gold lists only calls that do
    "lookup": _write_lookups,
    # items of one list are wrong in one way
    "items": _write_items,
    # one argument that is written otherwise in several calls is a habit
    "same argument": _write_same_argument,
    # an answer that names other values is another answer
    "other answer": _write_other_answer,
    # an answer that names nothing is left out once
    "missing answer": _write_missing_answer,
    # calls in a row that are made again are one repetition
    "repeated run": _write_repeated_run,
    # an item of which several fields are wrong is another item
    "item": _write_items,
    # one argument that is given too much is a habit
    "extra throughout": _write_extra_argument,
    # arguments that one call is given too much are another form to fill in
    "extra together": _write_extra_arguments,
    # arguments that one call leaves out are left out together
    "missing together": _write_items,
    # calls that differ little are tries of one
    "tries": _write_tries,
    # a plan that goes on, or stops, does so once
    "end": _write_end,
    # calls of one tool in a row are one line
    "run": _write_run,
    # what is made at the place of the one call that is missing is made for it
    "other call": _write_other_call,
}
"""Why a line may be told, and its sentence; of lines that tell as many edits the first is taken."""

_LINE_NAMES = {
    "lookup": "lookup",
    "other call": OTHER_CALL,
    "other answer": "other answer",
}
"""What lines are called that have a name of their own; others go by the code of their first edit."""
