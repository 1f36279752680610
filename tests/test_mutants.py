"""The tool that plants faults: each kind of fault, in place, and the tests tried on it."""

import functools
import importlib
import os
import signal
import sys
from types import SimpleNamespace

import coverage

from planner_eval.plan.graph import group_by_level
from tests.conftest import ROOT
from tests.mutants import (
    ROOMS,
    Mutant,
    Recorded,
    Watch,
    ended,
    import_anew,
    modules,
    mutants_of,
    replace_code,  # fmt: skip
)

SOURCE = '''"""A module."""

NAMES = ("a", "b")
MAX_CACHED_NAMES = 4
MAX_NAMES = 20_000


def both(one: int = 1, *, other: bool = True) -> list[int]:
    """Both numbers."""
    found: list[int] = []
    if not (one < 2 and other):
        found.append(one + 2)
    for _ in zip(found, found, strict=True):
        assert one > monotonic() or one < MAX_NAMES
    return found or [f"{one + 1}"]


__all__ = ["NAMES", "both"]
'''


def test_every_kind_of_fault_is_planted_where_it_stands() -> None:
    mutants = [mutant for mutant in mutants_of("m.py", SOURCE) if mutant.planted(SOURCE)]
    found = [(mutant.line, mutant.before, mutant.after) for mutant in mutants]
    assert sorted(found) == [
        (3, "'a'", "left out"),
        (3, "'b'", "left out"),
        (5, "20_000", "(0)"),
        (8, "1", "(0)"),
        (8, "1", "(2)"),
        (8, "True", "(False)"),
        (11, "2", "(1)"),
        (11, "not (one < 2 and other)", "(one < 2 and other)"),
        (11, "one < 2", "((one) <= (2))"),
        (11, "one < 2 and other", "((one < 2) or (other))"),
        (12, "2", "(1)"),
        (12, "2", "(3)"),
        (12, "found.append(one + 2)", "pass"),
        (12, "one + 2", "((one) - (2))"),
        (14, "one < MAX_NAMES", "((one) >= (MAX_NAMES))"),
        (14, "one > monotonic()", "((one) <= (monotonic()))"),
        (14, "one > monotonic() or one < MAX_NAMES", "((one > monotonic()) and (one < MAX_NAMES))"),
        (15, 'found or [f"{one + 1}"]', "((found) and ([f'{one + 1}']))"),
        (15, 'return found or [f"{one + 1}"]', "return None"),
    ]
    for mutant in mutants:
        planted = mutant.planted(SOURCE) or ""
        assert len(planted.splitlines()) == len(SOURCE.splitlines())
        assert planted != SOURCE
        assert mutant.before.replace("'", '"') in SOURCE.splitlines()[mutant.line - 1]
        assert list(mutant.lines) == [mutant.line] * (mutant.line > 8)


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
    mutant = next(one for one in mutants_of(file, source) if one.before == "return by_level")

    def in_place() -> int:
        return int(replace_code([group_by_level], mutant, source) and group_by_level([0]) is None)

    def anew() -> int:
        sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]  # not pytest's
        import_anew(mutant, source)
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
