"""The papers' tables of their data: from samples to cells, benchmark by benchmark.

Each cell holds what the paper prints beside what the samples at hand give, see
:class:`~planner_eval.benchmarks.report.Cell`. A cell without a printed figure is one that the paper
describes and does not tabulate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.report import Cell
from planner_eval.datasets.sample import Sample

if TYPE_CHECKING:
    from planner_eval.benchmarks.nestful.tables import Structure

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
            yield replace(cell, table="Table 2, components as the published code finds them")


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
    from planner_eval.benchmarks.nestful.tables import dataset_table, structure_of

    second = [sample for sample in samples if sample.category in ("math", "coding")]
    first = [sample for sample in samples if sample.category not in ("math", "coding")]
    if second or not first:
        yield from dataset_table(second)
    parts: dict[str, list[Sample]] = {}
    for sample in samples:
        parts.setdefault(sample.category, []).append(sample)
    found = {part: structure_of(members) for part, members in parts.items()}
    columns = {part: _structure(one) for part, one in found.items()}
    for row in next(iter(columns.values()), {}):
        for key in sorted({key for column in columns.values() for key in column[row]}):
            for part, column in columns.items():
                value = float(column[row].get(key, 0))
                yield Cell("Section 4.5", row.format(key), part, None, value, found[part].samples)


def _structure(found: Structure) -> dict[str, Mapping[Any, float]]:
    """The rows of one part's column; a histogram is a row a value, anything else one row of the key ""."""
    n = found.samples or 1
    return {
        "Samples": {"": found.samples},
        "Tools": {"": found.tools},
        "Samples that repeat a tool": {"": found.repeating},
        "Calls": {"": found.calls},
        "Avg. calls": {"": found.calls / n},
        "Avg. depth": {"": sum(depth * count for depth, count in found.depths.items()) / n},
        "Samples of depth {}": found.depths,
        "References": {"": found.references},
        "Data dependencies": {"": found.dependencies},
        "Avg. data dependencies": {"": found.dependencies / n},
        "Calls that use {} others": found.producers,
        "Calls that serve {} others": found.consumers,
        "Chains A→B→C": {"": found.chains},
        "Avg. components": {"": found.components / n},
        "Avg. calls of a component": {"": found.calls / (found.components or 1)},
        "Pattern {}": found.patterns,
    }


_TABLES: Mapping[str, Callable[[Sequence[Sample]], Iterator[Cell]]] = {
    "appbench": _appbench,
    "callnavi": _callnavi,
    "complexfuncbench": _complexfuncbench,
    "functionchat": _functionchat,
    "nestful": _nestful,
}
