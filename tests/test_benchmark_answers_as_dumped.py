"""Answers as models and providers give them: with a thought before the plan, in a provider's message."""

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


def figures(name: str, change: Callable[[Any], Any], folder: Path, kind: str = "corrected") -> dict[str, str]:
    """The scores of the bundled answers, each changed."""
    fields = {"functionchat": "output", "bfcl": "result", "nestful": "generated_text"}
    field, key = fields.get(name, "prediction"), "sample_id" if name == "nestful" else "id"
    lines = (SAMPLES / "answers" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    changed = [{key: one[key], field: change(one[field])} for one in map(json.loads, lines)]
    answers = folder / "answers.jsonl"
    answers.write_text("".join(json.dumps(one) + "\n" for one in changed), encoding="utf-8")
    given = (str(answers), str(SAMPLES / name), "--benchmark", name, f"--{kind}", "--format", "csv")
    done = planeval("score", *given)
    assert done.returncode == 0, done.stderr
    return {row["figure"]: row[kind] for row in csv.DictReader(io.StringIO(done.stdout))}


DRAFTS = {
    "appbench": "Trams: [a = stops(#place='Nowhere')]", "callnavi": '{"API": ["draft"], "parameters": [{}]}',
}  # fmt: skip


@pytest.mark.parametrize("name", DRAFTS)
def test_a_thought_is_no_plan(name: str, tmp_path: Path) -> None:
    bare = figures(name, lambda text: f"My answer:\n{text}", tmp_path)
    assert float(bare["ast_overall" if name == "callnavi" else "argu_hit_f1"]) > 0.6
    for opened in ("<think>\n", ""):
        thought = f"{opened}Perhaps\n{DRAFTS[name]}\n</think>\n"
        assert figures(name, lambda text, thought=thought: thought + text, tmp_path) == bare


def dumped(form: str, message: dict[str, Any]) -> Any:
    """A message of FunctionChat-Bench as a provider dumps it."""
    if form == "completion":
        return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    if not message.get("tool_calls"):
        words = message["content"]
        gemini = {"role": "model", "parts": [{"text": words}]}
        anthropic = {"role": "assistant", "content": [{"type": "text", "text": words}]}
        return {"anthropic": anthropic, "gemini": gemini}.get(form, message)
    call = {key: message["tool_calls"][0]["function"][key] for key in ("name", "arguments")}
    name, given = call["name"], json.loads(call["arguments"])
    match form:
        case "anthropic":
            used = {"type": "tool_use", "id": "t1", "name": name, "input": given}
            return {"role": "assistant", "content": [{"type": "text", "text": "Gladly."}, used]}
        case "gemini":
            return {"role": "model", "parts": [{"functionCall": {"name": name, "args": given}}]}
        case "legacy":
            return {"content": None, "function_call": call}
    return [{"type": "function_call", "call_id": "c1", **call}]


def test_a_providers_message_is_the_turn(tmp_path: Path) -> None:
    plain = figures("functionchat", lambda message: message, tmp_path)
    assert float(plain["singlecall total_pass_rate"]) == 0.5
    for form in ("anthropic", "legacy", "responses", "gemini", "completion"):
        assert figures("functionchat", lambda one, form=form: dumped(form, one), tmp_path) == plain, form


@pytest.mark.parametrize("name", ["appbench", "callnavi", "nestful"])
def test_a_message_of_words_is_its_words(name: str, tmp_path: Path) -> None:
    def official(change: Callable[[str], Any]) -> dict[str, str]:
        return figures(name, change, tmp_path, "official")

    plain = official(lambda text: text)
    assert official(lambda text: {"role": "assistant", "content": text}) == plain
    assert official(lambda text: [{"type": "text", "text": text}]) == plain
    assert official(lambda _: {"role": "assistant", "content": ""}) == official(lambda _: "") != plain


def as_message(result: Any) -> Any:
    """An answer of BFCL's as a message of OpenAI's; of several turns as a conversation."""
    if isinstance(result, list) and result and all(isinstance(turn, list) for turn in result):
        return [message for turn in result for message in ({"role": "user"}, *map(as_message, turn))]
    if isinstance(result, str):
        return {"role": "assistant", "content": result}
    calls = [{"name": name, "arguments": given} for call in result for name, given in call.items()]
    return {"role": "assistant", "content": None, "tool_calls": [{"function": call} for call in calls]}


def test_messages_are_scored_as_bfcls_runner_leaves_them(tmp_path: Path) -> None:
    plain = figures("bfcl", lambda result: result, tmp_path, "official")
    assert figures("bfcl", as_message, tmp_path, "official") == plain
    assert {"0.0", "1.0"} <= set(plain.values())
