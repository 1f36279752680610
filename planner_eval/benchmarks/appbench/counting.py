"""What is counted of one AppBench answer, where the paper's definition is meant and not its code's.

Source: the paper, sections 4.2 (F1, Succ), 5.1 (exact match of arguments) and 5.3 (errors).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.appbench.reading import (
    Reading,
    comparable,
    read_prediction,
    with_outputs,
    without_late_references,
)
from planner_eval.benchmarks.paired import Match, matches
from planner_eval.benchmarks.report import Records
from planner_eval.dialects.read import parse
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Call, Plan, Ref, Unresolved, Value
from planner_eval.plan.walk import holds

TIME = frozenset({"date", "time"})
PLACE = frozenset(
    {"address", "airport", "area", "city", "destination", "from", "location", "origin", "station", "to"}
    | {"venue", "where"}
)
"""Words of argument names, between underscores: ``total`` and ``stop`` are no places."""


@dataclass(frozen=True, slots=True)
class AppBenchCounts:
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


_NAMES = tuple(field.name for field in fields(AppBenchCounts))


def total(counts: Iterable[AppBenchCounts]) -> AppBenchCounts:
    """The sum of the counts of many samples."""
    rows = [tuple(getattr(one, name) for name in _NAMES) for one in counts]
    return AppBenchCounts(*map(sum, zip(*rows, strict=True))) if rows else AppBenchCounts(samples=0)


@dataclass(frozen=True, slots=True)
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
            gold = comparable(parse(sample.gold, dialect="appbench"))
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
    pred = with_outputs(comparable(reading.plan), gold)
    if all(edge.producer < edge.consumer for edge in gold.edges):
        pred = without_late_references(pred)
    apps, gold_apps = _named(call.app for call in pred.calls), _named(call.app for call in gold.calls)
    apis, gold_apis = _named(call.name for call in pred.calls), _named(call.name for call in gold.calls)
    alike = same(pred, gold)
    arguments = _argument_counts(pred, gold, alike=alike)
    whole = not reading.unread
    return AppBenchCounts(
        app_hits=(apps & gold_apps).total(),
        app_predicted=apps.total(),
        app_gold=gold_apps.total(),
        api_hits=(apis & gold_apis).total(),
        api_predicted=apis.total() + reading.unread,
        api_gold=gold_apis.total(),
        app_exact=int(whole and apps == gold_apps),
        api_exact=int(whole and apis == gold_apis),
        success=int(whole and alike),
        arguments_exact=int(whole and arguments["hits"] == arguments["predicted"] == arguments["gold"]),
        with_missing=int(arguments["missing"] > 0),
        with_missing_dependent=int(arguments["missing_dependent"] > 0),
        with_wrong=int(arguments["wrong"] > 0),
        with_wrong_dependent=int(arguments["wrong_dependent"] > 0),
        **arguments,
    )


def _named(names: Iterable[str | None]) -> Counter[str]:
    return Counter(name for name in names if name)


def _argument_counts(pred: Plan, gold: Plan, *, alike: bool) -> Counter[str]:
    """Right, missing and wrong arguments, gold call by gold call; all are right in plans alike."""
    found: Counter[str] = Counter()
    for side, plan in (("predicted", pred), ("gold", gold)):
        for call in plan.calls:
            found[side] += len(call.arguments)
            found[f"dependent_{side}"] += sum(_dependent(value) for _, value in call.arguments)
    if alike:
        found["hits"], found["dependent_hits"] = found["gold"], found["dependent_gold"]
        return found
    for match in matches(pred, gold):
        found.update(_compared(match, gold.calls[match.gold]))
    return found


def _compared(match: Match, gold: Call) -> Iterator[str]:
    """A word for each thing to be counted about two calls that stand for one another."""
    for (name, copy), wanted in match.wanted.items():
        there = (name, copy) in match.given
        if there and match.given[name, copy] == wanted:
            kind = "hits"
        else:
            kind = "wrong" if there else "missing"
            words = set(name.split("_"))
            yield from (what for what, known in (("time", TIME), ("place", PLACE)) if words & known)
        yield kind
        if _dependent([value for key, value in gold.arguments if key == name][copy - 1]):
            yield f"dependent_{kind}" if kind == "hits" else f"{kind}_dependent"


def _dependent(value: Value) -> bool:
    return type(value) is not str and holds(value, (Ref, Unresolved))
