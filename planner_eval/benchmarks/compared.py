"""Systems under a benchmark: the figures of single samples, as pairs of systems are compared by them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from planner_eval.base.errors import ParseError
from planner_eval.benchmarks.report import Figure, Report, SampleScore
from planner_eval.benchmarks.score import Scored
from planner_eval.datasets.sample import Sample
from planner_eval.metrics.counts import Share
from planner_eval.records.rows import unread_state
from planner_eval.scoring import scored as rows

SOLVED = "solved"
"""Whether a sample counts as solved under the benchmark's strictest figure."""

OWN = " (samples)"
"""Behind a figure's name: made from the samples' own figures, which is not the benchmark's of the whole."""

_NOTES = ("err", "unread", "mended", "parse_error", "undecided")
"""How names begin of what a row notes beside its figures, of which more is not better."""


class Sampled(NamedTuple):
    """The samples of several systems, to be compared.

    Args:
        runs: A row a sample, of each system.
        metrics: What the rows count, the main figure first.
    """

    runs: tuple[tuple[rows.Scored, ...], ...]
    metrics: tuple[str, ...]


class _Label(NamedTuple):
    """What a figure of rows is called, and whether it is a number from 0 to 1 and not counts."""

    text: str
    plain: bool


def sampled(
    systems: Sequence[Scored],
    files: Sequence[str],
    cluster: str | None = None,
    samples: Mapping[str, Sample] | None = None,
) -> Sampled:
    """The figures of single samples of systems that were scored under one benchmark.

    Several answers to one sample are summed up: a sample is one, however often it was answered.

    Args:
        systems: What the benchmark said of each system, under the same variants.
        files: The files of answers.
        cluster: The key that says in which cluster a sample lies, see :func:`key_of`.
        samples: The samples by id, where the scores do not hold them.
    """
    names: dict[str, None] = {}
    variants = list(systems[0].reports)
    for variant in reversed(variants):
        names[_called(variant, SOLVED, variants)] = None
    labels: dict[tuple[str, str], _Label] = {}
    for variant in variants:
        reports = [system.reports[variant] for system in systems]
        for name, plain in _shares(reports).items():
            adds_up = all(_adds_up(report, name, plain) for report in reports)
            labels[variant, name] = _Label(_called(variant, name + OWN * (not adds_up), variants), plain)
    names |= dict.fromkeys(label.text for label in labels.values())
    runs = []
    for system, file in zip(systems, files, strict=True):
        samples_by_id = samples or {sample.id: sample for sample, _ in system.matched.records}
        keys = (
            {}
            if cluster is None
            else {name: key_of(sample, cluster) for name, sample in samples_by_id.items()}
        )
        runs.append(tuple(_rows(system, file, labels, cluster, keys)))
    return Sampled(tuple(runs), tuple(names))


def _called(variant: str, name: str, variants: Sequence[str]) -> str:
    return name if len(variants) == 1 else f"{variant} {name}"


def _shares(reports: Sequence[Report]) -> dict[str, bool]:
    """The rows' figures that are shares: name, and whether they are numbers from 0 to 1 and not counts."""
    fits: dict[str, bool] = {}
    plain: dict[str, bool] = {}
    for report in reports:
        for figure in (figure for row in report.rows for figure in row.figures):
            share, counts = _share(figure), figure.denominator is not None
            if share is not None:
                fits[figure.name] = fits.get(figure.name, True) and (counts or 0 <= share.part <= 1)
                plain[figure.name] = plain.get(figure.name, True) and not counts
    return {name: plain[name] for name, fit in fits.items() if fit and not name.startswith(_NOTES)}


def _share(figure: Figure) -> Share | None:
    if figure.numerator is not None and figure.denominator is not None:
        return Share(figure.numerator, figure.denominator)
    return Share(float(figure.value), 1) if isinstance(figure.value, (int, float)) else None


def _of_row(row: SampleScore, name: str, plain: bool) -> Share | None:
    """A row's figure; 0 of 1 where the benchmark's code has none because it could not score the answer.

    Without it an answer that cannot be scored would count in no figure, and to leave out the hard ones
    would pay.
    """
    share = next((_share(figure) for figure in row.figures if figure.name == name), None)
    return Share(0, 1) if share is None and plain and row.error else share


def shares_of(report: Report, name: str) -> dict[str, Share | None]:
    """A figure of each sample, all answers to it summed up; None of a sample that has none.

    Args:
        report: The rows.
        name: The figure, as rows call it; :data:`SOLVED` is whether they count as solved.

    >>> report = Report("x", "official", 1, rows=(SampleScore("a", True), SampleScore("a", False)))
    >>> shares_of(report, SOLVED), shares_of(report, "f1")
    ({'a': Share(part=1, whole=2)}, {'a': None})
    """
    plain = all(
        figure.denominator is None for row in report.rows for figure in row.figures if figure.name == name
    )
    shares: dict[str, Share | None] = {}
    for row in report.rows:
        share = Share(int(row.ok), 1) if name == SOLVED else _of_row(row, name, plain)
        previous = shares.get(row.id)
        shares[row.id] = share if previous is None else previous if share is None else previous + share
    return shares


