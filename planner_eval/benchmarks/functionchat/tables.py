"""The tables and charts of FunctionChat-Bench's paper.

Source: FunctionChat-Bench paper, Tables 1 and 2, sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.layouts import ChartSpec, System, figure_of, point_of
from planner_eval.benchmarks.report import Cell
from planner_eval.results.drawing.charts import Bars, Chart

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample


# ----------------------------------------------------------------------
# The paper's tables of the data, each printed cell beside the recomputed one.
_LIST_SIZES = {"exact": "1", "4_random": "4", "4_close": "4", "8_random": "8", "8_close": "8"}
_OUTPUT_TYPES = {
    "call": ("Tool Call", "70"),
    "completion": ("Answer Completion", "71"),
    "slot": ("Slot Question", "36"),
    "relevance": ("Relevance Detection", "23"),
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
    for kind, length in _LIST_SIZES.items():
        group = [sample for sample in items if sample.category == kind]
        lengths = {len(sample.tools) for sample in group}
        length_note = f"lists of {sorted(lengths)}" if len(lengths) > 1 else ""
        value = float(max(lengths)) if lengths else None
        cells.append(_cell("Table 1", (kind, "Length"), length, value, n=n, note=length_note))
        share = len(group) / n if n else None
        cells.append(_cell("Table 1", (kind, "Composition"), "0.20", share, n=n))
    functions = {sample.gold["name"] for sample in items}
    queries = {sample.extra["serial_num"] for sample in items}
    per_function = len(queries) / len(functions) if functions else None
    facts = (
        ("functions", "25", len(functions)),
        ("queries per function", "4", per_function),
        ("items", "500", n),
    )
    return cells + [
        _cell("Section 3.1", ("single call", fact), p, v if n else None, n=n) for fact, p, v in facts
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
    n = len(items)
    counts = Counter(sample.category for sample in items)
    rows = [(title, printed, counts[kind]) for kind, (title, printed) in _OUTPUT_TYPES.items()]
    cells = [
        _cell("Table 2", (title, "Count"), printed, count if n else None, n=n)
        for title, printed, count in [*rows, ("total", "200", n)]
    ]
    turns = Counter(sample.extra["dialog_num"] for sample in items)
    calling = {sample.extra["dialog_num"] for sample in items if sample.category == "call"}
    sizes = sorted(turns.values()) or [0]
    facts = (
        ("dialogs", "45", len(turns)),
        ("fewest turns", "3", sizes[0]),
        ("most turns", "8", sizes[-1]),
        ("median turns", "4", median(sizes)),
        ("average turns", "4.44", mean(sizes)),
        ("dialogs with a call", "45", len(calling)),
    )
    return cells + [_cell("Section 3.2", ("dialog", fact), p, v if n else None, n=n) for fact, p, v in facts]


def paper_cells(samples: Sequence[Sample]) -> list[Cell]:
    """The cells of Table 1 and Table 2."""
    return [*table1(samples), *table2(samples)]


def _cell(
    table: str, position: tuple[str, str], published: str, value: float | None, *, n: int, note: str = ""
) -> Cell:
    total = _SINGLECALL_ITEMS if table in ("Table 1", "Section 3.1") else _DIALOG_ITEMS
    row, column = position
    if n != total:
        note = f"{n} of {total} items available"
    return Cell(table, row, column, published, None if value is None else float(value), n, total, note)


# ----------------------------------------------------------------------
# FunctionChat-Bench's scores by type as bars: single calls by list of tools, dialogs by type of output.
#
# Source: FunctionChat-Bench paper, Tables 3 and 4 (section 6.1); it has no such figure.
_PANELS = {
    "singlecall": (
        "single calls",
        "list of tools (items)",
        {
            "exact": "exact",
            "4_random": "4 random",
            "4_close": "4 close",
            "8_random": "8 random",
            "8_close": "8 close",
        },
    ),
    "dialog": (
        "dialogs",
        "type of output (items)",
        {
            "call": "tool call",
            "completion": "answer completion",
            "slot": "slot question",
            "relevance": "relevance detection",
        },
    ),
}


def type_chart(systems: Sequence[System]) -> Chart:
    """Pass rates by type, a panel a part of the data."""
    panels = []
    for subset, (head, across, kinds) in _PANELS.items():
        points = {
            system.name: {
                kind: point_of(figure_of(system.report, f"{subset} {kind} pass rate")) for kind in kinds
            }
            for system in systems
        }
        present = [
            kind for kind in kinds if any(by_kind[kind].value is not None for by_kind in points.values())
        ]
        if present:
            series = {name: tuple(by_kind[kind] for kind in present) for name, by_kind in points.items()}
            ticks = tuple(kinds[kind] for kind in present)
            panels.append(Bars(head, ticks, across, "pass rate (%)", series))
    if not panels:
        raise InputError("functionchat-types shows pass rates by type, but these answers have no types")
    return Chart("functionchat-types", tuple(panels))


CHARTS = {"functionchat-types": ChartSpec("pass rates by type of item", "Tables 3 and 4", type_chart)}
