"""What is built is what is in the repository, and it runs from a wheel, an sdist and a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

SHIPPED = ("planner_eval", "grammars", "data", "viz")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was made from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def tracked() -> set[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout: nothing to compare the build with")
    return {f for f in done.stdout.splitlines() if (ROOT / f).is_file()}


def wheel(folder: Path) -> Path:
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_shipped_file(built: Path) -> None:
    inside = set(zipfile.ZipFile(wheel(built)).namelist())
    expected = {
        f if f.startswith("planner_eval/") else f"planner_eval/{f}"
        for f in tracked()
        if f.split("/")[0] in SHIPPED
    }
    assert expected - inside == set()


def test_the_sdist_holds_every_shipped_file_and_the_tests(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {f for f in tracked() if f.split("/")[0] in (*SHIPPED, "tests")} - inside == set()


def run_from(folder: Path, *argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "planner_eval", *argv]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_the_installed_wheel_diffs_parses_by_grammar_and_renders(built: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
    subprocess.run([*command, str(wheel(built))], check=True)
    demo = site / "planner_eval" / "data" / "demo"
    done = run_from(site, "diff", str(demo / "pred.json"), str(demo / "gold.json"), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    # A broken text needs the grammar, a drawing the theme: both must be found in the wheel.
    broken = tmp_path / "broken.txt"
    broken.write_text("f(#a='x' #b='y')")
    done = run_from(site, "stats", str(broken), cwd=tmp_path)
    assert "expected ')' or ','" in done.stdout + done.stderr
    done = run_from(site, "render", str(demo / "gold.json"), "--format", "dot", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "digraph" in done.stdout


def test_the_editable_install_finds_its_folders() -> None:
    code = (
        "import json; from planner_eval.base import resources as r;"
        "print(json.dumps([str(r.folder(n)) for n in ('grammars', 'data', 'viz')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert all(Path(folder).is_dir() for folder in json.loads(done.stdout))
