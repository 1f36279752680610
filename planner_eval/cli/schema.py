"""planeval schema: JSON Schema of what people write by hand, and of reports."""

from __future__ import annotations

import json

import click

from planner_eval.base.tables import table
from planner_eval.cli.options import emit, output

SCHEMAS: dict[str, tuple[str, str, str]] = {
    "policy": ("policy.schema", "PolicyFile", "how values compare: planeval.toml, --policy FILE"),
    "world": ("worlds.schema", "WorldFile", "a simulated world: --tools world:FILE"),
    "record": ("records.schema", "GoldRecord", "a gold record: what is right besides its plan"),
    "plan": ("dialects.plan_schema", "PlanFile", "the interchange JSON of plans: --to plan"),
    "wrappers": ("dialects.row_schema", "WrappersFile", "notations of one's own: --wrappers FILE"),
    "theme": ("drawing.schema", "ThemeFile", "colours and shapes of drawings: --theme FILE"),
    "patch": ("comparison.schema", "PatchFile", "a repair: diff --patch, apply"),
    "datasets": ("datasets.schema", "DatasetsFile", "the table of published data: data/datasets.json"),
    "report": ("scoring.schema", "ReportData", "what score --format json writes"),
    "contrast": ("scoring.schema", "ContrastData", "what compare --format json writes"),
}
"""Name → the module and the model that describes it, and where it is met."""


@click.command("schema")
@click.argument("name", required=False, type=click.Choice(list(SCHEMAS)), metavar="[NAME]")
@output
def command(name: str | None, output: str | None) -> int:
    """Print the JSON Schema (draft 2020-12) of a kind of file, for editors and CI; without NAME list them.

    What is written in TOML has the same structure. What no schema can say (a regular expression compiles, a
    call that is named exists) is checked when the file is used.
    """
    if name is None:
        rows = [{"schema": each, "of": said} for each, (_, _, said) in SCHEMAS.items()]
        emit(table(rows, "text"), output)
        return 0
    from importlib import import_module

    from planner_eval.base.described import json_schema

    module, model, _ = SCHEMAS[name]
    found = json_schema(getattr(import_module(f"planner_eval.{module}"), model))
    emit(json.dumps(found, ensure_ascii=False, indent=1), output)
    return 0
