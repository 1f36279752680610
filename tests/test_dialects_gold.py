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


def codes(plans: list[Plan]) -> dict[str, int]:
    return dict(Counter(note.code for plan in plans for note in plan.diagnostics))


OWN: list[tuple[str, Any]] = [
    ("appbench", "Hotels: [h, p = find(#city='St. John's', #n='2')]\nTaxi: [ride(#to=h)]"),
    ("nestful", [{"name": "a", "label": "v1", "arguments": {}},
                 {"name": "b", "arguments": {"x": "$v1.y[2]$"}}]),
    ("plan", [{"id": "q", "name": "a", "arguments": {"x": {"$template": ["<", {"$ref": "q2"}]}}},
              {"id": "q2", "name": "b", "arguments": {}}]),
    ("json", [{"name": "a", "arguments": {"x": [1, {"y": None}]}}]),
]  # fmt: skip


def gold(reference: Path) -> dict[str, list[Plan]]:
    """The plans of AppBench by part, and of NESTful by version."""
    folder = reference / "datasets"
    found = {}
    for part in ("ss", "sm", "ms", "mm"):
        records = json.loads((folder / f"appbench/test_{part}.json").read_text(encoding="utf-8"))
        found[part] = [parse(record["output"], dialect="appbench") for record in records]
    files = sorted((folder / "nestful/v1").rglob("*-data.json"))
    outputs = [record["output"] for file in files for record in json.loads(file.read_text(encoding="utf-8"))]
    found["v1"] = [parse(output, dialect="nestful") for output in outputs]
    lines = (folder / "nestful/v2/nestful_v2_collected.jsonl").read_text(encoding="utf-8").splitlines()
    found["v2"] = [parse(json.loads(line)["output"], dialect="nestful") for line in lines]
    return found


NOTES = {
    "ss": (200, {}), "sm": (200, {"reference.ambiguous": 176}), "ms": (201, {"reference.ambiguous": 1}),
    "mm": (200, {"reference.forward": 12, "reference.self": 5, "argument.bare_number": 1,
                 "reference.ambiguous": 114}),
    "v1": (300, {"reference.unresolved": 6, "label.duplicate": 4, "reference.malformed": 1}), "v2": (554, {}),
}  # fmt: skip


def test_gold_plans_come_back_with_the_notes_that_they_deserve(reference: Path) -> None:
    plans = gold(reference)
    assert sum(len(plan) for part in ("ss", "sm", "ms", "mm") for plan in plans[part]) == 1922
    for part, (count, notes) in NOTES.items():
        dialect = "nestful" if part.startswith("v") else "appbench"
        free = {"plan.cycle", *(("reference.ambiguous", "shape.ignored") if part == "v1" else ())}
        found = {code: number for code, number in codes(plans[part]).items() if code not in free}
        assert (len(plans[part]), found) == (count, notes), part
        for plan in plans[part]:
            back = parse(write(plan, dialect), dialect=dialect)
            assert same(plan, back), plan
            # a bare number is written in quotes, and forward references name later calls
            assert part in ("mm", "v1") or codes([plan]) == codes([back]), plan


@pytest.mark.parametrize(("dialect", "source"), OWN)
def test_own_plans_round_trip(dialect: str, source: Any) -> None:
    plan = parse(source, dialect=dialect)
    back = parse(write(plan, dialect), dialect=dialect)
    assert same(plan, back)
    assert codes([plan]) == codes([back])


def test_a_message_that_lists_no_calls_is_gold_of_none_where_it_has_no_words() -> None:
    dumped = {"type": "ai", "additional_kwargs": {}, "tool_calls": []}
    for content in ("", None, " ", "[]", []):
        pe.assert_same([], {**dumped, "content": content})
    for words in ("I cannot do that.", [{"type": "text", "text": "I cannot do that."}]):
        with pytest.raises(AssertionError, match="holds no call: a gold plan without calls is written"):
            pe.assert_same([], {**dumped, "content": words})
