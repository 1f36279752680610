"""The tables and charts of CallNavi's paper, and the further tables of a score.

Source: CallNavi paper, Tables 1 (its own row) and 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import object_items
from planner_eval.benchmarks.benchmark import Details, Table
from planner_eval.benchmarks.callnavi.corrected import judge_calls
from planner_eval.benchmarks.callnavi.data import holds_placeholder
from planner_eval.benchmarks.callnavi.official import DIFFICULTIES, frequencies, gold_problem, level_of
from planner_eval.benchmarks.callnavi.reading import Calls, calls_of, read_answer, read_route
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.layouts import (
    ChartSpec,
    System,
    bars,
    own_figure,
    paper_cell,
    point,
    printed_table,
)
from planner_eval.benchmarks.report import Cell, Records, Report, Run, SampleScore
from planner_eval.results.drawing.charts import Chart, Point

if TYPE_CHECKING:
    from planner_eval.benchmarks.score import Scored


# ----------------------------------------------------------------------
# The paper's tables of the data, each printed cell beside the recomputed one.
_COLUMNS = ("API Functions", "Questions", "Easy", "Medium", "Hard")
_TABLE_2 = printed_table("callnavi", "table_2")
QUESTIONS = {domain: int(published[2]) for domain, published in _TABLE_2.items()}
"""The questions of each domain, as printed."""


def table1(samples: Iterable[Sample]) -> list[Cell]:
    """CallNavi's own row of Table 1.

    Args:
        samples: Of the CallNavi reader; any part of the data.

    Source: CallNavi paper, Table 1.

    >>> [cell.published for cell in table1([])]
    ['10', '729', '115', None, None]
    """
    questions = list(samples)
    golds = (
        (sample, sample.gold.get("API") if isinstance(sample.gold, dict) else None) for sample in questions
    )
    multi_call = [sample for sample, names in golds if isinstance(names, list) and len(names) > 1]
    largest = max((len(sample.tools or ()) for sample in questions), default=0)
    later = 'printed as "Yes": those with a placeholder after the first call'
    counts: dict[str, tuple[str | None, int, str]] = {
        "Domains": ("10", len({sample.category for sample in questions}), ""),
        "Questions": ("729", len(questions), ""),
        "Max API Candidates": ("115", largest, "115 is the number of banking questions"),
        "Multi-Call": (None, len(multi_call), 'printed as "Yes": questions with several calls'),
        "Nested": (None, sum(map(_has_later_placeholder, multi_call)), later),
    }
    cell = partial(paper_cell, sizes=(len(questions), 729), unit="questions")
    return [
        cell(("Table 1", "CallNavi", column), published, value, note=note)
        for column, (published, value, note) in counts.items()
    ]


def table2(samples: Iterable[Sample]) -> list[Cell]:
    """Table 2: functions, questions and difficulties of each domain and overall.

    Args:
        samples: Of the CallNavi reader; any part of the data.

    Returns:
        The table row by row; a value is None where no question of the domain is at hand.

    Source: CallNavi paper, Table 2.

    >>> cell = table2([])[0]
    >>> (cell.row, cell.column, cell.published, cell.note)
    ('Banking', 'API Functions', '91', '0 of 115 questions available')
    """
    rows = [(sample.category, len(sample.tools or ()), level_of(sample)) for sample in samples]
    cells = []
    for domain, (title, *printed) in _TABLE_2.items():
        members = [row for row in rows if domain in ("overall", row[0])]
        n, levels = len(members), Counter(level for _, _, level in members)
        functions = sum({name: size for name, size, _ in reversed(members)}.values())
        counts = (functions, n, *(levels[level] for level in DIFFICULTIES))
        for column, published, count in zip(_COLUMNS, printed, counts, strict=True):
            note = "" if count == published else f"the released data has {count}"
            place = ("Table 2", title, column)
            cells.append(paper_cell(place, published, count, (n, printed[1]), unit="questions", note=note))
    return cells


def paper_cells(samples: Sequence[Sample]) -> list[Cell]:
    """The cells of Table 1 and Table 2."""
    return [*table1(samples), *table2(samples)]


def _has_later_placeholder(sample: Sample) -> bool:
    return any(
        d.code in ("dataset.placeholder", "dataset.placeholder_nested") and (d.call or 0) > 0
        for d in sample.extra.get("diagnostics", ())
    )


# ----------------------------------------------------------------------
# CallNavi's stability over repeated answers, as bars.
#
# Source: CallNavi paper, Table 7 (appendix D); it has no such figure.
_FIGURE_TITLES = {"election": "election", "levenshtein": "Levenshtein"}


def stability_chart(systems: Sequence[System]) -> Chart:
    """Election and Levenshtein stability, means over the questions."""
    points = {system.name: {name: _mean_point(system, name) for name in _FIGURE_TITLES} for system in systems}
    across = "stability score (questions)"
    return Chart("callnavi-7", (bars("", _FIGURE_TITLES, points, across, "mean over questions (%)"),))


def _mean_point(system: System, name: str) -> Point:
    mean_point = point({row.id: own_figure(row, name) for row in system.report.rows}.values())
    if name == "levenshtein" and mean_point.value is None:
        raise InputError(
            f"{system.name}: callnavi-7 shows how stable repeated answers are, but no question has two: "
            "ask with planeval predict --repeat 5"
        )
    return mean_point


CHARTS = {
    "callnavi-7": ChartSpec(
        "stability of repeated answers", "Table 7", stability_chart, settings={"task": "stability"}
    )
}


# ----------------------------------------------------------------------
# The kinds of errors that CallNavi's paper finds in answers: hallucination, formatting, logic.
#
# Source: the paper, appendix F. It counts none of them and no code was published: what counts is said here.
ERROR_KINDS = {
    "hallucination": "F.1: calls an API that is not on the list",
    "format": "F.2: not in the requested format, as written",
    "logic: order": "F.3: gold's calls in another order",
    "logic: steps": "F.3: omits calls of gold",
    "logic: values": "F.3: a later call lacks a value of an earlier one",
    "other": "none of these, and not gold's calls",
}
"""A kind of error → what counts; one answer can show several, but for the last."""


def error_kinds(
    sample: Sample, text: str, *, task: str = "parameters", notation: str = "json"
) -> frozenset[str]:
    """The kinds of errors of one answer; none of an answer that is right and as asked for.

    An API counts as invented where neither the question's list nor its gold has it. Calls are left out where
    more of gold's are missing than others stand for them. A later call lacks a value where the argument is a
    placeholder in gold and not there.

    Args:
        sample: The question, whose gold record can be read.
        text: What the model answered.
        task: ``"parameters"``, or ``"routing"``: names alone.
        notation: ``"json"`` or ``"yaml"``.

    >>> gold = {"API": ["list", "pay"], "parameters": [{}, {"to": "$$$"}]}
    >>> sample = Sample("q", tools=[{"name": "list"}, {"name": "pay"}], gold=gold)
    >>> sorted(error_kinds(sample, 'So: {"API": ["list"], "parameters": [{}]}'))
    ['format', 'logic: steps']
    """
    gold_calls = calls_of(sample.gold)
    if task == "routing":
        names = read_route(text)
        well_formed, calls = names is not None and "```" not in text, None
        right = names == gold_calls[0]
    else:
        answer = read_answer(text, notation=notation)
        well_formed, calls = answer.valid, answer.calls
        names = None if calls is None else calls[0]
        right = calls is not None and judge_calls(gold_calls, calls).ast
    kinds = set() if well_formed else {"format"}
    if names is not None and not right:
        kinds |= _wrong_call_kinds(sample, gold_calls, names, calls)
    return frozenset(kinds)


def _wrong_call_kinds(sample: Sample, gold_calls: Calls, names: list[str], calls: Calls | None) -> set[str]:
    gold, _ = gold_calls
    kinds = set()
    tools = sample.tools if isinstance(sample.tools, list) else []
    offered = {
        tool.get("name") for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    }
    if offered and set(names) - offered - set(gold):
        kinds.add("hallucination")
    missing, extra = Counter(gold) - Counter(names), Counter(names) - Counter(gold)
    if names != gold and not missing and not extra:
        kinds.add("logic: order")
    if missing.total() > extra.total():
        kinds.add("logic: steps")
    if names == gold and calls is not None and _lacks_values(gold_calls, calls):
        kinds.add("logic: values")
    return kinds or {"other"}


def _lacks_values(gold_calls: Calls, calls: Calls) -> bool:
    """Whether a call after the first lacks an argument that holds a placeholder in gold."""
    pairs = list(zip(gold_calls[1], calls[1], strict=True))[1:]
    return any(
        holds_placeholder(value) and name not in pred
        for gold, pred in pairs
        for name, value in object_items(gold)
    )


def error_rows(records: Records, *, task: str = "parameters", notation: str = "json") -> list[dict[str, Any]]:
    """How many answers show each kind of error, by difficulty.

    Args:
        records: Samples with the text that a model answered.
        task: As for :func:`error_kinds`.
        notation: As for :func:`error_kinds`.

    Returns:
        A row a kind; then those without any error, and all of which gold can be read.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in (*ERROR_KINDS, "no error", "answers")}
    for sample, text in records:
        if gold_problem(sample):
            continue
        try:
            kinds = error_kinds(sample, text, task=task, notation=notation)
        except ParseError:
            continue  # a gold record with lists of other things than names and objects
        levels = ("all", str(sample.extra.get("difficulty")))
        for kind in (*(kinds or ("no error",)), "answers"):
            counts[kind].update(levels)
    columns = (*DIFFICULTIES, "all")
    return [
        {
            "error": kind,
            **{column: by_column[column] for column in columns},
            "note": ERROR_KINDS.get(kind, ""),
        }
        for kind, by_column in counts.items()
    ]


