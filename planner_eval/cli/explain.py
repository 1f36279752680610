"""planeval explain: what a code or a term means, an example and what to do."""

from __future__ import annotations

import click

from planner_eval.base.tables import table
from planner_eval.cli.help import Command
from planner_eval.cli.options import emit, output_options
from planner_eval.results.codes import code_entries, explain_code, find_codes, term_entries


@click.command("explain", cls=Command)
@click.argument("code", required=False, metavar="[CODE]")
@output_options("plain")
def command(code: str | None, output: str | None) -> int:
    """Explain a word of an output: a code, an outcome, a figure or a label of a table or page.

    CODE is a name that outputs show, such as check.enum, unreadable, exact or "root cause", or a family, such
    as check. Shown are its meaning, an example and what to do. Without CODE, all are listed.
    """
    if code is None:
        rows = [
            {"code": entry.code, "meaning": "; ".join(entry.meanings)}
            for entry in (*code_entries().values(), *term_entries())
        ]
        emit(table(rows), output)
    else:
        emit("\n\n".join(map(explain_code, find_codes(code))), output)
    return 0
