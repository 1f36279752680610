"""What commands say while work is done in parts: on a terminal, elsewhere, and not at all."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.terminal import on_terminal

COMMAND = """
import click
from planner_eval.cli import running as module
from planner_eval.engine.run import run
from tests.engine_jobs import Echo, records

module._SAY_EVERY = 1.0

@click.command()
@module.running
def command(running):
    with run(Echo(0.05), records(60, {3: "raise"}), **running.options()) as finished:
        click.echo(f"{finished.pairs} pairs, {running.wanted}")

command()
"""
LINE = r"\d+ of 60 pairs, [\d.]+/s, 0:\d\d left(, 1 failed)?"


def elsewhere(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", COMMAND, *argv], cwd=ROOT, capture_output=True, text=True)


def test_a_terminal_shows_how_far_a_run_is_and_nothing_of_it_stays() -> None:
    shown = on_terminal("--jobs", "1", "--part", "10", out=False, code=COMMAND)
    assert shown.code == 0
    assert re.search(LINE, shown.err)
    assert shown.err.endswith("\r\x1b[K")
    assert shown.out == "60 pairs, True\n"


def test_elsewhere_a_line_now_and_then_says_so() -> None:
    done = elsewhere("--jobs", "1", "--part", "10")
    assert (done.returncode, done.stdout) == (0, "60 pairs, True\n")
    lines = done.stderr.splitlines()
    assert lines
    assert all(re.fullmatch(LINE, line) for line in lines)


def test_quiet_says_nothing() -> None:
    done = elsewhere("--jobs", "1", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "60 pairs, True\n", "")
    assert on_terminal("--jobs", "1", "--quiet", out=False, code=COMMAND).err == ""


@pytest.mark.parametrize(("argv", "said"), [
    (("--jobs", "0"), "0 is not in the range x>=1"), (("--part", "0"), "0 is not in the range x>=1"),
    (("--record-deadline", "0"), "0.0 is not in the range x>0"),
    (("--engine", "spark"), "'spark' is not 'ray'"),
])  # fmt: skip
def test_values_that_cannot_be_are_refused(argv: tuple[str, str], said: str) -> None:
    done = elsewhere(*argv)
    assert done.returncode == 2
    assert said in done.stderr
