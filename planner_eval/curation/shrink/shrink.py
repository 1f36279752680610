"""A pair of plans made as small as it can be while it still shows something."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import (
    FUNCTION,
    MAPPING,
    NAME,
    POSITIVE_COUNT,
    SECONDS,
    AbsentError,
    InputError,
    ParseError,
    WriteError,
    expect,
    expect_or_none,
)
from planner_eval.base.text import format_count
from planner_eval.comparison.diff import Diff, diff
from planner_eval.comparison.evaluate import Progress, pair
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.curation.shrink import search as smallest
from planner_eval.curation.shrink.goals import (
    Goal,
    goal_of_code,
    goal_of_command,
    goal_of_variants,
    read_scored_sides,
    refuse_code,
)
from planner_eval.curation.shrink.pairs import (
    InputSide,
    Pair,
    PairSelection,
    Side,
    Size,
    pair_size,
    read_side,
    select_one,
    size_of,
    strip_source,
)
from planner_eval.curation.shrink.search import ENDINGS, MAX_TRIES
from planner_eval.reading.files.record import GOLD_TERMS
from planner_eval.reading.parse import Source
from planner_eval.reading.settings import DEFAULT_READING, Reading, check_reading

if TYPE_CHECKING:
    from planner_eval.plan.model import Plan


# ----------------------------------------------------------------------
# The smallest pair of plans that was found.
@dataclass(frozen=True)
class ShrunkSide:
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
        ended: Why the search ended: ``"smallest"``, ``"tries"``, ``"deadline"`` or ``"interrupted"``; or
            ``"wavers"`` where what was asked answered otherwise when it was asked of this pair again.
        notes: What the user should know.
        policy: How values compare in its diff.
    """

    pred: ShrunkSide
    gold: ShrunkSide
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
        before, after = self.pred.before.plus(self.gold.before), self.pred.after.plus(self.gold.after)
        left = [
            f"{format_count(was, what[:-1])} to {now:,}"
            for what, was, now in zip(Size._fields[:-1], before, after, strict=False)
            if was
        ]
        texts = [
            f"{format_count(output.before.weight, 'character')} of text to {output.after.weight:,}"
            for output in (self.pred, self.gold)
            if output.dialect is None and output.before.weight
        ]
        return f"{', '.join([*left, *texts])} in {format_count(self.tries, 'try')}; {ENDINGS[self.ended]}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON data."""
        outputs = {
            name: {
                "text": output.text,
                "dialect": output.dialect,
                "before": output.before._asdict(),
                "after": output.after._asdict(),
            }
            for name, output in (("pred", self.pred), ("gold", self.gold))
        }
        return {
            "schema": "planeval.shrunk/1",
            **{name: getattr(self, name) for name in ("shows", "tries", "steps", "ended")},
            **outputs,
            "edits": [{"code": e.code, "message": e.message} for e in (self.diff.edits if self.diff else ())],
            "notes": list(self.notes),
        }


# ----------------------------------------------------------------------
# The search over a pair as it is written: as plans, or as texts.
CONFIRMATIONS = 3
"""So often a command or a function is asked again of the pair that was found."""


def search(
    pred: InputSide,
    gold: InputSide,
    shows: Goal,
    policy: Policy,
    tries: int,
    deadline: float | None,
    progress: Callable[[int, str], None] | None,
) -> Shrunk:
    """Search over plans where they show it when they are written anew, else over texts.

    Args:
        pred: The prediction as given.
        gold: The gold plan as given; together they show it.
        shows: What that is.
        policy: How values compare in the diff of what is found.
        tries: How many pairs are tried at most.
        deadline: After how many seconds no further one is tried; None for no such limit.
        progress: As for :func:`planner_eval.shrink`.

    Raises:
        AbsentError: asked again of the given pair, what was asked answers otherwise.
    """
    used = 0
    for mode in ((True, True), (False, True), (True, False), (False, False)):
        if any(as_plan and side.plan is None for as_plan, side in zip(mode, (pred, gold), strict=True)):
            continue
        sides = _Sides(pred, gold, mode)
        start, unchanged = sides.start(), mode == (False, False)
        if (unchanged and not (used and shows.asked)) or sides.shows(start, shows):
            break
        if unchanged:
            raise AbsentError(
                f"{shows.asked} is not reproducible: two tests of the original pair gave different results"
            )
        used += 1

    def tell(count: int, pair: Pair) -> None:
        if progress is not None:
            size = pair_size(pair)
            plans = f"{size.calls:,} calls, {size.arguments:,} arguments"
            progress(count, plans if size.calls else f"{size.weight:,} characters")

    result = smallest.shrink(
        start, lambda pair: sides.shows(pair, shows), tries=tries, deadline=deadline, progress=tell
    )
    left, right = (sides.part(index, start[index], result.pair[index]) for index in (0, 1))
    notes = [*pred.notes, *gold.notes, *sides.notes()]
    ended = result.ended
    if shows.asked and ended != "interrupted":
        try:
            if not all(shows.texts(left.text, right.text) for _ in range(CONFIRMATIONS)):
                ended, why = "wavers", "two tests of this pair gave different results"
                notes.append(f"{shows.asked} is not reproducible: {why}")
        except KeyboardInterrupt:  # what was found is written all the same
            ended = "interrupted"
    return Shrunk(left, right, shows.said, result.tries + used, result.steps, ended, tuple(notes), policy)


