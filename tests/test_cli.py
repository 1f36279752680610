"""The command line through its real entry point: codes, messages, bad input, limits."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from planner_eval._version import __version__
from planner_eval.cli import COMMANDS, cli
from tests import inside
from tests.conftest import ROOT, tabled

DEMO = ROOT / "data" / "demo"
GOLD = str(DEMO / "gold.json")


def planeval(*argv: str, text: str | bytes = "") -> subprocess.CompletedProcess[str]:
    data = text if isinstance(text, bytes) else text.encode()
    done = subprocess.run([sys.executable, "-m", "planner_eval", *argv], input=data, capture_output=True)
    said = [stream.decode(errors="replace") for stream in (done.stdout, done.stderr)]
    return subprocess.CompletedProcess(argv, done.returncode, *said)


def test_version_and_help() -> None:
    assert planeval("--version").stdout == f"planeval {__version__}\n"
    shown = planeval("--help")
    assert (shown.returncode, [name for name in COMMANDS if name not in shown.stdout]) == (0, [])
    with click.Context(cli) as ctx:
        for name in COMMANDS:
            command = cli.get_command(ctx, name)
            assert command is not None
            assert command.get_short_help_str()
            if not isinstance(command, click.Group):
                assert all(p.help for p in command.params if isinstance(p, click.Option)), name


@tabled("argv, text, code, said")
def test_codes_and_what_is_said(argv: tuple[str, ...], text: str, code: int, said: str) -> None:
    done = inside.planeval(*argv, text=text)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done


@pytest.mark.parametrize(("argv", "text"), [
    (("parse", "-", "--format", "json"), "f(#x='1')"), (("parse", "-"), b"\xff\x00"),
    (("parse", "nowhere.json"), ""), (("parse", "--no-such-option"), ""),
    (("diff", str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl"), "--format", "jsonl"), ""),
    (("diff", GOLD, GOLD), ""),
    (("score", str(DEMO / "pred.jsonl"), str(DEMO / "gold.jsonl"), "--format", "md"), ""),
    (("stats", str(DEMO / "gold.jsonl")), ""), (("check", GOLD, "--catalog", "nowhere.json"), ""),
    (("convert", "-", "--to", "plan"), "f(x="), (("render", GOLD, "--format", "dot"), ""),
    (("catalog", "grammar", str(ROOT / "data" / "catalogs" / "rates.json"), "--dialect", "json"), ""),
    (("diff", "--help"), ""), ((), ""),
], ids=lambda given: " ".join(given)[:40] if isinstance(given, tuple) else "")  # fmt: skip
def test_what_is_called_inside_says_what_the_command_says(argv: tuple[str, ...], text: str | bytes) -> None:
    """Tests that call the command line often do so in their own process; this holds the two together."""
    alone, here = planeval(*argv, text=text), inside.planeval(*argv, text=text)
    assert (here.returncode, here.stdout, here.stderr) == (alone.returncode, alone.stdout, alone.stderr)


@tabled("raised, code")
def test_an_interrupt_while_the_command_line_loads_is_no_traceback(raised: str, code: int) -> None:
    made = f"import planner_eval.cli as c\ndef run(): raise {raised}\nc.run = run\n"
    made += "from planner_eval.__main__ import main\nimport sys; sys.argv = ['planeval', 'parse']; main()"
    done = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True)
    assert done.returncode == code
    assert (done.stderr == "interrupted\n") is (code == 130)


@pytest.mark.parametrize(
    "name",
    ["<IMG SRC=x onerror=alert(1)>", "back\\slash\\N", "nul\0byte", "x" * 20_000, "\ud800", "\x1b[31m"],
)
def test_hostile_names_reach_no_terminal_raw(tmp_path: Path, name: str) -> None:
    pred = tmp_path / "pred.json"
    pred.write_text(json.dumps([{"name": name, "arguments": {name: name}}]))
    done = inside.planeval("diff", pred, GOLD)
    assert done.returncode == 1, done.stderr
    assert not {"\x1b", "\0"} & {*done.stdout}


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m planner_eval stats {DEMO / 'gold.jsonl'} --each --format json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert not {"Traceback", "BrokenPipe"} & {*done.stderr.replace("Error", " ").split()}, done.stderr


@pytest.mark.parametrize("command", ["diff", "score"])
def test_what_cannot_be_written_is_said_and_is_no_difference(tmp_path: Path, command: str) -> None:
    plan, lost = tmp_path / "plan.txt", tmp_path / "nowhere" / "out.txt"
    plan.write_text("f(#x='1')")
    for out, said in (
        (lost, f"{lost} cannot be written: there is no folder {tmp_path / 'nowhere'}"),
        (Path("/dev/full"), "No space left"),
    ):
        done = planeval(command, str(plan), str(plan), "-o", str(out))
        assert (done.returncode, "Traceback" in done.stderr, said in done.stderr) == (2, False, True)
