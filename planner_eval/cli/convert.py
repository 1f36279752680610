"""planeval convert: write plans in another notation."""

from __future__ import annotations

import json

import click

from planner_eval.cli.options import emit, note, output, reading


@click.command("convert")
@click.argument("file", metavar="FILE")
@reading
@click.option(
    "--to", "target", metavar="DIALECT", required=True, help="The notation to write; see planeval dialects."
)
@click.option("--repair", is_flag=True, help="Mend small faults where strict reading fails; each is listed.")
@click.option("--catalog", metavar="FILE", help="A tool catalog that types the values of untyped notations.")
@click.option("--loss", is_flag=True, help="Give up what the notation cannot say, and say what was lost.")
@output
def command(
    file: str,
    dialect: str | None,
    id_field: str | None,
    text_field: str | None,
    target: str,
    repair: bool,
    catalog: str | None,
    loss: bool,
    output: str | None,
) -> int:
    """Write plans in another notation: one plan as it is, many as JSON lines of id and text.

    What the notation cannot say is an error; with --loss it is given up, and each loss is listed.
    """
    from planner_eval import dialects
    from planner_eval.cli.parse import tool_types
    from planner_eval.errors import ParseError, WriteError
    from planner_eval.files import read_file

    dialects.get(target)
    source = read_file(file, id_field=id_field, text_field=text_field)
    tools = tool_types(catalog)
    lines = []
    failed = 0
    for record in source.records:
        try:
            plan = record.plan(dialect=dialect, repair=repair, tools=tools)
            text = _written(plan, target, loss, record.where)
        except (ParseError, WriteError) as error:
            failed += 1
            note(f"{record.where}: {error}")
            continue
        lines.append(json.dumps({"id": record.id, "text": text}, ensure_ascii=False) if source.many else text)
    if lines or not failed:
        emit("\n".join(lines), output)
    return 0 if not failed else 1 if lines else 3


def _written(plan: object, target: str, loss: bool, where: str) -> str:
    from planner_eval.dialects.loss import write_lossy
    from planner_eval.model import Plan
    from planner_eval.read import write

    assert isinstance(plan, Plan)
    if not loss:
        return write(plan, target)
    done = write_lossy(plan, target, write)
    for lost in done.losses:
        note(f"{where}: {lost.code}: {lost.message}")
    return done.text
