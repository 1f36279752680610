"""planeval dialects: the notations that plans can be read from and written in."""

from __future__ import annotations

import json

import click

import planner_eval as pe
from planner_eval.base.output_files import SINGLE_VALUE_FORMATS
from planner_eval.base.tables import table
from planner_eval.cli.options import emit, format_option, output_option, wrappers_option
from planner_eval.reading.files.frameworks import layout_rows


@click.command("dialects")
@click.argument("name", required=False)
@format_option(
    "text", *SINGLE_VALUE_FORMATS, help="How to write it; the list as md is the documentation's page."
)
@wrappers_option
@output_option
def command(name: str | None, form: str, output: str | None) -> int:
    """List the dialects and the frameworks whose files are known, or show one dialect with its example."""
    entries = pe.list_dialects(name)
    if form == "md" and name is None:
        from planner_eval.reading.dialects.listing import page

        emit(page(), output)
        return 0
    if form == "json":
        emit(json.dumps([entry._asdict() for entry in entries], ensure_ascii=False, indent=1), output)
    elif name is not None and form == "text":
        entry = entries[0]
        note = f"\n{entry.note}" if entry.note else ""
        emit(f"{entry.name}: {entry.title}{note}\n\n{entry.example}", output)
    else:
        rows = [
            {"dialect": e.name, "what it is": e.title, "references": e.references, "seen": e.checked}
            for e in entries
        ]
        layouts = table(layout_rows(), form, width=100) if form == "text" and name is None else ""
        emit("\n\n".join(filter(None, (table(rows, form, width=80), layouts))), output)
    return 0
