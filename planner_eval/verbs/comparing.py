"""Two systems on the same gold plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from planner_eval.metrics import DEFAULT_METRICS, choose
from planner_eval.policy import DEFAULT_POLICY, Policy
from planner_eval.policy.unused import Names
from planner_eval.scoring.compare import Contrast, make_contrast
from planner_eval.scoring.report import signature
from planner_eval.scoring.scored import FIELDS, STRUCTURE
from planner_eval.verbs.evaluating import AS_IT_COMES, Paired, Progress, Reading, pair, refuse_reading
from planner_eval.verbs.policies import AnyPolicy, policy_of
from planner_eval.verbs.reading import Source, no_text
from planner_eval.verbs.scoring import mending, reading_name, refuse_seed, refuse_unknown_keys, scored_pairs


def compare(
    first: Source,
    second: Source,
    gold: Source,
    *,
    policy: AnyPolicy = DEFAULT_POLICY,
    metrics: Iterable[str] = DEFAULT_METRICS,
    by: Sequence[str] = (),
    seed: int = 0,
    reading: Reading = AS_IT_COMES,
    names: tuple[str, str] = ("A", "B"),
    progress: Progress | None = None,
) -> Contrast:
    """Compare two systems' predictions for the same gold plans: paired differences, and how sure they are.

    Args:
        first: The one's predictions: the path of a file, what :func:`planner_eval.read` gave, or a list.
        second: The other's.
        gold: The gold plans of both.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        metrics: Names of :data:`planner_eval.metrics.METRICS` or of their groups, or one name.
        by: What to break the differences down by, as for :func:`score`; when left out by all there is.
        seed: Where random numbers start.
        reading: How all are read and paired.
        names: What the two are called.
        progress: Is told how many pairs of either are done.

    Raises:
        InputError: there is no such metric, file or policy, or no gold record has a field of `by`.

    >>> found = compare(["f()", "g()"], ["f()", "h()"], ["f()", "g()"], metrics=["exact"])
    >>> found.n, found.lost, found.won
    (2, ('2',), ())
    """
    refuse_reading(reading)
    refuse_seed(seed)
    by = (by,) if isinstance(by, str) else by
    right = reading.golds(no_text(gold))
    both = [mending(pair(side, right, reading=reading)) for side in (first, second)]
    found = _contrast(both, policy_of(policy), choose(metrics), by, names, seed, progress)
    read = {"first": both[0].pred.said, "second": both[1].pred.said, "gold": right.said}
    return replace(found, read=read)


def _contrast(
    both: Sequence[Paired],
    policy: Policy,
    metrics: tuple[str, ...],
    by: Sequence[str],
    names: tuple[str, str],
    seed: int,
    progress: Progress | None,
) -> Contrast:
    keys = by or (*STRUCTURE, *FIELDS)
    known = Names()
    runs = [scored_pairs(paired, metrics, policy, keys, progress, known) for paired in both]
    known.check(policy)
    refuse_unknown_keys(by, runs[0].rows)
    parts = {
        "answers": " and ".join(paired.pred.content or "records" for paired in both),
        "pairing": " and ".join(f"{p.by} ({run.notations})" for p, run in zip(both, runs, strict=True)),
    }
    parts["reading"] = reading_name(both[0].reading)
    found = make_contrast(
        runs[0].rows,
        runs[1].rows,
        metrics,
        names=names,
        made=signature(policy.name, seed=seed, **parts),
        by=[key for key in keys if any(key in row.keys for row in runs[0].rows)],
        seed=seed,
    )
    first, second = (
        counts._replace(repeated=len(paired.repeated))
        for counts, paired in zip(found.records, both, strict=True)
    )
    return replace(found, records=(first, second))
