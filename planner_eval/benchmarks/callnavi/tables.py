"""The tables and charts of CallNavi's paper, each printed cell beside the recomputed one.

Source: CallNavi paper, Tables 1 (its own row) and 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.charts import ChartSpec, System, own_figure, point
from planner_eval.benchmarks.report import Cell
from planner_eval.comparison.metrics.counts import Share
from planner_eval.results.drawing.charts import Bars, Chart, Point

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sample import Sample


# ----------------------------------------------------------------------
# The paper's tables of the data, each printed cell beside the recomputed one.
_COLUMNS = ("API Functions", "Questions", "Easy", "Medium", "Hard")
_TABLE_2 = {
    "bank": ("Banking", 91, 115, 70, 28, 17),
    "shopping": ("Shopping", 81, 65, 41, 17, 7),
    "logistics": ("Logistics", 46, 65, 40, 17, 8),
    "aviation": ("Aviation", 48, 80, 44, 24, 12),
    "hospital": ("Healthcare", 20, 47, 31, 10, 6),
    "gov": ("Public Services", 82, 85, 50, 27, 8),
    "hr": ("Human Resources", 20, 35, 21, 13, 1),
    "hotel": ("Hotel Industry", 49, 65, 40, 19, 6),
    "insurance": ("Insurance", 42, 60, 40, 11, 9),
    "telecommunications": ("Telecommunications", 100, 112, 79, 22, 11),
}
QUESTIONS = {domain: int(published[2]) for domain, published in _TABLE_2.items()}
"""The questions of each domain, as printed."""
_OVERALL_COUNTS = (579, 729, 456, 188, 85)


def table1(samples: Iterable[Sample]) -> list[Cell]:
    """CallNavi's own row of Table 1.

    Args:
        samples: Of the CallNavi reader; any part of the data.

    Source: CallNavi paper, Table 1.

    >>> [cell.published for cell in table1([])]
    ['10', '729', '115', None, None]
    """
    questions = list(samples)
    lists = [len(sample.tools or ()) for sample in questions]
    multi_call = [sample for sample in questions if len(_gold_names(sample)) > 1]
    nested = [sample for sample in multi_call if _has_later_placeholder(sample)]
    largest = float(max(lists)) if lists else None
    counts: list[tuple[str, str | None, float | None, str]] = [
        ("Domains", "10", float(len({sample.category for sample in questions})), ""),
        ("Questions", "729", float(len(questions)), ""),
        ("Max API Candidates", "115", largest, "115 is the number of banking questions"),
        ("Multi-Call", None, float(len(multi_call)), 'printed as "Yes": questions with several calls'),
        (
            "Nested",
            None,
            float(len(nested)),
            'printed as "Yes": such with a placeholder after the first call',
        ),
    ]
    return [
        Cell(
            "Table 1",
            "CallNavi",
            column,
            published,
            value,
            len(questions),
            729,
            _coverage_note(note, len(questions), 729),
        )
        for column, published, value, note in counts
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
    ('Banking', 'API Functions', '91', '0 of 115 questions at hand')
    """
    domains: dict[str, list[Sample]] = {domain: [] for domain in _TABLE_2}
    for sample in samples:
        domains.setdefault(sample.category, []).append(sample)
    cells: list[Cell] = []
    for domain, (title, *published) in _TABLE_2.items():
        cells += _row_cells(title, published, _counts([domains[domain]]), len(domains[domain]))
    all_domains = [questions for questions in domains.values() if questions]
    cells += _row_cells("Overall", _OVERALL_COUNTS, _counts(all_domains), sum(map(len, all_domains)))
    return cells


def _counts(domains: Sequence[Sequence[Sample]]) -> tuple[int, ...]:
    """Functions, questions, and questions by difficulty."""
    functions = sum(len(questions[0].tools or ()) for questions in domains if questions)
    levels = [sample.extra.get("difficulty") for questions in domains for sample in questions]
    return (functions, len(levels), *(levels.count(level) for level in ("easy", "medium", "hard")))


def _row_cells(title: str, published: Sequence[Any], counts: Sequence[int], n: int) -> Iterable[Cell]:
    total = published[1]
    for column, printed, count in zip(_COLUMNS, published, counts, strict=True):
        differs = "" if count == printed else f"the released data has {count}"
        value = float(count) if n else None
        yield Cell("Table 2", title, column, str(printed), value, n, total, _coverage_note(differs, n, total))


def _coverage_note(note: str, n: int, total: int) -> str:
    return note if n == total else f"{n} of {total} questions at hand"


def _gold_names(sample: Sample) -> Sequence[Any]:
    names = sample.gold.get("API") if isinstance(sample.gold, dict) else None
    return names if isinstance(names, list) else ()


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
    series = {system.name: tuple(_mean_point(system, name) for name in _FIGURE_TITLES) for system in systems}
    across = "stability score (questions)"
    return Chart(
        "callnavi-7", (Bars("", tuple(_FIGURE_TITLES.values()), across, "mean over questions (%)", series),)
    )


def _mean_point(system: System, name: str) -> Point:
    shares: dict[str, Share | None] = defaultdict(lambda: None)
    for row in system.report.rows:
        shares[row.id] = own_figure(row, name)
    mean_point = point(shares.values())
    if name == "levenshtein" and mean_point.value is None:
        raise InputError(
            f"{system.name}: callnavi-7 shows how stable repeated answers are, and no question has two: "
            "planeval predict --repeat 5 asks for them"
        )
    return mean_point


CHARTS = {
    "callnavi-7": ChartSpec(
        "stability of repeated answers", "Table 7", stability_chart, settings={"task": "stability"}
    )
}
