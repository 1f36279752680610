"""What each test runs: a plugin of pytest that ``tests/mutants.py`` loads (``-p tests.recorder``).

Each process writes into the folder $PLANEVAL_RECORDED a file of coverage.py, in which a context is a test
function, and the seconds of processor time that each test function took where all of its cases passed. Lines
of the empty context are run by imports, when the tests are collected.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = Path(os.environ.get("PLANEVAL_RECORDED", ""))

_coverage = coverage.Coverage(
    data_file=str(FOLDER / "lines"),
    data_suffix=True,
    source=["planner_eval"],
    config_file=False,
    messages=False,
)
_seconds: dict[str, float] = {}
_failed: set[str] = set()


def function_of(test: str) -> str:
    """The test function of a case: its name without the case's values."""
    return test.partition("[")[0]


def pytest_configure() -> None:
    """Count from here on: the tests, and what they import, come later."""
    _coverage.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count the lines and the time of one case for its function."""
    name, start = function_of(item.nodeid), sum(os.times()[:4])
    _coverage.switch_context(name)
    try:
        return (yield)
    finally:
        _coverage.switch_context("")
        _seconds[name] = _seconds.get(name, 0.0) + sum(os.times()[:4]) - start


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Leave out what failed without any mutant."""
    if report.failed:
        _failed.add(function_of(report.nodeid))


def pytest_sessionfinish() -> None:
    """Write what this process counted."""
    _coverage.stop()
    _coverage.save()
    passed = {name: seconds for name, seconds in _seconds.items() if name not in _failed}
    (FOLDER / f"seconds-{os.getpid()}.json").write_text(json.dumps(passed), encoding="utf-8")
