"""The option that says how values compare."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from planner_eval.cli.options import note

if TYPE_CHECKING:
    from planner_eval.policy import Policy


def policy_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--policy``; without it the project's ``planeval.toml`` or ``pyproject.toml`` is asked."""
    return click.option(
        "--policy",
        metavar="NAME|FILE",
        help="How values compare: default, strict, lenient, a benchmark's name, or a TOML file. "
        "When left out: planeval.toml or pyproject.toml of the current folder, else default.",
    )(command)


def chosen_policy(name: str | None) -> Policy:
    """The policy that the option names, or the project's own, or the default."""
    from planner_eval.policy import DEFAULT_POLICY

    if name is not None:
        from planner_eval.policy.file import load_policy

        return load_policy(name)
    if not os.path.isfile("planeval.toml") and not _speaks_of_us("pyproject.toml"):
        return DEFAULT_POLICY
    from pathlib import Path

    from planner_eval.policy.file import find_policy

    found = find_policy(Path())
    if found is None:
        return DEFAULT_POLICY
    note(f"policy of {found.path}")
    return found.policy


def _speaks_of_us(project: str) -> bool:
    """Whether a pyproject.toml may have our table: a look is cheaper than a TOML parser."""
    try:
        with open(project, "rb") as file:
            return b"tool.planeval" in file.read()
    except OSError:
        return False
