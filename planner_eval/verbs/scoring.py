"""Figures over pairs of plans: one pair, or the pairs of two files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any, SupportsIndex, overload

from planner_eval.base.errors import InputError
from planner_eval.metrics import DEFAULT_METRICS, choose
from planner_eval.metrics import score as score_plans
from planner_eval.metrics.counts import Tally
from planner_eval.plan.model import Plan
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.policy.unused import Names
from planner_eval.records.files import Record
from planner_eval.records.rows import JUDGED, Row
from planner_eval.scoring import report as reports
from planner_eval.scoring.report import Report
from planner_eval.scoring.scored import STRUCTURE, Scored, score_rows
from planner_eval.scoring.shown import HAS
from planner_eval.verbs.evaluating import Paired, Progress, pair, rows_of
from planner_eval.verbs.policies import AnyPolicy, policy_of
from planner_eval.verbs.reading import Source, is_one, parse
from planner_eval.verbs.readings import AS_IT_COMES, Reading


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
    known = Names()
    run = scored_pairs(paired, names, chosen, by, progress, known)
    known.check(chosen)
    refuse_unknown_keys(by, run.rows)
    parts = {"answers": paired.pred.content or "records", "pairing": paired.by, "notation": run.notations}
    parts["reading"] = reading_name(paired.reading)
    return reports.make_report(
        run.rows,
        names,
        made=reports.signature(chosen.name, seed=seed, **parts),
        by=by,
        seed=seed,
        read={"answers": paired.pred.said, "gold": paired.gold.said},
        lacks=run.lacks,
    )


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


@dataclass(frozen=True, slots=True)
class Run:
    """Scored pairs, and how they came about.

    Args:
        rows: The scored pairs.
        notations: The notations that were read, joined by ``+``.
        lacks: What no gold plan has that figures count.
    """

    rows: list[Scored]
    notations: str
    lacks: tuple[str, ...] = ()


def scored_pairs(
    paired: Paired,
    metrics: tuple[str, ...],
    policy: Policy,
    by: Sequence[str],
    progress: Progress | None,
    names: Names,
) -> Run:
    """Score the pairs of two files, and note which tools and arguments there are."""
    notations: set[str | None] = set()
    lacks = set(HAS)
    named = any(rule.where for rule in policy.rules)  # else there is no name that could be unknown

    def seen(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            if named:
                names.add((row.pred, row.gold))
            notations.update(plan.dialect for plan in (row.pred, row.gold) if plan is not None)
            if row.gold is not None:
                lacks.difference_update([what for what in lacks if HAS[what](row.gold)])
            yield row

    rows = rows_of(paired, policy, progress, mends=False)
    scored = score_rows(seen(rows), metrics, policy=policy, by=by)
    found = [_placed(row, *both) for row, both in zip(scored, paired.pairs, strict=True)]
    read = "+".join(sorted(name or "?" for name in notations)) or "none"
    return Run(found, read, tuple(what for what in HAS if what in lacks))


def _placed(row: Scored, pred: Record | None, gold: Record | None) -> Scored:
    record = pred or gold
    return row if record is None else replace(row, file=record.file, line=record.line)


def refuse_unknown_keys(by: Iterable[str], rows: Iterable[Scored]) -> None:
    """A key that no gold record has would break nothing down, in silence.

    Raises:
        InputError: names the key and what there is.
    """
    judged = [row for row in rows if row.state in JUDGED]
    for key in by:
        if judged and not any(key in row.keys for row in judged):
            known = ", ".join(STRUCTURE)
            raise InputError(f"--by {key!r}: no gold record has that field, and it is none of {known}")
