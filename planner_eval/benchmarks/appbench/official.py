"""AppBench's figures as its published code computes them, on the text of the answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from planner_eval.benchmarks.appbench import evaluation
from planner_eval.benchmarks.appbench.evaluation import (
    ComparedPlan,
    expand_city,
    f1,
    is_same_value,
    match_names,
    read_analysed_call,
    split_answer,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import (
    Figure,
    SampleResults,
    Scorer,
    failed_figures,
    shared_figures,
    sum_columns,
)

# ----------------------------------------------------------------------
# The error analysis of the published AppBench code (its ``analysis`` module, the paper's Table 4).
#
# Source: repository ruleGreen/AppBench at 81539ee, ``analysis.py``; ``test.py`` never calls it.
SHARE_NAMES = (
    "all_key_missing",
    "depend_key_missing",
    "indendpent_key_missing",
    "all_key_value_mismatch",
    "depend_key_value_mismatch",
    "independent_key_value_mismatch",
    "date_value_error",
    "location_value_error",
    "percent_key_missing",
    "percent_depend_key_missing",
    "percent_key_value_mismatch",
    "percent_depend_key_value_mismatch",
)
"""The published keys, one of them misspelled there."""

TIME_WORDS = ("date", "time")
PLACE_WORDS = ("from", "to", "city", "where_to", "destination")


class NameScores(NamedTuple):
    """The name scores of one sample."""

    app_f1: float
    app_em: int
    api_f1: float
    api_em: int


class ArgumentErrors(NamedTuple):
    """The argument errors of one sample, or the sum over a set.

    Args:
        compared: Gold arguments of the APIs that were predicted.
        missing: Gold keys that the prediction lacks.
        missing_dependent: Those whose gold value is some call's returned name.
        mismatched: Values that are not the gold ones.
        mismatched_dependent: Those whose gold value is some call's returned name.
        time: Wrong values under a key that names a date or time.
        place: Wrong values under a key that names a place, by a generous list of substrings.
        with_missing: Samples with any of these errors …
        with_missing_dependent: …
        with_mismatched: …
        with_mismatched_dependent: …
    """

    compared: int = 0
    missing: int = 0
    missing_dependent: int = 0
    mismatched: int = 0
    mismatched_dependent: int = 0
    time: int = 0
    place: int = 0
    with_missing: int = 0
    with_missing_dependent: int = 0
    with_mismatched: int = 0
    with_mismatched_dependent: int = 0


def compared_plan(apps: Sequence[str], lines: Sequence[str]) -> ComparedPlan:
    """What the analysis sees of apps and calls; calls that cannot be read are no calls."""
    calls = [call for line in lines if (call := read_analysed_call(line)) is not None]
    return ComparedPlan(apps, [call.name for call in calls], {call.name: call.arguments for call in calls})


def _name_scores(predicted: Sequence[str], gold: Sequence[str]) -> tuple[float, int]:
    equal, hits = match_names(predicted, gold)
    if not predicted:
        return 0.0, equal
    return f1(hits / len(predicted), hits / len(gold)), equal


def argument_errors(predicted: ComparedPlan, gold: ComparedPlan, returned: frozenset[str]) -> ArgumentErrors:
    """The argument errors of one sample, over the gold APIs that the prediction calls.

    Args:
        predicted: What the answer says.
        gold: What the gold record says.
        returned: All names that any gold call returns; a gold value equal to one is "dependent".

    Raises:
        KeyError: where the published code does, for a gold API name with capitals.
    """
    compared = missing = missing_dependent = mismatched = mismatched_dependent = time = location = 0
    past: dict[str, str] = {}
    for api, gold_arguments in gold.arguments.items():
        if api.lower() not in predicted.arguments:
            continue
        pred_arguments = predicted.arguments[api]
        compared += len(gold_arguments)
        for key, gold_value in gold_arguments.items():
            dependent = gold_value in returned
            if key not in pred_arguments:
                missing += 1
                missing_dependent += dependent
                continue
            value = expand_city(pred_arguments[key])
            if is_same_value(gold_value, value) or (key in past and is_same_value(past[key], value)):
                past.setdefault(key, value)
                continue
            mismatched += 1
            mismatched_dependent += dependent
            time += any(word in key for word in TIME_WORDS)
            location += any(word in key for word in PLACE_WORDS)
    counts = (missing, missing_dependent, mismatched, mismatched_dependent)
    return ArgumentErrors(compared, *counts, time, location, *(int(count > 0) for count in counts))


def figures(n: int, rows: Callable[[], Iterable[tuple[NameScores, ArgumentErrors]]]) -> tuple[Figure, ...]:
    """All figures of ``analysis.get_metabench_analysis`` over a set.

    The published code divides by the number of wrong values, so a set without any has no figures.

    Args:
        n: The size of the set.
        rows: Its samples, each time from the first on.
    """
    names = ("app.em", "app.f1", "api.em", "api.f1", "succ", *(f"analysis.{share}" for share in SHARE_NAMES))
    try:
        return tuple(map(Figure, names, _figure_values(n, rows)))
    except ZeroDivisionError:
        return failed_figures(names, evaluation.NO_DIVISOR)


def _figure_values(
    n: int, rows: Callable[[], Iterable[tuple[NameScores, ArgumentErrors]]]
) -> tuple[float, ...]:
    total = ArgumentErrors(*sum_columns((error for _, error in rows()), len(ArgumentErrors._fields)))
    succ = sum(
        name.app_em and name.api_em and not error.missing and not error.mismatched for name, error in rows()
    )
    wrong = total.mismatched
    return (
        *(
            sum(getattr(name, score) for name, _ in rows()) / n
            for score in ("app_em", "app_f1", "api_em", "api_f1")
        ),
        succ / n,
        total.missing / total.compared,
        total.missing_dependent / total.compared,
        (total.missing - total.missing_dependent) / total.compared,
        wrong / total.compared,
        total.mismatched_dependent / total.compared,
        (wrong - total.mismatched_dependent) / total.compared,
        total.time / wrong,
        total.place / wrong,
        total.with_missing / n,
        total.with_missing_dependent / n,
        total.with_mismatched / n,
        total.with_mismatched_dependent / n,
    )


# ----------------------------------------------------------------------
# The structure that the published AppBench code reads off a gold record (its Table 2).
#
# Source: repository ruleGreen/AppBench at 81539ee, ``utils.topo_relations``.
_NEEDED_NAME = re.compile(r"#\w+=(?:'[^']*'|(\w+))")


def official_components(gold: Mapping[str, Any]) -> list[list[int]]:
    """The components of a gold plan, as the published depth-first search lists them.

    Every call that returns a needed name is linked, later ones too, and the search walks from
    producer to consumer only: two producers of one consumer lie in two components.

    Args:
        gold: A gold record's ``output``.

    Returns:
        Positions of calls, one list a component, in the order in which they are found.

    >>> lines = ["a = f(#x='1')", "b = g(#y='2')", "c = h(#a=a, #b=b)"]
    >>> official_components({"used_app": ["A", "A", "A"], "api_results": lines})
    [[0, 2], [1]]
    """
    lines = [line for line, _ in zip(gold["api_results"], gold["used_app"], strict=False)]
    returned: list[set[str]] = []
    needs: list[set[str]] = []
    for line in lines:
        names, _, call = line.partition("=")
        returned.append({name.strip() for name in names.split(",")})
        needs.append({name for name in _NEEDED_NAME.findall(call) if name})
    n = len(lines)
    # As published: the first call's needs and, as a producer, the last call are never looked at.
    consumers: list[list[int]] = [
        [i for i in range(n - 1, 0, -1) if i != j and j < n - 1 and not needs[i].isdisjoint(returned[j])]
        for j in range(n)
    ]
    components: list[list[int]] = []
    visited: set[int] = set()
    for start in range(n):
        component: list[int] = []
        stack = [start]
        while stack:
            node = stack.pop()
            if node not in visited:
                visited.add(node)
                component.append(node)
                stack.extend(reversed(consumers[node]))
        if component:
            components.append(component)
    return components


# ----------------------------------------------------------------------
# AppBench's figures as its published code computes them, on the text of the answers.
_MALFORMED_ERRORS = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What reading a gold record raises that lacks fields or holds others than the released ones."""


