"""planeval schema: JSON Schema of what people write by hand, and of reports."""

from __future__ import annotations

import json

import click

import planner_eval as pe
from planner_eval.base.output_files import format_of_suffix
from planner_eval.base.tables import table
from planner_eval.cli.options import emit, output_options
from planner_eval.integrations.schemas import SCHEMAS


@click.command("schema")
@click.argument("name", required=False, type=click.Choice(list(SCHEMAS)), metavar="[NAME]")
@output_options("json", "text")
def command(name: str | None, output: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of a kind of file, for editors and CI; without NAME list them.

    What is written in TOML has the same structure. What no schema can say (a regular expression compiles, a
    call that is named exists) is checked when the file is used.
    """
    if name is None:
        rows = [{"schema": schema_name, "of": meaning} for schema_name, (_, _, meaning) in SCHEMAS.items()]
        emit(table(rows, format_of_suffix(output, ("json",)) or "text"), output)
        return 0
    emit(json.dumps(pe.schema(name), ensure_ascii=False, indent=1), output)
    return 0
