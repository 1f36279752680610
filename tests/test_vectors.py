"""The table of rows and rows equal: it counts what is equal, and notices what is not."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from planner_eval.benchmarks.complexfuncbench.api import replay
from planner_eval.benchmarks.complexfuncbench.matching import Matcher
from tests import vectors
from tests.complexfuncbench_turns import possible
from tests.own_samples_turns import pair
from tests.test_benchmark_complexfuncbench import Vectors


def table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *names: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["vectors", *names])
    code = vectors.main()
    return code, capsys.readouterr().out


def test_every_row_is_equal_and_a_changed_one_is_not(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = table(monkeypatch, capsys, "functionchat")
    assert code == 0
    assert shown.splitlines()[-1].split() == ["all", "7050", "1081", "7050"]
    (tmp_path / "datasets").symlink_to(reference / "datasets")
    changed = tmp_path / "vectors" / "functionchat"
    changed.mkdir(parents=True)
    (changed / "cases.jsonl.gz").symlink_to(reference / "vectors/functionchat/cases.jsonl.gz")
    with gzip.open(reference / "vectors/functionchat/official.json.gz", "rt") as stream:
        official = json.load(stream)
    official["exact"][0]["message"] += "."
    official["runs"]["dialog/judged"]["printed"] += "."
    raised = next(row for row in official["exact"] if "raised" in row)
    raised["raised"] = "OtherError"
    with gzip.open(changed / "official.json.gz", "wt") as stream:
        json.dump(official, stream)
    monkeypatch.setattr(vectors, "reference_folder", lambda: tmp_path)
    code, shown = table(monkeypatch, capsys, "functionchat")
    assert code == 1
    assert shown.splitlines()[-1].split() == ["all", "7050", "1081", "7047"]


def test_what_the_published_code_raises_for_a_pair_of_calls_is_its_answer() -> None:
    """A filter that is null ends the published comparison; a step of ours that does not is another answer."""
    call = {"name": "f", "arguments": {"categories_filter": "a"}}
    functions = {"f": {"parameters": {"properties": {"categories_filter": {}}}}}
    api = replay(())
    judged_with = SimpleNamespace(
        functions=functions, checked={"f": []}, api=api, matcher=Matcher(api, {"f": []})
    )
    verdict = pair(judged_with, {**call, "arguments": {"categories_filter": None}}, call)
    error = {"__raised__": "AttributeError: 'NoneType' object has no attribute 'split'"}
    assert verdict["rule"] == verdict["single"] == error
    assert vectors._same_pair(verdict, verdict) == vectors._same_pair(verdict, error) == (True, True)
    assert vectors._same_pair(verdict, {**verdict, "rule": {"__raised__": "KeyError"}}) == (False, True)
    assert vectors._same_pair(verdict, {**verdict, "rule": False, "single": [False, None]}) == (False, False)


def test_a_tied_turn_may_come_out_otherwise_and_no_other_turn(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at = reference / "vectors" / "complexfuncbench"
    cases = Vectors(reference)
    tied = untied = 0
    for case, expected in cases.of("turn"):
        ours, *others = possible(cases, case)
        if other := next((found for found in others if found != ours and "errors" in found), None):
            expected.update(other, success_map=dict(other["success_map"]))
            tied += 1
        elif not others and expected.get("success_map"):
            expected["success_map"] = {"9": None}
            untied += 1
    assert tied
    assert untied
    (tmp_path / "datasets").symlink_to(reference / "datasets")
    changed = tmp_path / "vectors" / "complexfuncbench"
    changed.mkdir(parents=True)
    (changed / "cases.jsonl.gz").symlink_to(at / "cases.jsonl.gz")
    with gzip.open(changed / "official.json.gz", "wt") as stream:
        json.dump(cases.official, stream)
    monkeypatch.setattr(vectors, "reference_folder", lambda: tmp_path)
    code, shown = table(monkeypatch, capsys, "complexfuncbench")
    assert code == 1
    assert shown.splitlines()[-1].split() == ["all", "1856", "45", str(1856 - untied)]


def test_another_exception_of_the_published_code_is_another_verdict(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at = reference / "vectors" / "callnavi"
    with gzip.open(at / "official.json.gz", "rt") as stream:
        official = json.load(stream)
    kept = official["parameters"]["params_as_dict"]
    name = next(iter(kept["ast_raised"]))
    kept["ast_raised"][name] = "KeyError: 1"
    official["parameters"] = {"params_as_dict": kept}
    official["routing"] = {}
    (tmp_path / "datasets").symlink_to(reference / "datasets")
    changed = tmp_path / "vectors" / "callnavi"
    changed.mkdir(parents=True)
    for file in ("pred.jsonl.gz", "routing.jsonl.gz", "stability.jsonl.gz"):
        (changed / file).symlink_to(at / file)
    with gzip.open(changed / "official.json.gz", "wt") as stream:
        json.dump(official, stream)
    monkeypatch.setattr(vectors, "reference_folder", lambda: tmp_path)
    code, shown = table(monkeypatch, capsys, "callnavi")
    assert code == 1
    assert shown.splitlines()[-1].split() == ["all", "1459", "238", "1458"]


def test_without_vectors_or_with_a_wrong_name_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vectors, "reference_folder", lambda: None)
    assert table(monkeypatch, capsys)[0] == 2
    monkeypatch.setattr(vectors, "reference_folder", lambda: Path())
    code, shown = table(monkeypatch, capsys, "appbenk")
    assert code == 2
    assert "there are appbench" in shown
