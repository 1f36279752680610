"""What may befall the folder of a run, or stand in its place: a message each that says what to do."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_engine import until

DEMO = ROOT / "data" / "demo"
MISTAKEN = "trip-missing"


def ran(home: Path, *argv: str, **env: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "planner_eval", *argv], cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env}, capture_output=True, text=True
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def refused(home: Path, *argv: str) -> str:
    code, out, err = ran(home, *argv)
    assert (code, out) == (2, ""), err
    return err


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a run in ``run/``."""
    for side in ("pred", "gold"):
        shutil.copy(DEMO / f"{side}.jsonl", tmp_path)
    assert ran(tmp_path, "score", "pred.jsonl", "gold.jsonl", "-o", "run/", "--part", "5")[0] == 0
    return tmp_path


AGAIN = ("score", "pred.jsonl", "gold.jsonl", "-o", "run/")
ADVICE = "put it back from a copy, name another folder, or remove run"


@pytest.mark.parametrize("kind", ["digit", "space in a name", "cut", "empty", "gone"])
def test_a_changed_run_file_is_noticed(kind: str, home: Path) -> None:
    file = home / "run" / "run.json"
    text = file.read_text(encoding="utf-8")
    changed = {
        "digit": text.replace('"pairs": 13', '"pairs": 12'),
        "space in a name": text.replace("pred.jsonl", "pred.json "), "cut": text[: len(text) // 2],
    }.get(kind, "")  # fmt: skip
    file.write_text(changed, encoding="utf-8")
    if kind == "gone":
        file.unlink()
    for argv in (("score", "run"), AGAIN, ("compare", "run", "run")):
        said = refused(home, *argv)
        assert ("holds parts of a run whose run.json is gone" if kind == "gone" else "run/run.json") in said
        assert ADVICE in said
    if kind == "gone":
        for name in ("rows.jsonl", "report.json"):  # parts alone would be taken for those of any other run
            (home / "run" / name).unlink()
        assert "whose run.json is gone" in refused(home, *AGAIN)
    file.write_text(text, encoding="utf-8")
    assert ran(home, *AGAIN)[0] == 0


@pytest.mark.parametrize("name", ["parts/000001.json", "parts/000001.jsonl", "rows.jsonl"])
def test_a_folder_in_the_place_of_a_file_is_said(name: str, home: Path) -> None:
    before = (home / "run" / "rows.jsonl").read_bytes()
    (home / "run" / "rows.jsonl").unlink()
    (home / "run" / name).unlink(missing_ok=True)
    (home / "run" / name).mkdir()
    assert f"run/{name} is a folder in the place of a file of the run: remove it" in refused(home, *AGAIN)
    (home / "run" / name).rmdir()
    assert ran(home, *AGAIN)[0] == 0
    assert (home / "run" / "rows.jsonl").read_bytes() == before


def test_a_run_beside_a_file_is_an_error_that_says_what_to_type(home: Path) -> None:
    for argv, said in (
        ("compare run pred.jsonl --gold gold.jsonl", "planeval score pred.jsonl gold.jsonl -o DIR/"),
        ("compare pred.jsonl run", "planeval score pred.jsonl GOLD -o DIR/"),
        ("compare run run --gold gold.jsonl", "planeval compare run run"),
        ("score run gold.jsonl", "planeval score run tells it again"),
        ("diff run gold.jsonl", "what it was made of is pred.jsonl"),
    ):
        assert said in refused(home, *argv.split()), argv


def test_the_same_files_under_other_names_are_the_same_inputs(home: Path) -> None:
    for file in ("rows.jsonl", "report.json", "parts/000001.json"):
        (home / "run" / file).unlink()
    whole = ran(home, *AGAIN)
    kept = {file: file.read_bytes() for file in (home / "run").rglob("*.json*")}
    named = (("./pred.jsonl", "gold.jsonl"), (str(home / "pred.jsonl"), f"../{home.name}/gold.jsonl"))
    for pred, gold in named:
        (home / "run" / "rows.jsonl").unlink()  # the parts' rows are gone: all is done again
        assert ran(home, "score", pred, gold, "-o", "run/") == whole
        assert {file: file.read_bytes() for file in (home / "run").rglob("*.json*")} == kept
    ran(home, "diff", "pred.jsonl", "gold.jsonl", "-o", "diffs/")
    assert ran(home, "diff", "./pred.jsonl", "./gold.jsonl", "-o", "diffs/")[0] == 1
    shutil.copy(home / "pred.jsonl", home / "copy.jsonl")
    said = refused(home, "score", "copy.jsonl", "gold.jsonl", "-o", "run/")
    assert 'the name of the predictions was "pred.jsonl" and is "copy.jsonl"' in said


@pytest.mark.parametrize(("argv", "said"), [
    (("--by", "calls"), "--by was not given and is calls"),
    (("--strict",), "--strict was not given and is given"), (("--metric", "exact"), "is exact"),
    (("--pair", "position"), '--pair was not given and is "position"'),
    (("--record-deadline", "5"), "--record-deadline was 60.0 and is 5.0")
])  # fmt: skip
def test_other_options_are_named_as_they_are_typed(argv: tuple[str, ...], said: str, home: Path) -> None:
    assert said in refused(home, *AGAIN, *argv)


@pytest.mark.parametrize("command", ["score", "diff", "shrink", "render"])
def test_a_folder_is_made_with_those_above_it(command: str, tmp_path: Path) -> None:
    files = [str(DEMO / "pred.jsonl"), *([] if command == "render" else [str(DEMO / "gold.jsonl")])]
    (tmp_path / "file").write_text("", encoding="utf-8")
    more = {"render": ["--format", "dot"], "shrink": ["--id", MISTAKEN, "--code", "call.missing"]}
    for folder, made in (("file/run/", False), ("runs/first/", True)):
        done = planeval(command, *files, *more.get(command, []), "-o", folder, cwd=tmp_path)
        assert ("into file/run/: file is no folder" in done.stderr) is not made, done.stderr
    assert any((tmp_path / "runs" / "first").iterdir())


def test_what_a_killed_command_left_is_removed_by_the_next(tmp_path: Path) -> None:
    file, catalog, place = tmp_path / "large.jsonl", tmp_path / "none.json", tmp_path / "tmp"
    gold = '[{"name": "f", "arguments": {"x": "' + "y" * 4000 + '"}}]'
    rows = (json.dumps({"id": f"i{at}", "gold": gold}) + "\n" for at in range(2_200))
    file.write_text("".join(rows), encoding="utf-8")  # too large to be held: it is indexed
    others = place / "planeval-notes"
    others.mkdir(parents=True)
    (others / "mine.txt").write_text("x", encoding="utf-8")
    argv = ["check", str(file), "--catalog", str(catalog), "--jobs", "2"]
    catalog.write_text('[{"type": "function", "function": {"name": "f"}}]', encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(place)}

    def begun() -> subprocess.Popen[bytes]:
        known, whole = set(place.iterdir()), [sys.executable, "-m", "planner_eval", *argv]
        process = subprocess.Popen(whole, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: set(place.glob("planeval-tmp-*")) - known)
        return process

    killed = begun()
    killed.kill()
    killed.wait()
    left = set(place.glob("planeval-tmp-*"))
    assert left
    stopped = begun()  # which removes what was left, and is alive
    stopped.send_signal(signal.SIGSTOP)
    assert not any(one.exists() for one in left)
    held = set(place.glob("planeval-tmp-*"))
    assert ran(tmp_path, *argv, TMPDIR=str(place))[0] in (0, 1)
    assert set(place.iterdir()) == {*held, others}
    stopped.send_signal(signal.SIGCONT)
    assert stopped.wait(60) in (0, 1)
    assert list(place.iterdir()) == [others]
