"""NESTful: nested sequences of API calls, each labelled, later ones using the results of earlier ones.

Source: "NESTful: A Benchmark for Evaluating LLMs on Nested Sequences of API Calls" (the paper),
repository IBM/NESTFUL (its code and data).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.benchmark import Benchmark, Details, Option, all_have_keys

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Scorer
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.layouts import ChartSpec
    from planner_eval.benchmarks.report import Cell, Records, Report, Run
    from planner_eval.benchmarks.score import Scored
    from planner_eval.execution.nestful import NestfulRunner
    from planner_eval.plan.model import Plan


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_MODEL_OPTION = Option(
    "model",
    "granite-3.1-8b-instruct",
    (),
    "The model name by which the published scorer chooses one of its 16 answer formats.",
)


def score_official(records: Records, *, model: str = _MODEL_OPTION.default, run: Run | None = None) -> Report:
    """Every figure that NESTful's scorer prints; see :func:`.official.score_official`."""
    from planner_eval.benchmarks.nestful import official

    return official.score_official(records, model=model, run=run)


def score_corrected(
    records: Records, *, model: str = _MODEL_OPTION.default, run: Run | None = None
) -> Report:
    """NESTful's figures as the paper defines them; see :func:`.corrected.score_corrected`."""
    from planner_eval.benchmarks.nestful import corrected

    return corrected.score_corrected(records, model=model, run=run)


def _read(folder: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.nestful.data import read_nestful

    return read_nestful(folder)


def _read_file(path: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.nestful.data import VERSION_1_FILES, read_nestful

    for subset, name in VERSION_1_FILES.items():
        if path.name == f"{name.rpartition('/')[2]}-data.json":
            return read_nestful(path.parent.parent, part=subset)
    return read_nestful(path)


def _gold_of(sample: Sample, plan: Plan) -> Any:
    from planner_eval.benchmarks.nestful.reading import gold_of

    return gold_of(sample, plan)


def _paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.nestful.tables import paper_cells

    return paper_cells(samples)


def _detail_tables(scored: Scored, run: Run | None) -> Details:
    from planner_eval.benchmarks.nestful.tables import tables

    return tables(scored, run)


def _runner(tools: Any, *, level: str | None = None) -> NestfulRunner:
    from planner_eval.execution.nestful import NestfulRunner

    return NestfulRunner(tools, level=level)


def _find_scorer(variant: str, options: Mapping[str, Any]) -> Scorer:
    if variant == "official":
        from planner_eval.benchmarks.nestful import official

        return official.scorer(**options)
    from planner_eval.benchmarks.nestful import corrected

    return corrected.scorer(**options)


def _charts() -> Mapping[str, ChartSpec]:
    from planner_eval.benchmarks.nestful.tables import CHARTS

    return CHARTS


BENCHMARK = Benchmark(
    name="nestful",
    apart=_find_scorer,
    title="NESTful",
    read=_read,
    read_file=_read_file,
    fits=all_have_keys("name", "arguments"),
    signs=("gold_answer", "var_result"),
    score_official=score_official,
    score_corrected=score_corrected,
    paper=_paper_cells,
    difference="the paper compares plans; the published code compares texts of calls",
    options=(_MODEL_OPTION,),
    runner=_runner,
    details=_detail_tables,
    charts=_charts,
    gold_of=_gold_of,
    gold_beside={"output": ""},
    lower=("num_errors_*", "num_pred_examples_w_parsing_errors"),
)
