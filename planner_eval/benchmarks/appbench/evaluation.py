"""The scores that the published AppBench code prints (its ``Evaluation`` class).

A sample is counted once and a set is the sum of its samples' counts, so the figures of any set,
also of one sample alone, come from :func:`figures`.

Source: repository ruleGreen/AppBench at 81539ee, ``evaluation.py``. Where these figures depart from
the paper's definitions is listed in ``planner_eval.benchmarks.appbench.corrected``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from planner_eval.benchmarks.answers import sum_columns
from planner_eval.benchmarks.appbench.text import read_scored_call
from planner_eval.benchmarks.report import Figure

FIGURE_NAMES = (
    "app_hit_f1",
    "api_hit_f1",
    "argu_hit_f1",
    "complete_match",
    "depend_argu_hit_f1",
    "non_depend_argu_hit_f1",
)
_CITY_ABBREVIATIONS = {
    "la": "los angeles",
    "lax": "los angeles",
    "nyc": "new york",
    "sd": "san diego",
    "sfo": "san francisco",
    "chi-town": "chicago",
    "ciudad de mexico": "mexico city",
}


class ComparedPlan(NamedTuple):
    """What is compared, of the prediction or of the gold record.

    Args:
        apps: App names, one a call.
        apis: API names, one a call; "" for a call that cannot be read.
        arguments: API name → key → value, of the last call of each API.
    """

    apps: Sequence[str]
    apis: Sequence[str]
    arguments: Mapping[str, Mapping[str, str]]


class AppBenchOfficialCounts(NamedTuple):
    """The counts of one sample, or the sum over a set; `dependent` ones are a part of all."""

    app_hits: int
    app_predicted: int
    app_gold: int
    api_hits: int
    api_predicted: int
    api_gold: int
    hits: int
    predicted: int
    gold: int
    dependent_hits: int
    dependent_predicted: int
    dependent_gold: int
    complete: int


def compared_prediction(apps: Sequence[str], lines: Sequence[str]) -> ComparedPlan:
    """What the scorer sees of an answer, whose apps are matched with those of a first step already.

    Args:
        apps: Of :func:`.text.split_answer` …
        lines: … and the calls.
    """
    calls = [read_scored_call(line) for line in lines]
    if any("\\" in line for line in lines):  # deleted for the arguments, not for the names
        bare = [read_scored_call(line.replace("\\", "")) for line in lines]
    else:
        bare = calls
    arguments = {call.name: call.arguments for call in bare if call is not None}
    return ComparedPlan(apps, [call.name if call else "" for call in calls], arguments)


def compared_gold(gold: Mapping[str, Any]) -> ComparedPlan:
    """What the scorer sees of a gold record's ``output``."""
    calls = [read_scored_call(line) for line in gold["api_results"]]
    arguments = {call.name: call.arguments for call in calls if call is not None}
    return ComparedPlan(gold["used_app"], [call.name if call else "" for call in calls], arguments)


def match_names(predicted: Sequence[str], gold: Sequence[str]) -> tuple[int, int]:
    """Exact match and hit of two lists of names, case apart.

    Returns:
        Whether the lists are equal as multisets, and whether they share any name at all: the
        published counter never goes beyond one hit.

    Source: ``Evaluation.match_evaluate``; the paper (section 4.2) counts every correct name.

    >>> match_names(["B", "a"], ["a", "b"]), match_names(["a", "x"], ["a", "b"]), match_names([], ["a"])
    ((1, 1), (0, 1), (0, 0))
    """
    if not predicted:
        return 0, 0
    if predicted == gold:
        return 1, 1
    pred_names = sorted(map(str.lower, predicted))
    gold_names = sorted(map(str.lower, gold))
    return int(pred_names == gold_names), int(not set(pred_names).isdisjoint(gold_names))


def expand_city(value: str) -> str:
    """The lower-cased value, or the full name where all of it is a city's abbreviation.

    >>> expand_city("'LA'"), expand_city("'Last'")
    ("'los angeles'", "'last'")
    """
    value = value.lower()
    full = _CITY_ABBREVIATIONS.get(value.strip("'"))
    return value if full is None else f"'{full}'"


def is_same_value(left: str, right: str) -> bool:
    """Whether one value contains the other once case and outer ``'`` are gone; "" is in all.

    >>> is_same_value("'Santa Rosa'", "'a'"), is_same_value("city", "'city'"), is_same_value("'1'", "'2'")
    (True, True, False)
    """
    left = left.lower().strip("'")
    right = right.lower().strip("'")
    return left in right or right in left


