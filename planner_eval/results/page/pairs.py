"""Pairs for a page: compared now, or as a run told them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.text import JsonObject
from planner_eval.comparison.explanation.names import calls_name
from planner_eval.comparison.gold_alternatives import read_gold
from planner_eval.comparison.metrics.facts import Share
from planner_eval.comparison.policy.policy import intern_policy
from planner_eval.comparison.rows import JUDGED_STATES, PairReading, Row, Spans, structure_lines
from planner_eval.comparison.structure_figures import FigurePair, StructureFigures
from planner_eval.comparison.turns import turns_of
from planner_eval.plan.model import Plan
from planner_eval.reading.files.files import read_plan
from planner_eval.reading.files.record import Record, pair_name
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.results.page.conversation import conversation_data
from planner_eval.results.page.lines import Pair, PairLineWriter
from planner_eval.results.page.packed_edits import edit_message, read_edit_message
from planner_eval.results.runs.jobs import (
    ComparedPair,
    Effects,
    ScoreJob,
    add_run_facts,
    evaluation_of,
    run_stages,
)
from planner_eval.results.runs.pairs import Pair as Records
from planner_eval.results.runs.stored import StoredLines
from planner_eval.results.scored import ScoredRow, keys_of, line_of, scored_row
from planner_eval.results.totals import Totals


# ----------------------------------------------------------------------
# Pairs compared for a page: each a line, and figures that add up.
@fast_frozen
class PageJob:
    """How pairs are read, compared, counted and told.

    Args:
        score: How they are read, compared and counted.
        fields: What pairs can be told apart by, as for figures' breakdowns.
        query: The field that holds the question.
        texts: Whether texts of plans are shown.
        counts: Whether lines keep what metrics counted, for two runs to be compared.
    """

    kind = "report"

    score: ScoreJob
    fields: tuple[str, ...] = ()
    query: str | None = None
    texts: bool = True
    counts: bool = False

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {**self.score.options(), "query": self.query, "texts": self.texts}

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that were kept as data."""
        return self.score.fold(data)

    def rows(self, pairs: Iterable[Records], fold: Totals, effects: Effects | None = None) -> Iterator[str]:
        """A line a pair, in order; adds each to the sums.

        Args:
            pairs: Neighbouring pairs.
            fold: The sums.
            effects: Runs the plans of a row, whose prediction's and gold's records it is given.
        """
        job, lines = self.score, PairLineWriter(self.query, texts=self.texts)
        policy = intern_policy(job.policy)
        names = policy.names_tools
        evaluation = evaluation_of(job.reading, policy, located=self.texts, gold_named=job.gold_named)
        counted = job.counting(policy)

        def compared(read_pair: PairReading) -> ComparedPair:
            row = evaluation.row(read_pair)
            if effects is not None:
                row = row._replace(effects=effects(row, read_pair.pred, read_pair.gold))
            fold.note(row, names=names)
            return ComparedPair(read_pair, row)

        for pair in run_stages(pairs, evaluation.read, compared):
            read_pair, row = pair
            scored = counted(pair)
            fold.add(scored)
            counts = line_of(scored) if self.counts else "null"
            yield lines.line(self.pair(row, read_pair.pred), read_pair.pred, read_pair.gold, counts)

    def pair(self, row: Row, record: Record | None) -> Pair:
        """What the page tells of a compared pair, with the conversation that the prediction is.

        Args:
            row: The pair.
            record: The prediction's record.
        """
        told = pair_of(row, self.fields)
        if not self.texts:
            return told
        return told._replace(more=conversation_data(record, row.pred, told.pred, row.turns))


def record_location(record: Record | None) -> tuple[str | None, int | None]:
    """Where a record stands."""
    return (None, None) if record is None else (record.file, record.line)


def pair_of(row: Row, fields: Iterable[str]) -> Pair:
    """What a page tells of a compared pair.

    Args:
        row: The pair.
        fields: What pairs can be told apart by.
    """
    diff = row.diff
    pair = Pair(
        row.id,
        row.state,
        row.pred,
        row.gold,
        error=row.error,
        mended=None if row.mended is None else calls_name(row.mended),
        fields=pair_fields(fields, row),
        ran=row.effects,
    )
    if diff is None:
        return pair
    spans = Spans(diff.pred)
    return pair._replace(
        pred=diff.pred,
        gold=diff.gold,
        edits=[edit_message(edit, spans) for edit in diff.edits],
        partners=diff.alignment.pairs,
        structure=structure_lines(diff),
        error=None,
    )


WRONG_TURN = "first wrong turn"
"""The field by which a page tells apart conversations of several turns."""


