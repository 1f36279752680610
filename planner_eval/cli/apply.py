"""planeval apply: repair a plan with a patch."""

from __future__ import annotations

import json
from typing import Any

import click

from planner_eval.cli.options import emit, output


@click.command("apply")
@click.argument("patch", metavar="PATCH")
@click.argument("plan", metavar="PLAN")
@click.option("--from", "dialect", metavar="DIALECT", help="The plan's dialect; recognised when left out.")
@click.option(
    "--to", "target", metavar="DIALECT", default="plan", show_default=True, help="The dialect to write in."
)
@output
def command(patch: str, plan: str, dialect: str | None, target: str, output: str | None) -> int:
    """Apply the repair that `planeval diff --patch` made to the plan it was made for, and write the result.

    PATCH and PLAN are files; one of them may be - for standard input.
    """
    from planner_eval.files import read_file
    from planner_eval.patch import apply_patch
    from planner_eval.read import write

    record = read_file(plan).records[0]
    repaired = apply_patch(record.plan(dialect=dialect), _read(patch))
    emit(write(repaired, target), output)
    return 0


def _read(name: str) -> Any:
    """The patch as JSON data."""
    from planner_eval.errors import InputError
    from planner_eval.files import read_file

    source = read_file(name).records[0].source
    try:
        return json.loads(source) if isinstance(source, str) else source
    except ValueError as error:
        raise InputError(f"{name}: this is no patch: {error}") from None
