"""The tables and charts of FunctionChat-Bench's paper.

Source: FunctionChat-Bench paper, Tables 1 and 2, sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from statistics import mean, median
from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.layouts import ChartSpec, System, figure_bars, paper_cell, printed_table
from planner_eval.benchmarks.report import Cell
from planner_eval.results.drawing.charts import Chart

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample


# ----------------------------------------------------------------------
# The paper's tables of the data, each printed cell beside the recomputed one.
_OUTPUT_TYPES = {
    "call": "Tool Call",
    "completion": "Answer Completion",
    "slot": "Slot Question",
    "relevance": "Relevance Detection",
}
_SINGLECALL_ITEMS, _DIALOG_ITEMS = 500, 200


def table1(samples: Iterable[Sample]) -> list[Cell]:
    """Table 1 and section 3.1: the single calls by kind of tool list.

    Args:
        samples: Of the FunctionChat reader; other parts are passed over.

    Source: FunctionChat-Bench paper, Table 1 and section 3.1.

    >>> [cell.published for cell in table1([])[:2]]
    ['1', '0.20']
    """
    items = [sample for sample in samples if sample.extra.get("part") == "singlecall"]
    n, cells = len(items), []
    cell = partial(paper_cell, sizes=(n, _SINGLECALL_ITEMS), unit="items")
    for kind, (length, composition) in printed_table("functionchat", "table_1").items():
        group = [sample for sample in items if sample.category == kind]
        lengths = {len(sample.tools) for sample in group}
        note = f"lists of {sorted(lengths)}" if len(lengths) > 1 else ""
        cells.append(cell(("Table 1", kind, "Length"), length, max(lengths, default=None), note=note))
        cells.append(cell(("Table 1", kind, "Composition"), composition, len(group) / (n or 1)))
    functions = len({sample.gold["name"] for sample in items})
    queries = len({sample.extra["serial_num"] for sample in items})
    facts = (functions, queries / (functions or 1), n)
    printed = printed_table("functionchat", "section_3_1")
    return cells + [
        cell(("Section 3.1", "single call", fact), published, value)
        for (fact, (published,)), value in zip(printed.items(), facts, strict=True)
    ]


def table2(samples: Iterable[Sample]) -> list[Cell]:
    """Table 2 and section 3.2: the turns of the dialogs by output type.

    Args:
        samples: Of the FunctionChat reader; other parts are passed over.

    Source: FunctionChat-Bench paper, Table 2 and section 3.2.

    >>> [cell.published for cell in table2([])[:5]]
    ['70', '71', '36', '23', '200']
    """
    items = [sample for sample in samples if sample.extra.get("part") == "dialog"]
    counts = Counter(_OUTPUT_TYPES.get(sample.category) for sample in items)
    turns = Counter(sample.extra["dialog_num"] for sample in items)
    calling = {sample.extra["dialog_num"] for sample in items if sample.category == "call"}
    sizes = sorted(turns.values()) or [0]
    facts = (len(turns), sizes[0], sizes[-1], median(sizes), mean(sizes), len(calling))
    cell = partial(paper_cell, sizes=(len(items), _DIALOG_ITEMS), unit="items")
    return [
        cell(("Table 2", title, "Count"), published, len(items) if title == "total" else counts[title])
        for title, (published,) in printed_table("functionchat", "table_2").items()
    ] + [
        cell(("Section 3.2", "dialog", fact), published, value)
        for (fact, (published,)), value in zip(
            printed_table("functionchat", "section_3_2").items(), facts, strict=True
        )
    ]


def paper_cells(samples: Sequence[Sample]) -> list[Cell]:
    """The cells of Table 1 and Table 2."""
    return [*table1(samples), *table2(samples)]


# ----------------------------------------------------------------------
# FunctionChat-Bench's scores by type as bars: single calls by list of tools, dialogs by type of output.
#
# Source: FunctionChat-Bench paper, Tables 3 and 4 (section 6.1); it has no such figure.
_PANELS = {
    "singlecall": (
        "single calls",
        "list of tools (items)",
        {kind: kind.replace("_", " ") for kind in printed_table("functionchat", "table_1")},
    ),
    "dialog": (
        "dialogs",
        "type of output (items)",
        {kind: title.lower() for kind, title in _OUTPUT_TYPES.items()},
    ),
}


def type_chart(systems: Sequence[System]) -> Chart:
    """Pass rates by type, a panel a part of the data."""
    panels = []
    for subset, (head, across, titles) in _PANELS.items():
        groups = {kind: (f"{subset} {kind} pass rate", title) for kind, title in titles.items()}
        panels.append(figure_bars(head, systems, groups, across, "pass rate (%)"))
    present = tuple(panel for panel in panels if panel is not None)
    if not present:
        raise InputError("functionchat-types shows pass rates by type, but these answers have no types")
    return Chart("functionchat-types", present)


CHARTS = {"functionchat-types": ChartSpec("pass rates by type of item", "Tables 3 and 4", type_chart)}
