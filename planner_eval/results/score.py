"""Figures over pairs of plans: of one pair, of files, of kept runs, and of several systems compared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypedDict, Unpack, overload

from planner_eval.base.errors import (
    FLAG,
    FUNCTION,
    NAME,
    NAMES,
    InputError,
    PairingError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.resources import service
from planner_eval.base.text import to_json
from planner_eval.comparison.evaluate import (
    PairedFiles,
    Progress,
    pair,
    pair_systems,
    read_shared_gold,
    refuse_empty_lists,
    report_progress,
)
from planner_eval.comparison.metrics import METRICS, choose_metrics
from planner_eval.comparison.metrics import score as score_plans
from planner_eval.comparison.metrics.facts import Tally
from planner_eval.comparison.metrics.published import describe_counted_tools
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, KnownNames, Policy, Terms
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.comparison.rows import reading_notes
from planner_eval.plan.model import Plan
from planner_eval.reading.files.trials import TASK_KEY
from planner_eval.reading.parse import Source, is_one_plan, parse, text_as_record
from planner_eval.reading.settings import DEFAULT_READING, Reading, check_reading
from planner_eval.results.report import DuplicateRecord, Provenance, Report, report_of
from planner_eval.results.runs.jobs import ScoreJob
from planner_eval.results.runs.model import DEFAULT_RUNNING, Running, check_running, make_change_check
from planner_eval.results.scored import (
    BREAKDOWN_FIELDS,
    STRUCTURE_KEYS,
    ScoredRow,
    StoredRows,
)
from planner_eval.results.totals import Totals
from planner_eval.results.views.report import report_data

if TYPE_CHECKING:
    from planner_eval.results.compare import System
    from planner_eval.results.contrast import Comparison, Contrast
    from planner_eval.results.runs.model import StoredRun


# What keeps runs, works on them in processes and compares them is imported by the functions that need it:
# a score of two small files in one process starts a quarter faster without.


# ----------------------------------------------------------------------
# Figures over pairs of plans: one pair, or the pairs of two files.
class ScoreOptions(TypedDict, total=False):
    """What :func:`score` takes of many pairs."""

    metrics: Iterable[str]
    by: Sequence[str]
    cluster: str | None
    causes: bool
    running: Running
    progress: Progress | None


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
    pred: PairedFiles | os.PathLike[str],
    gold: None = None,
    policy: AnyPolicy = ...,
    **options: Unpack[ScoreOptions],
) -> Report: ...


@overload
def score(
    pred: Source,
    gold: Source,
    policy: AnyPolicy = ...,
    terms: Terms = ...,
    *,
    reading: Reading = ...,
    **options: Unpack[ScoreOptions],
) -> Any: ...


def score(  # noqa: PLR0913 - the options of a public function
    pred: Source,
    gold: Source = None,
    policy: AnyPolicy = DEFAULT_POLICY,
    terms: Terms = NO_TERMS,
    *,
    reading: Reading = DEFAULT_READING,
    metrics: Iterable[str] = (),
    by: Sequence[str] = (),
    cluster: str | None = None,
    causes: bool = False,
    running: Running = DEFAULT_RUNNING,
    progress: Progress | None = None,
) -> Any:
    r"""Score a plan against gold, or many against many.

    Args:
        pred: The prediction: a plan, its text or data. Or many: the path of a file, what
            :func:`planner_eval.read` gave, a list of them, or what :func:`planner_eval.pair` gave; or the
            folder of a run, as a path. An empty list beside one plan is a plan without calls, beside many
            plans none of them.
        gold: What was wanted, likewise; nothing beside what :func:`planner_eval.pair` gave, or a run.
        policy: How values compare: a policy, the name of a preset, or a policy's file.
        terms: What one gold plan leaves open; gold records of a file say it themselves.
        reading: Of many: how they are read and paired.
        metrics: Names of :data:`planner_eval.comparison.metrics.METRICS` or of their groups, or one name;
            all but those of other benchmarks when left out.
        by: Of many: what to break the figures down by: calls, depth, pattern or scope of the gold plan, or
            fields of its record.
        cluster: Of many: what says in which cluster a pair lies, as for `by`: a conversation, a template.
            Pairs of one cluster are alike more often than others, so that intervals are over clusters. Of a
            run: that which it was scored with when left out.
        causes: Of many: find what each root cause costs, as :func:`planner_eval.attribute` does.
        running: Of many: how the work is done, and where it is kept.
        progress: Of many: is told how many pairs are done, and of how many; by processes also how many of
            them took too long or ended their process.

    Returns:
        Of one pair the counts of each metric, which add up over pairs. Of many the report: figures with
        intervals, and a row a pair, whatever became of it.

    Raises:
        InputError: there is no such metric, file or policy, no gold record has a field of `by`, or one that
            of `cluster` not; or both are empty lists, which are no pair.
        PairingError: there are no gold plans.

    >>> score("f()", "f()\ng()", metrics=["calls"])["calls"].recall
    0.5
    >>> report = score(["f()", "g(#x="], ["f()", "g(#x='1')"], metrics=["exact"])
    >>> report.figure("exact"), report.states()
    (0.5, {'same': 1, 'cut': 1})
    """
    expect(instance_of(Terms, "Terms(…) of planner_eval.comparison.policy.policy"), terms=terms)
    by = check_breakdown(by, cluster, progress=progress)
    expect(FLAG, causes=causes)
    check_running(running)
    refuse_empty_lists(pred, gold)
    if not isinstance(pred, PairedFiles) and is_one_plan(pred) and is_one_plan(gold):
        return score_plans(parse(pred), parse(gold), policy_of(policy), terms, metrics=metrics)
    if terms is not NO_TERMS:
        raise InputError("terms= applies only to one pair; with many, write the terms into each gold record")
    if gold is None and isinstance(pred, os.PathLike):
        return read_stored_score(os.fspath(pred), cluster)
    if gold is None and not isinstance(pred, PairedFiles):
        text_as_record(pred)  # the name of a file has an error of its own
        raise PairingError("nothing could be scored: there are no gold plans, expected gold=")
    paired = repair_predictions(pred if isinstance(pred, PairedFiles) else pair(pred, gold, reading=reading))
    chosen = policy_of(policy)
    cluster = cluster or (TASK_KEY if paired.trials else None)
    job = scoring_job(
        paired, choose_metrics(metrics), chosen, by, cluster, kept=running.folder is not None, causes=causes
    )

    def make_report(totals: Totals, rows: Sequence[ScoredRow]) -> Report:
        totals.names.check(chosen)
        refuse_unknown_keys(by, totals)
        return report_of(totals, rows, job.about, policy=chosen.name)

    if not running.in_parts:
        totals = job.fold()
        return make_report(totals, scored_rows(job, paired, totals, progress))
    from planner_eval.results.runs.folder import inputs_of
    from planner_eval.results.runs.run import run

    outcome = run(
        job,
        paired.pairs,
        running,
        inputs=[*inputs_of("pred", paired.pred), *inputs_of("gold", paired.gold)],
        given=(paired.pred.name, paired.gold.name),
        progress=progress,
        unchanged=make_change_check(paired.pred, paired.gold),
        report=lambda totals: to_json(report_data(make_report(totals, ())), 1),
    )
    return make_report(outcome.sums, _stored_rows(outcome.rows, outcome.pairs, outcome))


def scoring_job(  # noqa: PLR0913 - the options of a public function
    paired: PairedFiles,
    metrics: tuple[str, ...],
    policy: Policy,
    by: Sequence[str],
    cluster: str | None,
    *,
    kept: bool = False,
    mends: bool = False,
    causes: bool = False,
) -> ScoreJob:
    """How the pairs of two files are scored; where that is `kept`, with what is to be known of the files.

    With `mends` it is known of what strict reading refuses whether repair would read it, with `causes` what
    root causes cost.
    """
    about = Provenance(
        paired.pred.content or "records",
        paired.by,
        reading_name(paired.reading),
        {"answers": paired.pred.said, "gold": paired.gold.said},
        paired.pred.name,
        tuple(DuplicateRecord(r.id, r.file, r.line) for r in paired.repeated),
        reading_notes(paired.reading, [paired.pred], paired.gold) if kept else (),
        describe_counted_tools(metrics, policy),
        paired.pred.mark,
    )
    portable_policy = replace(policy, unknown=None)  # a function of this process alone
    how = paired.reading._asdict()
    named = paired.gold_named
    return ScoreJob(metrics, portable_policy, tuple(by), how, about, cluster, mends, causes, named)


def scored_rows(
    job: ScoreJob, paired: PairedFiles, totals: Totals, progress: Progress | None
) -> tuple[ScoredRow, ...]:
    """The scored pairs, which are added to the sums."""
    rows = job.scored(paired.pairs, totals)
    return tuple(rows if progress is None else report_progress(rows, len(paired.pairs), progress))


def check_breakdown(by: Any, cluster: Any, **functions: Any) -> Sequence[str]:
    """Refuse what figures cannot be broken down by, and clusters and functions that are none; the keys.

    Raises:
        InputError: says what is expected.
    """
    expect(NAMES, by=by)
    expect_or_none(NAME, cluster=cluster)
    expect_or_none(FUNCTION, **functions)
    return (by,) if isinstance(by, str) else by


def refuse_seed(seed: Any) -> None:
    """Refuse what no random numbers can start from.

    Raises:
        InputError: it is no whole number from 0 on.
    """
    if not isinstance(seed, SupportsIndex) or index(seed) < 0:
        raise InputError(f"the seed is {seed!r}, expected a whole number from 0 on")


def repair_predictions(paired: PairedFiles) -> PairedFiles:
    """The same pairs, predictions that strict reading refuses mended, unless the user said otherwise.

    A model that writes ``'x'`` for ``"x"`` calls the right tool; an official decoder would not refuse it, and
    to count it as no call says more about quotes than about plans.
    """
    reading = paired.reading
    return paired if reading.repair is not None else paired._replace(reading=reading._replace(repair=True))


def reading_name(reading: Reading) -> str:
    """How predictions were read, for a signature."""
    how = "with repairs" if reading.repair else "strict"
    how = f"{how}, compute {reading.compute}" if reading.compute else how
    return f"{how}, edges inferred" if reading.infer else how


def refuse_unknown_keys(by: Iterable[str], totals: Totals) -> None:
    """A key that no gold record has would break nothing down, in silence.

    Raises:
        InputError: names the key and what there is.
    """
    for key in by:
        if totals.judged and not totals.groups[key]:
            if key == "scope":
                raise InputError("--by 'scope': no gold plan names an app, so none has a scope")
            names = ", ".join(STRUCTURE_KEYS)
            raise InputError(f"--by {key!r}: expected a field of the gold records, or one of {names}")


# ----------------------------------------------------------------------
# Scores that a run's folder keeps.
def _stored_rows(rows: str, count: int, keeps: object = None) -> StoredRows:
    """The rows of a run, in either store."""
    from planner_eval.results.runs.stored import read_rows

    return StoredRows(lambda: read_rows(rows), count, keeps)


def read_stored_score(path: str, cluster: str | None) -> Report:
    """The report of a run that was scored.

    Args:
        path: The run's folder.
        cluster: In which clusters its samples lie; None for those that it was scored with.

    Raises:
        InputError: it is no such run, not done, or was not scored with such clusters.
    """
    from planner_eval.results.runs.stored import read_stored_run

    run = read_stored_run(path, "score")
    rows, totals, about, _ = _read_score(run)
    if (chosen := _choose_cluster(run, totals, cluster)) != totals.cluster:
        totals.recluster(rows, chosen)
    return report_of(totals, rows, about, policy=str(run.options["policy"]), version=run.version)


def _read_score(run: StoredRun) -> System:
    """What the predictions of a run came to."""
    from planner_eval.results.compare import System
    from planner_eval.results.runs.stored import refuse_damaged, sums_of

    with refuse_damaged(run.path):
        options = run.options
        metrics, keys, cluster = tuple(options["metrics"]), tuple(options["keys"]), options.get("cluster")
        about, causes = Provenance.of(options["about"]), bool(options.get("causes"))
        totals = sums_of(run, lambda data: Totals(metrics, keys, data, cluster, causes=causes))
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(
            f"{run.path}: the run has the metric {unknown[0]!r}, which this version does not "
            "support; repeat the run"
        )
    return System(_stored_rows(run.rows, run.pairs), totals, about, bool(options.get("repair")))


def _choose_cluster(run: StoredRun, totals: Totals, requested: str | None) -> str | None:
    """The clusters that a run was scored with, or those that are asked for, which its rows have to name.

    Raises:
        InputError: they do not.
    """
    if requested not in (None, totals.cluster, *totals.by):
        raise InputError(
            f"{run.path} was not scored with --cluster {requested}: score it again with that option"
        )
    return requested or totals.cluster


def compare_stored_runs(
    runs: Sequence[StoredRun],
    names: Sequence[str],
    *,
    by: Sequence[str],
    seed: int,
    cluster: str | None,
) -> Comparison:
    """Compare runs that were scored against the same gold plans, each with the first.

    Args:
        runs: The runs.
        names: What they are called.
        by: What to break the differences down by; nothing for all that the runs are broken down by.
        seed: Where random numbers start.
        cluster: In which clusters samples lie; None for those that the runs were scored with.

    Raises:
        InputError: the runs were not scored alike.
    """
    from planner_eval.results.compare import make_comparison, signature_of
    from planner_eval.results.runs.folder import refuse_unlike

    systems = [_read_score(run) for run in runs]
    first, totals = runs[0], systems[0].totals
    for other in runs[1:]:
        # What root causes cost is no part of a comparison.
        refuse_unlike(first, other, ignored=("about", "causes"))
    for key in by:
        if key not in totals.by:
            raise InputError(f"{first.path} was not scored with --by {key}: score it again with that option")
    provenance = signature_of(systems, names, str(first.options["policy"]), version=first.version)
    cluster = _choose_cluster(first, totals, cluster)
    return make_comparison(
        systems,
        totals.metrics,
        names=names,
        made=provenance,
        by=by or totals.by,
        seed=seed,
        cluster=cluster,
    )


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
    from planner_eval.results.compare import System, make_comparison, signature_of
    from planner_eval.results.contrast import name_systems
    from planner_eval.results.runs.stored import read_stored_run

    check_reading(reading)
    refuse_seed(seed)
    by = check_breakdown(by, cluster, progress=progress)
    systems = first if gold is None else [first, second]
    if gold is None and second is not None:
        _refuse_plans_for_systems([*systems.values()] if isinstance(systems, Mapping) else systems)
    systems, called = name_systems(systems, names)
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
    chosen, names_of_metrics = policy_of(policy), choose_metrics(metrics)
    keys = by or (*STRUCTURE_KEYS, *BREAKDOWN_FIELDS)
    cluster = cluster or (TASK_KEY if any(paired.trials for paired in pairings) else None)
    used_names = KnownNames()
    scored = []
    for paired in pairings:
        job = scoring_job(paired, names_of_metrics, chosen, keys, cluster, mends=True)
        totals = Totals((), keys)  # the figures are of pairs of samples
        rows = scored_rows(job, paired, totals, progress)
        scored.append(System(rows, totals, job.about))
        used_names.extend(totals.names)
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
