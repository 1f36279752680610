"""Compared pairs in writing: one in full, on one line, as a row of a table or as a test case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import groupby, pairwise

from planner_eval.base.text import JsonObject, one_line, printable
from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.explanation.causes import find_positions_in_pred, is_conversation, is_lookup
from planner_eval.comparison.explanation.edits import Edit, Place, find_form_difference
from planner_eval.comparison.explanation.lines import EditLine, make_edit_lines, name_light_kinds
from planner_eval.comparison.explanation.names import (
    MAX_LISTED,
    MAX_VALUE_LENGTH,
    CallNames,
    Formula,
    call_name,
    calls_name,
    calls_numbers,
    failed_calls,
    find_common_result,
    find_formulas,
    format_list,
    round_number,
)
from planner_eval.comparison.rows import Row, Spans, causes_head, structure_lines
from planner_eval.comparison.turns import TurnComparison, first_wrong_text, late_text, turns_text
from planner_eval.plan.model import Plan
from planner_eval.reading.files.record import Record
from planner_eval.results.views.junit import Case, outcome

# ----------------------------------------------------------------------
# What a prediction that was cut off had got right before the cut, and whether it went round in a circle.
MAX_LOOP_LENGTH = 8
"""Calls of the longest circle that is looked for."""

MIN_LOOP_ROUNDS = 3
"""So often a circle is gone round before it is called one."""


def describe_before_cut(plan: Plan, gold: Plan | None) -> str:
    """The whole calls before a cut, how many of them agree with gold, and where a circle begins.

    Args:
        plan: The calls before the cut.
        gold: What was wanted, where it is known.

    >>> from planner_eval.plan.model import Call
    >>> found = Call("a", "find", (("x", 1),))
    >>> describe_before_cut(Plan((found, Call("b", "wait"), Call("c", "wait"))),
    ...     Plan((found, Call("d", "book"))))
    "find(x=1); wait() ×2; the first agrees with gold's first"
    >>> many = tuple(Call(f"c{number}", "find", (("x", number),)) for number in range(15))
    >>> len(describe_before_cut(Plan(many), None))
    160
    """
    runs = [(name, len([*same])) for name, same in groupby(map(call_name, plan.calls))]
    text = "; ".join(f"{name} ×{times}" if times > 1 else name for name, times in runs[:MAX_VALUE_LENGTH])
    clauses = [one_line(text, 2 * MAX_VALUE_LENGTH) or "no call"]
    more = _right_calls_text(plan, gold) if gold is not None else "", _loop_text(plan)
    return "; ".join([*clauses, *filter(None, more)])


def _right_calls_text(plan: Plan, gold: Plan) -> str:
    """How many of the first calls agree with gold; empty for none."""
    comparison = diff(plan, gold)
    wrong = {pred.call for edit in comparison.edits for pred, _ in edit.places if pred is not None}
    partner = dict(comparison.alignment.pairs)
    images: list[int] = []
    for index in range(len(plan.calls)):
        if index in wrong or index not in partner:
            break
        images.append(partner[index])
    count = len(images)
    if not count:
        return ""
    all_agree = count == len(plan.calls) > 1
    subject = f"all {count}" if all_agree else "the first" if count == 1 else f"the first {count}"
    verb = "agrees" if count == 1 else "agree"
    if sorted(images) == [*range(count)]:
        return f"{subject} {verb} with gold's first" + (f" {count}" if count > 1 else "")
    gold_calls = calls_numbers(images, "gold's ")
    return f"{subject} {verb} with {gold_calls}"


def _loop_text(plan: Plan) -> str:
    """From where on the same calls are made again and again, up to the cut; empty where they are not."""
    names = [call_name(call) for call in plan.calls]
    for length in range(1, MAX_LOOP_LENGTH + 1):
        start = len(names)
        while start > length and names[start - 1] == names[start - 1 - length]:
            start -= 1
        first = start - length
        if len(names) - first >= MIN_LOOP_ROUNDS * length and start < len(names):
            what = "the same call is" if length == 1 else f"the same {length} calls are"
            return f"from call {first + 1} on {what} made again and again"
    return ""


# ----------------------------------------------------------------------
# A compared pair in writing: in full and in short for people, as a row of a table, as a test case.
MAX_LINES = 10
"""Lines of edits that are told of one pair unless all are asked for."""

MIN_CALLS = 3
"""Fewer calls, of gold, or of both where they have none in common, are no plan to tell another one from."""

MIN_ORDERED_CALLS = 3
"""So many calls that act have an order that is worth telling; of a conversation one fewer."""

MIN_FORMULA_CALLS = 4
"""So many calls of two plans that compute are told as formulas where more than one thing differs."""

MAX_TURNS_LENGTH = 300
"""The longest line that is told of turns."""

CALLS_PER_RIGHT_CALL = 4
"""Of another plan at most one call of so many is right."""


def explanation(
    row: Row, *, places: bool = False, structure: bool = False, named: bool = False, each: bool = False
) -> str:
    """One pair in full: the verdict, then what differs, consequences indented under their cause.

    The last lines say in how far the structure differs.

    Args:
        row: The pair.
        places: Tell line and column of each edit in either text, where they are known.
        structure: Tell how the structure differs, call by call, also where it is the same.
        named: Name the calls in which the structure differs, as of one pair alone.
        each: Tell all edits, each on a line; else at most :data:`MAX_LINES` lines, of what is done again and
            again one.
    """
    if row.diff is None:
        readable = _readable_calls_text(row)
        mended = f"\n{readable}" if readable else ""
        text = f"{row.state.replace('_', ' ')}: {row.reason}{mended}"
    else:
        text = diff_text(
            row.diff, places=places, structure=structure, named=named, each=each, turns=row.turns
        )
    ran = f"\n{row.in_effect}" if row.effects is not None else ""
    return printable(text + ran) if row.diff is None else text + printable(ran)


def diff_text(
    diff: Diff,
    *,
    places: bool = False,
    structure: bool = False,
    named: bool = True,
    each: bool = False,
    turns: TurnComparison | None = None,
) -> str:
    """A comparison in full, as :func:`explanation` tells it; `turns` of a conversation's."""
    habit_lines = make_edit_lines(diff)
    formulas = find_formulas(diff.pred, diff.gold)
    lines = [_headline(diff, habit_lines, formulas)]
    if formulas and len(diff.roots) > 1 and len(diff.pred.calls) + len(diff.gold.calls) >= MIN_FORMULA_CALLS:
        lines.append(f"  formula: {printable(', expected '.join(map(str, formulas)))}")
    by_turn, late = (
        [one_line(printable(text), MAX_TURNS_LENGTH) for text in (turns_text(turns), late_text(turns))]
        if turns is not None
        else ("", "")
    )
    delayed = turns is not None and turns.delayed
    # where all is done right it counts when
    if late and all(edit.gold is None or (delayed and find_form_difference(edit)) for edit in diff.edits):
        if delayed:
            done = "all of gold's calls are made, but not all in time"
            lines[0] = _headline(diff, habit_lines, formulas, done)
        lines.append(f"  {late}")
        late = ""
    spans = {"pred": Spans(diff.pred), "gold": Spans(diff.gold)}
    edit_lines = make_edit_lines(diff, each=True) if each else habit_lines
    selected_lines = edit_lines if each else _select_lines(edit_lines)
    for line in selected_lines:
        where = ", ".join(_locations(diff.edits[line.edits[0]], spans)) if places else ""
        text = _line_text(line) + (f" [{where}]" if where else "")
        lines.append(printable(text).replace("\n", "\\n"))
    end = len(lines)
    left = len(diff.edits) - sum(len(line.edits) for line in selected_lines)
    if left:
        lines.append(f"  +{left:,} more (--all)")
    if diff.pred.calls and (failed := failed_calls(diff.pred)):
        lines.append(f"  failed, which does not count: {printable(', '.join(failed))}")
    if order := _order_note(diff, talks=turns is not None):
        later = (n for n, line in enumerate(selected_lines[1:], 1) if line.depth == 0)
        rest = len(selected_lines) - next(later, len(selected_lines)) if turns is not None else 0
        lines.insert(end - rest, f"  {printable(order)}")
    compared = printable(structure_lines(diff, whole=structure, named=named))
    return "\n".join([*lines, *filter(None, (compared, by_turn, late))])


