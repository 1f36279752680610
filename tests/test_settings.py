"""What a project keeps in planeval.toml, and what a policy names: found, said, refused with file and line."""

import subprocess
from pathlib import Path

import click
import pytest

from planner_eval.cli.options import Settings
from planner_eval.comparison.policy.file import line_of, lines_of
from tests.inside import planeval

PRED = """\
{"id": "1", "key": "a", "output": "none", "answer": [{"name": "f", "arguments": {"x": "A"}}]}
{"id": "2", "key": "b", "output": "none", "answer": [{"name": "g", "arguments": {"x": "A"}}]}
"""
GOLD = """\
{"id": "2", "key": "a", "gold": "none", "plan": [{"name": "f", "arguments": {"x": "a"}}]}
{"id": "1", "key": "b", "gold": "none", "plan": [{"name": "g", "arguments": {"y": "A"}}]}
"""
FIELDS = '[fields]\nid-field = "key"\ntext-field = "answer"\ngold-text-field = "plan"\n'


def run(folder: Path, *argv: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    return planeval(*argv, cwd=folder, **({"HOME": str(home)} if home else {}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "runs" / "today"
    folder.mkdir(parents=True)
    (folder / "pred.jsonl").write_text(PRED)
    (folder / "gold.jsonl").write_text(GOLD)
    return folder


def keep(project: Path, text: str) -> None:
    (project / "../../planeval.toml").write_text(text)


@pytest.mark.parametrize("fence", ["no repository", "a repository below", "home"])
def test_settings_above_are_not_taken(project: Path, fence: str) -> None:
    keep(project, FIELDS)
    home = None
    if fence != "a repository below":
        (project / "../../.git").rmdir()
    if fence == "a repository below":
        (project / ".git").write_text("gitdir: elsewhere")
    if fence == "home":
        home = project.parent
        (project.parent.parent / ".git").mkdir()
    done = run(project, "parse", "pred.jsonl", home=home)
    assert "settings" not in done.stderr
    here = run(project.parent.parent, "parse", "runs/today/pred.jsonl", home=home)
    assert "settings of planeval.toml" in here.stderr


def test_a_threshold_holds_whatever_metrics_are_asked_for(project: Path) -> None:
    keep(project, f"{FIELDS}[thresholds]\ncalls = 1.1\nexact = 0.0\n")
    for more in ((), ("--metric", "exact"), ("--metric", "exact", "--format", "json")):
        done = run(project, "score", "pred.jsonl", "gold.jsonl", *more)
        assert done.returncode == 1, done.stderr
        assert "calls" in done.stderr


def test_the_line_of_a_place() -> None:
    text = 'a = 1\n# b = 1\n[ t ]\n"b" = 1\n[[rule]]\nx = 1\n[[rule]]\nx = 1\n[q]'
    lines = {("a",): 1, ("t", "b"): 4, ("t", "c"): 3, ("rule", 1, "x"): 8, ("rule", 1, "y"): 7, ("q", "r"): 9}
    for place, line in {**lines, ("no",): None}.items():
        assert line_of(lines_of(text), place) == line, place


def test_clicks_mark_for_nothing_is_no_setting(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    nothing = object()  # click 8.3 asks so, and takes it back for "left out"
    with click.Context(click.Command("score")):
        assert Settings(None).get("policy", nothing) is nothing
