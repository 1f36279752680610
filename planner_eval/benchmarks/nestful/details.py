"""The further tables of a NESTful score, and where its answers fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import CatalogError
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.datasets.sample import Sample
from planner_eval.benchmarks.details import Rows, part_reports, part_rows
from planner_eval.benchmarks.nestful.corrected import Outcome, outcomes
from planner_eval.benchmarks.nestful.official import DEFAULT_MODEL
from planner_eval.benchmarks.nestful.official_metrics import (
    ALTERNATE_FIGURE,
    alternate_figure,
    alternate_wins,
    weighted_average,
)
from planner_eval.benchmarks.nestful.reading import read_prediction, usual_layout
from planner_eval.benchmarks.nestful.tables import figure6
from planner_eval.catalogs.catalog import Catalog
from planner_eval.catalogs.check import check
from planner_eval.catalogs.sources.benchmarks import read_nestful
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Figure, Report, Run
    from planner_eval.benchmarks.score import Scored


# ----------------------------------------------------------------------
# Where NESTful's answers fail: the challenges that the paper names.
#
# Section 5 names data types, variable assignments and implicit calls; section 4.4 besides the details of
# output parameters. The paper counts none of them and no code was published: what counts is said here.
CHALLENGE_CODES = {
    "data types": (
        "check.wrong_type", "check.output_type", "check.format", "check.enum", "check.out_of_range",
    ),
    "variable assignments": (
        "label.duplicate", "reference.unresolved", "reference.forward", "reference.malformed",
    ),
    "output parameters": ("check.unknown_output",),
}  # fmt: skip
"""A challenge → the findings that show it in a plan: values and outputs of another type than the tool's
specification says; labels given twice, and references to what no earlier call returns; outputs that the
tool does not have."""
IMPLICIT, UNREAD, OTHER = "implicit calls", "unreadable", "none of these"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True, slots=True)
class Challenge:
    """How often one challenge shows in answers that failed.

    Args:
        name: A key of :data:`CHALLENGE_CODES`, :data:`IMPLICIT`, :data:`UNREAD` or :data:`OTHER`.
        samples: Answers that show it; one can show several.
        of: Answers that failed.
        times: How often it shows in them.
        note: What counts.
    """

    name: str
    samples: int
    of: int
    times: int
    note: str = ""


_CHALLENGE_NOTES = {
    "data types": "values and outputs that do not fit the parameter",
    "variable assignments": "labels given twice, references to nothing",
    "output parameters": "outputs that the tool does not have",
    IMPLICIT: "functions of gold not called, nor named by the query",
}


def challenges(answers: Iterable[tuple[Sample, str, Outcome]], *, model: str) -> list[Challenge]:
    """What is wrong with the answers that failed, by the challenges of sections 5 and 4.4.

    An answer fails that does not mean the same as gold, and does not win where answers are run; there,
    samples whose functions are not there are left out. What gold's own plan shows as well is no fault.

    Args:
        answers: Samples with what was answered and what became of it, see :func:`.corrected.outcomes`.
        model: The model name that chooses the published reader.

    Returns:
        A row a challenge; none where no answer failed.
    """
    failures: list[Counter[str]] = []
    for sample, text, outcome in answers:
        gold, counts = outcome.gold, outcome.counts
        if gold is not None and counts is not None and counts.runnable and not (counts.won or counts.full):
            failures.append(_answer_challenges(sample, text, gold, model))
    names = (*CHALLENGE_CODES, IMPLICIT, UNREAD)
    rows = [
        Challenge(
            name,
            sum(failure[name] > 0 for failure in failures),
            len(failures),
            sum(failure[name] for failure in failures),
            _CHALLENGE_NOTES.get(name, ""),
        )
        for name in names
    ]
    unexplained = sum(not failure for failure in failures)
    return [*rows, Challenge(OTHER, unexplained, len(failures), unexplained)] if failures else []


def _answer_challenges(sample: Sample, text: str, gold: Plan, model: str) -> Counter[str]:
    """The challenges that one answer shows, each with how often."""
    reading = read_prediction(text, model, sample.tools)
    if reading.error is not None:
        return Counter({UNREAD: 1})
    try:
        catalog = read_nestful(usual_layout(sample.tools), "tools")
    except CatalogError:
        catalog = Catalog((), "tools")
    extra = _findings(reading.plan, catalog) - _findings(gold, catalog)
    occurrences: Counter[str] = Counter()
    for name, codes in CHALLENGE_CODES.items():
        occurrences[name] = sum(times for (code, *_), times in extra.items() if code in codes)
    absent = Counter(call.name for call in gold.calls) - Counter(call.name for call in reading.plan.calls)
    words = _split_words(sample.query)
    occurrences[IMPLICIT] = sum(
        times for name, times in absent.items() if not _has_name_words(_split_words(name), words)
    )
    return +occurrences


def _findings(plan: Plan, catalog: Catalog) -> Counter[tuple[str, str, str | None]]:
    """Code, tool and argument of everything that is wrong with a plan."""
    notes = [*plan.diagnostics, *check(plan, catalog)]
    return Counter(
        (note.code, "" if note.call is None else plan.calls[note.call].name, note.argument) for note in notes
    )


def _split_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _has_name_words(name: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a function's name stand in a row."""
    size = len(name)
    return size > 0 and any(words[start : start + size] == name for start in range(len(words) - size + 1))


