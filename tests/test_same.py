"""``make same``: what it calls a difference, that equal trees have none, that no command goes untried."""

import json
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import planner_eval as pe
from tests.conftest import ROOT, tabled
from tests.same import __main__ as same
from tests.same.commands import command_lines, words_of
from tests.same.planting import FAULTS, damage
from tests.same.side import commands


@tabled("old, new, difference")
def test_a_difference_says_where_it_begins(old: str | None, new: str | None, difference: str | None) -> None:
    sides: list[list[same.Answer]] = [[("x", text)] if text is not None else [] for text in (old, new)]
    assert [str(d) for d in same.compare_answers(*sides)] == ([difference] if difference else [])


def answers(tree: Path, folder: Path, name: str) -> tuple[subprocess.Popen[bytes], Path]:
    """One side over three pairs and texts."""
    (work := folder / name).mkdir()
    settings = {
        "tree": str(tree), "work": str(work), "inputs": str(folder), "answers": str(folder / f"{name}.jsonl"),
    }  # fmt: skip
    process = same.start(
        **settings, task="answers", parts=["texts", "pairs"], reference=None, others=[], shipped=["grammars"]
    )
    return process, folder / f"{name}.jsonl"


def test_two_equal_trees_have_no_differences_and_another_tree_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["f(#x='1')", '[{"name": "f", "arguments": {"x": 2}}]', "g(#x="]
    rows: list[Any] = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    (tmp_path / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [{"id": f"own-{n}", "policy": "strict", "pred": t, "gold": texts[0]} for n, t in enumerate(texts)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sides = [answers(ROOT, tmp_path, name) for name in ("old", "new")]
    stranger, _ = answers(tmp_path, tmp_path, "stranger")
    with pytest.raises(same.SideFailed, match="planner_eval is that of"):
        same.wait(stranger, "old", time.monotonic() + 300)
    for process, path in sides:
        same.wait(process, path.stem, time.monotonic() + 300)
        assert len(path.read_text().splitlines()) == 5 * 3 + 3 + 1 + 3 * 2 + 2
    old, new = (path for _, path in sides)
    monkeypatch.setattr(same, "run_sides", lambda *_: (old, new, tmp_path))
    monkeypatch.setattr(same, "find_commit", lambda name: name if name == "base" else None)
    monkeypatch.setattr(same, "STORED", tmp_path)
    assert (same.main(["base"]), capsys.readouterr().out) == (0, "")
    new.write_text(new.read_text().replace("different: ", "unlike: "))
    assert same.main(["base"]) == 1
    assert "pair own-1 diff: byte" in capsys.readouterr().out
    assert same.main(["nothing"]) == 2


def test_every_command_is_tried(tmp_path: Path) -> None:
    lines = command_lines(tmp_path, reference=None)
    untried = [name for name in commands() if not any(words_of(name, line) for line in lines)]
    assert untried == [("data", "fetch")]


def test_faults_are_planted_the_same_again_and_can_be_read() -> None:
    text = (ROOT / "data/demo/gold.json").read_text(encoding="utf-8")
    plan = json.loads(pe.write(pe.parse(text), "plan"))
    for fault in FAULTS:
        first, second = (json.loads(json.dumps(plan)) for _ in range(2))
        assert fault(first, Random(3)) == fault(second, Random(3))
        assert first == second
        pe.parse(first, dialect="plan")
        assert damage(text, Random(fault.__name__)) == damage(text, Random(fault.__name__))
