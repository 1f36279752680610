"""The tool that plants faults: each kind of fault, in place, and the tests tried on it."""

import functools
import importlib
import os
import signal
import sys
from types import SimpleNamespace

import coverage
import pytest

from planner_eval.plan.graph import group_by_level
from tests.conftest import ROOT, tables, text_case
from tests.mutants import (
    ROOMS,
    Mutant,
    Recorded,
    Trial,
    Watch,
    ended,
    import_anew,
    modules,
    mutants_of,
    planted,
    replace_code,  # fmt: skip
)

SOURCE = text_case("test_mutants-SOURCE.txt")


def test_every_kind_of_fault_is_planted_where_it_stands() -> None:
    mutants = [mutant for mutant in mutants_of("m.py", SOURCE) if planted([mutant], SOURCE)]
    found = [(mutant.line, mutant.before, mutant.after) for mutant in mutants]
    assert sorted(found) == [tuple(row) for row in tables(__file__)["faults"]]
    for mutant in mutants:
        faulty = planted([mutant], SOURCE) or ""
        assert len(faulty.splitlines()) == len(SOURCE.splitlines())
        assert faulty != SOURCE
        assert mutant.before.replace("'", '"') in SOURCE.splitlines()[mutant.line - 1]
        assert list(mutant.lines) == [mutant.line] * (mutant.line > 8)
    table, plus, returned = (next(one for one in mutants if one.before == before) for before in (
        "'a'", "one + 2", 'return found or [f"{one + 1}"]'))  # fmt: skip
    assert [returned.fits(one) for one in (table, plus, returned)] == [False, True, False]
    faulty = SOURCE.replace("one + 2", plus.new).replace(returned.before, "return None")
    assert planted([plus, returned], SOURCE) == faulty


def test_tests_of_a_fault_run_its_line_and_the_closest_come_first() -> None:
    lines = coverage.CoverageData(no_disk=True)
    for context, run in {"far": [3], "near": [9], "other": [11], "": [3, 6], "failed": [9]}.items():
        lines.set_context(context)
        lines.add_lines({str(ROOT / "m.py"): run})
    later = coverage.CoverageData(no_disk=True)
    later.set_context("far")
    later.add_lines({str(ROOT / "m.py"): [9, 11]})
    first = (lines, {"near", "other", ""})  # "far" was recorded again
    tests = Recorded([first, (later, {"far", ""})], {"far": 2.0, "near": 0.2, "other": 1.0})
    inside, outside = (Mutant("m.py", 9, "", "", slice(0), "", range(*lines)) for lines in ((9, 10), (3, 1)))
    assert tests.of(inside, 60) == ["near", "far"]
    assert tests.of(inside, 1.5) == tests.of(inside, 0.5) == ["near"]
    assert tests.of(outside, 60) == ["near", "far", "other"]
    imported = inside._replace(lines=range(6, 7))
    assert (tests.placed(inside), [*tests.placed(imported).lines]) == (inside, [])


def test_a_fault_stands_in_the_function_or_in_what_is_imported_anew() -> None:
    file, name = "planner_eval/plan/graph.py", "planner_eval.plan.graph"
    source = (ROOT / file).read_text("utf-8")
    mutants = [one for one in mutants_of(file, source) if one.before == "return by_level"]
    faulty = planted(mutants, source) or ""

    def in_place() -> int:
        return int(replace_code([group_by_level], file, source, faulty) and group_by_level([0]) is None)

    def anew() -> int:
        sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]  # not pytest's
        import_anew({file: faulty})
        return int(importlib.import_module(name).group_by_level([0]) is None)

    watch = Watch({})
    assert ended(in_place, watch) == ended(anew, watch) == 1
    assert group_by_level([0]) == [[0]]
    begin = functools.partial(watch.pytest_runtest_protocol, SimpleNamespace(nodeid="test_a.py::test_b[1]"))
    assert (ended(lambda: begin() or 0, watch), watch.last) == (0, "test_a.py::test_b")
    assert ended(lambda: begin() or os.kill(os.getpid(), signal.SIGPROF) or 0, watch) == -signal.SIGPROF


def test_modules_are_named_by_folders_and_files() -> None:
    assert all(modules([room]) for room in ROOMS)
    assert not [file for file in modules(ROOMS) if "/runs/" in file or "/drawing/" in file]
    assert {file.rpartition("/")[0] for file in modules(["comparison/matching"])} == {
        "planner_eval/comparison/matching"
    }
    assert modules(["plan/model.py", "nothing"]) == ["planner_eval/plan/model.py"]


def test_whose_fault_it_is_is_searched_among_those_planted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three are noticed, one of them by two tests; what only two of them together fail is nobody's."""
    mutants = [Mutant(f"{number}.py", 1, "", "", slice(0, 1), "", range(1, 2)) for number in range(6)]
    noticing = {"a": [{1}, {4}], "b": [{1}, {5}], "c": [{2, 3}], "flaky": [set()], "d": []}
    tests = SimpleNamespace(of=lambda mutant, most: [*noticing], seconds=dict.fromkeys(noticing, 1.0))
    trial = Trial(mutants, tests, 1, 5.0)  # type: ignore[arg-type]

    def failing(group: list[int], names: list[str]) -> str | None:
        return next((name for name in names if any(needed <= {*group} for needed in noticing[name])), None)

    monkeypatch.setattr(trial, "failing", failing)
    monkeypatch.setattr(trial, "passes", lambda name, number: name != "flaky")
    assert {*trial.together(range(6))} == {1, 4, 5}
    assert {number for number, verdict in trial.judged(range(6)) if verdict == "noticed"} == {1, 4, 5}
