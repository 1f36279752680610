"""The engine on a real Ray of this machine: the bytes of the local one, whatever dies."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_engine import WHOLE, Done, alive, bytes_of, expected, ran, start, until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (extra: ray)"),
]


def below(process: int) -> list[int]:
    """All processes that a process and its children have started."""
    found = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, thread.read_text().split())
    return [each for child in found for each in (child, *below(child))]


def is_worker(process: int) -> bool:
    """Whether a process does a part for a task of Ray."""
    try:
        return b"planner_eval.engine.worker" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def is_task(process: int) -> bool:
    """Whether a process is one that Ray started for tasks."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::do\0")
    except OSError:
        return False


def test_ray_gives_the_bytes_of_the_local_engine(tmp_path: Path) -> None:
    sources = {3: "sleep", 11: "regex", 26: "die", 40: "raise", -31: "die"}
    how = {"count": 100, "jobs": 2, "part": 7, "deadline": 2, "sources": sources}
    local = ran(folder=str(tmp_path / "local"), **how)
    cluster = ran(folder=str(tmp_path / "ray"), ray="", **how)
    assert cluster.out == local.out
    assert cluster.failed == 5
    assert bytes_of(tmp_path / "ray") == bytes_of(tmp_path / "local")


def test_a_task_that_is_killed_is_done_again(tmp_path: Path) -> None:
    chance = random.Random(1)
    process = start(folder=str(tmp_path / "run"), ray="", **{**WHOLE, "seconds": 0.02})
    for kind in (is_task, is_worker, is_task):
        until(lambda: [one for one in below(process.pid) if kind(one)], 60)  # noqa: B023
        time.sleep(chance.random())
        for one in [one for one in below(process.pid) if kind(one)][:1]:
            os.kill(one, signal.SIGKILL)
    done = Done(process)
    assert done.code == 0, done.err
    assert done.sums == expected(300)[1]
    assert done.failed == 0
    assert len(done.rows) == 300


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_goes_on_with_any_engine(sent: signal.Signals, tmp_path: Path) -> None:
    how = {**WHOLE, "folder": str(tmp_path / "run")}
    process = start(ray="", **{**how, "seconds": 0.05})
    until(lambda: list(tmp_path.glob("run/parts/*.json")), 60)
    found = [one for one in below(process.pid) if is_worker(one)]
    process.send_signal(sent)
    process.communicate(timeout=60)
    assert process.returncode == (130 if sent == signal.SIGTERM else -sent)
    until(lambda: not any(map(alive, found)), 30)
    assert ran(**how).sums == expected(300)[1]


def test_an_address_where_no_cluster_answers_is_an_error(tmp_path: Path) -> None:
    done = Done(start(count=10, ray="127.0.0.1:9", folder=str(tmp_path / "run")))
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("planeval: no Ray cluster answers at 127.0.0.1:9: ")


def test_a_cluster_needs_a_folder_that_is_shared() -> None:
    done = Done(start(count=10, ray="127.0.0.1:9"))
    assert (done.code, done.out) == (2, b"")
    assert done.err.endswith("a run on a cluster needs a folder that its machines share: -o DIR/\n")
