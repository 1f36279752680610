"""The papers' tables of their data: from samples to cells, benchmark by benchmark.

Each cell holds what the paper prints beside what the samples at hand give, see
:class:`~planner_eval.benchmarks.report.Cell`. A cell without a printed figure is one that the paper
describes and does not tabulate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from planner_eval.benchmarks.report import Cell
from planner_eval.datasets.sample import Sample

_SCALES = ("Max. Seq.", "Max. Para.", "Avg. Seq.", "Avg. Para.")


def paper_tables(benchmark: str, samples: Sequence[Sample]) -> list[Cell]:
    """The cells of a benchmark's tables, in the order of its paper.

    Args:
        benchmark: The benchmark's name.
        samples: Of its reader; any part of the data.

    >>> sorted({cell.table for cell in paper_tables("callnavi", [])})
    ['Table 1', 'Table 2']
    """
    return list(_TABLES[benchmark](samples))


def _appbench(samples: Sequence[Sample]) -> Iterator[Cell]:
    """Table 2; its scales a second time with components as the published code finds them."""
    from planner_eval.benchmarks.appbench.tables import table2

    yield from table2(samples)
    for cell in table2(samples, official=True):
        if cell.row in _SCALES:
            yield replace(cell, row=f"{cell.row} as coded")


def _callnavi(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.callnavi.tables import table1, table2

    yield from table1(samples)
    yield from table2(samples)


def _complexfuncbench(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.complexfuncbench.tables import table3

    yield from table3(samples)


def _functionchat(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.functionchat.tables import table1, table2

    yield from table1(samples)
    yield from table2(samples)


def _nestful(samples: Sequence[Sample]) -> Iterator[Cell]:
    """What section 3.2 says of version 2; then the structure of each part, as section 4.5 models it."""
    from planner_eval.benchmarks.nestful.tables import dataset_table

    second = [sample for sample in samples if sample.category in ("math", "coding")]
    first = [sample for sample in samples if sample.category not in ("math", "coding")]
    if second or not first:
        yield from dataset_table(second)
    parts: dict[str, list[Sample]] = {}
    for sample in samples:
        parts.setdefault(sample.category, []).append(sample)
    for part, found in parts.items():
        yield from _structure(part, found)


def _structure(part: str, samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.nestful.tables import structure_of

    found = structure_of(samples)
    n = found.samples or 1
    rows: dict[str, float] = {
        "Samples": found.samples,
        "Tools": found.tools,
        "Samples that repeat a tool": found.repeating,
        "Calls": found.calls,
        "Avg. calls": found.calls / n,
        "Avg. depth": sum(depth * count for depth, count in found.depths.items()) / n,
        **{f"Depth {depth}": count for depth, count in found.depths.items()},
        "References": found.references,
        "Data dependencies": found.dependencies,
        "Avg. data dependencies": found.dependencies / n,
        **{f"Calls using {number} calls": count for number, count in found.producers.items()},
        **{f"Calls serving {number} calls": count for number, count in found.consumers.items()},
        "Chains A→B→C": found.chains,
        "Components": found.components,
        "Avg. component": found.calls / (found.components or 1),
        **{f"Pattern {pattern}": count for pattern, count in found.patterns.items()},
    }
    for row, value in rows.items():
        yield Cell("Section 4.5, the data's structure", row, part, None, float(value), found.samples)


_TABLES: Mapping[str, Callable[[Sequence[Sample]], Iterator[Cell]]] = {
    "appbench": _appbench,
    "callnavi": _callnavi,
    "complexfuncbench": _complexfuncbench,
    "functionchat": _functionchat,
    "nestful": _nestful,
}