def _line_text(line: EditLine) -> str:
    """A line as it is printed, below its cause."""
    return f"  {'  ' * line.depth}{'↳ ' * (line.depth > 0)}{line.head}: {line.said}"


def _order_note(diff: Diff, *, talks: bool) -> str:
    """Which calls that act come in another order than gold's, where nothing but the order tells so.

    It does not count; of plans that differ people want to know it all the same, where there are so many. In a
    conversation it may be what the effect hangs on.
    """
    matching = diff.matching
    if diff.same or diff.pred.edges or diff.gold.edges or (matching and matching.misplaced):
        return ""
    pairs = [pair for pair in diff.alignment.pairs if not is_lookup(diff.gold.calls[pair[1]])]
    distinct = len({diff.gold.calls[gold].tool for _, gold in pairs}) == len(pairs)
    if len(pairs) < MIN_ORDERED_CALLS - talks or not distinct:
        return ""
    names = CallNames.of(diff.pred, diff.gold, diff.alignment.pairs)
    by_gold = sorted(pairs, key=lambda pair: pair[1])
    texts = [
        f"{names.ours(then)} comes before {names.ours(first)}"
        for (first, _), (then, _) in pairwise(by_gold)
        if then < first
    ]
    kind = "order, which does not count" + " but may decide" * talks
    return f"{kind}: {format_list(texts)}" if texts else ""


