"""Systems compared under a published benchmark."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, TypeAlias

from planner_eval._version import __version__
from planner_eval.base.errors import NAME, InputError, ParseError, expect_or_none
from planner_eval.benchmarks.answers import AnsweredSample, gold_samples
from planner_eval.benchmarks.benchmark import DEFAULT_RULES, VARIANTS, Benchmark, BenchmarkRules, Table
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import figure_share
from planner_eval.benchmarks.report import Report, Run, SampleScore
from planner_eval.benchmarks.runs import read_stored_benchmark
from planner_eval.benchmarks.score import Scored, figure_value, is_same_value
from planner_eval.benchmarks.score_benchmark import score_benchmark
from planner_eval.comparison.metrics.facts import Share
from planner_eval.comparison.rows import unread_state
from planner_eval.reading.settings import DEFAULT_READING, Reading
from planner_eval.results import scored as rows
from planner_eval.results.compare import System, make_comparison
from planner_eval.results.contrast import Comparison, name_systems
from planner_eval.results.report import DuplicateRecord, Provenance
from planner_eval.results.runs.folder import refuse_unlike
from planner_eval.results.runs.model import StoredRun
from planner_eval.results.score import refuse_seed

# ----------------------------------------------------------------------
# Systems under a benchmark: the figures of single samples, as pairs of systems are compared by them.
SOLVED = "solved"
"""Whether a sample counts as solved under the benchmark's strictest figure."""

SAMPLES_SUFFIX = " (samples)"
"""Behind a figure's name: made from the samples' own figures, which is not the benchmark's of the whole."""

_NOTE_FIGURES = ("err", "unread", "mended", "parse_error", "undecided")
"""How names begin of what a row notes beside its figures, of which more is not better."""


def collect_samples(
    systems: Sequence[Scored],
    files: Sequence[str],
    cluster: str | None = None,
    samples: Mapping[str, Sample] | None = None,
) -> tuple[list[tuple[rows.ScoredRow, ...]], tuple[str, ...]]:
    """The figures of single samples of systems that were scored under one benchmark.

    Several answers to one sample are summed up: a sample is one, however often it was answered.

    Args:
        systems: What the benchmark said of each system, under the same variants.
        files: The files of answers.
        cluster: The key that says in which cluster a sample lies, see :func:`key_of`.
        samples: The samples by id, where the scores do not hold them.
    """
    variants = list(systems[0].reports)
    shares: list[dict[str, dict[str, Share | None]]] = [{} for _ in systems]
    for variant in variants:
        reports = [system.reports[variant] for system in systems]
        for name, plain in {SOLVED: True, **_share_figures(reports)}.items():
            of_systems = [shares_of(report, name, plain) for report in reports]
            adds_up = name == SOLVED or all(map(_is_sum_of_samples, reports, repeat(name), of_systems))
            label = _figure_label(variant, name + SAMPLES_SUFFIX * (not adds_up), variants)
            for by_label, by_sample in zip(shares, of_systems, strict=True):
                by_label[label] = by_sample
    runs = []
    for system, file, by_label in zip(systems, files, shares, strict=True):
        keys: dict[str, dict[str, str]] = {}
        if cluster is not None:
            samples_by_id = samples or {sample.id: sample for sample, _ in system.matched.records}
            clusters = ((name, key_of(sample, cluster)) for name, sample in samples_by_id.items())
            keys = {name: {cluster: key} for name, key in clusters if key is not None}
        runs.append(tuple(_rows(system, file, by_label, keys)))
    solved = [_figure_label(variant, SOLVED, variants) for variant in reversed(variants)]
    return runs, tuple(dict.fromkeys([*solved, *shares[0]]))


def _figure_label(variant: str, name: str, variants: Sequence[str]) -> str:
    return name if len(variants) == 1 else f"{variant} {name}"


def _share_figures(reports: Sequence[Report]) -> dict[str, bool]:
    """The rows' figures that are shares: name, and whether they are numbers from 0 to 1 and not counts."""
    fits: dict[str, bool] = {}
    plain: dict[str, bool] = {}
    for report in reports:
        for figure in (figure for row in report.rows for figure in row.figures):
            share, counts = figure_share(figure), figure.denominator is not None
            if share is not None:
                fits[figure.name] = fits.get(figure.name, True) and (counts or 0 <= share.part <= 1)
                plain[figure.name] = plain.get(figure.name, True) and not counts
    return {name: plain[name] for name, fit in fits.items() if fit and not name.startswith(_NOTE_FIGURES)}


