"""planeval doctor: what this installation and this machine can do."""

from __future__ import annotations

import sys

import click

import planner_eval as pe
from planner_eval.base.formats import WHOLE
from planner_eval.base.tables import table
from planner_eval.cli.options import emit, output, written


@click.command("doctor")
@written("text", *WHOLE, help="How to write the findings.")
@output
def command(form: str, output: str | None) -> int:
    """Try what depends on the machine: isolation layer by layer, and the packages that are optional.

    Exit code: 0 hostile plans can be run at level strict here, 1 they cannot.
    """
    found = pe.doctor()
    rows = [{"what": one.what, "state": "yes" if one.there else "no", "found": one.found} for one in found]
    terminal = "yes" if sys.stdout.isatty() else "no"
    rows.append({"what": "terminal", "state": terminal, "found": "colours and progress"})
    emit(table(rows, form, width=100), output)
    return 0 if any(one.what == "isolation strict" and one.there for one in found) else 1
