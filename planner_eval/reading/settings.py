"""How predictions and gold plans are read out of files, and paired: what functions take as ``reading``."""

from __future__ import annotations

from typing import Any, NamedTuple

from planner_eval.base.errors import FLAG, NAME, PATH, InputError, expect, expect_or_none
from planner_eval.reading.dialects.dialect import TurnChoice
from planner_eval.reading.files.files import PlanFile
from planner_eval.reading.files.pairing import PAIRING_KEYS
from planner_eval.reading.files.record import DEFAULT_STORE, Store
from planner_eval.reading.parse import Source, enable_inference, read_as


class Reading(NamedTuple):
    """How predictions and gold plans are read out of files, and paired.

    Args:
        dialect: The notation of the plans; recognised when left out.
        id_field: The field of a record that names it; recognised when left out.
        text_field: The field of a record that holds its plan; recognised when left out.
        gold_dialect: The notation of the gold plans, where it is another.
        gold_id_field: The gold records' id field, if different.
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

    def refuse_others(self, *names: str) -> None:
        """Refuse what would have no effect where only some fields have one.

        Raises:
            InputError: names the first such field.
        """
        for name, value, usual in zip(self._fields, self, Reading(), strict=True):
            if name not in names and value != usual:
                raise InputError(
                    f"reading.{name} is {value!r} and has no effect here: {', '.join(names)} have"
                )

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


DEFAULT_READING = Reading()
"""Everything is recognised."""


def check_reading(reading: Any) -> None:
    """Refuse what says nothing of how files are read, and a way to pair that there is not.

    Raises:
        InputError: says what is expected.
    """
    if not isinstance(reading, Reading):
        raise InputError(f"the reading is {reading!r}, expected pe.Reading(…)")
    expect_or_none(NAME, id_field=reading.id_field, text_field=reading.text_field)
    expect_or_none(PATH, cache=reading.cache, folder=reading.folder)
    expect_or_none(FLAG, repair=reading.repair)
    expect(FLAG, infer=reading.infer)
    if reading.by is not None and reading.by not in PAIRING_KEYS:
        expected = " or ".join(map(repr, PAIRING_KEYS))
        raise InputError(f"reading.by is {reading.by!r}, expected {expected}, or None")
