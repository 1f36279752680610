"""The plugin of pytest, in runs of pytest of its own: golden plans, hints, what a failing test prints."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from tests.conftest import ROOT, tabled, tables

TABLES = tables(__file__)

PLAN = "a = f(x=1)\\ng(y=a)"
TRIP = f'''
import planner_eval as pe, pytest
def test_books(golden_plan):
    golden_plan("{PLAN}")
@pytest.mark.parametrize("city", ["Rome", "São/Paulo", "a::b", "x" * 200])
def test_each(golden_plan, city):
    golden_plan([{{"name": "f", "arguments": {{"city": city}}}}])
class TestClass:
    def test_records(self, golden_plan):
        golden_plan({{"id": "1", "output": "f(x=1)"}}, name="first")
        golden_plan(pe.parse("g()"), name="second")
'''


def run(folder: Path, *argv: str, code: int | None = None) -> str:
    """What pytest prints in a folder, without plugins but ours and xdist's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
    plugins = ("-p", "planner_eval.integrations.pytest_plugin", "-p", "xdist", "-c", "empty.ini")
    (folder / "empty.ini").write_text("[pytest]\n", encoding="utf-8")
    whole = [sys.executable, "-m", "pytest", *plugins, "--rootdir", ".", *argv]
    done = subprocess.run(whole, cwd=folder, env=environment, capture_output=True, text=True)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    (tmp_path / "test_trip.py").write_text(TRIP, encoding="utf-8")
    return tmp_path


def kept(folder: Path) -> dict[str, str]:
    return {f.name: f.read_text(encoding="utf-8") for f in sorted((folder / "test_trip.plans").iterdir())}


def test_a_test_without_a_golden_plan_says_what_to_type(trip: Path) -> None:
    said = run(trip, code=1)
    assert "there is no golden plan yet, test_trip.plans/test_books.json" in said
    assert "`pytest test_trip.py::test_books --planeval-update` writes it" in said
    assert not (trip / "test_trip.plans").exists()


def test_a_prediction_that_cannot_become_the_golden_plan_is_told_so_at_once(tmp_path: Path) -> None:
    tests = "def test_none(golden_plan):\n    golden_plan('I cannot.')\n"
    tests += "def test_cut(golden_plan):\n    golden_plan('f(')\n"
    (tmp_path / "test_trip.py").write_text(tests)
    said = run(tmp_path, code=1)
    none = "test_trip.plans/test_none.json"
    assert f"no golden plan yet, {none}: the prediction is prose without calls; if that " in said
    assert f"is right, write [] into {none}" in said
    assert "no golden plan yet, test_trip.plans/test_cut.json: cut: " in said
    assert "writes it" not in said
    assert "no golden plan was written: cut: " in run(tmp_path, "--planeval-update", code=1)
    assert not (tmp_path / "test_trip.plans").exists()


@pytest.mark.more
@pytest.mark.parametrize("argv", [(), ("-n", "2"), ("-p", "no:cacheprovider")])
def test_golden_plans_are_written_once_and_compared_from_then_on(trip: Path, argv: tuple[str, ...]) -> None:
    said = run(trip, "--planeval-update", *argv, code=0)
    files = kept(trip)
    assert len(files) == 7
    assert all(os.path.join("test_trip.plans", name) in said for name in files)
    assert json.loads(files["test_books.json"])["calls"][1]["arguments"] == {"y": {"$ref": "c1"}}
    assert {"TestClass.test_records.first.json", "TestClass.test_records.second.json"} < {*files}
    assert "test_each[a%3A%3Ab].json" in files
    assert "golden plans written" not in run(trip, *argv, code=0)
    assert "golden plans written" not in run(trip, "--planeval-update", *argv, code=0)
    assert kept(trip) == files


def test_a_failing_test_prints_causes_and_both_plans(trip: Path) -> None:
    run(trip, "--planeval-update", "-k", "books", code=0)
    before = kept(trip)
    (trip / "test_trip.py").write_text(TRIP.replace(PLAN, PLAN.replace("a", "b")), encoding="utf-8")
    run(trip, "--planeval-update", "-k", "books", code=0)
    assert kept(trip) == before, "labels alone rewrite nothing"
    (trip / "test_trip.py").write_text(TRIP.replace("x=1)\\n", "x=2)\\n"), encoding="utf-8")
    said = run(trip, "-k", "books", code=1)
    for part in TABLES["a_failing_test_prints_causes_and_both_plans"]:
        assert part in said
    assert "asserting.py" not in said  # the traceback ends in the user's line
    run(trip, "--planeval-update", "-k", "books", code=0)
    run(trip, "-k", "books", code=0)


