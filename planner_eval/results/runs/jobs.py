"""What is done with the pairs of a run, step by step, and scoring as such a job."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import JsonObject
from planner_eval.comparison.policy.policy import Policy, intern_policy
from planner_eval.comparison.rows import Evaluation, PairReading, Row
from planner_eval.reading.files.record import Record
from planner_eval.reading.files.recorded_runs import recorded_costs, recorded_verdict
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.results.runs.model import Pair, ignore

if TYPE_CHECKING:  # comparing needs nothing of scoring
    from planner_eval.plan.model import Plan
    from planner_eval.results.causes import Credits
    from planner_eval.results.report import Provenance
    from planner_eval.results.scored import ScoredRow
    from planner_eval.results.totals import Totals


# ----------------------------------------------------------------------
# Pairs taken some at a time through the steps of their work: a step of all of them, then the next.
MAX_BATCH_PAIRS = 64
"""Pairs up to which some are taken: code and data of a step stay near the processor, which takes a sixth less
time than pair by pair; of more pairs together the plans do not."""

MAX_BATCH_SIZE = 100_000
"""Characters and bytes of answers and gold plans from which on no further pair is taken: all are held."""


def run_stages(
    pairs: Iterable[Pair], read: Callable[[int, Pair], Any], *steps: Callable[[Any], Any]
) -> Iterator[Any]:
    """What the steps make of each pair, in order.

    Args:
        pairs: Neighbouring pairs; those of a part know the position of their first, and are told which of
            them is worked on.
        read: The first step; is given the pair's position.
        steps: The others, each given what the one before made of a pair.

    >>> list(run_stages([(None, None)] * 2, lambda number, pair: number, str))
    ['0', '1']
    """
    first: int = getattr(pairs, "first", 0)
    revisit: Callable[[int], None] = getattr(pairs, "again", ignore)
    batch: list[Any] = []
    size = 0
    for number, pair in enumerate(pairs, first):
        batch.append(read(number, pair))
        size += _pair_size(pair)
        if size > MAX_BATCH_SIZE or len(batch) == MAX_BATCH_PAIRS:
            yield from _run_batch(batch, number + 1 - len(batch), steps, revisit)
            batch, size = [], 0
    yield from _run_batch(batch, number + 1 - len(batch) if batch else first, steps, revisit)


def _run_batch(
    batch: list[Any], first: int, steps: Iterable[Callable[[Any], Any]], revisit: Callable[[int], None]
) -> Iterator[Any]:
    for step in steps:
        for offset, item in enumerate(batch):
            revisit(first + offset)
            batch[offset] = step(item)
    for offset, item in enumerate(batch):
        revisit(first + offset)
        yield item


def _pair_size(pair: Pair) -> int:
    """About how large a pair's plans are; of what is more than data nothing is known, so it goes alone."""
    size = 0
    for record in pair:
        if record is not None:
            source = record.source
            try:
                size += len(source if type(source) is str else marshal.dumps(source))
            except ValueError:
                size += MAX_BATCH_SIZE
    return size


