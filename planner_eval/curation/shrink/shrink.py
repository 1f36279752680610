"""A pair of plans made as small as it can be while it still shows something."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from planner_eval.base.arguments import (
    FUNCTION,
    MAPPING,
    NAME,
    POSITIVE_COUNT,
    SECONDS,
    expect,
    expect_or_none,
)
from planner_eval.base.errors import AbsentError, InputError
from planner_eval.comparison.evaluate import pair
from planner_eval.comparison.policy.policy import DEFAULT_POLICY
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.reading import DEFAULT_READING, Reading, check_reading
from planner_eval.curation.shrink.goals import (
    Goal,
    goal_of_code,
    goal_of_command,
    goal_of_variants,
    refuse_code,
)
from planner_eval.curation.shrink.pairs import InputSide, PairSelection, read_side, select_pair
from planner_eval.curation.shrink.search import MAX_TRIES
from planner_eval.curation.shrink.written_search import Limits, Shrunk, search
from planner_eval.reading.files.record import GOLD_TERMS
from planner_eval.reading.parse import Source

DIFFERING_SCORES = "official:corrected"
"""The two columns of a benchmark's scores."""
TRY_SECONDS = 60.0
"""How long a command may run for one pair, unless the user says otherwise."""


def shrink(  # noqa: PLR0913 - the options of a public function
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
    reading: Reading = DEFAULT_READING,
    tries: int = MAX_TRIES,
    deadline: float | None = None,
    try_deadline: float = TRY_SECONDS,
    progress: Callable[[int, str], None] | None = None,
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
        code: It is shown where :func:`diff` has an edit of this code.
        command: It is shown where this shell command, in which ``{pred}`` and ``{gold}`` stand for files,
            ends with 0.
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
        try_deadline: How many seconds the command may run for one pair, which is not shown if it takes more.
        progress: Is told after each try how many there were, and how large the pair is, in words.

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
    expect_or_none(POSITIVE_COUNT, record=record)
    if code is not None:
        refuse_code(code)
    expect(POSITIVE_COUNT, tries=tries)
    expect_or_none(SECONDS, deadline=deadline)
    expect(SECONDS, try_deadline=try_deadline)
    chosen, selection = policy_of(policy), PairSelection(id, record, to)
    if differs is not None:
        if differs != DIFFERING_SCORES:
            raise InputError(f"differs is {differs!r}, expected {DIFFERING_SCORES!r}")
        pred_record, gold_record, what = _read_scored_goal(
            pred, gold, benchmark, figure, settings or {}, selection, reading
        )
    else:
        pred_record, gold_record = _read_sides(pred, gold, selection, reading)
        if code is not None:
            what = goal_of_code(code, pred_record, gold_record, chosen)
        elif command is not None:
            what = goal_of_command(command, pred_record, gold_record, try_deadline)
        else:
            assert shows is not None
            if not shows(pred_record.text, gold_record.text):
                raise AbsentError("the pair as it is does not show it")
            what = Goal(shows, "what was asked for", asked="the function")
    return search(pred_record, gold_record, what, chosen, Limits(tries, deadline), progress)


_GOAL_OPTIONS = ("code", "command", "shows", "differs")


def _read_sides(
    pred: Source, gold: Source, selection: PairSelection, reading: Reading
) -> tuple[InputSide, InputSide]:
    """The one pair that is meant."""
    paired = pair(pred, gold, reading=reading, id=selection.id)
    left, right = select_pair(paired.pairs, selection.record, f"{paired.pred.name} and {paired.gold.name}")
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
        message = f"what gold leaves open beside its plan plays no part: {', '.join(ignored)}"
        return records[0], replace(records[1], notes=(*records[1].notes, message))
    return records


def _read_scored_goal(
    pred: Source,
    gold: Source,
    name: str | None,
    figure: str | None,
    settings: Mapping[str, str],
    selection: PairSelection,
    reading: Reading,
) -> tuple[InputSide, InputSide, Goal]:
    """The one answer and its sample, and what the benchmark's two scores say of them."""
    from planner_eval.curation.shrink.benchmark import read_scored_sides

    if name is None:
        raise InputError("the two scores are a benchmark's: which one?")
    for role, source in (("answers", pred), ("gold", gold)):
        if not isinstance(source, (str, os.PathLike)):
            raise InputError(f"the {role} are a {type(source).__name__}, expected the path of a file")
    pred_record, gold_record, score = read_scored_sides(
        os.fspath(pred), os.fspath(gold), name, settings, selection, reading
    )
    return pred_record, gold_record, goal_of_variants(name, score, pred_record, gold_record, figure)
