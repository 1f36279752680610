"""Several edits that a person tells in one sentence: one list, one value, a plan that goes on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.contrast import inner, narrowed
from planner_eval.comparison.matching.replaced import telling
from planner_eval.comparison.sentences import Names, calls_numbers, links_of, nothing_read, value_name
from planner_eval.comparison.tries import nearest_try
from planner_eval.comparison.value_diff import kind_name
from planner_eval.dialects.dialect import AFTER
from planner_eval.plan.canonical import OWN, value_key
from planner_eval.plan.model import Plan, Value

if TYPE_CHECKING:
    from planner_eval.comparison.diff import Diff
    from planner_eval.comparison.edits import Edit

GOES_ON, STOPS = 3, 4
"""So many calls at the end that gold has not, or that only gold has, are one sentence."""

ABOUT = 4
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


def bundled(found: Diff, keys: Mapping[int, Hashable]) -> dict[int, Bundle]:
    """Which edits are told together; none is told twice.

    Args:
        found: The comparison.
        keys: What edits have in common with others of one habit; a text is its name.
    """
    told: dict[int, Bundle] = {}
    roots = [(at, edit) for at, edit in enumerate(found.edits) if edit.cause is None]
    if len(roots) < 2:
        return told
    names = Names.of(found.pred, found.gold, found.alignment.pairs)
    held = nothing_read(found.pred, found.gold)  # the first edit's own sentence ends so
    for find in (_items, _values, _copies, _kinds, _left_out, _links, _repeats, _tries, _ends, _in_a_row):
        left = [(at, edit) for at, edit in roots if at not in told and not isinstance(keys.get(at), str)]
        for bundle in find(found, names, left) if len(left) > 1 else ():
            if 0 in bundle.edits and held not in bundle.said:
                bundle = bundle._replace(said=bundle.said + held)
            told.update(dict.fromkeys(bundle.edits, bundle))
    return told


Roots = list[tuple[int, "Edit"]]
Bundles = Iterator[Bundle]


def _grouped(roots: Roots, key: Callable[[Edit], Hashable]) -> Iterator[Roots]:
    """Two or more edits of one key; what has none belongs to nothing."""
    groups: dict[Hashable, Roots] = {}
    for at, edit in roots:
        if (of := key(edit)) is not None:
            groups.setdefault(of, []).append((at, edit))
    return (group for group in groups.values() if len(group) > 1)


def _bundle(name: str, said: str, group: Roots) -> Bundle:
    return Bundle(name, said, tuple(at for at, _ in group))


def _some(shown: Iterable[str], end: str = "more") -> str:
    """Things in a row: ``a, b, c, d and 2 more``."""
    every = [*shown]
    if len(every) > ABOUT + 1:
        every = [*every[:ABOUT], f"{len(every) - ABOUT} {end}"]
    return " and ".join(filter(None, (", ".join(every[:-1]), every[-1])))


def _items(found: Diff, names: Names, roots: Roots) -> Bundles:
    """Items of one list that are wrong in the same way."""

    def place(edit: Edit) -> Hashable:
        if edit.code not in _VALUES or edit.pred is None or edit.also:
            return None
        at = edit.pred.at
        first = next((n for n, step in enumerate(at) if type(step) is int), None)
        if first is None:
            return None
        rest = tuple(step for step in at[first:] if type(step) is str)
        return edit.code, edit.pred.call, edit.pred.argument, at[:first], rest

    for group in _grouped(roots, place):
        first = group[0][1]
        rest = [edit.own or edit.message for _, edit in group[1:]]
        more = [f"{len(rest) - ABOUT + 1} more"] if len(rest) >= ABOUT else []
        yield _bundle(first.code, "; ".join([first.message, *rest[: ABOUT - 1], *more]), group)


def _values(found: Diff, names: Names, roots: Roots) -> Bundles:
    """One value in several calls of a tool for which gold has several."""

    def given(edit: Edit) -> Hashable:
        if edit.code not in _VALUES or not _whole(edit) or not _says(edit.pred_value):
            return None
        return edit.code, _tool(found, edit), _argument(edit), value_key(edit.pred_value, OWN)

    for group in _grouped(roots, given):
        if wanted := _wanted(names, group):
            value = value_name(group[0][1].pred_value, names.our_number)
            said = f"{_of(found, group[0][1])} is {value}, gold gives {wanted}"
            yield _bundle(group[0][1].code, said, group)


def _says(value: Value) -> bool:
    """Whether it is no chance that a value stands in several calls."""
    return telling(value) or (type(value) is list and len(value) > 1)


def _copies(found: Diff, names: Names, roots: Roots) -> Bundles:
    """A wrong value of a call that is given once more, as an argument that gold has not."""

    def given(edit: Edit) -> Hashable:
        if edit.code not in ("argument.value", "argument.extra") or not _whole(edit):
            return None
        if not telling(edit.pred_value) or edit.pred is None or edit.pred.call is None:
            return None
        return edit.pred.call, value_key(edit.pred_value, OWN)

    for group in _grouped(roots, given):
        wrong = [each for each in group if each[1].code == "argument.value"]
        extra = [each for each in group if each[1].code == "argument.extra"]
        if len(wrong) == 1 and extra:
            shown = _some(repr(edit.pred.argument) for _, edit in extra if edit.pred is not None)
            copied = f"{shown}, not in gold, {'is' if len(extra) == 1 else 'are'} the same"
            yield _bundle("argument.value", f"{wrong[0][1].message}; {copied}", [*wrong, *extra])


def _kinds(found: Diff, names: Names, roots: Roots) -> Bundles:
    """One argument of calls of a tool that is of another type in each, as a list for a text."""

    def kinds(edit: Edit) -> Hashable:
        if edit.code != "argument.type" or not _whole(edit):
            return None
        both = kind_name(edit.pred_value), kind_name(edit.gold_value)
        return _tool(found, edit), _argument(edit), both

    for group in _grouped(roots, kinds):
        yield _bundle("argument.type", group[0][1].message, group)


def _left_out(found: Diff, names: Names, roots: Roots) -> Bundles:
    """One argument that calls of a tool leave out, whatever gold gives."""

    def missing(edit: Edit) -> Hashable:
        if edit.code != "argument.missing" or not _whole(edit) or _is_link(edit):
            return None
        return _tool(found, edit), _argument(edit)

    for group in _grouped(roots, missing):
        if wanted := _wanted(names, group):
            said = f"{_of(found, group[0][1])} is missing, gold gives {wanted}"
            yield _bundle("argument.missing", said, group)


def _links(found: Diff, names: Names, roots: Roots) -> Bundles:
    """Links without an argument that are missing."""
    group = [(at, edit) for at, edit in roots if edit.code == "argument.missing" and _is_link(edit)]
    if len(group) > 1:
        shown = []
        for _, edit in group:
            assert edit.gold is not None
            for ref in links_of("", edit.gold_value):
                shown.append(
                    f"{found.gold.calls[ref.call].tool} → {found.gold.calls[edit.gold.call or 0].tool}"
                )
        yield _bundle("missing link", f"the links {_some(shown)} are missing", group)


def _repeats(found: Diff, names: Names, roots: Roots) -> Bundles:
    """Calls in a row that repeat calls in a row."""
    again = {edit.pred.call: (at, edit) for at, edit in roots if edit.code == "call.duplicated" and edit.pred}
    if len(again) < 2:
        return
    first: dict[Hashable, int] = {}
    twins: dict[int, int] = {}
    for at, call in enumerate(found.pred.calls):
        given = tuple((name, value_key(value, OWN)) for name, value in call.arguments)
        twins[at] = first.setdefault((call.tool, given), at)
    runs: list[list[int]] = []
    for at in sorted(call for call in again if call is not None and twins[call] < call):
        follows = runs and at == runs[-1][-1] + 1 and twins[at] == twins[runs[-1][-1]] + 1
        if follows:
            runs[-1].append(at)
        else:
            runs.append([at])
    for run in runs:
        if len(run) > 1:
            said = f"{calls_numbers(run)} repeat {calls_numbers(twins[at] for at in run)}"
            yield _bundle("call.duplicated", said, [again[at] for at in run])


def _tries(found: Diff, names: Names, roots: Roots) -> Bundles:
    """Calls that are made again and again with few other values."""
    pairing = found.matching.pairing if found.matching is not None else None
    if pairing is None:
        return
    extra = [(at, edit) for at, edit in roots if edit.code == "call.extra" and edit.pred is not None]
    for group in _grouped(extra, lambda edit: _tool(found, edit)):
        near: dict[int, list[tuple[int, Edit, tuple[str, ...]]]] = {}
        for at, edit in group:
            assert edit.pred is not None
            assert edit.pred.call is not None
            if not pairing.pred.users[edit.pred.call] and (like := nearest_try(pairing, edit.pred.call)):
                near.setdefault(like.call, []).append((at, edit, like.names))
        for call, tries in near.items():
            if len(tries) > 1:
                shown = [_changed(found, names, edit, call, changed) for _, edit, changed in tries]
                said = f"not in gold, but tries of {names.ours(call)}: {_some(shown)}"
                yield Bundle("call.extra", said, tuple(at for at, _, _ in tries))


def _changed(found: Diff, names: Names, edit: Edit, tried: int, changed: tuple[str, ...]) -> str:
    """What a try has otherwise: ``call 2 with x=1``."""
    assert edit.pred is not None
    assert edit.pred.call is not None
    given, other = (dict(found.pred.calls[at].arguments) for at in (edit.pred.call, tried))
    both = [(name, *narrowed(given[name], other.get(name))) for name in changed if name in given]
    shown = [f"{inner(name, at)}={value_name(value, names.our_number)}" for name, at, value, _ in both]
    said = f"with {', '.join(shown)}" if shown else f"without {', '.join(changed)}"
    return f"{names.our_number(edit.pred.call)} {said}"


def _ends(found: Diff, names: Names, roots: Roots) -> Bundles:
    """A plan that goes on, or stops, where the other one does not."""
    pairs = found.alignment.pairs
    if not pairs:
        return
    extra = {edit.pred.call: (at, edit) for at, edit in roots if edit.code == "call.extra" and edit.pred}
    tail = [*_tail(extra, len(found.pred.calls))]
    if len(tail) >= GOES_ON:
        tools = _some(_by_runs(found.pred.calls[at].tool for at in tail))
        said = f"the plan goes on with {len(tail)} calls that gold has not: {tools}"
        yield _bundle("call.extra", said, [extra[at] for at in tail])
    lost = {edit.gold.call: (at, edit) for at, edit in roots if edit.code == "call.missing" and edit.gold}
    tail = [*_tail(lost, len(found.gold.calls))]
    last = max(pred for pred, _ in pairs)
    if len(tail) >= STOPS and last == len(found.pred.calls) - 1:
        tools = _some(_by_runs(found.gold.calls[at].tool for at in tail))
        said = f"the plan stops after {names.our_number(last)}: gold's {tools} are missing"
        yield _bundle("call.missing", said, [lost[at] for at in tail])


def _by_runs(tools: Iterable[str]) -> Iterator[str]:
    """Tools in their order, one that comes again and again once: ``look ×3``."""
    for tool, run in groupby(tools):
        times = sum(1 for _ in run)
        yield f"{tool} ×{times}" if times > 1 else tool


def _in_a_row(found: Diff, names: Names, roots: Roots) -> Bundles:
    """Calls of one tool in a row that gold has not, or that only gold has; tries say more for themselves."""
    extra = {
        edit.pred.call: (at, edit)
        for at, edit in roots
        if edit.code == "call.extra" and edit.pred and edit.own is not None
    }
    lost = {edit.gold.call: (at, edit) for at, edit in roots if edit.code == "call.missing" and edit.gold}
    for code, calls, plan, number in (
        ("call.extra", extra, found.pred, names.our_number),
        ("call.missing", lost, found.gold, names.their_number),
    ):
        for run in _rows(plan, sorted(at for at in calls if at is not None)):
            tool, given = plan.calls[run[0]].tool, _given_in(plan, run, number)
            ends = {calls[at][1].own or "" for at in run}
            said = f"{tool} is not in gold{given}"
            if code == "call.missing":
                said = f"gold's {tool} is missing{given}{ends.pop() if len(ends) == 1 else ''}"
            yield _bundle(code, said, [calls[at] for at in run])._replace(mistakes=len(run))


def _rows(plan: Plan, calls: Iterable[int]) -> Iterator[list[int]]:
    """Two or more calls of one tool that follow one another, of some."""
    rows: list[list[int]] = []
    for at in calls:
        if rows and at == rows[-1][-1] + 1 and plan.calls[at].tool == plan.calls[rows[-1][-1]].tool:
            rows[-1].append(at)
        else:
            rows.append([at])
    return (row for row in rows if len(row) > 1)


def _given_in(plan: Plan, calls: list[int], number: Callable[[int], str]) -> str:
    """What calls of one tool are given: ``, with room="attic" and "hall", each time with floor=1``."""
    every = [
        {name: value_name(value, number) for name, value in plan.calls[at].arguments if name != AFTER}
        for at in calls
    ]
    shared = {name: shown for name, shown in every[0].items() if all(g.get(name) == shown for g in every)}
    same = ", ".join(f"{name}={shown}" for name, shown in shared.items())
    rest = [{name: shown for name, shown in given.items() if name not in shared} for given in every]
    own = [", ".join(f"{name}={shown}" for name, shown in given.items()) for given in rest]
    varying = {name for given in rest for name in given}
    if len(varying) == 1 and all(rest):
        own[1:] = [shown for given in rest[1:] for shown in given.values()]
        each = _some(own)
    else:
        more = [f"{len(own) - ABOUT} more"] if len(own) > ABOUT + 1 else []
        each = "; ".join([*(shown or "nothing" for shown in own[: ABOUT if more else None]), *more])
    each = f", with {each}" if varying else ""
    return each + (f", each time with {same}" if same else "")


def _tail(calls: Mapping[Any, Any], end: int) -> list[int]:
    """The last calls of a plan, in order, as far as they are among some."""
    start = end
    while start - 1 in calls:
        start -= 1
    return [*range(start, end)]


_VALUES = ("argument.value", "argument.type")


def _whole(edit: Edit) -> bool:
    """Whether an edit is about a whole argument of two partners."""
    return edit.pred is not None and edit.gold is not None and not edit.pred.at and not edit.also


def _is_link(edit: Edit) -> bool:
    return bool(links_of(_argument(edit), edit.gold_value))


def _tool(found: Diff, edit: Edit) -> str | None:
    """The tool of the call of an edit; None for the answer."""
    call = edit.pred.call if edit.pred is not None else None
    return None if call is None else found.pred.calls[call].tool


def _argument(edit: Edit) -> str:
    return (edit.gold.argument if edit.gold is not None else None) or ""


def _of(found: Diff, edit: Edit) -> str:
    return f"{_tool(found, edit)}: argument {_argument(edit)!r}"


def _wanted(names: Names, group: Roots) -> str | None:
    """Gold's values in several edits; None where they are one."""
    shown = [value_name(edit.gold_value, names.their_number) for _, edit in group]
    return _some(shown) if len({*shown}) > 1 else None
