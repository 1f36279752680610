"""The Berkeley Function Calling Leaderboard, version 4: calls in one turn and in several.

Source: paper "The Berkeley Function Calling Leaderboard (BFCL): From Tool Use to Agentic Evaluation of Large
Language Models"; data and code: package bfcl-eval 2026.3.23, of repository ShishirPatil/gorilla.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.benchmark import Benchmark, Details, Explanation, Option

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Scorer
    from planner_eval.benchmarks.asking import Asking
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.report import Cell, Records, Report, Run
    from planner_eval.benchmarks.score import Scored
    from planner_eval.reading.files.files import PlanFile


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_OPTIONS = (
    Option(
        "mode", "auto", ("auto", "calls", "prompt"), "How answers were asked for: as function calls or text."
    ),
    Option("names", "auto", ("auto", "underscores", "dots"), "How a dot in a tool's name is written."),
)
_NOTHING = '{"unanswered": []}'


def score_official(records: Records, *, mode: str = "auto", names: str = "auto") -> Report:
    """The scores that the published code writes; see :func:`.official.score_official`."""
    from planner_eval.benchmarks.bfcl import official

    return official.score_official(records, mode=mode, names=names)


def score_corrected(records: Records, *, mode: str = "auto", names: str = "auto") -> Report:
    """The scores as paper and documentation mean them; see :func:`.corrected.score_corrected`."""
    from planner_eval.benchmarks.bfcl import corrected

    return corrected.score_corrected(records, mode=mode, names=names)


def _read(folder: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.bfcl.data import read_bfcl

    return read_bfcl(folder)


def _read_file(path: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.bfcl.data import CATEGORIES, VERSION, question_file, read_category

    names = [name for name in CATEGORIES if question_file(path.parent, name) == path]
    if not names:
        raise DatasetError(f"{path}: BFCL's files are called {VERSION}_simple_python.json and the like")
    return (sample for name in names for sample in read_category(path.parent, name))


def _fits(gold: Any) -> bool:
    from planner_eval.benchmarks.bfcl.data import is_gold

    return is_gold(gold)


def _read_results(path: str) -> PlanFile | None:
    from planner_eval.benchmarks.bfcl.reading import read_results

    return read_results(path)


def _read_asked(folder: Path, ids: Collection[str]) -> Iterator[Sample]:
    from planner_eval.benchmarks.bfcl.data import read_answered

    return read_answered(folder, ids)


def _answer_text(content: Any) -> str:
    from planner_eval.benchmarks.bfcl.reading import answer_text

    return answer_text(content)


def _answer_texts(contents: Sequence[Any], modes: Sequence[Any]) -> list[str]:
    from planner_eval.benchmarks.bfcl.reading import answer_texts

    return answer_texts(contents, modes)


def _asking() -> Asking:
    from planner_eval.benchmarks.bfcl.dialog import ASKING

    return ASKING


def _gold_text(sample: Sample) -> str | None:
    from planner_eval.benchmarks.bfcl.gold import gold_text

    return gold_text(sample)


def _paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.bfcl.tables import paper_cells

    return paper_cells(samples)


def _detail_tables(scored: Scored, _run: Run | None) -> Details:
    from planner_eval.benchmarks.bfcl.tables import detail_tables

    return detail_tables(scored)


def _explain(records: Records, *, mode: str = "auto", names: str = "auto") -> Iterator[Explanation]:
    from planner_eval.benchmarks.bfcl.page import explain_answers

    return explain_answers(records, mode=mode, names=names)


def _find_scorer(variant: str, options: Mapping[str, Any]) -> Scorer:
    if variant == "official":
        from planner_eval.benchmarks.bfcl import official

        return official.scorer(**options)
    from planner_eval.benchmarks.bfcl import corrected

    return corrected.scorer(**options)


BENCHMARK = Benchmark(
    name="bfcl",
    apart=_find_scorer,
    title="BFCL",
    read=_read,
    read_file=_read_file,
    fits=_fits,
    signs=("ground_truth",),
    score_official=score_official,
    score_corrected=score_corrected,
    paper=_paper_cells,
    difference="its documentation decides where the code does otherwise; --details says where",
    options=_OPTIONS,
    details=_detail_tables,
    explain=_explain,
    gold_text=_gold_text,
    nothing=_NOTHING,
    gold_beside={"ground_truth": "", "possible_answer": ""},
    answer_text=_answer_text,
    read_results=_read_results,
    answer_texts=_answer_texts,
    read_asked=_read_asked,
    asking=_asking,
    result_files="BFCL_v4_*_result.json*",
    pipelines=("function-calling", "prompt"),
    sampling={"temperature": 0.001},
    turned=True,
)
