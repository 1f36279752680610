"""The table of laws: on our own samples, on all open data in long runs; and it notices a broken law."""

import sys
from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests import laws, laws_official

Shown: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    def run(*names: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["laws", *names])
        return laws.main(), capsys.readouterr().out

    return run


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reference material: our own samples are all there is."""
    for module in (laws, laws_official):
        monkeypatch.setattr(module, "reference_folder", lambda: None)


@pytest.mark.usefixtures("alone")
def test_the_laws_hold_on_our_own_samples(shown: Shown) -> None:
    code, said = shown()
    assert (code, "broken" in said) == (0, False)
    rows = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    assert len([name for name in rows if name.endswith(", our own")]) == 5
    assert rows["AppBench, our own"][-8:] == ["4", "8", "8", "10", "2", "4", "4", "–"]
    assert all(name in said for name in laws_official.DEFECTS)
    assert len(laws_official.DEFECTS) <= 8


@pytest.mark.usefixtures("alone")
def test_a_broken_law_ends_with_1(monkeypatch: pytest.MonkeyPatch, shown: Shown) -> None:
    said, broken = laws.summary(laws.results(["appbench", "nestful"], variant="official"))
    assert broken  # by the published figures
    assert all(f"broken: AppBench, our own, {law}: " in said for law in ("gold", "dropped"))
    monkeypatch.setattr(laws_official, "DEFECTS", {})
    code, said = shown("appbench")
    assert (code, "broken: AppBench, answers, official: " in said) == (1, True)
    assert shown("appbenk")[0] == 2


@pytest.mark.long
@pytest.mark.usefixtures("reference")
def test_the_laws_hold_on_all_open_data(shown: Shown) -> None:
    code, said = shown()
    assert code == 0, said
    assert "AppBench, mm" in said
