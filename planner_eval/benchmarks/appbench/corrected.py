"""AppBench's figures as the paper defines them.

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
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from planner_eval.base.counts import f1_parts
from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.appbench.official import SHARE_NAMES
from planner_eval.benchmarks.appbench.reading import (
    Reading,
    drop_late_references,
    read_gold,
    read_prediction,
    replace_labels,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.paired import Match, count_shared, match_calls
from planner_eval.benchmarks.report import Figure, SampleResults, Scorer, ratio, shared_figures, sum_columns
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value, contains_kind

# ----------------------------------------------------------------------
# What is counted of one AppBench answer, where the paper's definition is meant and not its code's.
#
# Source: the paper, sections 4.2 (F1, Succ), 5.1 (exact match of arguments) and 5.3 (errors).
TIME_ARGUMENTS = frozenset({"date", "time"})
PLACE_ARGUMENTS = frozenset(
    {"address", "airport", "area", "city", "destination", "from", "location", "origin", "station", "to"}
    | {"venue", "where"}
)
"""Words of argument names, between underscores: ``total`` and ``stop`` are no places."""


class AppBenchCounts(NamedTuple):
    """The counts of one sample, or the sum over a set.

    Args:
        samples: Samples.
        app_hits: App names that prediction and gold share, each as often as both name it.
        app_predicted: App names in the prediction, one a call.
        app_gold: App names in gold, one a call.
        api_hits: The same of API names …
        api_predicted: … a call that cannot be read counts here.
        api_gold: …
        app_exact: Samples whose lists of apps are equal but for order.
        api_exact: Samples whose lists of APIs are equal but for order.
        success: Samples whose plan means the same as gold's.
        hits: Right arguments of calls that stand for a gold call of the same API.
        predicted: Arguments in the prediction.
        gold: Arguments in gold.
        dependent_hits: Those of the hits that are references …
        dependent_predicted: … and of the predicted
        dependent_gold: … and of gold's.
        arguments_exact: Samples all of whose arguments are right, with none missing or extra.
        missing: Gold arguments that the call which stands for gold's does not give …
        missing_dependent: … that are references in gold.
        wrong: Gold arguments to which that call gives another value …
        wrong_dependent: … that are references in gold.
        time: Missing or wrong arguments that name a date or time.
        place: Missing or wrong arguments that name a place.
        with_missing: Samples with any missing argument …
        with_missing_dependent: …
        with_wrong: …
        with_wrong_dependent: …
    """

    samples: int = 1
    app_hits: int = 0
    app_predicted: int = 0
    app_gold: int = 0
    api_hits: int = 0
    api_predicted: int = 0
    api_gold: int = 0
    app_exact: int = 0
    api_exact: int = 0
    success: int = 0
    hits: int = 0
    predicted: int = 0
    gold: int = 0
    dependent_hits: int = 0
    dependent_predicted: int = 0
    dependent_gold: int = 0
    arguments_exact: int = 0
    missing: int = 0
    missing_dependent: int = 0
    wrong: int = 0
    wrong_dependent: int = 0
    time: int = 0
    place: int = 0
    with_missing: int = 0
    with_missing_dependent: int = 0
    with_wrong: int = 0
    with_wrong_dependent: int = 0


def total(counts: Iterable[AppBenchCounts]) -> AppBenchCounts:
    """The sum of the counts of many samples."""
    return AppBenchCounts(*sum_columns(counts, len(AppBenchCounts._fields)))


class CorrectedOutcome(NamedTuple):
    """What became of one answer.

    Args:
        counts: Its counts; None where the gold record cannot be read, so that nothing can be said.
        error: Why the answer, or the gold record, cannot be read.
        unread: Lines of the answer with a call that cannot be read.
        mended: Lines that could be read only with the notation's marks put right.
    """

    counts: AppBenchCounts | None
    error: str | None = None
    unread: int = 0
    mended: int = 0

    @property
    def ok(self) -> bool:
        """The plan means the same as gold's (the paper's Succ)."""
        return self.counts is not None and bool(self.counts.success)

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The figures of this answer alone."""
        if self.counts is not None:
            for name, (rule, _) in _FIGURES.items():
                if not name.startswith("analysis."):
                    yield ratio(name, *rule(self.counts))
            yield Figure("unread", self.unread)
            yield Figure("mended", self.mended)


