"""The figures that the paper's definitions mean, over recorded conversations.

Source: ComplexFuncBench paper, sections 3.1 (Success Rate, equation 2), 3.2 (completeness and
correctness) and 4.3 (Figures 4 to 6); :mod:`.paper` says where the published code differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError, JudgeError, ParseError
from planner_eval.base.text import counted
from planner_eval.benchmarks.complexfuncbench import analysis
from planner_eval.benchmarks.complexfuncbench.conversation import Turn
from planner_eval.benchmarks.complexfuncbench.paper import Completed, complete
from planner_eval.benchmarks.complexfuncbench.recorded import read_turns
from planner_eval.benchmarks.complexfuncbench.responses import Scores, score_response
from planner_eval.benchmarks.complexfuncbench.scoring import DEFAULTS, Settings, domain_of, prepare
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore, ratio

if TYPE_CHECKING:
    from planner_eval.datasets.sample import Sample


@dataclass(frozen=True, slots=True)
class Record:
    """One record, judged or not.

    Args:
        id: The sample's id.
        completed: The conversation judged to its end.
        scores: What the judge said of the final answer.
    """

    id: str
    completed: Completed
    scores: Scores


def score_corrected(records: Records, *, settings: Settings = DEFAULTS) -> Report:
    """The paper's figures of recorded conversations, under the published names.

    Rates are shares from 0 to 1, where the published code prints percent; answers score 0 to 2.

    Args:
        records: Samples, each with the JSON text of the conversation that a model had.
        settings: API, embedding and judge; the checked parameters are not used.

    Returns:
        One row a record. A record that cannot be read made no call right and gave no answer; one that
        the judge gave up on, or whose sample is broken, is a row with the reason and in no figure.

    Source: ComplexFuncBench paper, sections 3.1, 3.2 and 4.3.
    """
    judged: list[Record] = []
    rows: list[SampleScore] = []
    for sample, text in records:
        row, record = _score(sample, text, settings)
        rows.append(row)
        if record is not None:
            judged.append(record)
    figures = (
        *_rates(judged),
        *_answers(judged, settings),
        *_errors(judged),
        *_steps(judged),
        _self_correction(judged),
    )
    return Report("complexfuncbench", "corrected", len(rows), figures, tuple(rows))


def _score(sample: Sample, text: str, settings: Settings) -> tuple[SampleScore, Record | None]:
    try:
        steps, rules = prepare(sample, settings)
        turns, error = _turns(text)
        completed = complete(steps, turns, rules)
        scores = score_response(sample.gold, completed.response, settings.judge)
    except (InputError, JudgeError) as failure:
        return SampleScore(sample.id, False, error=str(failure)), None
    figures = (
        ratio("Call Accuracy", completed.correct, completed.calls),
        Figure("steps", completed.steps),
        Figure("turns", completed.turns),
        Figure("completeness", scores.complete),
        Figure("correctness", scores.correct),
    )
    return SampleScore(sample.id, completed.success, figures, error), Record(sample.id, completed, scores)


def _turns(text: str) -> tuple[list[Turn], str | None]:
    try:
        return read_turns(text), None
    except ParseError as failure:
        return [], failure.code


_SUCCESS = "share of the samples that came in whose annotated calls were all made and answered; not percent"
_ACCURACY = "share of the annotated calls that were made, each once; not percent"


def _rates(judged: Sequence[Record]) -> list[Figure]:
    groups = {"Overall {}": list(judged)}
    for record in judged:
        groups.setdefault(f"{{}} {domain_of(record.id)}", []).append(record)
    figures = []
    for name, group in groups.items():
        successes = sum(record.completed.success for record in group)
        figures.append(ratio(name.format("Success Rate"), successes, len(group), note=_SUCCESS))
    for name, group in groups.items():
        correct, calls = (
            sum(getattr(record.completed, field) for record in group) for field in ("correct", "calls")
        )
        figures.append(ratio(name.format("Call Accuracy"), correct, calls, note=_ACCURACY))
    return figures


def _answers(judged: Sequence[Record], settings: Settings) -> list[Figure]:
    """Averages over all samples: no answer, or an empty one, scores 0; an undecided judge is left out."""
    if settings.judge is None:
        note = "no judge was given"
        return [Figure("Complete Score", None, note=note), Figure("Correct Score", None, note=note)]
    figures = []
    for name, scores in (
        ("Complete Score", [record.scores.complete for record in judged]),
        ("Correct Score", [record.scores.correct for record in judged]),
    ):
        decided = [
            max(score, 0) if score is not None and score != -1 else 0 for score in scores if score != -1
        ]
        undecided = len(scores) - len(decided)
        undecided_text = f"{counted(undecided, 'answer')} on which the judge did not decide"
        note = f"{undecided_text} {'is' if undecided == 1 else 'are'} left out" if undecided else ""
        figures.append(ratio(name, sum(max(score or 0, 0) for score in decided), len(decided), note=note))
    return figures


def _errors(judged: Sequence[Record]) -> list[Figure]:
    calls = [[call for turn in record.completed.judged for call in turn] for record in judged]
    stopped = [record.completed.correct < record.completed.calls for record in judged]
    counts = analysis.judged_error_types(zip(calls, stopped, strict=True))
    total = sum(counts.values())
    rates = analysis.parameter_types(call for record_calls in calls for call in record_calls)
    return [ratio(f"error share {name}", count, total) for name, count in counts.items()] + [
        ratio(f"error rate {name}", rate.wrong, rate.total) for name, rate in rates.items()
    ]


_SELF = "wrong calls, each answered by an error message, after which a later turn makes the right one"


def _self_correction(judged: Sequence[Record]) -> Figure:
    correction = analysis.self_correction(record.completed.judged for record in judged)
    return ratio("self-correction", correction.total - correction.wrong, correction.total, note=_SELF)


def _steps(judged: Sequence[Record]) -> list[Figure]:
    extra = sum(record.completed.turns - record.completed.steps for record in judged)
    return [ratio("extra steps", extra, len(judged), note="turns with calls beyond the annotated steps")]
