"""Running plans: NESTful answers with their win, inline, process, strict, and a fresh interpreter each."""

from __future__ import annotations

import gzip
import json
import marshal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from planner_eval.benchmarks.nestful import score_official
from planner_eval.benchmarks.nestful.formats import read_answer
from planner_eval.benchmarks.nestful.win import is_win
from planner_eval.datasets.sample import Sample
from planner_eval.execution import NestfulRunner, Sandbox, tool_source
from planner_eval.execution.channel import _flags
from planner_eval.execution.job import Program
from planner_eval.execution.nestful import compile_calls
from planner_eval.execution.sandbox import Limits
from tests.conftest import ROOT, reference_folder

ROUNDS = 5
FRESH = 30
"""Interpreters started a round; they take the same time each."""
OFFICIAL = 147
"""Samples a second of the published scorer with win rate, as the benchmark's specification reports it."""

_CHILD = """
import sys
package = type(sys)("planner_eval")
package.__path__ = [sys.argv[1] + "/planner_eval"]
sys.modules["planner_eval"] = package
sys.path.append(sys.argv[1])
import marshal
from planner_eval.execution import core, load, wire
program, setup = marshal.loads(sys.stdin.buffer.read())
program = core.Program.of(program)
tools = load.load({"kind": "nestful", "table": "official"})
if setup is not None:
    from planner_eval.execution import lockdown
    allowed = lockdown.prepared_filter("worker", threads=False)
    report = lockdown.lock_down(setup["limits"], setup["rules"], allowed)
    assert all(held for held, _ in report.values()), report
core.run(program, tools, lambda row: print(wire.encode(row.value)))
"""
"""A fresh interpreter that runs one plan; with a setup it locks itself down first."""


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of running plans."""
    answers = _answers()
    if answers is None:
        yield "NESTful math vectors", "reference material not found: five-call plans of our own", ""
        answers = _own_answers()
    prefix, writes = sys.pycache_prefix, sys.dont_write_bytecode
    with tempfile.TemporaryDirectory() as compiled:  # every child finds its modules compiled, as installed
        sys.pycache_prefix, sys.dont_write_bytecode = compiled, False
        try:
            yield from _levels(answers)
            yield from _round_trip()
            yield from _start_cost()
            yield from _whole_scoring()
        finally:
            sys.pycache_prefix, sys.dont_write_bytecode = prefix, writes


# ---------------------------------------------------------------- what is run
Answer = tuple[Any, Any, Any]
"""Decoded calls, the sample, its gold answer."""


def _answers(perturbations: int = 8) -> list[Answer] | None:
    folder = reference_folder()
    if folder is None:
        return None
    samples = {
        record["idx"]: record for record in _lines(folder, "gold") if record["set"] == "v2_math_random"
    }
    wanted: dict[str, list[Answer]] = {}
    for record in _lines(folder, "pred"):
        if record["set"] == "v2_math_random" and len(wanted | {record["perturbation"]: []}) <= perturbations:
            raw = read_answer(record["text"], record["dialect"]).raw
            gold = samples[record["idx"]]
            if raw:
                sample = SimpleNamespace(tools=gold["tools"])
                wanted.setdefault(record["perturbation"], []).append((raw, sample, gold["gold_answer"]))
    return [answer for answers in wanted.values() for answer in answers]


def _lines(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / "vectors" / "nestful" / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def _five_calls() -> list[dict[str, Any]]:
    given = [("add", 2, 3), ("multiply", "$v1.result$", 4), ("subtract", "$v2.result$", 1)]
    given += [("divide", "$v3.result$", 7), ("add", "$v4.result$", "$v1.result$")]
    return [
        {"name": name, "label": f"$v{i}", "arguments": {"arg_0": one, "arg_1": other}}
        for i, (name, one, other) in enumerate(given, 1)
    ]


def _sample() -> Any:
    names = ("add", "multiply", "subtract", "divide")
    return SimpleNamespace(tools=[{"name": name, "output_parameters": {"result": {}}} for name in names])


def _own_answers() -> list[Answer]:
    return [(_five_calls(), _sample(), 7.714285714285714)] * 1000


# ---------------------------------------------------------------- plans a second
def _levels(answers: list[Answer]) -> Iterable[tuple[str, str, str]]:
    few = answers[:: max(1, len(answers) // 600)]
    with (
        NestfulRunner(level="strict") as strict,
        NestfulRunner(level="strict") as single,
        NestfulRunner(level="process") as process,
        NestfulRunner(level="inline") as inline,
        _setup() as setup,
    ):
        single.box.jobs = 1
        runners = {"strict": strict, "strict, one at a time": single, "process": process, "inline": inline}
        wins = {name: _won(runner, few) for name, runner in runners.items()}
        assert len(set(wins.values())) == 1, wins
        speeds: dict[str, list[float]] = {name: [] for name in ("fresh", "confined", *runners)}
        for _ in range(ROUNDS):
            speeds["fresh"].append(_fresh(few, None))
            speeds["confined"].append(_fresh(few, setup))
            for name, runner in runners.items():
                chosen = few if name.startswith("strict") else answers
                speeds[name].append(_rate(lambda r=runner, c=chosen: _won(r, c), len(chosen)))  # type: ignore[misc]
    yield f"a fresh interpreter a plan ({len(few)} answers)", f"{_median(speeds['fresh']):,.0f} plans/s", ""
    yield "a fresh interpreter a plan, confined", f"{_median(speeds['confined']):,.0f} plans/s", ""
    targets = {"strict": "≥ 10 ×", "process": "≥ 20 ×"}
    for name in runners:
        factors = [
            _median([s / f for s, f in zip(speeds[name], speeds[base], strict=True)])
            for base in ("fresh", "confined")
        ]
        shown = f"{_median(speeds[name]):,.0f} plans/s = {factors[0]:,.1f} × ({factors[1]:,.1f} × confined)"
        yield f"{name}: answers run and compared with gold", shown, targets.get(name, "")


_median = statistics.median


def _won(runner: NestfulRunner, answers: list[Answer]) -> int:
    outcomes = runner.outcomes((calls, sample) for calls, sample, _ in answers)
    golds = (gold for *_, gold in answers)
    return sum(
        is_win(outcome.value if outcome.failure is None else False, gold)
        for outcome, gold in zip(outcomes, golds, strict=True)
    )


def _rate(work: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def _fresh(answers: list[Answer], setup: dict[str, Any] | None) -> float:
    programs = []
    for calls, sample, _ in answers:
        try:
            programs.append(compile_calls(calls, sample.tools))
        except ValueError:
            continue
    chosen = programs[:: max(1, len(programs) // FRESH)][:FRESH]
    _child(chosen[0], setup)
    return _rate(lambda: [_child(program, setup) for program in chosen], len(chosen))


def _child(program: Program, setup: dict[str, Any] | None, *, lean: bool = True) -> None:
    """One plan in an interpreter of its own, started as lean as workers are, or as `python` starts."""
    flags = _flags() if lean else _flags()[3:]
    command = [sys.executable, *flags, "-c", _CHILD, str(ROOT)]
    subprocess.run(
        command, input=marshal.dumps((program.plain(), setup)), capture_output=True, check=True, env={}
    )


@contextmanager
def _setup() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox(tool_source("nestful"), level="strict", limits=Limits())
        rules = {"read": list(box.source.read), "names": [], "folder": folder}
        yield {"limits": box._setup()["limits"], "rules": rules}


# ---------------------------------------------------------------- one plan
def _round_trip() -> Iterable[tuple[str, str, str]]:
    calls, sample = _five_calls(), _sample()
    for level, target in (("process", "≤ 0.3 ms"), ("strict", ""), ("inline", "")):
        with NestfulRunner(level=level) as runner:
            runner(calls, sample)
            times = []
            for _ in range(300):
                started = time.perf_counter()
                runner(calls, sample)
                times.append(time.perf_counter() - started)
        shown = f"{statistics.median(times) * 1000:.3f} ms (best {min(times) * 1000:.3f})"
        yield f"round trip of a five-call plan, {level}", shown, target


def _start_cost() -> Iterable[tuple[str, str, str]]:
    """A child that runs one plan, with and without locking itself down, started in turn."""
    program = compile_calls(_five_calls(), _sample().tools)
    plain: list[float] = []
    confined: list[float] = []
    usual: list[float] = []
    with _setup() as setup:
        for round_ in range(61):
            for times, given, lean in ((plain, None, True), (confined, setup, True), (usual, None, False)):
                started = time.perf_counter()
                _child(program, given, lean=lean)
                if round_:
                    times.append(time.perf_counter() - started)
    for name, base in (("python", usual), ("python -P -s -S", plain)):
        factor = _median([c / b for c, b in zip(confined, base, strict=True)])
        shown = f"{factor:.2f} × ({_median(confined) * 1000:.1f} against {_median(base) * 1000:.1f} ms)"
        yield f"start of a confined child against `{name}`", shown, "≤ 1.15 ×" if base is usual else ""


def _whole_scoring() -> Iterable[tuple[str, str, str]]:
    folder = reference_folder()
    if folder is None:
        return
    samples = {
        record["idx"]: Sample(
            str(record["idx"]), gold=record["output"], tools=record["tools"],
            extra={"gold_answer": record["gold_answer"]},
        )
        for record in _lines(folder, "gold")
        if record["set"] == "v2_math_random"
    }  # fmt: skip
    records = [
        (samples[record["idx"]], record["text"])
        for record in _lines(folder, "pred")
        if record["set"] == "v2_math_random" and record["perturbation"] in ("identical", "permuted")
    ]
    with NestfulRunner() as run:
        speed = _rate(lambda: score_official(records, run=run), len(records))
        without = _rate(lambda: score_official(records), len(records))
    yield "all official figures of NESTful, win rate in a worker", f"{speed:,.0f} samples/s", ""
    yield "  without win rate", f"{without:,.0f} samples/s", ""
    yield (
        f"  against {OFFICIAL} samples/s of the published scorer (another machine)",
        f"{speed / OFFICIAL:.0f} ×",
        "",
    )
