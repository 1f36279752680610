"""Pairs compared as a run: sums over them, what ``planeval diff`` says of each, and of all in each format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from planner_eval.base.counts import Counts, Highest
from planner_eval.base.formats import DEFAULT, View, formats_of, shows
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.tables import Style, json_array
from planner_eval.base.text import JsonObject, encodable, join_pieces, one_line, printable, to_json
from planner_eval.comparison.explanation.edits import Edit
from planner_eval.comparison.policy.policy import KnownNames, Policy, intern_policy
from planner_eval.comparison.rows import (
    JUDGED_STATES,
    STATES,
    Evaluation,
    PairReading,
    Row,
    row_data,
)
from planner_eval.plan.model import LATER_TURN, WHOLE_RESULT_NAMES, Plan, Ref, may_tell_unread_call
from planner_eval.reading.files.record import Record, patch_name
from planner_eval.results.runs.jobs import (
    LOCATION_FIELDS,
    Effects,
    compare,
    describe,
    run_stages,
)
from planner_eval.results.runs.model import JSON, Pair
from planner_eval.results.views.junit import Case, outcome
from planner_eval.results.views.rows import explanation, flat_row, row_case, summary_line

SIDES = ("pred", "gold")
_COUNTED_CODES = {
    "find.choices": "several", "find.restated": "restated", "turns": "turns", "later turn": "later turn",
}  # fmt: skip
"""Remarks of a reading, and how plans with them are counted."""
_WHOLE_RESULT_PATHS = ((), *((name,) for name in WHOLE_RESULT_NAMES))


class DiffSums(Counts):
    """What became of the pairs that have gone by, in numbers.

    Args:
        policy: How values compare; names are noted where its rules name some.
        data: Sums to go on from, as :meth:`data` gave them.
    """

    states: Counter[str]
    shown: Counter[str]
    """The states of the rows that are told."""
    unproved: int
    counts: Counter[str]
    """By side and what: plans with ``several`` choices, with several ``turns``, ``restated``, with a
    ``later turn``, ignored; those without calls that may hold one, ``unread``, and those with calls that may
    hold another, ``passed over``."""
    dialects: set[str]
    """By side the notations."""
    wholes: Counter[str]
    """Tools whose whole result and an output may be one, and how often; in the order of their first."""
    width: Highest
    """The longest id of the rows that are told."""
    names: KnownNames

    def __init__(self, policy: Policy, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.policy = policy
        self.effects = Counter[str]()
        """Of pairs that were run: how many come to the same, and how many are known to reach gold's goal."""
        self.named = policy.names_tools

    def add(self, row: Row, *, shown: bool = True) -> None:
        """Add a row, which is told or left out."""
        self.states[row.state] += 1
        if shown:
            self.shown[row.state] += 1
            self.width = max(self.width, len(row.id))
        if row.effects is not None:
            self.effects.update([row.effects["verdict"], f"reached {row.effects.get('reached')}"])
            self.effects["with a state"] += row.effects["state_same"] is not None
            self.effects["alone"] += row.differs_when_run
        for role, plan in zip(SIDES, (row.pred, row.gold), strict=True):
            if plan is not None:
                self._read(role, plan)
        if self.named:
            self.names.add((row.pred, row.gold))
        if row.diff is not None:
            self.unproved += not row.diff.proved
            for edit in row.diff.edits:
                if _can_be_whole_result(edit):
                    tool = row.diff.gold.calls[edit.gold_value.call].tool
                    if tool not in self.policy.tools:
                        self.wholes[tool] += 1

    def _read(self, role: str, plan: Plan) -> None:
        self.dialects.add(f"{role} {plan.dialect or '?'}")
        codes = {diagnostic.code for diagnostic in plan.diagnostics}
        if len({call.turn for call in plan.calls}) > 1:
            codes.add("turns")
        if any(note.message.startswith(LATER_TURN) for note in plan.diagnostics):
            codes.add("later turn")
        if any(map(may_tell_unread_call, plan.diagnostics)):
            self.counts[f"{role} {'passed over' if plan.calls else 'unread'}"] += 1
        self.counts.update(f"{role} {what}" for code, what in _COUNTED_CODES.items() if code in codes)

    def dialects_of(self, role: str) -> list[str]:
        """The notations of a side."""
        return [
            name.removeprefix(f"{role} ") for name in sorted(self.dialects) if name.startswith(f"{role} ")
        ]

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.states.total()

    @property
    def said(self) -> str:
        """How many pairs are in which state: ``3 pairs: 1 same, 2 different``."""
        named = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in _order_states(self.states).items())
        more = f" ({self.unproved} not proved: the search was bounded)" if self.unproved else ""
        ran = f"\n{self.in_effect}" if self.effects else ""
        return f"{self.pairs} pair{'s' * (self.pairs != 1)}: {named or 'none'}{more}{ran}"

    @property
    def in_effect(self) -> str:
        """How many pairs come to the same, and how many predictions reach gold's goal."""
        verdicts = {"same": "the same", "different": "different", "unknown": "unknown"}
        named = ", ".join(
            f"{self.effects[verdict]} {label}" for verdict, label in verdicts.items() if self.effects[verdict]
        )
        reached, unknown = self.effects["reached True"], self.effects["reached None"]
        more = f", {unknown} unknown" if unknown else ""
        goal = "gold's final state and values are" if self.effects["with a state"] else "gold's values are"
        stateless = self.effects["same"] + self.effects["different"] > 0 == self.effects["with a state"]
        more += " (the tools tell no state)" if stateless else ""
        return f"when run: {named}; {goal} reached in {reached} of {self.pairs - unknown}{more}"

    @property
    def report(self) -> JsonObject:
        """The same as JSON data: what is said of a run."""
        return {
            "pairs": self.pairs,
            "states": _order_states(self.states),
            "unproved": self.unproved,
            **{role: self.dialects_of(role) for role in SIDES},
        }

    @property
    def outcomes(self) -> Counter[str]:
        """How many of the rows that are told have which outcome as tests."""
        counter = Counter[str]()
        for state, count in self.shown.items():
            counter[outcome(state, limited=False)] += count
        alone = self.effects["alone"]
        return counter + Counter(failure=alone) - Counter(passed=alone)

    @property
    def code(self) -> int:
        """The exit code: 0 all are the same, 1 some are not, 3 nothing could be compared."""
        if not any(self.states[state] for state in JUDGED_STATES):
            return 3
        return int(self.states["same"] != self.pairs or bool(self.effects["different"]))


