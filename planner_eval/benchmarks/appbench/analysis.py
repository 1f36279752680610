"""The error analysis of the published AppBench code (its ``analysis`` module, the paper's Table 4).

Source: repository ruleGreen/AppBench at 81539ee, ``analysis.py``; ``test.py`` never calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.benchmarks.answers import sum_columns
from planner_eval.benchmarks.appbench.evaluation import ComparedPlan, expand_city, f1, is_same_value
from planner_eval.benchmarks.appbench.text import read_analysed_call
from planner_eval.benchmarks.report import Figure

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


def compared_gold(gold: Mapping[str, Any]) -> ComparedPlan:
    """What the analysis sees of a gold record's ``output``."""
    return compared_plan(gold["used_app"], gold["api_results"])


def compared_plan(apps: Sequence[str], lines: Sequence[str]) -> ComparedPlan:
    """What the analysis sees of apps and calls; calls that cannot be read are no calls."""
    calls = [call for line in lines if (call := read_analysed_call(line)) is not None]
    return ComparedPlan(apps, [call.name for call in calls], {call.name: call.arguments for call in calls})


def match_names(predicted: Sequence[str], gold: Sequence[str]) -> tuple[int, int]:
    """Exact match (as multisets) and hits (as sets) of two lists of names, case apart.

    Source: ``analysis.match_evaluate``; a perfect list with a repeated name has fewer hits than names.

    >>> match_names(["a", "a"], ["A", "a"])
    (1, 1)
    """
    if not predicted:
        return 0, 0
    if predicted == gold:
        return 1, len(set(map(str.lower, gold)))
    pred_names = sorted(map(str.lower, predicted))
    gold_names = sorted(map(str.lower, gold))
    return int(pred_names == gold_names), len(set(pred_names) & set(gold_names))


def name_scores(predicted: ComparedPlan, gold: ComparedPlan) -> NameScores:
    """The name scores of one sample (``analysis.get_sample_analysis``)."""
    return NameScores(*_name_scores(predicted.apps, gold.apps), *_name_scores(predicted.apis, gold.apis))


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
    names_ = ("app.em", "app.f1", "api.em", "api.f1", "succ", *(f"analysis.{share}" for share in SHARE_NAMES))
    try:
        values = _figure_values(n, rows)
    except ZeroDivisionError as error:
        return tuple(Figure(name, None, error=type(error).__name__) for name in names_)
    return tuple(Figure(name, value) for name, value in zip(names_, values, strict=True))


def _figure_values(
    n: int, rows: Callable[[], Iterable[tuple[NameScores, ArgumentErrors]]]
) -> tuple[float, ...]:
    total = ArgumentErrors(*sum_columns((error for _, error in rows()), len(ArgumentErrors._fields)))
    succ = sum(
        name.app_em and name.api_em and not error.missing and not error.mismatched for name, error in rows()
    )
    wrong = total.mismatched
    return (
        sum(name.app_em for name, _ in rows()) / n,
        sum(name.app_f1 for name, _ in rows()) / n,
        sum(name.api_em for name, _ in rows()) / n,
        sum(name.api_f1 for name, _ in rows()) / n,
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