def judge_answer(sample: Sample, text: str) -> CorrectedOutcome:
    """What became of one answer: the matter of figures, tables and grids."""
    try:
        gold = read_gold(sample.gold)
    except ParseError as problem:
        return CorrectedOutcome(None, f"gold: {problem.code}")
    reading = read_prediction(text)
    return CorrectedOutcome(count(reading, gold), reading.error, reading.unread, reading.mended)


def count(reading: Reading, gold: Plan) -> AppBenchCounts:
    """The counts of one sample.

    Args:
        reading: What could be read of the answer.
        gold: The gold plan, made :func:`comparable`.
    """
    pred, complete = reading.plan, not reading.unread
    if pred is not gold:  # as most right answers are, which are written as gold is
        pred = replace_labels(pred, gold)
        if all(edge.producer < edge.consumer for edge in gold.edges):
            pred = drop_late_references(pred)
    same = pred.calls == gold.calls  # every leaf is text here, so that equal calls mean the same
    matches = None if same else match_calls(pred, gold)
    arguments = _argument_counts(pred, gold, matches)
    apps, gold_apps = ([call.app for call in plan.calls if call.app] for plan in (pred, gold))
    apis, gold_apis = ([call.name for call in plan.calls if call.name] for plan in (pred, gold))
    errors = ("missing", "missing_dependent", "wrong", "wrong_dependent")
    return AppBenchCounts(
        **_name_counts("app", apps, gold_apps, complete=complete),
        **_name_counts("api", apis, gold_apis, complete=complete, unread=reading.unread),
        success=int(complete and matches is None),
        arguments_exact=int(complete and arguments["hits"] == arguments["predicted"] == arguments["gold"]),
        **{f"with_{error}": int(arguments[error] > 0) for error in errors},
        **arguments,
    )


def _name_counts(
    kind: str, names: list[str], gold_names: list[str], *, complete: bool, unread: int = 0
) -> dict[str, int]:
    """The counts of the names of apps, or of APIs."""
    hits, predicted, gold = count_shared(names, gold_names), len(names), len(gold_names)
    return {
        f"{kind}_hits": hits,
        f"{kind}_predicted": predicted + unread,
        f"{kind}_gold": gold,
        f"{kind}_exact": int(complete and hits == predicted == gold),
    }


def _argument_counts(pred: Plan, gold: Plan, matches: Iterable[Match] | None) -> dict[str, int]:
    """Right, missing and wrong arguments, gold call by gold call; all are right in plans alike."""
    counts: dict[str, int] = defaultdict(int)
    counts["gold"], counts["dependent_gold"] = _count_arguments(gold)
    if matches is None:
        counts["hits"] = counts["predicted"] = counts["gold"]
        counts["dependent_hits"] = counts["dependent_predicted"] = counts["dependent_gold"]
        return counts
    counts["predicted"], counts["dependent_predicted"] = _count_arguments(pred)
    for match in matches:
        call = gold.calls[match.gold]
        if match.equal:
            counts["hits"] += len(match.wanted)
            counts["dependent_hits"] += sum(_is_dependent(value) for _, value in call.arguments)
            continue
        for word in _compare_calls(match, call):
            counts[word] += 1
    return counts


def _count_arguments(plan: Plan) -> tuple[int, int]:
    """How many arguments a plan gives, and how many of them depend on other calls."""
    non_texts = [value for call in plan.calls for _, value in call.arguments if type(value) is not str]
    return sum([len(call.arguments) for call in plan.calls]), sum(map(_is_dependent, non_texts))


def _compare_calls(match: Match, gold: Call) -> Iterator[str]:
    """A word for each thing to be counted about two calls that stand for one another."""
    for (name, copy), expected in match.wanted.items():
        present = (name, copy) in match.given
        if present and match.given[name, copy] == expected:
            kind = "hits"
        else:
            kind = "wrong" if present else "missing"
            words = set(name.split("_"))
            yield from (
                label
                for label, keywords in (("time", TIME_ARGUMENTS), ("place", PLACE_ARGUMENTS))
                if words & keywords
            )
        yield kind
        if _is_dependent([value for key, value in gold.arguments if key == name][copy - 1]):
            yield f"dependent_{kind}" if kind == "hits" else f"{kind}_dependent"


def _is_dependent(value: Value) -> bool:
    return type(value) is not str and contains_kind(value, (Ref, Unresolved))


