"""Runs of commands that are killed, hang or find other files and folders: a message each, nothing lost."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, tables, until
from tests.test_engine import workers

TABLES = tables(__file__)

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
    """Pairs: each third differs, each 17th cannot be read (given values, all can), each 19th is left out."""
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
    known: dict[tuple[str, str], tuple[tuple[int, str, str], dict[str, bytes]]] = {}

    def asked(kind: str, store: str) -> tuple[tuple[int, str, str], dict[str, bytes]]:
        if (kind, store) not in known:
            run = slow.home / f"whole-{kind}-{store}"
            found = slow.ran(kind, run, "--store", store)
            known[kind, store] = found, bytes_of(run)
        return known[kind, store]

    return asked


LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 54)]
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


@pytest.mark.more
@pytest.mark.parametrize("seed", [*range(4), *LONG])
def test_a_killed_command_goes_on(seed: int, slow: Files, tmp_path: Path, undisturbed: Undisturbed) -> None:
    disturb(seed, slow, tmp_path / "run", undisturbed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changing_input_is_said(kind: str, tmp_path: Path, slow: Files, undisturbed: Undisturbed) -> None:
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


DEMO = ROOT / "data" / "demo"


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
    for side in ("pred", "gold"):
        shutil.copy(DEMO / f"{side}.jsonl", tmp_path)
    assert ran(tmp_path, "score", "pred.jsonl", "gold.jsonl", "-o", "run/", "--part", "5")[0] == 0
    return tmp_path


AGAIN = ("score", "pred.jsonl", "gold.jsonl", "-o", "run/")
ADVICE = "restore it from a copy, use another folder, or remove run"


@pytest.mark.more
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
        assert ("holds parts of a run without its run.json" if kind == "gone" else "run/run.json") in said
        assert ADVICE in said
    if kind == "gone":
        for name in ("rows.jsonl", "report.json"):  # parts alone would be taken for those of any other run
            (home / "run" / name).unlink()
        assert "without its run.json" in refused(home, *AGAIN)
    file.write_text(text, encoding="utf-8")
    assert ran(home, *AGAIN)[0] == 0


@pytest.mark.parametrize("name", ["parts/000001.json", "parts/000001.jsonl", "rows.jsonl"])
def test_a_folder_in_the_place_of_a_file_is_said(name: str, home: Path) -> None:
    before = (home / "run" / "rows.jsonl").read_bytes()
    (home / "run" / "rows.jsonl").unlink()
    (home / "run" / name).unlink(missing_ok=True)
    (home / "run" / name).mkdir()
    assert f"run/{name} is a folder where the run needs a file: remove it" in refused(home, *AGAIN)
    (home / "run" / name).rmdir()
    assert ran(home, *AGAIN)[0] == 0
    assert (home / "run" / "rows.jsonl").read_bytes() == before


def test_a_run_beside_a_file_is_an_error_that_says_what_to_type(home: Path) -> None:
    for argv, said in TABLES["a_run_beside_a_file_is_an_error_that_says_what_to_type"]:
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


@pytest.mark.more
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