BROKEN = {
    "words": b"to be done", "bytes": b"\xff\xfe\x00{", "lists": b'[["f()"], ["g()"]]', "empty": b"",
    "cut": b"{", "odd": b"\xff\xfe\x00", "records": b'[{"id": 1, "gold": "f()"}, {"id": 2, "gold": "g()"}]',
}  # fmt: skip


def test_golden_files_that_are_no_plan_fail_and_are_written_anew(tmp_path: Path) -> None:
    tests = "".join(f"def test_{name}(golden_plan):\n    golden_plan('f(x=1)')\n" for name in BROKEN)
    (tmp_path / "test_trip.py").write_text(tests)
    (tmp_path / "test_trip.plans").mkdir()
    for name, data in BROKEN.items():
        (tmp_path / "test_trip.plans" / f"test_{name}.json").write_bytes(data)
    said = run(tmp_path, "-q", code=1)
    assert "7 failed" in said
    assert '"to be done" holds no call: a gold plan without calls is written []' in said
    assert "`pytest test_trip.py::test_odd --planeval-update` updates it" in said
    assert "7 passed" in run(tmp_path, "--planeval-update", code=0)
    assert "7 passed" in run(tmp_path, code=0)
    assert {json.loads(text)["calls"][0]["name"] for text in kept(tmp_path).values()} == {"f"}


def test_words_are_never_kept_and_places_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    plans = {"words": '"I cannot."', "none": "[]", "folder": '"f()"', "await": "answer()"}
    tests = "".join(f"def test_{name}(golden_plan):\n    golden_plan({it})\n" for name, it in plans.items())
    file, place = tmp_path / "test_trip.py", tmp_path / "test_trip.plans"
    file.write_text(f"async def answer():\n    return 'f()'\n{tests}")
    (place / "test_folder.json").mkdir(parents=True)
    said = run(tmp_path, "--planeval-update", code=1)
    assert "the prediction is prose without calls; if that is right, write [] into test_trip.p" in said
    assert "test_folder.json is a directory in the golden plan's place: remove it" in said
    assert "the plan is a coroutine that was not awaited: add await" in said
    assert "never awaited" not in said
    assert sorted(os.listdir(place)) == ["test_folder.json", "test_none.json"]
    file.write_text("def test_none(golden_plan):\n    golden_plan('I cannot.')\n")
    run(tmp_path, code=0)
    run(tmp_path, "--planeval-update", code=0)


def test_two_plans_of_one_test_need_names(tmp_path: Path) -> None:
    text = "def test_it(golden_plan):\n    golden_plan('f()')\n    golden_plan('g()')\n"
    (tmp_path / "test_trip.py").write_text(text)
    said = run(tmp_path, "--planeval-update", code=1)
    assert "a second plan is compared with test_trip.plans/test_it.json: give each plan a name" in said
    (tmp_path / "test_trip.py").write_text(text.replace("')\n", "', name='a')\n"))
    assert "give each plan another name, " in run(tmp_path, "--planeval-update", code=1)


def test_equality_of_plans_is_explained(tmp_path: Path) -> None:
    listed = '[{"name": "f", "arguments": {}, "label": "$var_1"}]'
    shown = {
        "labels": f"pe.parse('{listed}') == pe.parse('{listed.replace('var_1', 'var_2')}')",
        "values": 'pe.parse("f(x=1)") == pe.parse("f(x=2)")', "texts": 'pe.parse("f(x=1)") == "f(x=1)"',
        "others": "[1] == [2]",
    }  # fmt: skip
    tests = "".join(f"def test_{name}():\n    assert {what}\n" for name, what in shown.items())
    (tmp_path / "test_it.py").write_text(f"import planner_eval as pe\n{tests}")
    said = run(tmp_path, "-vv", code=1)
    assert "plans that mean the same but are written differently" in said
    assert "planner_eval.assert_same(pred, gold) compares" in said
    assert "argument.value: f (call 1): argument 'x' is 1, expected 2" in said
    assert "a plan is compared with a str, which is never equal to it" in said
    assert "assert [1] == [2]" in said


