"""BFCL's further tables: the sizes of its categories, kinds of errors, why the corrected verdict differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.benchmark import Table
from planner_eval.benchmarks.bfcl.data import CATEGORIES
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Cell, Run

if TYPE_CHECKING:
    from planner_eval.benchmarks.score import Scored


def paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    """How many questions each category has, and how many gold calls of several turns take an earlier result.

    The leaderboard's pages print no such table.
    """
    counts = Counter(sample.category for sample in samples)
    for name, category in CATEGORIES.items():
        if counts[name]:
            yield Cell("Questions", name, category.group, None, float(counts[name]), counts[name])
    for name, category in CATEGORIES.items():
        if counts[name] and category.check == "multi_turn":
            from planner_eval.benchmarks.bfcl.value_references import count_references

            references = count_references([sample for sample in samples if sample.category == name])
            plans = references["plans"]
            for row, counted in _REFERENCES.items():
                value = float(references[counted]) if plans else None
                yield Cell("Earlier results in gold", row, name, None, value, plans)


_REFERENCES = {
    "Plans": "plans",
    "Plans that use a result": "taking plans",
    "Calls": "calls",
    "Calls that use a result": "taking calls",
    "Calls that may use a result": "ambiguous calls",
    "Arguments": "arguments",
    "Arguments taken from a result": "taking arguments",
    "Arguments that may come from a result": "ambiguous arguments",
}
"""The rows of the table of what gold takes from results, see :mod:`.value_references`."""


def detail_tables(scored: Scored, _run: Run | None) -> Iterator[Table]:
    """Kinds of errors by category, and answers on which the two variants disagree, with the reason."""
    categories = {record.sample.id: record.sample.category for record in scored.matched.records}
    if "official" in scored.reports:
        yield Table("kinds of errors by category, official", list(_error_rows(scored, categories)))
    if "corrected" in scored.reports:
        yield Table("answers on which the corrected verdict differs, by reason", list(_reason_rows(scored)))


def _error_rows(scored: Scored, categories: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    counts: dict[str, Counter[str]] = {}
    for row in scored.reports["official"].rows:
        for figure in row.figures:
            if figure.name == "error_type":
                counts.setdefault(str(figure.value), Counter())[categories.get(row.id, "")] += 1
    for kind, by_category in sorted(counts.items(), key=lambda entry: (-entry[1].total(), entry[0])):
        first = ", ".join(f"{name} {count}" for name, count in by_category.most_common(4))
        yield {"error": kind, "answers": by_category.total(), "categories": first}


def _reason_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    reasons: dict[str, list[str]] = {}
    for row in scored.reports["corrected"].rows:
        for figure in row.figures:
            if figure.name == "reason":
                reasons.setdefault(str(figure.value), []).append(row.id)
    for reason, ids in sorted(reasons.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        yield {"reason": reason, "answers": len(ids), "records": ", ".join(ids[:5]) + ", …" * (len(ids) > 5)}
