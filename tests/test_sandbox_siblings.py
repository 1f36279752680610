"""Level strict: a plan finds nothing of the plans beside it, and nothing outside its tools' own folder."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_eval.execution import Sandbox, execute, execute_many, tool_source
from planner_eval.plan.model import Call, Plan
from tests.sandbox.run_beside import SECONDS
from tests.test_cli import planeval
from tests.test_sandbox import ATTACKS_FILE, HERE, NOBODY, processes_in, python_for

SPIES = ["spy_in_frames", "spy_in_objects", "spy_in_folders", "spy_in_own_process", "spy_in_other_processes"]
HEAD = f"SECRET-{secrets.token_hex(4)}-"
"""Of this process alone: beside it other tests may run, with secrets of their own."""
STARTER = """
import sys
sys.path.insert(0, sys.argv[1])
from planner_eval.base.errors import ExecutionError
from planner_eval.execution import Limits, Sandbox, tool_source
from planner_eval.execution.program import compile_plan
from planner_eval.plan.model import Call, Plan
with Sandbox(tool_source(sys.argv[2]), limits=Limits(seconds=60)) as box:
    ticket = box._send(compile_plan(Plan((Call("c1", "sleep_forever"),))))
    print(box._backend.pipe.process.pid, flush=True)
    try:
        box._collect(ticket)
    except ExecutionError as error:
        print(error)
"""
NOTHING = "PermissionError: there is no secret"
LOST = "worker-lied: sent an invalid reply"
EATEN = 1
"""A spy that reads its own reply pipe may eat the outcome of the one before it, if nobody was faster."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation: strict needs Linux")


