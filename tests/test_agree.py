"""Verdicts set beside a reference's: agreement, kappa, errors, and what no figure counts."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError, PairingError
from planner_eval.results.agreement import kappa
from tests import inside


def planeval(*argv: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
    return inside.planeval("agree", *argv, text=typed or "")


def spread(cells: list[list[int]], names: str = "yn") -> tuple[dict[str, str], dict[str, str]]:
    """Verdicts with these counts of confusion."""
    pairs: list[tuple[str, str]] = []
    for a, row in zip(names, cells, strict=True):
        for b, n in zip(names, row, strict=True):
            pairs += [(a, b)] * n
    words = {"y": "pass", "n": "fail"} if names == "yn" else {name: name for name in names}
    left, right = ({str(at): words[pair[side]] for at, pair in enumerate(pairs)} for side in (0, 1))
    return left, right


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two files of 50 verdicts, of which 15 differ."""
    left, right = (tmp_path / f"{name}.json" for name in ("judge", "human"))
    for file, side in zip((left, right), spread([[20, 5], [10, 15]]), strict=True):
        file.write_text(json.dumps(side), encoding="utf-8")
    return str(left), str(right)


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_keeps_its_bounds(cells: list[list[int]]) -> None:
    value = kappa(cells)
    same = sum(row[at] for at, row in enumerate(cells))
    of = sum(map(sum, cells))
    if value is None:
        assert of == same  # nothing at all, or one class alone on both sides
    else:
        assert -1 <= value <= 1
        assert (value == 1) == (same == of)
        assert value == pytest.approx(kappa([list(column) for column in zip(*cells, strict=True)]))


def test_kappa_is_none_where_chance_does_as_well() -> None:
    found = pe.agree({"a": "yes", "b": "yes"}, {"a": "pass", "b": "1"})
    assert (found.figure("kappa"), found.figure("agreement")) == (None, 1.0)
    assert found.figure("false positive rate") is None
    assert "chance would agree as often" in found.figures[1].note


def test_files_of_many_forms_say_the_same(tmp_path: Path) -> None:
    verdicts = {"a": True, "b": False, "c": True}
    rows = [*verdicts.items()]
    files = {
        "x.jsonl": "\n".join(json.dumps({"id": k, "verdict": v}) for k, v in rows),
        "x.json": json.dumps([{"id": k, "is_pass": "pass" if v else "fail"} for k, v in rows]),
        "map.json": json.dumps(verdicts),
        "x.csv": "id,human\n" + "".join(f"{k},{'Yes' if v else 'No '}\n" for k, v in rows),
        "x.tsv": "id\tdecision\n" + "".join(f"{k}\t{int(v)}\n" for k, v in rows),
        "odd.jsonl": "\n".join(json.dumps({"id": k, "x": 1, "mine": v}) for k, v in rows),
    }
    for name, text in files.items():
        file = tmp_path / name
        file.write_text(text)
        odd = name == "odd.jsonl"
        found = pe.agree(file, file, verdict_field="mine") if odd else pe.agree(file, verdicts)
        assert (found.cells, found.left_over) == (((2, 0), (0, 1)), 0), name
    with pytest.raises(InputError, match="no field looks like a verdict \\(fields: 'x', 'mine'"):
        pe.agree(tmp_path / "odd.jsonl", verdicts)


def test_functionchats_own_report_is_read(tmp_path: Path) -> None:
    report = tmp_path / "eval_report.tsv"
    rows = ("#serial_num\tis_pass\ttools_type", "1\tpass\texact", "1\tfail\t4_random", "2\tcannot say\texact")
    report.write_text("".join(f"{row}\t{{}}\t\n" for row in rows).replace("{}", "ground_truth", 1))
    human = {"singlecall-1-exact": "pass", "singlecall-1-4_random": "pass", "singlecall-2-exact": "fail"}
    found = pe.agree(report, human)
    assert found.cells == ((1, 0), (1, 0))
    assert [row.state for row in found.rows] == ["same", "different", "no verdict"]


def test_verdicts_of_the_library() -> None:
    with pytest.raises(PairingError, match="neither side has a verdict"):
        pe.agree({"a": None}, {"a": None})
    assert pe.agree({"a": "yes", "b": None}, {"a": None, "b": "no"}).n == 0
    many = {str(n): f"because {n}" for n in range(101)}
    with pytest.raises(InputError, match="101 different verdicts, but at most 100 are possible"):
        pe.agree(many, many)
    del many["100"]
    assert len(pe.agree(many, many).classes) == 100
    with pytest.raises(InputError, match=r"the verdicts are (because \d+, ){8}because 16$"):
        pe.agree(many, many, positive="x")
    left, right = [{"verdict": "yes"}, {"verdict": "no"}], [{"verdict": "no"}, {"verdict": "no"}]
    found = pe.agree(left, right)
    assert (found.by, found.cells) == ("position", ((0, 1), (0, 1)))
    with pytest.raises(InputError, match="add ids, or use as many records on both sides"):
        pe.agree(left, right[:1])
