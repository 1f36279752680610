"""Shared fixtures: where the reference material lies, and a closing line that says whether it was found.

Three layers of tests: what a newcomer waits for; what is marked ``more``, which CI runs too; what is marked
``long``.

The profiles of the laws: ``usual`` draws the same examples in every run, so that a change is refused for
what it does and never by chance; ``more`` draws over twice as many and marks every law as ``more``; ``long``
draws eighty times as many, other ones each time, and marks every law as ``long``; ``mutants`` draws the
usual ones and does not make a failing one smaller.
"""

import gc
import json
import os
import signal
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

VARIABLE = "PLANEVAL_REFERENCE"
ROOT = Path(__file__).resolve().parent.parent
SKIP_REASON = f"reference material not found (set {VARIABLE} to its folder)"

EXAMPLES = {"usual": 25, "mutants": 25, "more": 60, "long": 2000}
"""Examples that a law draws in each profile, in percent of the number that it asks for."""

_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
for _name, _share in EXAMPLES.items():
    _same = {} if _name == "long" else {"derandomize": True, "database": None}
    settings.register_profile(_name, _PATIENT, max_examples=_share, **_same)
settings.register_profile("mutants", settings.get_profile("mutants"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("usual")


def examples(count: int) -> settings:
    """So many examples of a law instead of 100; each profile draws its share of them."""
    return settings(max_examples=max(1, count * settings().max_examples // 100), deadline=None)


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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors: tests that wait for a server or a deadline need none."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return count + 1


def pytest_configure() -> None:
    """Let what tests start take signals as usual: a run in the background inherits that they are ignored."""
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    gc.set_threshold(50_000, 20, 20)  # as the command does


def pytest_collection_finish() -> None:
    """Have what is collected, ten thousand tests and all that they import, not looked through for garbage."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the longer runs every law is one of theirs: it draws more examples."""
    profile = config.getoption("--hypothesis-profile", None)
    if profile in ("more", "long"):
        for item in items:
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(getattr(pytest.mark, profile))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a test that fails at once: a run that does not come to its end keeps the names."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        os.write(2, f"\nFAILED {report.nodeid} ({report.when})\n".encode())


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


@cache
def tables(module: str) -> dict[str, Any]:
    """The tables of cases of a test module, by the name of what goes through them; ROOT/ is the checkout."""
    file = ROOT / "tests" / "cases" / "tables" / f"{Path(module).stem}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8").replace("ROOT/", f"{ROOT}/"))
    return found


def text_case(name: str) -> str:
    """A long text that a test writes into a file, such as a module of tools."""
    return (ROOT / "tests" / "cases" / "tables" / "texts" / name).read_text(encoding="utf-8")


def tabled(names: str, **options: Any) -> Callable[[Callable[..., None]], Any]:
    """Run the test for each row of the table that has its name; the names are its parameters."""

    def mark(test: Callable[..., None]) -> Any:
        rows = tables(test.__code__.co_filename)[test.__name__.removeprefix("test_")]
        return pytest.mark.parametrize(names, rows, **options)(test)

    return mark


def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for a condition, on a busy machine for long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


AsKept: TypeAlias = Callable[[Path, Iterable[Any]], None]


@pytest.fixture
def as_kept(request: pytest.FixtureRequest) -> AsKept:
    """Hold what is found now equal to the lines of a golden file, which ``--update-cases`` rewrites first."""

    def hold(file: Path, found: Iterable[Any]) -> None:
        now = [json.dumps(one) for one in found]
        if request.config.getoption("--update-cases"):
            file.write_text("\n".join(now) + "\n", encoding="utf-8")
        kept = file.read_text(encoding="utf-8").splitlines()
        assert len(kept) == len(now) > 0
        for one, other in zip(now, kept, strict=True):
            assert json.loads(one) == json.loads(other)

    return hold