def shares_of(report: Report, name: str, plain: bool) -> dict[str, Share | None]:
    """A figure of each sample, all answers to it summed up; None of a sample that has none.

    Args:
        report: The rows.
        name: The figure, as rows call it; :data:`SOLVED` is whether they count as solved.
        plain: Whether it is a number from 0 to 1, and not counts.

    >>> report = Report("x", "official", 1, rows=(SampleScore("a", True), SampleScore("a", False)))
    >>> shares_of(report, SOLVED, True), shares_of(report, "f1", True)
    ({'a': Share(part=1, whole=2)}, {'a': None})
    """
    shares: dict[str, Share | None] = {}
    for row in report.rows:
        share = next((figure_share(figure) for figure in row.figures if figure.name == name), None)
        if name == SOLVED:
            share = Share(int(row.ok), 1)
        elif share is None and plain and row.error:  # it has no such figure, and is wrong
            share = Share(0, 1)
        previous = shares.get(row.id)
        shares[row.id] = share if previous is None else previous if share is None else previous + share
    return shares


def _is_sum_of_samples(report: Report, name: str, shares: Mapping[str, Share | None]) -> bool:
    """Whether the samples' figures sum up to the benchmark's own figure of that name."""
    own_value = next((figure.value for figure in report.figures if figure.name == name), None)
    value = sum(filter(None, shares.values()), Share(0, 0)).value
    return (
        isinstance(own_value, (int, float))
        and value is not None
        and math.isclose(own_value, value, abs_tol=1e-12)
    )


def key_of(sample: Sample, key: str) -> str | None:
    """What a key is in a sample: one of its fields, or the part of the data that it belongs to.

    >>> key_of(Sample("a", category="ss"), "part")
    'ss'
    """
    if key in sample.extra:
        value = sample.extra[key]
        return None if value is None else str(value)
    return (sample.category or None) if key in ("part", "category") else None


def _rows(
    scored: Scored,
    file: str,
    shares: Mapping[str, Mapping[str, Share | None]],
    clusters: Mapping[str, Mapping[str, str]],
) -> Iterator[rows.ScoredRow]:
    answers: dict[str, list[SampleScore]] = {}
    for row in [*scored.reports.values()][-1].rows:
        answers.setdefault(row.id, []).append(row)
    readings = _readings(scored)
    missing, unreadable = set(scored.matched.missing), set(scored.lost)
    for name, scores in answers.items():
        tallies: dict[str, Share | None] = {
            label: share for label, by_sample in shares.items() if (share := by_sample[name]) is not None
        }
        state, reason = _sample_state(scores, [code for code, _ in readings[name]])
        if name in missing:
            state, reason = "absent", "there is no answer"
        elif name in unreadable:
            state, reason, tallies = "gold_unreadable", scores[0].error or "", {}
        keys = clusters.get(name, {})
        repaired = state in ("same", "different") and any(mended for _, mended in readings[name])
        yield rows.ScoredRow(name, state, tallies, reason=reason, keys=keys, file=file, repaired=repaired)
    for name in scored.matched.unknown:
        yield rows.ScoredRow(name, "gold_absent", reason="no sample belongs to this answer", file=file)


def _readings(scored: Scored) -> dict[str, list[tuple[str | None, bool]]]:
    """Of each sample's answers, why each cannot be read (None of one that can), and whether it was mended.

    The corrected rows say it, also where only official figures are wanted. Of a run that kept these alone the
    answers are not there to be read again: then the published code's own signs have to do.
    """
    report = scored.reports.get("corrected")
    if report is None and scored.matched.records:  # without a judge, who says nothing of it
        report = scored.benchmark.score("corrected", scored.matched.records, **scored.options)
    readings: dict[str, list[tuple[str | None, bool]]] = {}
    for row in (report or scored.reports["official"]).rows:
        error, values = row.error or "", {figure.name: figure.value for figure in row.figures}
        if report is not None:
            code = error if error.startswith("parse.") else None
        else:
            unread = error.partition(":")[0] in _PARSE_EXCEPTIONS or values.get("parse_error")
            code = "parse.syntax" if unread or not values.get("syntax", True) else None
        readings.setdefault(row.id, []).append((code, bool(values.get("mended"))))
    return readings


_PARSE_EXCEPTIONS = frozenset({"ZeroDivisionError", "JSONDecodeError", "ValueError"})
"""What published code ends with at an answer in which it reads nothing; a judge fails otherwise."""


def _sample_state(answers: Sequence[SampleScore], codes: Sequence[str | None]) -> tuple[str, str]:
    """What became of a sample, and why.

    Args:
        answers: Its rows under the variant that decides whether it is solved.
        codes: Why its answers cannot be read; None of one that can.

    >>> (
    ...     _sample_state([SampleScore("a", False)], ["parse.cut"]),
    ...     _sample_state([SampleScore("a", True)], ["parse.cut"])
    ... )
    (('cut', 'parse.cut'), ('same', ''))
    """
    if all(row.ok for row in answers):
        return "same", ""
    reason = next((row.error.split("\n")[0] for row in answers if row.error), "")
    unread = [code for code in codes if code is not None]
    if len(unread) < len(codes):  # of several answers one can be read
        return "different", reason or "not solved"
    return unread_state(ParseError("", code=unread[0])), reason or unread[0]


