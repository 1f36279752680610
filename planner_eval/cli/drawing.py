"""The options of commands that draw."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import click

import planner_eval as pe
from planner_eval.base.errors import RenderError
from planner_eval.cli.options import bundled, note


class Look(NamedTuple):
    """How something is drawn.

    Args:
        theme: A theme's name, or its file.
        deadline: Seconds for the layout of one drawing.
        force: Draw every call, however many there are.
    """

    theme: str
    deadline: float
    force: bool


def drawing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--theme``, ``--deadline`` and ``--force``, which the command takes as ``look``, a `Look`."""
    for option in (
        click.option("--force", is_flag=True, help="Draw every call or tool, however many there are."),
        click.option(
            "--deadline",
            metavar="SECONDS",
            type=click.FloatRange(min=0, min_open=True),
            default=10.0,
            show_default=True,
            help="Time for the layout of one drawing.",
        ),
        click.option(
            "--theme",
            metavar="NAME|FILE",
            default="default",
            show_default=True,
            help="Colours and lines: a theme's name, or a file ending in .toml.",
        ),
    ):
        command = option(command)
    return bundled("look", Look, Look._fields)(command)


def colorful() -> bool:
    """Whether standard output is a terminal that wants colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def draw_one(thing: Any, form: str, look: Look, output: str | None) -> bytes:
    """Draw one thing, and say what is worth knowing about it.

    Args:
        thing: What :func:`planner_eval.render` takes.
        form: The format.
        look: How it is drawn.
        output: The file that it is for; None for standard output, which may want colours.

    Raises:
        RenderError: it cannot be drawn.
    """
    color = output is None and colorful()
    one = next(pe.render_many([thing], format=form, color=color, **look._asdict()))
    for diagnostic in one.diagnostics:
        if diagnostic.severity != "info":
            note(diagnostic.message)
    if one.error:
        raise RenderError(one.error)
    return one.data
