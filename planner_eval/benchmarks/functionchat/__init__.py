"""FunctionChat-Bench: calls and conversational answers in Korean tool-use dialogs.

Source: paper "FunctionChat-Bench: Comprehensive Evaluation of Language Models' Generative Capabilities in
Korean Tool-use Dialogs"; data and code: repository kakao/FunctionChat-Bench at cb32af3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.benchmark import Benchmark, Details, Table, as_json, has_keys

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Scorer
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.judging import Judge, PromptFile
    from planner_eval.benchmarks.layouts import ChartSpec
    from planner_eval.benchmarks.report import Cell, Records, Report, Run
    from planner_eval.benchmarks.score import Scored
    from planner_eval.plan.model import Plan


__all__ = ["BENCHMARK", "score_corrected", "score_official"]


def score_official(records: Records, *, judge: Judge | None = None) -> Report:
    """The figures as the published code computes them; see :func:`.official.score_official`."""
    from planner_eval.benchmarks.functionchat import official

    return official.score_official(records, judge=judge)


def score_corrected(records: Records, *, judge: Judge | None = None) -> Report:
    """The paper's figures under the same names; see :func:`.corrected.score_corrected`."""
    from planner_eval.benchmarks.functionchat import corrected

    return corrected.score_corrected(records, judge=judge)


def _read(folder: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.functionchat.data import read_functionchat

    return read_functionchat(folder)


def _read_file(path: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.functionchat.data import FILES, read_functionchat

    subsets = [subset for subset, name in FILES.items() if name == path.name]
    if not subsets:
        raise DatasetError(f"{path}: FunctionChat-Bench's files are called {', '.join(FILES.values())}")
    return read_functionchat(path.parent, part=subsets[0])


def _fits(gold: Any) -> bool:
    return has_keys("name", "arguments")(gold) or has_keys("role")(gold)


def _gold_text(sample: Sample) -> str | None:
    if sample.extra["type_of_output"] != "call":
        return None
    gold: Mapping[str, Any] = sample.gold
    if "tool_calls" not in gold:
        call = {"id": "random_id", "type": "function", "function": gold}
        gold = {"role": "assistant", "content": None, "tool_calls": [call]}
    return as_json(gold)


def _gold_of(sample: Sample, plan: Plan) -> Any:
    from planner_eval.benchmarks.functionchat.reading import gold_of

    return gold_of(sample, plan)


def _paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    from planner_eval.benchmarks.functionchat.tables import table1, table2

    yield from table1(samples)
    yield from table2(samples)


def _prompt_files() -> Mapping[str, PromptFile]:
    from planner_eval.benchmarks.functionchat.data import PROMPT_FILES

    return PROMPT_FILES


def _result_file(records: Records, judge: Judge | None) -> str:
    from planner_eval.benchmarks.functionchat.official import result_file

    return result_file(records, judge)


def _detail_tables(scored: Scored, _run: Run | None) -> Details:
    from planner_eval.benchmarks.functionchat.rules import error_rows

    yield Table("why items do not pass, by the right kind of turn (section 6.2)", error_rows(scored))


def _find_scorer(variant: str, options: Mapping[str, Any]) -> Scorer:
    if variant == "official":
        from planner_eval.benchmarks.functionchat import official

        return official.scorer(**options)
    from planner_eval.benchmarks.functionchat import corrected

    return corrected.scorer(**options)


def _charts() -> Mapping[str, ChartSpec]:
    from planner_eval.benchmarks.functionchat.tables import CHARTS

    return CHARTS


BENCHMARK = Benchmark(
    name="functionchat",
    apart=_find_scorer,
    title="FunctionChat-Bench",
    read=_read,
    read_file=_read_file,
    fits=_fits,
    signs=("function_num", "dialog_num", "input_messages"),
    score_official=score_official,
    score_corrected=score_corrected,
    paper=_paper_cells,
    difference="the paper's criteria decide every item, without the published shortcuts",
    judged=True,
    prompt_files=_prompt_files,
    details=_detail_tables,
    charts=_charts,
    result_file=_result_file,
    gold_text=_gold_text,
    gold_of=_gold_of,
    notations=frozenset({"json"}),
    nothing="null",
    lower=("* undecided",),
    turned=True,
)
