"""ComplexFuncBench: ComplexEval on recorded conversations, and as a simulator that answers calls.

``score_official`` gives what the published code prints, ``score_corrected`` what the paper defines,
``table3`` the paper's table of the data. To talk with a model, see :mod:`.conversation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.benchmarks.benchmark import Benchmark, Option, all_have_keys

if TYPE_CHECKING:
    from planner_eval.benchmarks.complexfuncbench.analysis import table3
    from planner_eval.benchmarks.complexfuncbench.turn import Settings
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.judging import Judge, PromptFile
    from planner_eval.benchmarks.layouts import ChartSpec
    from planner_eval.benchmarks.report import Cell, Records, Report


__all__ = ["BENCHMARK", "Settings", "score_corrected", "score_official", "table3"]

_RUNNER_OPTION = Option(
    "runner", "gpt", (), "The family of models whose published runner held the conversations.", ("official",)
)


def __getattr__(name: str) -> Any:
    """Load what needs more than the scores' entries on first use."""
    if name == "Settings":
        from planner_eval.benchmarks.complexfuncbench.turn import Settings

        return Settings
    if name == "table3":
        from planner_eval.benchmarks.complexfuncbench.analysis import table3

        return table3
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def score_official(
    records: Records, *, runner: str = _RUNNER_OPTION.default, settings: Settings | None = None
) -> Report:
    """The published figures of recorded conversations; see :func:`.official.score_official`."""
    from planner_eval.benchmarks.complexfuncbench import official, turn

    return official.score_official(records, runner=runner, settings=settings or turn.DEFAULT_SETTINGS)


def score_corrected(records: Records, *, settings: Settings | None = None) -> Report:
    """The paper's figures under the same names; see :func:`.corrected.score_corrected`."""
    from planner_eval.benchmarks.complexfuncbench import corrected, turn

    return corrected.score_corrected(records, settings=settings or turn.DEFAULT_SETTINGS)


def _score_official(records: Records, *, judge: Judge | None = None, **options: str) -> Report:
    """The judge is one of the settings here."""
    from planner_eval.benchmarks.complexfuncbench.turn import Settings

    return score_official(records, settings=Settings(judge=judge), **options)


def _score_corrected(records: Records, *, judge: Judge | None = None) -> Report:
    from planner_eval.benchmarks.complexfuncbench.turn import Settings

    return score_corrected(records, settings=Settings(judge=judge))


def _read(path: Path) -> Iterator[Sample]:
    """Of a folder or of one file."""
    from planner_eval.benchmarks.complexfuncbench.data import read_complexfuncbench

    return read_complexfuncbench(path)


def _gold_text(sample: Sample) -> str:
    from planner_eval.benchmarks.complexfuncbench.official import gold_prediction

    return gold_prediction(sample.gold)


def _paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.complexfuncbench.analysis import table3

    yield from table3(samples)


def _prompt_files() -> Mapping[str, PromptFile]:
    from planner_eval.benchmarks.complexfuncbench.turn import PROMPT_FILES

    return PROMPT_FILES


def _charts() -> Mapping[str, ChartSpec]:
    from planner_eval.benchmarks.complexfuncbench.analysis import CHARTS

    return CHARTS


BENCHMARK = Benchmark(
    name="complexfuncbench",
    title="ComplexFuncBench",
    read=_read,
    read_file=_read,
    fits=all_have_keys("role"),
    signs=("conversations",),
    score_official=_score_official,
    score_corrected=_score_corrected,
    paper=_paper_cells,
    difference="the paper counts the samples with an answer, and every annotated call once",
    options=(_RUNNER_OPTION,),
    judged=True,
    prompt_files=_prompt_files,
    gold_text=_gold_text,
    charts=_charts,
    notations=frozenset({"json"}),
    gold_beside={"conversations": "functions"},
    lower=("error *", "extra steps"),
    turned=True,
)
