"""What is built is what is in the repository, and it runs from a wheel, an sdist and a checkout."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.conftest import ROOT

SHIPPED = ("planner_eval", "grammars", "data", "viz")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_the_wheel_and_the_sdist_hold_every_shipped_file_and_nothing_else(built: Path) -> None:
    shipped = {f for f in tracked() if f.split("/")[0] in SHIPPED}
    expected = {f if f.startswith("planner_eval/") else f"planner_eval/{f}" for f in shipped}
    inside = {name for name in zipfile.ZipFile(wheel(built)).namelist() if ".dist-info/" not in name}
    assert inside == expected
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {one.name.split("/", 1)[1] for one in archive.getmembers() if one.isfile()}
    assert inside - tracked() == {"PKG-INFO"}
    assert shipped | {f for f in tracked() if f.startswith("tests/")} <= inside
    assert {"CITATION.cff", "SECURITY.md", "CHANGELOG.md", "mkdocs.yml", "docs/index.md"} <= inside


def test_the_installed_wheel_diffs_parses_by_grammar_and_renders(built: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
    subprocess.run([*command, str(wheel(built))], check=True)
    demo = site / "planner_eval" / "data" / "demo"

    def ran(*argv: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "planner_eval", *map(str, argv)]
        env = os.environ | {"PYTHONPATH": str(site)}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)

    assert ran("diff", demo / "pred.json", demo / "gold.json").returncode == 1
    # A broken text needs the grammar, a drawing the theme: both must be found in the wheel.
    broken = tmp_path / "broken.txt"
    broken.write_text("f(#a='x' #b='y')")
    done = ran("stats", broken)
    assert "expected ')' or ','" in done.stdout + done.stderr
    assert "digraph" in ran("render", demo / "gold.json", "--format", "dot").stdout


def programs() -> dict[int, list[str]]:
    """Minor version → what may be a Python of it, for each that the package is for."""
    said = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert said is not None
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for minor in range(int(said[1]), 20):
        named = [shutil.which(f"python3.{minor}"), *map(str, versions.glob(f"3.{minor}.*/bin/python"))]
        found[minor] = [*filter(None, [sys.executable if sys.version_info[1] == minor else None, *named])]
    return {minor: named for minor, named in found.items() if named}


def python(minor: int) -> str:
    """The first program of the version that is one and can make an environment."""
    for program in programs()[minor]:
        asked = [program, "-c", "import sys, venv, ensurepip; print('3.%d' % sys.version_info[1])"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == f"3.{minor}":
            return program
    pytest.skip(f"no Python 3.{minor} that makes an environment")


def extras() -> set[str]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    part = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    return set(re.findall(r"^(\w+) = ", part, re.M))


def test_the_metadata_say_what_is_needed(built: Path) -> None:
    archive = zipfile.ZipFile(wheel(built))
    name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
    said = Parser().parsestr(archive.read(name).decode())
    assert (said["Name"], said["License-Expression"]) == ("planner_eval", "Apache-2.0")
    assert set(said.get_all("Provides-Extra", [])) == extras()
    assert "## Your own files" in said.get_payload()


class Environment:
    """An environment that held nothing, with the wheel in it."""

    def __init__(self, folder: Path, program: str, *requirements: str) -> None:
        self.folder, self.bin = folder, folder / "venv" / "bin"
        subprocess.run([program, "-m", "venv", str(folder / "venv")], check=True)
        install = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", *requirements]
        done = subprocess.run(install, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def run(self, command: str, asked: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run planeval in an empty folder, with nothing of this checkout at hand."""
        place = self.folder / "place"
        place.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        kept |= asked or {}
        argv = [str(self.bin / "planeval"), *command.split()]
        return subprocess.run(argv, cwd=place, env=kept, capture_output=True, text=True, timeout=300)

    @property
    def demo(self) -> Path:
        return next((self.folder / "venv" / "lib").glob("python3*")) / "site-packages/planner_eval/data/demo"


@pytest.mark.long
@pytest.mark.parametrize("minor", programs())
def test_the_wheel_alone_does_its_work(built: Path, tmp_path: Path, minor: int) -> None:
    empty = Environment(tmp_path, python(minor), str(wheel(built)))
    assert empty.run("--version").stdout.startswith("planeval ")
    done = empty.run("selftest")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0,
        "30 of 30 undisputed pairs are judged right",
    ), done
    done = empty.run(f"diff {empty.demo}/pred.json {empty.demo}/gold.json")
    assert done.returncode == 1, done.stderr
    assert "reference.producer" in done.stdout
    done = empty.run(f"report {empty.demo}/pred.jsonl --gold {empty.demo}/gold.jsonl -o page.html")
    assert done.returncode == 0, done.stderr
    assert "</html>" in (tmp_path / "place" / "page.html").read_text(encoding="utf-8")
    told = subprocess.run([empty.bin / "python", "-m", "pip", "check"], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout


def lowest() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [one.replace(">=", "==") for one in project["dependencies"]]


@pytest.mark.long
def test_the_lowest_versions_allowed_will_do(built: Path, tmp_path: Path) -> None:
    found = Environment(tmp_path, python(min(programs())), str(wheel(built)), *lowest())
    done = found.run("selftest")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0,
        "30 of 30 undisputed pairs are judged right",
    ), done
    demo, place = found.demo, tmp_path / "place"
    (place / "pred.jsonl").write_text('{"id": 1, "output": "f(#x=\'2\')"}\n')
    (place / "gold.jsonl").write_text('{"id": 1, "gold": "f(#x=\'1\')", "accepted": {"c1": {"x": ["2"]}}}\n')
    (place / "own.toml").write_text('[[rule]]\nargument = "x"\ncompare = ["casefold"]\n')
    for command, code, said in (
        ("--help", 0, "selftest"), (f"diff {demo}/pred.json {demo}/gold.json", 1, "reference.producer"),
        (f"score {demo}/pred.jsonl {demo}/gold.jsonl", 0, "0.1538"),
        (f"compare {demo}/pred.jsonl {demo}/tuned.jsonl --gold {demo}/gold.jsonl", 0, "exact"),
        (f"stats {demo}/gold.jsonl", 0, "calls"), (f"render {demo}/gold.json --format dot", 0, "digraph"),
        (f"convert {demo}/gold.json --to plan", 0, "get_rate"),
        ("score pred.jsonl gold.jsonl --policy own.toml", 0, "0.025–1.000"),
        ("schema report", 0, "ReportData"), ("score --help", 0, "--policy")
    ):  # fmt: skip
        done = found.run(command)
        assert (done.returncode, said in done.stdout) == (code, True), (command, done)
        assert "Traceback" not in done.stderr + done.stdout
        assert "settings of" not in done.stderr
    asked = {"_PLANEVAL_COMPLETE": "bash_complete", "COMP_WORDS": "planeval sc", "COMP_CWORD": "1"}
    done = found.run("", asked)
    assert done.stdout.split() == ["plain,schema", "plain,score"], done