# ----------------------------------------------------------------------
# How far CallNavi's judge and its AST match agree: Pearson's correlation.
#
# Source: the paper, section 6.4: 0.934 between "GPT Score" and "All Avg." of "Parameter AST Match" over the
# models of Table 4.
TABLE_4 = printed_table("callnavi", "table_4")
"""Table 4's models with their AST match, average of all, and their GPT score, as printed."""
PUBLISHED_CORRELATION = ("0.934", "4.40e-08")
"""The correlation that section 6.4 prints, and its p."""
_MIN_PAIRS = 3
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
    if len(pair_list) < _MIN_PAIRS or any(len(set(column)) < 2 for column in zip(*pair_list, strict=True)):
        return Correlation(len(pair_list))
    from scipy.stats import pearsonr

    first_column, second_column = zip(*pair_list, strict=True)
    result = pearsonr(first_column, second_column)
    return Correlation(len(pair_list), float(result.statistic), float(result.pvalue))


def correlation_over_questions(report: Report) -> Correlation:
    """The judge's rating and the AST match of each question that has both."""
    rows = ({figure.name: figure.value for figure in row.figures} for row in report.rows)
    pairs = ((values.get("ast"), values.get("gpt")) for values in rows)
    return correlation(
        (float(ast), float(gpt))
        for ast, gpt in pairs
        if isinstance(ast, float | int) and isinstance(gpt, float | int)
    )


