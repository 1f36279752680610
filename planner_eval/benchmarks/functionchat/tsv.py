"""FunctionChat-Bench's report file, written and read: one line of tab-separated columns an item.

Source: repository kakao/FunctionChat-Bench at cb32af3; the paper's Figure 2 shows one line of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.functionchat.official import Judged, judge_record, without_ids
from planner_eval.benchmarks.functionchat.payload import request
from planner_eval.benchmarks.functionchat.verdicts import is_decided
from planner_eval.datasets.functionchat import FILES

if TYPE_CHECKING:
    from planner_eval.benchmarks.report import Records
    from planner_eval.llm import Judge

_MIDDLE = ("ground_truth", "acceptable_arguments", "model_output", "reasoning")
COLUMNS = {
    "singlecall": ("serial_num", "is_pass", "tools_type", *_MIDDLE, "query", "tools"),
    "dialog": ("serial_num", "is_pass", "type_of_output", *_MIDDLE, "query", "tools"),
    "calldecision": (
        *("serial_num", "is_pass", "category", "type_of_output"),
        *_MIDDLE,
        *("input_messages", "tools"),
    ),
}
"""The columns of each part's report."""


def header(subset: str) -> str:
    r"""The first line; it ends with a tab.

    >>> header("dialog").split("\t")[:3]
    ['#serial_num', 'is_pass', 'type_of_output']
    """
    return "#" + "".join(f"{name}\t" for name in COLUMNS[subset])


def row(judged: Judged) -> str:
    """The line of one item.

    An answer that went to the judge is written without the ids of its calls, as published. For an
    answer without a verdict ``is_pass`` holds the error; the published code writes no file then.
    """
    cells = _cells(judged)
    return "".join(f"{cells[name]}\t" for name in COLUMNS[judged.sample.extra["part"]]).strip()


def report(subset: str, judged: Iterable[Judged]) -> str:
    """The whole file of one part."""
    lines = [header(subset), *(row(record) for record in judged if record.sample.extra.get("part") == subset)]
    return "".join(f"{line}\n" for line in lines)


def result_file(records: Records, judge: Judge | None) -> str:
    """The report of answers as the published code writes it, a file for each part of the benchmark.

    Args:
        records: Samples of one part, each with what a model answered.
        judge: Decides what exact matching does not.

    Raises:
        InputError: there are items of several parts.
    """
    record_list = list(records)
    subsets = list(dict.fromkeys(str(sample.extra.get("part")) for sample, _ in record_list))
    if len(subsets) != 1:
        files = ", ".join(FILES[subset] for subset in subsets if subset in FILES)
        raise InputError(
            f"there are items of {' and '.join(subsets)}, and the published code writes a file for each "
            f"part: give one of {files} as the gold"
        )
    return report(subsets[0], [judge_record(sample, text, judge=judge) for sample, text in record_list])


class Reported(NamedTuple):
    """One line of a report.

    Args:
        line: Its number, counted from 1.
        id: The item, as our samples are called.
        verdict: ``"pass"``, ``"fail"``, or None where it is neither.
    """

    line: int
    id: str
    verdict: str | None


def read_report(text: str) -> Iterator[Reported]:
    r"""The items of a report with their verdicts.

    >>> list(read_report("#serial_num\tis_pass\ttools_type\t\n7\tpass\texact\t{}\n"))
    [Reported(line=2, id='singlecall-7-exact', verdict='pass')]
    """
    lines = text.split("\n")
    columns = lines[0].rstrip("\r").removeprefix("#").rstrip("\t").split("\t")
    subset = (
        "singlecall" if "tools_type" in columns else "calldecision" if "category" in columns else "dialog"
    )
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            cells = dict(zip(columns, line.split("\t"), strict=False))
            name, verdict = f"{subset}-{cells.get('serial_num')}", cells.get("is_pass")
            name += f"-{cells.get('tools_type')}" if subset == "singlecall" else ""
            yield Reported(number, name, verdict if is_decided(verdict) else None)


def _cells(judged: Judged) -> dict[str, Any]:
    request_data = request(judged.sample)
    tidy = without_ids if judged.by == "judge" else (lambda message: message)
    json_fields = {
        "ground_truth": tidy(request_data["ground_truth"]),
        "acceptable_arguments": request_data["acceptable_arguments"],
        "model_output": tidy(judged.output) if judged.output is not None else None,
        "reasoning": {"reasoning": judged.text},
        "query": request_data["messages"],
        "input_messages": request_data["messages"],
        "tools": request_data["tools"],
    }
    cells: dict[str, Any] = {
        name: json.dumps(value, ensure_ascii=False) for name, value in json_fields.items()
    }
    cells["serial_num"] = request_data["serial_num"]
    cells["is_pass"] = judged.error if judged.verdict is None else judged.verdict
    for name in ("tools_type", "type_of_output", "category"):
        cells[name] = request_data.get(name)
    return cells
