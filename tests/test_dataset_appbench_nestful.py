"""The readers of AppBench's and NESTful's data: on files of our own, and on the released ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import CODES, DatasetError
from planner_eval.datasets.appbench import read_appbench
from planner_eval.datasets.nestful import decode_answer, read_nestful
from planner_eval.datasets.sample import Sample

LINE = "shop, class = findshop(#name='Tom's #1')"


def appbench_record(*lines: str, **changed: Any) -> dict[str, Any]:
    output = {
        "used_app": ["Shops"] * len(lines),
        "used_api": [{"findshop": {"name": "Tom's #1"}}] * len(lines),
        "result_arguments": [["shop", "class"]] * len(lines),
        "api_results": list(lines),
        "middle_arguments": [],
        "user_aware_arguments": {},
        **changed,
    }
    return {"input": "Find Tom's.", "output": output}


def codes(samples: list[Sample]) -> Counter[str]:
    return Counter(found.code for sample in samples for found in sample.extra["diagnostics"])


def write(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


# ---------------------------------------------------------------- AppBench
def test_appbench_records_become_samples(tmp_path: Path) -> None:
    write(tmp_path / "test_mm.json", [appbench_record(LINE)])
    write(tmp_path / "test_ss.json", [appbench_record(LINE), appbench_record(LINE, LINE)])
    samples = list(read_appbench(tmp_path))
    assert [(sample.id, sample.category) for sample in samples] == [
        ("ss-0", "ss"),
        ("ss-1", "ss"),
        ("mm-0", "mm"),
    ]
    assert samples[0].query == "Find Tom's."
    assert samples[0].gold["api_results"] == [LINE]
    assert [sample.id for sample in read_appbench(tmp_path, part="mm")] == ["mm-0"]
    found = codes(samples)
    assert found["dataset.repeated_query"] == found["dataset.repeated_call"] == 1
    assert found["dataset.text"] == 8


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (appbench_record(LINE, used_app=["Shops", "Shops"]), "dataset.length"),
        (appbench_record(LINE, used_api=[{"find": {"name": "Tom's #1"}}]), "dataset.mismatch"),
        (appbench_record(LINE, used_api=[{"findshop": {"name": "Tom's"}}]), "dataset.mismatch"),
        (appbench_record(LINE, used_api=[{"findshop": {}}]), "dataset.mismatch"),
        (appbench_record(LINE, result_arguments=[["shop"]]), "dataset.mismatch"),
        (appbench_record("a = f(#x=later)", "later = g(#y='1')"), "reference.forward"),
        (appbench_record("a = f(#x='1')", "b = g(#y=a)", "a = f(#x='2')"), "dataset.shared_output"),
        (appbench_record("a = f(#x=2)"), "argument.bare_number"),
        (appbench_record("no call at all"), "dataset.record"),
        (appbench_record(LINE, api_results=None), "dataset.record"),
        ({"input": None, "output": 5}, "dataset.record"),
        ([], "dataset.record"),
    ],
)
def test_irregular_appbench_records_are_kept_and_reported(tmp_path: Path, record: Any, code: str) -> None:
    write(tmp_path / "test_ss.json", [record])
    samples = list(read_appbench(tmp_path))
    assert len(samples) == 1
    assert code in codes(samples)


def test_a_name_that_data_flow_tells_apart_is_not_irregular(tmp_path: Path) -> None:
    chain = appbench_record("a = f(#x='1')", "a, b = g(#y=a)", "a = h(#z=a)")
    write(tmp_path / "test_ss.json", [chain])
    assert "dataset.shared_output" not in codes(list(read_appbench(tmp_path)))


def test_appbench_files_that_are_none_are_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none of test_ss\.json"):
        list(read_appbench(tmp_path))
    with pytest.raises(DatasetError, match="no part 'xx'"):
        list(read_appbench(tmp_path, part="xx"))
    write(tmp_path / "test_ss.json", {})
    with pytest.raises(DatasetError, match="expected a list of records, found a dict"):
        list(read_appbench(tmp_path))


def test_the_released_appbench_files(reference: Path) -> None:
    samples = list(read_appbench(reference / "datasets" / "appbench"))
    assert Counter(sample.category for sample in samples) == {"ss": 200, "sm": 200, "ms": 201, "mm": 200}
    parts = {part: codes([s for s in samples if s.category == part]) for part in ("ss", "sm", "ms", "mm")}
    assert parts["ss"]["dataset.unknown_output"] == 58
    assert parts["ss"]["dataset.repeated_query"] == 2
    assert [parts[part]["reference.ambiguous"] for part in ("sm", "ms", "mm")] == [176, 1, 114]
    assert parts["mm"]["reference.forward"] == 12
    assert parts["mm"]["reference.self"] == 5
    assert parts["mm"]["argument.bare_number"] == parts["mm"]["dataset.length"] == 1
    assert parts["mm"]["check.unknown_argument"] == 132
    assert parts["mm"]["check.missing_argument"] == 78
    mismatched = {s.id for s in samples if "dataset.mismatch" in codes([s])}
    assert mismatched == {"mm-4", "mm-16", "mm-51", "mm-190"}
    repeated = [s.id for s in samples if "dataset.repeated_call" in codes([s])]
    assert repeated == ["sm-85", "sm-179", "sm-187", "mm-10", "mm-36", "mm-173"]
    quoted = [s.category for s in samples for d in s.extra["diagnostics"] if 'holds "\'"' in d.message]
    assert Counter(quoted) == {"ss": 3, "sm": 1, "ms": 10, "mm": 3}
    assert {code for code in codes(samples) if not code.startswith("check.")} <= set(CODES)


# ---------------------------------------------------------------- NESTful
CALLS = [
    {"name": "add", "label": "$var_1", "arguments": {"arg_0": 2, "arg_1": 3}},
    {"name": "floor", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$"}},
]
SPECS = [
    {"name": "add", "parameters": {"arg_0": {}, "arg_1": {}}, "output_parameters": {"result": {}}},
    {"name": "floor", "parameters": {"arg_0": {}}, "output_parameters": {"result": {}}},
]


def nestful_record(**changed: Any) -> dict[str, Any]:
    return {"sample_id": "a", "input": "2 + 3?", "output": CALLS, "tools": SPECS, "gold_answer": 5, **changed}


def test_nestful_records_are_read_as_data_and_as_text(tmp_path: Path) -> None:
    encoded = {
        key: json.dumps(value) for key, value in nestful_record().items() if key not in ("sample_id", "input")
    }
    path = tmp_path / "nestful_data.jsonl"
    path.write_text(
        "\n".join(json.dumps(r) for r in (nestful_record(), nestful_record(**encoded), {})) + "\n"
    )
    plain, text, empty = read_nestful(tmp_path)
    assert plain.gold == text.gold == CALLS
    assert plain.tools == text.tools == SPECS
    assert plain.extra["gold_answer"] == text.extra["gold_answer"] == 5
    assert (plain.id, text.id, empty.id) == ("a", "a#2", "2")
    assert plain.category == "math"
    assert text.extra["gold_answer_text"] == "5"
    assert "gold_answer_text" not in plain.extra
    assert codes([plain]) == {}
    assert codes([text]) == {"dataset.encoded": 2, "dataset.repeated_id": 1}
    assert codes([empty])["dataset.record"] >= 2
    assert next(read_nestful(path)) == plain


def test_nestful_result_files_keep_what_the_model_said(tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", [nestful_record(generated_text="[]")])
    assert next(read_nestful(path)).extra["generated_text"] == "[]"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (
            {"tools": [{"name": "add", "parameters": {}, "output_parameter": {"result": {}}}]},
            "dataset.layout",
        ),
        ({"tools": [*SPECS, SPECS[0]]}, "dataset.repeated_spec"),
        ({"tools": SPECS[:1]}, "check.unknown_tool"),
        ({"output": "not JSON"}, "dataset.record"),
        ({"output": json.dumps(CALLS), "gold_answer": "True"}, "dataset.answer"),
        ({"output": [{"name": "add", "arguments": {"arg_0": "$5-$9"}}]}, "dataset.dollar"),
        ({"output": [{"name": "add", "arguments": {"arg_0": "5 * $var1.x$"}}]}, "dataset.embedded_reference"),
        ({"output": [CALLS[0], {**CALLS[1], "label": "$var_1"}]}, "label.duplicate"),
        ({"output": [CALLS[1]]}, "reference.unresolved"),
        (
            {"output": [{**CALLS[0]}, {**CALLS[1], "arguments": {"arg_0": "var_1.result$"}}]},
            "reference.malformed",
        ),
    ],
)
def test_irregular_nestful_records_are_kept_and_reported(tmp_path: Path, changed: Any, code: str) -> None:
    path = write(tmp_path / "data.json", [nestful_record(**changed)])
    samples = list(read_nestful(path))
    assert len(samples) == 1
    assert code in codes(samples)


def test_nestful_version_1_parts(tmp_path: Path) -> None:
    calls = [
        {"name": "add", "label": "var1", "arguments": {"arg_0": 2}},
        {"name": "var_result", "arguments": {}},
    ]
    for name, count in (("executable/executable", 2), ("non-executable/non-executable-sgd", 1)):
        write(tmp_path / "data" / f"{name}-data.json", [{"input": "?", "output": calls}] * count)
        write(tmp_path / "data" / f"{name}-spec.json", SPECS)
    samples = list(read_nestful(tmp_path))
    assert [sample.id for sample in samples] == ["executable-0", "executable-1", "sgd-0"]
    assert samples[0].tools == SPECS
    assert [sample.id for sample in read_nestful(tmp_path, part="sgd")] == ["sgd-0"]


def test_nestful_files_that_are_none_are_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none of executable/executable-data\.json"):
        list(read_nestful(tmp_path))
    with pytest.raises(DatasetError, match="no part 'v3'"):
        list(read_nestful(tmp_path, part="v3"))
    with pytest.raises(DatasetError, match="expected a list of records"):
        list(read_nestful(write(tmp_path / "data.json", {})))
    with pytest.raises(DatasetError, match="tool"):  # said when it is checked, not when it is scored
        codes(read_nestful(write(tmp_path / "data.json", [nestful_record(tools=5)])))


@pytest.mark.parametrize(
    ("text", "value", "is_json"),
    [
        ("150.0", 150.0, True),
        ("True", True, False),
        ("['a', ('b', 1)]", ["a", ["b", 1]], False),
        ("002", "002", False),
        ("abc", "abc", False),
        ("{1, 2}", "{1, 2}", False),
        ("(" * 5_000, "(" * 5_000, False),
        ("__import__('os')", "__import__('os')", False),
    ],
)
def test_gold_answers_in_other_notations(text: str, value: Any, is_json: bool) -> None:
    assert decode_answer(text) == (value, is_json)


def test_the_released_nestful_files(reference: Path) -> None:
    folder = reference / "datasets" / "nestful"
    first = list(read_nestful(folder))
    assert Counter(s.category for s in first) == {"executable": 85, "glaive": 169, "sgd": 46}
    parts = {
        part: codes([s for s in first if s.category == part]) for part in ("executable", "glaive", "sgd")
    }
    assert [found["check.unknown_argument"] for found in parts.values()] == [34, 15, 2]
    assert [found["check.missing_argument"] for found in parts.values()] == [1, 21, 8]
    assert [found["label.duplicate"] for found in parts.values()] == [0, 2, 2]
    assert [found["reference.unresolved"] for found in parts.values()] == [0, 4, 2]
    assert [found["dataset.repeated_spec"] for found in parts.values()] == [0, 5, 0]
    assert parts["glaive"]["check.unknown_tool"] == 11
    assert parts["glaive"]["dataset.dollar"] == 3
    assert parts["executable"]["reference.malformed"] == 1

    original = list(read_nestful(folder / "v2" / "split_original_last360.json"))
    assert len(original) == 360
    assert codes(original)["dataset.answer"] == 48
    assert codes(original)["dataset.encoded"] == 720

    collected = list(read_nestful(folder / "v2" / "nestful_v2_collected.jsonl"))
    assert Counter(s.category for s in collected) == {"math": 411, "coding": 143}
    assert sum(len(s.gold) for s in collected) == 2_500
    answers = {s.id: s.extra["gold_answer"] for s in collected}
    assert all(s.extra["gold_answer"] == answers[s.id] for s in original)
    found = codes([*first, *original, *collected])
    assert {code for code in found if not code.startswith("check.")} <= set(CODES)
