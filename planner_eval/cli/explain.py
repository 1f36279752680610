"""planeval explain: what a code means, an example and what to do."""

from __future__ import annotations

import click

from planner_eval.base.tables import table
from planner_eval.cli.help import Command
from planner_eval.cli.options import emit, output_options
from planner_eval.results.codes import code_entries, explain_code, find_codes


@click.command("explain", cls=Command)
@click.argument("code", required=False, metavar="[CODE]")
@output_options("plain")
def command(code: str | None, output: str | None) -> int:
    """Explain an outcome or a code of an edit, a remark, a finding or an error.

    CODE is a name that messages show, such as unreadable or check.enum, or a family, such as check. Shown are
    its meaning, an example and what to do. Without CODE, all codes are listed.
    """
    if code is None:
        rows = [
            {"code": entry.code, "meaning": "; ".join(entry.meanings)} for entry in code_entries().values()
        ]
        emit(table(rows), output)
    else:
        emit("\n\n".join(map(explain_code, find_codes(code))), output)
    return 0