def pair_fields(names: Iterable[str], row: Row) -> dict[str, str]:
    """What a pair can be told apart by."""
    fields = keys_of(names, row)
    if row.turns is not None and row.turns.first is not None and row.turns.unit == "turn":
        fields[WRONG_TURN] = str(row.turns.first)
    return fields


# ----------------------------------------------------------------------
# Pairs as a run of `planeval diff` told them: their plans are read again, and nothing is compared twice.
METRICS = ("exact",)
"""What such rows say without the plans being compared again."""

_READABLE_STATES = ("same", "different", "gold_unreadable", "gold_absent")
"""The states in which there may be a plan that was predicted."""

_MAX_CACHED_GOLDS, _MAX_CACHED_PREDS = 4_096, 1_000
"""Plans that are kept for texts that come again, which gold plans do more often."""
_EXACT_TALLIES = {right: {"exact": Share(int(right), 1)} for right in (True, False)}
_parse_json = json.JSONDecoder().decode


@fast_frozen
class StoredJob:
    """How pairs are read, and told as the rows of a run tell them.

    Args:
        page: How they are read and told; its metrics are :data:`METRICS`.
        stored: The run's rows.
    """

    kind = "report"

    page: PageJob
    stored: StoredLines

    @property
    def score(self) -> ScoreJob:
        """How pairs are counted."""
        return self.page.score

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {**self.page.options(), "stored": self.stored.rows}

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that were kept as data."""
        return self.page.fold(data)

    def rows(self, pairs: Iterable[Records], fold: Totals) -> Iterator[str]:
        """A line a pair, in order; adds each to the sums.

        A pair whose gold allows several plans, or that is not as the run had it, is compared again.

        Args:
            pairs: Neighbouring pairs; those of a part know the position of their first.
            fold: The sums.
        """
        job, stored = self.page, self.stored.since(getattr(pairs, "first", 0))
        reader, lines = _Reader(job, stored), PairLineWriter(job.query, texts=job.texts)
        for result in run_stages(pairs, reader.matched, reader.gold, reader.pred, reader.told):
            fold.note(result.row, names=False)
            fold.add(result.scored)
            yield lines.line(result.pair, result.pred, result.gold)


class _StoredPair:
    """A pair, and as far as it is known what its row says and which plans it is about."""

    __slots__ = ("data", "gold", "name", "ours", "position", "pred", "theirs")

    def __init__(self, name: str, position: int, pred: Record | None, gold: Record | None) -> None:
        self.name, self.position, self.pred, self.gold = name, position, pred, gold
        self.data: Mapping[str, Any] | None = None
        self.ours: Plan | None = None
        self.theirs: Plan | None = None


class _PairDetails(NamedTuple):
    """A pair and all that is said of it."""

    row: Row
    pair: Pair
    scored: ScoredRow
    pred: Record | None
    gold: Record | None


class _Reader:
    """Reads the plans of pairs that were compared; texts that many pairs share once."""

    def __init__(self, job: PageJob, rows: Iterable[bytes]) -> None:
        self.job, score = job, job.score
        self.policy = intern_policy(score.policy)
        self.again = evaluation_of(score.reading, self.policy, located=True, gold_named=score.gold_named)
        self.rows = (_parse_json(row.decode()) for row in rows)
        self._golds: dict[str, Plan] = {}
        self._preds: dict[str, Plan] = {}

    def matched(self, position: int, pair: Records) -> _StoredPair:
        """A pair with its row; without one where a record has an error, which the run may not have had."""
        name = pair_name(position, *pair, gold_named=self.again.gold_named)
        entry = _StoredPair(name, position, *pair)
        data: Mapping[str, Any] = next(self.rows, {})
        if data.get("id") == entry.name and all(record is None or record.error is None for record in pair):
            entry.data = data
        return entry

    def gold(self, entry: _StoredPair) -> _StoredPair:
        """With the gold plan; without its row where that does not say which gold plan it is about."""
        gold, how = entry.gold, self.again
        if entry.data is None or gold is None or entry.data["state"] not in JUDGED_STATES:
            return entry
        plain = _is_plain(gold)
        stored = self._golds.get(gold.source) if plain else None
        try:
            read = read_gold(gold, dialect=how.gold_dialect, compute=how.compute, known=stored)
        except (ParseError, InputError):  # a run of an older version could read it
            entry.data = None
            return entry
        if len(read.plans) > 1:
            entry.data = None
            return entry
        entry.theirs = read.plan
        if plain and stored is None:
            _cache_plan(self._golds, gold.source, read.plan, _MAX_CACHED_GOLDS)
        return entry

    def pred(self, entry: _StoredPair) -> _StoredPair:
        """With the plan that was predicted, where there is one."""
        pred, how = entry.pred, self.again
        if entry.data is None or pred is None or entry.data["state"] not in _READABLE_STATES:
            return entry
        plain = _is_plain(pred)
        entry.ours = self._preds.get(pred.source) if plain else None
        if entry.ours is None:
            with suppress(ParseError):  # the row says it already
                plan = read_plan(pred, dialect=how.pred_dialect, compute=how.compute, repair=how.repair)
                entry.ours = plan
                if plain:
                    _cache_plan(self._preds, pred.source, plan, _MAX_CACHED_PREDS)
        return entry

    def told(self, entry: _StoredPair) -> _PairDetails:
        """What is said of a pair: by its row, or compared again."""
        job, pred, gold, data = self.job, entry.pred, entry.gold, entry.data
        location = record_location(pred or gold)
        if data is None:
            row = self.again.row(self.again.read(entry.position, (pred, gold)))
            scored = scored_row(row, METRICS, self.policy, job.score.by, location)
            in_clusters = job.score.cluster == TASK_KEY
            scored = add_run_facts(scored, pred, gold, row.pred, in_clusters=in_clusters)
            return _PairDetails(row, job.pair(row, pred), scored, pred, gold)
        name, state, error, pred_plan, gold_plan = (
            entry.name,
            data["state"],
            data.get("error"),
            entry.ours,
            entry.theirs,
        )
        row = Row(name, state, None, pred_plan, gold_plan, error, gold.fields if gold is not None else {})
        row = row._replace(turns=turns_of(data.get("turns")))
        fields = pair_fields(job.fields, row)
        edits = [read_edit_message(edit) for edit in data.get("edits", ())]
        partners, mended = data.get("pairs", ()), data.get("readable_with_repair")
        shape = structure_message(data.get("structure"))
        more = conversation_data(pred, pred_plan, pred_plan, row.turns) if job.texts else {}
        pair = Pair(name, state, pred_plan, gold_plan, edits, partners, shape, error, mended, fields)
        pair = pair._replace(more=more)
        scored = self._scored(row, pair, data, location)
        scored = add_run_facts(scored, pred, gold, pred_plan, in_clusters=job.score.cluster == TASK_KEY)
        return _PairDetails(row, pair, scored, pred, gold)

    def _scored(
        self, row: Row, pair: Pair, data: Mapping[str, Any], location: tuple[str | None, int | None]
    ) -> ScoredRow:
        if row.state not in JUDGED_STATES:
            return ScoredRow(row.id, row.state, reason=row.error or "", file=location[0], line=location[1])
        by = self.job.score.by
        keys = pair.fields if by == self.job.fields else keys_of(by, row)
        roots = [edit for edit in pair.edits if edit.cause is None]
        notes = {note.code for note in row.pred.diagnostics} if row.pred is not None else ()
        return ScoredRow(
            row.id,
            row.state,
            _EXACT_TALLIES[row.state == "same"],
            tuple([edit.code for edit in roots]),
            roots[0].words if roots else row.error or "",
            keys,
            data.get("proved", True),
            any(code.startswith("repair.") for code in notes),
            "find.choices" in notes,
            (),
            *location,
            unread="find.unread" in notes,
            turns=row.turns,
        )


def _is_plain(record: Record) -> bool:
    """Whether nothing but its text says how a record is read."""
    plain = type(record.source) is str and record.error is None and record.infer is False
    return plain and record.dialect is None and record.turn is None and record.values is None


def _cache_plan(plans: dict[str, Plan], text: str, plan: Plan, most: int) -> None:
    if len(plans) >= most:
        plans.clear()
    plans[text] = plan


def structure_message(data: Mapping[str, Any] | None) -> str:
    """In how far the structure differs, in words, from what a row says of it.

    >>> one = {"pred": 2, "gold": 1}
    >>> structure_message({"components": {**one, "torn": 0, "joined": 0}, "depth": one, "width": one,
    ...                 "dependencies": {"lost": 1, "added": 0}})
    'structure: 2 components instead of 1; depth 2 instead of 1; 1 dependency lost'
    """
    if data is None:
        return ""
    component_counts, moved = data["components"], data["dependencies"]
    components, depth, width = (
        FigurePair(data[name]["pred"], data[name]["gold"]) for name in ("components", "depth", "width")
    )
    changed = component_counts["torn"], component_counts["joined"], moved["lost"], moved["added"]
    text = str(StructureFigures(components, depth, width, *changed))
    return f"structure: {text}" if text else ""
