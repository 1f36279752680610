"""Every benchmark answers the same calls, whatever its package looks like inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.registry import BENCHMARKS, VARIANTS, benchmark
from planner_eval.benchmarks.replay import gold_text
from planner_eval.datasets.published import published
from tests.conftest import ROOT


def test_every_data_set_that_names_a_benchmark_names_one_that_there_is() -> None:
    named = {dataset.benchmark for dataset in published().values() if dataset.benchmark}
    assert named == set(BENCHMARKS)


@pytest.mark.parametrize("name", list(BENCHMARKS))
@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_scored_is_a_report_and_not_an_error(name: str, variant: str) -> None:
    report = benchmark(name).score(variant, [])
    assert (report.benchmark, report.variant, report.n, report.rows) == (name, variant, 0, ())


def test_own_conversations_score_through_the_registry() -> None:
    one = benchmark("complexfuncbench")
    samples = list(one.read(ROOT / "data" / "samples" / "complexfuncbench"))
    records = [(sample, str(gold_text(one.name, sample))) for sample in samples]
    for report in (one.official(records, runner="qwen"), one.corrected(records, runner="qwen")):
        assert [row.id for row in report.rows] == [sample.id for sample in samples]
        assert report.n == len(samples) > 0
    cells = {(cell.row, cell.column): cell for cell in one.tables(samples)}
    assert cells["# Samples", "Total"].value == len(samples)


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_gold_is_read_and_scored_through_the_registry(name: str, reference: Path) -> None:
    folder = reference / "datasets" / name
    if name == "complexfuncbench":
        folder = ROOT / "data" / "samples" / name  # its data is published elsewhere
    one = benchmark(name)
    samples = list(one.read(folder))[:20]
    records = [(s, text) for s in samples if (text := gold_text(name, s)) is not None]
    for variant in VARIANTS:
        report = one.score(variant, records)
        assert report.n == len(report.rows) == len(records) > 0
        perfect = sum(row.ok for row in report.rows)
        # The published AppBench code finds faults in gold itself; the corrected figures do not.
        assert perfect == len(records) or ((name, variant) == ("appbench", "official") and perfect > 0)


def test_wrong_names_and_options_are_told() -> None:
    with pytest.raises(InputError, match="did you mean callnavi"):
        benchmark("CallNavy")
    with pytest.raises(InputError, match="there are appbench"):
        benchmark("zzz")
    with pytest.raises(InputError, match="has no option 'task'; it has model"):
        benchmark("nestful").official([], task="routing")
    with pytest.raises(InputError, match="one of parameters, routing, stability, not 'all'"):
        benchmark("callnavi").official([], task="all")
    with pytest.raises(InputError, match="there is no variant 'best'"):
        benchmark("appbench").score("best", [])
    with pytest.raises(InputError, match="no runner 'x'"):
        benchmark("complexfuncbench").official([], runner="x")