# ----------------------------------------------------------------------
# The further tables of a CallNavi score: by domain, kinds of errors, judge and AST match, freq@k.
_SHARE_FIGURES = ("gpt", "election", "levenshtein")
"""Figures that questions can be without; the mean is over those that have them."""


def tables(scored: Scored, _run: Run | None = None) -> Details:
    """What suits the task that the answers were asked for."""
    task = scored.options.get("task", "parameters")
    yield Table("By domain: means over the available questions", list(_domain_rows(scored)))
    records = scored.matched.records
    if task == "stability":
        yield Table("Section 5.3: freq@k beside the stability scores", _frequency_rows(scored))
        return
    notation = scored.options.get("notation", "json")
    rows = error_rows(records, task=task, notation=notation)
    yield Table("Appendix F: kinds of errors, in answers", rows)
    correlations = {variant: correlation_over_questions(report) for variant, report in scored.reports.items()}
    if any(correlation.n for correlation in correlations.values()):
        yield Table(
            "Section 6.4: Pearson's correlation of GPT score and AST match", _correlation_rows(correlations)
        )


def _domain_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """A row a domain: how many of its questions are there, and the mean of each figure of theirs."""
    domain_of = {sample.id: sample.category for sample, _ in scored.matched.records}
    for domain, n in Counter(domain_of.values()).items():
        rows = {
            variant: [row for row in report.rows if domain_of[row.id] == domain]
            for variant, report in scored.reports.items()
        }
        figures = (figure for scores in rows.values() for score in scores for figure in score.figures)
        means = {
            f"{name} {variant}": _mean_figure(name, scores)
            for name in dict.fromkeys(figure.name for figure in figures)
            for variant, scores in rows.items()
        }
        yield {"domain": domain, "questions": f"{n} of {QUESTIONS.get(domain, '?')}", **means}


def _mean_figure(name: str, rows: list[SampleScore]) -> float | str | None:
    """The mean of one figure; the exception where the published code ends on one of the questions."""
    values = []
    for row in rows:
        figure = next((f for f in row.figures if f.name == name), None)
        if figure is not None and figure.error:
            return figure.error.split(":")[0]
        if figure is not None and isinstance(figure.value, float | int):
            values.append(float(figure.value))
        elif name not in _SHARE_FIGURES:
            values.append(0.0)  # an answer that could not be compared is wrong
    return sum(values) / len(values) if values else None


def _correlation_rows(correlations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row a variant, over questions; then the paper's, over models, from its Table 4 as printed."""
    rows = [
        {"over": f"questions, {variant}", "n": result.n, "r": result.r, "p": result.p, "as printed": None}
        for variant, result in correlations.items()
    ]
    paper = correlation(TABLE_4.values())
    printed = f"{PUBLISHED_CORRELATION[0]}, p {PUBLISHED_CORRELATION[1]}"
    row = {"over": "models of Table 4, printed figures", "n": paper.n, "r": paper.r, "p": paper.p}
    return [*rows, row | {"as printed": printed}]


def _frequency_rows(scored: Scored) -> list[dict[str, Any]]:
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
