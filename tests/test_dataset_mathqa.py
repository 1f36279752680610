"""MathQA's formulas as nested plans: the published files, and small records of our own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval import parse
from planner_eval.base.errors import CODES, DatasetError
from planner_eval.datasets.formulas import Node, compute, plan_of_steps, plan_of_tree, read_steps, read_tree
from planner_eval.datasets.mathqa import read_mathqa
from planner_eval.datasets.sample import Sample

COUNTS = {
    # records, operations, records with the commonest number of operations (3)
    "test": (2985, 14592, 638),
    "challenge_test": (604, 3273, 118),
}
FINDINGS: dict[str, dict[str, int]] = {
    "test": {
        "open_end": 2267, "shared": 571, "options_list": 66, "unknown_tool": 18, "thousands": 5, "number": 3,
        "value": 11,
    },
    "challenge_test": {
        "open_end": 230, "shared": 129, "options_list": 52, "unknown_tool": 5, "number": 1, "value": 2,
    },
}  # fmt: skip
"""Values: five divisions by zero, four negative roots, a factorial of a fraction, a number too large."""


@pytest.mark.parametrize("split", COUNTS)
def test_published_files(reference: Path, split: str) -> None:
    samples = list(read_mathqa(reference / "datasets" / "mathqa", split=split))
    sizes = [len(sample.gold) for sample in samples]
    records, operations, commonest = COUNTS[split]
    assert (
        len(samples), sum(sizes), Counter(sizes).most_common(1),
    ) == (records, operations, [(3, commonest)])  # fmt: skip
    counted = Counter(code for sample in samples for code in {*codes(sample)})  # records with one or more
    assert {name: counted[name] for name in FINDINGS[split]} == FINDINGS[split]
    assert {f"dataset.{name}" for name in counted} <= set(CODES)
    assert not counted["formula"] + counted["record"] + counted["operands"]
    assert all(sample.extra["correct"] in sample.extra["options"] for sample in samples)
    for sample in samples[::20]:
        for calls in (sample.gold, sample.extra["linear"]):
            assert not parse(calls, dialect="nestful").diagnostics


def record(**fields: str) -> dict[str, str]:
    return {
        "Problem": "a cyclist rides 12 km in 0.5 hours , then 1,500 m in 6 minutes . how fast is he ?",
        "Rationale": "he rides 24 km / h first . answer a",
        "options": "a ) 24 , b ) 13.5 , c ) 15 , d ) 20 , e ) none of these", "correct": "a",
        "annotated_formula": "divide(12, 0.5)", "linear_formula": "divide(n0,n1)|", "category": "physics",
        **fields,
    }  # fmt: skip


def read_one(folder: Path, **fields: Any) -> Sample:
    (folder / "test.json").write_text(json.dumps([record(**fields)]))
    (sample,) = read_mathqa(folder)
    return sample


def codes(sample: Sample) -> list[str]:
    return [d.code.removeprefix("dataset.") for d in sample.extra["diagnostics"]]


def test_repeated_subexpressions_stay_in_the_tree_and_are_shared_in_the_steps(tmp_path: Path) -> None:
    twice = {"annotated_formula": "multiply(add(12, const_1), add(12, const_1))"}
    sample = read_one(tmp_path, **twice, linear_formula="add(n0,const_1)|multiply(#0,#0)")
    assert [call["name"] for call in sample.gold] == ["add", "add", "multiply"]
    add, multiply = sample.extra["linear"]
    assert (add["name"], multiply["name"], codes(sample)) == ("add", "multiply", ["shared"])
    assert multiply["arguments"] == {"arg_0": "$var_1.result$", "arg_1": "$var_1.result$"}
    sample = read_one(tmp_path, annotated_formula="max_number(1,500, const_0_25, const_pi)")
    assert sample.gold[0]["arguments"] == {"arg_0": [1500, 0.25, pytest.approx(3.14159265)]}
    assert sample.extra["options"]["e"] == "none of these"


@pytest.mark.parametrize(("fields", "expected"), [
    ({}, ["open_end"]), ({"annotated_formula": "divide(12, 0.6)"}, ["open_end", "steps_differ"]),
    ({"annotated_formula": "divide(12, 0.5"}, ["formula", "open_end"]),
    ({"annotated_formula": "12"}, ["formula", "open_end"]),
    ({"annotated_formula": ""}, ["formula", "open_end"]), ({"linear_formula": "divide(#0,n1)"}, ["formula"]),
    ({"linear_formula": ""}, ["formula"]), ({"linear_formula": "divide(n0,n99999999)"}, ["steps_differ"]),
    ({"Rationale": "12 ã — 2"}, ["open_end", "mojibake"]),
    ({"options": "['a ) 1 : 2', 'b ) 3']"}, ["options_list", "open_end"]),
    ({"category": None}, ["record", "open_end"]),
    ({"annotated_formula": "add(1,500, const_2.0)", "linear_formula": "add(const_2.0,n2)"},
     ["thousands", "constant"]),
    ({"annotated_formula": "negate(1,5)", "linear_formula": "negate(n0)"}, ["steps_differ", "number"]),
    ({"annotated_formula": "speed(12)", "linear_formula": "speed(n0)"}, ["operands"]),
    ({"annotated_formula": "max_number(12, 0.5)", "linear_formula": "max_number(n1,n0)"}, ["list_argument"]),
    ({"annotated_formula": "sine(12)", "linear_formula": "sine(n0)"}, ["unknown_tool"]),
    ({"annotated_formula": "inverse(0)", "linear_formula": "inverse(0)"}, ["value"]),
    ({"annotated_formula": "power(9, 9000000)", "linear_formula": "power(9,9000000)"}, ["value"]),
    ({"annotated_formula": "factorial(12345)", "linear_formula": "factorial(12345)"}, ["value"]),
])  # fmt: skip
def test_irregularities_are_diagnostics(tmp_path: Path, fields: dict[str, Any], expected: list[str]) -> None:
    assert codes(read_one(tmp_path, **fields)) == expected


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none of test\.json"):
        list(read_mathqa(tmp_path))
    with pytest.raises(DatasetError, match="no split 'tests'"):
        list(read_mathqa(tmp_path, split="tests"))
    (tmp_path / "test.json").write_text("{}")
    with pytest.raises(DatasetError, match="expected a list"):
        list(read_mathqa(tmp_path))
    (tmp_path / "test.json").write_text("[7]")
    assert codes(next(read_mathqa(tmp_path)))[0] == "record"


@pytest.mark.parametrize(("formula", "error"), [
    ("divide(1, 0)", ZeroDivisionError), ("sqrt(negate(4))", ValueError), ("factorial(0.5)", TypeError),
    ("add(3,5, 1)", TypeError), ("sine(1)", LookupError), ("power(10, power(10, 10))", OverflowError),
    ("power(power(10, 100000), 100)", OverflowError),
])  # fmt: skip
def test_what_cannot_be_computed(formula: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        compute(read_tree(formula))
    deep = read_tree("negate(" * 20_000 + "1" + ")" * 20_000)
    assert len(plan_of_tree(deep)) == 20_000


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
    plan = parse(plan_of_tree(tree), dialect="nestful")
    assert not plan.diagnostics
    assert len(plan) == written(tree).count("(")
    assert all(edge.producer < edge.consumer for edge in plan.edges)
    used = [edge.producer for edge in plan.edges]
    assert sorted(used) == list(range(len(plan) - 1))  # a tree: every call but the last is used once


@given(st.lists(st.tuples(OPERANDS, st.integers(0, 9)), min_size=1, max_size=8))
def test_steps_refer_backwards(drawn: list[tuple[str, int]]) -> None:
    steps = [
        f"add({token},#{back % at})" if at else f"add({token},n0)" for at, (token, back) in enumerate(drawn)
    ]
    plan = plan_of_steps(read_steps("|".join(steps).replace("1,000", "7"), ["3"]))
    assert len(parse(plan, dialect="nestful").edges) == len(steps) - 1
