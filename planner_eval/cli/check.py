"""planeval check: plans against a tool catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.errors import CODES, ParseError
from planner_eval.base.formats import RECORDS
from planner_eval.base.tables import table
from planner_eval.base.text import counted, did_you_mean, printable
from planner_eval.cli.options import computing, emit, note, output, reading, written
from planner_eval.cli.sources import dataset_places, read_plans
from planner_eval.cli.terminal import counting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.plan.model import Diagnostic, Plan
    from planner_eval.records.files import Record

_LEVELS = ("error", "warning", "info")


def _codes(context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes of findings; one that there is not would leave out nothing, and is refused."""
    for code in given:
        if code not in CODES:
            hint = did_you_mean(code, list(CODES), "they stand in brackets behind findings")
            raise click.UsageError(f"--ignore {code!r}: there is no such code: {hint}", context)
    return given


@click.command("check")
@click.argument("plans", nargs=-1, required=True, metavar="PLAN|DATASET...")
@click.option(
    "--catalog",
    "catalogs",
    metavar="FILE",
    multiple=True,
    required=True,
    help="The tools: a file in any known format, or world:NAME; several add up.",
)
@click.option("--catalog-format", metavar="FORMAT", help="The catalog's format; recognised when left out.")
@reading
@computing
@dataset_places
@click.option(
    "--ignore",
    metavar="CODE",
    multiple=True,
    callback=_codes,
    help="Leave out findings of this code; repeatable.",
)
@click.option(
    "--level",
    type=click.Choice(_LEVELS),
    default="warning",
    show_default=True,
    help="The least severity that is shown and that counts.",
)
@written("text", *RECORDS, help="How to write the findings.")
@output
def command(
    plans: tuple[str, ...],
    catalogs: tuple[str, ...],
    catalog_format: str | None,
    dialect: str | None,
    compute: str | None,
    ignore: tuple[str, ...],
    level: str,
    form: str,
    output: str | None,
    **fields: Any,
) -> int:
    """Check the calls of a plan, or of many, against the tools that they may use.

    PLAN is a plan or a file of records, a directory or a quoted pattern of files; - is standard input.
    Nothing is run. Found are unknown tools, missing and unknown arguments, values of the wrong type or
    outside what is allowed, references to outputs that a tool does not have or that do not fit, unused
    results, and apps without permission.
    Exit code: 0 nothing found, 1 findings or a plan that could not be read, 2 usage, 3 no plan at all.
    """
    from planner_eval.catalogs.unchecked import unchecked

    catalog = pe.read_catalog(catalogs, catalog_format)
    sources = read_plans(plans, **fields)
    how = {"dialect": dialect, "compute": compute}
    rows: list[dict[str, Any]] = []
    read = unread = 0
    for source in sources:
        for record in counting(source.records, len(source.records)):
            name = _name(record, several=len(sources) > 1)
            found = list(_checked(record, name, catalog, how, ignore=ignore, level=level))
            good = all(row["code"] != "unreadable" for row in found)
            read, unread = read + good, unread + (not good)
            rows += found
    if len(sources) == 1 and not sources[0].many:
        rows = [{key: value for key, value in row.items() if key != "record"} for row in rows]
    if rows or form != "text" or output is not None:
        emit(_written(rows, form), output)
    if left := unchecked(catalog):
        note(f"not looked at in {catalog.name}: {_told(left)}")
    if form == "text":
        note(_summary(rows, read, unread, catalog))
    if not read:
        return 3
    return 1 if rows else 0


def _told(left: dict[str, list[str]]) -> str:
    return ", ".join(
        f"{keyword} ({', '.join(tools[:3])}{', …' * (len(tools) > 3)})" for keyword, tools in left.items()
    )


def _name(record: Record, *, several: bool) -> str:
    own = record.id if record.id is not None else str(record.position + 1)
    return f"{record.file}: {own}" if several else own


def _checked(
    record: Record, name: str, catalog: Catalog, how: dict[str, Any], **which: Any
) -> Iterator[dict[str, Any]]:
    """A row a finding; what the reader had to say of the plan comes first."""
    from planner_eval.dialects.read import locate
    from planner_eval.verbs.checking import shown

    try:
        plan = locate(pe.parse(record, **how))
    except ParseError as error:
        yield _row(name, "error", "unreadable", str(error).split("\n")[0])
        return
    for found in (*shown(plan.diagnostics, **which), *pe.check(plan, catalog, **which)):
        yield _row(name, found.severity, found.code, found.message, finding=found, plan=plan)


def _row(
    record: str,
    severity: str,
    code: str,
    message: str,
    *,
    finding: Diagnostic | None = None,
    plan: Plan | None = None,
) -> dict[str, Any]:
    position = finding.call if finding is not None else None
    line, column = _place(finding, plan)
    return {
        "record": record,
        "severity": severity,
        "code": code,
        "call": None if position is None else position + 1,
        "tool": None if position is None or plan is None else plan.calls[position].tool,
        "argument": finding.argument if finding is not None else None,
        "line": line,
        "column": column,
        "message": message,
    }


def _place(finding: Diagnostic | None, plan: Plan | None) -> tuple[int | None, int | None]:
    """Line and column of a finding in its plan's text, counted from 1, where they are known."""
    if finding is None or finding.span is None or plan is None or plan.text is None:
        return None, None
    start = finding.span[0]
    return plan.text.count("\n", 0, start) + 1, start - plan.text.rfind("\n", 0, start)


def _written(rows: list[dict[str, Any]], form: str) -> str:
    if form != "text":
        return table(rows, form)
    return printable("\n".join(_line(row) for row in rows))


def _line(row: dict[str, Any]) -> str:
    places = [f"record {row['record']}"] if "record" in row else []
    if row["line"] is not None:
        places.append(f"line {row['line']}, column {row['column']}")
    if row["call"] is not None:
        places.append(f"call {row['call']} ({row['tool']})")
    where = f"{', '.join(places)}: " if places else ""
    return f"{where}{row['severity']}: {row['message']} [{row['code']}]"


def _summary(rows: list[dict[str, Any]], read: int, unread: int, catalog: Catalog) -> str:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["severity"]] = counts.get(row["severity"], 0) + 1
    found = (
        ", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items()) or "nothing found"
    )
    plans = counted(read, "plan")
    return f"{plans} checked against {counted(len(catalog), 'tool')}: {found}" + (
        f"; {unread} unreadable" if unread else ""
    )
