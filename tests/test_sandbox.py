"""The attack table: what hostile tools may try, that nothing comes of it, and that no plan finds another."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import ExecutionError
from planner_eval.execution.run import execute_many, execute_plan
from planner_eval.execution.sandbox import channel, syscalls
from planner_eval.execution.sandbox.lockdown import prepare_filter, restrict_syscalls
from planner_eval.execution.sandbox.namespaces import _UNSHARE
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.plan.model import Call, Plan, Ref
from tests.conftest import tables, text_case, until
from tests.inside import planeval as inside
from tests.sandbox.run_beside import SECONDS as BESIDE
from tests.test_cli import planeval

TABLES = tables(__file__)

HERE = Path(__file__).parent / "sandbox"
ATTACKS_FILE = HERE / "attacks.py"
RUNNER = HERE / "run_attacks.py"
OURS = HERE.parents[1] / "planner_eval" / "execution" / "core.py"
SECONDS = 3.0
NOBODY = 65534

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation: strict needs Linux")


class Scene:
    """What the attacks aim at: open to everybody, so that only the sandbox can be in the way."""

    def __init__(self, folder: Path, tcp: int, udp: int) -> None:
        self.folder, self.secret, self.temporary = folder, folder / "secret.txt", folder / "temporary"
        secret, parent = {"path": str(self.secret)}, {"pid": "PARENT"}
        self.given: dict[str, dict[str, Any]] = {
            "tcp_connect": {"port": tcp}, "udp_send": {"port": udp}, "read_passwd": {"path": "/etc/passwd"},
            "list_folder": {"path": str(folder)}, "write_file": {"path": str(folder / "written.txt")},
            "signal_process": {"pid": "PARENT", "number": 0},
            "change_files": {"paths": [str(ATTACKS_FILE), str(OURS)]},
            "empty_by_truncating_open": {"path": str(ATTACKS_FILE)},
        }  # fmt: skip
        for name in ("read_file", "open_by_ctypes", "change_mode", "symlink_out", "hard_link_out"):
            self.given[name] = secret
        for name in ("environment_of", "memory_of", "signal_by_descriptor", "limit_process"):
            self.given[name] = parent

    def named(self, attack: str) -> str:
        name = "read_file" if attack == "read_passwd" else attack
        return f"{name}={json.dumps(self.given.get(attack, {}))}"


PUBLISHED = TABLES["PUBLISHED"]
"""What stands for the rows of the published table."""
FURTHER = TABLES["FURTHER"]
WITH_A_FOLDER = ["raise_own_limits"]
"""Attacks that level process, which limits no processor time and has a deadline, is not made against."""
ALLOWED = "write_in_own_folder"
EVERYTHING = [*PUBLISHED, *FURTHER, *WITH_A_FOLDER, ALLOWED]
UNCONTROLLED = {
    "huge_power", "sleep_forever", "allocate_4_gb", "many_files", "segfault", "descriptors_that_lead_out",
}  # fmt: skip


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    folder = Path(tempfile.mkdtemp(prefix="attacked-"))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with socket.create_server(("127.0.0.1", 0)) as tcp, udp:
        udp.bind(("127.0.0.1", 0))
        made = Scene(folder, tcp.getsockname()[1], udp.getsockname()[1])
        made.secret.write_text("a secret")
        made.temporary.mkdir()
        for path in (folder, made.secret, made.temporary):
            path.chmod(0o777)
        yield made
    shutil.rmtree(folder)


def python_for(user: int) -> str | None:
    """A Python that the user may start, new enough for the package; None where there is none."""
    check = "import sys; sys.path.insert(0, sys.argv[1]); import planner_eval.execution.sandbox.sandbox"
    who: Any = {"user": user, "group": user, "extra_groups": []}
    for candidate in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        command = [candidate, "-c", check, str(HERE.parents[1])]
        with contextlib.suppress(OSError):
            if subprocess.run(command, capture_output=True, **who).returncode == 0:
                return candidate
    return None


def as_user(user: str, *argv: str, temporary: Path, **more: Any) -> dict[str, Any]:
    """What a script prints that root or an ordinary user runs; the test skips where it is refused."""
    python: str | None = sys.executable
    if user == "root" and os.geteuid() != 0:
        pytest.skip("isolation: not root, so nothing can be tried as root")
    if user == "ordinary" and os.geteuid() == 0:
        python, who = python_for(NOBODY), {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        if python is None:
            pytest.skip("isolation: no Python here that an ordinary user may start and that sees us")
        more = {**more, **who}
    more["env"] = {**os.environ, "TMPDIR": str(temporary), "SECRET_TOKEN": "a secret"}
    done = subprocess.run([str(python), "-B", *argv], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_as(user: str, scene: Scene, attacks: list[str], how: str = "strict", **more: Any) -> dict[str, Any]:
    seconds = 10.0 if how == "threads" else SECONDS
    argv = (str(RUNNER), how, str(seconds), *map(scene.named, attacks))
    found = as_user(user, *argv, temporary=scene.temporary, cwd=scene.folder, **more)
    if "refused" in found and "preexec_fn" not in more:
        pytest.skip(f"isolation: {found['refused']}")
    return found


@pytest.fixture(scope="module", params=["root", "ordinary"])
def outcome(request: pytest.FixtureRequest, scene: Scene) -> dict[str, Any]:
    found = run_as(request.param, scene, EVERYTHING)
    assert (found["uid"] == 0) == (request.param == "root")
    return found


REASONS = TABLES["REASONS"]


@pytest.mark.more
def test_each_attack_fails_as_it_should_and_leaves_nothing(outcome: dict[str, Any], scene: Scene) -> None:
    for attack in EVERYTHING:
        found = outcome["results"][scene.named(attack)]
        if attack == ALLOWED:
            assert found["message"] == "'8 bytes'"
            continue
        assert found["status"] == "failed", attack
        kernel = attack == "many_files" and found["kind"] == "OSError"  # a disk of a fixed size; else counted
        assert kernel or found["kind"] == REASONS.get(attack, "PermissionError"), attack
    assert list(scene.temporary.iterdir()) == []
    assert not (scene.folder / "written.txt").exists()
    assert scene.secret.read_text() == "a secret"
    assert processes_in(scene.temporary) == []


@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_level_process_holds_against_the_same(user: str, scene: Scene) -> None:
    attacks = sorted([*PUBLISHED, *FURTHER, ALLOWED])
    found = run_as(user, scene, attacks, "process")
    layers = {name: held for name, held, _ in found["layers"]}
    if not (layers["landlock"] and layers["seccomp"]):
        pytest.skip("isolation: no Landlock or no seccomp here, which level process does not ask for")
    assert not {each: told for each, told in found["results"].items() if told["status"] != "failed"}
    assert scene.secret.read_text() == "a secret"


@pytest.mark.parametrize("attack", sorted(set(EVERYTHING) - UNCONTROLLED))
def test_without_a_sandbox_the_attack_works(scene: Scene, tmp_path: Path, attack: str) -> None:
    name, _, arguments = scene.named(attack).partition("=")
    if attack == "empty_by_truncating_open":
        arguments = json.dumps({"path": str(tmp_path / "emptied")})
        (tmp_path / "emptied").write_text("full")
    command = [sys.executable, str(ATTACKS_FILE), name, arguments.replace('"PARENT"', str(os.getpid()))]
    environment = {**os.environ, "SECRET_TOKEN": "a secret"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    (scene.folder / "written.txt").unlink(missing_ok=True)
    worked = done.returncode == 0 if attack == "replace_by_program" else "WORKED" in done.stdout
    assert worked, done.stderr


def processes_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdecimal() and os.readlink(process / "cwd").startswith(str(folder)):
                found.append(process.name)
    return found


USED_UP = TABLES["USED_UP"]


@pytest.mark.more
@pytest.mark.parametrize("user", ["root", "ordinary"])
@pytest.mark.parametrize("held_by", ["kernel", "outside"])
def test_disk_and_tasks_are_limited_and_the_rest_works(user: str, held_by: str, scene: Scene) -> None:
    refused = _filter_without(_UNSHARE.get(os.uname().machine, 272))
    more = {"preexec_fn": lambda: restrict_syscalls(refused)} if held_by == "outside" else {}
    found = run_as(user, scene, [*USED_UP, ALLOWED, "some_threads"], "threads", **more)
    if "refused" in found:
        pytest.skip(f"isolation: {found['refused']}")
    layers = {name: (held, text) for name, held, text in found["layers"]}
    if held_by == "kernel" and not layers["disk"][0]:
        pytest.skip(f"isolation: {layers['disk'][1]}")
    assert layers["disk"][0] == layers["tasks"][0] == (held_by == "kernel"), layers
    told = {attack: found["results"][scene.named(attack)] for attack in (*USED_UP, ALLOWED, "some_threads")}
    for attack, kinds in USED_UP.items():
        assert told[attack]["kind"] == kinds[held_by == "outside"], (attack, told[attack])
    assert (told[ALLOWED]["message"], told["some_threads"]["message"]) == ("'8 bytes'", "20")
    assert list(scene.temporary.iterdir()) == []


@pytest.mark.parametrize("level", ["strict", "process"])
def test_a_tool_starts_so_many_threads_and_no_more(level: str) -> None:
    for tool, more, code, said in (
        ("thousand_threads", ("--concurrency", "2"), 1, "can't start new thread"),
        ("some_threads", ("--concurrency", "2"), 0, "20"),
        ("thousand_threads", (), 1, "can't start new thread"),
        ("some_threads", (), 0, "20"),
    ):
        plan = json.dumps([{"name": tool, "arguments": {}}])
        argv = ("--tools", str(ATTACKS_FILE), "--isolation", level, *more)
        done = planeval("execute", "-", *argv, text=plan)
        assert done.returncode == code, done.stdout + done.stderr
        assert said in done.stdout or "task-limit" in done.stdout or "SIGKILL" in done.stdout


def test_a_hundred_calls_at_once_are_made_some_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("import time\ndef nap(x):\n    time.sleep(0.01)\n    return x\n")
    plan = json.dumps([{"name": "nap", "arguments": {"x": x}} for x in range(100)])
    done = planeval("execute", "-", "--tools", tmp_path / "tools.py", "--concurrency", "100", text=plan)
    assert done.returncode == 0, done.stdout + done.stderr


def test_doctor_says_which_limit_holds_and_that_process_protects_no_plan() -> None:
    lines = planeval("doctor").stdout.splitlines()
    assert any(line.split()[:1] == ["disk"] and "64 MB" in line for line in lines)
    assert sum(line.split()[:1] == ["tasks"] and "64 threads" in line for line in lines) == 2
    assert any("isolation process" in line and "share one interpreter" in line for line in lines)


def one(tool: str, **arguments: Any) -> Plan:
    return Plan((Call("c1", tool, tuple(arguments.items())), Call("c2", tool, (("x", Ref(0)),))))


def test_folders_made_to_stay_are_removed(scene: Scene) -> None:
    run_as("root" if os.geteuid() == 0 else "ordinary", scene, ["deep_folders", "locked_folder"])
    assert list(scene.temporary.iterdir()) == []


@pytest.mark.parametrize("level", ["strict", "process"])
def test_each_plan_starts_afresh(level: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text("count = 0\ndef up():\n    global count\n    count += 1\n    return count\n")
    plan = Plan((Call("a", "up"), Call("b", "up")))
    assert [trace.result for trace in execute_many([plan, plan], str(tools), isolation=level)] == [2, 2]


def test_process_replaces_a_worker_that_a_plan_killed() -> None:
    names = "not_a_number segfault leave close_and_sleep sleep_forever swallow_everything not_a_number"
    with Sandbox(tool_source(str(ATTACKS_FILE)), level="process", limits=Limits(seconds=0.5)) as sandbox:
        traces = list(execute_many(map(one, names.split()), sandbox))
    said = [str(trace.ended) for trace in traces]
    late = "timeout: stopped after 0.5 seconds"
    assert said[1:3] == ["worker-died: killed by SIGSEGV", "worker-died: exited with 0"]
    assert [said[0], *said[3:]] == ["None", late, late, late, "None"]
    assert [call.status for call in traces[2].calls] == ["failed", "skipped"]


STARTER = text_case("test_sandbox-STARTER.txt")


def begun(level: str, folder: Path) -> subprocess.Popen[str]:
    """A process that runs a plan without end; it prints the number of its worker."""
    command = [sys.executable, "-c", STARTER, str(HERE.parents[1]), str(ATTACKS_FILE), level]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("level", ["strict", "process"])
def test_a_killed_parent_leaves_no_process_and_no_file(scene: Scene, level: str) -> None:
    with begun(level, scene.temporary) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert Path(f"/proc/{worker}").exists()
        if level == "strict":
            until(lambda: processes_in(scene.temporary))
        parent.kill()
    until(lambda: not alive(worker) and not list(scene.temporary.iterdir()))
    assert processes_in(scene.temporary) == []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_outlives_the_thread_that_started_it() -> None:
    source = tool_source(str(ATTACKS_FILE))
    for level in ("process", "strict"):
        with Sandbox(source, level=level) as sandbox, ThreadPoolExecutor(1) as pool:
            try:
                pool.submit(execute_plan, one("not_a_number"), sandbox).result()
            except ExecutionError as error:
                pytest.skip(f"isolation: {error}")
            pool.shutdown()
            time.sleep(0.1)
            assert execute_plan(one("not_a_number"), sandbox).ended is None


def test_where_a_layer_is_lacking_strict_refuses_and_says_how_to_go_on(scene: Scene) -> None:
    without_landlock = _filter_without(444)
    if not prepare_filter("worker", threads=False):
        pytest.skip("isolation: no seccomp table for this machine")
    user = "root" if os.geteuid() == 0 else "ordinary"
    found = run_as(user, scene, ["read_file"], preexec_fn=lambda: restrict_syscalls(without_landlock))
    assert "'strict' needs limits, capabilities, landlock, seccomp" in found["refused"]
    assert "landlock (this kernel offers no Landlock" in found["refused"]
    assert "--isolation process" in found["refused"]
    assert found["results"] == {}


def _filter_without(number: int) -> bytes:
    def op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("=HBBI", code, yes, no, value)

    return op(0x20, 0) + op(0x15, number, 0, 1) + op(0x06, 0x00050026) + op(0x06, 0x7FFF0000)


def test_objects_of_this_process_run_inline_and_only_when_that_is_said() -> None:
    source = tool_source({"double": lambda x: 2 * x})
    plan = Plan((Call("a", "double", (("x", 4),)),))
    assert execute_plan(plan, source).result == 8
    with pytest.raises(ExecutionError, match="isolation='inline'"):
        execute_plan(plan, source, isolation="strict")


def test_the_server_stays_lean() -> None:
    probe = channel._START_CODE.replace("main()", "print(*sorted(sys.modules))")
    command = [sys.executable, "-P", "-s", "-S", "-c", probe, str(HERE.parents[1])]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    heavy = {"networkx", "numpy", "click", "json", "re", "typing", "dataclasses", "inspect", "enum"}
    assert not loaded & (heavy | {"collections", "ctypes"})


def test_system_call_numbers_agree_with_this_machines_headers() -> None:
    one = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"]
    checked = 0
    for column, paths in enumerate((one, ["/usr/include/asm-generic/unistd.h"])):
        text = next((Path(path).read_text() for path in paths if Path(path).is_file()), "")
        words = (line.split() for line in text.splitlines() if line.startswith("#define __NR"))
        known = {w[1].replace("__NR3264_", "").replace("__NR_", ""): w[2] for w in words if len(w) > 2}
        known.setdefault("newfstatat", known.get("fstatat", ""))
        for table in (syscalls._ALLOWED_CALLS, syscalls._CHECKED_CALLS, syscalls._SERVER_ONLY_CALLS):
            for name, number in syscalls.syscall_numbers(table, column).items():
                if known.get(name, "").isdecimal():
                    assert int(known[name]) == number, (name, column)
                    checked += 1
    if not checked:
        pytest.skip("isolation: no kernel headers on this machine to compare with")
    assert checked > 100


SPIES = ["spy_in_frames", "spy_in_objects", "spy_in_folders", "spy_in_own_process", "spy_in_other_processes"]
HEAD = f"SECRET-{secrets.token_hex(4)}-"
"""Of this process alone: beside it other tests may run, with secrets of their own."""
NOTHING = "PermissionError: there is no secret"
LOST = "worker-lied: sent an invalid reply"
EATEN = 1
"""A spy that reads its own reply pipe may eat the outcome of the one before it, if nobody was faster."""


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
        "pause": [call("wait", seconds=0.3)], "spies": [call(spy, head=HEAD) for spy in spies],
    }  # fmt: skip
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
    found = outcomes(planeval("execute", plans_beside(tmp_path, secret(), BESIDE, SPIES), *argv))
    assert found["keeper"]["ok"]
    assert found["pause"]["seconds"] + found["spies"]["seconds"] < found["keeper"]["seconds"]
    made = found["spies"]["calls"]
    told = {call["tool"]: call.get("value", call.get("error", {}).get("kind")) for call in made}
    assert told.keys() == set(SPIES)
    assert set(told.values()) <= {"PermissionError", "worker-lied"}, told
    assert list(told.values()).count("worker-lied") <= EATEN


@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_neither_root_nor_an_ordinary_user_finds_anything(open_folder: Path, user: str) -> None:
    argv = (str(HERE / "run_beside.py"), secret(), HEAD, str(open_folder), *SPIES)
    told = as_user(user, *argv, temporary=open_folder, cwd=open_folder)
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
def test_without_a_sandbox_spies_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spy: str) -> None:
    kept = secret()
    file = plans_beside(tmp_path, kept, 0.0, [spy])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(HERE.parents[1]))
    argv = ("--tools", str(ATTACKS_FILE), "--isolation", "inline", "--format", "jsonl")
    found = outcomes(planeval("execute", file, *argv))
    assert found["spies"]["calls"][0]["value"] == kept


def test_a_plan_has_four_descriptors() -> None:
    assert execute_plan(Plan((Call("c1", "descriptors"),)), str(ATTACKS_FILE)).result == [0, 1, 2, 3]


def test_large_plans_side_by_side_arrive_whole(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def size(text):\n    return len(text)\n")
    sizes = [3_000_000, 1, 400_000, 10, *[200_000, 10] * 6]
    plans = [Plan((Call("c1", "size", (("text", "x" * size),)),)) for size in sizes]
    with Sandbox(tool_source(str(tmp_path / "tools.py")), jobs=4) as box:
        assert [trace.result for trace in execute_many(plans, box)] == sizes


@pytest.mark.parametrize("killed", ["waiter", "supervisor", "zygote"])
def test_where_supervisor_or_zygote_is_killed_nothing_goes_on(open_folder: Path, killed: str) -> None:
    with begun("strict", open_folder) as parent:
        assert parent.stdout is not None
        chain = [int(parent.stdout.readline())]
        until(lambda: len(processes_in(open_folder)) == 3)  # the supervisor, the zygote and the child
        while len(chain) < 3:  # what waits for the supervisor, the supervisor, the zygote
            chain += [int(Path(f"/proc/{chain[-1]}/task/{chain[-1]}/children").read_text())]
        os.kill(chain[["waiter", "supervisor", "zygote"].index(killed)], signal.SIGKILL)
        said = parent.stdout.read()
    assert said == "the server that starts the workers stopped; run the plans again\n"
    until(lambda: processes_in(open_folder) == [], 5)  # the kernel ends them one after another
    assert list(open_folder.iterdir()) == []


READER = "def read(path):\n    with open(path) as file:\n        return file.read()[:40]\n"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A tools file with true neighbours, and with links and worse that lead elsewhere."""
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "tools"
    for place in (elsewhere / "package", folder / "lib", folder / "own"):
        place.mkdir(parents=True)
    for name in ("secret.txt", "secret.py", "package/__init__.py", "package/secret.txt"):
        (elsewhere / name).write_text("# a secret\n")
    sums = "\ndef sums():\n    import linked, near, own\n    return linked.INNER + near.NEAR + own.OWN\n"
    files = {"lib/inner.py": "INNER = 1\n", "own/__init__.py": "OWN = 3\n", "near.py": "NEAR = 2\n"}
    for name, text in (*files.items(), ("notes.txt", "a secret\n"), ("reader.py", READER + sums)):
        (folder / name).write_text(text)
    links = {
        "linked.py": "lib/inner.py", "all.py": "/", "noted.py": "notes.txt", "up": "..",
        "null.py": "/dev/full",
    }  # fmt: skip
    links |= {"outside.py": str(elsewhere / "secret.py"), "package": str(elsewhere / "package")}
    for name, place in links.items():
        (folder / name).symlink_to(place)
    os.mkfifo(folder / "fifo.py")
    return folder / "reader.py"


