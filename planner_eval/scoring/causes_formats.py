"""What root causes cost, in writing: a short table and the best fixes, or rows for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner_eval.base.ratios import rounded
from planner_eval.base.tables import table
from planner_eval.base.text import counted, one_line
from planner_eval.records.rows import STATES
from planner_eval.scoring.causes import KINDS, Causes, CauseSum
from planner_eval.scoring.credits import ALONE, EVEN

_SHOWN = 3
"""Groups of a kind that are shown to people; programs get all."""


def causes_text(found: Causes, form: str = "text") -> str:
    """What people are told of root causes, as text or ``md``, without a last line end."""
    if not found.rows:
        return "root causes: nothing is wrong" if found.pairs else "root causes: no pair could be judged"
    shown = [row for kind in KINDS for row in found.of(kind)[:_SHOWN]]
    rows = [{key: _short(value) for key, value in row.items()} for row in cause_rows(shown)]
    more = [f"{more} by {kind}" for kind in KINDS if (more := len(found.of(kind)) - _SHOWN) > 0]
    lines = [f"cheaper ones left out: {', '.join(more)}"] if more else []
    lines += [f"{number}. {fix_words(found, fix)}" for number, fix in enumerate(found.fixes, 1)]
    lines += [said for how in (ALONE, EVEN) if (said := _said(how, found.how.get(how, 0)))]
    lost = [_short(1 - value) for value in (found.exact, found.similarity) if value is not None]
    over = f"(means over {counted(found.pairs, 'pair')})"
    head = f"what root causes cost: of exact {lost[0]}, of similarity {lost[1]} {over}"
    blocks = [head, table(rows, form), "\n".join(lines)]
    return "\n\n".join(blocks) if form == "md" else "\n".join(blocks)


def cause_rows(found: Sequence[CauseSum]) -> list[dict[str, Any]]:
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
        for row in found
    ]


def causes_data(found: Causes) -> dict[str, Any]:
    """What root causes cost as JSON data."""
    return {
        "pairs": found.pairs,
        "exact": found.exact,
        "similarity": found.similarity,
        "how": dict(found.how),
        "causes": [_data(row) for row in found.rows],
        "fixes": [{**_data(fix), "words": fix_words(found, fix)} for fix in found.fixes],
    }


def _data(row: CauseSum) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name != "parts"}


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count:,}"


def fix_words(found: Causes, fix: CauseSum) -> str:
    """What mending a group in all pairs would gain, as a sentence."""
    where = "in the one pair that has it" if fix.pairs == 1 else f"in {_all(fix.pairs)} pairs that have it"
    if fix.kind == "argument":
        said = f"if {fix.parts[0]}'s argument '{fix.parts[1]}' were right"
    elif fix.kind == "call":
        said = f"if {fix.parts[1]} of {fix.parts[0]} were mended"
    elif fix.parts[0] in STATES:
        each = "the one prediction" if fix.pairs == 1 else f"{_all(fix.pairs)} predictions"
        said, where = f"if {each} of state '{fix.parts[0]}' were right", ""
    else:
        said = f"if {fix.parts[0]} were mended"
    said = one_line(f"{said} {where}", 200).rstrip()
    exact = found.exact or 0.0
    if not fix.gain:
        return f"{said}, exact would stay {_short(exact)}: what has it has other causes too"
    return (
        f"{said}, exact would rise from {_short(exact)} to {_short(exact + fix.gain)} (+{_short(fix.gain)})"
    )


def _said(how: str, pairs: int) -> str:
    if not pairs:
        return ""
    if how == ALONE:
        return f"{counted(pairs, 'pair')} of more than 8 causes, or large: each mended first and mended last"
    return f"{counted(pairs, 'pair')} of more than 64 causes, or very large: equal shares of what is lost"


def _short(value: Any) -> Any:
    return rounded(value, 3) if isinstance(value, float) else value
