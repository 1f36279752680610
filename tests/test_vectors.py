"""The table of rows and rows equal: docs/benchmarks.md prints it, and it notices what is not equal."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.complexfuncbench.data import replay
from tests import vectors
from tests.complexfuncbench_turns import Judging, pair
from tests.conftest import ROOT

Shown: TypeAlias = Callable[..., tuple[int, list[list[str]]]]
QUICK = ("complexfuncbench", "functionchat")
SLOW = [name for name in BENCHMARKS if name not in (*QUICK, "bfcl")]
"""Those of BFCL are in tests/test_benchmark_bfcl.py."""


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    def run(*names: str) -> tuple[int, list[list[str]]]:
        monkeypatch.setattr(sys, "argv", ["vectors", *names])
        code = vectors.main()
        return code, [line.split() for line in capsys.readouterr().out.splitlines()]

    return run


@pytest.mark.parametrize("name", [
    *QUICK, *(pytest.param(name, marks=pytest.mark.more) for name in SLOW),
])  # fmt: skip
@pytest.mark.usefixtures("reference")
def test_every_row_is_equal(name: str, shown: Shown) -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    told = [line.split() for line in page if line.startswith(f"{BENCHMARKS[name].title}  ")]
    code, rows = shown(name)
    assert (code, len(rows) > 3) == (0, True)
    assert [row for row in rows[1:-1] if row not in told] == []
    assert rows[-1][1] == rows[-1][3]


@pytest.mark.usefixtures("reference")
def test_a_changed_row_is_not_equal(monkeypatch: pytest.MonkeyPatch, shown: Shown) -> None:
    def changed(path: Path, read: Any = vectors.read) -> Any:
        official = read(path)
        if path.name == "official.json.gz":
            official["exact"][0]["message"] += "."
            official["runs"]["dialog/judged"]["printed"] += "."
            next(row for row in official["exact"] if "raised" in row)["raised"] = "OtherError"
        return official

    monkeypatch.setattr(vectors, "read", changed)
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


def test_without_vectors_or_with_a_wrong_name(monkeypatch: pytest.MonkeyPatch, shown: Shown) -> None:
    for folder, names, code, said in (
        (None, (), 2, "not found"), (Path(), ("appbenk",), 2, "there are appbench"),
    ):  # fmt: skip
        monkeypatch.setattr(vectors, "reference_folder", lambda folder=folder: folder)
        told = shown(*names)
        assert (told[0], said in " ".join(told[1][0])) == (code, True)
