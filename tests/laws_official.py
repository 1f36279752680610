"""Answers to AppBench under both scores, and the defects of the published code where its F1 is the higher."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner_eval.base.resources import folder
from planner_eval.benchmarks.registry import BENCHMARKS
from planner_eval.datasets.sample import Sample
from tests.conftest import reference_folder

DEFECTS: Mapping[str, Callable[[str, str, Mapping[str, Any]], bool]] = {}


def defect(figure: str, text: str, gold: Mapping[str, Any]) -> str | None:
    """The defect of the published code that raises a figure of this answer; None where none is known."""
    return next((name for name, shows in DEFECTS.items() if shows(figure, text, gold)), None)


def answers() -> Iterator[tuple[Sample, str]]:
    """Perturbed gold with and without our own samples."""
    at = folder("data") / "samples"
    samples = {one.id: one for one in BENCHMARKS["appbench"].read(at / "appbench")}
    for line in (at / "answers" / "appbench.jsonl").read_text("utf-8").splitlines():
        answer = json.loads(line)
        yield samples[answer["id"]], answer["prediction"]
    reference = reference_folder()
    if reference is None:
        return
    vectors = reference / "vectors" / "appbench"
    with gzip.open(vectors / "gold.jsonl.gz", "rt") as stream:
        gold = {(r["set"], r["idx"]): r["sample"]["output"] for r in map(json.loads, stream)}
    with gzip.open(vectors / "pred.jsonl.gz", "rt") as stream:
        for row in map(json.loads, stream):
            key = row["set"], row["idx"]
            yield Sample(f"{row['set']}-{row['idx']} {row['perturbation']}", gold=gold[key]), row["text"]
