"""AppBench's figures as its published code computes them, on the text of the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from planner_eval.benchmarks.appbench import analysis, evaluation
from planner_eval.benchmarks.appbench.text import split_answer
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore

_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What reading a gold record raises that lacks fields or holds others than the released ones."""


class _Scored(NamedTuple):
    counts: evaluation.AppBenchOfficialCounts
    names: analysis.Names
    errors: analysis.Errors | None


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

    >>> from planner_eval.datasets.sample import Sample
    >>> line = "seats = buytickets(#city='Reno')"
    >>> gold = {"used_app": ["Movies"], "api_results": [line], "result_arguments": [["seats"]],
    ...         "user_aware_arguments": {}}
    >>> report = score_official([(Sample("a", gold=gold), f"Movies: [{line}]")])
    >>> report.value("complete_match"), report.figure("succ").error
    (1.0, 'ZeroDivisionError')
    """
    rows: list[SampleScore] = []
    scored: list[_Scored] = []
    failure = key_failure = None
    for sample, text in records:
        try:
            one = _score(sample.gold, text)
        except _MALFORMED as error:
            failure = failure or type(error).__name__
            rows.append(SampleScore(sample.id, False, error=type(error).__name__))
            continue
        if one.errors is None:
            key_failure = key_failure or "KeyError"
        scored.append(one)
        rows.append(_row(sample.id, one))
    figures = (
        *_unless(failure, evaluation.figures(evaluation.add(s.counts for s in scored), len(scored))),
        *_unless(
            failure or key_failure,
            analysis.figures([(s.names, s.errors or analysis.Errors()) for s in scored]),
        ),
    )
    return Report("appbench", "official", len(rows), figures, tuple(rows))


def _score(gold: dict[str, Any], text: str) -> _Scored:
    said = split_answer(text)
    counts = evaluation.count(
        evaluation.predicted_side(*said), evaluation.gold_side(gold), gold["user_aware_arguments"]
    )
    predicted, wanted = analysis.side(*said), analysis.gold_side(gold)
    returned = frozenset(chain.from_iterable(gold["result_arguments"]))
    try:
        errors = analysis.errors(predicted, wanted, returned)
    except KeyError:  # the one place where the published analysis trips over a well-formed record
        errors = None
    return _Scored(counts, analysis.names(predicted, wanted), errors)


def _row(identity: str, one: _Scored) -> SampleScore:
    error = evaluation.failure(one.counts)
    return SampleScore.counted(identity, bool(one.counts.complete), partial(_row_figures, one), error)


def _row_figures(one: _Scored) -> Iterator[Figure]:
    yield from evaluation.figures(one.counts, 1)
    for name, value in zip(analysis.Names._fields, one.names, strict=True):
        yield Figure(f"sample.{name}", value)


def _unless(failure: str | None, figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """The figures, or their names with the exception that ended the published run."""
    if failure is None:
        return tuple(figures)
    return tuple(Figure(figure.name, None, error=failure) for figure in figures)
