"""Pairs of records, read and compared: one row a pair, whatever became of it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple, TypeVar

from planner_eval.base.errors import (
    InputError,
    ParseError,
    strip_traceback,
)
from planner_eval.base.limits import Span
from planner_eval.comparison.diff import Diff, diff_any
from planner_eval.comparison.explanation.edits import Edit, Place
from planner_eval.comparison.explanation.lines import habits_data
from planner_eval.comparison.explanation.names import calls_name
from planner_eval.comparison.gold_alternatives import Gold, gold_warnings, read_gold
from planner_eval.comparison.matching.align import Alignment, Matching
from planner_eval.comparison.matching.pairing import Pairing, PlanCalls
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, intern_policy
from planner_eval.comparison.structure_figures import figures_data, structure_figures
from planner_eval.comparison.turns import TurnComparison
from planner_eval.plan.canonical import NumberedPlan
from planner_eval.plan.model import Plan, may_have_turns
from planner_eval.reading.dialects.read import locate, parse
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import (
    prefix_ids_by_file,
    warn_doubtful_pairing,
    warn_invalid_ids,
    warn_taken_pair_names,
)
from planner_eval.reading.files.record import (
    JoinedTurns,
    Record,
    pair_name,
    read_answer,
    read_repaired_plan,
)
from planner_eval.reading.files.trials import label_trials
from planner_eval.reading.settings import Reading


# ----------------------------------------------------------------------
# The structure of two compared plans for people and programs: a line, the whole in words, JSON data.
def structure_lines(diff: Diff | None, *, whole: bool = False, named: bool = False) -> str:
    """The structure of two plans that were compared, as text.

    Args:
        diff: The comparison, if there was one.
        whole: Tell it call by call, also where the structure is the same.
        named: Name the calls of what differs, by NetworkX.

    Returns:
        What differs, in one line unless calls are named; empty where the plans are the same, or differ in
        nothing of that.
    """
    if diff is None or diff.matching is None or (diff.same and not whole):
        return ""
    if whole or named:
        from planner_eval.comparison.structure_diff import structure_note, structure_of

        return str(structure_of(diff.matching)) if whole else structure_note(diff.matching)
    figures = str(structure_figures(diff.matching))
    return f"structure: {figures}" if figures else ""


def structure_data(diff: Diff, *, whole: bool = False) -> dict[str, Any] | None:
    """The structure of two plans that were compared, as JSON data.

    Args:
        diff: The comparison.
        whole: Say which calls the figures are made of, also where the structure is the same.

    Returns:
        None where the plans are the same, or differ in nothing of that.
    """
    if diff.matching is None or (diff.same and not whole):
        return None
    if not whole:
        figures = structure_figures(diff.matching)
        return figures_data(figures) if str(figures) else None
    from planner_eval.comparison.structure_diff import calls_data, structure_of

    compared = structure_of(diff.matching)
    return {**figures_data(compared.figures), "calls": calls_data(compared)}


# ----------------------------------------------------------------------
# Pairs of records, read and compared: one row a pair, whatever became of it.
T = TypeVar("T")

STATES = {
    "same": "the plans mean the same",
    "different": "the plans differ",
    "unreadable": "the prediction cannot be read; it counts as wrong",
    "cut": "the answer was cut off before its end; it counts as wrong",
    "refused": "the answer was refused; it counts as wrong",
    "failed": "an error is recorded instead of an answer; it counts as wrong",
    "absent": "gold has no prediction; it counts as wrong",
    "gold_unreadable": "the gold plan cannot be read; not counted",
    "gold_absent": "the prediction has no gold plan; not counted",
}
"""What can become of a pair."""

NO_ANSWER_STATES = ("unreadable", "cut", "refused", "failed", "absent")
"""The states in which there is no prediction that could be compared: they count as wrong."""

JUDGED_STATES = ("same", "different", *NO_ANSWER_STATES)
"""The states that count in every denominator: there was a readable gold plan."""

_STATES_BY_CODE = {
    "parse.cut": "cut",
    "answer.cut": "cut",
    "answer.refused": "refused",
    "answer.failed": "failed",
}


def unread_state(error: ParseError) -> str:
    """The state of a prediction that could not be read: why there is no plan.

    >>> unread_state(ParseError("the text ends inside a call", code="parse.cut"))
    'cut'
    """
    return _STATES_BY_CODE.get(error.code, "unreadable")


def causes_head(codes: Sequence[str]) -> str:
    """The codes of root causes, as they stand before the first one's sentence.

    >>> causes_head(["call.extra"]), causes_head(["order.broken", "order.broken"]), causes_head([])
    ('call.extra: ', 'order.broken ×2; the first: ', '')
    """
    counts = Counter(codes).items()
    named = ", ".join(code if count == 1 else f"{code} ×{count}" for code, count in counts)
    return f"{named}{'; the first' * (len(codes) > 1)}: " if codes else ""


class Row(NamedTuple):
    """What became of one pair of records.

    Args:
        id: What the pair is called, see :func:`.ids.pair_name`.
        state: One of :data:`STATES`.
        diff: The comparison, where both plans could be read.
        pred: The prediction, where it could be read.
        gold: The gold plan, where it could be read; of several the one that `diff` is from.
        error: Why a plan could not be read.
        fields: The other fields of the gold record.
        mended: What repair would make of a prediction that strict reading refused; of one that was cut off,
            the calls before the cut.
        before: The calls before the place at which a prediction that repair cannot mend either is broken.
        effects: What the two plans come to when they are run, as JSON data, where they were.
        turns: What differs turn by turn, of a conversation of several turns.
        main_gold: The first gold plan, where it is not the one that `diff` is from.
    """

    id: str
    state: str
    diff: Diff | None = None
    pred: Plan | None = None
    gold: Plan | None = None
    error: str | None = None
    fields: Mapping[str, Any] = {}
    mended: Plan | None = None
    before: Plan | None = None
    effects: Mapping[str, Any] | None = None
    turns: TurnComparison | None = None
    main_gold: Plan | None = None

    @property
    def reason(self) -> str:
        """Why there is no comparison: the error, or what the state means."""
        return self.error or STATES[self.state]

    @property
    def differs_when_run(self) -> bool:
        """Whether plans that are the same come to something else when they are run."""
        return self.state == "same" and self.effects is not None and self.effects["verdict"] == "different"

    @property
    def in_effect(self) -> str:
        """What the plans come to when they are run, in words; "" where they were not."""
        return f"when run: {self.effects['said']}" if self.effects is not None else ""


class PairReading(NamedTuple):
    """What was read of the two records of a pair, by the pair's name."""

    name: str
    pred: Record | None
    gold: Record | None
    plan: _ReadResult[Plan]
    wanted: _ReadResult[Gold]
    kept: Plan | None


