"""Two systems, or several, on the same gold plans."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack, overload

from planner_eval.base.errors import InputError
from planner_eval.base.resources import service
from planner_eval.comparison.evaluate import Progress, pair_systems, read_shared_gold
from planner_eval.comparison.metrics import choose_metrics
from planner_eval.comparison.policy.policy import DEFAULT_POLICY
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.policy.unused_rules import KnownNames
from planner_eval.plan.model import Plan
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.reading.parse import Source
from planner_eval.reading.settings import DEFAULT_READING, Reading, check_reading
from planner_eval.results.compare import System, make_comparison, signature_of
from planner_eval.results.contrast import Comparison, Contrast
from planner_eval.results.runs.stored import read_stored_run
from planner_eval.results.score import (
    check_breakdown,
    compare_stored_runs,
    refuse_seed,
    refuse_unknown_keys,
    repair_predictions,
    scored_rows,
    scoring_job,
)
from planner_eval.results.scored import BREAKDOWN_FIELDS, STRUCTURE_KEYS
from planner_eval.results.system_names import system_names
from planner_eval.results.totals import Totals

Systems: TypeAlias = "Sequence[Source] | Mapping[str, Source]"
"""Two or more systems' predictions, the first what the others are compared with; of a mapping, by name."""


class CompareOptions(TypedDict, total=False):
    """What :func:`compare` takes beside the systems and gold."""

    reading: Reading
    policy: AnyPolicy
    metrics: Iterable[str]
    by: Sequence[str]
    cluster: str | None
    names: Sequence[str] | None
    seed: int
    progress: Progress | None


@overload
def compare(
    first: Source,
    second: Source,
    gold: Source,
    **options: Unpack[CompareOptions],
) -> Contrast: ...


@overload
def compare(
    first: Systems,
    second: Source = ...,
    **options: Unpack[CompareOptions],
) -> Comparison: ...


def compare(  # noqa: PLR0913 - the options of a public function
    first: Any,
    second: Source = None,
    gold: Source = None,
    *,
    reading: Reading = DEFAULT_READING,
    policy: AnyPolicy = DEFAULT_POLICY,
    metrics: Iterable[str] = (),
    by: Sequence[str] = (),
    cluster: str | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Contrast | Comparison:
    """Compare systems' predictions for the same gold plans: paired differences, and how sure they are.

    ``compare(a, b, gold)`` compares two and gives their contrast; ``compare([a, b, c], gold)`` or
    ``compare({"base": a, "tuned": b}, gold)`` compares each of the others with the first. Of runs that
    :func:`score` kept in folders ``compare([Path("a"), Path("b")])``, which have been scored.

    Args:
        first: The one's predictions: the path of a file, what :func:`planner_eval.read` gave, or a list. Or,
            without a third argument, a list of two or more such systems, or a mapping from their names; of
            folders of runs without a second.
        second: The other's predictions; or the gold plans.
        gold: The gold plans of both.
        reading: How all are read and paired.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        metrics: Names of :data:`planner_eval.comparison.metrics.METRICS` or of their groups, or one name;
            all but those of other benchmarks when left out.
        by: What to break the differences down by, as for :func:`score`; when left out by all there is.
        cluster: What says in which cluster a sample lies, as for :func:`score`.
        names: What the systems are called; A, B and so on when left out.
        seed: Where random numbers start.
        progress: Is told how many pairs of each are done.

    Returns:
        Of two the contrast: figures, their differences, tests with Holm's correction, and a ``verdict`` in
        one sentence. Of a list the comparison, which has a contrast for each system but the first.

    Raises:
        InputError: there is no such metric, file or policy, or no gold record has a field of `by`; or there
            is only one system.

    >>> found = compare(["f()", "g()"], ["f()", "h()"], ["f()", "g()"], metrics=["exact"])
    >>> found.n, found.lost, found.won
    (2, ('2',), ())
    >>> compare({"base": ["f()"], "tuned": ["f()"]}, ["f()"], metrics=["exact"]).verdicts
    ('base and tuned have the same scores: n = 1, exact 1',)
    """
    check_reading(reading)
    refuse_seed(seed)
    by = check_breakdown(by, cluster, progress=progress)
    systems = first if gold is None else [first, second]
    if isinstance(systems, Mapping):
        names, systems = (tuple(systems) if names is None else names), list(systems.values())
    if gold is None and second is not None:
        _refuse_plans_for_systems(systems)
    called = system_names(systems, names)
    if gold is None and second is None:
        runs = [read_stored_run(os.fspath(path), "score") for path in systems]
        if not any(run.benchmark for run in runs):
            return compare_stored_runs(runs, called, by=by, seed=seed, cluster=cluster)
        if by:
            raise InputError(f"by is {by!r}: a benchmark's metrics have no breakdown")
        under_benchmark: Comparison = service("benchmark runs compared")(
            runs, called, seed=seed, cluster=cluster
        )
        return under_benchmark
    right = read_shared_gold(second if gold is None else gold, reading)
    pairings = [*map(repair_predictions, pair_systems(systems, right, reading))]
    chosen, names_of_metrics, keys = (
        policy_of(policy),
        choose_metrics(metrics),
        by or (*STRUCTURE_KEYS, *BREAKDOWN_FIELDS),
    )
    cluster = cluster or (TASK_KEY if any(paired.trials for paired in pairings) else None)
    used_names = KnownNames()
    scored = []
    for paired in pairings:
        job = scoring_job(paired, names_of_metrics, chosen, keys, cluster, mends=True)
        totals = Totals((), keys)  # the figures are of pairs of samples
        rows = scored_rows(job, paired, totals, progress)
        scored.append(System(rows, totals, job.about))
        used_names.seen |= totals.names.seen
    used_names.check(chosen)
    refuse_unknown_keys(by, scored[0].totals)
    provenance = signature_of(scored, called, chosen.name)
    comparison = make_comparison(
        scored, names_of_metrics, names=called, made=provenance, by=keys, seed=seed, cluster=cluster
    )
    return comparison if gold is None else comparison.contrasts[0]


def _refuse_plans_for_systems(systems: Any) -> None:
    """Refuse a list of texts of plans where systems are expected: the third argument was forgotten.

    Raises:
        InputError: says so.
    """
    if (
        isinstance(systems, (list, tuple))
        and systems
        and all(isinstance(item, (str, Plan)) for item in systems)
    ):
        raise InputError(
            "gold is missing: two arguments are a list of systems and gold, and these items are plans; "
            "expected compare(a, b, gold)"
        )
