"""Options of commands that ask models, and of those that run tools: how requests and runs are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from planner_eval.cli.options import Decorator, Seconds
from planner_eval.cli.targets import Target


def request_options(what: str, silence: str = "--timeout") -> Decorator:
    """Add the options that say how models are asked.

    Args:
        what: What is under way at a time, in words.
        silence: The option of the server's longest silence, where ``--timeout`` is another's.
    """
    options: tuple[Decorator, ...] = (
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Sampling, e.g. temperature=0.5."
        ),
        click.option(
            "--concurrency",
            metavar="N",
            type=click.IntRange(min=1),
            default=8,
            show_default=True,
            help=f"{what} under way at a time.",
        ),
        *_make_wait_options(silence, 600.0, 5),
        click.option(
            "--cache",
            metavar="FILE",
            type=Target(unless="replay"),
            help="Keeps every answer; the same command goes on with what it holds.",
        ),
        click.option("--replay", is_flag=True, help="Answer from --cache alone, without a network."),
        click.option(
            "--prices", metavar="FILE", help="What a million tokens of each model cost: TOML or JSON."
        ),
    )

    return _combine_options(options)


def wait_options(deadline: float, retries: int) -> Decorator:
    """Add the options that say how long a model is waited for, to a command that asks one by the way.

    Args:
        deadline: Seconds for one request in all.
        retries: How many more times to ask.
    """
    return _combine_options(_make_wait_options("--timeout", deadline, retries))


def _make_wait_options(silence: str, deadline: float, retries: int) -> tuple[Decorator, ...]:
    return (
        _seconds_option(silence, 60.0, "The longest silence of the server."),
        _seconds_option("--deadline", deadline, "The longest time for one request in all."),
        click.option(
            "--retries",
            metavar="N",
            type=click.IntRange(min=0),
            default=retries,
            show_default=True,
            help="How many more times to ask after a failure that may pass.",
        ),
    )


def _combine_options(options: tuple[Decorator, ...]) -> Decorator:
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def isolation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--isolation`` and ``--timeout``: how tools are run."""
    timeout = _seconds_option("--timeout", 10.0, "Time for one run of a plan (not enforced inline).")
    return click.option(
        "--isolation",
        type=click.Choice(["strict", "process", "inline"]),
        help="Where the tools run; left out: strict for tools of yours, process for those that come along.",
    )(timeout(command))


def binding_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--by``: how calls pass their arguments."""
    return click.option(
        "--by",
        "binding",
        type=click.Choice(["name", "position"]),
        default="name",
        show_default=True,
        help="Pass arguments by name, or by position as written, as NESTful's own executor does.",
    )(command)


def _seconds_option(flag: str, default: float, help: str) -> Decorator:
    return click.option(
        flag, metavar="SECONDS", type=Seconds(), default=default, show_default=True, help=help
    )