# ----------------------------------------------------------------------
# The further tables of a NESTful score: averages over parts, other plans, challenges, Figure 6.
_MAX_NAMED = 3
"""Samples that a row names."""


def tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part and their weighted average, the challenges; with `run`, what needs wins."""
    reports_by_part = part_reports(scored, run)
    yield Table("By part", part_rows(reports_by_part))
    yield Table("Average over parts, weighted by samples", _average_rows(reports_by_part))
    records = scored.matched.records
    results = list(outcomes(records, run=run, **scored.options))
    if run is not None:
        rows = _alternate_rows(scored.reports, reports_by_part)
        yield Table("Alternate trajectories: the gold answer by another plan", rows)
    model = scored.options.get("model", DEFAULT_MODEL)
    answers = ((sample, text, outcome) for (sample, text), outcome in zip(records, results, strict=True))
    rows = [
        {"challenge": c.name, "answers": c.samples, "failed": c.of, "times": c.times, "note": c.note}
        for c in challenges(answers, model=model)
    ]
    yield Table("Sections 5 and 4.4: challenges in the answers that failed", rows)
    if run is not None:
        shares = [
            {"by": s.panel, "value": str(s.key), "samples": s.n, "won": s.won, "win rate": s.win_rate}
            for s in figure6(results)
        ]
        yield Table("Figure 6: win rate by structure", shares)


def _average_rows(reports_by_part: Mapping[str, Mapping[str, Report]]) -> Rows:
    """A row a figure, the average under each variant with its sums."""
    rows: dict[str, dict[str, Any]] = {}
    for variant in next(iter(reports_by_part.values()), {}):
        for figure in weighted_average([reports[variant] for reports in reports_by_part.values()]):
            row = rows.setdefault(figure.name, {"figure": figure.name})
            row |= {variant: figure.error or figure.value, f"{variant} of": _format_sums(figure)}
    return list(rows.values())


def _format_sums(figure: Figure) -> str | None:
    if figure.numerator is None or figure.denominator is None:
        return None
    return f"{figure.numerator:g}/{figure.denominator:g}"


def _alternate_rows(
    overall: Mapping[str, Report], reports_by_part: Mapping[str, Mapping[str, Report]]
) -> Rows:
    """A row a part and variant, with the first of the samples that were won by another plan."""
    rows = []
    for subset, variants in {**reports_by_part, "all": overall}.items():
        for variant, report in variants.items():
            figure, ids = alternate_figure(report), alternate_wins(report)
            first_ids = ", ".join(ids[:_MAX_NAMED]) + (", …" if len(ids) > _MAX_NAMED else "")
            row: dict[str, Any] = {"part": subset, "variant": variant}
            row |= {
                ALTERNATE_FIGURE: figure.error or figure.value,
                "of": _format_sums(figure),
                "which": first_ids,
            }
            rows.append(row)
    return rows
