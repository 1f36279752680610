"""Help fits a screen and names what there is, its examples run; options in groups do what they did alone."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from planner_eval.cli import cli
from planner_eval.cli.help import EXAMPLES, FIRST, GROUPS, SECTIONS, SHARED
from tests.conftest import ROOT, tabled
from tests.inside import planeval


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(_commands(cli))
FLAGS = {name: {flag for option in command.params for flag in option.opts} for name, command in ALL.items()}


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_every_help_fits_a_screen_and_the_tables_name_what_there_is() -> None:
    for name in ("", *ALL):
        assert len(planeval(*name.split(), "--help").stdout.splitlines()) <= 60, name
    assert FIRST.keys() | EXAMPLES.keys() <= ALL.keys()
    assert {name for name, flags in FIRST.items() if set(flags.split()) - FLAGS[name]} == set()
    named = {flag for flags in SECTIONS.values() for flag in flags.split()} | SHARED.keys()
    named |= {flag for members in GROUPS.values() for flag in members.values()}
    assert named <= set().union(*FLAGS.values())


def test_options_and_commands_stay_few() -> None:
    commands = [*ALL.values(), cli]
    counts = [sum(isinstance(p, click.Option) and not p.hidden for p in one.params) for one in commands]
    assert (sum(counts) <= 300, max(counts) <= 28, len(ALL) <= 27) == (True, True, True), sum(counts)


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_run(line: str, tmp_path: Path) -> None:
    words = shlex.split(
        line.replace("out/", f"{tmp_path}/").replace("shapes.svg", str(tmp_path / "shapes.svg"))
    )
    assert words[0] == "planeval"
    done = planeval(*words[1:])
    assert done.returncode in (0, 1), done.stderr


@tabled("line, said")
def test_what_cannot_be_meant_is_refused(line: str, said: str) -> None:
    done = planeval(*shlex.split(line))
    assert (done.returncode, said in " ".join(done.stderr.split())) == (2, True), done.stderr