class OfficialOutcome(NamedTuple):
    """What the published code counts of an answer.

    Args:
        counts: For the six figures of ``Evaluation``; None where that code ends on the record.
        names: Of the analysis.
        errors: Of the analysis, which ends with KeyError at names with capitals: None then.
        failure: The exception with which the published code ends on the record.
    """

    counts: evaluation.AppBenchOfficialCounts | None = None
    names: NameScores | None = None
    errors: ArgumentErrors | None = None
    failure: str | None = None

    @property
    def ok(self) -> bool:
        """The answer is complete."""
        return self.counts is not None and bool(self.counts.complete)

    @property
    def error(self) -> str | None:
        """The exception on the record, or on this sample scored alone."""
        return self.failure if self.counts is None else evaluation.failure(self.counts)

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The six figures of this sample alone, and its names' scores."""
        if self.counts is not None and self.names is not None:
            yield from evaluation.figures(self.counts, 1)
            for name, value in self.names._asdict().items():
                yield Figure(f"sample.{name}", value)


def scorer() -> Scorer:
    r"""Every figure that AppBench's code prints, and each sample's figures when scored alone.

    A sample's ``gold`` is the ``output`` object of the released record. The figures are the six of
    ``Evaluation.get_appbench_analysis`` and the seventeen of ``analysis.get_metabench_analysis``. Where that
    code divides by zero, or cannot read a record, figures and rows name the exception.

    Source: repository ruleGreen/AppBench at 81539ee.

    >>> from planner_eval.benchmarks.appbench import score_official
    >>> line = "seats = buytickets(#city='Reno')"
    >>> gold = {"used_app": ["Movies"], "api_results": [line], "result_arguments": [["seats"]],
    ...         "user_aware_arguments": {}}
    >>> report = score_official([(Sample("a", gold=gold), f"Movies: [{line}]")])
    >>> report.value("complete_match"), report.figure("succ").error
    (1.0, 'ZeroDivisionError')
    """
    return Scorer(_judge_answer, _figures, OfficialOutcome)


