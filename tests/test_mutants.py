"""The tool that plants faults: each kind of fault, in place, and a table that names what exists."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.mutants import REST, TESTS, modules, mutants_of, path

SOURCE = '''"""A module."""

NAMES = ("a", "b")


def both(one: int = 1, *, other: bool = True) -> list[int]:
    """Both numbers."""
    found: list[int] = []
    if not (one < 2 and other):
        found.append(one + 2)
    return found or [f"{one + 1}"]


__all__ = ["NAMES", "both"]
'''


def test_every_kind_of_fault_is_planted_where_it_stands() -> None:
    found = [(mutant.line, mutant.before, mutant.after) for mutant in mutants_of("m.py", SOURCE)]
    assert sorted(found) == [
        (3, "'a'", "left out"),
        (3, "'b'", "left out"),
        (6, "1", "(0)"),
        (6, "1", "(2)"),
        (6, "True", "(False)"),
        (9, "2", "(1)"),
        (9, "2", "(3)"),
        (9, "not (one < 2 and other)", "(one < 2 and other)"),
        (9, "one < 2", "((one) <= (2))"),
        (9, "one < 2 and other", "((one < 2) or (other))"),
        (10, "2", "(1)"),
        (10, "2", "(3)"),
        (10, "found.append(one + 2)", "pass"),
        (10, "one + 2", "((one) - (2))"),
        (11, 'found or [f"{one + 1}"]', "((found) and ([f'{one + 1}']))"),
        (11, 'return found or [f"{one + 1}"]', "return None"),
    ]
    for mutant in mutants_of("m.py", SOURCE):
        assert len(mutant.source.splitlines()) == len(SOURCE.splitlines())
        assert mutant.source != SOURCE
        assert mutant.before.replace("'", '"') in SOURCE.splitlines()[mutant.line - 1]


def test_the_table_names_modules_and_tests_that_exist() -> None:
    for file, tests in modules([]).items():
        assert (ROOT / file).is_file()
        assert [name for name in (*tests, *REST) if not (ROOT / path(name)).is_file()] == []
    assert {file.rpartition("/")[0] for file in modules(["matching"])} == {"planner_eval/comparison/matching"}
    assert len(modules([])) > len(TESTS)
    assert modules(["nothing"]) == {}