def test_links_beside_the_tools_open_nothing_elsewhere(tools: Path) -> None:
    there = (
        "elsewhere/secret.txt", "elsewhere/secret.py", "elsewhere/package/secret.txt", "tools/outside.py",
    )  # fmt: skip
    ours = ("tools/noted.py", "tools/notes.txt", "tools/package/secret.txt")
    paths = [*(str(tools.parents[1] / name) for name in (*there, *ours)), "/etc/passwd", "/dev/full"]
    plan = json.dumps([*(call("read", path=path) for path in paths), call("sums")])
    done = inside("execute", "-", "--tools", tools, "--format", "json", text=plan)
    *read, sums = json.loads(done.stdout)["calls"]
    assert [one["error"]["kind"] for one in read] == ["PermissionError"] * len(paths)
    assert sums["value"] == 6, "what the tools import from beside still loads"


def test_only_regular_files_of_the_folder_are_named(tools: Path) -> None:
    read = tool_source(str(tools)).read
    near = {place for place in read if str(tools.parent) in place}
    names = {str(Path(place).relative_to(tools.parent)) for place in near}
    assert names == {"reader.py", "near.py", "own", "lib/inner.py"}
    with contextlib.chdir(tools.parent):
        assert {place for place in tool_source("reader").read if str(tools.parent) in place} == near