class _Sides:
    """Both sides, each made smaller as a plan, cut as a text, or unchanged.

    Args:
        pred: The prediction.
        gold: The gold plan.
        as_plans: Of each whether it is made smaller as a plan.
    """

    def __init__(self, pred: InputSide, gold: InputSide, as_plans: tuple[bool, bool]) -> None:
        self.sides, self.as_plans = (pred, gold), as_plans

    def start(self) -> Pair:
        """The pair that the search begins with; a side that is unchanged, is nothing to it."""
        return Pair(
            *(
                strip_source(side.plan) if as_plan and side.plan is not None else side.text * side.cut
                for side, as_plan in zip(self.sides, self.as_plans, strict=True)
            )
        )

    def text(self, index: int, content: Side) -> str | None:
        """How a side is written; None where its notation cannot express it."""
        side = self.sides[index]
        if isinstance(content, str):
            return content if side.cut else side.text
        if side.calling and not content.calls:
            return None
        try:
            text = side.written(content)
        except (WriteError, ParseError):
            return None
        return text if text.strip() else None  # in some notations no call is no text, which is no plan

    def shows(self, pair: Pair, shows: Goal) -> bool:
        """Whether a pair shows it, as it is written."""
        pred, gold = self.text(0, pair.pred), self.text(1, pair.gold)
        return pred is not None and gold is not None and shows.texts(pred, gold)

    def part(self, index: int, before: Side, after: Side) -> ShrunkSide:
        """One side of what was found."""
        side, text = self.sides[index], self.text(index, after)
        assert text is not None
        dialect = side.dialect if not isinstance(after, str) else None
        return ShrunkSide(text, dialect, side.read(text), size_of(before), size_of(after), *side.file(text))

    def notes(self) -> Iterator[str]:
        """Which sides were not made smaller as plans, and why."""
        for name, side, as_plan in zip(("pred", "gold"), self.sides, self.as_plans, strict=True):
            if not as_plan:
                why = "after rewriting, the pair no longer fails in this way"
                why = f"it holds no readable plan ({side.error})" if side.plan is None else why
                yield f"{name} is {'cut as a text' if side.cut else 'unchanged'}: {why}"


# ----------------------------------------------------------------------
# A pair of plans made as small as it can be while it still shows something.
DIFFERING_SCORES = "official:corrected"
"""The two columns of a benchmark's scores."""
TRY_SECONDS = 60.0
"""How long a command may run for one pair, unless the user says otherwise."""


