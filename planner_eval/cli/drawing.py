"""The options of commands that draw."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click

import planner_eval as pe
from planner_eval.base.errors import RenderError
from planner_eval.cli.options import note


def drawing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how something is drawn: ``--theme``, ``--deadline``, ``--force``."""
    for option in (
        click.option("--force", is_flag=True, help="Draw every call, however many there are."),
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
    return command


def colorful() -> bool:
    """Whether standard output is a terminal that wants colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def draw_one(thing: Any, form: str, options: dict[str, Any]) -> bytes:
    """Draw one thing with the options of :func:`drawing`, and say what is worth knowing about it.

    Raises:
        RenderError: it cannot be drawn.
    """
    look = {name: options[name] for name in ("theme", "deadline", "force")}
    color = options.get("output") is None and colorful()
    one = next(pe.render_many([thing], format=form, color=color, **look))
    for diagnostic in one.diagnostics:
        if diagnostic.severity != "info":
            note(diagnostic.message)
    if one.error:
        raise RenderError(one.error)
    return one.data
