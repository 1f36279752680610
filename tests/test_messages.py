"""The list of all messages is current; what a message tells people to type can be typed, and none is long."""

from __future__ import annotations

import re

import click
import pytest

from planner_eval.cli import cli
from tests.messages import LIST, example_lines, listed, render
from tests.test_help import ALL

BY_PATH = listed()

VISIBLE = {
    flag
    for command in [*ALL.values(), cli]
    for option in command.params
    if isinstance(option, click.Option) and not option.hidden
    for flag in (*option.opts, *option.secondary_opts)
} | {"--help", "--help-all", "--no-deps"}
"""Options that help shows, and one of pip's."""

LONGEST = 200
"""Two lines of a terminal: no error says more."""


def test_the_list_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-cases"):
        LIST.write_text(render(BY_PATH, example_lines()), encoding="utf-8")
    kept = [line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("    ")]
    assert kept == render(BY_PATH, "").splitlines(), "run: pytest tests/test_messages.py --update-cases"


def test_options_in_messages_can_be_typed() -> None:
    hidden = [
        (path, message)
        for path, messages in BY_PATH.items()
        for message in messages
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", message)
        if flag not in VISIBLE
    ]
    assert hidden == []
