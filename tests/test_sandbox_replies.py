"""A tool that writes to its worker's own pipe spoils its own plan, and nothing else."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import tables
from tests.fuzz_replies import search
from tests.sandbox_replies import END, HOSTILE, ROW, WORDS
from tests.test_cli import planeval

TABLES = tables(__file__)

TOOLS = Path(__file__).parent / "sandbox" / "replies.py"
LEVELS = ["strict", "process"]
INVALID = "sent an invalid reply"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation: strict needs Linux")


def run(tmp_path: Path, level: str, plans: list[dict[str, Any]], *more: str) -> tuple[Any, list[Any]]:
    """Every plan is one call; what became of each, in order."""
    file = tmp_path / "plans.jsonl"
    records = ({"id": str(number), "plan": json.dumps([call])} for number, call in enumerate(plans))
    file.write_text("\n".join(map(json.dumps, records)))
    argv = ("--tools", str(TOOLS), "--isolation", level, "--format", "jsonl", *more)
    done = planeval("execute", str(file), *argv)
    assert "Traceback" not in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["record"] for row in rows] == [str(number) for number in range(len(plans))], done.stderr
    return done, rows


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def beside(rows: list[dict[str, Any]]) -> list[Any]:
    return [row["calls"][0].get("value") for row in rows]


@pytest.mark.parametrize("level", LEVELS)
def test_whatever_a_tool_writes_is_its_own_plans_failure(tmp_path: Path, level: str) -> None:
    plans = []
    for number, text in enumerate(HOSTILE.values()):
        plans += [call("say", text=text), call("well", x=number)]
    done, rows = run(tmp_path, level, plans)
    assert done.returncode == 1
    assert beside(rows[1::2]) == [2 * number for number in range(len(HOSTILE))]
    for name, row in zip(HOSTILE, rows[::2], strict=True):
        assert not row["ok"], name
        assert INVALID in row["ended"]["message"], (name, row["ended"])
    assert WORDS not in done.stdout + done.stderr


@pytest.mark.more
@pytest.mark.parametrize("level", LEVELS)
def test_endless_lines_and_huge_text_end_at_the_limit(tmp_path: Path, level: str) -> None:
    texts = ('["layers",[]]\n', "[0,", "x", "\n")
    calls = [[call("say", text=text * 1000, times=1_000_000), call("well", x=4)] for text in texts]
    _, rows = run(tmp_path, level, [one for pair in calls for one in pair], "--timeout", "60")
    assert [row["ended"]["kind"] for row in rows[::2]] == ["output-limit"] * 4
    assert beside(rows[1::2]) == [8] * 4


@pytest.mark.parametrize("level", LEVELS)
def test_no_line_gives_a_plan_more_time(tmp_path: Path, level: str) -> None:
    _, rows = run(tmp_path, level, [call("reset_the_deadline"), call("well", x=1)], "--timeout", "1")
    assert rows[0]["ended"] == {"kind": "timeout", "message": "stopped after 1 second"}
    assert rows[0]["seconds"] < 30
    assert beside(rows)[1] == 2


@pytest.mark.parametrize("level", LEVELS)
def test_a_tool_answers_for_no_later_plan_and_finds_none_of_its_requests(tmp_path: Path, level: str) -> None:
    later = [call("well", x=x) for x in range(4)]
    forge = call("say_and_stay", text=f"{ROW}\n{END}\n" * 4, seconds=0.5)
    _, rows = run(tmp_path, level, [forge, *later, call("swallow"), *later])
    assert INVALID in rows[0]["ended"]["message"]
    assert beside(rows)[1:] == [0, 2, 4, 6, 0, 0, 2, 4, 6]


@pytest.mark.parametrize("level", LEVELS)
def test_a_file_that_writes_while_it_loads_is_named_as_what_does_not_load(tmp_path: Path, level: str) -> None:
    tools, plan = tmp_path / "tools.py", json.dumps([call("well", x=1)])
    for said in ("unloadable", "refused", "begin", "object"):
        tools.write_text(f"{TOOLS.read_text()}\nsay({HOSTILE[said]!r})\n")
        done = planeval("execute", "-", "--tools", str(tools), "--isolation", level, text=plan)
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr
        assert "--isolation" not in done.stderr
        repeated = {line for line in (done.stdout + done.stderr).splitlines() if WORDS in line}
        assert repeated <= {f"planeval: the tools of {tools} do not load: {WORDS}"}


def test_replies_that_nobody_thought_of() -> None:
    tried, text, why = search(60, 1, rounds=1500)
    assert not why, f"{why}\n{text!r}"
    assert tried == 1500


VALUE_TOOLS = Path(__file__).parent / "sandbox" / "values.py"
NAMES = [
    name
    for name in re.findall(r"^(?:async )?def ([a-z]\w+)", VALUE_TOOLS.read_text(), re.M)
    if name != "well"
]
DIE = {
    "closes_what_is_open", "breaks_the_interpreter", "breaks_what_runs_it", "rings_later",
    "ends_as_it_is_forgotten",
}  # fmt: skip
"""Those that end their process, whatever it is."""
FAIL = {name for name in NAMES if name.startswith("raises_")} | {
    "without_end", "asynchronously_without_end", "awaited_for_what_is_none", "traces_what_follows",
}  # fmt: skip
NOT_HERE = {*DIE, "traces_what_follows", "items_without_end", "prints_a_reply"}
"""What planeval's own process cannot be kept from, where the user has tools run in it."""
SHOWN = TABLES["SHOWN"]


FORMS = [
    ("strict", "jsonl"), ("process", "jsonl"), *(("inline", form) for form in ("jsonl", "text", "csv", "md")),
]  # fmt: skip


@pytest.mark.more
@pytest.mark.parametrize(("level", "form"), FORMS)
def test_each_is_a_row_of_its_own(level: str, form: str, tmp_path: Path) -> None:
    names = [name for name in NAMES if level != "inline" or name not in NOT_HERE]
    calls = [(tool, given) for name in names for tool, given in ((name, {}), ("well", {"x": 4}))]
    plans = [json.dumps([{"name": tool, "arguments": given}]) for tool, given in calls]
    (tmp_path / "plans.jsonl").write_text("".join(json.dumps({"plan": plan}) + "\n" for plan in plans))
    argv = ("--tools", str(VALUE_TOOLS), "--isolation", level, "--format", form)
    more = ("--timeout", "10") if level != "inline" else ()
    done = planeval("execute", str(tmp_path / "plans.jsonl"), *argv, *more)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert not re.search("[\x07\x1b]", done.stdout + done.stderr)
    if form != "jsonl":
        assert all(name in done.stdout for name in names)
        return
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["calls"][0].get("value") for row in rows[1::2]] == [8] * len(names)
    for name, row in zip(names, rows[::2], strict=True):
        call = row["calls"][0]
        if name in DIE:
            assert row["ended"]["kind"] == "worker-died", (name, row)
            continue
        assert row.get("ended") is None, (name, row)
        assert call["status"] == ("failed" if name in FAIL else "ok"), (name, call)
        if name in FAIL:
            assert 0 < len(call["error"]["kind"]) <= 200
            assert len(call["error"]["message"]) <= 500
        if name in SHOWN:
            assert call["value"] == SHOWN[name], name
