"""Golden cases of the command line: the files, the commands and all that they print, a section a case.

A page of tests/cases/sessions/ is written as those of docs/ are: blocks with a ``title`` are files, console
blocks hold commands. Here ``2> `` begins a line of standard error, ``[1]`` is an exit code other than 0, and
ROOT the checkout; seconds are 0. ``pytest tests/test_sessions.py --update-cases`` rewrites what is printed;
review the diff.
"""

import re
import shlex
from difflib import get_close_matches
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.inside import planeval
from tests.test_docs import commands, matches

FOLDER = ROOT / "tests" / "cases" / "sessions"
BLOCK = re.compile(r'^```(?:console|\w+ title="([^"]+)")\n(.*?)^```$', re.S | re.M)
SECTIONS = [
    (page.stem, text.partition("\n")[0])
    for page in sorted(FOLDER.glob("*.md"))
    for text in page.read_text(encoding="utf-8").split("\n## ")[1:]
]


def printed(command: str, folder: Path) -> str:
    """What a command prints, the folders of this machine by their names here."""
    program, *argv = shlex.split(command.replace("ROOT/", f"{ROOT}/"))
    if program == "cd":  # into a folder: a command follows after &&
        return printed(shlex.join(argv[2:]), folder / argv[0])
    if program == "cat":
        return (folder / argv[0]).read_text(encoding="utf-8")
    assert program == "planeval"
    typed = ""
    if "<" in argv:
        typed = (folder / argv.pop()).read_text(encoding="utf-8")
        argv.remove("<")
    done = planeval(*argv, text=typed, cwd=folder, COLUMNS="100")
    lines = [*done.stdout.splitlines(), *(f"2> {line}" for line in done.stderr.splitlines())]
    lines += [f"[{done.returncode}]"] * (done.returncode != 0)
    text = re.sub(r'("seconds": )[\d.e-]+', r"\g<1>0", "\n".join(lines))
    return text.replace(f"{ROOT}/", "ROOT/").replace(str(folder), "FOLDER") + "\n"


def renewed(shown: str, output: str) -> str:
    """The output; where not all of it was shown, the lines that are nearest to the shown ones."""
    if "…" not in shown.splitlines():
        return output.lstrip()
    there = output.splitlines()
    kept = [
        line if line == "…" else "".join(get_close_matches(line, there, 1)) for line in shown.splitlines()
    ]
    return "\n".join(kept)


@pytest.mark.parametrize(("page", "title"), SECTIONS, ids=lambda text: text)
def test_session(page: str, title: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{page}.md"
    whole = path.read_text(encoding="utf-8")
    (text,) = (part for part in whole.split("\n## ") if part.startswith(f"{title}\n"))

    def run(block: re.Match[str]) -> str:
        if block[1]:
            (tmp_path / block[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block[1]).write_text(block[2], encoding="utf-8")
            return block[0]
        lines = []
        for command, shown in commands(block[2]):
            output = printed(command, tmp_path)
            lines.append(f"$ {command}\n{shown if matches(shown, output) else renewed(shown, output)}")
        return "```console\n{}```".format("".join(line.rstrip("\n") + "\n" for line in lines))

    now = BLOCK.sub(run, text)
    assert not re.search(r"(?<![\w.])/(?:tmp|home|root)/", now), "a folder of this machine"
    if request.config.getoption("--update-cases"):
        path.write_text(whole.replace(text, now), encoding="utf-8")
    else:
        assert now == text