# ----------------------------------------------------------------------
# What decides the rows of a run as JSON data, the same in every process and on every day.
def describe(value: Any) -> Any:
    """All that a value is made of as JSON data; of a function where it is from, and a digest of that file.

    What a user's function imports is not looked at.

    >>> describe({"b": (1, None), "a": frozenset("yx"), "f": describe})
    [['a', ['x', 'y']], ['b', [1, None]], ['f', 'planner_eval.results.runs.jobs.describe']]
    """
    if is_dataclass(value) and not isinstance(value, type):
        values = {f.name: describe(getattr(value, f.name)) for f in fields(value) if f.compare}
        return [type(value).__name__, values]
    if isinstance(value, Mapping):
        return sorted(([describe(key), describe(item)] for key, item in value.items()), key=repr)
    if isinstance(value, Set):
        return sorted(map(describe, value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [describe(item) for item in value]
    if callable(value):
        return _describe_function(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _describe_function(value: Any) -> str:
    """A function's name; of one that is not ours, whose text may change, with a digest of its module's."""
    name = f"{value.__module__}.{value.__qualname__}"
    if value.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return name
    from hashlib import blake2b

    try:
        with open(sys.modules[value.__module__].__file__ or "", "rb") as file:
            return f"{name} {blake2b(file.read(), digest_size=16).hexdigest()}"
    except (OSError, KeyError, AttributeError, TypeError):  # of no file: a built-in one, or typed in
        return name


# ----------------------------------------------------------------------
# Scoring as a job: a scored row a pair, and what the rows add up to.
LOCATION_FIELDS = ("cache", "folder")
"""Fields of a reading that say where data sets lie, not what is in them."""


Effects: TypeAlias = Callable[[Row, PairReading], Mapping[str, Any]]
"""From a row and its two records to what its plans come to."""


class CountedPair(NamedTuple):
    """A pair that was compared: what was read of its records, what became of it, and what is counted."""

    sides: PairReading
    row: Row
    scored: ScoredRow


def compare(
    records: PairReading,
    evaluation: Evaluation,
    effects: Effects | None,
    stored: Mapping[str, Any] | None = None,
) -> Row:
    """Compare what was read of a pair unless its row is stored; run its plans where that is asked for."""
    row = evaluation.row(records, stored)
    return row if effects is None else row._replace(effects=effects(row, records))


@fast_frozen
class ScoreJob:
    """How pairs are read, compared and counted.

    Args:
        metrics: The metrics.
        policy: How values compare.
        by: What figures are broken down by.
        reading: How the records are read: the fields of a :class:`planner_eval.Reading`.
        about: How the pairs came about, which a report says.
        cluster: What says in which cluster a pair lies; None where pairs are by themselves.
        mends: Say of what strict reading refuses whether repair would read it, which reads it twice.
        causes: Say of each pair what its root causes cost, which compares it again and again.
        gold_named: Whether gold's records have ids.
    """

    kind = "score"

    metrics: tuple[str, ...]
    policy: Policy
    by: tuple[str, ...]
    reading: Mapping[str, Any]
    about: Provenance
    cluster: str | None = None
    mends: bool = False
    causes: bool = False
    gold_named: bool = False

    def options(self) -> JsonObject:
        """All that decides what the rows are, as JSON data."""
        return {
            **{name: value for name, value in self.reading.items() if name not in LOCATION_FIELDS},
            "metrics": list(self.metrics),
            "keys": list(self.by),
            **({} if self.cluster is None else {"cluster": self.cluster}),
            **({"causes": True} if self.causes else {}),
            "policy": self.policy.name,
            "compared": describe(self.policy),
            "about": self.about.data(),
        }

    def columns(self) -> JsonObject:
        """The types of a row's keys, see :func:`.parquet.write_rows`."""
        from planner_eval.results.scored import row_columns

        return row_columns(self.metrics, self._keys, causes=self.causes)

    @property
    def _keys(self) -> tuple[str, ...]:
        """What is kept of a pair beside its counts."""
        return tuple(dict.fromkeys((*self.by, *filter(None, [self.cluster]))))

    def fold(self, data: Any = None) -> Totals:
        """Sums over no rows, or those that :meth:`Totals.data` gave."""
        from planner_eval.results.totals import Totals

        return Totals(self.metrics, self.by, data, self.cluster, causes=self.causes)

    def rows(self, pairs: Iterable[Pair], fold: Totals) -> Iterator[str]:
        """A row a pair, in order, as JSON; adds each to the sums.

        Args:
            pairs: Neighbouring pairs; those of a part know the position of their first, which names a pair
                where gold has no ids.
            fold: The sums.
        """
        from planner_eval.results.scored import RowLineWriter

        return map(RowLineWriter().line, self.scored(pairs, fold))

    def scored(self, pairs: Iterable[Pair], fold: Totals) -> Iterator[ScoredRow]:
        """The same rows, each as it is."""
        mends = self.mends and not self.reading["repair"]
        return (pair.scored for pair in self.counted(pairs, fold, mends=mends))

    def counted(
        self,
        pairs: Iterable[Pair],
        fold: Totals,
        *,
        located: bool = False,
        mends: bool = True,
        effects: Effects | None = None,
        stored: Iterator[Mapping[str, Any]] | None = None,
    ) -> Iterator[CountedPair]:
        """Each pair compared and counted, with what its root causes cost where that is asked for.

        Args:
            pairs: Neighbouring pairs, as for :meth:`rows`.
            fold: The sums, to which each is added.
            located: Find the places of calls and arguments in the texts.
            mends: Say of what cannot be read whether repair would read it.
            effects: Runs the plans of a row; it is given what was read of the pair.
            stored: What :func:`.row_data` gave of each pair, see :meth:`.Evaluation.row`.
        """
        from planner_eval.results.scored import scored_row

        policy, keys = intern_policy(self.policy), self._keys
        names, in_clusters = policy.names_tools, self.cluster == TASK_KEY
        evaluation = Evaluation.of(
            self.reading, policy, gold_named=self.gold_named, located=located, mends=mends
        )
        credited: Callable[[Row, Policy], Credits | None] | None = None
        if self.causes:
            from planner_eval.results.causes import credits_of

            credited = credits_of

        def compared(records: PairReading) -> tuple[PairReading, Row]:
            row = compare(records, evaluation, effects, None if stored is None else next(stored))
            fold.note(row, names=names)
            return records, row

        def count(pair: tuple[PairReading, Row]) -> CountedPair:
            records, row = pair
            record = records.pred or records.gold
            location = (None, None) if record is None else (record.file, record.line)
            facts = run_facts(records.pred, records.gold, row.pred)
            if credited is not None:
                facts["credits"] = credited(row, policy)
            scored = scored_row(row, self.metrics, policy, keys, location, **facts)
            if in_clusters:
                task = scored.id if scored.task is None else scored.task
                scored = replace(scored, keys={**scored.keys, TASK_KEY: task})
            return CountedPair(records, row, scored)

        for result in run_stages(pairs, evaluation.read, compared, count):
            fold.add(result.scored)
            yield result


def run_facts(pred: Record | None, gold: Record | None, plan: Plan | None) -> dict[str, Any]:
    """What the records of a pair say of the run: task, recorded verdict, and costs, as of a scored row.

    Args:
        pred: The prediction's record.
        gold: Gold's.
        plan: The prediction, with all its calls.
    """
    record = gold or pred
    facts = {} if record is None or record.task is None else {"task": record.task}
    if pred is None:
        return facts
    costs = recorded_costs(pred)
    if costs and plan is not None:
        costs = {"calls": len(plan.calls), **costs}
    recorded = {"verdict": recorded_verdict(pred), "costs": costs}
    return facts | {name: value for name, value in recorded.items() if value}