def secret() -> str:
    """A new one; several tests of one process run one after another."""
    return HEAD + secrets.token_hex(16)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may use, so that only the sandbox can be in the way."""
    folder = Path(tempfile.mkdtemp(prefix="beside-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def plans_beside(folder: Path, kept: str, seconds: float, spies: list[str]) -> str:
    """A file of plans: one that keeps a secret, one that gives it time to do so, and one that spies."""
    plans = {
        "keeper": [call("keep", secret=kept), call("wait", seconds=seconds)],
        "pause": [call("wait", seconds=0.3)],
        "spies": [call(spy, head=HEAD) for spy in spies],
    }
    file = folder / "plans.jsonl"
    records = ({"id": name, "plan": json.dumps(calls)} for name, calls in plans.items())
    file.write_text("\n".join(map(json.dumps, records)))
    return str(file)


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert done.returncode in (0, 1), done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["record"]: row for row in rows}


@pytest.mark.parametrize("more", [(), ("--allow-read", "/proc", "--allow-read", tempfile.gettempdir())])
def test_a_plan_finds_nothing_of_the_plan_beside_it(tmp_path: Path, more: tuple[str, ...]) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("isolation: one processor runs one plan at a time")
    argv = ("--tools", str(ATTACKS_FILE), "--isolation", "strict", "--format", "jsonl", *more)
    found = outcomes(planeval("execute", plans_beside(tmp_path, secret(), SECONDS, SPIES), *argv))
    assert found["keeper"]["ok"]
    assert found["pause"]["seconds"] + found["spies"]["seconds"] < found["keeper"]["seconds"]
    told = {
        made["tool"]: made.get("value", made.get("error", {}).get("kind")) for made in found["spies"]["calls"]
    }
    assert told.keys() == set(SPIES)
    assert set(told.values()) <= {"PermissionError", "worker-lied"}, told
    assert list(told.values()).count("worker-lied") <= EATEN


@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_neither_root_nor_an_ordinary_user_finds_anything(open_folder: Path, user: str) -> None:
    python: str | None = sys.executable
    more: dict[str, Any] = {}
    if user == "root" and os.geteuid() != 0:
        pytest.skip("isolation: not root, so nothing can be tried as root")
    if user == "ordinary" and os.geteuid() == 0:
        python, more = python_for(NOBODY), {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        if python is None:
            pytest.skip(
                "isolation: no Python here that an ordinary user may start and that sees this package"
            )
    command = [str(python), "-B", str(HERE / "run_beside.py"), secret(), HEAD, str(open_folder), *SPIES]
    environment = {**os.environ, "TMPDIR": str(open_folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=open_folder, **more)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    if "refused" in told:
        pytest.skip(f"isolation: {told['refused']}")
    assert (told["uid"] == 0) == (user == "root")
    assert told["kept"]
    assert told["spied"] < told["keeping"]
    assert told["found"].keys() == set(SPIES)
    lost = [said for said in told["found"].values() if said.startswith(LOST)]
    assert all(said in lost or said.endswith(NOTHING) for said in told["found"].values()), told
    assert len(lost) <= EATEN
    assert list(open_folder.iterdir()) == []


@pytest.mark.parametrize("spy", SPIES)
def test_without_a_sandbox_the_spy_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spy: str
) -> None:
    kept = secret()
    file = plans_beside(tmp_path, kept, 0.0, [spy])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(HERE.parents[1]))
    argv = ("--tools", str(ATTACKS_FILE), "--isolation", "inline", "--format", "jsonl")
    found = outcomes(planeval("execute", file, *argv))
    assert found["spies"]["calls"][0]["value"] == kept


def test_a_plan_has_four_descriptors() -> None:
    assert execute(Plan((Call("c1", "descriptors"),)), str(ATTACKS_FILE)).result == [0, 1, 2, 3]


def test_a_plan_larger_than_a_pipe_arrives_whole() -> None:
    text = "x" * 3_000_000
    plan = Plan((Call("c1", "size", (("text", text),)),))
    small = Plan((Call("c1", "size", (("text", "y"),)),))
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder, "tools.py")
        tools.write_text("def size(text):\n    return len(text)\n")
        with Sandbox(tool_source(str(tools)), jobs=2) as box:
            assert [execute(each, box).result for each in (plan, small, plan)] == [3_000_000, 1, 3_000_000]


def test_large_plans_side_by_side_arrive_whole(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def size(text):\n    return len(text)\n")
    sizes = [400_000, 10, 200_000, 10] * 20
    plans = [Plan((Call("c1", "size", (("text", "x" * size),)),)) for size in sizes]
    with Sandbox(tool_source(str(tmp_path / "tools.py")), jobs=4) as box:
        assert [trace.result for trace in execute_many(plans, box)] == sizes


@pytest.mark.parametrize("killed", ["waiter", "supervisor", "zygote"])
def test_where_supervisor_or_zygote_is_killed_nothing_goes_on(open_folder: Path, killed: str) -> None:
    command = [sys.executable, "-c", STARTER, str(HERE.parents[1]), str(ATTACKS_FILE)]
    environment = {**os.environ, "TMPDIR": str(open_folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        first = int(parent.stdout.readline())
        patience = time.monotonic() + 5
        while len(processes_in(open_folder)) < 3 and time.monotonic() < patience:
            time.sleep(0.02)
        assert len(processes_in(open_folder)) == 3  # the supervisor, the zygote and the child
        chain = [first]
        while len(chain) < 3:  # what waits for the supervisor, the supervisor, the zygote
            chain += [int(Path(f"/proc/{chain[-1]}/task/{chain[-1]}/children").read_text())]
        os.kill(chain[["waiter", "supervisor", "zygote"].index(killed)], signal.SIGKILL)
        said = parent.stdout.read()
    assert said == "the server that starts the workers is gone; run the plans again\n"
    assert processes_in(open_folder) == []
    assert list(open_folder.iterdir()) == []


READER = "def read(path):\n    with open(path) as file:\n        return file.read()[:40]\n"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A tools file with true neighbours, and with links and worse that lead elsewhere."""
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "tools"
    (elsewhere / "package").mkdir(parents=True)
    for name in ("secret.txt", "secret.py", "package/__init__.py", "package/secret.txt"):
        (elsewhere / name).write_text("# a secret\n")
    (folder / "lib").mkdir(parents=True)
    (folder / "own").mkdir()
    (folder / "lib" / "inner.py").write_text("INNER = 1\n")
    (folder / "own" / "__init__.py").write_text("OWN = 3\n")
    (folder / "near.py").write_text("NEAR = 2\n")
    (folder / "notes.txt").write_text("a secret\n")
    (folder / "linked.py").symlink_to("lib/inner.py")
    (folder / "all.py").symlink_to("/")
    (folder / "noted.py").symlink_to("notes.txt")
    (folder / "outside.py").symlink_to(elsewhere / "secret.py")
    (folder / "package").symlink_to(elsewhere / "package")
    (folder / "up").symlink_to("..")
    (folder / "null.py").symlink_to("/dev/full")
    os.mkfifo(folder / "fifo.py")
    file = folder / "reader.py"
    sums = "\ndef sums():\n    import linked, near, own\n    return linked.INNER + near.NEAR + own.OWN\n"
    file.write_text(READER + sums)
    return file


def test_links_beside_the_tools_open_nothing_elsewhere(tools: Path) -> None:
    elsewhere = tools.parents[1] / "elsewhere"
    for path in (
        elsewhere / "secret.txt",
        elsewhere / "secret.py",
        elsewhere / "package" / "secret.txt",
        tools.parent / "outside.py",
        tools.parent / "noted.py",
        tools.parent / "notes.txt",
        tools.parent / "package" / "secret.txt",
        Path("/etc/passwd"),
        Path("/dev/full"),
    ):
        text = json.dumps([call("read", path=str(path))])
        done = planeval("execute", "-", "--tools", str(tools), "--format", "json", text=text)
        assert done.returncode == 1, f"{path}: {done.stdout}{done.stderr}"
        assert json.loads(done.stdout)["calls"][0]["error"]["kind"] == "PermissionError", path


def test_what_the_tools_import_from_beside_still_loads(tools: Path) -> None:
    done = planeval("execute", "-", "--tools", str(tools), text=json.dumps([call("sums")]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok      6" in done.stdout


def test_only_regular_files_of_the_folder_are_named(tools: Path) -> None:
    read = tool_source(str(tools)).read
    near = {str(Path(place).relative_to(tools.parent)) for place in read if str(tools.parent) in place}
    assert near == {"reader.py", "near.py", "own", "lib/inner.py"}
    with contextlib.chdir(tools.parent):
        named = tool_source("reader").read
    assert {place for place in named if str(tools.parent) in place} == {
        place for place in read if str(tools.parent) in place
    }
