"""The paper's table of the data, each printed cell beside the recomputed one.

Source: ComplexFuncBench paper, Table 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner_eval.benchmarks.complexfuncbench.calls import Step, steps_of
from planner_eval.benchmarks.complexfuncbench.scoring import domain_of
from planner_eval.benchmarks.report import Cell

if TYPE_CHECKING:
    from planner_eval.datasets.sample import Sample

_COLUMNS = ("Hotels", "Flights", "Car-Rental", "Attraction", "Cross", "Total")
_PUBLISHED = {
    "# Samples": ("150", "150", "150", "150", "400", "1000"),
    "Avg. Steps": ("3.33", "3.33", "2.87", "2.86", "3.5", "3.26"),
    "Avg. Calls": ("4.29", "5.33", "4.57", "3.6", "6.0", "5.07"),
}


def table3(samples: Iterable[Sample]) -> list[Cell]:
    """Table 3: samples, steps and calls by domain, from the samples at hand.

    Args:
        samples: Any part of the data; each cell says how many samples it was computed from.

    Returns:
        The table row by row; a value is None where no sample of the domain is at hand.

    Source: ComplexFuncBench paper, Table 3.

    >>> table3([])[0].published
    '150'
    """
    steps: dict[str, list[tuple[Step, ...]]] = {name: [] for name in _COLUMNS}
    for sample in samples:
        sample_steps = steps_of(sample.gold)
        steps["Total"].append(sample_steps)
        if domain_of(sample.id) in steps:
            steps[domain_of(sample.id)].append(sample_steps)
    return [
        _cell(row, column, published, steps[column])
        for row, cells in _PUBLISHED.items()
        for column, published in zip(_COLUMNS, cells, strict=True)
    ]


def _cell(row: str, column: str, published: str, conversations: list[tuple[Step, ...]]) -> Cell:
    n, total = len(conversations), int(_PUBLISHED["# Samples"][_COLUMNS.index(column)])
    counts = {
        "# Samples": n,
        "Avg. Steps": sum(map(len, conversations)),
        "Avg. Calls": sum(len(step.calls) for steps in conversations for step in steps),
    }
    value = None if not n else float(n) if row == "# Samples" else counts[row] / n
    note = "" if n == total else f"{n} of {total} samples at hand"
    return Cell("Table 3", row, column, published, value, n, total, note)
