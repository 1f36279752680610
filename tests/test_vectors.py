"""The table of rows and rows equal: docs/benchmarks.md prints it, and it notices what is not equal."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from planner_eval.benchmarks.complexfuncbench.api import replay
from planner_eval.benchmarks.registry import BENCHMARKS
from tests import vectors
from tests.complexfuncbench_turns import Judging, Vectors, pair, possible
from tests.conftest import ROOT

Shown: TypeAlias = Callable[..., tuple[int, list[list[str]]]]
QUICK = ("complexfuncbench", "functionchat")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    def run(*names: str) -> tuple[int, list[list[str]]]:
        monkeypatch.setattr(sys, "argv", ["vectors", *names])
        code = vectors.main()
        return code, [line.split() for line in capsys.readouterr().out.splitlines()]

    return run


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.more) for name in BENCHMARKS if name not in QUICK)],
)
@pytest.mark.usefixtures("reference")
def test_every_row_is_equal(name: str, shown: Shown) -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    told = [line.split() for line in page if line.startswith(f"{BENCHMARKS[name].title}  ")]
    code, rows = shown(name)
    assert (code, len(rows) > 3) == (0, True)
    assert [row for row in rows[1:-1] if row not in told] == []
    assert rows[-1][1] == rows[-1][3]


def changed(home: Path, reference: Path, name: str, official: Any) -> Path:
    """A reference folder whose vectors say something else."""
    at, made = reference / "vectors" / name, home / "vectors" / name
    made.mkdir(parents=True)
    (home / "datasets").symlink_to(reference / "datasets")
    (made / "cases.jsonl.gz").symlink_to(at / "cases.jsonl.gz")
    with gzip.open(made / "official.json.gz", "wt") as stream:
        json.dump(official, stream)
    return home


def test_a_changed_row_is_not_equal(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    official = vectors.read(reference / "vectors/functionchat/official.json.gz")
    official["exact"][0]["message"] += "."
    official["runs"]["dialog/judged"]["printed"] += "."
    next(row for row in official["exact"] if "raised" in row)["raised"] = "OtherError"
    home = changed(tmp_path, reference, "functionchat", official)
    monkeypatch.setattr(vectors, "reference_folder", lambda: home)
    code, rows = shown("functionchat")
    assert (code, rows[-1]) == (1, ["all", "7050", "1081", "7047"])


def test_what_the_published_code_raises_for_a_pair_of_calls_is_its_answer() -> None:
    """A filter that is null ends the published comparison; a step of ours that does not is another answer."""
    call = {"name": "f", "arguments": {"categories_filter": "a"}}
    function = {"name": "f", "parameters": {"properties": {"categories_filter": {}}}}
    null = {**call, "arguments": {"categories_filter": None}}
    verdict = pair(Judging([function], {"f": []}, replay(())), null, call)
    error = {"__raised__": "AttributeError: 'NoneType' object has no attribute 'split'"}
    assert verdict["rule"] == verdict["single"] == error
    assert vectors.same_pair(verdict, verdict) == vectors.same_pair(verdict, error) == (True, True)
    assert vectors.same_pair(verdict, {**verdict, "rule": {"__raised__": "KeyError"}}) == (False, True)
    assert vectors.same_pair(verdict, {**verdict, "rule": False, "single": [False, None]}) == (False, False)


@pytest.mark.more
def test_a_tied_turn_may_come_out_otherwise_and_no_other_turn(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    cases, tied, untied = Vectors(reference), 0, 0
    for case, expected in cases.of("turn"):
        ours, *others = possible(cases, case)
        if other := next((found for found in others if found != ours and "errors" in found), None):
            expected.update(other, success_map=dict(other["success_map"]))
            tied += 1
        elif not others and expected.get("success_map"):
            expected["success_map"] = {"9": None}
            untied += 1
    assert (tied > 0, untied > 0) == (True, True)
    home = changed(tmp_path, reference, "complexfuncbench", cases.official)
    monkeypatch.setattr(vectors, "reference_folder", lambda: home)
    code, rows = shown("complexfuncbench")
    assert (code, rows[-1]) == (1, ["all", "1856", "45", str(1856 - untied)])


def test_without_vectors_or_with_a_wrong_name_it_says_so(
    monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    monkeypatch.setattr(vectors, "reference_folder", lambda: None)
    assert shown()[0] == 2
    monkeypatch.setattr(vectors, "reference_folder", lambda: Path())
    code, rows = shown("appbenk")
    assert (code, "there are appbench" in " ".join(rows[0])) == (2, True)
