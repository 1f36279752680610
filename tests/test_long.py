"""What takes too long for every change: interrupts at any moment, and the fuzzers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner_eval.dialects.read import write
from planner_eval.plan.model import Call, Plan, Ref
from tests.build import edges
from tests.conftest import ROOT

pytestmark = pytest.mark.long

MOMENTS = 60


def grown(count: int, changed: bool = False) -> Plan:
    """So many calls of five tools; each uses one of the three before it, every tenth differs if changed."""
    calls = []
    for at in range(count):
        given: list[tuple[str, object]] = [("n", -at if changed and at % 10 == 0 else at), ("unit", "km")]
        if at > 3:
            given.append(("source", Ref(at - 1 - at % 3, ("out",))))
        calls.append(Call(f"c{at}", f"tool{at % 5}", tuple(given)))
    return Plan(tuple(calls), edges(tuple(calls)))


def records(file: Path, count: int, wrong: bool = False) -> str:
    """A file of so many small plans, every fourth of which is another if wrong."""
    plan, other = (json.loads(write(grown(6, changed=changed), "plan")) for changed in (False, True))
    rows = [{"id": str(at), "plan": other if wrong and at % 4 == 0 else plan} for at in range(count)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


COMMANDS = (
    "parse PRED", "stats PRED", "diff PRED GOLD", "diff PRED GOLD --format html", "score PRED GOLD",
    "compare PRED PRED --gold GOLD", "convert PRED --to nestful", "check PRED --catalog CATALOG",
    "execute PRED --tools TOOLS --isolation process",
)  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child there")
@pytest.mark.parametrize("words", COMMANDS)
def test_interrupted_at_any_moment(words: str, tmp_path: Path) -> None:
    """A command ends as interrupted or as always, without a traceback, and what it wrote is whole."""
    command, tools = words.split(), tmp_path / "tools.py"
    tools.write_text("".join(f"def tool{n}(**given):\n    return {{'out': {n}}}\n" for n in range(5)))
    takes = {"type": "object", "properties": {"n": {"type": "integer"}}}
    catalog = [{"name": f"tool{n}", "parameters": takes} for n in range(5)]
    (tmp_path / "catalog.json").write_text(json.dumps(catalog))
    count = 20 if command[0] == "execute" else 400
    names = {"TOOLS": str(tools), "CATALOG": str(tmp_path / "catalog.json")}
    names |= {"PRED": records(tmp_path / "pred.jsonl", count, wrong=True)}
    names |= {"GOLD": records(tmp_path / "gold.jsonl", count)}
    argv = [sys.executable, "-m", "planner_eval", *(names.get(word, word) for word in command), "-o"]
    began = time.monotonic()
    done = subprocess.run([*argv, str(tmp_path / "whole")], capture_output=True)
    lasts = time.monotonic() - began
    assert done.returncode in (0, 1), done.stderr
    whole = (tmp_path / "whole").read_bytes()
    codes = set()
    for moment in range(1, MOMENTS + 1):
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        with subprocess.Popen([*argv, str(output)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            time.sleep(lasts * moment / MOMENTS)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=30)
        codes.add(child.returncode)
        if b"Traceback" in said and b"planner_eval/__main__.py" not in said:
            continue  # Python itself was starting
        assert b"Traceback" not in said, said
        assert child.returncode in (130, -signal.SIGINT, done.returncode), said
        if command[0] != "execute":  # which writes what it has
            assert not output.exists() or output.read_bytes() in (b"", whole)
    assert codes & {130, -signal.SIGINT}


@pytest.mark.parametrize("name", ["fuzz", "fuzz_files", "fuzz_replies", "fuzz_endpoints"])
def test_fuzzers_find_nothing_new(name: str, tmp_path: Path) -> None:
    """Each run begins elsewhere; what it finds lies in the folder that the message names."""
    seed = str(time.time_ns() % 100_000)
    command = [sys.executable, "-m", f"tests.{name}", "--seconds", "120", "--seed", seed]
    done = subprocess.run([*command, "--finds", str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"{tmp_path}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
