"""The option that says how values compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from planner_eval.cli.options import note

if TYPE_CHECKING:
    from planner_eval.policy import Policy


def policy_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--policy``; without it the project's settings say, see :mod:`planner_eval.cli.settings`."""
    return click.option(
        "--policy",
        metavar="NAME|FILE",
        help="How values compare: default, strict, lenient, a benchmark's name, or a TOML file. "
        "When left out: as planeval.toml or pyproject.toml of the project says, else default.",
    )(command)


def chosen_policy(name: str | None) -> Policy:
    """The policy that the option or the project's settings name, or the default."""
    from planner_eval.policy import DEFAULT_POLICY

    if name is None:
        return DEFAULT_POLICY
    from planner_eval.policy.file import load_policy, read_policy

    if click.get_current_context().get_parameter_source("policy") is not ParameterSource.DEFAULT_MAP:
        return load_policy(name)
    from pathlib import Path

    # The project's settings serve more files than those of one run: what these lack is no error.
    return read_policy(Path(name), settings=True, unknown=note)