def _select_lines(lines: list[EditLine]) -> list[EditLine]:
    """The lines that are told where not all are: the first, but of each kind of root cause one."""
    selected, remaining = [*range(min(MAX_LINES, len(lines)))], range(MAX_LINES, len(lines))
    for index in remaining:
        names = [lines[other].name for other in selected]
        if lines[index].depth or lines[index].name in names:
            continue
        for other in reversed(selected[1:]):
            if not lines[other].depth and names.count(lines[other].name) > 1:
                above = other + 1 in selected and lines[other + 1].depth
                if not above:
                    selected.remove(other)
                    selected.append(index)
                    break
    return [lines[index] for index in selected]


def _locations(edit: Edit, spans: Mapping[str, Spans]) -> list[str]:
    """Line and column of an edit in either text, where they are known."""
    positions = []
    for role, location in (("pred", edit.pred), ("gold", edit.gold)):
        position = spans[role].line_of(location) if location is not None else None
        if position is not None:
            positions.append(f"{role} {position[0]}:{position[1]}")
    return positions


_BROKEN_CODES = frozenset({
    "argument.renamed", "argument.missing", "argument.extra", "order.broken", "reference.output",
})  # fmt: skip
"""Edits with which a plan that computes would not run."""


def _headline(diff: Diff, lines: list[EditLine], formulas: list[Formula], first: str = "") -> str:
    """The verdict, how many causes there are and the `first` thing to know, else where it differs first."""
    bounded = "" if diff.proved else " (the pairing of calls is not proved optimal: the search was bounded)"
    if diff.same:
        return "same" + bounded
    roots = [line for line in lines if line.depth == 0]
    edits, causes = len(diff.edits), len(roots)
    text = f"different: {edits} edit{'s' * (edits != 1)}"
    if causes < edits:
        text = f"different: {causes} cause{'s' * (causes != 1)} ({edits:,} edits)"
    result = None if _BROKEN_CODES.intersection(e.code for e in diff.edits) else find_common_result(formulas)
    if result is not None:
        return f"{text}, but both come to {round_number(result)}{bounded}"
    kinds = name_light_kinds(diff)
    text += f", perhaps in {format_list(kinds)} alone" if kinds else _other_plan_note(diff)
    if not first and (call := _first_divergent_call(diff)):
        first = f"first at {printable(call)}".replace("\n", "\\n")
    text += f"; {first}" * bool(first)
    if not diff.shortest:
        bounded += " (a shorter explanation may exist: the search was bounded)"
    return text + bounded


def _count_recognised(diff: Diff) -> int:
    """How many calls have a partner of their tool, or one of another with half its arguments."""
    places = {gold for edit in diff.edits for _, gold in edit.places if gold is not None}
    wrong = Counter(call for call, _ in {place[:2] for place in places if place.argument is not None})
    replaced = {edit.gold and edit.gold.call for edit in diff.edits if edit.code == "call.replaced"}
    return sum(
        gold not in replaced or 2 * wrong[gold] <= len(diff.gold.calls[gold].arguments)
        for _, gold in diff.alignment.pairs
    )


def _other_plan_note(diff: Diff) -> str:
    """Words for a prediction of which hardly a call is one of gold's; none for any other."""
    calls, pred_calls = len(diff.gold.calls), diff.pred.calls
    if not calls or not pred_calls or (is_conversation(diff.pred) and all(map(is_lookup, pred_calls))):
        return ""
    if not diff.alignment.pairs:
        return ", another plan (no call in common)" if calls + len(pred_calls) >= MIN_CALLS else ""
    right = sum(call.role == "kept" for call in diff.calls())
    looked_up = sum(is_lookup(pred_calls[position]) for position in diff.alignment.extra)
    if (
        calls < MIN_CALLS
        or 2 * _count_recognised(diff) >= min(len(pred_calls) - looked_up, calls)
        or right * CALLS_PER_RIGHT_CALL > calls
    ):
        return ""
    are = "is" if right == 1 else "are"
    return f", another plan ({right} of gold's {calls} calls {are} right)"