# ----------------------------------------------------------------------
# Systems compared under a published benchmark.
def compare_benchmark(  # noqa: PLR0913 - the options of a public function
    systems: Sequence[str | os.PathLike[str]] | Mapping[str, str | os.PathLike[str]],
    gold: str | os.PathLike[str],
    name: str,
    *,
    reading: Reading = DEFAULT_READING,
    ids: Collection[str] | None = None,
    rules: BenchmarkRules = DEFAULT_RULES,
    cluster: str | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare systems under a benchmark, by its figures of single samples: each with the first.

    Each variant's ``solved`` says whether a sample counts under the benchmark's strictest figure. A figure
    whose name ends in ``(samples)`` is made from the samples' own figures and is not the one that the
    benchmark gives of the whole.

    Args:
        systems: The files of answers, two or more; or a mapping from the systems' names to them.
        gold: The benchmark's data, as for :func:`score_benchmark`.
        name: The benchmark's name.
        reading: As for :func:`score_benchmark`.
        ids: As for :func:`score_benchmark`.
        rules: As for :func:`score_benchmark`.
        cluster: The field of the benchmark's samples that says in which cluster each lies.
        names: What the systems are called; A, B and so on when left out.
        seed: Where random numbers start.

    Raises:
        InputError: as for :func:`score_benchmark`; or there is only one system.

    >>> from planner_eval.base.resources import folder
    >>> answers = folder("data") / "samples" / "answers" / "nestful.jsonl"
    >>> gold = folder("data") / "samples" / "nestful"
    >>> compare_benchmark({"small": answers, "large": answers}, gold, "nestful").verdicts
    ('small and large have the same scores: n = 3, corrected solved 0.3333',)
    """
    refuse_seed(seed)
    expect_or_none(NAME, cluster=cluster)
    systems, called = name_systems(systems, names)
    results = [score_benchmark(s, gold, name, reading=reading, ids=ids, rules=rules) for s in systems]
    files = ["standard input" if os.fspath(system) == "-" else os.fspath(system) for system in systems]
    return _compare_scored(results, files, called, os.fspath(gold), seed=seed, cluster=cluster)


def compare_kept_benchmarks(
    runs: Sequence[StoredRun],
    names: Sequence[str],
    *,
    seed: int = 0,
    cluster: str | None = None,
) -> Comparison:
    """Compare runs that were scored under one benchmark, each with the first, by the variants that all have.

    Args:
        runs: The runs.
        names: What they are called.
        seed: Where random numbers start.
        cluster: The field of the benchmark's samples that says in which cluster each lies; the gold that the
            first run was scored against is read for it.

    Raises:
        InputError: the runs were not scored alike.
    """
    for other in runs[1:]:
        _refuse_unlike(runs[0], other)
    stored = [read_stored_benchmark(run) for run in runs]
    reports = [s.scored.reports for s in stored]
    variants = [name for name in reports[0] if all(name in report for report in reports)]
    if not variants:
        folders = " and ".join(run.path for run in runs)
        raise InputError(f"{folders} cannot be compared: no variant was scored in all of them")
    results = [replace(s, reports={v: s.reports[v] for v in variants}) for s, _ in stored]
    gold = str(runs[0].about["gold"])
    samples = None
    if cluster is not None:
        samples = {sample.id: sample for sample in gold_samples(results[0].benchmark, gold)}
    files = [s.pred for s in stored]
    version = runs[0].version
    return _compare_scored(
        results, files, names, gold, seed=seed, cluster=cluster, samples=samples, version=version
    )


def _refuse_unlike(first: StoredRun, other: StoredRun) -> None:
    """Refuse two runs that were not scored alike.

    Raises:
        InputError: says what they do not have in common.
    """
    names = first.benchmark, other.benchmark
    if names[0] != names[1]:
        under = " and ".join(f"under {name}" if name else "under no benchmark" for name in names)
        raise InputError(f"{first.path} and {other.path} cannot be compared: they were scored {under}")
    refuse_unlike(first, other, ignored=(*first.options, *other.options))
    for name in dict.fromkeys([*first.settings, *other.settings]):
        values = [run.settings.get(name, "left out") for run in (first, other)]
        if values[0] != values[1]:
            problem = f"{first.path} and {other.path} cannot be compared"
            raise InputError(f"{problem}: --set {name} is {values[0]} and {values[1]}")


def _compare_scored(  # noqa: PLR0913 - the options of a public function
    results: Sequence[Scored],
    files: Sequence[str],
    names: Sequence[str],
    gold: str,
    *,
    seed: int,
    cluster: str | None,
    samples: Mapping[str, Sample] | None = None,
    version: str = __version__,
) -> Comparison:
    """Compare what a benchmark said of each system with what it said of the first."""
    first = results[0]
    runs, metrics = collect_samples(results, files, cluster, samples)
    details = [f"planeval {version}", f"benchmark={first.benchmark.name} ({' and '.join(first.reports)})"]
    details += [f"{key}={value}" for key, value in first.options.items()]
    details += [f"judged with {first.prompts}"] if first.prompts else []
    details += [
        f"{system}={result.mark}" for system, result in zip(names, results, strict=True) if result.mark
    ]
    provenance = " | ".join([*details, "averaging=micro"])
    systems = [
        System(
            run,
            about=Provenance(
                read={"answers": result.read, "gold": gold},
                repeated=tuple(DuplicateRecord(name, file, None) for name in result.matched.repeated),
            ),
            tried=False,  # no benchmark repairs in a second reading
        )
        for run, result, file in zip(runs, results, files, strict=True)
    ]
    return make_comparison(systems, metrics, names=names, made=provenance, seed=seed, cluster=cluster)


# ----------------------------------------------------------------------
# What papers show beside their main figures, and where the two variants of a benchmark disagree.
#
# CallNavi's difficulties, FunctionChat-Bench's output types and ComplexFuncBench's domains, errors,
# parameters and steps are among the figures themselves.
# ----------------------------------------------------------------------
# What papers show beside their main figures: by part of the data, by structure, by kind of error.
Rows = Sequence[Mapping[str, Any]]


def details(scored: Scored, *, run: Run | None = None) -> list[Table]:
    """Further tables of a score; none where the benchmark has none.

    Args:
        scored: The score.
        run: Runs answers, where it was scored with them run.
    """
    maker = scored.benchmark.details
    return [table for table in maker(scored, run) if table.rows] if maker else []


def part_reports(scored: Scored, run: Run | None) -> dict[str, dict[str, Report]]:
    """The reports of each part of the data, scored by itself, by variant; none where there is one part."""
    groups: dict[str, list[AnsweredSample]] = {}
    for record in scored.matched.records:
        groups.setdefault(record.sample.category, []).append(record)
    if len(groups) < 2:
        return {}
    score = scored.benchmark.score
    return {
        category: {variant: score(variant, records, run=run, **scored.options) for variant in scored.reports}
        for category, records in groups.items()
    }


def part_rows(reports: Mapping[str, Mapping[str, Report]]) -> Rows:
    """Each figure for each part; a row a figure, a column a part and variant.

    Args:
        reports: Of :func:`part_reports`.
    """
    rows: dict[str, dict[str, Any]] = {}
    columns = ["figure"]
    for category, variants in reports.items():
        for variant, report in variants.items():
            columns.append(f"{category} {variant}")
            for figure in report.figures:
                row = rows.setdefault(figure.name, {"figure": figure.name})
                row[columns[-1]] = figure.error or figure.value
    return [{column: row.get(column) for column in columns} for row in rows.values()]


# ----------------------------------------------------------------------
# Where the two variants of a benchmark disagree about one answer.
FigureDifferences: TypeAlias = "dict[str, tuple[Any, Any]]"
"""Figure → what either variant has there, the official one first."""


def figure_differences(
    benchmark: Benchmark, sample: Sample, text: str, options: Mapping[str, str]
) -> FigureDifferences:
    """The figures of one answer alone that the two variants do not share, whether it is solved first.

    A figure that only one variant has is none of them, nor is one in words: who decided, or why.

    Args:
        benchmark: The benchmark; without a judge, and without running answers.
        sample: What was asked.
        text: What a model answered.
        options: The benchmark's own options.

    >>> from planner_eval.benchmarks.benchmark import benchmark
    >>> sample = Sample("a", gold={"API": ["f"], "parameters": [{"x": "1"}]})
    >>> text = '{"API": ["f"], "parameters": [{"x": "1", "y": "2"}]}'
    >>> figure_differences(benchmark("callnavi"), sample, text, {})["ast"]
    (1.0, 0.0)
    """
    how: dict[str, Any] = dict(options)
    official, corrected = (benchmark.score(name, [(sample, text)], **how).rows[0] for name in VARIANTS)
    differences: FigureDifferences = {}
    if official.ok != corrected.ok:
        differences[SOLVED] = (official.ok, corrected.ok)
    corrected_figures = {figure.name: figure for figure in corrected.figures}
    for figure in official.figures:
        other = corrected_figures.get(figure.name)
        if other is None or isinstance(figure.value, str) or isinstance(other.value, str):
            continue
        if not is_same_value(figure, other):
            differences[figure.name] = (figure_value(figure), figure_value(other))
    return differences
