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
    told = (pred, gold)
    used = 0
    ways = [(True, True), (False, True), (True, False), (False, False)]
    for way in ways:
        if any(as_plan and side.plan is None for as_plan, side in zip(way, told, strict=True)):
            continue
        sides = _Sides(pred, gold, way)
        start = sides.start()
        asked = way != (False, False) or bool(used and shows.asked)
        if not asked or sides.shows(start, shows):
            break
        if way == (False, False):
            raise AbsentError(
                f"{shows.asked} does not answer the same each time: of the pair as it is it said yes, then no"
            )
        used += 1

    def tell(done: int, found: Pair) -> None:
        if progress is not None:
            progress(done, _large(found))

    found = smallest.shrink(start, lambda each: sides.shows(each, shows), progress=tell, **limits._asdict())
    parts = [sides.part(at, start[at], found.pair[at]) for at in (0, 1)]
    notes = [*pred.notes, *gold.notes, *sides.notes()]
    ended = found.ended
    if shows.asked and ended != "interrupted":
        try:
            if not all(shows.texts(parts[0].text, parts[1].text) for _ in range(AGAIN)):
                ended = "wavers"
                notes.append(
                    f"{shows.asked} does not answer the same each time: of this pair it said yes, then no"
                )
        except KeyboardInterrupt:  # what was found is written all the same
            ended = "interrupted"
    return Shrunk(
        parts[0], parts[1], shows.said, found.tries + used, found.steps, ended, tuple(notes), policy
    )


def _large(found: Pair) -> str:
    both = size_of(found.pred).plus(size_of(found.gold))
    return (
        f"{both.calls:,} calls, {both.arguments:,} arguments" if both.calls else f"{both.weight:,} characters"
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
        both = zip(self.told, self.as_plans, strict=True)
        first, second = (
            bare(side.plan) if as_plan and side.plan is not None else side.text if side.cut else ""
            for side, as_plan in both
        )
        return Pair(first, second)

    def text(self, at: int, side: Side) -> str | None:
        """How a side is written; None where its notation cannot say it."""
        told = self.told[at]
        if isinstance(side, str):
            return side if told.cut else told.text
        if told.calling and not side.calls:
            return None
        try:
            text = told.written(side)
        except (WriteError, ParseError):
            return None
        return text if text.strip() else None  # in some notations no call is no text, which is no plan

    def shows(self, pair: Pair, shows: Shows) -> bool:
        """Whether a pair shows it, as it is written."""
        pred, gold = self.text(0, pair.pred), self.text(1, pair.gold)
        return pred is not None and gold is not None and shows.texts(pred, gold)

    def part(self, at: int, before: Side, after: Side) -> Part:
        """One side of what was found."""
        told = self.told[at]
        text = self.text(at, after)
        assert text is not None
        try:
            plan = told.parsed(text)
        except ParseError:
            plan = None
        file = told.file(text)
        written = not isinstance(after, str)
        return Part(
            text,
            told.dialect if written else None,
            plan,
            size_of(before),
            size_of(after),
            file.suffix,
            file.text,
        )

    def notes(self) -> list[str]:
        """Which sides were not made smaller as plans, and why."""
        found = []
        for name, side, as_plan in zip(("pred", "gold"), self.told, self.as_plans, strict=True):
            if as_plan:
                continue
            why = (
                f"it holds no readable plan ({side.error})"
                if side.plan is None
                else "written anew it does not show it"
            )
            found.append(f"{name} is {'cut as a text' if side.cut else 'left as it is'}: {why}")
        return found
