"""What commands say where a folder, a field or a tool is not what they need: what to do, in their own words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_cli import planeval

DEMO = ROOT / "data" / "demo"
CALL = '[{"name": "f", "arguments": {"x": 1}}]'


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The folder of a run that was scored."""
    folder = f"{tmp_path}/d/"
    done = planeval("score", str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl"), "-o", folder)
    assert done.returncode in (0, 1), done.stderr
    return folder


@pytest.mark.parametrize("command", ["parse", "convert", "check", "render", "stats", "execute"])
def test_the_folder_of_a_run_stands_for_no_plans(command: str, run: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[{"name": "f", "parameters": {}}]', encoding="utf-8")
    more = {
        "convert": ["--to", "json"],
        "check": ["--catalog", str(tmp_path / "c.json")],
        "execute": ["--tools", "nestful"],
    }.get(command, [])
    said = planeval(command, run, *more)
    assert (said.returncode, said.stdout) == (2, "")
    assert (
        f"{run} is the folder of a run, and files of plans are wanted here: planeval score {run}"
        in said.stderr
    )


def test_a_run_without_its_run_file_is_said_to_be_one_where_runs_are_compared(
    run: str, tmp_path: Path
) -> None:
    other = f"{tmp_path}/other/"
    shutil.copytree(run, other)
    (Path(run) / "run.json").unlink()
    said = planeval("compare", run, other)
    assert said.returncode == 2
    assert "holds parts of a run whose run.json is gone" in said.stderr


def test_stats_names_its_own_option_for_the_field(tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    lines = [json.dumps({"id": at, "gold" if at < 1500 else "output": CALL}) for at in range(1600)]
    file.write_text("\n".join(lines), encoding="utf-8")
    said = planeval("stats", str(file))
    assert "(--text-field names the field)" in said.stderr
    assert "--gold-text-field" not in said.stderr


@pytest.mark.parametrize("raised", ["GeneratorExit", "SystemExit", "Own"])
def test_what_a_tool_raises_inline_is_a_failed_call(raised: str, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        f"class Own(BaseException):\n    pass\n\n\ndef f(x):\n    raise {raised}('no')\n", encoding="utf-8"
    )
    (tmp_path / "p.json").write_text(CALL, encoding="utf-8")
    said = planeval(
        "execute", str(tmp_path / "p.json"), "--tools", str(tmp_path / "tools.py"), "--isolation", "inline"
    )
    assert said.returncode == 1
    assert "Traceback" not in said.stderr
    assert f"{raised}: no" in said.stdout