class Evaluation(NamedTuple):
    """How pairs of records are read and compared, and become rows, in two steps.

    Args:
        pred_dialect: The notation of the predictions; recognised when None.
        gold_dialect: The notation of the gold plans; recognised when None.
        policy: How values compare.
        located: Find the places of calls and arguments in the texts of plans that differ, which may mean to
            read them twice.
        repair: Mend small faults of predictions that strict reading refuses; never of gold.
        compute: How expressions of numbers become numbers, in gold plans too.
        mends: Look what repair would make of predictions that strict reading refuses, which reads them twice.
        gold_named: Whether gold's records have ids.
    """

    pred_dialect: str | None = None
    gold_dialect: str | None = None
    policy: Policy = DEFAULT_POLICY
    located: bool = False
    repair: bool = False
    compute: str | None = None
    mends: bool = True
    gold_named: bool = False

    @classmethod
    def of(
        cls,
        reading: Mapping[str, Any],
        policy: Policy,
        *,
        gold_named: bool,
        located: bool = False,
        mends: bool = True,
    ) -> Evaluation:
        """How pairs are read and compared whose files were read so.

        Args:
            reading: The fields of a `Reading`; others are left alone.
            policy: The policy.
            gold_named: As above, like the others.
            located: Likewise.
            mends: Likewise.
        """
        dialects = reading["dialect"], reading["gold_dialect"] or reading["dialect"]
        return cls(*dialects, policy, located, bool(reading["repair"]), reading["compute"], mends, gold_named)

    def rows(self, pairs: Iterable[tuple[Record | None, Record | None]]) -> Iterator[Row]:
        """One row a pair (prediction, gold), in order; None stands for a missing partner."""
        how = self._replace(policy=intern_policy(self.policy))
        for position, pair in enumerate(pairs):
            yield how.row(how.read(position, pair))

    def read(self, position: int, pair: tuple[Record | None, Record | None]) -> PairReading:
        """Read a pair's records."""
        pred, gold = pair
        name = pair_name(position, pred, gold, gold_named=self.gold_named)
        how = {"dialect": self.pred_dialect, "compute": self.compute}
        read_pred = partial(_try_read, read_answer, pred, ParseError, **how)
        pred_reading = read_pred(repair=self.repair)
        read = pred_reading.found
        cut_plan = read if read is not None and is_cut(read) else None
        if cut_plan is not None:  # what repair saves of it may be all of gold, and is no whole answer
            pred_reading = read_pred()
        same_text = self.gold_dialect == self.pred_dialect and _is_same_text(pred, gold, pred_reading.found)
        how = {"dialect": self.gold_dialect, "compute": self.compute}
        shared_plan = pred_reading.found if same_text and pred_reading.found else None
        gold_reading = _try_read(read_gold, gold, (ParseError, InputError), known=shared_plan, **how)
        return PairReading(name, pred, gold, pred_reading, gold_reading, cut_plan)

    def row(self, pair: PairReading, stored: Mapping[str, Any] | None = None) -> Row:
        """Compare what was read.

        Args:
            pair: What was read.
            stored: What :func:`row_data` gave of it under the default policy. It is not compared again where
                gold is one plan without terms; values are left out, and of metrics only ``exact`` is right.
        """
        name, pred, gold, pred_reading, gold_reading, cut_plan = pair
        row = _make_row(name, pred_reading, pred, gold_reading, gold, self.policy, stored)
        if self.mends and row.state in ("unreadable", "cut") and pred is not None:
            how = {"dialect": self.pred_dialect, "compute": self.compute}
            mended, error = cut_plan if self.repair else None, pred_reading.error
            if not self.repair and error is not None:
                mended = read_repaired_plan(pred, error, **how)
            row = row._replace(mended=mended)
            if mended is None and error is not None:
                row = row._replace(before=_read_before(error))
        if row.diff is not None and row.pred is not None and row.gold is not None:
            plans = row.pred, row.gold
            joined = any(record is not None and type(record.source) is JoinedTurns for record in (pred, gold))
            if joined or may_have_turns(*plans):
                from planner_eval.comparison.turn_by_turn import compare_turns

                row = row._replace(turns=compare_turns(row.diff, plans, (pred, gold)))
        return _locate_row(row) if self.located and row.diff is not None and row.diff.edits else row


