"""Timing that holds on a noisy machine: interleaved runs, medians, ratios pair by pair."""

import gc
import math
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any


def seconds(work: Callable[[], object], runs: int = 5) -> float:
    """The median time of some work after one warm-up run, in seconds."""
    work()
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ratio(ours: Callable[[], object], other: Callable[[], object], runs: int = 5) -> tuple[float, ...]:
    """Median seconds of both, run in turn, and the median of the ratios other / ours."""

    def once(work: Callable[[], object]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    ours(), other()
    pairs = [(once(ours), once(other)) for _ in range(runs)]
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second), statistics.median(b / a for a, b in pairs)


def process_ratio(ours: Sequence[str], other: Sequence[str], runs: int = 15) -> tuple[float, ...]:
    """Whole-process seconds of two commands, run in turn, and the median of the ratios ours / other.

    Both run from compiled bytecode, as an installed package does: the first runs, not counted, write it.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    how: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    mine, theirs = (partial(subprocess.run, command, **how) for command in (ours, other))
    second, first, factor = ratio(theirs, mine, runs)
    return first, second, factor


def growth(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The exponent of growth: the slope of log(time) over log(size) by least squares."""
    xs, ys = [math.log(s) for s in sizes], [math.log(t) for t in times]
    mx, my = statistics.mean(xs), statistics.mean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((x - mx) ** 2 for x in xs)


def processor_seconds(command: Sequence[str]) -> float:
    """The processor time of a whole process and of those that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
