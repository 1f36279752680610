"""How often intervals of 95 % hold what they promise: samples drawn where the truth is known, seeded."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from planner_eval.comparison.metrics.facts import Share
from planner_eval.results.columns import Column
from planner_eval.results.intervals import difference_interval, intervals

PERFECT = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
"""How many samples are wholly right."""

SIZES = (3, 10, 40, 100, 400)
TIMES = 1_000
"""Sets of samples that are drawn of each kind."""

SPREAD = {"even": (2, 2), "mild": (8, 2), "harsh": (1, 4)}
"""How right the other samples are: the parameters of a beta distribution."""


class Drawn(NamedTuple):
    """Sets of samples, a row each, the figure that they are drawn from, and what a sample weighs."""

    part: Any
    whole: Any
    truth: float
    weight: float = 1


def _shares(chance: Any, shape: tuple[int, int], perfect: float, kind: str) -> Drawn:
    """Means of figures; others than right ones of ``mixed`` are nearly right, and now and then all wrong."""
    good = chance.random(shape) < perfect
    if kind == "zero":
        other, mean = np.zeros(shape), 0.0
    elif kind == "mixed":
        other, mean = np.where(chance.random(shape) < 0.8, 0.9, 0.0), 0.72
    else:
        one, two = SPREAD[kind]
        other, mean = chance.beta(one, two, shape), one / (one + two)
    return Drawn(np.where(good, 1.0, other), np.ones(shape), perfect + (1 - perfect) * mean)


def _calls(chance: Any, shape: tuple[int, int], perfect: float, kind: str) -> Drawn:
    """Right calls of all, of samples of 1 to 12; under ``f1`` what is called too much counts as well."""
    whole = chance.integers(1, 13, shape)
    right = np.where(chance.random(shape) < perfect, 1.0, chance.beta(1.2, 0.8, shape))
    hits, mean = chance.binomial(whole, right), perfect + (1 - perfect) * 0.6
    if kind == "calls":
        return Drawn(hits.astype(float), whole.astype(float), mean, 6.5)
    missing = chance.binomial(whole - hits, 0.5)
    extra = chance.poisson(0.3, shape) * (right < 1)
    both = 13 - 6.5 * (1 - mean) / 2 + 0.3 * (1 - perfect)
    return Drawn(2.0 * hits, (2 * whole - missing + extra).astype(float), 13 * mean / both, both)


KINDS: dict[str, Callable[[Any, tuple[int, int], float, str], Drawn]] = {
    **dict.fromkeys(("even", "mild", "harsh", "mixed", "zero"), _shares),
    **dict.fromkeys(("calls", "f1"), _calls),
}


def drawn(kind: str, perfect: float, size: int, times: int = TIMES) -> Drawn:
    """Sets of samples of a kind, the same each time that they are asked for."""
    chance = np.random.default_rng([list(KINDS).index(kind), round(1000 * perfect), size])
    return KINDS[kind](chance, (times, size), perfect, kind)


class Held(NamedTuple):
    """How many intervals hold the truth, how wide they are, and the narrowest."""

    share: float
    width: float
    least: float


def _held(spans: Iterable[tuple[float, float]], truth: float) -> Held:
    low, high = np.array(list(spans)).T
    assert low.min() >= -1
    assert high.max() <= 1
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return Held(float(inside.mean()), float((high - low).mean()), float((high - low).min()))


def ours(kind: str, perfect: float, size: int) -> Held:
    """What the intervals of ``planeval score`` hold."""
    found = drawn(kind, perfect, size)
    return _held(map(_interval, found.part.tolist(), found.whole.tolist()), found.truth)


def _interval(part: list[float], whole: list[float]) -> tuple[float, float]:
    span = intervals({"": Column(map(Share, part, whole))})[""]
    assert span is not None
    return span.low, span.high


def bootstrap(kind: str, perfect: float, size: int, times: int = 300) -> Held:
    """What percentile bootstraps hold."""
    found, chance = drawn(kind, perfect, size, times), np.random.default_rng(size)
    return _held(
        (_middle(chance, p[:, None], w[:, None]) for p, w in zip(found.part, found.whole, strict=True)),
        found.truth,
    )


def _middle(chance: Any, part: Any, whole: Any) -> Any:
    weights = chance.multinomial(len(part), np.full(len(part), 1 / len(part)), 500)
    ratios = (weights @ part) / (weights @ whole)
    return np.quantile(ratios[:, -1] - (ratios[:, 0] if ratios.shape[1] > 1 else 0), [0.025, 0.975])


def pairs(kind: str, perfect: float, size: int, times: int = TIMES) -> tuple[Drawn, Drawn]:
    """Two systems on the same samples, the second somewhat worse, half of whose answers are the same."""
    chance = np.random.default_rng([99, list(KINDS).index(kind), round(1000 * perfect), size])
    first = drawn(kind, perfect, size, times)
    other = KINDS[kind](chance, (times, size), perfect * 0.9, kind)
    alike = chance.random((times, size)) < 0.5
    weight = (first.weight + other.weight) / 2
    truth = (first.truth * first.weight + other.truth * other.weight) / 2 / weight
    part, whole = np.where(alike, first.part, other.part), np.where(alike, first.whole, other.whole)
    return first, Drawn(part, whole, truth, weight)


def ours_of_two(kind: str, perfect: float, size: int) -> Held:
    """What the intervals of ``planeval compare`` hold, of differences on the same samples."""
    first, second = pairs(kind, perfect, size)
    sides = (one.tolist() for side in (first, second) for one in (side.part, side.whole))
    return _held(map(_difference, *sides), second.truth - first.truth)


def _difference(*sides: list[float]) -> tuple[float, float]:
    part, whole, other, total = sides
    return difference_interval(
        Column(zip(map(Share, part, whole), map(Share, other, total), strict=True)).units(), 0
    )[1:]


def bootstrap_of_two(kind: str, perfect: float, size: int, times: int = 300) -> Held:
    """What percentile bootstraps hold of a difference."""
    chance = np.random.default_rng(size)
    first, second = pairs(kind, perfect, size, times)
    sides = zip(first.part, first.whole, second.part, second.whole, strict=True)
    found = (_middle(chance, np.stack([p, q], 1), np.stack([w, v], 1)) for p, w, q, v in sides)
    return _held(found, second.truth - first.truth)


HEAD = "| samples | method |" + "".join(f" {share:g} |" for share in PERFECT)
METHODS: dict[str, Callable[[str, float, int], Held]] = {
    "percentile bootstrap": bootstrap, "`score`": ours, "percentile bootstrap, difference": bootstrap_of_two,
    "`compare`": ours_of_two,
}  # fmt: skip


def line(name: str, size: int) -> str:
    """A line of the page: of samples of each kind the fewest intervals of a method that hold the truth."""
    cells = [min(METHODS[name](kind, perfect, size).share for kind in KINDS) for perfect in PERFECT]
    return f"| {size} | {name} |" + "".join(f" {cell:.3f} |" for cell in cells)


def page() -> str:
    """The table of docs/examples/certainty.md."""
    rule = "|---|---|" + "---:|" * len(PERFECT)
    return "\n".join([HEAD, rule, *(line(name, size) for name in METHODS for size in SIZES)])
