"""Everything the docs show has been run; ``pytest tests/test_docs.py --update-cases`` rewrites it.

A console block holds commands after ``$ `` and what they print; a line ``…`` stands for any lines. Pages
run at the root, or in an empty folder, where blocks with a ``title`` are files of that name, if they say so.
"""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from planner_eval.cli import COMMANDS
from tests.conftest import ROOT
from tests.inside import planeval

PAGES = sorted([*ROOT.glob("[RS]*.md"), ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
SESSION = re.compile(r"^```(?:pycon|python)\n(.*?)^```$", re.S | re.M)
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
EMPTY = "<!-- runs in an empty folder -->"
FILE = re.compile(r'^```\w+ title="([\w.]+)"\n(.*?)^```$', re.S | re.M)
# With the first two pytest shortens no line of its summary; the third are options of the run around this one.
ELSEWHERE = ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")
ELSEWHERE_RUN = ("make ", "pip ", "git ")
# It starts dozens of processes: what does so is run with what is long.
REPEATED = "planeval diff {pred} {gold}"
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# A call of planeval that needs no shell, but for what takes up what it prints.
INSIDE = re.compile(
    r"""planeval ((?:[^|<>&;`$*'"\\]|"[^"$`\\]*"|'[^']*')*)(2> ?/dev/null )?(?:\| (.*))?""", re.S
)


def run(command: str, folder: Path, cwd: Path = ROOT) -> str:
    """What a command prints, its errors among it; what planeval alone does is done in this process."""
    call = INSIDE.fullmatch(command.replace("\\\n", " ").replace("$OUT", str(folder)))
    if call is None:
        return in_a_shell(command, folder, cwd)
    _, drops_errors, reader = call.groups()
    done = planeval(*shlex.split(call[1]), cwd=cwd, merged=not reader, COLUMNS="100", PATH=PROGRAMS)
    if not reader:
        return done.stdout
    return f"{'' if drops_errors else done.stderr}{in_a_shell(reader, folder, cwd, done.stdout)}"


def in_a_shell(command: str, folder: Path, cwd: Path, typed: str = "") -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    kept |= {"PATH": PROGRAMS, "COLUMNS": "100", "OUT": str(folder), "PYTHONHASHSEED": "random"}
    merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "input": typed}
    return subprocess.run(command, shell=True, cwd=cwd, env=kept, text=True, timeout=120, **merged).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_sessions_run_and_links_lead_to_files(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    whole = page.read_text(encoding="utf-8")
    text = "\n".join(match[1] for match in SESSION.finditer(whole))
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(session)
    assert runner.failures == 0
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", whole):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_command_is_in_the_docs_and_the_readme_counts_verdicts() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in COMMANDS if f"planeval {name}" not in text] == []
    files = (ROOT / "tests" / "cases" / "official").glob("*.json")
    count = sum(len(json.loads(file.read_text(encoding="utf-8"))["records"]) for file in files)
    assert f"reproduces all {count} results" in (ROOT / "README.md").read_text(encoding="utf-8")


def commands(block: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", "")
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether the shown lines are the printed ones, a line ``…`` standing for any."""
    shown, printed = (
        "\n".join(line.rstrip() for line in text.strip().split("\n")) for text in (shown, printed)
    )
    first, *others = map(re.escape, re.split("^…$", shown, flags=re.M))
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])  # once found, not looked for again
    return (
        re.fullmatch(first + middle + "".join(f".*{piece}" for piece in others[-1:]), printed, re.S)
        is not None
    )


@pytest.mark.parametrize("whole", [
    pytest.param(False, marks=pytest.mark.more, id="quick"),
    pytest.param(True, marks=pytest.mark.long, id="whole"),
])  # fmt: skip
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_console_blocks_are_true(
    page: Path, whole: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    updates, cwd = request.config.getoption("--update-cases"), ROOT
    if EMPTY in text:
        cwd = tmp_path / "empty"
        cwd.mkdir()
        for file in FILE.finditer(text):
            (cwd / file[1]).write_text(file[2], encoding="utf-8")
    pieces, at = [], 0
    for match in BLOCK.finditer(text):
        parts = []
        for command, shown in commands(match[1]):
            if command.startswith(ELSEWHERE_RUN) or (REPEATED in command and not (whole or updates)):
                parts.append(f"$ {command}\n{shown}")
                continue
            printed = run(command, tmp_path, cwd)
            if updates:
                kept = shown if matches(shown, printed) else printed
                parts.append(f"$ {command}\n{kept.rstrip()}\n" if kept.strip() else f"$ {command}\n")
            else:
                assert matches(shown, printed), f"{page.name}: $ {command}\n{printed}"
        pieces += [text[at : match.start(1)], *parts]
        at = match.end(1)
    if updates:
        page.write_text("".join([*pieces, text[at:]]), encoding="utf-8")


def test_the_answers_of_the_first_example_are_as_the_api_client_writes_them() -> None:
    completion = pytest.importorskip("openai.types.chat").ChatCompletion
    for name in ("small", "large"):
        for line in (ROOT / "docs" / "examples" / "openai" / f"{name}.jsonl").read_text().splitlines():
            assert completion.model_validate_json(line).model_dump(exclude_unset=True) == json.loads(line)
