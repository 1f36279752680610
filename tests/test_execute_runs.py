"""Plans run in parts: what one process says for any cut, kept in a folder; and what cannot be done so."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, tabled, text_case
from tests.test_cli import planeval

PRED = str(ROOT / "data" / "demo" / "pred.jsonl")
RATES = str(ROOT / "docs" / "examples" / "rates.py")
SAID = "13 plans: 3 ok, 9 failed, 1 unreadable; 35 calls: 10 ok, 15 failed, 10 skipped\n"

SLOW = text_case("test_execute_runs-SLOW.txt")


def timeless(text: str) -> str:
    """Without the times that calls took, which are never the same."""
    return re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', text)


def execute(*argv: str) -> subprocess.CompletedProcess[str]:
    done = planeval("execute", *argv)
    if done.returncode == 2 and "isolation level" in done.stderr:
        pytest.skip(f"isolation: {done.stderr}")
    return done


@pytest.fixture
def slow(tmp_path: Path) -> tuple[str, ...]:
    """Plans of which one hangs and one ends its worker, and their tools."""
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    plans = [(x, f'[{{"name": "f", "arguments": {{"x": "{x}"}}}}]') for x in ("a", "hang", "b", "die", "c")]
    text = "".join(json.dumps({"id": x, "output": plan}) + "\n" for x, plan in plans)
    (tmp_path / "p.jsonl").write_text(text, encoding="utf-8")
    return str(tmp_path / "p.jsonl"), "--tools", str(tmp_path / "slow.py"), "--format", "csv"


@pytest.mark.parametrize("isolation", ["strict", "process"])
def test_a_plan_that_hangs_or_dies_costs_itself_alone(isolation: str, slow: tuple[str, ...]) -> None:
    for more in ((), ("--jobs", "2", "--part", "2"), ("--jobs", "1", "--part", "5")):
        done = execute(*slow, "--isolation", isolation, "--timeout", "2", *more)
        rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
        assert [row[0] for row in rows] == ["a", "hang", "b", "die", "c"]
        assert [row[3] for row in rows] == ["ok", "failed", "ok", "failed", "ok"]
        assert "timeout: stopped after 2 seconds" in rows[1][4]


def test_a_deadline_of_a_record_blames_the_plan_that_hangs(slow: tuple[str, ...]) -> None:
    done = execute(*slow, "--timeout", "90", "--record-deadline", "3", "--jobs", "2", "--part", "5")
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    assert [(row[0], row[3]) for row in rows if row[3] != "ok"] == [("hang", "unreadable"), ("die", "failed")]
    assert "record 2 (id hang): working on it took longer than 3 seconds" in done.stderr


@pytest.mark.parametrize("store", ["jsonl", "parquet"])
def test_a_run_is_kept_and_gone_on_with(store: str, tmp_path: Path) -> None:
    if store == "parquet":
        pytest.importorskip("pyarrow")
    run = tmp_path / "run"
    argv = (PRED, "--tools", RATES, "-o", f"{run}/", "--store", store, "--part", "5")
    first = execute(*argv)
    assert (first.returncode, first.stdout) == (1, SAID)
    assert "record 13 (id alarm-unreadable): line 1, column 64" in first.stderr
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    assert (report["plans"], report["ok"], report["problems"]) == (13, 3, {"unknown-tool": 15})
    before = (run / f"rows.{store}").read_bytes()
    if store == "jsonl":
        rows = [json.loads(line) for line in before.decode().splitlines()]
        told = json.loads(execute(PRED, "--tools", RATES, "--format", "json").stdout)
        wheres = [row.pop("where", None) for row in rows]
        assert timeless(json.dumps(rows)) == timeless(json.dumps(told))
        assert wheres == [None] * 12 + [f"{PRED}, line 13, record 13 (id alarm-unreadable)"]
    again = execute(*argv)
    assert (again.returncode, again.stdout, again.stderr) == (1, SAID, first.stderr)
    assert (run / f"rows.{store}").read_bytes() == before  # nothing was run again: it took its time


def test_a_run_with_other_tools_is_another_run(tmp_path: Path) -> None:
    tools, plan = tmp_path / "tools.py", tmp_path / "p.jsonl"
    plan.write_text('{"id": "a", "output": [{"name": "f", "arguments": {}}]}', encoding="utf-8")
    tools.write_text("def f():\n    return 1\n", encoding="utf-8")
    argv = (str(plan), "--tools", str(tools), "-o", f"{tmp_path}/run/", "--isolation", "process")
    first = execute(*argv)
    assert first.returncode == 0, first.stderr
    other = execute(*argv, "--timeout", "3")
    assert (other.returncode, other.stdout) == (2, "")
    assert "holds another run: --run timeout was 10.0 and is 3.0" in other.stderr
    tools.write_text("def f():\n    return 2\n", encoding="utf-8")
    changed = execute(*argv)
    assert changed.returncode == 2
    assert f"the file {tools} (tools) has changed since" in changed.stderr


@tabled("more, said")
def test_what_has_no_parts(more: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = execute(PRED, "--tools", RATES, *more.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not any(tmp_path.iterdir())
