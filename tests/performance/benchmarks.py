"""Scoring: samples a second of each benchmark on the reference vectors, in one process."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from planner_eval.benchmarks.benchmark import VARIANTS, benchmark
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Report
from tests.conftest import reference_folder
from tests.vectors import read

Sets = list[list[tuple[Sample, str]]]


def rows() -> Iterable[tuple[str, str, str]]:
    """Each benchmark and variant: samples a second, and how many samples that was measured on."""
    folder = reference_folder()
    if folder is None:
        yield "reference vectors", "not found", ""
        return
    for name, sets_of in SETS.items():
        sets, options = sets_of(folder)
        size = sum(map(len, sets))
        for variant in VARIANTS:
            taken = _seconds(sets, name, variant, options)
            what = f"{name} {variant}, {size:,} answers in {len(sets)} sets"
            yield what, f"{size / taken:,.0f} samples/s", ""


def _seconds(sets: Sets, name: str, variant: str, options: dict[str, str]) -> float:
    """The time for all sets, after a first one to warm up."""
    score: Callable[..., Report] = benchmark(name).score
    score(variant, sets[0], **options)
    start = time.perf_counter()
    for records in sets:
        report = score(variant, records, **options)
        assert report.n == len(records)
    return time.perf_counter() - start


def _grouped(rows: Iterable[tuple[Any, tuple[Sample, str]]]) -> Sets:
    found: dict[Any, list[tuple[Sample, str]]] = {}
    for key, record in rows:
        found.setdefault(key, []).append(record)
    return list(found.values())


def _appbench(folder: Path) -> tuple[Sets, dict[str, str]]:
    gold = {s.id: s for s in benchmark("appbench").read(folder / "datasets" / "appbench")}
    lines = read(folder / "vectors/appbench/pred.jsonl.gz")
    return _grouped(
        ((r["set"], r["perturbation"]), (gold[f"{r['set']}-{r['idx']}"], r["text"])) for r in lines
    ), {}


def _nestful(folder: Path) -> tuple[Sets, dict[str, str]]:
    gold = {
        (r["set"], r["idx"]): Sample(
            f"{r['set']}-{r['idx']}",
            tools=r["tools"],
            gold=r["output"],
            extra={"gold_answer": r["gold_answer"]},
        )
        for r in read(folder / "vectors/nestful/gold.jsonl.gz")
    }
    plain = (
        r
        for r in read(folder / "vectors/nestful/pred.jsonl.gz")
        if not r["perturbation"].startswith("dialect:")
    )
    return _grouped(((r["set"], r["perturbation"]), (gold[r["set"], r["idx"]], r["text"])) for r in plain), {}


def _callnavi(folder: Path) -> tuple[Sets, dict[str, str]]:
    gold = {s.id: s for s in benchmark("callnavi").read(folder / "datasets" / "callnavi")}
    lines = (r for r in read(folder / "vectors/callnavi/pred.jsonl.gz") if r["family"] == "json")
    return _grouped((r["perturbation"], (gold[r["id"]], r["raw"])) for r in lines), {}


def _functionchat(folder: Path) -> tuple[Sets, dict[str, str]]:
    gold = {s.id: s for s in benchmark("functionchat").read(folder / "datasets" / "functionchat")}

    def id_of(row: dict[str, Any]) -> str:
        suffix = f"-{row['tools_type']}" if row["dataset"] == "singlecall" else ""
        return f"{row['dataset']}-{row['serial_num']}{suffix}"

    exact = (r for r in read(folder / "vectors/functionchat/cases.jsonl.gz") if r["kind"] == "exact")
    return _grouped((r["dataset"], (gold[id_of(r)], json.dumps(r["output"]))) for r in exact), {}


def _complexfuncbench(folder: Path) -> tuple[Sets, dict[str, str]]:
    """The reference conversations: gold as recorded, answered with the model's scripted turns."""
    cases = list(read(folder / "vectors/complexfuncbench/cases.jsonl.gz"))
    functions = next(case["functions"] for case in cases if "functions" in case)
    records = []
    for case in cases:
        if case["kind"] == "conv":
            turns = [{"role": "assistant", "function_call": calls} for calls in case["script"]]
            turns.append({"role": "assistant", "content": case["final"]})
            sample = Sample(case["id"], tools=functions, gold=case["conversations"])
            records.append((sample, json.dumps(turns)))
    return [records], {}


SETS: dict[str, Callable[[Path], tuple[Sets, dict[str, str]]]] = {
    "appbench": _appbench, "nestful": _nestful, "callnavi": _callnavi,
    "complexfuncbench": _complexfuncbench, "functionchat": _functionchat,
}  # fmt: skip