def _read_before(error: ParseError) -> Plan:
    """The calls before the place at which a text is broken."""
    try:
        return parse(error.text[: error.offset], repair=True)
    except ParseError:
        return Plan()


def _is_same_text(pred: Record | None, gold: Record | None, plan: Plan | None) -> bool:
    """Whether two records are one text, and strict reading takes it for the plan that the prediction is."""
    return (
        plan is not None
        and pred is not None
        and gold is not None
        and type(pred.source) is str
        and pred.source == gold.source
        and (pred.dialect, pred.turn, pred.infer) == (gold.dialect, gold.turn, gold.infer)
        and gold.error is None
        and not any(note.code.startswith("repair.") for note in plan.diagnostics)
    )


def is_cut(plan: Plan) -> bool:
    """Whether repair kept only what stands before the place at which a text ends too early."""
    return any(note.code == "repair.cut_off" for note in plan.diagnostics)


class _ReadResult(NamedTuple, Generic[T]):
    """What was read of a record, or why nothing was; neither where there is no record."""

    found: T | None = None
    problem: str | None = None
    state: str = "unreadable"
    error: ParseError | None = None


def _try_read(
    read: Callable[..., T],
    record: Record | None,
    expected_errors: type[Exception] | tuple[type[Exception], ...],
    **how: Any,
) -> _ReadResult[T]:
    if record is None:
        return _ReadResult()
    try:
        return _ReadResult(read(record, **how))
    except expected_errors as error:  # what stands beside a gold plan names its place itself
        if not isinstance(error, ParseError):
            return _ReadResult(problem=str(error))
        return _ReadResult(
            None, f"{record.where}: {error.coded}", unread_state(error), strip_traceback(error)
        )


