"""How far CallNavi's judge and its AST match agree: Pearson's correlation.

Source: the paper, section 6.4: 0.934 between "GPT Score" and "All Avg." of "Parameter AST Match" over the
models of Table 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from planner_eval.benchmarks.report import Report

TABLE_4 = {
    "GPT4o": (0.711, 0.913),
    "GPT4o mini": (0.710, 0.908),
    "Gemini 1.5 Flash": (0.604, 0.876),
    "LLAMA3.1 70B": (0.245, 0.583),
    "CommandR 35B": (0.134, 0.400),
    "Gemma2 27B": (0.181, 0.476),
    "Mistral-Small 22B": (0.160, 0.417),
    "Phi3 14B": (0.015, 0.082),
    "Mistral-Nemo 12B": (0.222, 0.524),
    "Gemma2 9B": (0.182, 0.488),
    "LLAMA3.1 8B": (0.162, 0.422),
    "xLAM-fc 7B": (0.229, 0.554),
    "nemotron-mini 4B": (0.047, 0.271),
    "LLAMA3.2 3B": (0.042, 0.353),
    "Phi3.5 3B": (0.0, 0.002),
    "NexusRaven 13B": (0.124, 0.254),
    "Gorilla v2 7B": (0.329, 0.518),
}
"""Table 4's models with their AST match, average of all, and their GPT score, as printed."""
PUBLISHED = ("0.934", "4.40e-08")
"""The correlation that section 6.4 prints, and its p."""
_LEAST = 3
"""With two points the correlation is 1 or -1, whatever they are."""


class Correlation(NamedTuple):
    """Pearson's correlation.

    Args:
        n: Pairs that it was computed from.
        r: The coefficient; None with fewer than three pairs, or where one side is the same everywhere.
        p: How likely one as far from 0 is where there is none; None with r.
    """

    n: int
    r: float | None = None
    p: float | None = None


def correlation(pairs: Iterable[tuple[float, float]]) -> Correlation:
    """Pearson's correlation of two columns.

    >>> found = correlation(TABLE_4.values())
    >>> f"{found.r:.3f}", f"{found.p:.2e}"
    ('0.934', '4.40e-08')
    >>> correlation([(1.0, 0.5), (1.0, 0.2), (1.0, 0.1)])
    Correlation(n=3, r=None, p=None)
    """
    pair_list = list(pairs)
    if len(pair_list) < _LEAST or any(len(set(column)) < 2 for column in zip(*pair_list, strict=True)):
        return Correlation(len(pair_list))
    from scipy.stats import pearsonr

    first_column, second_column = zip(*pair_list, strict=True)
    result = pearsonr(first_column, second_column)
    return Correlation(len(pair_list), float(result.statistic), float(result.pvalue))


def over_questions(report: Report) -> Correlation:
    """The judge's rating and the AST match of each question that has both."""
    return correlation(_pairs(report))


def over_runs(reports: Iterable[Report]) -> Correlation:
    """The GPT score and the AST match over all of each run, one a model, as the paper has it."""
    pairs = []
    for report in reports:
        ast, gpt = report.value("ast_overall"), report.value("gpt")
        if isinstance(ast, float | int) and isinstance(gpt, float | int):
            pairs.append((float(ast), float(gpt)))
    return correlation(pairs)


def _pairs(report: Report) -> Iterable[tuple[float, float]]:
    for row in report.rows:
        values = {figure.name: figure.value for figure in row.figures}
        ast, gpt = values.get("ast"), values.get("gpt")
        if isinstance(ast, float | int) and isinstance(gpt, float | int):
            yield float(ast), float(gpt)
