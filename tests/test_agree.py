"""Verdicts set beside a reference's: agreement, kappa, errors, and what no figure counts."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError, PairingError
from planner_eval.results.agreement import kappa
from planner_eval.results.intervals import proportion, sign_test
from tests import inside
from tests.conftest import tabled


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


def test_cohens_own_kind_of_table() -> None:
    found = pe.agree(*spread([[20, 5], [10, 15]]))
    assert found.cells == ((20, 5), (10, 15))
    wanted = {"agreement": 0.7, "kappa": 0.4, "false positives": 5 / 50, "false negatives": 10 / 50,
              "false positive rate": 5 / 20, "false negative rate": 10 / 30}  # fmt: skip
    assert {name: found.figure(name) for name in wanted} == wanted  # chance: (25·30 + 25·20) / 50² = 0.5
    assert {shift.p for shift in found.shifts} == {sign_test(5, 10)}
    spans = {one.name: one.interval for one in found.figures}
    assert spans["agreement"] == proportion(35, 50)
    assert spans["false negative rate"] == proportion(10, 30)


def test_classes_have_a_row_each_and_one_correction() -> None:
    found = pe.agree(*spread([[5, 9, 0], [0, 6, 0], [0, 0, 3]], "abc"))
    assert found.classes == ("a", "b", "c")
    assert [(s.name, s.first, s.second, s.both) for s in found.shifts] == [
        ("a", 14, 5, 5), ("b", 6, 15, 6), ("c", 3, 3, 3),
    ]  # fmt: skip
    raw = sign_test(9, 0)
    assert [s.p for s in found.shifts] == [3 * raw, 3 * raw, 1.0]
    assert "false positives" not in {one.name for one in found.figures}
    collapsed = pe.agree(*spread([[5, 9, 0], [0, 6, 0], [0, 0, 3]], "abc"), positive="A")
    assert collapsed.cells == ((5, 9), (0, 9))


def test_verdicts_that_all_agree_do_not_prove_that_all_will() -> None:
    """Of ten that agree, a bootstrap is sure; 3 of 10 may still differ, which is 0.6 of chance's half."""
    span = next(one.interval for one in pe.agree(*spread([[5, 0], [0, 5]])).figures if one.name == "kappa")
    assert span is not None
    assert span.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 10)))
    assert span.high == 1


@tabled("cells, value, low, high, method")
def test_the_interval_of_kappa(
    cells: list[list[int]], value: float, low: float, high: float, method: str
) -> None:
    """By what each record changes kappa, its derivative taken numerically, and scipy's quantiles."""
    found = next(one for one in pe.agree(*spread(cells, "ynz"[: len(cells)])).figures if one.name == "kappa")
    assert found.interval is not None
    assert [found.value, *found.interval[:2]] == pytest.approx([value, low, high], rel=1e-9)
    assert found.interval.method == method


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


@pytest.mark.parametrize(("judge", "human", "kappa", "positive"), [
    (("pass", "fail", "pass", "fail"), ("yes", "no", "yes", "unclear"), None, "yes"),
    ((1, 0, 1, 0), ("Y", "N", "Y", "Y"), 0.5, None), ((0, 1, 2, 1), (0, 1, 2, 2), None, None),
])  # fmt: skip
def test_words_that_say_the_same_are_one_class(
    judge: tuple[Any, ...], human: tuple[Any, ...], kappa: float | None, positive: str | None
) -> None:
    left, right = ({str(at): word for at, word in enumerate(side)} for side in (judge, human))
    found = pe.agree(left, right)
    assert found.figure("agreement") == 0.75
    assert kappa is None or found.figure("kappa") == kappa
    assert positive is None or pe.agree(left, right, positive=positive).figure("agreement") == 1
