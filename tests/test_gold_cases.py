"""Minimal cases of what is no fault of gold and of what is: a record or a few, and what is found there."""

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from tests.conftest import tabled
from tests.inside import planeval


def tool(name: str, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": "", "parameters": schema}


def call(tool_name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": tool_name, "arguments": arguments}


def record(question: Any, *calls: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "q", "question": question, "gold": list(calls), **fields}


TEXT = {"type": "string"}


@tabled("records, found")
def test_what_is_found_in_a_minimal_case(records: Any, found: list[str]) -> None:
    records = records if isinstance(records, list) else [records]
    reading = pe.Reading(text_field="gold" if "gold" in records[0] else None)
    check = pe.check_dataset(records, confidence="low", select=["gold"], reading=reading)
    assert {f"{doubt.found.code} {doubt.found.confidence}" for doubt in check.doubts} == set(found)
    of_tools = [doubt for doubt in check.doubts if doubt.found.code.startswith("gold.tool_")]
    assert len(of_tools) == len({doubt.found.message for doubt in of_tools})


def test_what_would_mend_gold_is_a_patch_with_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    records = [
        record(
            "Call `cleanupStageHook` now", call("run", hook="cleanupStageHok"), tools=[tool("run", hook=TEXT)]
        ),
        record("Book it for Kim", call("book", guets="Kim"), tools=[tool("book", ("guest",), guest=TEXT)]),
        record("It is in order", call("run", hook="order"), tools=[tool("run", hook=TEXT)]),
    ]
    rows = [{**row, "id": str(number)} for number, row in enumerate(records)]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert planeval("data", "check", "gold.jsonl", "--fix", "fixes.jsonl").returncode == 1
    patches = [json.loads(line) for line in Path("fixes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [patch["id"] for patch in patches] == ["0", "1"]
    assert all("[gold." in operation["why"] for patch in patches for operation in patch["operations"])
    applied = [pe.apply(patch, pe.parse(row["gold"])) for row, patch in zip(rows, patches, strict=False)]
    found = [dict(plan.calls[0].arguments) for plan in applied]
    assert found == [{"hook": "cleanupStageHook"}, {"guest": "Kim"}]
