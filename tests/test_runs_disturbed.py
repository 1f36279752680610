"""Runs of whole commands that are killed, hang, find no room or other files: a message each, nothing lost.

A policy's own function makes each pair slow enough to be disturbed; another ends its process.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tests.test_engine import until, workers

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds workers in /proc")

COUNT = 120
OURS = "import time\ndef slow(ours, gold):\n    time.sleep(0.004)\n    return ours == gold\n"


class Files(NamedTuple):
    """A folder with predictions, gold plans and a policy."""

    home: Path

    def start(self, kind: str, run: Path, *more: str) -> subprocess.Popen[str]:
        argv = [kind, "p.jsonl", "g.jsonl", "--policy", "policy.toml", "-o", f"{run}/", *more]
        return subprocess.Popen(
            [sys.executable, "-m", "planner_eval", *argv], cwd=self.home,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{self.home}"}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True
        )  # fmt: skip

    def ran(self, kind: str, run: Path, *more: str) -> tuple[int, str, str]:
        process = self.start(kind, run, *more)
        out, err = process.communicate(timeout=120)
        assert "Traceback" not in err, err
        return process.returncode, out, err

    def rule(self, text: str) -> None:
        (self.home / "policy.toml").write_text(f'[[rule]]\nargument = "x"\n{text}\n', encoding="utf-8")


def written(home: Path, values: dict[int, str]) -> Files:
    """Pairs of which every third differs, every 17th cannot be read, every 19th is left out.

    With values of their own all can be read: what another notation's reader takes to load at first counts as
    time of the record.
    """
    pred, gold = [], []
    for at in range(COUNT):
        text = f"a = f(#x='{values.get(at, at)}')\nb = g(#y=a, #z='{at}é')"
        wrong = text.replace("#z='", "#z='q") if at % 3 == 0 else text
        pred.append({"id": f"i{at}", "output": wrong[:20] if at % 17 == 5 and not values else wrong})
        gold.append({"id": f"i{at}", "gold": text.replace("'die'", "'live'").replace("aaa!'", "aaa'")})
    del pred[::19]
    for name, records in (("p", pred), ("g", gold)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (home / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (home / "disturbed_functions.py").write_text(OURS, encoding="utf-8")
    return Files(home)


def bytes_of(run: Path) -> dict[str, bytes]:
    assert not [name for name in os.listdir(run / "parts") if not name.endswith(".json")]
    assert not [name for name in os.listdir(run) if name.endswith(".part")]
    return {file.name: file.read_bytes() for file in run.glob("r*.*") if file.name != "run.json"}


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Files:
    files = written(tmp_path_factory.mktemp("slow"), {})
    files.rule('function = "disturbed_functions:slow"')
    return files


Undisturbed = Callable[[str, str], tuple[tuple[int, str, str], dict[str, bytes]]]


@pytest.fixture(scope="module")
def undisturbed(slow: Files) -> Undisturbed:
    """What a command that nobody disturbs says, and what it leaves."""
    known: dict[tuple[str, str], tuple[tuple[int, str, str], dict[str, bytes]]] = {}

    def asked(kind: str, store: str) -> tuple[tuple[int, str, str], dict[str, bytes]]:
        if (kind, store) not in known:
            run = slow.home / f"whole-{kind}-{store}"
            found = slow.ran(kind, run, "--store", store)
            known[kind, store] = found, bytes_of(run)
        return known[kind, store]

    return asked


KINDS, JOBS, PARTS = ("score", "diff"), (1, 2, 7), (1, 7, 50, COUNT)


def disturb(seed: int, slow: Files, run: Path, whole: Undisturbed) -> None:
    chance = random.Random(seed)
    kind, part = KINDS[seed % 2], str(PARTS[seed % len(PARTS)])
    store = "parquet" if chance.random() < 0.3 else "jsonl"
    if store == "parquet":
        pytest.importorskip("pyarrow")
    how = ["--part", part, "--store", store]
    for _ in range(3):
        process = slow.start(kind, run, *how, "--jobs", str(chance.choice(JOBS)))
        if chance.random() < 0.8:
            until(lambda: workers(process) or process.poll() is not None)  # noqa: B023
        time.sleep(chance.random() * 0.5)
        if chance.random() < 0.4 and (found := workers(process)):
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(chance.choice(found), signal.SIGKILL)
            time.sleep(chance.random() * 0.1)
        sent = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
        code = process.returncode
        # An interpreter that is interrupted before it has begun says so in its own way.
        assert "Traceback" not in err or err.startswith("Fatal Python error: init_"), err
        if code == 130:
            assert out in ("", whole(kind, store)[0][1])  # all was told before the signal came
            assert "interrupted" in err.lower()
        else:
            assert code in (0, 1, -sent), (code, err)
    done = slow.ran(kind, run, *how, "--jobs", str(chance.choice(JOBS)))
    assert (done, bytes_of(run)) == whole(kind, store)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_command_goes_on(seed: int, slow: Files, tmp_path: Path, undisturbed: Undisturbed) -> None:
    disturb(seed, slow, tmp_path / "run", undisturbed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 54))
def test_killed_at_any_moment(seed: int, slow: Files, tmp_path: Path, undisturbed: Undisturbed) -> None:
    disturb(seed, slow, tmp_path / "run", undisturbed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_hangs_becomes_a_row_that_says_so(kind: str, tmp_path: Path) -> None:
    files = written(tmp_path, {40: "a" * 60 + "aaa!"})
    files.rule('pattern = "(a*)*b"')
    for run, jobs, part in ("run", "2", "9"), ("other", "1", "100"):
        how = ("--record-deadline", "2", "--jobs", jobs, "--part", part)
        assert files.ran(kind, tmp_path / run, *how)[0] < 2
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == COUNT
    (row,) = [row for row in rows if "took longer than" in str(row)]
    assert row["id"] == "i40"
    assert "working on it took longer than 2 seconds" in row.get("error", row.get("reason"))
    assert bytes_of(tmp_path / "other") == bytes_of(tmp_path / "run")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 60 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    asked = [mount or "mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(disk)]
    if mount is None or os.geteuid() or subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("store", ["jsonl", "parquet"])
def test_a_disk_that_is_full_indeed(store: str, small: Path, slow: Files, undisturbed: Undisturbed) -> None:
    pytest.importorskip("pyarrow")
    filler = small / "filler"
    for room in (4_096, 20_480, 36_864):
        filler.write_bytes(bytes(max(0, 61_440 - 4_096 - room)))
        code, out, err = slow.ran("score", small / "run", "--part", "10", "--store", store)
        assert (code, out) == (2, ""), (room, code, err)
        assert "No space left on device" in err
    filler.unlink()
    shutil.move(small / "run", small.parent / "run")  # all rows want more than this disk has
    found = slow.ran("score", small.parent / "run", "--store", store)
    assert (found, bytes_of(small.parent / "run")) == undisturbed("score", store)


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_that_changes_is_said(
    kind: str, tmp_path: Path, slow: Files, undisturbed: Undisturbed
) -> None:
    files, run = Files(Path(shutil.copytree(slow.home, tmp_path / "copy"))), tmp_path / "run"
    known = (files.home / "p.jsonl").read_text(encoding="utf-8")
    process = files.start(kind, run, "--part", "10", "--jobs", "2")
    until(lambda: list(run.glob("parts/*.json")))
    (files.home / "p.jsonl").write_text(known.replace("i7", "j7"), encoding="utf-8")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, ""), err
    assert "p.jsonl" in err
    assert "changed" in err
    assert not (run / "rows.jsonl").exists()
    code, out, err = files.ran(kind, run)
    assert (code, out) == (2, "")
    assert "the file p.jsonl (pred) has changed since" in err
    (files.home / "p.jsonl").write_text(known, encoding="utf-8")
    assert (files.ran(kind, run), bytes_of(run)) == undisturbed(kind, "jsonl")


@pytest.mark.parametrize("filler", [0, 9_000_000], ids=["held in memory", "read by its index"])
@pytest.mark.parametrize("command", ["score", "diff"])
def test_a_file_that_changes_before_the_work_is_refused(tmp_path: Path, command: str, filler: int) -> None:
    """Gold comes through a pipe, so that predictions can be changed after they are read."""
    pred, pipe = tmp_path / "p.jsonl", tmp_path / "g.pipe"
    lines = [json.dumps({"id": "a", "output": "f(x=1)"}), json.dumps({"id": "b", "output": "g()"})]
    pred.write_text("\n".join(lines) + "\n" + " " * filler + "\n", encoding="utf-8")
    os.mkfifo(pipe)
    argv = [sys.executable, "-m", "planner_eval", command, str(pred), str(pipe), "-o", f"{tmp_path}/run/"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with pipe.open("w", encoding="utf-8") as gold:  # waits until the command wants gold
        pred.write_text(pred.read_text(encoding="utf-8").replace("x=1", "x=2"), encoding="utf-8")
        gold.write("\n".join(lines).replace("output", "gold"))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert f"{pred} changed while it was read" in err
    assert not list(tmp_path.glob("run/r*"))
