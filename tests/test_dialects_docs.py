"""The page on dialects is what the table says, and users' own rows work."""

import json
import re
from pathlib import Path

import pytest

from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import InputError
from planner_eval.reading import dialects
from planner_eval.reading.dialects import table
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.dialects.repairs import REPAIR_MEANINGS
from planner_eval.reading.files import frameworks
from tests.conftest import ROOT, tabled, text_case
from tests.inside import planeval

OWN = text_case("test_dialects_docs-OWN.txt")
CALL = '<call>{"tool": "f", "args": {"a": 1}}</call>'


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(table, "_added", {})
    monkeypatch.setattr(frameworks, "_added_frameworks", {})
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    return file


def test_a_row_of_ones_own_reads_and_writes(own: Path) -> None:
    done = planeval("parse", "--wrappers", str(own), "-", text=CALL)
    assert done.stdout.startswith("own-model: the token '<call>'"), done.stderr
    assert planeval("parse", "--wrappers", "missing.toml", "-", text="x").returncode == 2
    assert frameworks.add_file(str(own)) == ("own-model",)
    plan = parse(f"I call {CALL}")
    assert (plan.dialect, write(plan, "own-model")) == ("own-model", CALL)
    assert "own-model" in dialects.names()


@tabled("change, message")
def test_a_row_that_cannot_be_used_says_why(own: Path, change: tuple[str, str], message: str) -> None:
    own.write_text(OWN.replace(*change), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        frameworks.add_file(str(own))


def test_parse_says_what_it_ignored_and_repairs_only_when_asked() -> None:
    text = '<think>hm</think>Sure:\n```json\n[{"name": "f", "arguments": {"a": 1}}]\n```'
    done = planeval("parse", "-", text=text)
    assert done.returncode == 0
    assert all(said in done.stdout for said in ("in a fence", "find.thought", "find.text"))
    text = "[{'name': 'f', 'arguments': {'a': True}}]"
    strict = planeval("parse", "-", text=text)
    assert (strict.returncode, "line 1, column 3" in strict.stdout) == (3, True)
    data = json.loads(planeval("parse", "--repair", "--format", "json", "-", text=text).stdout)
    assert data["plan"]["calls"][0]["arguments"] == {"a": True}
    assert {note["code"] for note in data["diagnostics"]} == {"repair.quotes", "repair.python_literals"}


def test_dialects_lists_all_and_shows_one() -> None:
    listed = json.loads(planeval("convert", "--list", "--format", "json").stdout)
    assert [entry["name"] for entry in listed] == list(dialects.names())
    assert "<|tool_call_begin|>" in planeval("convert", "--list", "kimi").stdout
    assert "did you mean 'kimi'" in planeval("convert", "--list", "kimmi").stderr


def test_every_code_of_the_parser_is_explained() -> None:
    found = {f"repair.{name}" for name in REPAIR_MEANINGS}
    for file in (ROOT / "planner_eval" / "dialects").glob("*.py"):
        found |= set(re.findall(r"Diagnostic\(\s*\"([a-z]+\.[a-z_]+)\"", file.read_text(encoding="utf-8")))
    assert found <= code_meanings().keys(), sorted(found - code_meanings().keys())
