"""NESTful's figures as the paper defines them (section 4.3).

They stand under the published names, beside the published ones. What the published code does otherwise:
its F1 averages over the names that occur in gold, does not see invented ones, and takes values for
parameter names; calls are compared by place, so that one extra call in front loses all, and references
by the name of the tool that is referred to; running ignores parameter names, and a failure equals 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

from planner_eval.base.errors import ParseError
from planner_eval.base.frozen import fast_frozen
from planner_eval.benchmarks.answers import SampleResults, Scorer, report_of
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.nestful.corrected_win import count_equal_calls, is_winning
from planner_eval.benchmarks.nestful.official import DEFAULT_MODEL, absence_note, absent_functions
from planner_eval.benchmarks.nestful.reading import Reading, read_gold, read_prediction
from planner_eval.benchmarks.paired import count_shared
from planner_eval.benchmarks.report import Figure, Records, Report, Run, SampleScore, f1, ratio
from planner_eval.plan.model import Plan


@fast_frozen
class NestfulCounts:
    """The counts of one sample, or the sum over a set.

    Args:
        samples: Samples.
        tool_hits: Tool names that prediction and gold share, each as often as both call it.
        tools_predicted: Calls in the prediction.
        tools_gold: Calls in gold.
        key_hits: The same of (tool, parameter name) …
        keys_predicted: …
        keys_gold: …
        partial: Calls of the prediction equal to those of gold that they stand for, of the longer plan.
        full: Samples whose plan means the same as gold's.
        runnable: Samples whose gold calls only functions that the runner has.
        won: Of these, samples whose calls lead to the gold answer.
        unread: Answers that cannot be read.
        winnable: Of the runnable samples, those whose gold answer the calls of gold or of the answer lead to.
    """

    samples: int = 1
    tool_hits: int = 0
    tools_predicted: int = 0
    tools_gold: int = 0
    key_hits: int = 0
    keys_predicted: int = 0
    keys_gold: int = 0
    partial: float = 0.0
    full: int = 0
    runnable: int = 1
    won: int = 0
    unread: int = 0
    winnable: int = 1


@fast_frozen
class Outcome:
    """What became of one answer.

    Args:
        id: The sample's id.
        counts: Its counts; None where the gold plan cannot be read, so that nothing can be said.
        gold: The gold plan; None where it cannot be read.
        error: Why the answer, or the gold plan, cannot be read.
        absent: The functions that gold calls and the runner does not have.
    """

    id: str
    counts: NestfulCounts | None
    gold: Plan | None
    error: str | None = None
    absent: Sequence[str] = ()


UNWINNABLE_NOTE = "gold itself does not win, for its calls do not lead to its answer"
"""What is said of a sample that cannot be won by gold's calls."""


def score_corrected(records: Records, *, model: str = DEFAULT_MODEL, run: Run | None = None) -> Report:
    """NESTful's figures as the paper defines them, under the published names.

    Args:
        records: Samples whose ``gold`` is the list of gold calls as released, each with the answer's text.
            For the win rate, ``tools`` is the list of tool specs and ``extra["gold_answer"]`` the answer.
        model: The model name that chooses the published reader, which is asked where an answer is not
            NESTful's plain JSON.
        run: Runs calls, see :mod:`.win`; without it there is no win rate.

    Returns:
        Each figure with its counts and a note on what it counts. A row is ok when its calls lead to the
        gold answer; without `run`, when its plan means the same as gold's. A sample whose gold calls a
        function that `run` does not have is in no win rate, and its row names the function.

    Source: the paper, section 4.3.

    >>> from planner_eval.benchmarks.datasets.sample import Sample
    >>> import json
    >>> calls = [{"name": "now", "label": "$var_1", "arguments": {}}]
    >>> extra = [{"name": "ping", "label": "$var_0", "arguments": {}}, *calls]
    >>> score_corrected([(Sample("a", gold=calls), json.dumps(extra))]).value("accuracy_combined")
    0.5
    """
    return report_of("nestful", "corrected", scorer(model, run), records)


class _StoredOutcome(NamedTuple):
    """What is kept of an :class:`Outcome`."""

    counts: NestfulCounts | None
    error: str | None
    absent: Sequence[str]


def scorer(model: str = DEFAULT_MODEL, run: Run | None = None) -> Scorer:
    """Its scores one by one; the same is asked as by :func:`score_corrected`."""

    def score_sample(sample: Sample, text: str) -> _StoredOutcome:
        (outcome,) = outcomes([(sample, text)], model=model, run=run)
        return _StoredOutcome(outcome.counts, outcome.error, outcome.absent)

    def figures(results: SampleResults) -> tuple[Figure, ...]:
        absent = list(dict.fromkeys(name for _, result in results for name in result.absent))
        counts = (result.counts for _, result in results if result.counts is not None)
        return _figures(total(counts), run is not None, absent)

    return Scorer(score_sample, partial(_row, run is not None), figures, _load_outcome)


def _load_outcome(data: Any) -> _StoredOutcome:
    counts, *remaining = data
    return _StoredOutcome(None if counts is None else NestfulCounts(*counts), *remaining)


