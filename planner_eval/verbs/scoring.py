"""Figures over pairs of plans: one pair, or the pairs of two files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import index
from typing import Any, SupportsIndex, overload

from planner_eval.base.errors import InputError
from planner_eval.engine.score import ScoreJob
from planner_eval.metrics import DEFAULT_METRICS, choose
from planner_eval.metrics import score as score_plans
from planner_eval.metrics.counts import Tally
from planner_eval.plan.model import Plan
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.scoring.report import Report, make_report, signature
from planner_eval.scoring.scored import STRUCTURE, Scored
from planner_eval.scoring.totals import Totals
from planner_eval.verbs.evaluating import AS_IT_COMES, Paired, Progress, Reading, counted, pair
from planner_eval.verbs.policies import AnyPolicy, policy_of
from planner_eval.verbs.reading import Source, is_one, parse


@overload
def score(
    pred: Plan | str,
    gold: Plan | str,
    policy: AnyPolicy = ...,
    terms: Terms = ...,
    *,
    metrics: Iterable[str] = ...,
) -> dict[str, Tally | None]: ...


@overload
def score(
    pred: Paired,
    gold: None = None,
    policy: AnyPolicy = ...,
    *,
    metrics: Iterable[str] = ...,
    by: Sequence[str] = ...,
    seed: int = ...,
    progress: Progress | None = ...,
) -> Report: ...


@overload
def score(
    pred: Source,
    gold: Source,
    policy: AnyPolicy = ...,
    terms: Terms = ...,
    *,
    metrics: Iterable[str] = ...,
    by: Sequence[str] = ...,
    seed: int = ...,
    reading: Reading = ...,
    progress: Progress | None = ...,
) -> Any: ...


def score(
    pred: Source,
    gold: Source = None,
    policy: AnyPolicy = DEFAULT_POLICY,
    terms: Terms = NO_TERMS,
    *,
    metrics: Iterable[str] = DEFAULT_METRICS,
    by: Sequence[str] = (),
    seed: int = 0,
    reading: Reading = AS_IT_COMES,
    progress: Progress | None = None,
) -> Any:
    r"""Score a plan against gold, or many against many.

    Args:
        pred: The prediction: a plan, its text or data. Or many: the path of a file, what
            :func:`planner_eval.read` gave, a list of them, or what :func:`planner_eval.pair` gave.
        gold: What was wanted, likewise; nothing beside what :func:`planner_eval.pair` gave.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        terms: What one gold plan leaves open; gold records of a file say it themselves.
        metrics: Names of :data:`planner_eval.metrics.METRICS` or of their groups, or one name.
        by: Of many: what to break the figures down by: calls, depth, pattern or scope of the gold plan, or
            fields of its record.
        seed: Of many: where the random numbers of intervals start.
        reading: Of many: how they are read and paired.
        progress: Of many: is told how many pairs are done.

    Returns:
        Of one pair the counts of each metric, which add up over pairs. Of many the report: figures with
        intervals, and a row a pair, whatever became of it.

    Raises:
        InputError: there is no such metric, file or policy, or no gold record has a field of `by`.

    >>> score("f()", "f()\ng()", metrics=["calls"])["calls"].recall
    0.5
    >>> report = score(["f()", "g(#x="], ["f()", "g(#x='1')"], metrics=["exact"])
    >>> report.figure("exact"), report.states()
    (0.5, {'same': 1, 'cut': 1})
    """
    if not isinstance(pred, Paired) and is_one(pred) and is_one(gold):
        return score_plans(parse(pred), parse(gold), policy_of(policy), terms, metrics=metrics)
    if terms is not NO_TERMS:
        raise InputError("terms are those of one pair; of many each gold record says its own")
    refuse_seed(seed)
    by = (by,) if isinstance(by, str) else by
    paired = mending(pred if isinstance(pred, Paired) else pair(pred, gold, reading=reading))
    chosen, names = policy_of(policy), choose(metrics)
    job = scoring_job(paired, names, chosen, by)
    totals = job.fold()
    rows = scored_rows(job, paired, totals, progress)
    return report_of(job, totals, rows, chosen, seed)


def report_of(job: ScoreJob, totals: Totals, rows: Sequence[Scored], policy: Policy, seed: int) -> Report:
    """The report of scored pairs.

    Raises:
        InputError: no gold record has a field that figures are to be broken down by, or a rule of the policy
            names what nothing has.
    """
    totals.names.check(policy)
    refuse_unknown_keys(job.by, totals)
    about = job.about
    parts = {"answers": about["content"], "pairing": about["pairing"], "notation": totals.read}
    parts["reading"] = about["how"]
    made = signature(policy.name, seed=seed, **parts)
    return make_report(totals, rows, made=made, seed=seed, read=about["read"])


def scoring_job(paired: Paired, metrics: tuple[str, ...], policy: Policy, by: Sequence[str]) -> ScoreJob:
    """How the pairs of two files are scored."""
    how = paired.reading
    about = {
        "content": paired.pred.content or "records",
        "pairing": paired.by,
        "how": reading_name(how),
        "read": {"answers": paired.pred.said, "gold": paired.gold.said},
    }
    gold_dialect = how.gold_dialect or how.dialect
    told = replace(policy, unknown=None)  # a function of this process alone
    return ScoreJob(metrics, told, tuple(by), how.dialect, gold_dialect, bool(how.repair), how.compute, about)


def scored_rows(
    job: ScoreJob, paired: Paired, totals: Totals, progress: Progress | None
) -> tuple[Scored, ...]:
    """The scored pairs, which are added to the sums."""
    rows = job.scored(paired.pairs, totals)
    return tuple(rows if progress is None else counted(rows, len(paired.pairs), progress))


def refuse_seed(seed: Any) -> None:
    """Refuse what no random numbers can start from.

    Raises:
        InputError: it is no whole number from 0 on.
    """
    if not isinstance(seed, SupportsIndex) or index(seed) < 0:
        raise InputError(f"the seed is {seed!r}, expected a whole number from 0 on")


def mending(paired: Paired) -> Paired:
    """The same pairs, predictions that strict reading refuses mended, unless the user said otherwise.

    A model that writes ``'x'`` for ``"x"`` calls the right tool; an official decoder would not refuse it, and
    to count it as no call says more about quotes than about plans.
    """
    reading = paired.reading
    return paired if reading.repair is not None else paired._replace(reading=reading._replace(repair=True))


def reading_name(reading: Reading) -> str:
    """How predictions were read, for a signature."""
    how = "strict, else repaired" if reading.repair else "strict"
    how = f"{how}, compute {reading.compute}" if reading.compute else how
    return f"{how}, edges inferred" if reading.infer else how


def refuse_unknown_keys(by: Iterable[str], totals: Totals) -> None:
    """A key that no gold record has would break nothing down, in silence.

    Raises:
        InputError: names the key and what there is.
    """
    for key in by:
        if totals.judged and not totals.groups[key]:
            known = ", ".join(STRUCTURE)
            raise InputError(f"--by {key!r}: no gold record has that field, and it is none of {known}")
