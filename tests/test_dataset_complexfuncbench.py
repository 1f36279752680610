"""ComplexFuncBench's records, its table, and the figures that have no published code."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import CODES, DatasetError
from planner_eval.base.resources import folder
from planner_eval.benchmarks.complexfuncbench import table3
from planner_eval.datasets.complexfuncbench import read_complexfuncbench
from planner_eval.datasets.sample import Sample


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return list(read_complexfuncbench(folder("data") / "samples" / "complexfuncbench"))


def test_reader_survives_what_records_may_lack(tmp_path: Path) -> None:
    lines: list[Any] = [
        7,
        {"id": "Cross-1"},
        {"id": "Cross-1", "conversations": [], "functions": []},
        {
            "id": "Cross-2",
            "conversations": ["x", {"role": "assistant", "function_call": [{"name": 1}, 2]}],
            "functions": [3],
        },
    ]
    path = tmp_path / "ComplexFuncBench.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = list(read_complexfuncbench(tmp_path))
    assert [sample.id for sample in found] == ["line 1", "Cross-1", "Cross-1", "Cross-2"]
    codes = {d.code for sample in found for d in sample.extra["diagnostics"]}
    assert (
        {"dataset.record", "dataset.repeated_id", "dataset.length", "dataset.no_answer"}
        <= codes
        <= set(CODES)
    )
    path.write_text("{")
    with pytest.raises(DatasetError, match="line 1"):
        list(read_complexfuncbench(path))
    with pytest.raises(DatasetError, match="no such file"):
        list(read_complexfuncbench(tmp_path / "none"))


def test_reader_finds_what_gold_has_wrong(samples: list[Sample], tmp_path: Path) -> None:
    record = {"id": "Hotels-9", "conversations": deepcopy(samples[0].gold), "functions": samples[0].tools}
    first = record["conversations"][1]["function_call"][0]
    first["arguments"] = {"place": "Turku"}
    record["conversations"][3]["function_call"][0]["arguments"]["dest_id"] = -2004
    record["conversations"][5]["function_call"][0]["name"] = "Find_Hotels"
    (tmp_path / "x.jsonl").write_text(json.dumps(record))
    (sample,) = read_complexfuncbench(tmp_path / "x.jsonl")
    assert [d.code for d in sample.extra["diagnostics"]] == [
        "dataset.missing_argument",
        "dataset.unknown_argument",
        "dataset.type",
        "dataset.unknown_tool",
    ]


def test_table3_counts_what_is_at_hand(samples: list[Sample]) -> None:
    cells = {(cell.row, cell.column): cell for cell in table3(samples)}
    total = cells["Avg. Calls", "Total"]
    assert (total.published, total.n, total.of) == ("5.07", 6, 1000)
    assert total.value == pytest.approx(26 / 6)
    assert cells["Avg. Steps", "Hotels"].value == 4
    assert cells["# Samples", "Total"].note == "6 of 1000 samples at hand"
    assert all(cell.value is None for cell in table3([]))
