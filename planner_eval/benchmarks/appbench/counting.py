"""What is counted of one AppBench answer, where the paper's definition is meant and not its code's.

Source: the paper, sections 4.2 (F1, Succ), 5.1 (exact match of arguments) and 5.3 (errors).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from planner_eval.base.errors import ParseError
from planner_eval.base.quick import quick
from planner_eval.benchmarks.apart import added
from planner_eval.benchmarks.appbench.reading import (
    Reading,
    read_gold,
    read_prediction,
    with_outputs,
    without_late_references,
)
from planner_eval.benchmarks.paired import Match, compared, shared
from planner_eval.benchmarks.report import Records
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import holds

TIME = frozenset({"date", "time"})
PLACE = frozenset(
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
    return AppBenchCounts(*added(counts, len(AppBenchCounts._fields)))


@quick
class Outcome:
    """What became of one answer.

    Args:
        id: The sample's id.
        counts: Its counts; None where the gold record cannot be read, so that nothing can be said.
        gold: The gold plan; None where it cannot be read.
        error: Why the answer, or the gold record, cannot be read.
        unread: Lines of the answer with a call that cannot be read.
        mended: Lines that could be read only with the notation's marks put right.
    """

    id: str
    counts: AppBenchCounts | None
    gold: Plan | None
    error: str | None = None
    unread: int = 0
    mended: int = 0


def outcomes(records: Records) -> Iterator[Outcome]:
    """What became of each answer, one by one: the matter of figures, tables and grids."""
    for sample, text in records:
        try:
            gold = read_gold(sample.gold)
        except ParseError as problem:
            yield Outcome(sample.id, None, None, f"gold: {problem.code}")
            continue
        reading = read_prediction(text)
        yield Outcome(sample.id, count(reading, gold), gold, reading.error, reading.unread, reading.mended)


def count(reading: Reading, gold: Plan) -> AppBenchCounts:
    """The counts of one sample.

    Args:
        reading: What could be read of the answer.
        gold: The gold plan, made :func:`comparable`.
    """
    pred, complete = reading.plan, not reading.unread
    if pred is not gold:  # as most right answers are, which are written as gold is
        pred = with_outputs(pred, gold)
        if all(edge.producer < edge.consumer for edge in gold.edges):
            pred = without_late_references(pred)
    same = pred.calls == gold.calls  # every leaf is text here, so that equal calls mean the same
    if same and complete:
        return _all_right(gold)
    matches = None if same else compared(pred, gold)
    arguments = _argument_counts(pred, gold, matches)
    apps, gold_apps = ([call.app for call in plan.calls if call.app] for plan in (pred, gold))
    apis, gold_apis = ([call.name for call in plan.calls if call.name] for plan in (pred, gold))
    app_hits, api_hits = shared(apps, gold_apps), shared(apis, gold_apis)
    return AppBenchCounts(
        app_hits=app_hits,
        app_predicted=len(apps),
        app_gold=len(gold_apps),
        api_hits=api_hits,
        api_predicted=len(apis) + reading.unread,
        api_gold=len(gold_apis),
        app_exact=int(complete and app_hits == len(apps) == len(gold_apps)),
        api_exact=int(complete and api_hits == len(apis) == len(gold_apis)),
        success=int(complete and matches is None),
        arguments_exact=int(complete and arguments["hits"] == arguments["predicted"] == arguments["gold"]),
        with_missing=int(arguments["missing"] > 0),
        with_missing_dependent=int(arguments["missing_dependent"] > 0),
        with_wrong=int(arguments["wrong"] > 0),
        with_wrong_dependent=int(arguments["wrong_dependent"] > 0),
        **arguments,
    )


def _all_right(gold: Plan) -> AppBenchCounts:
    """The counts of an answer that is the gold plan."""
    apps = sum(bool(call.app) for call in gold.calls)
    apis = sum(bool(call.name) for call in gold.calls)
    size, dependent = _sizes(gold)
    return AppBenchCounts(
        app_hits=apps,
        app_predicted=apps,
        app_gold=apps,
        api_hits=apis,
        api_predicted=apis,
        api_gold=apis,
        app_exact=1,
        api_exact=1,
        success=1,
        hits=size,
        predicted=size,
        gold=size,
        dependent_hits=dependent,
        dependent_predicted=dependent,
        dependent_gold=dependent,
        arguments_exact=1,
    )


def _argument_counts(pred: Plan, gold: Plan, matches: Iterable[Match] | None) -> dict[str, int]:
    """Right, missing and wrong arguments, gold call by gold call; all are right in plans alike."""
    counts = dict.fromkeys(_COUNTED, 0)
    counts["gold"], counts["dependent_gold"] = _sizes(gold)
    if matches is None:
        counts["hits"], counts["dependent_hits"] = counts["gold"], counts["dependent_gold"]
        counts["predicted"], counts["dependent_predicted"] = counts["gold"], counts["dependent_gold"]
        return counts
    counts["predicted"], counts["dependent_predicted"] = _sizes(pred)
    for match in matches:
        call = gold.calls[match.gold]
        if match.equal:
            counts["hits"] += len(match.wanted)
            counts["dependent_hits"] += sum(_dependent(value) for _, value in call.arguments)
            continue
        for word in _compared(match, call):
            counts[word] += 1
    return counts


_COUNTED = (
    "gold", "dependent_gold", "predicted", "dependent_predicted", "hits", "dependent_hits",
    "missing", "missing_dependent", "wrong", "wrong_dependent", "time", "place",
)  # fmt: skip
"""What is counted of arguments, as :class:`AppBenchCounts` names it."""


def _sizes(plan: Plan) -> tuple[int, int]:
    """How many arguments a plan gives, and how many of them depend on other calls."""
    non_texts = [value for call in plan.calls for _, value in call.arguments if type(value) is not str]
    return sum([len(call.arguments) for call in plan.calls]), sum(map(_dependent, non_texts))


def _compared(match: Match, gold: Call) -> Iterator[str]:
    """A word for each thing to be counted about two calls that stand for one another."""
    for (name, copy), expected in match.wanted.items():
        present = (name, copy) in match.given
        if present and match.given[name, copy] == expected:
            kind = "hits"
        else:
            kind = "wrong" if present else "missing"
            words = set(name.split("_"))
            yield from (label for label, keywords in (("time", TIME), ("place", PLACE)) if words & keywords)
        yield kind
        if _dependent([value for key, value in gold.arguments if key == name][copy - 1]):
            yield f"dependent_{kind}" if kind == "hits" else f"{kind}_dependent"


def _dependent(value: Value) -> bool:
    return type(value) is not str and holds(value, (Ref, Unresolved))