def _order_states(states: Counter[str]) -> dict[str, int]:
    return {state: states[state] for state in STATES if states[state]}


def _can_be_whole_result(edit: Edit) -> bool:
    """Whether a tool's whole result stands on one side and an output of it on the other: they may be one."""
    values = (edit.pred_value, edit.gold_value)
    if not edit.code.endswith(".output") or not all(isinstance(value, Ref) for value in values):
        return False
    return all(len(value.path) < 2 for value in values) and any(
        value.path[:1] in _WHOLE_RESULT_PATHS for value in values
    )


# ----------------------------------------------------------------------
# Many compared pairs in writing, row by row, or their repairs.
PATCH, ROW_FORMAT = "patch", formats_of("records")[0]
"""The form of repairs, which ``planeval convert --patch`` takes; the format of a run's own rows."""

_MAX_LINE_LENGTH = 200
"""The longest line that is told of one of many pairs."""


class RowSettings(NamedTuple):
    """How compared pairs are told.

    Args:
        form: A format, or :data:`PATCH`; "" tells nothing.
        many: False for one pair, which is told in full instead of on one line.
        places: Tell line and column of each edit of one pair as well.
        structure: Tell, as text of one pair or as JSON, how the structure differs, call by call.
        each: Tell all edits of one pair, each on a line.
    """

    form: str = DEFAULT
    many: bool = True
    places: bool = False
    structure: bool = False
    each: bool = False

    @property
    def written(self) -> str:
        """The format in which all pairs are written: of repairs one is data, and many have a line each."""
        return self.form if self.form != PATCH else ROW_FORMAT if self.many else formats_of("data")[0]


def format_row(row: Row, record: Record | None, settings: RowSettings) -> str:
    """What is told of one pair, as a line of JSON; :func:`rows_of_pairs` puts them together.

    Args:
        row: What became of the pair.
        record: The record that it is about, for JUnit.
        settings: How it is told.
    """
    form, many = settings.written, settings.many
    if not form:
        return ""
    if shows(form, "records"):
        return to_json(_data(row, settings))
    if shows(form, "plain") and many:  # no more of either is shown
        return to_json([row.id[: _MAX_LINE_LENGTH + 1], printable(summary_line(row)[: _MAX_LINE_LENGTH + 1])])
    if shows(form, "cases"):
        return to_json(row_case(row, record))
    if shows(form, "findings", "annotations"):
        from planner_eval.results.findings import findings_of

        return to_json(findings_of(row, record, many=many))
    if shows(form, "data"):
        return to_json(encodable(to_json(_data(row, settings), 1)))
    if not shows(form, "plain"):
        return encodable(to_json(flat_row(row)))
    places, structure, each = settings.places, settings.structure, settings.each
    return to_json(encodable(explanation(row, places=places, structure=structure, named=True, each=each)))