def _make_row(
    name: str,
    plan: _ReadResult[Plan],
    pred: Record | None,
    gold_reading: _ReadResult[Gold],
    gold: Record | None,
    policy: Policy,
    stored: Mapping[str, Any] | None,
) -> Row:
    if gold is None and pred is not None:
        return Row(name, "gold_absent", pred=plan.found, error=f"{pred.where}: {STATES['gold_absent']}")
    if gold is None or gold_reading.found is None:
        return Row(name, "gold_unreadable", pred=plan.found, error=gold_reading.problem)
    if plan.found is None:
        state = "absent" if pred is None else plan.state
        return Row(name, state, gold=gold_reading.found.plan, error=plan.problem, fields=gold.fields)
    golds = gold_reading.found.plans
    if (
        stored is not None
        and stored["id"] == name
        and "edits" in stored
        and [t for _, t in golds] == [NO_TERMS]
    ):
        diff, chosen = _restore_diff(stored, plan.found, golds[0][0]), 0
    else:
        diff, chosen = diff_any(plan.found, golds, policy)
    state = "same" if diff.same else "different"
    main = golds[0][0] if chosen else None
    return Row(name, state, diff, plan.found, golds[chosen][0], fields=gold.fields, main_gold=main)


def _restore_diff(data: Mapping[str, Any], pred: Plan, gold: Plan) -> Diff:
    """A comparison from what :func:`diff_data` gave of it."""
    alignment = Alignment(
        tuple((p, g) for p, g in data["pairs"]), tuple(data["missing"]), tuple(data["extra"]), data["proved"]
    )
    numbered = NumberedPlan(pred, None), NumberedPlan(gold, None)
    pairing = None if data["same"] else Pairing(PlanCalls(numbered[0]), PlanCalls(numbered[1]))
    edits = tuple(map(_restore_edit, data["edits"]))
    return Diff(pred, gold, alignment, edits, Matching(pred, gold, alignment, numbered, pairing))


def _restore_edit(data: Mapping[str, Any]) -> Edit:
    (pred, gold), *also = (
        (_restore_place(places.get("pred")), _restore_place(places.get("gold")))
        for places in (data, *data.get("also", ()))
    )
    return Edit(data["code"], data["message"], pred, gold, cause=data.get("cause"), also=tuple(also))


def _restore_place(data: Mapping[str, Any] | None) -> Place | None:
    return None if data is None else Place(data["call"], data.get("argument"), tuple(data.get("at", ())))


def _locate_row(row: Row) -> Row:
    """The row with the places of calls and arguments in its plans, as far as they can be found."""
    pred, gold = (locate(plan) if plan is not None else None for plan in (row.pred, row.gold))
    diff = row.diff
    if diff is not None and pred is not None and gold is not None:
        plans = (
            pred if diff.pred is row.pred else diff.pred,
            gold if diff.gold is row.gold else diff.gold,
        )
        diff = replace(diff, pred=plans[0], gold=plans[1])
    return row._replace(diff=diff, pred=pred, gold=gold)


