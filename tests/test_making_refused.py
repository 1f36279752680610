"""What plans cannot be made of: tools that take too long, that are not there, that say too little."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.execution import sandbox
from tests.inside import planeval

SLOW = "import time\n\ndef slow(a: float) -> float:\n    time.sleep(30)\n    return a\n"
FAST = "\ndef fast(b: float) -> float:\n    return 2 * b + 3\n"


def tools_of(folder: Path, text: str) -> str:
    file = folder / "own.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_tool_that_never_ends_costs_three_runs_of_it(tmp_path: Path) -> None:
    begun, told = time.monotonic(), list[str]()
    tools = tools_of(tmp_path, SLOW)
    found = pe.make(1, tools=tools, calls=1, timeout=0.3, isolation="strict", tell=told.append)
    assert time.monotonic() - begun < 15  # ten draws for each of eight attempts take 24
    assert found.said.startswith("0 of 1 made: no tool is left to call: ")
    assert "a call runs out of time (3)" in found.said
    assert found.notes == (
        "slow is called no more: 3 runs of it in a row took longer than 0.3 seconds; --timeout allows more",
    )
    assert told == [*found.notes]


@pytest.mark.parametrize("cpus", [1, 4])
def test_the_others_are_made_the_same_however_many_run_at_once(
    cpus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_cpus", lambda: cpus)
    found = pe.make(3, tools=tools_of(tmp_path, SLOW + FAST), calls="1..3", depth="1..", timeout=1)
    assert {call.name for one in found.made for call in one.plan.calls} == {"fast"}
    assert [one.notes["attempt"] for one in found.made] == [0, 3, 4]
    assert [said.partition(" ")[0] for said in found.notes] == ["slow"]


def test_plans_to_follow_that_call_it_are_left_at_once(tmp_path: Path) -> None:
    found = pe.make(1, tools=tools_of(tmp_path, SLOW + FAST), like=["[slow(a=3)]"], timeout=0.3)
    assert found.said.startswith("0 of 1 made: no tool is left to call: ")


def test_progress_is_told_after_each_attempt() -> None:
    seen = list[tuple[int, int]]()
    found = pe.make(3, tools="nestful", seed=4, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) == found.card.attempts > 3
    assert seen[-1] == (3, 3)


def test_the_command_says_so_before_it_ends(tmp_path: Path) -> None:
    done = planeval(
        "data", "make", "--tools", tools_of(tmp_path, SLOW), "-n", "1", "--calls", "1", "--timeout", "0.3"
    )
    assert done.returncode == 3
    first, last = done.stderr.splitlines()
    assert first.startswith("slow is called no more: 3 runs of it in a row took longer than 0.3 seconds")
    assert last.startswith("0 of 1 made: no tool is left to call: ")


def called(*names: str) -> list[dict[str, Any]]:
    """A catalog of tools that take a number."""
    kind = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    return [{"name": name, "parameters": kind} for name in names]


def test_a_catalog_of_which_no_tool_is_there_is_refused_before_anything_is_tried(tmp_path: Path) -> None:
    tools = tools_of(tmp_path, SLOW)
    with pytest.raises(InputError, match=r"own\.py has none of the tools of .*: find, pay$"):
        pe.make(2, catalog=called("find", "pay"), tools=tools)


def test_only_tools_that_are_there_are_called_and_the_others_are_named(tmp_path: Path) -> None:
    text = "ran = []\n\ndef double(a: float) -> float:\n    ran.append(a)\n    return 2 * a + len(ran)\n"
    tools = tools_of(tmp_path, text)
    found = pe.make(3, catalog=called("pay", "double", "find"), tools=tools, calls=1, distinct="values")
    assert {one.plan.calls[0].name for one in found.made} == {"double"}
    assert all(one.answer == 2 * dict(one.plan.calls[0].arguments)["a"] + 1 for one in found.made)
    (said,) = found.notes
    assert said.startswith(f"{tools} lacks 2 tools of ")
    assert said.endswith(", left out: find, pay")


def test_looking_for_a_tool_does_not_call_it() -> None:
    ran = []

    def hook(**given: Any) -> float:
        ran.append(given)
        return 7.5

    with pytest.raises(InputError, match="has none of the tools"):
        pe.make(1, catalog=called("nosuch"), tools={"hook": hook})
    pe.make(1, catalog=called("nosuch", "hook"), tools={"hook": hook}, tries=1, calls=1)
    assert ran
    assert all([*given] == ["a"] for given in ran)


def test_a_file_that_is_not_there_is_said_to_be_none() -> None:
    done = planeval("data", "make", "--tools", "nope.py")
    assert (done.returncode, done.stderr) == (2, "planeval: nope.py: no such file\n")


LIKE = """\
{"id": "a", "gold": "Hello, I would like to add two numbers, please."}
{"id": "b", "gold": null}
{"id": "c", "gold": []}
{"id": "d", "gold": [
{"id": "e", "gold": [{"name": "nosuch", "arguments": {"x": 3}}]}
{"id": "f", "gold": [{"name": "add", "label": "$v1", "arguments": {"arg_0": 3, "arg_1": "$v9.result$"}}]}
{"id": "g", "gold": [{"name": "add", "label": "$v1", "arguments": {"arg_0": 3, "arg_1": 4}}]}
"""


def test_each_kind_of_plan_that_cannot_be_followed_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(LIKE, encoding="utf-8")
    found = pe.make(2, tools="nestful", like=str(file))
    assert {call.name for one in found.made for call in one.plan.calls} == {"add"}
    (said,) = found.notes
    assert said.startswith(
        f"6 plans of {file} cannot be followed: it makes no call (2), it cannot be read (2; "
    )
    assert said.endswith(
        "the catalog has no such tool (1; 'nosuch'), a reference leads to no call (1; 'arg_1' of add)"
    )
    file.write_text("".join(LIKE.splitlines(keepends=True)[:6]), encoding="utf-8")
    with pytest.raises(InputError, match=r"none of its plans can be followed: it makes no call \(2\)"):
        pe.make(2, tools="nestful", like=str(file))


def test_a_pattern_that_leaves_no_value_is_named() -> None:
    kind = {"type": "object", "properties": {"n": {"type": "string", "pattern": "^[A-Z]{3}$"}}}
    catalog = [{"name": "code", "parameters": {**kind, "required": ["n"]}}, *called("double")]
    found = pe.make(1, catalog=catalog, calls=1)
    assert found.notes == (
        "code is left out: n has to be given, and no value fits its pattern '^[A-Z]{3}$': say choices, an "
        "example or a default",
    )


@pytest.mark.parametrize("command", ["data make", "predict", "suggest"])
def test_without_a_key_it_is_said_what_to_set(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "catalog.json").write_text(json.dumps(called("double")), encoding="utf-8")
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"id": "a", "query": "Double 3.", "plan": "zzzz()"}\n', encoding="utf-8")
    argv = {
        "data make": ("--tools", "nestful", "-n", "1", "--model", "m", "--cache", "kept.sqlite"),
        "predict": (tasks, "--catalog", "catalog.json", "--model", "m", "-o", "run"),
        "suggest": (tasks, "--catalog", "catalog.json", "--model", "m"),
    }[command]
    done = planeval(*command.split(), *argv, cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no key; set OPENAI_API_KEY, or name a server of your own" in done.stderr
    assert "workload_identity" not in done.stderr
