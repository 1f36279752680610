"""What takes too long for every change: interrupts at any moment, every notation, growth, the fuzzers."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import WriteError
from planner_eval.comparison.diff import diff
from planner_eval.comparison.patch import make_patch
from planner_eval.comparison.rows import diff_data
from planner_eval.plan.canonical import digest, same
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse, write
from planner_eval.results.views.rows import diff_text
from tests.build import edges
from tests.conftest import ROOT, tables
from tests.performance.parsing import processor
from tests.performance.timing import growth
from tests.real_plans import real_plans

TABLES = tables(__file__)

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


COMMANDS = TABLES["COMMANDS"]


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


@pytest.mark.parametrize("name", dialects.names())
def test_a_repaired_reading_of_what_is_whole_is_the_reading(name: str, reference: Path) -> None:
    """Repair changes nothing where strict reading succeeds."""
    for gold in real_plans(reference):
        try:
            text = write(gold, name)
        except WriteError:
            continue
        assert same(parse(text, dialect=name, repair=True), parse(text, dialect=name))


SIZES = (1_000, 4_000, 16_000)


@pytest.mark.parametrize("verb", ["write", "parse", "digest", "diff"])
def test_time_grows_about_as_the_plan(verb: str) -> None:
    """In processor time, the least of three; when Python looks for circles depends on what ran before."""
    times = []
    for size in SIZES:
        plan, other = grown(size), grown(size, changed=True)
        text = write(plan, "plan")
        works = {
            "write": partial(write, plan, "plan"), "parse": partial(parse, text, dialect="plan"),
            "digest": partial(digest, plan), "diff": partial(diff, other, plan),
        }  # fmt: skip
        gc.disable()
        try:
            times.append(processor(works[verb], 3))
        finally:
            gc.enable()
    assert growth(SIZES, times) <= 1.4, times


def one(**given: Any) -> Plan:
    return Plan((Call("c1", "f", tuple(given.items())),))


def joins(count: int, by: int) -> Plan:
    """Calls of which each third takes from the two before it; of tools that the other plan has not."""
    made = []
    for at in range(0, count - 2, 3):
        both = (("one", Ref(at)), ("other", Ref(at + 1)))
        parts = ((f"left{by}", (("x", at),)), (f"right{by}", (("y", at),)), (f"join{by}", both))
        made += [Call(f"c{at + n}", name, given) for n, (name, given) in enumerate(parts)]
    return Plan(tuple(made), edges(tuple(made)))


SHAPES: dict[str, Callable[[int, int], Plan]] = {
    "a list of objects": lambda n, by: one(rows=[{"id": at, "v": f"x{at + by}"} for at in range(n)]),
    "an object of other keys": lambda n, by: one(o={f"k{by}{at}": at for at in range(n)}),
    "renamed arguments": lambda n, by: one(**{f"k{by}{n - at if by else at}": at for at in range(n)}),
    "one argument many times": lambda n, by: Plan(
        (Call("c1", "f", tuple(("x", at + by) for at in range(n))),)
    ),
    "a chain that is missing": lambda n, by: grown(2 if by else n),
    "a chain that is extra": lambda n, by: grown(n if by else 2),
    "calls that join in others": joins,
    "a text in many brackets": lambda n, by: one(text="[" * n * 99 + str(by) + "]" * n * 99, n=by),
    "a long text": lambda n, by: one(text="".join(f"word{at + by}\n" for at in range(n * 4))),
}


@pytest.mark.parametrize("name", SHAPES)
def test_showing_what_differs_takes_time_by_its_size(name: str) -> None:
    def seconds(count: int) -> float:
        pred, gold = SHAPES[name](count, 1), SHAPES[name](count, 0)

        def work() -> None:
            found = diff(pred, gold)
            assert not found.same
            diff_text(found, places=True)
            diff_data(found)
            make_patch(found)

        return processor(work, 3)

    gc.disable()  # what it looks through is all that tests before this one left
    try:
        small, large = max(0.01, seconds(500)), seconds(4_000)
    finally:
        gc.enable()
    assert large <= 24 * small, "what is quadratic takes 64 times as long"


@pytest.mark.parametrize("command", ["diff", "score", "stats", "parse"])
def test_time_and_memory_of_a_command_grow_at_most_as_its_files(command: str, tmp_path: Path) -> None:
    counts, times, peaks = (1_000, 5_000, 25_000), [], []
    for count in counts:
        files = [records(tmp_path / "pred.jsonl", count, wrong=True)]
        if command in ("diff", "score"):
            files.append(records(tmp_path / "gold.jsonl", count))
        began = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-m", "planner_eval", command, *files, "-o", str(tmp_path / "output")]
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        times.append(time.monotonic() - began)
        peaks.append(usage.ru_maxrss)
        assert child.returncode in (0, 1)
    assert growth(counts, times) <= 1.2, times
    assert growth(counts, peaks) <= 1.05, peaks


PROGRAMS: dict[str, Callable[[int], str]] = {
    "one assignment": lambda n: ",".join(f"a{at}" for at in range(n)) + " = " + ",".join(["b"] * n),
    "a chain of variables": lambda n: "\n    ".join(f"a{at} = a{at + 1}" for at in range(n)),
    "branches": lambda n: "\n    ".join(f"a{at} = 1\n    if q: b{at} = 1" for at in range(n // 2)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loop_is_read_in_time_by_its_size(name: str) -> None:
    """What a round makes of an earlier one's values took half a minute for a chain of 9,000."""
    texts = [f"for q in [1, 2]:\n    {PROGRAMS[name](count)}\nf(x=1)\n" for count in (2_000, 8_000)]
    small, large = (processor(partial(parse, text), 3) for text in texts)
    assert large <= 9 * small, "what is quadratic takes 16 times as long"


@pytest.mark.parametrize("name", ["fuzz", "fuzz_files", "fuzz_replies", "fuzz_endpoints"])
def test_fuzzers_find_nothing_new(name: str, tmp_path: Path) -> None:
    """Each run begins elsewhere; what it finds lies in the folder that the message names."""
    seed = str(time.time_ns() % 100_000)
    command = [sys.executable, "-m", f"tests.{name}", "--seconds", "120", "--seed", seed]
    done = subprocess.run([*command, "--finds", str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"{tmp_path}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
