"""Shared fixtures: where the reference material lies, and a closing line that says whether it was found."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

VARIABLE = "PLANEVAL_REFERENCE"
ROOT = Path(__file__).resolve().parent.parent
SKIP_REASON = f"reference material not found (set {VARIABLE} to its folder)"


def reference_folder() -> Path | None:
    """The folder of reference material: $PLANEVAL_REFERENCE, else ../shared, else None."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else ROOT.parent / "shared"
    return folder if (folder / "datasets").is_dir() else None


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference folder; the test skips without it, and fails when the variable names a wrong one."""
    folder = reference_folder()
    if folder is None:
        if os.environ.get(VARIABLE):
            pytest.fail(f"{VARIABLE}={os.environ[VARIABLE]} holds no datasets/ folder")
        pytest.skip(SKIP_REASON)
    return folder


def interruptible() -> None:
    """Let a child take SIGINT as usual: a test run in the background inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with one line on the reference material and the tests skipped for want of it."""
    skipped = terminalreporter.stats.get("skipped", [])
    missed = sum(SKIP_REASON in str(report.longrepr) for report in skipped)
    found = reference_folder()
    state = "found" if found else "not found"
    terminalreporter.write_line(f"reference material: {state}; {missed} tests skipped for want of it")
    unconfined = sum("isolation: " in str(report.longrepr) for report in skipped)
    terminalreporter.write_line(f"isolation: {unconfined} tests skipped for want of a layer or of root")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites golden files; their diff is then reviewed like code."""
    parser.addoption("--update-cases", action="store_true", help="rewrite golden files")
