"""Answers as models and providers give them: with a thought before the plan, in a provider's message."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.inside import planeval

SAMPLES = ROOT / "data" / "samples"


def figures(name: str, change: Callable[[Any], Any], tmp_path: Path) -> dict[str, str]:
    """The corrected figures of the bundled answers, each changed."""
    field = "output" if name == "functionchat" else "prediction"
    lines = (SAMPLES / "answers" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    answers = tmp_path / "answers.jsonl"
    changed = [{"id": record["id"], field: change(record[field])} for record in records]
    answers.write_text("".join(json.dumps(one) + "\n" for one in changed), encoding="utf-8")
    given = (str(answers), str(SAMPLES / name), "--benchmark", name, "--corrected", "--format", "csv")
    done = planeval("score", *given)
    assert done.returncode == 0, done.stderr
    return {row["figure"]: row["corrected"] for row in csv.DictReader(io.StringIO(done.stdout))}


DRAFTS = {
    "appbench": "Trams: [a = stops(#place='Nowhere')]",
    "callnavi": '{"API": ["draft"], "parameters": [{}]}',
}


@pytest.mark.parametrize("opened", ["<think>\n", ""])
@pytest.mark.parametrize("name", DRAFTS)
def test_a_thought_is_no_plan(name: str, opened: str, tmp_path: Path) -> None:
    thought = figures(name, lambda text: f"{opened}Perhaps\n{DRAFTS[name]}\n</think>\n{text}", tmp_path)
    bare = figures(name, lambda text: f"My answer:\n{text}", tmp_path)
    assert thought == bare
    assert float(bare["ast_overall" if name == "callnavi" else "argu_hit_f1"]) > 0.6


def _call(message: dict[str, Any]) -> tuple[str, str]:
    function = message["tool_calls"][0]["function"]
    return function["name"], function["arguments"]


def anthropic(message: dict[str, Any]) -> Any:
    if not message.get("tool_calls"):
        return {"role": "assistant", "content": [{"type": "text", "text": message["content"]}]}
    name, arguments = _call(message)
    used = {"type": "tool_use", "id": "t1", "name": name, "input": json.loads(arguments)}
    return {"role": "assistant", "content": [{"type": "text", "text": "Gladly."}, used]}


def legacy(message: dict[str, Any]) -> Any:
    if not message.get("tool_calls"):
        return message
    return {"content": None, "function_call": dict(zip(("name", "arguments"), _call(message), strict=True))}


def responses(message: dict[str, Any]) -> Any:
    if not message.get("tool_calls"):
        return message
    return [
        {"type": "function_call", "call_id": "c1"}
        | dict(zip(("name", "arguments"), _call(message), strict=True))
    ]


def gemini(message: dict[str, Any]) -> Any:
    if not message.get("tool_calls"):
        return {"role": "model", "parts": [{"text": message["content"]}]}
    name, arguments = _call(message)
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": json.loads(arguments)}}]}


def completion(message: dict[str, Any]) -> Any:
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}


@pytest.mark.parametrize("form", [anthropic, legacy, responses, gemini, completion])
def test_a_providers_message_is_the_turn(form: Callable[[Any], Any], tmp_path: Path) -> None:
    dumped = figures("functionchat", form, tmp_path)
    assert dumped == figures("functionchat", lambda message: message, tmp_path)
    assert float(dumped["singlecall total_pass_rate"]) == 0.5