# ----------------------------------------------------------------------
# AppBench's figures as the paper defines them (section 4.2, and 5.1 and 5.3 for the analyses).
def scorer() -> Scorer:
    r"""AppBench's figures as the paper defines them, under the published names.

    A sample's ``gold`` is the ``output`` object of the released record. Each figure has its counts and a note
    on what it counts. A row is ok when the plan means the same as gold's (the paper's Succ).

    Source: the paper, sections 4.2 (F1, Succ), 5.1 (exact match of arguments), 5.3 (errors), table 11 (EM).

    >>> from planner_eval.benchmarks.appbench import score_corrected
    >>> lines = ["shop = find(#city='Oslo')", "order(#shop=shop)"]
    >>> gold = {"used_app": ["Shops", "Orders"], "api_results": lines}
    >>> answer = f"Shops: [{lines[0]}]\nOrders: [{lines[1]}]"
    >>> report = score_corrected([(Sample("a", gold=gold), answer)])
    >>> report.value("app_hit_f1"), report.value("complete_match")
    (1.0, 1.0)
    """
    return Scorer(judge_answer, _figures, CorrectedOutcome)


def _figures(results: SampleResults) -> Iterator[Figure]:
    def counted() -> Iterator[AppBenchCounts]:
        return (outcome.counts for _, outcome in results if outcome.counts is not None)

    sums = total(counted())
    for name, (rule, note) in _FIGURES.items():
        yield ratio(name, *rule(sums), note=note)
    for kind in ("app", "api"):
        names = map(_f1(f"{kind}_hits", f"{kind}_predicted", f"{kind}_gold"), counted())
        values = array("d", (hits / size if size else 0.0 for hits, size in names))
        note = "mean over samples; every right name counts"
        yield ratio(f"{kind}.f1", sum(values), len(values), note=note)


_Ratio = Callable[[AppBenchCounts], tuple[float, float]]


def _f1(hits: str, predicted: str, gold: str) -> _Ratio:
    return lambda c: f1_parts(getattr(c, hits), getattr(c, predicted), getattr(c, gold))


def _independent_f1(c: AppBenchCounts) -> tuple[float, float]:
    predicted, gold = c.predicted - c.dependent_predicted, c.gold - c.dependent_gold
    return f1_parts(c.hits - c.dependent_hits, predicted, gold)


def _share(name: str, base: str = "samples") -> _Ratio:
    return lambda c: (getattr(c, name), getattr(c, base))


_FIGURES: Mapping[str, tuple[_Ratio, str]] = {
    "app_hit_f1": (
        _f1("app_hits", "app_predicted", "app_gold"),
        "every call to the right app counts as a hit",
    ),
    "api_hit_f1": (_f1("api_hits", "api_predicted", "api_gold"), "every right API name counts"),
    "argu_hit_f1": (_f1("hits", "predicted", "gold"), "arguments of every call, by equal value"),
    "complete_match": (_share("success"), "Succ: the plan means the same as gold's"),
    "depend_argu_hit_f1": (
        _f1("dependent_hits", "dependent_predicted", "dependent_gold"),
        "references to the right output of the right call",
    ),
    "non_depend_argu_hit_f1": (_independent_f1, "literals"),
    "app.em": (_share("app_exact"), "apps equal but for order"),
    "api.em": (_share("api_exact"), "API names equal but for order"),
    "succ": (_share("success"), "the same as complete_match"),
    "argu.em": (
        _share("arguments_exact"),
        "figure 4's exact match of arguments; not in the published code",
    ),
} | {
    f"analysis.{name}": entry
    for name, entry in zip(
        SHARE_NAMES,
        (
            (_share("missing", "gold"), "key errors, as a share of all gold arguments"),
            (_share("missing_dependent", "gold"), "of all gold arguments"),
            (lambda c: (c.missing - c.missing_dependent, c.gold), "of all gold arguments"),
            (_share("wrong", "gold"), "value errors, as a share of all gold arguments"),
            (_share("wrong_dependent", "gold"), "of all gold arguments"),
            (lambda c: (c.wrong - c.wrong_dependent, c.gold), "of all gold arguments"),
            (lambda c: (c.time, c.missing + c.wrong), "of all missing or wrong arguments"),
            (lambda c: (c.place, c.missing + c.wrong), "of all missing or wrong arguments"),
            (_share("with_missing"), "of all samples"),
            (_share("with_missing_dependent"), "of all samples"),
            (_share("with_wrong"), "of all samples"),
            (_share("with_wrong_dependent"), "of all samples"),
        ),
        strict=True,
    )
}
