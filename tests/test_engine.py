"""The engine: the same bytes for any workers and any cut, whatever hangs, dies or is interrupted."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from planner_eval.base.errors import InputError
from planner_eval.results.runs import run as engine
from planner_eval.results.runs.model import Running
from planner_eval.results.runs.run import run
from planner_eval.results.runs.stored import read_run, write_run
from tests.conftest import ROOT, tabled, until
from tests.engine_jobs import Echo, records
from tests.test_dialects_docs import OWN

MAIN = "import sys; from tests.engine_jobs import main; sys.exit(main())"


def start(**how: Any) -> subprocess.Popen[bytes]:
    whole = [sys.executable, "-c", MAIN, json.dumps(how)]
    return subprocess.Popen(whole, cwd=ROOT, stdout=PIPE, stderr=PIPE, start_new_session=True)


class Done:
    """What a process that ran the small job wrote: its rows, its sums, what it said."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        out, err = process.communicate(timeout=120)
        self.code, self.err = process.returncode, err.decode()
        *rows, last = out.decode().splitlines() or [""]
        self.rows = [json.loads(row) for row in rows]
        self.sums, self.failed, self.pairs = json.loads(last) if last else (None, None, None)
        self.out = out


def ran(**how: Any) -> Done:
    done = Done(start(**how))
    assert done.code == 0, done.err
    return done


def expected(count: int) -> tuple[list[str], Any]:
    job = Echo()
    sums = job.fold()
    return list(job.rows(records(count, {}), sums)), sums.data()


def workers(process: subprocess.Popen[bytes]) -> list[int]:
    try:
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in text.split()]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("jobs", [1, 2, 7])
@pytest.mark.parametrize("part", [1, 13, 1000, None])
def test_any_workers_and_any_cut_give_the_same_bytes(jobs: int, part: int | None, tmp_path: Path) -> None:
    rows, sums = expected(60)
    done = ran(count=60, jobs=jobs, part=part, folder=str(tmp_path / "run"))
    text = "".join(f"{row}\n" for row in rows).encode("utf-8", "backslashreplace")
    assert (tmp_path / "run" / "rows.jsonl").read_bytes() == text
    assert done.out.startswith(text)
    assert (done.sums, done.failed, done.pairs) == (sums, 0, 60)
    assert json.loads((tmp_path / "run" / "report.json").read_bytes()) == sums


@pytest.mark.parametrize("thread", [False, True], ids=["forked", "afresh"])
def test_a_pair_that_hangs_or_kills_its_worker_costs_itself_alone(thread: bool) -> None:
    sources = {3: "sleep", 11: "regex", 26: "die", 27: "exit", 40: "raise"}
    done = ran(count=60, jobs=2, part=10, deadline=1, thread=thread, sources=sources)
    codes = dict(zip(sources, ["deadline", "deadline", "crash", "crash", "crash"], strict=True))
    ended = "working on it crashed the worker each time: "
    said = {26: f"{ended}signal 9 (SIGKILL)", 27: f"{ended}exit status 3"}
    said[3] = "working on it took longer than 1 second"
    for at, (found, row) in enumerate(zip(done.rows, expected(60)[0], strict=True)):
        name, pred, gold = json.loads(row.encode("utf-8", "backslashreplace"))
        if at in codes:
            assert found[1]["code"] == f"parse.{codes[at]}"
            assert found[1]["error"] == said.get(at, found[1]["error"])
            assert [found[0], found[2]] == [name, gold]
        else:
            assert found == [name, pred, gold]
    assert "KeyError" in done.rows[40][1]["error"]
    assert done.failed == 5
    assert done.sums[:2] == [60, 5]


@pytest.mark.parametrize(("fault", "code", "said"), [
    ("drops", 1, "the job echo gave 19 rows for 20 pairs"), ("refuses", 2, "planeval: the tools are gone\n"),
    ("dies", 1, "workers stop before they begin a pair: exit status 4")
])  # fmt: skip
def test_a_job_that_cannot_go_on_ends_the_run(fault: str, code: int, said: str) -> None:
    done = Done(start(count=60, jobs=2, part=20, fault=fault))
    assert done.code == code
    assert said in done.err
    assert done.out == b""


