"""planeval doctor: what this installation and this machine can do."""

from __future__ import annotations

import sys

import click

import planner_eval as pe
from planner_eval.base.output_files import SINGLE_VALUE_FORMATS
from planner_eval.base.tables import table
from planner_eval.cli.options import emit, format_option, output_option


@click.command("doctor")
@format_option("text", *SINGLE_VALUE_FORMATS, help="How to write the findings.")
@output_option
def command(form: str, output: str | None) -> int:
    """Try what depends on the machine: isolation layer by layer, and the packages that are optional.

    Exit code: 0 hostile plans can be run at level strict here, 1 they cannot.
    """
    checks = pe.doctor()
    rows = [{"what": c.what, "state": "yes" if c.there else "no", "found": c.found} for c in checks]
    terminal = "yes" if sys.stdout.isatty() else "no"
    rows.append({"what": "terminal", "state": terminal, "found": "colours and progress"})
    emit(table(rows, form, width=100), output)
    return 0 if any(c.what == "isolation strict" and c.there for c in checks) else 1