def shrink(  # noqa: PLR0913 - the options of a public function
    pred: Source,
    gold: Source,
    *,
    reading: Reading = DEFAULT_READING,
    id: str | None = None,
    number: int | None = None,
    benchmark: str | None = None,
    policy: AnyPolicy = DEFAULT_POLICY,
    code: str | None = None,
    command: str | None = None,
    shows: Callable[[str, str], bool] | None = None,
    differs: str | None = None,
    figure: str | None = None,
    settings: Mapping[str, str] | None = None,
    tries: int | None = None,
    deadline: float | None = None,
    try_deadline: float = TRY_SECONDS,
    progress: Progress | None = None,
    to: str | None = None,
) -> Shrunk:
    r"""Make a pair of plans smaller for as long as it still shows something, by one of four measures.

    Calls go with whatever consumes them or have their references cut, arguments, references and parts of
    values go, what is left becomes simple; on both sides together where calls stand for one another, and on
    each alone. A side that holds no readable plan, or does not show it when it is written anew, is cut as a
    text.

    Args:
        pred: The prediction: a plan, its text or data, or the path of a file, of one plan or of records. With
            `differs` the path of a file of answers.
        gold: What was wanted, likewise. With `differs` the benchmark's data.
        reading: How both are read and paired.
        id: The pair's id, where there are many.
        number: Or its number, counted from 1.
        benchmark: The benchmark, with `differs`.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        code: It is shown where :func:`diff` has an edit of this code.
        command: It is shown where this shell command, in which ``{pred}`` and ``{gold}`` stand for files,
            ends with 0.
        shows: It is shown where this says so of the two texts.
        differs: ``"official:corrected"``: it is shown where the two scores of `benchmark` differ.
        figure: The figure of it that differs; the first when left out, whether it is solved before others.
        settings: The benchmark's own options.
        tries: How many pairs are tried at most; 10,000 when left out.
        deadline: After how many seconds no further one is tried.
        try_deadline: How many seconds the command may run for one pair, which is not shown if it takes more.
        progress: Is told after each try how many there were, and how large the pair is, in words.
        to: The notation to write plans in; each side's own when left out.

    Returns:
        The smallest pair. Where ``ended`` is ``"smallest"``, no single step leaves a smaller one that shows
        it; where it is ``"wavers"``, asked again of this pair the answer was another.

    Raises:
        AbsentError: the given pair does not show it, or not each time.
        InputError: a file cannot be used, it names several pairs, there is no such code or benchmark, or `to`
            cannot say what a plan says.

    >>> found = shrink("a = f(#x='Rome', #y='1')\nb = g(#z=a)", "a = f(#x='Oslo', #y='1')\nb = g(#z=a)",
    ...                code="argument.value")
    >>> found.pred.text, found.gold.text, found.ended
    ("f(#x='x')", "f(#x='O')", 'smallest')
    """
    measures = [
        name
        for name, value in zip(_GOAL_OPTIONS, (code, command, shows, differs), strict=True)
        if value is not None
    ]
    if len(measures) != 1:
        supplied = " and ".join(measures) or "nothing"
        raise InputError(f"found {supplied}, expected one of {', '.join(_GOAL_OPTIONS)}: what the pair shows")
    check_reading(reading)
    expect_or_none(NAME, code=code, command=command, benchmark=benchmark, figure=figure, id=id, to=to)
    expect_or_none(FUNCTION, shows=shows, progress=progress)
    expect_or_none(MAPPING, settings=settings)
    expect_or_none(POSITIVE_COUNT, number=number, tries=tries)
    if code is not None:
        refuse_code(code)
    expect_or_none(SECONDS, deadline=deadline)
    expect(SECONDS, try_deadline=try_deadline)
    chosen, selection = policy_of(policy), PairSelection(id, number, to)
    if differs is not None:
        if differs != DIFFERING_SCORES:
            raise InputError(f"differs is {differs!r}, expected {DIFFERING_SCORES!r}")
        pred_record, gold_record, score = read_scored_sides(
            pred, gold, benchmark, settings or {}, selection, reading
        )
        what = goal_of_variants(str(benchmark), score, pred_record, gold_record, figure)
    else:
        pred_record, gold_record = _read_sides(pred, gold, selection, reading)
        if code is not None:
            what = goal_of_code(code, pred_record, gold_record, chosen)
        elif command is not None:
            what = goal_of_command(command, pred_record, gold_record, try_deadline)
        else:
            assert shows is not None
            if not shows(pred_record.text, gold_record.text):
                raise AbsentError("the original pair does not fail in this way")
            what = Goal(shows, "what was asked for", asked="the function")
    return search(pred_record, gold_record, what, chosen, tries or MAX_TRIES, deadline, progress)


_GOAL_OPTIONS = ("code", "command", "shows", "differs")


def _read_sides(
    pred: Source, gold: Source, selection: PairSelection, reading: Reading
) -> tuple[InputSide, InputSide]:
    """The one pair that is meant."""
    paired = pair(pred, gold, reading=reading, ids=selection.id)
    names = f"{paired.pred.name} and {paired.gold.name}"
    selected: Any = select_one(paired.pairs, selection.record, names)
    left, right = selected
    if left is None or right is None:
        present, lacking = (right, "prediction") if left is None else (left, "gold plan")
        raise InputError(f"{present.where}: there is no {lacking} beside it")
    to = selection.to
    shared = {"compute": reading.compute}
    pred_options = {**shared, "dialect": reading.dialect, "repair": bool(reading.repair)}
    gold_options = {**shared, "dialect": reading.gold_dialect or reading.dialect}
    records = (
        read_side(paired.pred, left, pred_options, to, role="pred"),
        read_side(paired.gold, right, gold_options, to, role="gold"),
    )
    ignored = [name for name in (*GOLD_TERMS, "alternatives") if name in right.fields]
    if ignored:
        message = f"gold's accepted alternatives are ignored: {', '.join(ignored)}"
        return records[0], replace(records[1], notes=(*records[1].notes, message))
    return records
