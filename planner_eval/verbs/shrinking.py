"""A pair of plans made as small as it can be while it still shows something."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import AbsentError, InputError, ParseError, WriteError
from planner_eval.comparison.diff import Diff, diff
from planner_eval.policy import DEFAULT_POLICY, Policy
from planner_eval.records.gold import FIELDS
from planner_eval.shrinking import smallest
from planner_eval.shrinking.pairs import Pair, Side, Size, size_of
from planner_eval.shrinking.smallest import ENDINGS, TRIES
from planner_eval.verbs.evaluating import pair
from planner_eval.verbs.policies import AnyPolicy, policy_of
from planner_eval.verbs.reading import Source
from planner_eval.verbs.readings import AS_IT_COMES, Reading, refuse_reading
from planner_eval.verbs.shrink_shows import Shows, of_code, of_command, of_variants, refuse_code
from planner_eval.verbs.shrink_sides import Told, only_pair, told

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan

DIFFERS = "official:corrected"
"""The two columns of a benchmark's scores."""
TRY_SECONDS = 60.0
"""How long a command may run for one pair, unless the user says otherwise."""


@dataclass(frozen=True)
class Part:
    """One side of the smallest pair.

    Args:
        text: As it is written.
        dialect: In which notation; None where it is cut as a text, or stands as it was given.
        plan: What is read of it; None where it is no readable plan.
        before: How large it was.
        after: How large it is.
        suffix: What a file of it is called by.
        filed: What a file of it holds: a record where it came from records.
    """

    text: str
    dialect: str | None
    plan: Plan | None
    before: Size
    after: Size
    suffix: str
    filed: str


@dataclass(frozen=True)
class Shrunk:
    """The smallest pair that was found.

    Args:
        pred: The prediction.
        gold: The gold plan.
        shows: What both the given pair and this one show, in words.
        tries: How many pairs were tried.
        steps: How many of them were smaller and showed it.
        ended: Why the search ended: ``"smallest"``, ``"tries"``, ``"deadline"`` or ``"interrupted"``.
        notes: What the user should know.
        policy: How values compare in its diff.
    """

    pred: Part
    gold: Part
    shows: str
    tries: int
    steps: int
    ended: str
    notes: tuple[str, ...] = ()
    policy: Policy = field(default=DEFAULT_POLICY, repr=False)

    @property
    def diff(self) -> Diff | None:
        """What differs between the two; None where one is no readable plan."""
        if self.pred.plan is None or self.gold.plan is None:
            return None
        return diff(self.pred.plan, self.gold.plan, self.policy)

    @property
    def said(self) -> str:
        """What was left of the pair, in one line."""
        before, after = (
            one.plus(other)
            for one, other in ((self.pred.before, self.gold.before), (self.pred.after, self.gold.after))
        )
        left = [
            f"{was:,} {what} to {now:,}"
            for what, was, now in zip(Size._fields[:-1], before, after, strict=False)
            if was
        ]
        texts = [
            f"{len_before:,} characters to {part.after.weight:,}"
            for part in (self.pred, self.gold)
            if part.plan is None and (len_before := part.before.weight) > part.after.weight
        ]
        return f"{', '.join([*left, *texts])} in {self.tries:,} tries; {ENDINGS[self.ended]}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON data."""
        sides = {
            name: {
                "text": part.text,
                "dialect": part.dialect,
                "before": part.before._asdict(),
                "after": part.after._asdict(),
            }
            for name, part in (("pred", self.pred), ("gold", self.gold))
        }
        found = self.diff
        edits = [] if found is None else [{"code": e.code, "message": e.message} for e in found.edits]
        rest = {"shows": self.shows, "tries": self.tries, "steps": self.steps, "ended": self.ended}
        return {"schema": "planeval.shrunk/1", **rest, **sides, "edits": edits, "notes": list(self.notes)}