def outcomes(records: Records, *, model: str = DEFAULT_MODEL, run: Run | None = None) -> Iterator[Outcome]:
    """What became of each answer, one by one: the matter of figures and of figure 6."""
    for sample, text in records:
        try:
            gold_reading = read_gold(sample.gold)
        except ParseError as problem:
            yield Outcome(sample.id, None, None, f"gold: {problem.code}")
            continue
        gold = gold_reading.plan
        reading = read_prediction(text, model, sample.tools, gold_reading)
        absent = absent_functions(run, sample.gold)
        won, winnable = False, not absent
        if run is not None and not absent:
            won = is_winning(reading.plan, sample, run, gold)
            winnable = won or (reading.plan is not gold and is_winning(gold, sample, run, gold))
        counts = count(reading, gold, won=won, runnable=not absent, winnable=winnable)
        yield Outcome(sample.id, counts, gold, reading.error, absent)


def count(
    reading: Reading, gold: Plan, *, won: bool = False, runnable: bool = True, winnable: bool = True
) -> NestfulCounts:
    """The counts of one sample.

    Args:
        reading: What could be read of the answer.
        gold: The gold plan.
        won: Its calls lead to the gold answer.
        runnable: The runner has the functions that gold calls.
        winnable: Gold's own calls, or these, lead to the gold answer.
    """
    pred = reading.plan
    tools, gold_tools = ([call.name for call in plan.calls] for plan in (pred, gold))
    keys, gold_keys = _parameter_keys(pred), _parameter_keys(gold)
    size = max(len(pred), len(gold))
    equal = count_equal_calls(pred, gold)
    full = reading.error is None and equal is None
    right = size if full else equal or 0
    return NestfulCounts(
        tool_hits=count_shared(tools, gold_tools),
        tools_predicted=len(tools),
        tools_gold=len(gold_tools),
        key_hits=count_shared(keys, gold_keys),
        keys_predicted=len(keys),
        keys_gold=len(gold_keys),
        partial=right / size if size else float(reading.error is None),
        full=int(full),
        runnable=int(runnable),
        won=int(won),
        unread=int(reading.error is not None),
        winnable=int(winnable),
    )


def _parameter_keys(plan: Plan) -> list[tuple[str, str]]:
    return [(call.name, name) for call in plan.calls for name, _ in call.arguments]


def total(counts: Iterable[NestfulCounts]) -> NestfulCounts:
    """The sum of the counts of many samples."""
    rows = list(map(attrgetter(*(field.name for field in fields(NestfulCounts))), counts))
    return NestfulCounts(*map(sum, zip(*rows, strict=True))) if rows else NestfulCounts(samples=0)


def _figures(c: NestfulCounts, run: bool, absent: Sequence[str]) -> tuple[Figure, ...]:
    functions = "function names, summed over samples; invented ones cost precision"
    parameters = "parameter names of each function, without their values"
    partial = "calls equal to those of gold that they stand for, of the longer plan; mean over samples"
    won = "valid calls that lead to the gold answer; a failure never wins"
    if run and c.winnable < c.runnable:
        highest = c.winnable / c.runnable
        reason = "gold's own calls lose the others"
        won = f"at most {c.winnable:,} of {c.runnable:,} ({highest:.4g}) can be won, {reason}; {won}"
    if left := absence_note(c.samples - c.runnable, absent, "left out"):
        won = f"{won}; {left}"
    return (
        ratio("p_intent", c.tool_hits, c.tools_predicted, note=functions),
        ratio("r_intent", c.tool_hits, c.tools_gold, note=functions),
        f1("f1_intent", c.tool_hits, c.tools_predicted, c.tools_gold, note=functions),
        ratio("p_slot", c.key_hits, c.keys_predicted, note=parameters),
        ratio("r_slot", c.key_hits, c.keys_gold, note=parameters),
        f1("f1_slot", c.key_hits, c.keys_predicted, c.keys_gold, note=parameters),
        Figure("num_examples", c.samples),
        ratio("accuracy_combined", c.partial, c.samples, note=partial),
        ratio("percentage_times_full_score", c.full, c.samples, note="plans that mean the same as gold's"),
        ratio("win_rate", c.won, c.runnable, note=won) if run else Figure("win_rate", None, note="not run"),
        Figure("num_pred_examples_w_parsing_errors", c.unread, note="answers that no reader can read"),
    )


def _row(run: bool, identity: str, counted: _StoredOutcome) -> SampleScore:
    if counted.counts is None:
        return SampleScore(identity, False, error=counted.error)
    c = counted.counts
    problem = counted.error
    if counted.absent:
        problem = problem or f"functions that are not there: {', '.join(counted.absent)}"
    elif not c.winnable:
        problem = problem or UNWINNABLE_NOTE
    ok = bool(c.won if run else c.full)
    return SampleScore.counted(identity, ok, partial(_row_figures, c, run), problem)


@lru_cache(maxsize=4096)
def _row_figures(c: NestfulCounts, run: bool) -> tuple[Figure, ...]:
    """The figures of a row; most rows are counted as another is."""
    return (
        Figure("partial", c.partial),
        Figure("full", float(c.full)),
        Figure("win", float(c.won) if run and c.runnable else None),
        Figure("parse_error", c.unread),
        f1("f1_intent", c.tool_hits, c.tools_predicted, c.tools_gold),
        f1("f1_slot", c.key_hits, c.keys_predicted, c.keys_gold),
    )