@pytest.mark.parametrize("how", [{}, {"thread": True}], ids=["forked", "afresh"])
def test_workers_know_notations_of_ones_own(how: dict[str, Any], tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN, encoding="utf-8")
    sources = dict.fromkeys((0, 1, 2, 3), "notation own-model")
    folder = str(tmp_path / "run")
    done = ran(count=4, jobs=2, part=1, sources=sources, notations=str(own), folder=folder, **how)
    assert [row[1]["source"] for row in done.rows] == ["True"] * 4
    again = Done(start(count=4, jobs=2, part=1, sources=sources, folder=folder, **how))
    assert again.code == 2
    assert "holds another run: own-model was " in again.err


WHOLE = {"count": 300, "jobs": 2, "part": 11, "seconds": 0.002}


def bytes_of(folder: Path) -> tuple[bytes, bytes]:
    assert not [name for name in os.listdir(folder / "parts") if not name.endswith(".json")]
    return (folder / "rows.jsonl").read_bytes(), (folder / "report.json").read_bytes()


@pytest.mark.parametrize("how", [
    {"sources": {0: "sleep", 10: "regex"}}, {"sources": {0: "sleep"}, "unbound": True},
    {"thread": True, "seconds": 0.05}, {"thread": True, "seconds": 0.05, "unbound": True}
], ids=["hanging", "by the pipe alone", "afresh", "afresh by the pipe"])  # fmt: skip
def test_workers_end_with_a_parent_that_is_killed(how: dict[str, Any], tmp_path: Path) -> None:
    process = start(count=40, part=10, jobs=2, folder=str(tmp_path / "run"), **how)
    until(lambda: len(workers(process)) == 2)
    time.sleep(0.3)
    left = workers(process)
    process.kill()
    process.wait()
    until(lambda: not any(map(alive, left)))
    process.communicate()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_signal_ends_a_run_gently_and_it_goes_on(sent: signal.Signals, jobs: int, tmp_path: Path) -> None:
    how = {"count": 60, "part": 5, "folder": str(tmp_path / "run"), "deadline": 60 if jobs == 2 else None}
    process = start(jobs=jobs, seconds=0.02, **how)
    until(lambda: list(tmp_path.glob("run/parts/000001.json")))
    process.send_signal(sent)
    done = Done(process)
    assert done.code == 130
    said = r"after (\d+) of 60 pairs(?: and|, (\d+) of them) stored: the same command resumes"
    found = re.search(said, done.err)
    assert found
    kept = sum(5 for _ in tmp_path.glob("run/parts/*.json"))
    assert kept >= 5
    assert int(found[2] or found[1]) == kept
    assert not (tmp_path / "run" / "rows.jsonl").exists()
    assert ran(jobs=2, **how).sums == expected(60)[1]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("after", [0.0, 60.0], ids=["at work", "in use"])
def test_a_temporary_folder_is_removed_whatever_ends_the_run(
    sent: signal.Signals, after: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start(count=40, part=5, jobs=2, after=after, seconds=0.0 if after else 0.1)
    assert process.stdout is not None
    if after:
        until(lambda: process.stdout and process.stdout.readline().startswith(b"[["))
    else:
        until(lambda: list(tmp_path.glob("planeval-*/parts/*")))
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(sent)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    how = {"count": 200, "part": 50, "jobs": 2, "folder": str(tmp_path / "run")}
    done = Done(start(limit=2000, **how))
    assert done.code == 2
    assert done.err.startswith(f"planeval: {tmp_path}/run/parts/00000")
    assert done.err.endswith(".jsonl cannot be written: File too large\n")
    assert [name for name in os.listdir(tmp_path / "run" / "parts") if name.endswith(".json")] == []
    done = Done(start(limit=8000, **how))  # enough for the parts, not for all rows
    assert done.code == 2
    assert done.err == f"planeval: {tmp_path}/run/rows.jsonl cannot be written: File too large\n"
    assert not (tmp_path / "run" / "rows.jsonl").exists()
    assert ran(**how).sums == expected(200)[1]


def test_an_order_that_never_arrives_is_given_to_another_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    real, lost = os.write, []

    def write(file: int, data: bytes) -> int:
        if not lost and data == b"[0, 0, 5, []]\n":
            lost.append(data)
            return len(data)
        return real(file, data)

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(engine, "_MAX_IDLE_SECONDS", 1.0)
    running = Running(jobs=2, deadline=0.5, part=5)
    with run(Echo(), records(20, {}), running) as result:
        assert result.sums.data() == expected(20)[1]
    assert lost


def test_what_is_done_is_not_done_again_unless_it_is_damaged(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    how = {"count": 40, "part": 10, "jobs": 2, "folder": str(folder)}
    ran(**how)
    whole = bytes_of(folder)
    times = [path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))]
    began = ran(sources={3: "sleep"}, **{**how, "part": 7})  # would hang if anything were done
    assert began.sums == expected(40)[1]
    assert [path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))] == times
    for damage in ("rows.jsonl", "parts/000002.json"):
        data = (folder / damage).read_bytes()
        (folder / damage).write_bytes(data[:-2] + b"~" + data[-1:])
        for left in ("parts/000003.jsonl.77.part", ".planeval-0a.part"):
            (folder / left).write_bytes(b"x")
        assert ran(**how).sums == expected(40)[1]
        assert bytes_of(folder) == whole
        assert not (folder / ".planeval-0a.part").exists()