def shrink(
    pred: Source,
    gold: Source,
    *,
    code: str | None = None,
    command: str | None = None,
    shows: Callable[[str, str], bool] | None = None,
    differs: str | None = None,
    benchmark: str | None = None,
    figure: str | None = None,
    settings: Mapping[str, str] | None = None,
    id: str | None = None,
    record: int | None = None,
    to: str | None = None,
    policy: AnyPolicy = DEFAULT_POLICY,
    reading: Reading = AS_IT_COMES,
    tries: int = TRIES,
    deadline: float | None = None,
    try_deadline: float = TRY_SECONDS,
    progress: Callable[[int, str], None] | None = None,
) -> Shrunk:
    r"""Make a pair of plans smaller for as long as it still shows something, by one of four measures.

    Calls go with whatever consumes them or have their references cut, arguments, references and parts of values
    go, what is left becomes simple; on both sides together where calls stand for one another, and on each alone.
    A side that holds no readable plan, or does not show it when it is written anew, is cut as a text.

    Args:
        pred: The prediction: a plan, its text or data, or the path of a file, of one plan or of records. With
            `differs` the path of a file of answers.
        gold: What was wanted, likewise. With `differs` the benchmark's data.
        code: It is shown where :func:`diff` has an edit of this code.
        command: It is shown where this shell command, in which ``{pred}`` and ``{gold}`` stand for files, ends
            with 0.
        shows: It is shown where this says so of the two texts.
        differs: ``"official:corrected"``: it is shown where the two scores of `benchmark` differ.
        benchmark: The benchmark, with `differs`.
        figure: The figure of it that differs; the first when left out, whether it is solved before others.
        settings: The benchmark's own options.
        id: The pair's id, where there are many.
        record: Or its number, counted from 1.
        to: The notation to write plans in; each side's own when left out.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        reading: How both are read and paired.
        tries: How many pairs are tried at most.
        deadline: After how many seconds no further one is tried.
        try_deadline: How many seconds the command may run for one pair; one that takes longer does not show it.
        progress: Is told after each try how many there were, and how large the pair is, in words.

    Returns:
        The smallest pair. Where ``ended`` is ``"smallest"``, no single step leaves a smaller one that shows it.

    Raises:
        AbsentError: the given pair does not show it.
        InputError: a file cannot be used, it names several pairs, or there is no such code or benchmark.
        WriteError: `to` cannot say what a plan says.

    >>> found = shrink("a = f(#x='Rome', #y='1')\nb = g(#z=a)", "a = f(#x='Oslo', #y='1')\nb = g(#z=a)",
    ...                code="argument.value")
    >>> found.pred.text, found.gold.text, found.ended
    ("f(#x='x')", "f(#x='o')", 'smallest')
    """
    given = [name for name, one in zip(_ASKED, (code, command, shows, differs), strict=True) if one is not None]
    if len(given) != 1:
        found = " and ".join(given) or "nothing"
        raise InputError(f"found {found}, expected one of {', '.join(_ASKED)}: what the pair shows")
    refuse_reading(reading)
    if code is not None:
        refuse_code(code)
    chosen = policy_of(policy)
    with ExitStack() as stack:
        if differs is not None:
            if differs != DIFFERS:
                raise InputError(f"differs is {differs!r}, expected {DIFFERS!r}")
            ours, theirs, what = _scored(pred, gold, benchmark, figure, settings or {}, id, record, to, reading)
        else:
            ours, theirs = _told(pred, gold, id, record, to, reading)
            if code is not None:
                what = of_code(code, ours, theirs, chosen)
            elif command is not None:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="planeval-")))
                what = of_command(command, ours, theirs, folder, try_deadline)
            else:
                assert shows is not None
                if not shows(ours.text, theirs.text):
                    raise AbsentError("the pair as it is does not show it")
                what = Shows(shows, "what was asked for")
        return _smallest(ours, theirs, what, chosen, tries, deadline, progress)


_ASKED = ("code", "command", "shows", "differs")


