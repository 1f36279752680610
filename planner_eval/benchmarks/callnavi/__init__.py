"""CallNavi: choosing APIs from a long list, in order, and filling in their parameters.

Source: paper "CallNavi: A Study and Challenge on Function Calling Routing and Invocation in Large
Language Models"; data and code: repository Etamin/CallNavi at 520e280.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.benchmark import Benchmark, Details, Option, as_json, has_keys

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Scorer
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.judging import Judge, PromptFile
    from planner_eval.benchmarks.layouts import ChartSpec
    from planner_eval.benchmarks.report import Cell, Records, Report, Run
    from planner_eval.benchmarks.score import Scored
    from planner_eval.plan.model import Plan


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_OPTIONS = (
    Option("task", "parameters", ("parameters", "routing", "stability"), "What the answers were asked for."),
    Option("notation", "json", ("json", "yaml"), "How the answers were asked to be written."),
)


def score_official(
    records: Records, *, task: str = "parameters", notation: str = "json", judge: Judge | None = None
) -> Report:
    """The figures that the published code prints; see :func:`.official.score_official`."""
    from planner_eval.benchmarks.callnavi import official

    return official.score_official(records, task=task, notation=notation, judge=judge)


def score_corrected(
    records: Records, *, task: str = "parameters", notation: str = "json", judge: Judge | None = None
) -> Report:
    """The paper's figures under the same names; see :func:`.corrected.score_corrected`."""
    from planner_eval.benchmarks.callnavi import corrected

    return corrected.score_corrected(records, task=task, notation=notation, judge=judge)


def _read(folder: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.callnavi.data import read_callnavi

    return read_callnavi(folder)


def _read_file(path: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.callnavi.data import DOMAINS, read_callnavi

    if path.parent.name != "Questions" or path.stem not in DOMAINS:
        raise DatasetError(
            f"{path}: CallNavi's files are called Questions/bank.json, Questions/shopping.json …"
        )
    return (sample for sample in read_callnavi(path.parent.parent) if sample.category == path.stem)


def _answer_text(content: Any) -> str:
    # Its scorer turns apostrophes into quotes and deletes fences in texts; an object was washed before.
    return as_json(content).replace("'", "\\u0027").replace("`", "\\u0060")


def _gold_of(sample: Sample, plan: Plan) -> Any:
    from planner_eval.benchmarks.callnavi.reading import gold_of

    return gold_of(sample, plan)


def _paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.callnavi.tables import table1, table2

    yield from table1(samples)
    yield from table2(samples)


def _detail_tables(scored: Scored, run: Run | None) -> Details:
    from planner_eval.benchmarks.callnavi.tables import tables

    return tables(scored)


def _has_repeats(options: Mapping[str, str]) -> bool:
    return options.get("task") == "stability"


def _prompt_files() -> Mapping[str, PromptFile]:
    from planner_eval.benchmarks.callnavi.data import PROMPT_FILES

    return PROMPT_FILES


def _find_scorer(variant: str, options: Mapping[str, Any]) -> Scorer | None:
    if _has_repeats(options):
        return None
    if variant == "official":
        from planner_eval.benchmarks.callnavi import official

        return official.scorer(**options)
    from planner_eval.benchmarks.callnavi import corrected

    return corrected.scorer(**options)


def _charts() -> Mapping[str, ChartSpec]:
    from planner_eval.benchmarks.callnavi.tables import CHARTS

    return CHARTS


BENCHMARK = Benchmark(
    name="callnavi",
    apart=_find_scorer,
    title="CallNavi",
    read=_read,
    read_file=_read_file,
    fits=has_keys("API"),
    signs=("API",),
    score_official=score_official,
    score_corrected=score_corrected,
    paper=_paper_cells,
    difference="the paper takes an answer as written, and added parameters are wrong",
    options=_OPTIONS,
    judged=True,
    prompt_files=_prompt_files,
    details=_detail_tables,
    charts=_charts,
    gold_of=_gold_of,
    notations=frozenset({"json", "callnavi", "callnavi-yaml"}),
    answer_text=_answer_text,
    several=_has_repeats,
)