def _adds_up(report: Report, name: str, plain: bool) -> bool:
    """Whether the samples' figures sum up to the benchmark's own figure of that name."""
    own_value = next((figure.value for figure in report.figures if figure.name == name), None)
    shares = [_of_row(row, name, plain) for row in report.rows]
    numerator, denominator = (
        sum(getattr(share, field) for share in shares if share) for field in ("part", "whole")
    )
    return (
        isinstance(own_value, (int, float))
        and bool(denominator)
        and math.isclose(own_value, numerator / denominator, abs_tol=1e-12)
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
    labels: Mapping[tuple[str, str], _Label],
    cluster: str | None,
    clusters: Mapping[str, str | None],
) -> Iterator[rows.Scored]:
    variants = list(scored.reports)
    samples: dict[str, dict[str, list[SampleScore]]] = {}
    for variant, report in scored.reports.items():
        for row in report.rows:
            samples.setdefault(row.id, {}).setdefault(variant, []).append(row)
    readings = _readings(scored)
    missing, unreadable = set(scored.matched.missing), set(scored.lost)
    for name, scores in samples.items():
        tallies: dict[str, Share | None] = {}
        for variant, answers in scores.items():
            solved = Share(sum(row.ok for row in answers), len(answers))
            tallies[_called(variant, SOLVED, variants)] = solved
            tallies |= _tallies(variant, answers, labels)
        last = scores[variants[-1]]
        state, reason = _state(last, [reading.code for reading in readings[name]])
        if name in missing:
            state, reason = "absent", "there is no answer"
        elif name in unreadable:
            state, reason, tallies = "gold_unreadable", last[0].error or "", {}
        key = clusters.get(name)
        keys = {} if cluster is None or key is None else {cluster: key}
        repaired = state in ("same", "different") and any(reading.mended for reading in readings[name])
        yield rows.Scored(name, state, tallies, reason=reason, keys=keys, file=file, repaired=repaired)
    for name in scored.matched.unknown:
        yield rows.Scored(name, "gold_absent", reason="no sample asked for this answer", file=file)


class _Reading(NamedTuple):
    """How an answer was read.

    Args:
        code: Why it could not be; None where it could.
        mended: It could only after small faults were mended.
    """

    code: str | None
    mended: bool = False


def _readings(scored: Scored) -> dict[str, list[_Reading]]:
    """How the answers to each sample were read.

    The corrected rows say it, also where only official figures are wanted. Of a run that kept these alone the
    answers are not there to be read again: then the published code's own signs have to do.
    """
    report, read = scored.reports.get("corrected"), _read_corrected
    if report is None and scored.matched.records:  # without a judge, who says nothing of it
        report = scored.benchmark.score("corrected", scored.matched.records, **scored.options)
    elif report is None:
        report, read = scored.reports["official"], _read_official
    readings: dict[str, list[_Reading]] = {}
    for row in report.rows:
        readings.setdefault(row.id, []).append(read(row))
    return readings


def _read_corrected(row: SampleScore) -> _Reading:
    """How an answer was read, by its corrected row.

    >>> _read_corrected(SampleScore("a", False, error="plan.no_call"))
    _Reading(code=None, mended=False)
    """
    mended = any(figure.name == "mended" and bool(figure.value) for figure in row.figures)
    return _Reading(row.error if (row.error or "").startswith("parse.") else None, mended)


def _read_official(row: SampleScore) -> _Reading:
    """How an answer was read, by its official row.

    >>> _read_official(SampleScore("a", False, (Figure("parse_error", 1),)))
    _Reading(code='parse.syntax', mended=False)
    """
    raised = (row.error or "").partition(":")[0] in _EXCEPTIONS
    signs = any(_SIGNS.get(figure.name) == bool(figure.value) for figure in row.figures)
    return _Reading("parse.syntax" if raised or signs else None)


_EXCEPTIONS = frozenset({"ZeroDivisionError", "JSONDecodeError", "ValueError"})
"""What published code ends with at an answer in which it reads nothing; a judge fails otherwise."""

_SIGNS: Mapping[str, bool] = {"parse_error": True, "syntax": False}
"""Figures of single answers by which published code says that it cannot read one, and their value then."""


def _state(answers: Sequence[SampleScore], codes: Sequence[str | None]) -> tuple[str, str]:
    """What became of a sample, and why.

    Args:
        answers: Its rows under the variant that decides whether it is solved.
        codes: Why its answers cannot be read; None of one that can.

    >>> _state([SampleScore("a", False)], ["parse.cut"]), _state([SampleScore("a", True)], ["parse.cut"])
    (('cut', 'parse.cut'), ('same', ''))
    """
    if all(row.ok for row in answers):
        return "same", ""
    reason = next((row.error.split("\n")[0] for row in answers if row.error), "")
    unread = [code for code in codes if code is not None]
    if len(unread) < len(codes):  # of several answers one can be read
        return "different", reason or "not solved"
    return unread_state(ParseError("", code=unread[0])), reason or unread[0]


def _tallies(
    variant: str, answers: Sequence[SampleScore], labels: Mapping[tuple[str, str], _Label]
) -> dict[str, Share | None]:
    tallies: dict[str, Share | None] = {}
    for (under, name), label in labels.items():
        if under == variant:
            shares = [share for row in answers if (share := _of_row(row, name, label.plain)) is not None]
            if shares:
                tallies[label.text] = reduce(add, shares)
    return tallies
