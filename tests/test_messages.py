"""The list of all messages is current; what a message tells people to type can be typed, and none is long."""

import re

import click
import pytest

from planner_eval.cli import cli
from planner_eval.cli.help import SHARED
from tests.conftest import ROOT
from tests.messages import LIST, example_lines, listed, render
from tests.test_help import ALL, FLAGS

VISIBLE = {
    flag
    for command in [*ALL.values(), cli]
    for option in command.params
    if isinstance(option, click.Option) and not option.hidden
    for flag in (*option.opts, *option.secondary_opts)
} | {"--help", "--help-all", "--no-deps"}
"""Options that help shows, and one of pip's."""

LONGEST, VALUE = 200, "1234567890"
"""Two lines of a terminal: no error says more, with a value of usual length in each gap."""


def test_the_list_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-cases"):
        LIST.write_text(render(listed()[0], example_lines()), encoding="utf-8")
    kept = [line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("    ")]
    assert kept == render(listed()[0], "").splitlines(), "run: pytest tests/test_messages.py --update-cases"


def test_no_error_is_longer_than_two_lines() -> None:
    errors = listed()[1]
    assert len(errors) > 1_000
    assert [text for text in errors if len(text.replace("{}", VALUE)) > LONGEST] == []


def test_options_in_messages_can_be_typed() -> None:
    hidden = [
        (path, message)
        for path, messages in listed()[0].items()
        for message in messages
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", message)
        if flag not in VISIBLE
    ]
    assert hidden == []


def test_a_command_in_a_message_has_its_options() -> None:
    source = (ROOT / "data" / "codes.toml").read_text(encoding="utf-8")
    texts = [source, *(message for messages in listed()[0].values() for message in messages)]
    wrong = [
        (command, flag)
        for text in texts
        for command, tail in re.findall(r"planeval ((?:data )?[a-z]+)((?: [^\s`;,:]+)+)", text)
        for flag in re.findall(r"(?<= )--?[a-z][a-z-]*", tail)
        if command in FLAGS and flag not in FLAGS[command] | {"--help", "--help-all"} | set(SHARED)
    ]
    assert wrong == []