def rows_of_pairs(lines: Iterable[str], settings: RowSettings, sums: DiffSums) -> View:
    """What all pairs show in the format that they are told in, or as repairs.

    Args:
        lines: What :func:`format_row` gave of each pair; "" of one that is left out.
        settings: How they are told.
        sums: The sums over all of them.
    """
    lines, many = filter(None, lines), settings.many
    rows: Iterator[Any] = map(json.loads, lines)

    def document(style: Style) -> Iterable[str]:
        if style.markup:
            return style.pieces(rows)
        if not many:
            return join_pieces(rows)
        width = min(sums.width, _MAX_LINE_LENGTH + 1)
        short_lines = (one_line(f"{id.ljust(width)}  {short}", _MAX_LINE_LENGTH) + "\n" for id, short in rows)
        return chain(short_lines, [sums.said])

    return View(
        document,
        data=lambda: json_array(rows) if many or (sums.pairs != 1 and settings.form != PATCH) else rows,
        records=lambda: lines,
        table=lambda: rows,
        cases=lambda: (map(Case._make, rows), sums.outcomes),
    )


def _data(row: Row, settings: RowSettings) -> JsonObject:
    if settings.form != PATCH:
        return row_data(row, structure=settings.structure)
    from planner_eval.comparison.patch import make_patch

    head = {"id": row.id} if settings.many else {}
    if row.diff is None:
        return {**head, "state": row.state, "error": row.reason.split("\n")[0]}
    return head | make_patch(row.diff)


@fast_frozen
class DiffJob:
    """What is compared, and how it is told.

    Args:
        policy: How values compare.
        reading: How the records are read: the fields of a :class:`planner_eval.Reading`.
        told: How each pair is told.
        located: Find the places of calls and arguments in the texts.
        failures: Leave out what is the same.
        gold_named: Whether gold's records have ids.
        effects: Runs the plans of a row; it is given what was read of the pair; in one process.
        seen: Is given each row; in one process.
    """

    kind = "diff"

    policy: Policy
    reading: Mapping[str, Any]
    told: RowSettings
    located: bool = False
    failures: bool = False
    gold_named: bool = False
    effects: Effects | None = None
    seen: Callable[[Row], object] | None = None

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {
            "policy": self.policy.name,
            "compared": describe(self.policy),
            **{name: describe(value) for name, value in self.reading.items() if name not in LOCATION_FIELDS},
            **self.told._asdict(),
            "located": self.located,
            "failures": self.failures,
        }

    def columns(self) -> JsonObject:
        """The types of a row's keys, see :func:`.parquet.write_rows`."""
        return {
            **dict.fromkeys(("id", "state", "error", "readable_with_repair"), str),
            **dict.fromkeys(("same", "proved"), bool),
            "pairs": [[int]],
            **{name: [int] for name in ("missing", "extra")},
            **dict.fromkeys(("turns", "edits", "habits", "structure"), JSON),
        }

    def fold(self, data: Any = None) -> DiffSums:
        """Sums over no rows, or those that were kept as data."""
        return DiffSums(self.policy, data)

    def rows(self, pairs: Iterable[Pair], fold: DiffSums) -> Iterator[str]:
        """A line a pair, "" for one that is left out; adds each to the sums.

        Args:
            pairs: Neighbouring pairs; those of a part know the position of their first, which names a pair
                where gold has no ids.
            fold: The sums.
        """
        policy = intern_policy(self.policy)
        evaluation = Evaluation.of(self.reading, policy, located=self.located, gold_named=self.gold_named)

        def compared(records: PairReading) -> tuple[Record | None, Row]:
            row = compare(records, evaluation, self.effects)
            if self.told.form == PATCH:
                row = row._replace(id=patch_name(row.id, records.pred, records.gold))
            return records.pred or records.gold, row

        for record, row in run_stages(pairs, evaluation.read, compared):
            is_shown = not (self.failures and row.state == "same" and not row.differs_when_run)
            fold.add(row, shown=is_shown)
            if self.seen is not None:
                self.seen(row)
            yield format_row(row, record, self.told) if is_shown else ""
