"""How sure figures are: intervals that keep their promise, exact tests; no order of records moves them."""

import json
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.comparison.metrics.facts import Counts, Share
from planner_eval.results.columns import Column
from planner_eval.results.intervals import (
    differences,
    intervals,
    proportion,
    quantile,
    sign_test,
)
from tests import certainty
from tests.build import jsonl
from tests.certainty import SIZES
from tests.conftest import ROOT, tabled
from tests.inside import planeval

PAGE = ROOT / "docs" / "examples" / "certainty.md"


def test_intervals_of_yes_or_no_hold_the_truth_exactly() -> None:
    """No simulation: the probability that the interval holds the truth, summed over all that can come out."""
    for of in (1, 3, 10, 40, 150):
        spans = [proportion(hits, of) for hits in range(of + 1)]
        for truth in (0.5, 0.7, 0.9, 0.95, 0.982, 0.99, 0.9986):
            held = sum(
                comb(of, hits) * truth**hits * (1 - truth) ** (of - hits)
                for hits, span in enumerate(spans)
                if span is not None and span.low <= truth <= span.high
            )
            assert held >= 0.95, (of, truth)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=30, max_size=30),
)
def test_figures_lie_in_their_intervals(ours: list[tuple[int, int]], theirs: list[tuple[int, int]]) -> None:
    both = [(Share(min(a), max(a)), Share(min(b), max(b))) for a, b in zip(ours, theirs, strict=False)]
    value = sum(one.part for one, _ in both), sum(one.whole for one, _ in both)
    span = intervals({"calls": Column(one for one, _ in both)})["calls"]
    assert (span is None) == (not value[1])
    if span is not None:
        assert 0 <= span.low <= value[0] / value[1] <= span.high <= 1
        assert span.low < span.high
    gap = differences({"calls": Column(both)})["calls"]
    if gap.value is not None:
        assert gap.low is not None
        assert gap.high is not None
        assert -1 <= gap.low <= gap.value <= gap.high <= 1
        assert gap.low < gap.high
        back = differences({"calls": Column((b, a) for a, b in both)})["calls"]
        assert (back.low, back.high) == (pytest.approx(-gap.high), pytest.approx(-gap.low))


def column(samples: list[list[float]], clusters: list[str] | None) -> Column:
    """Samples by their numbers, one system's or two's, each so many times."""
    filled = Column()
    for (*numbers, times), cluster in zip(samples, clusters or [None] * len(samples), strict=True):
        shares = [Share(*numbers[side : side + 2]) for side in range(0, len(numbers), 2)]
        for _ in range(int(times)):
            filled.add(shares[0] if len(shares) == 1 else tuple(shares), cluster)
    return filled


def near(numbers: list[Any] | None) -> list[Any] | None:
    """What equals these values but for the last digits of floats."""
    return numbers and [pytest.approx(x, rel=1e-9, abs=1e-13) if isinstance(x, float) else x for x in numbers]


@tabled("metric, samples, clusters, expected")
def test_intervals_of_few_samples(metric: str, samples: Any, clusters: Any, expected: Any) -> None:
    """By scipy, from the formulas of the docstrings."""
    span = intervals({metric: column(samples, clusters)})[metric]
    assert (span and [*span]) == near(expected)


@tabled("metric, samples, clusters, expected")
def test_differences_of_few_samples(metric: str, samples: Any, clusters: Any, expected: Any) -> None:
    """Value, interval, probability and test: all ways of exchanging samples counted one by one."""
    assert [*differences({metric: column(samples, clusters)})[metric]] == near(expected)


def test_quantiles_are_scipys() -> None:
    from scipy.special import betaincinv

    random = Random(1)
    for _ in range(300):
        a, b = (10 ** random.uniform(-3, 6) for _ in range(2))
        chance = random.choice((0.001, 0.025, 0.5, 0.975))
        assert quantile(chance, a, b) == pytest.approx(float(betaincinv(a, b, chance)), rel=1e-8, abs=1e-12)


def test_the_sign_test_is_exact_however_many_samples_differ() -> None:
    from scipy.stats import binomtest

    pairs = [(first, second) for first in range(0, 31, 5) for second in range(0, 31, 3) if first + second]
    large = [(0, 1_040), (480, 519), (480, 520), (560, 640), (1_000, 1_000), (4_900, 5_200), (25_000, 25_400)]
    huge = [(10, 1_000), (499_000, 501_000), (4_997_000, 5_003_000)]
    for first, second in [*pairs, *large, *huge]:
        exact = pytest.approx(binomtest(first, first + second).pvalue, rel=1e-11, abs=1e-300)
        assert sign_test(first, second) == exact, (first, second)
        assert sign_test(second, first) == exact
    assert sign_test(0, 0) == 1
    assert sign_test(0, 1_000) == pytest.approx(2.0**-999, rel=1e-11, abs=0)