def test_assert_same_takes_what_means_the_same() -> None:
    pe.assert_same("a = f(x=1)\ng(y=a)", pe.parse("b = f(x=1)\ng(y=b)"))
    pe.assert_same([{"name": "f", "arguments": {"x": 1}}], {"gold": "g()", "alternatives": ["f(x=1)"]})
    record = pe.read([{"id": "1", "output": "f(x='ROME')"}]).records[0]
    pe.assert_same(record, "f(x='rome')", policy="lenient")
    with pytest.raises(AssertionError, match="more lines") as found:
        pe.assert_same("\n".join(f"f{at}()" for at in range(500)), "g()")
    assert len(str(found.value).splitlines()) < 120


@tabled("pred, gold, said")
def test_assert_same_says_what_became_of_it(pred: str, gold: str, said: str) -> None:
    with pytest.raises(AssertionError) as found:
        pe.assert_same(pred, gold)
    assert said in str(found.value)
    assert "\x1b" not in str(found.value)


def test_assert_scores_says_which_figures_fall_short() -> None:
    preds, golds = ["f()", "g()", "f(x="], ["f()", "h()", "f(x=1)"]
    pe.assert_scores(preds, golds, {"exact": 1 / 3, "calls.precision": 0.5})
    with pytest.raises(AssertionError) as found:
        pe.assert_scores(preds, golds, {"exact": 0.5, "independent_errors": 0.0, "order_tau": 0.5})
    first, *rest = str(found.value).splitlines()
    assert first == "exact is 0.3333, expected at least 0.5"
    assert "order_tau is undefined, expected at least 0.5" in rest
    assert any(line.startswith("3 pairs: 1 same, 1 different, 1 cut; root causes: ") for line in rest)
    with pytest.raises(AssertionError, match="1 of 1 gold plans is prose without calls"):
        pe.assert_scores(["I cannot."], ["to be done"], {"exact": 0.1})
    pe.assert_scores(["I cannot."], ["[]"], {"exact": 1})
    with pytest.raises(pe.PlanevalError, match="unknown metric 'exakt'"):
        pe.assert_scores(preds, golds, {"exakt": 0.5})


@pytest.mark.parametrize("empty", [[], (), (one for one in ())], ids=["list", "tuple", "iterable"])
def test_assert_scores_fails_without_pairs(empty: Any) -> None:
    with pytest.raises(AssertionError, match="no pairs: there are neither predictions nor gold plans"):
        pe.assert_scores(empty, [], {"exact": 1})
    with pytest.raises(AssertionError, match="1 absent"):
        pe.assert_scores([], ["[]"], {"exact": 1})
    with pytest.raises(AssertionError, match="1 pair of 2 cannot be judged"):
        pe.assert_scores(["f()", "g()"], ["f()", "g(x="], {"exact": 0.1})
    with pytest.raises(AssertionError, match=r"expected at least 90; scores go up to 1: write 90 % as 0\.9"):
        pe.assert_scores(["f()"], ["f()"], {"exact": 90})


@pytest.mark.parametrize(("limits", "said"), [
    (0.9, r"at_least is 0\.9, expected metrics and numbers, such as \{'exact': 0\.9\}"),
    ({}, r"at_least is \{\}, expected metrics"),
    ({"exact": "0.9"}, r"at_least gives exact '0\.9', expected a number, such as 0\.9"),
    ({"exact": True}, "at_least gives exact True, expected a number"),
    ({"exact": float("nan")}, "at_least gives exact nan, expected a number"),
    ({1: 0.5}, "at_least names the metric 1, expected a text")
])  # fmt: skip
def test_assert_scores_refuses_limits_that_are_none(limits: Any, said: str) -> None:
    with pytest.raises(pe.PlanevalError, match=said):
        pe.assert_scores(["f()"], ["f()"], limits)


def test_the_page_shows_the_example_that_runs() -> None:
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)
    assert shown == [(ROOT / "docs" / "examples" / "pytest" / "test_trip.py").read_text(encoding="utf-8")]
