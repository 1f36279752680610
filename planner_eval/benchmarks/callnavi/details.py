"""The further tables of a CallNavi score: by domain, kinds of errors, judge and AST match, freq@k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.callnavi.agreement import PUBLISHED, TABLE_4, correlation, over_questions
from planner_eval.benchmarks.callnavi.errors import error_rows
from planner_eval.benchmarks.callnavi.stability import frequencies
from planner_eval.benchmarks.callnavi.tables import QUESTIONS

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Report, SampleScore
    from planner_eval.benchmarks.score import Scored

_SHARES = ("gpt", "election", "levenshtein")
"""Figures that questions can be without; the mean is over those that have them."""


def tables(scored: Scored) -> Details:
    """What suits the task that the answers were asked for."""
    task = scored.options.get("task", "parameters")
    yield Table("By domain: means over the questions at hand", list(_domains(scored)))
    records = scored.matched.records
    if task == "stability":
        yield Table("Section 5.3: freq@k beside the stability scores", _frequencies(scored))
        return
    notation = scored.options.get("notation", "json")
    rows = error_rows(records, task=task, notation=notation)
    yield Table("Appendix F: kinds of errors, in answers", rows)
    correlations = {variant: over_questions(report) for variant, report in scored.reports.items()}
    if any(correlation.n for correlation in correlations.values()):
        yield Table(
            "Section 6.4: Pearson's correlation of GPT score and AST match", _correlations(correlations)
        )


def _domains(scored: Scored) -> Iterator[dict[str, Any]]:
    """A row a domain: how many of its questions are there, and the mean of each figure of theirs."""
    domain_of = {sample.id: sample.category for sample, _ in scored.matched.records}
    reports = {variant: _by_domain(report, domain_of) for variant, report in scored.reports.items()}
    for domain in dict.fromkeys(domain_of.values()):
        ids = sum(d == domain for d in domain_of.values())
        row: dict[str, Any] = {"domain": domain, "questions": f"{ids} of {QUESTIONS.get(domain, '?')}"}
        for name in dict.fromkeys(
            figure.name
            for by_domain in reports.values()
            for score in by_domain[domain]
            for figure in score.figures
        ):
            for variant, by_domain in reports.items():
                row[f"{name} {variant}"] = _mean(name, by_domain[domain])
        yield row


def _by_domain(report: Report, domain_of: Mapping[str, str]) -> dict[str, list[SampleScore]]:
    by_domain: dict[str, list[SampleScore]] = {}
    for row in report.rows:
        by_domain.setdefault(domain_of[row.id], []).append(row)
    return by_domain


def _mean(name: str, rows: list[SampleScore]) -> float | str | None:
    """The mean of one figure; the exception where the published code ends on one of the questions."""
    values = []
    for row in rows:
        figure = next((f for f in row.figures if f.name == name), None)
        if figure is not None and figure.error:
            return figure.error.split(":")[0]
        if figure is not None and isinstance(figure.value, float | int):
            values.append(float(figure.value))
        elif name not in _SHARES:
            values.append(0.0)  # an answer that could not be compared is wrong
    return sum(values) / len(values) if values else None


def _correlations(correlations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row a variant, over questions; then the paper's, over models, from its Table 4 as printed."""
    rows = [
        {"over": f"questions, {variant}", "n": result.n, "r": result.r, "p": result.p, "as printed": None}
        for variant, result in correlations.items()
    ]
    paper = correlation(TABLE_4.values())
    printed = f"{PUBLISHED[0]}, p {PUBLISHED[1]}"
    row = {"over": "models of Table 4, printed figures", "n": paper.n, "r": paper.r, "p": paper.p}
    return [*rows, row | {"as printed": printed}]


def _frequencies(scored: Scored) -> list[dict[str, Any]]:
    """freq@1 to freq@3, and the two scores, as means over questions."""
    rows: list[dict[str, Any]] = []
    for k, rates in frequencies(scored.matched.records).items():
        mean = sum(rates) / len(rates) if rates else None
        rows.append({"score": f"freq@{k}", "mean": mean, "questions": len(rates)})
    report = next(iter(scored.reports.values()))
    rows += [
        {"score": figure.name, "mean": figure.value, "questions": figure.denominator}
        for figure in report.figures
    ]
    return rows
