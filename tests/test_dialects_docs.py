"""The page on dialects is what the table says, and users' own rows work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner_eval import dialects
from planner_eval.base.errors import CODES, InputError
from planner_eval.dialects import table
from planner_eval.dialects.listing import page
from planner_eval.dialects.read import parse, write
from planner_eval.records import frameworks
from planner_eval.records import own_rows as rows
from tests.conftest import ROOT

OWN = """
[[dialect]]
name = "own-model"
title = "Own model: <call> around JSON"
shape = "sections"
open = ["<call>"]
close = ["</call>"]
inner = "json"
each = true
call = '{"tool": "$name", "args": "$arguments"}'
example = '<call>{"tool": "f", "args": {"a": 1}}</call>'
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(table, "_added", {})
    monkeypatch.setattr(frameworks, "_added", {})
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    return file


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "planner_eval", *arguments], capture_output=True, text=True, cwd=ROOT,
        input=text, env=os.environ | {"COLUMNS": "100"}, timeout=60,
    )  # fmt: skip


def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    file = ROOT / "docs" / "dialects.md"
    if request.config.getoption("--update-cases"):
        file.write_text(page().rstrip() + "\n", encoding="utf-8")
    assert file.read_text(encoding="utf-8").rstrip() == page().rstrip(), (
        "run: pytest tests/test_dialects_docs.py --update-cases"
    )


def test_a_row_of_ones_own_reads_and_writes(own: Path) -> None:
    assert rows.add_file(str(own)) == ("own-model",)
    plan = parse('I call <call>{"tool": "f", "args": {"a": 1}}</call>')
    assert plan.dialect == "own-model"
    assert write(plan, "own-model") == '<call>{"tool": "f", "args": {"a": 1}}</call>'
    assert "own-model" in dialects.names()


@pytest.mark.parametrize(("change", "message"), [
    (("shape = \"sections\"", "shape = \"circles\""), "shape is 'circles', expected one of json, "),
    (("open =", "opens ="), r"there is no key 'opens'; did you mean 'open'\?"),
    (("open = [\"<call>\"]", "open = \"<call>\""), "open is '<call>', expected a list"),
    (("[[dialect]]", "[dialect"), "own.toml"),
    (("name = \"own-model\"", ""), "a row without a name"),
    (("open = [\"<call>\"]", ""), "needs 'open'"),
])  # fmt: skip
def test_a_row_that_cannot_be_used_says_why(own: Path, change: tuple[str, str], message: str) -> None:
    own.write_text(OWN.replace(*change), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        rows.add_file(str(own))


def test_the_command_line_reads_a_row_of_ones_own(own: Path) -> None:
    done = run("parse", "--wrappers", str(own), "-", text='<call>{"tool": "f", "args": {"a": 1}}</call>')
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("own-model: the token '<call>'")
    assert run("parse", "--wrappers", "missing.toml", "-", text="x").returncode == 2


def test_parse_says_the_notation_and_what_it_ignored() -> None:
    done = run(
        "parse", "-", text='<think>hm</think>Sure:\n```json\n[{"name": "f", "arguments": {"a": 1}}]\n```'
    )
    assert done.returncode == 0
    assert "in a fence" in done.stdout
    assert "find.thought" in done.stdout
    assert "find.text" in done.stdout


def test_parse_repairs_only_when_asked() -> None:
    text = "[{'name': 'f', 'arguments': {'a': True}}]"
    strict = run("parse", "-", text=text)
    assert strict.returncode == 3
    assert "line 1, column 3" in strict.stdout
    mended = run("parse", "--repair", "--format", "json", "-", text=text)
    data = json.loads(mended.stdout)
    assert data["plan"]["calls"][0]["arguments"] == {"a": True}
    assert {note["code"] for note in data["diagnostics"]} == {"repair.quotes", "repair.python_literals"}


def test_parse_types_untyped_values_by_a_catalog(tmp_path: Path) -> None:
    catalog = tmp_path / "tools.json"
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    catalog.write_text(
        json.dumps([{"name": "roll", "description": "", "parameters": schema}]), encoding="utf-8"
    )
    text = "<tool_call>roll\n<arg_key>n</arg_key>\n<arg_value>6</arg_value>\n</tool_call>"
    plain = json.loads(run("parse", "--format", "json", "-", text=text).stdout)
    assert plain["plan"]["calls"][0]["arguments"] == {"n": "6"}
    assert [note["code"] for note in plain["diagnostics"]] == ["value.untyped"]
    typed = json.loads(run("parse", "--catalog", str(catalog), "--format", "json", "-", text=text).stdout)
    assert typed["plan"]["calls"][0]["arguments"] == {"n": 6}


def test_parse_infers_edges_when_asked() -> None:
    told = [
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "find", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": '{"id": "SYD"}'},
        {
            "role": "assistant",
            "tool_calls": [{"id": "b", "function": {"name": "fly", "arguments": '{"to": "SYD"}'}}],
        },
    ]
    assert parse(told).edges == ()
    edges = parse(told, infer=True).edges
    assert [(e.producer, e.consumer, e.path, e.inferred) for e in edges] == [(0, 1, ("id",), True)]
    assert "inferred: to of b ← a.id" in run("parse", "--infer", "-", text=json.dumps(told)).stdout


def test_convert_says_what_is_lost() -> None:
    chain = '[{"id":"a","name":"f","arguments":{}},{"id":"b","name":"g","arguments":{"x":{"$ref":"a"}}}]'
    refused = run("convert", "--to", "hermes", "-", text=chain)
    assert refused.returncode == 3
    assert "is a reference" in refused.stderr
    done = run("convert", "--to", "hermes", "--loss", "-", text=chain)
    assert done.returncode == 0
    assert "loss.reference" in done.stderr
    assert done.stdout.count("<tool_call>") == 2
    assert run("convert", "--to", "nestful", "-", text=chain).returncode == 0
    assert run("convert", "--to", "hermse", "-", text=chain).returncode == 2


def test_dialects_lists_all_and_shows_one() -> None:
    listed = json.loads(run("dialects", "--format", "json").stdout)
    assert [entry["name"] for entry in listed] == list(dialects.names())
    shown = run("dialects", "kimi").stdout
    assert "<|tool_call_begin|>" in shown
    assert "did you mean 'kimi'" in run("dialects", "kimmi").stderr


def test_every_code_of_the_parser_is_explained() -> None:
    import re

    found = set()
    for file in (ROOT / "planner_eval" / "dialects").glob("*.py"):
        found |= set(re.findall(r"Diagnostic\(\s*\"([a-z]+\.[a-z_]+)\"", file.read_text(encoding="utf-8")))
    from planner_eval.dialects.repair import MEANINGS

    found |= {f"repair.{name}" for name in MEANINGS}
    assert found <= CODES.keys(), sorted(found - CODES.keys())
