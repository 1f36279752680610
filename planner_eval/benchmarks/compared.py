"""Systems under a benchmark: the figures of single samples, as pairs of systems are compared by them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from planner_eval.benchmarks.report import Figure, Report, SampleScore
from planner_eval.benchmarks.score import Scored
from planner_eval.datasets.sample import Sample
from planner_eval.metrics.counts import Share
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


def sampled(every: Sequence[Scored], files: Sequence[str], cluster: str | None = None) -> Sampled:
    """The figures of single samples of systems that were scored under one benchmark.

    Several answers to one sample are summed up: a sample is one, however often it was answered.

    Args:
        every: What the benchmark said of each system, under the same variants.
        files: The files of answers.
        cluster: The key that says in which cluster a sample lies, see :func:`key_of`.
    """
    names: dict[str, None] = {}
    variants = list(every[0].reports)
    for variant in reversed(variants):
        names[_called(variant, SOLVED, variants)] = None
    labels: dict[tuple[str, str], _Label] = {}
    for variant in variants:
        reports = [one.reports[variant] for one in every]
        for name, plain in _shares(reports).items():
            whole = all(_adds_up(report, name, plain) for report in reports)
            labels[variant, name] = _Label(_called(variant, name + OWN * (not whole), variants), plain)
    names |= dict.fromkeys(label.text for label in labels.values())
    runs = tuple(tuple(_rows(one, file, labels, cluster)) for one, file in zip(every, files, strict=True))
    return Sampled(runs, tuple(names))


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
    found = next((_share(figure) for figure in row.figures if figure.name == name), None)
    return Share(0, 1) if found is None and plain and row.error else found


def shares_of(report: Report, name: str) -> dict[str, Share | None]:
    """A figure of each sample, all answers to it summed up; None of a sample that has none.

    Args:
        report: The rows.
        name: The figure, as rows call it; :data:`SOLVED` is whether they count as solved.

    >>> report = Report("x", "official", 1, rows=(SampleScore("a", True), SampleScore("a", False)))
    >>> shares_of(report, SOLVED), shares_of(report, "f1")
    ({'a': Share(part=1, whole=2)}, {'a': None})
    """
    plain = all(one.denominator is None for row in report.rows for one in row.figures if one.name == name)
    found: dict[str, Share | None] = {}
    for row in report.rows:
        share = Share(int(row.ok), 1) if name == SOLVED else _of_row(row, name, plain)
        known = found.get(row.id)
        found[row.id] = share if known is None else known if share is None else known + share
    return found


def _adds_up(report: Report, name: str, plain: bool) -> bool:
    """Whether the samples' figures sum up to the benchmark's own figure of that name."""
    own = next((figure.value for figure in report.figures if figure.name == name), None)
    shares = [_of_row(row, name, plain) for row in report.rows]
    part, whole = (sum(getattr(one, side) for one in shares if one) for side in ("part", "whole"))
    return isinstance(own, (int, float)) and bool(whole) and math.isclose(own, part / whole, abs_tol=1e-12)


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
    one: Scored, file: str, labels: Mapping[tuple[str, str], _Label], cluster: str | None
) -> Iterator[rows.Scored]:
    variants = list(one.reports)
    columns = {
        variant: list(zip(one.matched.records, report.rows, strict=True))
        for variant, report in one.reports.items()
    }
    samples: dict[str, dict[str, list[SampleScore]]] = {}
    keys: dict[str, dict[str, str]] = {}
    for variant, column in columns.items():
        for (sample, _), row in column:
            value = None if cluster is None else key_of(sample, cluster)
            keys[sample.id] = {} if cluster is None or value is None else {cluster: value}
            samples.setdefault(sample.id, {}).setdefault(variant, []).append(row)
    missing = set(one.matched.missing)
    for name, found in samples.items():
        tallies: dict[str, Share | None] = {}
        for variant, answers in found.items():
            solved = Share(sum(row.ok for row in answers), len(answers))
            tallies[_called(variant, SOLVED, variants)] = solved
            tallies |= _tallies(variant, answers, labels)
        last = found[variants[-1]]
        state = "absent" if name in missing else "same" if all(row.ok for row in last) else "different"
        why = next((row.error.split("\n")[0] for row in last if row.error), "")
        reason = (
            "there is no answer" if state == "absent" else why or ("not solved" if state != "same" else "")
        )
        yield rows.Scored(name, state, tallies, reason=reason, keys=keys[name], file=file)
    for name in one.matched.unknown:
        yield rows.Scored(name, "gold_absent", reason="no sample asked for this answer", file=file)


def _tallies(
    variant: str, answers: Sequence[SampleScore], labels: Mapping[tuple[str, str], _Label]
) -> dict[str, Share | None]:
    found: dict[str, Share | None] = {}
    for (under, name), label in labels.items():
        if under == variant:
            shares = [share for row in answers if (share := _of_row(row, name, label.plain)) is not None]
            if shares:
                found[label.text] = reduce(add, shares)
    return found
