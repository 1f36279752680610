"""The search over a pair as it is written: as plans, or as texts."""

from __future__ import annotations

from collections.abc import Callable

from planner_eval.base.errors import AbsentError, ParseError, WriteError
from planner_eval.base.named import NamedTuple
from planner_eval.policy import Policy
from planner_eval.shrinking import smallest
from planner_eval.shrinking.pairs import Pair, Side, bare, size_of
from planner_eval.verbs.shrink_shows import Shows
from planner_eval.verbs.shrink_sides import Told
from planner_eval.verbs.shrunk import Part, Shrunk

AGAIN = 3
"""So often a command or a function is asked again of the pair that was found."""


class Limits(NamedTuple):
    """How long is searched.

    Args:
        tries: How many pairs are tried at most.
        deadline: After how many seconds no further one is tried; None for no such limit.
    """

    tries: int
    deadline: float | None


def search(
    pred: Told,
    gold: Told,
    shows: Shows,
    policy: Policy,
    limits: Limits,
    progress: Callable[[int, str], None] | None,
) -> Shrunk:
    """Search over plans where they show it when they are written anew, else over texts.

    Args:
        pred: The prediction as given.
        gold: The gold plan as given; together they show it.
        shows: What that is.
        policy: How values compare in the diff of what is found.
        limits: How long is searched.
        progress: As for :func:`planner_eval.shrink`.

    Raises:
        AbsentError: asked again of the given pair, what was asked answers otherwise.
    """
    records = (pred, gold)
    used = 0
    modes = [(True, True), (False, True), (True, False), (False, False)]
    for mode in modes:
        if any(as_plan and record.plan is None for as_plan, record in zip(mode, records, strict=True)):
            continue
        prepared = _Sides(pred, gold, mode)
        start = prepared.start()
        must_check = mode != (False, False) or bool(used and shows.asked)
        if not must_check or prepared.shows(start, shows):
            break
        if mode == (False, False):
            raise AbsentError(
                f"{shows.asked} does not answer the same each time: of the pair as it is it said yes, then no"
            )
        used += 1

    def tell(count: int, pair: Pair) -> None:
        if progress is not None:
            progress(count, _large(pair))

    result = smallest.shrink(
        start, lambda pair: prepared.shows(pair, shows), progress=tell, **limits._asdict()
    )
    outputs = [prepared.part(index, start[index], result.pair[index]) for index in (0, 1)]
    notes = [*pred.notes, *gold.notes, *prepared.notes()]
    ended = result.ended
    if shows.asked and ended != "interrupted":
        try:
            if not all(shows.texts(outputs[0].text, outputs[1].text) for _ in range(AGAIN)):
                ended = "wavers"
                notes.append(
                    f"{shows.asked} does not answer the same each time: of this pair it said yes, then no"
                )
        except KeyboardInterrupt:  # what was found is written all the same
            ended = "interrupted"
    return Shrunk(
        outputs[0], outputs[1], shows.said, result.tries + used, result.steps, ended, tuple(notes), policy
    )


def _large(pair: Pair) -> str:
    size = size_of(pair.pred).plus(size_of(pair.gold))
    return (
        f"{size.calls:,} calls, {size.arguments:,} arguments" if size.calls else f"{size.weight:,} characters"
    )


class _Sides:
    """Both sides, each made smaller as a plan, cut as a text, or left as it is.

    Args:
        pred: The prediction.
        gold: The gold plan.
        as_plans: Of each whether it is made smaller as a plan.
    """

    def __init__(self, pred: Told, gold: Told, as_plans: tuple[bool, bool]) -> None:
        self.told, self.as_plans = (pred, gold), as_plans

    def start(self) -> Pair:
        """The pair that the search begins with; a side that is left as it is, is nothing to it."""
        pairs = zip(self.told, self.as_plans, strict=True)
        first, second = (
            bare(record.plan) if as_plan and record.plan is not None else record.text if record.cut else ""
            for record, as_plan in pairs
        )
        return Pair(first, second)

    def text(self, index: int, content: Side) -> str | None:
        """How a side is written; None where its notation cannot say it."""
        record = self.told[index]
        if isinstance(content, str):
            return content if record.cut else record.text
        if record.calling and not content.calls:
            return None
        try:
            text = record.written(content)
        except (WriteError, ParseError):
            return None
        return text if text.strip() else None  # in some notations no call is no text, which is no plan

    def shows(self, pair: Pair, shows: Shows) -> bool:
        """Whether a pair shows it, as it is written."""
        pred, gold = self.text(0, pair.pred), self.text(1, pair.gold)
        return pred is not None and gold is not None and shows.texts(pred, gold)

    def part(self, index: int, before: Side, after: Side) -> Part:
        """One side of what was found."""
        record = self.told[index]
        text = self.text(index, after)
        assert text is not None
        try:
            plan = record.parsed(text)
        except ParseError:
            plan = None
        file = record.file(text)
        written = not isinstance(after, str)
        return Part(
            text,
            record.dialect if written else None,
            plan,
            size_of(before),
            size_of(after),
            file.suffix,
            file.text,
        )

    def notes(self) -> list[str]:
        """Which sides were not made smaller as plans, and why."""
        notes = []
        for name, record, as_plan in zip(("pred", "gold"), self.told, self.as_plans, strict=True):
            if as_plan:
                continue
            why = (
                f"it holds no readable plan ({record.error})"
                if record.plan is None
                else "written anew it does not show it"
            )
            notes.append(f"{name} is {'cut as a text' if record.cut else 'left as it is'}: {why}")
        return notes
