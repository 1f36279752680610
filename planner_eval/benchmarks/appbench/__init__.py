"""AppBench: plans across apps and APIs, in the line format ``App: [outputs = api(#key='value')]``.

Source: "AppBench: Planning of Multiple APIs from Various APPs for Complex User Instruction"
(the paper), repository ruleGreen/AppBench at 81539ee (its code and data).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.benchmark import Benchmark, Details, Table, as_json, has_keys
from planner_eval.benchmarks.compare import part_reports, part_rows, records_by_part

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Scorer
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.layouts import ChartSpec
    from planner_eval.benchmarks.report import Cell, Records, Report, Run
    from planner_eval.benchmarks.score import Scored
    from planner_eval.plan.model import Plan


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_FIRST_STEP = "first_step_apps"
"""The field of an answer's record that holds the apps which a separate first step chose."""
_SCALE_ROWS = ("Max. Seq.", "Max. Para.", "Avg. Seq.", "Avg. Para.")


def score_official(records: Records) -> Report:
    """Every figure that AppBench's code prints; see :func:`.official.score_official`."""
    from planner_eval.benchmarks.appbench import official

    return official.score_official(records)


def score_corrected(records: Records) -> Report:
    """AppBench's figures as the paper defines them; see :func:`.corrected.score_corrected`."""
    from planner_eval.benchmarks.appbench import corrected

    return corrected.score_corrected(records)


def _read(folder: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.appbench.data import read_appbench

    return read_appbench(folder)


def _read_file(path: Path) -> Iterator[Sample]:
    from planner_eval.benchmarks.appbench.data import read_appbench

    name_match = re.fullmatch(r"test_(\w+)\.json", path.name)
    if not name_match:
        raise DatasetError(f"{path}: AppBench's files are called test_ss.json, test_sm.json …")
    return read_appbench(path.parent, part=name_match[1])


def _answer_text(content: Any) -> str:
    from planner_eval.reading.dialects.notations.appbench import decided_text, first_step_text

    if isinstance(content, dict) and _FIRST_STEP in content:
        return first_step_text(content["text"], content[_FIRST_STEP])
    if isinstance(content, dict) and "decided_api" in content:
        return decided_text(content)
    return as_json(content)


def _gold_text(sample: Sample) -> str:
    apps, lines = sample.gold["used_app"], sample.gold["api_results"]
    last = apps[-1] if apps else ""
    pairs = zip_longest(apps[: len(lines)], lines, fillvalue=last)
    return "\n".join(f"{app}: [{line}]" for app, line in pairs)


def _gold_of(sample: Sample, plan: Plan) -> Any:
    from planner_eval.benchmarks.appbench.reading import gold_of

    return gold_of(sample, plan)


def _paper_cells(samples: Sequence[Sample]) -> Iterator[Cell]:
    """Table 2, its scales a second time with components as the published code finds them, and Table 8."""
    from planner_eval.benchmarks.appbench.official import table8
    from planner_eval.benchmarks.appbench.tables import table2

    yield from table2(samples)
    for cell in table2(samples, official=True):
        if cell.row in _SCALE_ROWS:
            yield replace(cell, table="Table 2, components as the published code finds them")
    yield from table8(samples)


def _detail_tables(scored: Scored, run: Run | None) -> Details:
    """The figures of each part, Table 4, Figure 4, and the APIs of Table 8 in answers."""
    from planner_eval.benchmarks.appbench.corrected import outcomes
    from planner_eval.benchmarks.appbench.official import used_apis
    from planner_eval.benchmarks.appbench.tables import figure4, table4

    yield Table("By part", part_rows(part_reports(scored, run)))
    errors: list[dict[str, Any]] = []
    for category, records in records_by_part(scored).items():
        for cell in table4(outcomes(records), category.upper()):
            row = {"part": category.upper(), "error": cell.column, "percent": cell.value, "of": cell.n}
            errors.append(row | {"GPT-4o's, as printed": cell.published, "note": cell.note})
    yield Table("Table 4: errors in percent", errors)
    grid = figure4(outcomes(scored.matched.records))
    rows = [
        {"parallel": c.parallel, "sequential": c.sequential, "samples": c.n, "exact match": c.value}
        | {"in the figure": "yes" if c.shown else "no: fewer than ten"}
        for c in grid
    ]
    yield Table("Figure 4: exact match of arguments by scale", rows)
    yield Table("Table 8: APIs called, by app", used_apis(scored.matched.records))


def _find_scorer(variant: str, _options: Mapping[str, Any]) -> Scorer:
    if variant == "official":
        from planner_eval.benchmarks.appbench import official

        return official.SCORER
    from planner_eval.benchmarks.appbench import corrected

    return corrected.SCORER


def _charts() -> Mapping[str, ChartSpec]:
    from planner_eval.benchmarks.appbench.tables import CHARTS

    return CHARTS


BENCHMARK = Benchmark(
    name="appbench",
    apart=_find_scorer,
    title="AppBench",
    read=_read,
    read_file=_read_file,
    fits=has_keys("api_results"),
    signs=("api_results",),
    score_official=score_official,
    score_corrected=score_corrected,
    paper=_paper_cells,
    difference="the published code counts one right name a sample; the paper counts all",
    details=_detail_tables,
    charts=_charts,
    gold_text=_gold_text,
    gold_of=_gold_of,
    notations=frozenset({"appbench"}),
    gold_beside={"output": ""},
    answer_text=_answer_text,
    lower=("analysis.*",),
    answer_beside=(_FIRST_STEP,),
)
