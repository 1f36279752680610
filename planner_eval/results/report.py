"""Reports: figures summed over scored pairs, how sure they are, breakdowns, and how they were made."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from planner_eval._version import __version__
from planner_eval.base.errors import InputError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.metrics import METRICS
from planner_eval.comparison.metrics.facts import Counts, Tally
from planner_eval.comparison.rows import STATES
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.results.columns import Column, exact_sum
from planner_eval.results.intervals import Interval, intervals
from planner_eval.results.scored import STRUCTURE_KEYS, ScoredRow
from planner_eval.results.totals import Totals
from planner_eval.results.trials import TrialReport, trial_figure, trial_report

if TYPE_CHECKING:
    from planner_eval.results.causes import Causes


@fast_frozen
class Estimate:
    """One metric over many pairs.

    Args:
        name: The metric.
        tally: The sum of its counts.
        macro: The mean of the pairs' own figures, over those that have one.
        n: Pairs that have a figure.
        interval: 95 %, of the figure from summed counts.
    """

    name: str
    tally: Tally | None
    macro: float | None
    n: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        """The figure from summed counts (micro): F1 or the share."""
        return self.tally.value if self.tally is not None else None


class DuplicateRecord(NamedTuple):
    """A record that was left out, for an earlier one has its id.

    Args:
        id: The id.
        file: The file that it stands in.
        line: The line there, counted from 1, where it is known.
    """

    id: str | None
    file: str
    line: int | None


class Provenance(NamedTuple):
    """How scored pairs came about.

    Args:
        answers: The field that was read as the answers.
        pairing: How they were paired.
        reading: How predictions were read, in words.
        read: Which field was read as the answers, which as gold, in words.
        file: The file of the predictions.
        repeated: The records that were left out.
        notes: What the user should know of the files, where a run tells it again.
        counted: Metric → what it counted, where that hangs on the policy.
        mark: What the answers were asked with that their figures are marked with.
    """

    answers: str = "records"
    pairing: str = "position"
    reading: str = "strict"
    read: Mapping[str, str] = {}
    file: str = ""
    repeated: tuple[DuplicateRecord, ...] = ()
    notes: tuple[str, ...] = ()
    counted: Mapping[str, str] = {}
    mark: str = ""

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return self._asdict()

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Provenance:
        """The same from JSON data."""
        repeated = tuple(DuplicateRecord(*repeat) for repeat in data["repeated"])
        return cls(**data)._replace(repeated=repeated, notes=tuple(data["notes"]))


UNKNOWN_PROVENANCE = Provenance()
"""Nothing is known of how pairs came about."""


@fast_frozen
class Report:
    """The figures of one set of predictions.

    Args:
        figures: One a metric.
        rows: The scored pairs, none left out; of many read from a file when they are asked for.
        breakdown: Key → value → figures.
        signature: How the figures were computed, in one line.
        totals: What the pairs add up to.
        about: How the pairs came about.
    """

    figures: tuple[Estimate, ...]
    rows: Sequence[ScoredRow]
    breakdown: Mapping[str, Mapping[str, tuple[Estimate, ...]]]
    signature: str
    totals: Totals = field(repr=False)
    about: Provenance = UNKNOWN_PROVENANCE

    @property
    def read(self) -> Mapping[str, str]:
        """Which field was read as the answers, which as gold, in words."""
        return self.about.read

    @property
    def lacks(self) -> tuple[str, ...]:
        """What no gold plan has, of :data:`planner_eval.results.totals.GOLD_FEATURES`."""
        return self.totals.lacking

    @property
    def judged(self) -> int:
        """The pairs that every denominator counts: those with a readable gold plan."""
        return self.totals.judged

    @property
    def causes(self) -> Causes | None:
        """What each root cause costs, where that was asked for."""
        return None if self.totals.causes is None else self.totals.causes.causes

    @property
    def trials(self) -> TrialReport | None:
        """Trials of tasks and recorded verdicts, where there are any."""
        return trial_report(self.totals.trials)

    def states(self) -> dict[str, int]:
        """How many pairs are in which state."""
        return {state: self.totals.states[state] for state in STATES if self.totals.states[state]}

    def codes(self) -> dict[str, int]:
        """How often each code is a root cause, the commonest first."""
        return dict(sorted(self.totals.codes.items(), key=lambda item: (-item[1], item[0])))

    def figure(self, name: str) -> float | None:
        """A figure by name: ``calls``, ``calls.precision``, ``calls.recall``, ``calls.macro`` or ``pass^2``.

        Raises:
            InputError: the report has no such figure.
        """
        of_trials = {} if self.trials is None else self.trials.figures()
        if name in of_trials:
            return of_trials[name]
        metric, _, aspect = name.partition(".")
        for figure in self.figures:
            if figure.name == metric:
                if aspect == "macro":
                    return figure.macro
                if aspect in ("", "f1", "value"):
                    return figure.value
                if aspect in ("precision", "recall") and isinstance(figure.tally, Counts):
                    return figure.tally.precision if aspect == "precision" else figure.tally.recall
                counted = ", precision or recall" if isinstance(figure.tally, Counts) else ""
                raise InputError(f"{metric} has no {aspect!r}; expected value, macro{counted}")
        names = [*(figure.name for figure in self.figures), *of_trials]
        few = " (a task's trials are records of one id)" if trial_figure(name) and not of_trials else ""
        if metric in METRICS:
            how = f"score again with --metric {metric} too"
            raise InputError(f"{metric} was not computed, only {', '.join(names)}: {how}")
        raise InputError(f"there is no metric {name!r}; expected one of {', '.join(names)}{few}")


def signature(policy: str, *, version: str = __version__, **fields: str) -> str:
    """How figures were made, in one line, so that two of them can be told apart.

    >>> signature("default", pairing="id").partition("|")[2]
    ' policy=default | pairing=id | averaging=micro'
    """
    named = [f"{name}={value}" for name, value in (("policy", policy), *fields.items())]
    return " | ".join([f"planeval {version}", *named, "averaging=micro"])


def interval_note(cluster: str | None, count: int) -> str:
    """What is said of the intervals: over how many clusters they are, where samples lie in some.

    Args:
        cluster: The key by whose values they do.
        count: How many these are.

    >>> interval_note(None, 0), interval_note("domain", 12)
    ('intervals=95 %', 'intervals=95 % over 12 clusters of domain')
    """
    if cluster is None:
        return "intervals=95 %"
    if count == 1:
        return f"intervals=none: 1 cluster of {cluster} allows none"
    if cluster == TASK_KEY:
        return f"intervals=95 % over {count:,} tasks"
    return f"intervals=95 % over {count:,} clusters of {cluster}"


def count_clusters(columns: Mapping[str, Column]) -> int:
    """In how many clusters the samples lie that were counted."""
    return max((len(column.clusters) for column in columns.values()), default=0)


def no_cluster_error(key: str, name: str) -> InputError:
    """That a sample lies in no cluster: left out of them all it would count in no interval."""
    return InputError(
        f"--cluster {key!r}: the gold record of {name!r} has no field {key!r}, and it is not one of "
        f"{', '.join(STRUCTURE_KEYS)}; every sample needs a cluster"
    )


def make_report(
    totals: Totals,
    rows: Sequence[ScoredRow],
    *,
    made: str,
    about: Provenance = UNKNOWN_PROVENANCE,
) -> Report:
    """The report of scored pairs.

    Args:
        totals: What the pairs add up to.
        rows: The pairs.
        made: The report's signature.
        about: How the pairs came about.
    """
    breakdown = {
        key: {shown_group(value, groups): figures(groups[value]) for value in sort_values(groups)}
        for key, groups in totals.groups.items()
    }
    return Report(figures(totals.columns), rows, breakdown, made, totals, about)


def report_of(
    totals: Totals, rows: Sequence[ScoredRow], about: Provenance, *, policy: str, **version: str
) -> Report:
    """The report of scored pairs.

    Args:
        totals: What they add up to.
        rows: The pairs.
        about: How they came about.
        policy: What the policy is called.
        version: Which version scored them, where it is another.

    Raises:
        InputError: a sample lies in no cluster, and they are asked for.
    """
    if totals.cluster is not None and totals.alone is not None:
        raise no_cluster_error(totals.cluster, totals.alone)
    fields = {"answers": about.answers, "pairing": about.pairing, "notation": totals.read}
    sure = interval_note(totals.cluster, count_clusters(totals.columns))
    signature_text = signature(policy, **version, **fields, reading=about.reading, **about.counted)
    marked = f" | {about.mark}" if about.mark else ""
    return make_report(totals, rows, made=f"{signature_text} | {sure}{marked}", about=about)


def shown_group(name: str, groups: Collection[str]) -> str:
    """What a group is called beside others: a text in quotes without them, where no other looks the same.

    >>> shown_group('"1"', ['"1"', "2"]), shown_group('"1"', ['"1"', "1"])
    ('1', '"1"')
    """
    try:
        text = json.loads(name) if name.startswith('"') else name
    except ValueError:
        return name
    return name if text in groups else text


def sort_values(values: Iterable[str]) -> list[str]:
    """What a key is in some rows, numbers in their order."""
    return sorted(values, key=_natural_sort_key)


def _natural_sort_key(text: str) -> tuple[int, int, str]:
    text = text.removeprefix('"').removesuffix('"') if text.endswith('"') else text
    return (0, int(text), "") if text.isascii() and text.isdigit() else (1, 0, text)


def figures(columns: Mapping[str, Column]) -> tuple[Estimate, ...]:
    """The figures of some pairs, of which each metric has a column."""
    spread = intervals(columns)
    estimates = []
    for name, column in columns.items():
        values = [(t.value, count) for t, count in column.each() if t is not None and t.value is not None]
        n = sum(count for _, count in values)
        macro = exact_sum(values) / n if n else None
        estimates.append(Estimate(name, column.total(), macro, n, spread[name]))
    return tuple(estimates)
