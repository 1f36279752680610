"""The table of laws: on our own samples, on all open data in long runs; and it notices a broken law."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import laws, laws_official


def shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *names: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["laws", *names])
    code = laws.main()
    return code, capsys.readouterr().out


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reference material: our own samples are all there is."""
    for module in (laws, laws_official):
        monkeypatch.setattr(module, "reference_folder", lambda: None)


@pytest.mark.usefixtures("alone")
def test_the_laws_hold_on_our_own_samples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = shown(monkeypatch, capsys)
    assert code == 0
    assert "broken" not in said
    rows = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    assert len([name for name in rows if name.endswith(", our own")]) == 5
    assert rows["AppBench, our own"][-8:] == ["4", "8", "8", "10", "2", "4", "4", "–"]
    for name in laws_official.DEFECTS:
        assert name in said


@pytest.mark.usefixtures("alone")
def test_the_published_figures_break_them() -> None:
    said, broken = laws.summary(laws.results(["appbench", "nestful"], variant="official"))
    assert broken
    for law in ("gold", "dropped"):
        assert f"broken: AppBench, our own, {law}: " in said


@pytest.mark.usefixtures("alone")
def test_a_broken_law_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(laws_official, "DEFECTS", {})
    code, said = shown(monkeypatch, capsys, "appbench")
    assert code == 1
    assert "broken: AppBench, answers, official: " in said
    assert shown(monkeypatch, capsys, "appbenk")[0] == 2


def test_at_most_eight_defects_are_named() -> None:
    assert len(laws_official.DEFECTS) <= 8


@pytest.mark.long
def test_the_laws_hold_on_all_open_data(
    reference: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = shown(monkeypatch, capsys)
    assert code == 0, said
    assert "AppBench, mm" in said
