"""From compared pairs to counts: one scored row a pair, whatever became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from planner_eval.base.quick import quick
from planner_eval.comparison.align import match
from planner_eval.comparison.diff import Diff
from planner_eval.metrics import DEFAULT_METRICS, measure, measure_none
from planner_eval.metrics.counts import Tally
from planner_eval.plan.model import Call, Plan
from planner_eval.plan.structure import depth, nesting_patterns, scope
from planner_eval.policy import DEFAULT_POLICY, Policy
from planner_eval.records.rows import JUDGED, STATES, Row, is_cut

if TYPE_CHECKING:
    from planner_eval.scoring.credits import Credits

FIELDS = ("difficulty", "domain", "category")
"""Fields of gold records by which figures are broken down where the records have them."""

STRUCTURE = ("calls", "depth", "pattern", "scope")
"""What gold's structure can be broken down by; a plan without apps has no scope."""


@quick
class Scored:
    """The counts of one pair.

    Args:
        id: The records' id, or their position counted from 1.
        state: One of :data:`planner_eval.records.rows.STATES`.
        tallies: Counts by metric; empty where there is no readable gold plan.
        codes: The codes of the root causes, in topological order.
        reason: The first root cause in words, or why a plan could not be read.
        keys: What figures can be broken down by.
        proved: The pairing of calls is proved optimal.
        repaired: The prediction was readable only after repair.
        choices: The record held several choices or candidates, of which the first was read.
        mistaken: (gold's tool, the prediction's) of calls that another tool was taken for; None for
            a call that was left out, or made too much.
        file: The file of the prediction, or of gold where there is none.
        line: The line there, counted from 1, where it is known.
        repairable: Strict reading refused the prediction, and repair, which was not asked for, would not.
        credits: What its root causes cost, where that is asked for.
        unread: No call was read, and something in the prediction may be one.
    """

    id: str
    state: str
    tallies: Mapping[str, Tally | None] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    reason: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    proved: bool = True
    repaired: bool = False
    choices: bool = False
    mistaken: tuple[tuple[str | None, str | None], ...] = ()
    file: str | None = None
    line: int | None = None
    repairable: bool = False
    credits: Credits | None = None
    unread: bool = False


_UNREAD = Plan((Call("?", "?"),))
"""Stands for a prediction that is absent or unreadable where gold calls nothing."""


def scored_row(
    row: Row,
    metrics: Sequence[str] = DEFAULT_METRICS,
    policy: Policy = DEFAULT_POLICY,
    by: Sequence[str] = (),
    source: tuple[str | None, int | None] = (None, None),
) -> Scored:
    """Count what metrics count in one pair.

    A prediction that is absent or unreadable counts as a plan without calls; where gold calls nothing
    either, so that this would be the right answer, as one call too many. Pairs without a readable gold
    plan have no counts.

    Args:
        row: The compared pair.
        metrics: Names of :data:`planner_eval.metrics.METRICS`.
        policy: The policy that the pair was compared under.
        by: What to break figures down by: names of :data:`STRUCTURE` or of fields of gold records.
        source: The file and the line of the record that the pair is known by.
    """
    name, state, diff, gold, error = row.id, row.state, row.diff, row.gold, row.error
    if state not in JUDGED or gold is None:
        return Scored(name, state, reason=error or STATES[state], file=source[0], line=source[1])
    keys = {name: key for name in by if (key := key_of(name, row)) is not None} if by else {}
    if diff is None or diff.matching is None:
        if gold.calls:
            tallies = measure_none(gold, metrics, policy)
        else:
            tallies = measure(match(_UNREAD, gold, policy), metrics)
        missed: tuple[tuple[str | None, str | None], ...] = tuple((c.tool, None) for c in gold.calls)
        why = error or STATES[state]
        helped = row.mended is not None and not is_cut(row.mended)
        return Scored(name, state, tallies, (), why, keys, True, False, False, missed, *source, helped)
    roots = diff.roots
    codes = {note.code for note in row.pred.diagnostics} if row.pred is not None else ()
    return Scored(
        name,
        state,
        measure(diff.matching, metrics),
        tuple([edit.code for edit in roots]),
        roots[0].message if roots else "",
        keys,
        diff.proved,
        any(code.startswith("repair.") for code in codes),
        "find.choices" in codes,
        _mistaken(diff) if roots else (),
        *source,
        unread="find.unread" in codes,
    )


def _mistaken(diff: Diff) -> tuple[tuple[str | None, str | None], ...]:
    """Which tool was taken for which, from the edits that say so."""
    pred, gold = diff.pred, diff.gold
    confusions: list[tuple[str | None, str | None]] = []
    for edit in diff.edits:
        if edit.code in ("call.replaced", "app.changed", "call.missing", "call.extra", "call.duplicated"):
            pred_tool = pred.calls[edit.pred.call].tool if edit.pred and edit.pred.call is not None else None
            gold_tool = gold.calls[edit.gold.call].tool if edit.gold and edit.gold.call is not None else None
            confusions.append((gold_tool, pred_tool))
    return tuple(confusions)


def key_of(name: str, row: Row) -> str | None:
    """What a pair belongs to in a breakdown; None where its gold record does not say."""
    if row.gold is None:
        return None
    if name == "calls":
        return str(len(row.gold.calls))
    if name == "depth":
        return str(depth(row.gold))
    if name == "pattern":
        return " ".join(sorted(nesting_patterns(row.gold))) or "none"
    if name == "scope":
        return scope(row.gold)
    value = row.fields.get(name)
    return None if value is None else str(value)
