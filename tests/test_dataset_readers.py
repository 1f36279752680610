"""The readers of AppBench's, NESTful's and MathQA's data: on files of our own, and on the released ones."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.appbench.data import read_appbench
from planner_eval.benchmarks.datasets.mathqa import (
    Node,
    compute,
    plan_of_steps,
    read_mathqa,
    read_steps,
    read_tree,
    steps_of,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.nestful.data import decode_answer, read_nestful
from planner_eval.reading.parse import parse
from tests.conftest import tabled, tables

TABLES = tables(__file__)

LINE = "shop, class = findshop(#name='Tom's #1')"


def appbench_record(*lines: str, **changed: Any) -> dict[str, Any]:
    many = {
        "used_app": "Shops", "used_api": {"findshop": {"name": "Tom's #1"}},
        "result_arguments": ["shop", "class"],
    }  # fmt: skip
    output = {key: [value] * len(lines) for key, value in many.items()}
    output |= {"api_results": list(lines), "middle_arguments": [], "user_aware_arguments": {}}
    return {"input": "Find Tom's.", "output": output | changed}


def codes(samples: list[Sample]) -> Counter[str]:
    return Counter(found.code for sample in samples for found in sample.extra["diagnostics"])


def write(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def test_appbench_records_become_samples(tmp_path: Path) -> None:
    write(tmp_path / "test_mm.json", [appbench_record(LINE)])
    write(tmp_path / "test_ss.json", [appbench_record(LINE), appbench_record(LINE, LINE)])
    samples = list(read_appbench(tmp_path))
    assert [(one.id, one.category) for one in samples] == [("ss-0", "ss"), ("ss-1", "ss"), ("mm-0", "mm")]
    assert (samples[0].query, samples[0].gold["api_results"]) == ("Find Tom's.", [LINE])
    assert [sample.id for sample in read_appbench(tmp_path, part="mm")] == ["mm-0"]
    found = codes(samples)
    assert [found[f"dataset.{name}"] for name in ("repeated_query", "repeated_call", "text")] == [1, 1, 8]
    chain = appbench_record("a = f(#x='1')", "a, b = g(#y=a)", "a = h(#z=a)")
    write(tmp_path / "test_ss.json", [chain])  # a name that data flow tells apart
    assert "dataset.shared_output" not in codes(list(read_appbench(tmp_path, part="ss")))


@pytest.mark.parametrize(("record", "code"), [
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
    ({"input": None, "output": 5}, "dataset.record"), ([], "dataset.record"),
])  # fmt: skip
def test_irregular_appbench_records_are_kept_and_reported(tmp_path: Path, record: Any, code: str) -> None:
    write(tmp_path / "test_ss.json", [record])
    (sample,) = read_appbench(tmp_path)
    assert code in codes([sample])


def test_files_that_are_none_are_said_to_be(tmp_path: Path) -> None:
    reader: Any
    for reader, part, said in (
        (read_appbench, None, r"no file named test_ss\.json"), (read_appbench, "xx", "no part 'xx'"),
        (read_nestful, None, r"no file named executable/executable-data\.json"),
        (read_nestful, "v3", "no part 'v3'"),
    ):  # fmt: skip
        with pytest.raises(DatasetError, match=said):
            list(reader(tmp_path, part=part))
    write(tmp_path / "test_ss.json", {})
    with pytest.raises(DatasetError, match="expected a list of records, found a dict"):
        list(read_appbench(tmp_path))
    with pytest.raises(DatasetError, match="expected a list of records"):
        list(read_nestful(write(tmp_path / "data.json", {})))
    with pytest.raises(DatasetError, match="tool"):  # said when it is checked, not when it is scored
        codes(read_nestful(write(tmp_path / "data.json", [nestful_record(tools=5)])))


MIXED = {
    "reference.forward": 12, "reference.self": 5, "argument.bare_number": 1, "dataset.length": 1,
    "check.unknown_argument": 132, "check.missing_argument": 78,
}  # fmt: skip


def test_the_released_appbench_files(reference: Path) -> None:
    samples = list(read_appbench(reference / "datasets" / "appbench"))
    parts = {name: [s for s in samples if s.category == name] for name in ("ss", "sm", "ms", "mm")}
    found = {name: codes(part) for name, part in parts.items()}
    assert [len(part) for part in parts.values()] == [200, 200, 201, 200]
    assert [found["ss"][f"dataset.{name}"] for name in ("unknown_output", "repeated_query")] == [58, 2]
    assert [found[part]["reference.ambiguous"] for part in ("sm", "ms", "mm")] == [176, 1, 114]
    assert {code: found["mm"][code] for code in MIXED} == MIXED
    told = {
        code: [s.id for s in samples if code in codes([s])]
        for code in ("dataset.mismatch", "dataset.repeated_call")
    }
    assert [*told.values()] == [
        ["mm-4", "mm-16", "mm-51", "mm-190"], ["sm-85", "sm-179", "sm-187", "mm-10", "mm-36", "mm-173"],
    ]  # fmt: skip
    quoted = [s.category for s in samples for d in s.extra["diagnostics"] if 'holds "\'"' in d.message]
    assert Counter(quoted) == {"ss": 3, "sm": 1, "ms": 10, "mm": 3}
    assert {code for code in codes(samples) if not code.startswith("check.")} <= set(code_meanings())


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
    record = nestful_record(generated_text="[]")
    encoded = {key: json.dumps(record[key]) for key in ("output", "tools", "gold_answer")}
    path = tmp_path / "nestful_data.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in (record, record | encoded, {})))
    plain, text, empty = read_nestful(tmp_path)
    for one in (plain, text):
        assert (one.gold, one.tools, one.extra["gold_answer"]) == (CALLS, SPECS, 5)
    assert (plain.id, text.id, empty.id, plain.category) == ("a", "a#2", "2", "math")
    assert text.extra["gold_answer_text"] == "5"
    assert ("gold_answer_text" in plain.extra, plain.extra["generated_text"]) == (False, "[]")
    assert (codes([plain]), codes([text])) == ({}, {"dataset.encoded": 2, "dataset.repeated_id": 1})
    assert codes([empty])["dataset.record"] >= 2
    assert next(read_nestful(path)) == plain


@tabled("changed, code")
def test_irregular_nestful_records_are_kept_and_reported(tmp_path: Path, changed: Any, code: str) -> None:
    (sample,) = read_nestful(write(tmp_path / "data.json", [nestful_record(**changed)]))
    assert code in codes([sample])


def test_nestful_version_1_parts(tmp_path: Path) -> None:
    calls = [
        {"name": "add", "label": "var1", "arguments": {"arg_0": 2}}, {"name": "var_result", "arguments": {}},
    ]  # fmt: skip
    for name, count in (("executable/executable", 2), ("non-executable/non-executable-sgd", 1)):
        write(tmp_path / "data" / f"{name}-data.json", [{"input": "?", "output": calls}] * count)
        write(tmp_path / "data" / f"{name}-spec.json", SPECS)
    samples = list(read_nestful(tmp_path))
    assert [sample.id for sample in samples] == ["executable-0", "executable-1", "sgd-0"]
    assert samples[0].tools == SPECS
    assert [sample.id for sample in read_nestful(tmp_path, part="sgd")] == ["sgd-0"]


@pytest.mark.parametrize(("text", "value", "is_json"), [
    ("150.0", 150.0, True), ("True", True, False), ("['a', ('b', 1)]", ["a", ["b", 1]], False),
    ("002", "002", False), ("abc", "abc", False), ("{1, 2}", "{1, 2}", False),
    ("(" * 5_000, "(" * 5_000, False), ("__import__('os')", "__import__('os')", False),
])  # fmt: skip
def test_gold_answers_in_other_notations(text: str, value: Any, is_json: bool) -> None:
    assert decode_answer(text) == (value, is_json)


FIRST = TABLES["FIRST"]


def test_the_released_nestful_files(reference: Path) -> None:
    folder = reference / "datasets" / "nestful"
    first = list(read_nestful(folder))
    parts = [[s for s in first if s.category == part] for part in ("executable", "glaive", "sgd")]
    assert [len(part) for part in parts] == [85, 169, 46]
    assert {code: [codes(part)[code] for part in parts] for code in FIRST} == FIRST
    original = list(read_nestful(folder / "v2" / "split_original_last360.json"))
    found = codes(original)
    assert (len(original), found["dataset.answer"], found["dataset.encoded"]) == (360, 48, 720)
    collected = list(read_nestful(folder / "v2" / "nestful_v2_collected.jsonl"))
    assert Counter(s.category for s in collected) == {"math": 411, "coding": 143}
    assert sum(len(s.gold) for s in collected) == 2_500
    answers = {s.id: s.extra["gold_answer"] for s in collected}
    assert all(s.extra["gold_answer"] == answers[s.id] for s in original)
    every = codes([*first, *original, *collected])
    assert {code for code in every if not code.startswith("check.")} <= set(code_meanings())


@pytest.mark.parametrize(("split", "size"), [("test", (2985, 14592)), ("challenge_test", (604, 3273))])
def test_published_files(reference: Path, split: str, size: tuple[int, int]) -> None:
    samples = list(read_mathqa(reference / "datasets" / "mathqa", split=split))
    assert (len(samples), sum(len(sample.gold) for sample in samples)) == size
    assert {f"dataset.{code}" for sample in samples for code in told(sample)} <= set(code_meanings())


def problem(**fields: str) -> dict[str, str]:
    return {
        "Problem": "a cyclist rides 12 km in 0.5 hours , then 1,500 m in 6 minutes . how fast is he ?",
        "Rationale": "he rides 24 km / h first . answer a",
        "options": "a ) 24 , b ) 13.5 , c ) 15 , d ) 20 , e ) none of these", "correct": "a",
        "annotated_formula": "divide(12, 0.5)", "linear_formula": "divide(n0,n1)|", "category": "physics",
        **fields,
    }  # fmt: skip


def read_one(folder: Path, **fields: Any) -> Sample:
    (folder / "test.json").write_text(json.dumps([problem(**fields)]))
    (sample,) = read_mathqa(folder)
    return sample


def told(sample: Sample) -> list[str]:
    return [d.code.removeprefix("dataset.") for d in sample.extra["diagnostics"]]


def test_repeated_subexpressions_stay_in_the_tree_and_are_shared_in_the_steps(tmp_path: Path) -> None:
    twice = {"annotated_formula": "multiply(add(12, const_1), add(12, const_1))"}
    sample = read_one(tmp_path, **twice, linear_formula="add(n0,const_1)|multiply(#0,#0)")
    assert [call["name"] for call in sample.gold] == ["add", "add", "multiply"]
    add, multiply = sample.extra["linear"]
    assert (add["name"], multiply["name"], told(sample)) == ("add", "multiply", ["shared"])
    assert multiply["arguments"] == {"arg_0": "$var_1.result$", "arg_1": "$var_1.result$"}
    sample = read_one(tmp_path, annotated_formula="max_number(1,500, const_0_25, const_pi)")
    assert sample.gold[0]["arguments"] == {"arg_0": [1500, 0.25, pytest.approx(3.14159265)]}
    assert sample.extra["options"]["e"] == "none of these"


@tabled("fields, expected")
def test_irregularities_are_diagnostics(tmp_path: Path, fields: dict[str, Any], expected: list[str]) -> None:
    assert told(read_one(tmp_path, **fields)) == expected


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no file named test\.json"):
        list(read_mathqa(tmp_path))
    with pytest.raises(DatasetError, match="no part 'tests'"):
        list(read_mathqa(tmp_path, split="tests"))
    (tmp_path / "test.json").write_text("{}")
    with pytest.raises(DatasetError, match="expected a list"):
        list(read_mathqa(tmp_path))
    (tmp_path / "test.json").write_text("[7]")
    assert told(next(read_mathqa(tmp_path)))[0] == "record"


@pytest.mark.parametrize(("formula", "error"), [
    ("divide(1, 0)", ZeroDivisionError), ("sqrt(negate(4))", ValueError), ("factorial(0.5)", TypeError),
    ("add(3,5, 1)", TypeError), ("sine(1)", LookupError), ("power(10, power(10, 10))", OverflowError),
    ("power(power(10, 100000), 100)", OverflowError),
])  # fmt: skip
def test_what_cannot_be_computed(formula: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        compute(steps_of(read_tree(formula)))
    deep = read_tree("negate(" * 20_000 + "1" + ")" * 20_000)
    assert len(plan_of_steps(steps_of(deep))) == 20_000


OPERANDS = st.sampled_from(["5", "31.1", "const_100", "1,000"])
TREES = st.recursive(
    st.tuples(st.just("sqrt"), OPERANDS),
    lambda inner: st.tuples(st.sampled_from(["add", "divide"]), inner | OPERANDS, inner | OPERANDS),
    max_leaves=12,
)


def written(node: Node | str) -> str:
    return node if isinstance(node, str) else f"{node[0]}({', '.join(map(written, node[1:]))})"


@given(TREES)
def test_tree_comes_back_and_every_call_follows_its_operands(tree: Node) -> None:
    assert read_tree(written(tree)) == tree
    plan = parse(plan_of_steps(steps_of(tree)), dialect="nestful")
    assert not plan.diagnostics
    assert len(plan) == written(tree).count("(")
    assert all(edge.producer < edge.consumer for edge in plan.edges)
    used = [edge.producer for edge in plan.edges]
    assert sorted(used) == list(range(len(plan) - 1))  # a tree: every call but the last is used once


@given(st.lists(st.tuples(OPERANDS, st.integers(0, 9)), min_size=1, max_size=8))
def test_steps_refer_backwards(drawn: list[tuple[str, int]]) -> None:
    steps = [f"add({t},#{back % at})" if at else f"add({t},n0)" for at, (t, back) in enumerate(drawn)]
    plan = plan_of_steps(read_steps("|".join(steps).replace("1,000", "7"), ["3"]))
    assert len(parse(plan, dialect="nestful").edges) == len(steps) - 1
