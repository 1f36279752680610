"""AppBench's figures as its published code computes them, on the text of the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from planner_eval.benchmarks.answers import SampleResults, Scorer, report_of
from planner_eval.benchmarks.appbench import analysis, evaluation
from planner_eval.benchmarks.appbench.evaluation import split_answer
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore

_MALFORMED_ERRORS = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What reading a gold record raises that lacks fields or holds others than the released ones."""


class _ScoredAnswer(NamedTuple):
    counts: evaluation.AppBenchOfficialCounts
    names: analysis.NameScores
    errors: analysis.ArgumentErrors | None


def score_official(records: Records) -> Report:
    r"""Every figure that AppBench's code prints, and each sample's figures when scored alone.

    Args:
        records: Samples whose ``gold`` is the ``output`` object of the released record, each with the
            answer's text.

    Returns:
        The six figures of ``Evaluation.get_appbench_analysis`` and the seventeen of
        ``analysis.get_metabench_analysis``. Where that code divides by zero, or cannot read a record,
        figures and rows name the exception.

    Source: repository ruleGreen/AppBench at 81539ee.

    >>> from planner_eval.benchmarks.datasets.sample import Sample
    >>> line = "seats = buytickets(#city='Reno')"
    >>> gold = {"used_app": ["Movies"], "api_results": [line], "result_arguments": [["seats"]],
    ...         "user_aware_arguments": {}}
    >>> report = score_official([(Sample("a", gold=gold), f"Movies: [{line}]")])
    >>> report.value("complete_match"), report.figure("succ").error
    (1.0, 'ZeroDivisionError')
    """
    return report_of("appbench", "official", SCORER, records)


def _score_answer(sample: Sample, text: str) -> _ScoredAnswer | str:
    """What is counted of an answer, or the exception with which the published code ends on it."""
    try:
        return _count_answer(sample.gold, text)
    except _MALFORMED_ERRORS as error:
        return type(error).__name__


def _load_answer(data: Any) -> _ScoredAnswer | str:
    if isinstance(data, str):
        return data
    counts, names, errors = data
    return _ScoredAnswer(
        evaluation.AppBenchOfficialCounts(*counts),
        analysis.NameScores(*names),
        None if errors is None else analysis.ArgumentErrors(*errors),
    )


def _figures(results: SampleResults) -> tuple[Figure, ...]:
    failure = next((result for _, result in results if isinstance(result, str)), None)
    key_failure = "KeyError" if any(scored.errors is None for scored in _scored_answers(results)) else None
    n = sum(1 for _ in _scored_answers(results))
    return (
        *_figures_or_failure(
            failure,
            evaluation.figures(
                evaluation.sum_counts(scored.counts for scored in _scored_answers(results)), n
            ),
        ),
        *_figures_or_failure(
            failure or key_failure,
            analysis.figures(
                n,
                lambda: (
                    (scored.names, scored.errors or analysis.ArgumentErrors())
                    for scored in _scored_answers(results)
                ),
            ),
        ),
    )


def _scored_answers(results: SampleResults) -> Iterator[_ScoredAnswer]:
    return (result for _, result in results if not isinstance(result, str))


def _count_answer(gold: dict[str, Any], text: str) -> _ScoredAnswer:
    answer = split_answer(text)
    counts = evaluation.count(
        evaluation.compared_prediction(*answer), evaluation.compared_gold(gold), gold["user_aware_arguments"]
    )
    predicted, expected = analysis.compared_plan(*answer), analysis.compared_gold(gold)
    returned = frozenset(chain.from_iterable(gold["result_arguments"]))
    try:
        errors = analysis.argument_errors(predicted, expected, returned)
    except KeyError:  # the one place where the published analysis trips over a well-formed record
        errors = None
    return _ScoredAnswer(counts, analysis.name_scores(predicted, expected), errors)


def _row(identity: str, scored: _ScoredAnswer | str) -> SampleScore:
    if isinstance(scored, str):
        return SampleScore(identity, False, error=scored)
    error = evaluation.failure(scored.counts)
    figures = partial(_row_figures, scored.counts, scored.names)
    return SampleScore.counted(identity, bool(scored.counts.complete), figures, error)


@lru_cache(maxsize=4096)
def _row_figures(counts: evaluation.AppBenchOfficialCounts, names: analysis.NameScores) -> tuple[Figure, ...]:
    """The figures of a row; most rows are counted as another is."""
    named = (
        Figure(f"sample.{n}", value) for n, value in zip(analysis.NameScores._fields, names, strict=True)
    )
    return (*evaluation.figures(counts, 1), *named)


def _figures_or_failure(failure: str | None, figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """The figures, or their names with the exception that ended the published run."""
    if failure is None:
        return tuple(figures)
    return tuple(Figure(figure.name, None, error=failure) for figure in figures)


SCORER = Scorer(_score_answer, _row, _figures, _load_answer)
"""Its scores one by one."""
