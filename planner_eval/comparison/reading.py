"""How predictions and gold plans are read out of files, and paired: what the verbs take as ``reading``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.comparison.gold_alternatives import gold_warnings
from planner_eval.reading.dialects.sources import TurnChoice
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import PAIRING_KEYS, warn_invalid_ids
from planner_eval.reading.files.several import prefix_ids_by_file
from planner_eval.reading.files.storing import DEFAULT_STORE, Store
from planner_eval.reading.files.warnings import warn_doubtful_pairing, warn_taken_pair_names
from planner_eval.reading.parse import Source, enable_inference, read_as


class Reading(NamedTuple):
    """How predictions and gold plans are read out of files, and paired.

    Args:
        dialect: The notation of the plans; recognised when left out.
        id_field: The field of a record that names it; recognised when left out.
        text_field: The field of a record that holds its plan; recognised when left out.
        gold_dialect: The notation of the gold plans, where it is another.
        gold_id_field: The field that names a gold record, where it is another.
        gold_text_field: The field of a gold record that holds its plan.
        by: Pair by ``"id"`` or by ``"position"``; by id where either side has ids, when left out.
        repair: Mend small faults of predictions that strict reading refuses; never of gold. When left out,
            as the verb does it: :func:`score` and :func:`compare` mend, :func:`evaluate` does not.
        compute: ``"arithmetic"``: expressions of numbers become numbers, in gold plans too.
        cache: The cache folder of data sets, where one is named and it is not the usual one.
        folder: Where the data sets that are named lie, instead of the cache.
        turn: Which turn of the assistant is read of conversations, on both sides: ``"first"``, ``"last"`` or
            its number; all turns when left out.
        infer: Infer edges, see :func:`planner_eval.parse`: breakdowns by gold's depth and patterns count
            them and drawings show them; no metric and no verdict does.

    >>> import planner_eval as pe
    >>> pred, gold = [{"id": 1, "said": "f()", "draft": "g()"}], [{"id": 1, "gold": "f()"}]
    >>> [row.state for row in pe.evaluate(pred, gold, reading=pe.Reading(text_field="said"))]
    ['same']
    """

    dialect: str | None = None
    id_field: str | None = None
    text_field: str | None = None
    gold_dialect: str | None = None
    gold_id_field: str | None = None
    gold_text_field: str | None = None
    by: str | None = None
    repair: bool | None = None
    compute: str | None = None
    cache: str | None = None
    folder: str | None = None
    turn: TurnChoice = None
    infer: bool = False

    def answers(self, source: Source, store: Store = DEFAULT_STORE) -> PlanFile:
        """The predictions of a file; `source` and `store` are what :func:`read` takes."""
        folders = (self.cache, self.folder)
        file = read_as(source, "answer", self.id_field, self.text_field, folders=folders, store=store)
        return self._told(file)

    def golds(self, source: Source, store: Store = DEFAULT_STORE) -> PlanFile:
        """The gold plans of a file; `source` and `store` are what :func:`read` takes."""
        spare, folders = (self.id_field, self.text_field), (self.cache, self.folder)
        file = read_as(source, "gold", self.gold_id_field, self.gold_text_field, spare, folders, store)
        return self._told(file)

    def _told(self, file: PlanFile) -> PlanFile:
        file = file.of_turn(self.turn)
        return enable_inference(file) if self.infer else file

    def notes_of(self, preds: Sequence[PlanFile], gold: PlanFile) -> tuple[str, ...]:
        """What the user should know of files: what was left out, ids given twice, what is in doubt.

        Args:
            preds: Files of predictions; of a directory the names of its files come before ids where they
                have to, as :func:`pair` does it.
            gold: The gold plans.
        """
        pairs = [prefix_ids_by_file(pred, gold) for pred in preds]
        files = (*(pred for pred, _ in pairs), pairs[0][1])
        unsure = (
            message for pred, right in pairs for message in warn_doubtful_pairing(pred, right, by=self.by)
        )
        names = (message for pred, right in pairs for message in warn_taken_pair_names(pred, right))
        noted = (note for file in files for note in (*file.notes, *warn_invalid_ids(file)))
        return tuple(dict.fromkeys([*noted, *names, *unsure, *gold_warnings(gold)]))


DEFAULT_READING = Reading()
"""Everything is recognised."""


def check_reading(reading: Any) -> None:
    """Refuse what says nothing of how files are read, and a way to pair that there is not.

    Raises:
        InputError: says what is expected.
    """
    if not isinstance(reading, Reading):
        raise InputError(f"the reading is {reading!r}, expected pe.Reading(…)")
    if reading.by is not None and reading.by not in PAIRING_KEYS:
        expected = " or ".join(map(repr, PAIRING_KEYS))
        raise InputError(f"reading.by is {reading.by!r}, expected {expected}, or None")
