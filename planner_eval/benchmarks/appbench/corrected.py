"""AppBench's figures as the paper defines them (section 4.2, and 5.1 and 5.3 for the analyses).

They stand under the published names, beside the published ones. What the published code does otherwise:
it counts one hit a sample however many names are right, compares only the last call of an API that is
called twice, takes a value for right that contains the other, or is empty, or was given by the user
where a reference belongs, does not look at which call a reference means nor at extra arguments, and
lets dependent and independent figures pair counts that do not belong together.

A returned name is the name of an output in the API's description: appendix B asks for those names, in that
order. So a name that the API defines is that output and no other. A name that it does not define is a label
that the plan chose, free where the order says which output it means.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

from planner_eval.base.ratios import f1_parts
from planner_eval.benchmarks.apart import Found, Scorer, report_of
from planner_eval.benchmarks.appbench.analysis import SHARES
from planner_eval.benchmarks.appbench.counting import AppBenchCounts, outcomes, total
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore, ratio
from planner_eval.datasets.sample import Sample


def score_corrected(records: Records) -> Report:
    r"""AppBench's figures as the paper defines them, under the published names.

    Args:
        records: Samples whose ``gold`` is the ``output`` object of the released record, each with the
            answer's text.

    Returns:
        Each figure with its counts and a note on what it counts. A row is ok when the plan means the
        same as gold's (the paper's Succ).

    Source: the paper, sections 4.2 (F1, Succ), 5.1 (exact match of arguments), 5.3 (errors), table 11 (EM).

    >>> from planner_eval.datasets.sample import Sample
    >>> lines = ["shop = find(#city='Oslo')", "order(#shop=shop)"]
    >>> gold = {"used_app": ["Shops", "Orders"], "api_results": lines}
    >>> answer = f"Shops: [{lines[0]}]\nOrders: [{lines[1]}]"
    >>> report = score_corrected([(Sample("a", gold=gold), answer)])
    >>> report.value("app_hit_f1"), report.value("complete_match")
    (1.0, 1.0)
    """
    return report_of("appbench", "corrected", SCORER, records)


class _Counted(NamedTuple):
    """What is kept of an :class:`.counting.Outcome`."""

    counts: AppBenchCounts | None
    error: str | None
    unread: int
    mended: int


def _one(sample: Sample, text: str) -> _Counted:
    (outcome,) = outcomes([(sample, text)])
    return _Counted(outcome.counts, outcome.error, outcome.unread, outcome.mended)


def _known(data: Any) -> _Counted:
    counts, *remaining = data
    return _Counted(None if counts is None else AppBenchCounts(*counts), *remaining)


def _figures(results: Found) -> tuple[Figure, ...]:
    figures = figures_of(total(_counts(results)))
    return (*figures, _mean_f1("app", _counts(results)), _mean_f1("api", _counts(results)))


def _counts(results: Found) -> Iterator[AppBenchCounts]:
    return (result.counts for _, result in results if result.counts is not None)


_Ratio = Callable[[AppBenchCounts], tuple[float, float]]


def _f1(hits: str, predicted: str, gold: str) -> _Ratio:
    return lambda c: f1_parts(getattr(c, hits), getattr(c, predicted), getattr(c, gold))


def _independent(c: AppBenchCounts) -> tuple[float, float]:
    predicted, gold = c.predicted - c.dependent_predicted, c.gold - c.dependent_gold
    return f1_parts(c.hits - c.dependent_hits, predicted, gold)


def _of_samples(name: str) -> _Ratio:
    return lambda c: (getattr(c, name), c.samples)


def _of_arguments(name: str) -> _Ratio:
    return lambda c: (getattr(c, name), c.gold)


_FIGURES: Mapping[str, tuple[_Ratio, str]] = {
    "app_hit_f1": (_f1("app_hits", "app_predicted", "app_gold"), "every right app counts, one a call"),
    "api_hit_f1": (_f1("api_hits", "api_predicted", "api_gold"), "every right API name counts"),
    "argu_hit_f1": (_f1("hits", "predicted", "gold"), "arguments of every call, by equal value"),
    "complete_match": (_of_samples("success"), "Succ: the plan means the same as gold's"),
    "depend_argu_hit_f1": (
        _f1("dependent_hits", "dependent_predicted", "dependent_gold"),
        "references to the right output of the right call",
    ),
    "non_depend_argu_hit_f1": (_independent, "literals"),
    "app.em": (_of_samples("app_exact"), "apps equal but for order"),
    "api.em": (_of_samples("api_exact"), "API names equal but for order"),
    "succ": (_of_samples("success"), "the same as complete_match"),
    "argu.em": (
        _of_samples("arguments_exact"),
        "figure 4's exact match of arguments; not in the published code",
    ),
    f"analysis.{SHARES[0]}": (_of_arguments("missing"), "key errors, of all gold arguments"),
    f"analysis.{SHARES[1]}": (_of_arguments("missing_dependent"), "of all gold arguments"),
    f"analysis.{SHARES[2]}": (lambda c: (c.missing - c.missing_dependent, c.gold), "of all gold arguments"),
    f"analysis.{SHARES[3]}": (_of_arguments("wrong"), "value errors, of all gold arguments"),
    f"analysis.{SHARES[4]}": (_of_arguments("wrong_dependent"), "of all gold arguments"),
    f"analysis.{SHARES[5]}": (lambda c: (c.wrong - c.wrong_dependent, c.gold), "of all gold arguments"),
    f"analysis.{SHARES[6]}": (lambda c: (c.time, c.missing + c.wrong), "of all missing or wrong arguments"),
    f"analysis.{SHARES[7]}": (lambda c: (c.place, c.missing + c.wrong), "of all missing or wrong arguments"),
    f"analysis.{SHARES[8]}": (_of_samples("with_missing"), "of all samples"),
    f"analysis.{SHARES[9]}": (_of_samples("with_missing_dependent"), "of all samples"),
    f"analysis.{SHARES[10]}": (_of_samples("with_wrong"), "of all samples"),
    f"analysis.{SHARES[11]}": (_of_samples("with_wrong_dependent"), "of all samples"),
}


def figures_of(counts: AppBenchCounts) -> tuple[Figure, ...]:
    """The figures of a set from its counts; None where there is nothing to divide by."""
    return tuple(ratio(name, *rule(counts), note=note) for name, (rule, note) in _FIGURES.items())


def _mean_f1(kind: str, rows: Iterable[AppBenchCounts]) -> Figure:
    """The mean over samples of the F1 of names."""
    values, of_names = array("d"), _f1(f"{kind}_hits", f"{kind}_predicted", f"{kind}_gold")
    for row in rows:
        hits, size = of_names(row)
        values.append(hits / size if size else 0.0)
    return ratio(f"{kind}.f1", sum(values), len(values), note="mean over samples; every right name counts")


def _row(identity: str, counted: _Counted) -> SampleScore:
    if counted.counts is None:
        return SampleScore(identity, False, error=counted.error)
    figures = partial(_row_figures, counted.counts, counted.unread, counted.mended)
    return SampleScore.counted(identity, bool(counted.counts.success), figures, counted.error)


@lru_cache(maxsize=4096)
def _row_figures(counts: AppBenchCounts, unread: int, mended: int) -> tuple[Figure, ...]:
    """The figures of a row; most rows are counted as another is."""
    rules = ((name, rule) for name, (rule, _) in _FIGURES.items() if not name.startswith("analysis."))
    ratios = (ratio(name, *rule(counts)) for name, rule in rules)
    return (*ratios, Figure("unread", unread), Figure("mended", mended))


SCORER = Scorer(_one, _row, _figures, _known)
"""Its scores one by one."""
