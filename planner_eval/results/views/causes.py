"""What root causes cost, in writing: a short table and the best fixes, or rows for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner_eval.base.ratios import round_ratio
from planner_eval.base.tables import table
from planner_eval.base.text import format_count, one_line
from planner_eval.comparison.rows import STATES
from planner_eval.results.attribution import ALONE, EVEN
from planner_eval.results.causes import KINDS, Causes, CauseSum

_MAX_GROUPS_SHOWN = 3
"""Groups of a kind that are shown to people; programs get all."""


def causes_text(causes: Causes, form: str = "text") -> str:
    """What people are told of root causes, as text or ``md``, without a last line end."""
    if not causes.rows:
        return "root causes: nothing is wrong" if causes.pairs else "root causes: no pair could be judged"
    selected = [row for kind in KINDS for row in causes.of(kind)[:_MAX_GROUPS_SHOWN]]
    rows = [{key: _round_float(value) for key, value in row.items()} for row in cause_rows(selected)]
    more = [f"{more} by {kind}" for kind in KINDS if (more := len(causes.of(kind)) - _MAX_GROUPS_SHOWN) > 0]
    lines = [f"cheaper ones left out: {', '.join(more)}"] if more else []
    lines += [f"{number}. {fix_sentence(causes, fix)}" for number, fix in enumerate(causes.fixes, 1)]
    lines += [sentence for how in (ALONE, EVEN) if (sentence := _method_note(how, causes.how.get(how, 0)))]
    losses = [_round_float(1 - value) for value in (causes.exact, causes.similarity) if value is not None]
    over = f"(means over {format_count(causes.pairs, 'pair')})"
    head = f"what root causes cost: of exact {losses[0]}, of similarity {losses[1]} {over}"
    blocks = [head, table(rows, form), "\n".join(lines)]
    return "\n\n".join(blocks) if form == "md" else "\n".join(blocks)


def cause_rows(sums: Sequence[CauseSum]) -> list[dict[str, Any]]:
    """Groups of root causes as rows of a table."""
    return [
        {
            "by": row.kind,
            "cause": row.name,
            "pairs": row.pairs,
            "exact": round(row.exact, 6),
            "similarity": round(row.similarity, 6),
            "gain": round(row.gain, 6),
        }
        for row in sums
    ]


def causes_data(causes: Causes) -> dict[str, Any]:
    """What root causes cost as JSON data."""
    return {
        "pairs": causes.pairs,
        "exact": causes.exact,
        "similarity": causes.similarity,
        "how": dict(causes.how),
        "causes": [_cause_data(row) for row in causes.rows],
        "fixes": [{**_cause_data(fix), "words": fix_sentence(causes, fix)} for fix in causes.fixes],
    }


def _cause_data(row: CauseSum) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name != "parts"}


def _all_pairs_text(count: int) -> str:
    return "both" if count == 2 else f"all {count:,}"


def fix_sentence(causes: Causes, fix: CauseSum) -> str:
    """What mending a group in all pairs would gain, as a sentence."""
    where = (
        "in the one pair that has it"
        if fix.pairs == 1
        else f"in {_all_pairs_text(fix.pairs)} pairs that have it"
    )
    if fix.kind == "argument":
        sentence = f"if {fix.parts[0]}'s argument '{fix.parts[1]}' were right"
    elif fix.kind == "call":
        sentence = f"if {fix.parts[1]} of {fix.parts[0]} were mended"
    elif fix.parts[0] in STATES:
        subject = "the one prediction" if fix.pairs == 1 else f"{_all_pairs_text(fix.pairs)} predictions"
        sentence, where = f"if {subject} of state '{fix.parts[0]}' were right", ""
    else:
        sentence = f"if {fix.parts[0]} were mended"
    sentence = one_line(f"{sentence} {where}", 200).rstrip()
    exact = causes.exact or 0.0
    if not fix.gain:
        return f"{sentence}, exact would stay {_round_float(exact)}: what has it has other causes too"
    rise = f"from {_round_float(exact)} to {_round_float(exact + fix.gain)} (+{_round_float(fix.gain)})"
    return f"{sentence}, exact would rise {rise}"


def _method_note(how: str, pairs: int) -> str:
    if not pairs:
        return ""
    if how == ALONE:
        return (
            f"{format_count(pairs, 'pair')} of more than 8 causes, or large: each mended first and "
            "mended last"
        )
    return (
        f"{format_count(pairs, 'pair')} of more than 64 causes, or very large: equal shares of what is lost"
    )


def _round_float(value: Any) -> Any:
    return round_ratio(value, 3) if isinstance(value, float) else value
