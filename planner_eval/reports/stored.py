"""Pairs as a run of `planeval diff` told them: their plans are read again, and nothing is compared twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.comparison.structure_figures import Sides as Both
from planner_eval.comparison.structure_figures import StructureFigures
from planner_eval.engine.job import Pair as Records
from planner_eval.metrics.counts import Share
from planner_eval.plan.model import Plan
from planner_eval.policy import recognised
from planner_eval.records.gold import read_gold
from planner_eval.records.plans import read_plan
from planner_eval.records.record import Record
from planner_eval.records.rows import JUDGED, Evaluation, Row
from planner_eval.reports.job import PageJob, pair_of, place_of
from planner_eval.reports.lines import Lines, Pair
from planner_eval.reports.told import said_in
from planner_eval.scoring.scored import Scored, key_of, scored_row
from planner_eval.scoring.totals import Totals

METRICS = ("exact",)
"""What such rows say without the plans being compared again."""

_READ = ("same", "different", "gold_unreadable", "gold_absent")
"""The states in which there may be a plan that was predicted."""

_MOST = 4_096


def stored_lines(
    job: PageJob, pairs: Iterable[Records], rows: Iterable[bytes], fold: Totals
) -> Iterator[str]:
    """A line a pair; adds each to the sums.

    Pairs that the rows leave out, or whose gold allows several plans, are compared again.

    Args:
        job: How pairs are read and told; its metrics are :data:`METRICS`.
        pairs: All pairs of the run.
        rows: The run's rows, in their order.
        fold: The sums.
    """
    reader, lines = _Reader(job), Lines(job.query, texts=job.texts)
    policy, waiting = recognised(job.score.policy), map(json.loads, rows)
    data = next(waiting, None)
    for position, (pred, gold) in enumerate(pairs):
        known = gold or pred
        name = known.id if known is not None and known.id is not None else str(position + 1)
        told = None
        if data is not None and data.get("id") == name:
            told = reader.told(name, data, pred, gold)
            data = next(waiting, None)
        if told is None:
            row = reader.again.row(reader.again.read(position, (pred, gold)))
            scored = scored_row(row, METRICS, policy, job.score.by, place_of(pred or gold))
            told = row, pair_of(row, job.fields), scored
        row, pair, scored = told
        fold.note(row, names=False)
        fold.add(scored)
        yield lines.line(pair, pred, gold)


class _Reader:
    """Reads the plans of pairs that were compared; gold plans that many pairs share once."""

    def __init__(self, job: PageJob) -> None:
        how, self.job = job.score.reading, job
        dialects = how["dialect"], how["gold_dialect"] or how["dialect"]
        self.again = Evaluation(
            *dialects, recognised(job.score.policy), True, bool(how["repair"]), how["compute"], True
        )
        self._golds: dict[str, Plan] = {}

    def told(
        self, name: str, data: Mapping[str, Any], pred: Record | None, gold: Record | None
    ) -> tuple[Row, Pair, Scored] | None:
        """A pair by its row; None where that does not say which gold plan it is about."""
        state, how = data["state"], self.again
        ours = theirs = None
        if gold is not None and state in JUDGED:
            found = read_gold(gold, dialect=how.gold_dialect, compute=how.compute, known=self._known(gold))
            if len(found.plans) > 1:
                return None
            theirs = found.plan
            if type(gold.source) is str:
                self._keep(gold, theirs)
        if state in _READ and pred is not None:
            with suppress(ParseError):  # the row says it already
                ours = read_plan(pred, dialect=how.pred_dialect, compute=how.compute, repair=how.repair)
        row = Row(name, state, None, ours, theirs, data.get("error"), gold.fields if gold is not None else {})
        fields = {one: key for one in self.job.fields if (key := key_of(one, row)) is not None}
        edits = [said_in(edit) for edit in data.get("edits", ())]
        partners, mended = data.get("pairs", ()), data.get("readable_with_repair")
        shape = structure_said(data.get("structure"))
        pair = Pair(name, state, ours, theirs, edits, partners, shape, row.error, mended, fields)
        return row, pair, self._scored(row, pair, data, place_of(pred or gold))

    def _known(self, gold: Record) -> Plan | None:
        """The plan of another gold record of the same text."""
        plain = type(gold.source) is str and gold.error is None and gold.infer is False
        return self._golds.get(gold.source) if plain and (gold.dialect, gold.turn) == (None, None) else None

    def _keep(self, gold: Record, plan: Plan) -> None:
        if len(self._golds) >= _MOST:
            self._golds.clear()
        self._golds[gold.source] = plan

    def _scored(
        self, row: Row, pair: Pair, data: Mapping[str, Any], place: tuple[str | None, int | None]
    ) -> Scored:
        if row.state not in JUDGED:
            return Scored(row.id, row.state, reason=row.error or "", file=place[0], line=place[1])
        roots = [edit for edit in pair.edits if edit.cause is None]
        notes = {note.code for note in row.pred.diagnostics} if row.pred is not None else set()
        return Scored(
            row.id,
            row.state,
            {"exact": Share(int(row.state == "same"), 1)},
            tuple(edit.code for edit in roots),
            roots[0].words if roots else row.error or "",
            {one: key for one in self.job.score.by if (key := key_of(one, row)) is not None},
            data.get("proved", True),
            any(code.startswith("repair.") for code in notes),
            "find.choices" in notes,
            (),
            *place,
        )


def structure_said(data: Mapping[str, Any] | None) -> str:
    """In how far the structure differs, in words, from what a row says of it.

    >>> one = {"pred": 2, "gold": 1}
    >>> structure_said({"components": {**one, "torn": 0, "joined": 0}, "depth": one, "width": one,
    ...                 "dependencies": {"lost": 1, "added": 0}})
    'structure: 2 components instead of 1; depth 2 instead of 1; 1 dependency lost'
    """
    if data is None:
        return ""
    parts, moved = data["components"], data["dependencies"]
    components, depth, width = (
        Both(data[name]["pred"], data[name]["gold"]) for name in ("components", "depth", "width")
    )
    changed = parts["torn"], parts["joined"], moved["lost"], moved["added"]
    said = str(StructureFigures(components, depth, width, *changed))
    return f"structure: {said}" if said else ""