class Spans:
    """Where places stand in a plan's text, as far as the reader kept places.

    Args:
        plan: The plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._arguments: dict[int, dict[str, Span]] = {}

    @cached_property
    def _starts(self) -> list[int]:
        """Where the lines of the text start."""
        ends = (offset for offset, char in enumerate(self.plan.text or "") if char == "\n")
        return [0, *(end + 1 for end in ends)]

    def of(self, location: Place) -> Span | None:
        """Start and end of a place, in characters."""
        if location.call is None:
            return None
        call = self.plan.calls[location.call]
        if location.argument is not None and call.spans:
            if location.call not in self._arguments:
                names = (name for name, _ in call.arguments)
                by_name = self._arguments[location.call] = {}
                for name, span in zip(names, call.spans, strict=False):
                    by_name.setdefault(name, span)
            return self._arguments[location.call].get(location.argument, call.span)
        return call.span

    def line_of(self, location: Place) -> tuple[int, int] | None:
        """Line and column at which a place starts, counted from 1."""
        span = self.of(location)
        if span is None or self.plan.text is None:
            return None
        line = bisect_right(self._starts, span[0])
        return line, span[0] - self._starts[line - 1] + 1


def row_data(row: Row, *, structure: bool = False) -> dict[str, Any]:
    """A row as JSON data; plans and values in the interchange notation ``plan``.

    Args:
        row: The row.
        structure: Say how the structure differs call by call, not only in figures.
    """
    data: dict[str, Any] = {"id": row.id, "state": row.state}
    if row.error is not None:
        data["error"] = row.error
    if row.mended is not None:
        data["readable_with_repair"] = calls_name(row.mended)
    if row.diff is not None:
        data |= diff_data(row.diff, structure=structure)
    if row.turns is not None:
        data["turns"] = row.turns.data()
    if row.effects is not None:
        data["effects"] = dict(row.effects)
    return data


def diff_data(diff: Diff, *, structure: bool = False) -> dict[str, Any]:
    """A comparison as JSON data.

    Args:
        diff: The comparison.
        structure: Say how the structure differs call by call, not only in figures.
    """
    spans = Spans(diff.pred), Spans(diff.gold)
    data = {
        "same": diff.same,
        "proved": diff.proved,
        "pairs": [list(pair) for pair in diff.alignment.pairs],
        "missing": list(diff.alignment.missing),
        "extra": list(diff.alignment.extra),
        "edits": [_edit_data(edit, *spans) for edit in diff.edits],
    }
    if habits := habits_data(diff):
        data["habits"] = habits
    compared = structure_data(diff, whole=structure)
    return data if compared is None else {**data, "structure": compared}


def _edit_data(edit: Edit, pred: Spans, gold: Spans) -> dict[str, Any]:
    from planner_eval.reading.dialects.notations.plan import value_data

    data: dict[str, Any] = {"code": edit.code, "message": edit.message}
    for key, spans, location, value in (
        ("pred", pred, edit.pred, edit.pred_value),
        ("gold", gold, edit.gold, edit.gold_value),
    ):
        if location is not None:
            data[key] = _place_data(spans, location)
            data[f"{key}_value"] = value_data(value, spans.plan)
    if edit.cause is not None:
        data["cause"] = edit.cause
    if edit.also:
        named_spans = (("pred", pred), ("gold", gold))
        data["also"] = [
            {
                key: _place_data(spans, location)
                for (key, spans), location in zip(named_spans, locations, strict=True)
                if location is not None
            }
            for locations in edit.also
        ]
    return data


def _place_data(spans: Spans, location: Place) -> dict[str, Any]:
    data: dict[str, Any] = {"call": location.call}
    if location.call is not None:
        data["id"] = spans.plan.calls[location.call].id
    if location.argument is not None:
        data["argument"] = location.argument
    if location.at:
        data["at"] = list(location.at)
    span = spans.of(location)
    if span is not None:
        data["span"] = list(span)
    return data


# ----------------------------------------------------------------------
# What the user should know of files that were read.


def reading_notes(reading: Reading, preds: Sequence[PlanFile], gold: PlanFile) -> tuple[str, ...]:
    """What the user should know of files: what was left out, ids given twice, what is in doubt.

    Args:
        reading: How they are read and paired.
        preds: Files of predictions; of a directory the names of its files come before ids where they
            have to, as :func:`pair` does it.
        gold: The gold plans.
    """
    pairs = [prefix_ids_by_file(pred, gold) for pred in preds]
    if reading.by != "position":
        pairs = [label_trials(*files) for files in pairs]
    files = (*(pred for pred, _ in pairs), pairs[0][1])
    unsure = (
        message for pred, right in pairs for message in warn_doubtful_pairing(pred, right, by=reading.by)
    )
    names = (message for pred, right in pairs for message in warn_taken_pair_names(pred, right))
    noted = (note for file in files for note in (*file.notes, *warn_invalid_ids(file)))
    return tuple(dict.fromkeys([*noted, *names, *unsure, *gold_warnings(gold)]))