def _judge_answer(sample: Sample, text: str) -> OfficialOutcome:
    gold, answer = sample.gold, split_answer(text)
    try:
        counts = evaluation.count(
            evaluation.compared_plan(*answer),
            evaluation.compared_plan(gold["used_app"], gold["api_results"], is_gold=True),
            gold["user_aware_arguments"],
        )
        predicted, expected = compared_plan(*answer), compared_plan(gold["used_app"], gold["api_results"])
        returned = frozenset(chain.from_iterable(gold["result_arguments"]))
        try:
            errors = argument_errors(predicted, expected, returned)
        except KeyError:  # the one place where the published analysis trips over a well-formed record
            errors = None
        scores = (
            *_name_scores(predicted.apps, expected.apps),
            *_name_scores(predicted.apis, expected.apis),
        )
        return OfficialOutcome(counts, NameScores(*scores), errors)
    except _MALFORMED_ERRORS as error:
        return OfficialOutcome(failure=type(error).__name__)


def _figures(results: SampleResults) -> Iterator[Figure]:
    def counted() -> Iterator[Any]:
        return (outcome for _, outcome in results if outcome.counts is not None)

    failure = next((outcome.failure for _, outcome in results if outcome.failure), None)
    key_failure = "KeyError" if any(outcome.errors is None for outcome in counted()) else None
    n = sum(1 for _ in counted())
    total = evaluation.sum_counts(outcome.counts for outcome in counted())
    scored = evaluation.figures(total, n)
    analysed = figures(
        n, lambda: ((outcome.names, outcome.errors or ArgumentErrors()) for outcome in counted())
    )
    for error, computed in ((failure, scored), (failure or key_failure, analysed)):
        yield from failed_figures((f.name for f in computed), error) if error else computed