@pytest.mark.parametrize("number", range(6))
def test_the_permutation_test_is_scipys_exact_one(number: int) -> None:
    from scipy.stats import permutation_test

    random = Random(number)
    columns = [[Counts(random.randint(0, 2), 2, random.randint(2, 4)) for _ in range(9)] for _ in range(2)]
    columns[1] = [Counts(c.hit if random.random() < number / 6 else 2, 2, c.gold) for c in columns[1]]
    packed = [np.array([2 * c.hit * 64 + c.pred + c.gold for c in column]) for column in columns]

    def gap(ours: np.ndarray, theirs: np.ndarray) -> float:
        return float((theirs // 64).sum() / (theirs % 64).sum() - (ours // 64).sum() / (ours % 64).sum())

    p = permutation_test(packed, gap, permutation_type="samples", vectorized=False, n_resamples=np.inf).pvalue
    found = differences({"x": Column(zip(*columns, strict=True))})["x"]
    assert found.p == pytest.approx(p)
    assert found.test.startswith("permutation all")


def test_other_figures_and_the_order_of_samples_change_no_probability() -> None:
    random = Random(8)
    pairs = [(Share(random.random(), 1), Share(random.random(), 1)) for _ in range(80)]
    one = differences({"x": Column(pairs)})["x"]
    assert one.test == "permutation 10000 seed 0"
    random.shuffle(pairs)
    both = differences({"more": Column(pairs[:30]), "x": Column(pairs)})
    assert both["x"] == one
    assert differences({"x": Column(pairs)}, seed=1)["x"].p != one.p


def talks(folder: Path, count: int = 40, talks: int = 8) -> tuple[list[str], str]:
    """Two systems' answers and gold, of conversations in which a system is right or wrong as a whole."""
    random = Random(3)
    wrong = [{talk for talk in range(talks) if random.random() < share} for share in (0.3, 0.5)]
    gold = [
        {"id": f"q{n}", "talk": f"t{n % talks}", "level": n % 2, "gold": f"f(#x='{n}')\ng(#y='{n}', #z='1')"}
        for n in range(count)
    ]
    names = []
    for name, bad in zip("ab", wrong, strict=True):
        said = [n if n % talks not in bad else "no" for n in range(count)]
        texts = [f"f(#x='{n}')\ng(#y='{said[n]}', #z='{n % 3}')" for n in range(count)]
        rows = [{"id": f"q{n}", "prediction": text} for n, text in enumerate(texts)]
        names.append(jsonl(folder / f"{name}.jsonl", rows))
    return names, jsonl(folder / "gold.jsonl", gold)


def test_clusters_are_what_is_drawn_by_chance(tmp_path: Path) -> None:
    """Each of 8 conversations is right or wrong as a whole: the interval is that of 8 answers, not of 40."""
    (first, _), gold = talks(tmp_path)
    argv = ("score", first, gold, "--metric", "whole_calls", "--metric", "exact", "--format", "json")
    alone, over = (json.loads(planeval(*argv, *more).stdout) for more in ((), ("--cluster", "talk")))
    assert over["signature"].endswith("intervals=95 % over 8 clusters of talk")
    for name, one in over["figures"].items():
        other = alone["figures"][name]
        assert one["value"] == other["value"]
        if one["interval"]:
            wide, narrow = one["interval"], other["interval"]
            assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    systems, gold = talks(tmp_path, count=8)  # clusters of one sample each
    argv = ("compare", *systems, "--gold", gold, "--format", "json")
    alone, over = (json.loads(planeval(*argv, *more).stdout) for more in ((), ("--cluster", "talk")))
    assert alone["figures"] == over["figures"]


def test_one_cluster_says_nothing_of_others(tmp_path: Path) -> None:
    systems, gold = talks(tmp_path, talks=1)
    done = planeval("score", systems[0], gold, "--cluster", "talk", "--metric", "exact")
    assert "intervals=none: 1 cluster of talk allows none" in done.stdout
    argv = ("compare", *systems, "--gold", gold, "--cluster", "talk")
    data = json.loads(planeval(*argv, "--format", "json").stdout)
    assert "intervals=none: 1 cluster of talk" in data["signature"]
    assert {(one["low"], one["p"]) for one in data["figures"].values()} == {(None, None)}
    done = planeval(*argv, "--fail-if-worse", "exact:0.9")
    assert (done.returncode, "interval: all samples are in one cluster" in done.stderr) == (1, True)


@pytest.mark.long
def test_the_whole_page_is_what_is_found(request: pytest.FixtureRequest) -> None:
    text, found = PAGE.read_text(encoding="utf-8"), certainty.page()
    start = text.index(certainty.HEAD)
    end = text.index("\n\n", start)
    if request.config.getoption("--update-cases"):
        PAGE.write_text(text[:start] + found + text[end:], encoding="utf-8")
        return
    assert text[start:end] == found
    for line in found.splitlines()[2:]:
        size, name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if name in ("`score`", "`compare`") and int(size) >= 3:
            assert min(map(float, cells)) >= 0.93, line
    assert len(found.splitlines()) == 2 + 4 * len(SIZES)