def _first_divergent_call(diff: Diff) -> str:
    """The first divergent call; of one that is missing, where the prediction would have it."""
    first = diff.first
    if first is None:
        return ""
    plan, index = first
    pairs = diff.alignment.pairs
    names = CallNames.of(diff.pred, diff.gold, pairs)
    if plan is diff.pred:
        is_repeat = any(edit.code == "call.duplicated" and edit.pred == Place(index) for edit in diff.roots)
        return f"{names.ours(index)}, which {'repeats another' if is_repeat else 'is not in gold'}"
    if names.to_pred[index] >= 0:
        return names.ours(names.to_pred[index])
    pred, direction = find_positions_in_pred(plan, pairs)[index]
    where = f" {'after' if direction > 0 else 'before'} {names.ours(pred)}" if pairs else ""
    return f"gold's {names.theirs(index)}, missing{where}"


def summary_line(row: Row) -> str:
    """One pair on one line: the verdict, what the plans come to, the causes, the first of them in words."""
    if row.diff is None:
        mended = f"; {_readable_calls_text(row)}" if row.mended is not None else ""
        return f"{row.state.replace('_', ' ')}: {row.reason.splitlines()[0]}{mended}"
    ran = _effect_summary(row)
    if row.diff.same:
        return "same" + ("" if row.diff.proved else " (not proved)") + ran
    head = causes_head([edit.code for edit in row.diff.roots])
    where = f", {text}" if row.turns is not None and (text := first_wrong_text(row.turns)) else ""
    return f"different{where}{ran}: {head}{row.diff.roots[0].message}"


def _effect_summary(row: Row) -> str:
    """What the plans come to, in a few words; why it is not known."""
    if row.effects is None:
        return ""
    if row.effects["verdict"] == "unknown":
        return f", {row.in_effect}"
    verdict = "the same" if row.effects["verdict"] == "same" else "different"
    reached = ", gold's goal reached" if verdict == "different" and row.effects["reached"] else ""
    return f", {verdict} when run{reached}"


def _readable_calls_text(row: Row) -> str:
    """What repair makes of an unreadable prediction, or the calls before its fault; empty for nothing."""
    plan = row.mended
    if plan is not None and row.state == "cut":
        return f"complete calls before the cut: {describe_before_cut(plan, row.gold)}"
    if plan is not None:
        repairs = (note.message for note in plan.diagnostics if note.code.startswith("repair."))
        named = (message.removeprefix("repaired: ").partition(", or ")[0] for message in repairs)
        return f"readable with --repair: {calls_name(plan)}; repaired: {'; '.join(named)}"
    plan = row.before
    if plan is None or row.gold is None:
        return ""
    if not plan.calls:
        return f"no call before the fault; gold makes {calls_name(row.gold)}"
    lines = make_edit_lines(diff(plan, row.gold))
    texts = [_line_text(line) for line in lines[:MAX_LISTED]]
    texts += [f"  +{len(lines) - MAX_LISTED} more"] if len(lines) > MAX_LISTED else []
    described = describe_before_cut(plan, row.gold)
    return "\n".join([f"calls before the fault: {described}", *texts])


def flat_row(row: Row) -> JsonObject:
    """One pair as a row of a table, by its columns."""
    diff = row.diff
    return {
        "id": row.id,
        "state": row.state,
        "proved": diff.proved if diff else None,
        "edits": len(diff.edits) if diff else None,
        "causes": len(diff.roots) if diff else None,
        "codes": " ".join(edit.code for edit in diff.edits) if diff else None,
        "first": diff.roots[0].message if diff and diff.roots else row.error,
        **(
            {} if row.effects is None else {"effects": row.effects["said"], "reached": row.effects["reached"]}
        ),
    }


def row_case(row: Row, record: Record | None) -> Case:
    """One pair as a test case, about a record."""
    test_case = Case(row.id, outcome(row.state, limited=False), row.state, group="diff").at(record)
    if row.diff is None:
        message = row.reason
        return test_case._replace(
            message=f"{row.state.replace('_', ' ')}: {message.splitlines()[0]}", text=message
        )
    if row.differs_when_run:
        return test_case._replace(
            outcome="failure", code="effect", message=row.in_effect, text=explanation(row)
        )
    if row.diff.same:
        return test_case._replace(text=row.in_effect)
    return test_case._replace(
        code=row.diff.roots[0].code, message=summary_line(row), text=explanation(row, each=True)
    )