PRED = ["pred", "p.jsonl", 10, "aa"]


@tabled("other, said")
def test_a_folder_of_another_run_is_refused(other: dict[str, Any], said: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    how = {"count": 40, "note": "a", "inputs": [PRED], "folder": folder, "jobs": 1}
    ran(**how)
    whole, advice = bytes_of(tmp_path / "run"), "use another folder, or remove this one to start again"
    done = Done(start(**{**how, **other}))
    assert done.code == 2
    assert done.err == f"planeval: {folder} holds another run: {said}; {advice}\n"
    assert bytes_of(tmp_path / "run") == whole
    ran(**{**how, "inputs": [["pred", "moved/p.jsonl", 10, "aa"]]})


@tabled("change, said")
def test_a_folder_of_another_version_is_refused(change: Any, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(Echo(), records(3, {}), Running(1, None, folder=folder))
    if change:
        write_run(str(folder), {**(read_run(str(folder)) or {}), **change})
    else:
        (folder / "run.json").write_text("{", encoding="utf-8")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    with pytest.raises(InputError, match="use another folder") as caught:
        run(Echo(), records(3, {}), Running(1, None, folder=folder))
    assert said in str(caught.value)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write into"):
        run(Echo(), records(3, {}), Running(1, None, folder=tmp_path / "thesis.tex" / "run"))


def test_two_runs_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    process = start(count=40, jobs=2, seconds=0.1, folder=folder)
    until(lambda: (tmp_path / "run" / "run.json").exists())
    done = Done(start(count=40, jobs=2, folder=folder))
    assert done.code == 2
    busy = f"another process works on the run in {folder}; wait for it to end, or use another folder"
    assert done.err == f"planeval: {busy}\n"
    process.kill()
    process.communicate()
    assert ran(count=40, jobs=2, folder=folder).sums == expected(40)[1]


def below(process: int) -> list[int]:
    """All processes that a process and its children have started."""
    found = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, thread.read_text().split())
    return [each for child in found for each in (child, *below(child))]


on_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (extra: ray)")


@pytest.mark.long
@on_ray
def test_ray_gives_the_bytes_of_the_local_engine(tmp_path: Path) -> None:
    sources = {3: "sleep", 11: "regex", 26: "die", 40: "raise", -31: "die"}
    how = {"count": 100, "jobs": 2, "part": 7, "deadline": 2, "sources": sources}
    local = ran(folder=str(tmp_path / "local"), **how)
    cluster = ran(folder=str(tmp_path / "ray"), ray="", **how)
    assert cluster.out == local.out
    assert cluster.failed == 5
    assert bytes_of(tmp_path / "ray") == bytes_of(tmp_path / "local")


@pytest.mark.long
@on_ray
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_goes_on_with_any_engine(sent: signal.Signals, tmp_path: Path) -> None:
    how = {**WHOLE, "folder": str(tmp_path / "run")}
    process = start(ray="", **{**how, "seconds": 0.05})
    until(lambda: list(tmp_path.glob("run/parts/*.json")))
    started = {one: Path(f"/proc/{one}/cmdline").read_bytes() for one in below(process.pid) if alive(one)}
    found = [one for one, line in started.items() if b"planner_eval.results.runs.worker" in line]
    process.send_signal(sent)
    process.communicate(timeout=60)
    assert process.returncode == (130 if sent == signal.SIGTERM else -sent)
    until(lambda: not any(map(alive, found)))
    assert ran(**how).sums == expected(300)[1]
