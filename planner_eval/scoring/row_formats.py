"""A compared pair in writing: in full and in short for people, as a row of a table, as a test case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from planner_eval.base.text import printable
from planner_eval.comparison.causes import places_in_pred
from planner_eval.comparison.diff import Diff, Edit
from planner_eval.comparison.edits import Place
from planner_eval.comparison.habits import Line, told_lines
from planner_eval.comparison.sentences import Names, calls_name
from planner_eval.comparison.structure_report import structure_lines
from planner_eval.plan.model import Plan
from planner_eval.records.files import Record
from planner_eval.records.rows import STATES, Row, Spans
from planner_eval.scoring.cut_words import before_cut
from planner_eval.scoring.diff_sums import differs
from planner_eval.scoring.junit import Case, outcome

MOST = 10
"""Lines of edits that are told of one pair unless all are asked for."""

PLAN = 4
"""Fewer calls of gold are no plan that another one is told from."""

MISTAKES = 5
"""Fewer causes are so many mistakes of one plan."""

HARDLY = 4
"""Of another plan at most one call of so many is right, and there are as many causes as calls, or more."""


def explanation(row: Row, *, places: bool = False, structure: bool = False, each: bool = False) -> str:
    """One pair in full: the verdict, then what differs, consequences indented under their cause.

    The last lines say in how far the structure differs.

    Args:
        row: The pair.
        places: Tell line and column of each edit in either text, where they are known.
        structure: Tell how the structure differs, call by call, also where it is the same.
        each: Tell all edits, each on a line; else at most :data:`MOST` lines, of what is done again and
            again one.
    """
    if row.diff is None:
        mended = f"\n{_readable(row)}" if row.mended is not None else ""
        text = f"{row.state.replace('_', ' ')}: {row.error or STATES[row.state]}{mended}"
    else:
        text = diff_text(row.diff, places=places, structure=structure, each=each)
    ran = f"\n{row.in_effect}" if row.effects is not None else ""
    return printable(text + ran) if row.diff is None else text + printable(ran)


def diff_text(diff: Diff, *, places: bool = False, structure: bool = False, each: bool = False) -> str:
    """A comparison in full, as :func:`explanation` tells it."""
    lines = [_headline(diff)]
    spans = {"pred": Spans(diff.pred), "gold": Spans(diff.gold)}
    edit_lines = told_lines(diff, each=each)
    selected_lines = edit_lines if each else _few(edit_lines)
    for line in selected_lines:
        lead = "  " * line.depth + ("↳ " if line.depth else "")
        where = ", ".join(_places(diff.edits[line.edits[0]], spans)) if places else ""
        text = f"  {lead}{line.head}: {line.said}" + (f" [{where}]" if where else "")
        lines.append(printable(text).replace("\n", "\\n"))
    left = len(diff.edits) - sum(len(line.edits) for line in selected_lines)
    if left:
        lines.append(f"  +{left:,} more (--all)")
    compared = printable(structure_lines(diff, whole=structure))
    return "\n".join([*lines, compared] if compared else lines)


def _few(lines: list[Line]) -> list[Line]:
    """The lines that are told where not all are: the first, but of each kind of root cause one."""
    selected, remaining = [*range(min(MOST, len(lines)))], range(MOST, len(lines))
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


def _places(edit: Edit, spans: Mapping[str, Spans]) -> list[str]:
    """Line and column of an edit in either text, where they are known."""
    positions = []
    for role, location in (("pred", edit.pred), ("gold", edit.gold)):
        position = spans[role].line_of(location) if location is not None else None
        if position is not None:
            positions.append(f"{role} {position[0]}:{position[1]}")
    return positions


def _headline(diff: Diff) -> str:
    bounded = "" if diff.proved else " (the pairing of calls is not proved optimal: the search was bounded)"
    if diff.same:
        return "same" + bounded
    roots = [line for line in told_lines(diff) if line.depth == 0]
    edits, causes = len(diff.edits), len(roots)
    text = f"different: {edits} edit{'s' * (edits != 1)}"
    if causes < edits:
        text = f"different: {causes} cause{'s' * (causes != 1)} ({edits:,} edits)"
    text += _another(diff, sum(line.mistakes for line in roots))
    first = _first(diff)
    if first:
        text += f"; first at {printable(first)}".replace("\n", "\\n")
    return text + bounded


def _another(diff: Diff, causes: int) -> str:
    """Words for a prediction of which hardly a call is right, for many causes; none for any other."""
    calls = len(diff.gold.calls)
    if (
        not diff.pred.calls
        or calls < PLAN
        or causes < max(calls, MISTAKES)
        or 2 * sum(edit.code in _OTHERS for edit in diff.edits) < calls
    ):
        return ""
    right = sum(call.role == "kept" for call in diff.calls())
    are = "is" if right == 1 else "are"
    return "" if right * HARDLY > calls else f", another plan ({right} of gold's {calls} calls {are} right)"


_OTHERS = ("call.missing", "call.extra", "call.duplicated", "call.replaced")


def _first(diff: Diff) -> str:
    """The first divergent call; of one that is missing, where the prediction would have it."""
    first = diff.first
    if first is None:
        return ""
    plan, index = first
    pairs = diff.alignment.pairs
    names = Names.of(diff.pred, diff.gold, pairs)
    if plan is diff.pred:
        is_repeat = any(edit.code == "call.duplicated" and edit.pred == Place(index) for edit in diff.roots)
        return f"{names.ours(index)}, which {'repeats another' if is_repeat else 'is not in gold'}"
    if names.to_pred[index] >= 0:
        return names.ours(names.to_pred[index])
    pred, direction = places_in_pred(plan, pairs)[index]
    where = f" {'after' if direction > 0 else 'before'} {names.ours(pred)}" if pairs else ""
    return f"gold's {names.theirs(index)}, missing{where}"


def in_short(row: Row) -> str:
    """One pair on one line: the verdict, what the plans come to, the causes, the first of them in words."""
    if row.diff is None:
        mended = f"; {_readable(row)}" if row.mended is not None else ""
        return f"{row.state.replace('_', ' ')}: {(row.error or STATES[row.state]).splitlines()[0]}{mended}"
    ran = _effect_in_short(row)
    if row.diff.same:
        return "same" + ("" if row.diff.proved else " (not proved)") + ran
    codes = Counter(edit.code for edit in row.diff.roots)
    named = ", ".join(code if count == 1 else f"{code} ×{count}" for code, count in codes.items())
    return f"different{ran}: {named}: {row.diff.roots[0].message}"


def _effect_in_short(row: Row) -> str:
    """What the plans come to, in a few words; why it is not known."""
    if row.effects is None:
        return ""
    if row.effects["verdict"] == "unknown":
        return f", {row.in_effect}"
    verdict = "the same" if row.effects["verdict"] == "same" else "different"
    reached = ", gold's goal reached" if verdict == "different" and row.effects["reached"] else ""
    return f", in effect {verdict}{reached}"


def _readable(row: Row) -> str:
    plan = row.mended or Plan()
    if row.state == "cut":
        return f"whole calls before the cut: {before_cut(plan, row.gold)}"
    return f"readable with --repair: {calls_name(plan)}"


def flat(row: Row) -> dict[str, Any]:
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


def case(row: Row, record: Record | None) -> Case:
    """One pair as a test case, about a record."""
    test_case = Case(row.id, outcome(row.state, limited=False), row.state, group="diff").at(record)
    if row.diff is None:
        message = row.error or STATES[row.state]
        return test_case._replace(
            message=f"{row.state.replace('_', ' ')}: {message.splitlines()[0]}", text=message
        )
    if differs(row):
        return test_case._replace(
            outcome="failure", code="effect", message=row.in_effect, text=explanation(row)
        )
    if row.diff.same:
        return test_case._replace(text=row.in_effect)
    return test_case._replace(
        code=row.diff.roots[0].code, message=in_short(row), text=explanation(row, each=True)
    )