def _told(
    pred: Source, gold: Source, id: str | None, record: int | None, to: str | None, reading: Reading
) -> tuple[Told, Told]:
    """The one pair that is meant."""
    paired = pair(pred, gold, reading=reading, id=id)
    left, right = only_pair(paired.pairs, record, f"{paired.pred.name} and {paired.gold.name}")
    shared = {"compute": reading.compute}
    ours = {**shared, "dialect": reading.dialect, "repair": bool(reading.repair)}
    theirs = {**shared, "dialect": reading.gold_dialect or reading.dialect}
    found = told(paired.pred, left, ours, to, side="pred"), told(paired.gold, right, theirs, to, side="gold")
    beside = [name for name in (*FIELDS, "alternatives") if name in right.fields]
    if beside:
        said = f"what gold leaves open beside its plan plays no part: {', '.join(beside)}"
        return found[0], replace(found[1], notes=(*found[1].notes, said))
    return found


def _scored(
    pred: Source,
    gold: Source,
    name: str | None,
    figure: str | None,
    settings: Mapping[str, str],
    id: str | None,
    record: int | None,
    to: str | None,
    reading: Reading,
) -> tuple[Told, Told, Shows]:
    """The one answer and its sample, and what the benchmark's two scores say of them."""
    from planner_eval.verbs.shrink_benchmark import scored_sides

    if name is None:
        raise InputError("the two scores are a benchmark's: which one?")
    for side, given in (("answers", pred), ("gold", gold)):
        if not isinstance(given, (str, os.PathLike)):
            raise InputError(f"the {side} are a {type(given).__name__}, expected the path of a file")
    chosen = (id, record, to)
    ours, theirs, score = scored_sides(os.fspath(pred), os.fspath(gold), name, settings, chosen, reading)
    return ours, theirs, of_variants(name, score, ours, theirs, figure)


def _smallest(
    pred: Told,
    gold: Told,
    shows: Shows,
    policy: Policy,
    tries: int,
    deadline: float | None,
    progress: Callable[[int, str], None] | None,
) -> Shrunk:
    """Search, over plans where they show it when they are written anew, else over texts."""
    told = (pred, gold)
    used = 0
    ways = [(True, True), (False, True), (True, False), (False, False)]
    for way in ways:
        if any(as_plan and side.plan is None for as_plan, side in zip(way, told, strict=True)):
            continue
        sides = _Sides(pred, gold, way)
        start = sides.start()
        if way == (False, False) or sides.shows(start, shows):
            break
        used += 1

    def tell(done: int, found: Pair) -> None:
        if progress is not None:
            progress(done, _large(found))

    found = smallest.shrink(
        start, lambda each: sides.shows(each, shows), tries=tries, deadline=deadline, progress=tell
    )
    parts = [sides.part(at, start[at], found.pair[at]) for at in (0, 1)]
    notes = [*pred.notes, *gold.notes, *sides.notes()]
    if not shows.texts(parts[0].text, parts[1].text):
        notes.append("the smallest pair does not show it any more: what was asked gives now this, now that")
    return Shrunk(
        parts[0], parts[1], shows.said, found.tries + used, found.steps, found.ended, tuple(notes), policy
    )


def _large(found: Pair) -> str:
    both = size_of(found.pred).plus(size_of(found.gold))
    return f"{both.calls:,} calls, {both.arguments:,} arguments" if both.calls else f"{both.weight:,} characters"


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
            smallest.bare(side.plan) if as_plan and side.plan is not None else side.text if side.cut else ""
            for side, as_plan in both
        )
        return Pair(first, second)

    def text(self, at: int, side: Side) -> str | None:
        """How a side is written; None where its notation cannot say it."""
        told = self.told[at]
        if isinstance(side, str):
            return side if told.cut else told.text
        try:
            return told.written(side)
        except (WriteError, ParseError):
            return None

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
            size_of(before if written or told.plan is None else told.plan),
            size_of(after if written or plan is None else plan),
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


