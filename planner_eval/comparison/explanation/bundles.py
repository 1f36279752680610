"""Several edits that a person tells in one sentence: one list, one value, a plan that goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.explanation.causes import find_lookups
from planner_eval.comparison.explanation.edits import kind_name
from planner_eval.comparison.explanation.multi_call_edits import find_nearest_call
from planner_eval.comparison.explanation.search import Proposal, choose_cheapest
from planner_eval.comparison.explanation.sentences import (
    CallNames,
    argument_path_name,
    calls_numbers,
    links_of,
    narrow_difference,
    no_call_suffix,
    value_name,
)
from planner_eval.comparison.matching.replaced import is_distinctive
from planner_eval.plan.canonical import OWN_POSITIONS, value_key
from planner_eval.plan.model import Path, Plan, Value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff
    from planner_eval.comparison.explanation.edits import Edit


MIN_TRAILING_EXTRA, MIN_TRAILING_MISSING = 3, 4
"""So many calls at the end that gold has not, or that only gold has, are one sentence."""

MAX_LISTED = 4
"""So many values or calls of a bundle are told one by one."""


class Bundle(NamedTuple):
    """Edits that are told in one sentence.

    Args:
        name: What they are called.
        said: The sentence.
        edits: Their positions in the diff's edits.
        mistakes: How many mistakes they are to who asks whether it is another plan.
    """

    name: str
    said: str
    edits: tuple[int, ...]
    mistakes: int = 1


def bundle_edits(diff: Diff, keys: Mapping[int, Hashable]) -> dict[int, Bundle]:
    """Which edits are told together; none is told twice.

    Args:
        diff: The comparison.
        keys: What edits have in common with others of one habit; a text is its name.

    Returns:
        The line of each edit that is told with others.
    """
    bundles: dict[int, Bundle] = {}
    roots = [(index, edit) for index, edit in enumerate(diff.edits) if edit.cause is None]
    remaining = [(index, edit) for index, edit in roots if not isinstance(keys.get(index), str)]
    names = CallNames.of(diff.pred, diff.gold, diff.alignment.pairs)
    suffix = no_call_suffix(diff.pred, diff.gold)  # the first edit's own sentence ends so
    while len(remaining) > 1:  # what one line does not tell another may
        choice = choose_cheapest(
            Proposal(name, bundle.edits, bundle)
            for name, find in BUNDLES
            for bundle in find(diff, names, remaining)
        )
        if not choice.proposals:
            break
        for proposal in choice.proposals:
            bundle = proposal.data
            if 0 in bundle.edits and suffix not in bundle.said:
                bundle = bundle._replace(said=bundle.said + suffix)
            bundles.update(dict.fromkeys(bundle.edits, bundle))
        remaining = [(index, edit) for index, edit in remaining if index not in bundles]
    return bundles


IndexedEdits = list[tuple[int, "Edit"]]
Bundles = Iterator[Bundle]


def _group_edits(roots: IndexedEdits, key: Callable[[Edit], Hashable]) -> Iterator[IndexedEdits]:
    """Two or more edits of one key; what has none belongs to nothing."""
    groups: dict[Hashable, IndexedEdits] = {}
    for index, edit in roots:
        if (group_key := key(edit)) is not None:
            groups.setdefault(group_key, []).append((index, edit))
    return (group for group in groups.values() if len(group) > 1)


def _make_bundle(name: str, message: str, group: IndexedEdits) -> Bundle:
    return Bundle(name, message, tuple(index for index, _ in group))


def _format_list(names: Iterable[str], end: str = "more") -> str:
    """Things in a row: ``a, b, c, d and 2 more``."""
    texts = [*names]
    if len(texts) > MAX_LISTED + 1:
        texts = [*texts[:MAX_LISTED], f"{len(texts) - MAX_LISTED} {end}"]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _bundle_lookups(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """What an agent looks up, and thinks, between the calls that gold lists."""
    lookups = find_lookups(diff.edits, diff.pred, diff.gold)
    group = [(index, edit) for index, edit in roots if edit.pred and edit.pred.call in lookups]
    times = Counter(_tool(diff, edit) for _, edit in group)
    if len(group) >= MIN_TRAILING_EXTRA and len(times) > 1:  # else their arguments are told
        tools = ", ".join(f"{tool} ×{count}" if count > 1 else f"{tool}" for tool, count in times.items())
        yield _make_bundle("lookup", f"gold lists none of them: {tools}", group)


def _bundle_list_items(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """Items of one list that are wrong in the same way."""

    def list_key(edit: Edit, path: Path, first: int) -> Hashable:
        return edit.code, path[:first], tuple(step for step in path[first:] if type(step) is str)

    return _bundle_inside_lists(roots, list_key)


def _bundle_item_fields(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """Fields of one item of a list: another item stands there."""
    return _bundle_inside_lists(roots, lambda edit, path, first: path[: first + 1])


def _bundle_inside_lists(roots: IndexedEdits, key: Callable[[Edit, Path, int], Hashable]) -> Bundles:
    """Values inside a list of one argument, by what they have in common; `key` is given where the list is."""

    def list_key(edit: Edit) -> Hashable:
        if edit.code not in _VALUE_CODES or edit.pred is None or edit.also:
            return None
        path = edit.pred.at
        first = next((n for n, step in enumerate(path) if type(step) is int), None)
        return None if first is None else (edit.pred.call, edit.pred.argument, key(edit, path, first))

    for group in _group_edits(roots, list_key):
        first = group[0][1]
        messages = [edit.own or edit.message for _, edit in group[1:]]
        more = [f"{len(messages) - MAX_LISTED + 1} more"] if len(messages) >= MAX_LISTED else []
        yield _make_bundle(first.code, "; ".join([first.message, *messages[: MAX_LISTED - 1], *more]), group)


def _bundle_same_values(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """One value in several calls of a tool for which gold has several."""

    def value_group(edit: Edit) -> Hashable:
        if (
            edit.code not in _VALUE_CODES
            or not _is_whole_argument(edit)
            or not _is_distinctive_or_list(edit.pred_value)
        ):
            return None
        return edit.code, _tool(diff, edit), _argument(edit), value_key(edit.pred_value, OWN_POSITIONS)

    for group in _group_edits(roots, value_group):
        if gold_texts := _format_gold_values(names, group):
            value = value_name(group[0][1].pred_value, names.our_number)
            message = f"{_format_argument(diff, group[0][1])} is {value}, gold gives {gold_texts}"
            yield _make_bundle(group[0][1].code, message, group)


def _is_distinctive_or_list(value: Value) -> bool:
    """Whether it is no chance that a value stands in several calls."""
    return is_distinctive(value) or (type(value) is list and len(value) > 1)


def _bundle_copied_values(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """A wrong value of a call that is given once more, as an argument that gold has not."""

    def copied_value(edit: Edit) -> Hashable:
        if edit.code not in ("argument.value", "argument.extra") or not _is_whole_argument(edit):
            return None
        if not is_distinctive(edit.pred_value) or edit.pred is None or edit.pred.call is None:
            return None
        return edit.pred.call, value_key(edit.pred_value, OWN_POSITIONS)

    for group in _group_edits(roots, copied_value):
        wrong = [root for root in group if root[1].code == "argument.value"]
        extra = [root for root in group if root[1].code == "argument.extra"]
        if len(wrong) == 1 and extra:
            names_text = _format_list(repr(edit.pred.argument) for _, edit in extra if edit.pred is not None)
            copied = f"{names_text}, not in gold, {'is' if len(extra) == 1 else 'are'} the same"
            yield _make_bundle("argument.value", f"{wrong[0][1].message}; {copied}", [*wrong, *extra])


def _bundle_type_changes(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """One argument of calls of a tool that is of another type in each, as a list for a text."""

    def kinds(edit: Edit) -> Hashable:
        if edit.code != "argument.type" or not _is_whole_argument(edit):
            return None
        kind_pair = kind_name(edit.pred_value), kind_name(edit.gold_value)
        return _tool(diff, edit), _argument(edit), kind_pair

    for group in _group_edits(roots, kinds):
        yield _make_bundle("argument.type", group[0][1].message, group)


def _bundle_missing_arguments(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """One argument that calls of a tool leave out, whatever gold gives."""

    def missing(edit: Edit) -> Hashable:
        if edit.code != "argument.missing" or not _is_whole_argument(edit) or _is_link(edit):
            return None
        return _tool(diff, edit), _argument(edit)

    for group in _group_edits(roots, missing):
        if gold_texts := _format_gold_values(names, group):
            message = f"{_format_argument(diff, group[0][1])} is missing, gold gives {gold_texts}"
            yield _make_bundle("argument.missing", message, group)


def _bundle_missing_links(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """Links without an argument that are missing."""
    group = [(index, edit) for index, edit in roots if edit.code == "argument.missing" and _is_link(edit)]
    if len(group) > 1:
        link_texts = []
        for _, edit in group:
            assert edit.gold is not None
            for ref in links_of("", edit.gold_value):
                link_texts.append(
                    f"{diff.gold.calls[ref.call].tool} → {diff.gold.calls[edit.gold.call or 0].tool}"
                )
        yield _make_bundle("missing link", f"the links {_format_list(link_texts)} are missing", group)


def _bundle_repeated_runs(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """Calls in a row that repeat calls in a row."""
    duplicates = {
        edit.pred.call: (index, edit) for index, edit in roots if edit.code == "call.duplicated" and edit.pred
    }
    if len(duplicates) < 2:
        return
    first: dict[Hashable, int] = {}
    twins: dict[int, int] = {}
    for position, call in enumerate(diff.pred.calls):
        arguments = tuple((name, value_key(value, OWN_POSITIONS)) for name, value in call.arguments)
        twins[position] = first.setdefault((call.tool, arguments), position)
    runs: list[list[int]] = []
    for position in sorted(call for call in duplicates if call is not None and twins[call] < call):
        follows = runs and position == runs[-1][-1] + 1 and twins[position] == twins[runs[-1][-1]] + 1
        if follows:
            runs[-1].append(position)
        else:
            runs.append([position])
    for run in runs:
        if len(run) > 1:
            message = f"{calls_numbers(run)} repeat {calls_numbers(twins[position] for position in run)}"
            yield _make_bundle("call.duplicated", message, [duplicates[position] for position in run])


def _bundle_near_repeats(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """Calls that are made again and again with few other values."""
    pairing = diff.matching.pairing if diff.matching is not None else None
    if pairing is None:
        return
    extra = [(index, edit) for index, edit in roots if edit.code == "call.extra" and edit.pred is not None]
    for group in _group_edits(extra, lambda edit: _tool(diff, edit)):
        tries_by_call: dict[int, list[tuple[int, Edit, tuple[str, ...]]]] = {}
        for index, edit in group:
            assert edit.pred is not None
            assert edit.pred.call is not None
            if not pairing.pred.users[edit.pred.call] and (
                nearest := find_nearest_call(pairing, edit.pred.call)
            ):
                tries_by_call.setdefault(nearest.call, []).append((index, edit, nearest.names))
        for call, tries in tries_by_call.items():
            if len(tries) > 1:
                texts = [_format_near_repeat(diff, names, edit, call, changed) for _, edit, changed in tries]
                message = f"not in gold, but tries of {names.ours(call)}: {_format_list(texts)}"
                yield Bundle("call.extra", message, tuple(index for index, _, _ in tries))


def _format_near_repeat(
    diff: Diff, names: CallNames, edit: Edit, tried: int, changed: tuple[str, ...]
) -> str:
    """What a try has otherwise: ``call 2 with x=1``."""
    assert edit.pred is not None
    assert edit.pred.call is not None
    args, tried_args = (dict(diff.pred.calls[position].arguments) for position in (edit.pred.call, tried))
    differences = [
        (name, *narrow_difference(args[name], tried_args.get(name))) for name in changed if name in args
    ]
    texts = [
        f"{argument_path_name(name, path)}={value_name(value, names.our_number)}"
        for name, path, value, _ in differences
    ]
    change = f"with {', '.join(texts)}" if texts else f"without {', '.join(changed)}"
    return f"{names.our_number(edit.pred.call)} {change}"


def _bundle_plan_ends(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """A plan that goes on, or stops, where the other one does not."""
    pairs = diff.alignment.pairs
    if not pairs:
        return
    extra = {edit.pred.call: (i, edit) for i, edit in roots if edit.code == "call.extra" and edit.pred}
    tail = [*_find_tail(extra, len(diff.pred.calls))]
    if len(tail) >= MIN_TRAILING_EXTRA:
        tools = _format_list(_format_tool_runs(diff.pred.calls[position].tool for position in tail))
        message = f"the plan goes on with {len(tail)} calls that gold has not: {tools}"
        yield _make_bundle("call.extra", message, [extra[position] for position in tail])
    missing = {edit.gold.call: (i, edit) for i, edit in roots if edit.code == "call.missing" and edit.gold}
    tail = [*_find_tail(missing, len(diff.gold.calls))]
    last = max(pred for pred, _ in pairs)
    if len(tail) >= MIN_TRAILING_MISSING and last == len(diff.pred.calls) - 1:
        tools = _format_list(_format_tool_runs(diff.gold.calls[position].tool for position in tail))
        message = f"the plan stops after {names.our_number(last)}: gold's {tools} are missing"
        yield _make_bundle("call.missing", message, [missing[position] for position in tail])


def _format_tool_runs(tools: Iterable[str]) -> Iterator[str]:
    """Tools in their order, one that comes again and again once: ``look ×3``."""
    for tool, run in groupby(tools):
        times = sum(1 for _ in run)
        yield f"{tool} ×{times}" if times > 1 else tool


def _bundle_tool_runs(diff: Diff, names: CallNames, roots: IndexedEdits) -> Bundles:
    """Calls of one tool in a row that gold has not, or that only gold has; tries say more for themselves."""
    extra = {
        edit.pred.call: (index, edit)
        for index, edit in roots
        if edit.code == "call.extra" and edit.pred and edit.own is not None
    }
    missing = {edit.gold.call: (i, edit) for i, edit in roots if edit.code == "call.missing" and edit.gold}
    for code, calls, plan, number in (
        ("call.extra", extra, diff.pred, names.our_number),
        ("call.missing", missing, diff.gold, names.their_number),
    ):
        for run in _find_tool_runs(plan, sorted(position for position in calls if position is not None)):
            tool, args_text = plan.calls[run[0]].tool, _format_call_arguments(plan, run, number)
            ends = {calls[position][1].own or "" for position in run}
            message = f"{tool} is not in gold{args_text}"
            if code == "call.missing":
                message = f"gold's {tool} is missing{args_text}{ends.pop() if len(ends) == 1 else ''}"
            yield _make_bundle(code, message, [calls[position] for position in run])._replace(
                mistakes=len(run)
            )


def _find_tool_runs(plan: Plan, calls: Iterable[int]) -> Iterator[list[int]]:
    """Two or more calls of one tool that follow one another, of some."""
    rows: list[list[int]] = []
    for position in calls:
        if (
            rows
            and position == rows[-1][-1] + 1
            and plan.calls[position].tool == plan.calls[rows[-1][-1]].tool
        ):
            rows[-1].append(position)
        else:
            rows.append([position])
    return (row for row in rows if len(row) > 1)


def _format_call_arguments(plan: Plan, calls: list[int], number: Callable[[int], str]) -> str:
    """What calls of one tool are given: ``, with room="attic" and "hall", each time with floor=1``."""
    argument_texts = [
        {
            name: value_name(value, number)
            for name, value in plan.calls[position].arguments
            if name != DEPENDENCY_ARGUMENT
        }
        for position in calls
    ]
    shared = {
        name: text
        for name, text in argument_texts[0].items()
        if all(g.get(name) == text for g in argument_texts)
    }
    shared_text = ", ".join(f"{name}={text}" for name, text in shared.items())
    own_texts = [
        {name: text for name, text in texts.items() if name not in shared} for texts in argument_texts
    ]
    call_texts = [", ".join(f"{name}={text}" for name, text in texts.items()) for texts in own_texts]
    varying = {name for texts in own_texts for name in texts}
    if len(varying) == 1 and all(own_texts):
        call_texts[1:] = [text for texts in own_texts[1:] for text in texts.values()]
        details = _format_list(call_texts)
    else:
        more = [f"{len(call_texts) - MAX_LISTED} more"] if len(call_texts) > MAX_LISTED + 1 else []
        details = "; ".join(
            [*(text or "nothing" for text in call_texts[: MAX_LISTED if more else None]), *more]
        )
    details = f", with {details}" if varying else ""
    return details + (f", each time with {shared_text}" if shared_text else "")


def _find_tail(calls: Mapping[Any, Any], end: int) -> list[int]:
    """The last calls of a plan, in order, as far as they are among some."""
    start = end
    while start - 1 in calls:
        start -= 1
    return [*range(start, end)]


_VALUE_CODES = ("argument.value", "argument.type")


def _is_whole_argument(edit: Edit) -> bool:
    """Whether an edit is about a whole argument of two partners."""
    return edit.pred is not None and edit.gold is not None and not edit.pred.at and not edit.also


def _is_link(edit: Edit) -> bool:
    return bool(links_of(_argument(edit), edit.gold_value))


def _tool(diff: Diff, edit: Edit) -> str | None:
    """The tool of the call of an edit; None for the answer."""
    call = edit.pred.call if edit.pred is not None else None
    return None if call is None else diff.pred.calls[call].tool


def _argument(edit: Edit) -> str:
    return (edit.gold.argument if edit.gold is not None else None) or ""


def _format_argument(diff: Diff, edit: Edit) -> str:
    return f"{_tool(diff, edit)}: argument {_argument(edit)!r}"


def _format_gold_values(names: CallNames, group: IndexedEdits) -> str | None:
    """Gold's values in several edits; None where they are one."""
    texts = [value_name(edit.gold_value, names.their_number) for _, edit in group]
    return _format_list(texts) if len({*texts}) > 1 else None


BUNDLES: tuple[tuple[str, Callable[[Diff, CallNames, IndexedEdits], Bundles]], ...] = (
    ("lookup", _bundle_lookups), ("items", _bundle_list_items), ("item", _bundle_item_fields),
    ("same value", _bundle_same_values), ("copied value", _bundle_copied_values),
    ("same type", _bundle_type_changes), ("missing throughout", _bundle_missing_arguments),
    ("links", _bundle_missing_links),
    ("repeated run", _bundle_repeated_runs), ("tries", _bundle_near_repeats), ("end", _bundle_plan_ends),
    ("run", _bundle_tool_runs),
)  # fmt: skip
"""What may be one line, by the name of its price; of those that save as much the first is taken."""
