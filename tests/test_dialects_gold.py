"""The benchmarks' gold plans: read, written back, read again, with exactly the notes they deserve."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.dialects.read import parse, write
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan


def appbench(reference: Path, part: str) -> list[Plan]:
    records = json.loads((reference / f"datasets/appbench/test_{part}.json").read_text(encoding="utf-8"))
    return [parse(record["output"], dialect="appbench") for record in records]


def nestful_v1(reference: Path) -> list[Plan]:
    folder = reference / "datasets/nestful/v1"
    files = sorted(f for f in folder.rglob("*-data.json"))
    return [
        parse(record["output"], dialect="nestful")
        for file in files
        for record in json.loads(file.read_text(encoding="utf-8"))
    ]


def nestful_v2(reference: Path) -> list[Plan]:
    file = reference / "datasets/nestful/v2/nestful_v2_collected.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    return [parse(json.loads(line)["output"], dialect="nestful") for line in lines]


def codes(plans: list[Plan]) -> dict[str, int]:
    return dict(Counter(note.code for plan in plans for note in plan.diagnostics))


def round_trips(plans: list[Plan], dialect: str) -> None:
    for plan in plans:
        back = parse(write(plan, dialect), dialect=dialect)
        assert same(plan, back), plan
        assert codes([plan]) == codes([back]), plan


@pytest.mark.parametrize(("part", "count", "expected"), [
    ("ss", 200, {}),
    ("sm", 200, {"reference.ambiguous": 176}),
    ("ms", 201, {"reference.ambiguous": 1}),
    ("mm", 200,
        {"reference.forward": 12, "reference.self": 5, "argument.bare_number": 1,
            "reference.ambiguous": 114}),
])  # fmt: skip
def test_appbench(reference: Path, part: str, count: int, expected: dict[str, int]) -> None:
    plans = appbench(reference, part)
    assert len(plans) == count
    found = codes(plans)
    found.pop("plan.cycle", None)
    assert found == expected
    if part != "mm":  # a bare number is written in quotes, and forward references name later calls
        round_trips(plans, "appbench")
    else:
        for plan in plans:
            assert same(plan, parse(write(plan, "appbench"), dialect="appbench"))


def test_appbench_calls_in_all(reference: Path) -> None:
    assert sum(len(plan) for part in ("ss", "sm", "ms", "mm") for plan in appbench(reference, part)) == 1922


def test_nestful_v1(reference: Path) -> None:
    plans = nestful_v1(reference)
    assert len(plans) == 300
    found = codes(plans)
    assert found.pop("reference.unresolved") == 6
    duplicates = [p for p in plans if any(n.code == "label.duplicate" for n in p.diagnostics)]
    assert len(duplicates) == 4
    assert found.pop("label.duplicate") == 4
    assert found.pop("reference.malformed") == 1
    assert found.keys() <= {"reference.ambiguous", "shape.ignored"}
    for plan in plans:
        assert same(plan, parse(write(plan, "nestful"), dialect="nestful"))


def test_nestful_v2(reference: Path) -> None:
    plans = nestful_v2(reference)
    assert len(plans) == 554
    assert codes(plans) == {}
    round_trips(plans, "nestful")


OWN: list[tuple[str, Any]] = [
    ("appbench", "Hotels: [h, p = find(#city='St. John's', #n='2')]\nTaxi: [ride(#to=h)]"),
    ("nestful", [{"name": "a", "label": "v1", "arguments": {}},
                 {"name": "b", "arguments": {"x": "$v1.y[2]$"}}]),
    ("plan", [{"id": "q", "name": "a", "arguments": {"x": {"$template": ["<", {"$ref": "q2"}]}}},
              {"id": "q2", "name": "b", "arguments": {}}]),
    ("json", [{"name": "a", "arguments": {"x": [1, {"y": None}]}}]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "source"), OWN)
def test_own_plans_round_trip(dialect: str, source: Any) -> None:
    round_trips([parse(source, dialect=dialect)], dialect)


@pytest.mark.parametrize("content", ["I cannot do that.", [{"type": "text", "text": "I cannot do that."}]])
def test_a_message_of_words_is_no_gold_though_it_lists_no_calls(content: Any) -> None:
    dumped = {"type": "ai", "content": content, "additional_kwargs": {}, "tool_calls": []}
    with pytest.raises(AssertionError, match="holds no call: a gold plan without calls is written"):
        pe.assert_same([], dumped)


@pytest.mark.parametrize("content", ["", None, " ", "[]", []])
def test_a_message_without_words_that_lists_no_calls_is_gold_of_none(content: Any) -> None:
    pe.assert_same([], {"type": "ai", "content": content, "additional_kwargs": {}, "tool_calls": []})
