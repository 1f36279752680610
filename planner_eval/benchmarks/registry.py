"""The benchmarks by name, each with the same entries: read its data, score answers, give its paper's tables.

    benchmark("callnavi").read(folder)                        samples
    benchmark("callnavi").official(records, task="routing")   what the published code says of answers
    benchmark("callnavi").corrected(records)                  what the paper says of them
    benchmark("callnavi").tables(samples)                     the paper's cells beside the recomputed ones

A new benchmark is a package of this folder that exports ``BENCHMARK``, and its name in :data:`NAMES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from planner_eval.base.arguments import NAME, expect
from planner_eval.base.errors import InputError
from planner_eval.base.text import closest_name
from planner_eval.benchmarks.benchmark import VARIANTS, Benchmark, Option

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Catalog


__all__ = ["BENCHMARKS", "NAMES", "VARIANTS", "Benchmark", "Option", "benchmark", "catalog_reader"]

NAMES = ("appbench", "nestful", "callnavi", "complexfuncbench", "functionchat", "bfcl")
"""The packages of this folder that hold a benchmark."""


class _Benchmarks(Mapping[str, Benchmark]):
    """The benchmarks by name; a package is imported when its benchmark is asked for."""

    def __getitem__(self, name: str) -> Benchmark:
        if name not in NAMES:
            raise KeyError(name)
        loaded = import_module(f"planner_eval.benchmarks.{name}").BENCHMARK
        assert isinstance(loaded, Benchmark)
        return loaded

    def __contains__(self, name: object) -> bool:
        return name in NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


BENCHMARKS: Mapping[str, Benchmark] = _Benchmarks()
"""The benchmarks by name."""


def catalog_reader(name: str) -> Callable[[Any, str], Catalog] | None:
    """How a benchmark's own catalog format is read; None where no benchmark of that name has one."""
    return BENCHMARKS[name].catalog if name in BENCHMARKS else None


def benchmark(name: str) -> Benchmark:
    """The benchmark of a name.

    Raises:
        InputError: there is none; names the closest.

    >>> benchmark("appbench").title
    'AppBench'
    """
    expect(NAME, benchmark=name)
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    close = closest_name(name.lower().replace("-", ""), BENCHMARKS)
    hint = f"did you mean {close}?" if close else f"there are {', '.join(BENCHMARKS)}"
    raise InputError(f"there is no benchmark {name!r}; {hint}")