def count(predicted: ComparedPlan, gold: ComparedPlan, user: Mapping[str, str]) -> AppBenchOfficialCounts:
    """The counts of one sample.

    Args:
        predicted: What the answer says.
        gold: What the gold record says.
        user: The record's ``user_aware_arguments``: values that any argument of that key may take.

    Source: ``Evaluation.get_appbench_analysis``.
    """
    app_equal, app_hit = match_names(predicted.apps, gold.apps)
    api_equal, api_hit = match_names(predicted.apis, gold.apis)
    # An argument is "dependent" where its text holds no quote. The predicted ones are counted over
    # the whole prediction, the gold ones over the predicted APIs alone, as published.
    values = [value for arguments in predicted.arguments.values() for value in arguments.values()]
    dependent_predicted = sum("'" not in value for value in values)
    dependent_gold = hits = dependent_hits = 0
    all_found = True
    past: dict[str, str] = {}
    for api, gold_arguments in gold.arguments.items():
        pred_arguments = predicted.arguments.get(api)
        if pred_arguments is None:
            all_found = False
            continue
        for key, gold_value in gold_arguments.items():
            dependent = "'" not in gold_value
            dependent_gold += dependent
            if key not in pred_arguments:
                all_found = False
                continue
            value = expand_city(pred_arguments[key])
            rule = _hit_rule(value, gold_value, user.get(key[1:]), past.get(key))
            if not rule:
                all_found = False
                continue
            hits += 1
            past.setdefault(key, value)
            if dependent:
                dependent_hits += 1
                dependent_predicted += rule > 1
    return AppBenchOfficialCounts(
        app_hit,
        len(predicted.apps),
        len(gold.apps),
        api_hit,
        len(predicted.apis),
        len(gold.apis),
        hits,
        len(values),
        sum(map(len, gold.arguments.values())),
        dependent_hits,
        dependent_predicted,
        dependent_gold,
        int(app_equal and api_equal and all_found),
    )


def _hit_rule(value: str, gold: str, user: str | None, past: str | None) -> int:
    """Why a value counts as right: 1 the gold value, 2 the user's, 3 an earlier hit's; 0 it does not."""
    if value == gold or is_same_value(gold, value):
        return 1
    if user is not None and is_same_value(user, value):
        return 2
    return 3 if past is not None and is_same_value(past, value) else 0


def sum_counts(counts: Iterable[AppBenchOfficialCounts]) -> AppBenchOfficialCounts:
    """The sum of the counts of many samples."""
    return AppBenchOfficialCounts(*sum_columns(counts, len(AppBenchOfficialCounts._fields)))


def figures(counts: AppBenchOfficialCounts, n: int) -> tuple[Figure, ...]:
    """The six printed figures; each names the exception where the published code divides by zero.

    Args:
        counts: The sum over the set.
        n: Samples in the set.

    Source: the end of ``Evaluation.get_appbench_analysis``; the dependent and independent figures
    pair numerators with denominators that do not belong together, so they can pass 1.
    """
    try:
        values = _figure_values(counts, n)
    except ZeroDivisionError as error:
        return tuple(Figure(name, None, error=type(error).__name__) for name in FIGURE_NAMES)
    return tuple(Figure(name, value) for name, value in zip(FIGURE_NAMES, values, strict=True))


@lru_cache(maxsize=4096)
def failure(counts: AppBenchOfficialCounts) -> str | None:
    """The exception that the published code raises for one sample scored alone, if it does."""
    try:
        _figure_values(counts, 1)
    except ZeroDivisionError as error:
        return type(error).__name__
    return None


def _figure_values(c: AppBenchOfficialCounts, n: int) -> tuple[float, ...]:
    app = f1(c.app_hits / c.app_predicted, c.app_hits / c.app_gold)
    api = f1(c.api_hits / c.api_predicted, c.api_hits / c.api_gold)
    arguments = f1(c.hits / c.predicted, c.hits / c.gold) if c.predicted else 0.0
    dependent = f1(
        c.dependent_hits / c.dependent_predicted if c.dependent_predicted else 1.0,
        c.dependent_hits / c.dependent_gold if c.dependent_gold else 1.0,
    )
    hits, predicted = c.hits - c.dependent_hits, c.predicted - c.dependent_predicted
    independent = f1(
        hits / predicted if predicted else 1.0,
        hits / (c.gold - c.dependent_gold) if c.dependent_gold else 1.0,
    )
    return app, api, arguments, c.complete / n, dependent, independent


def f1(precision: float, recall: float) -> float:
    """The harmonic mean, 0 where both are 0.

    >>> f1(1.0, 0.5), f1(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
