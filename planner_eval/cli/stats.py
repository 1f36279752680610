"""planeval stats: structure figures of files of plans."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from planner_eval.cli.options import emit, note, output, reading

if TYPE_CHECKING:
    from planner_eval.files import PlanFile, Record
    from planner_eval.structure import Stats
    from planner_eval.summary import Summary


@click.command("stats")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@reading
@click.option("--each", is_flag=True, help="A row for each plan instead of the summary.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "md"]),
    default="table",
    show_default=True,
    help="How to write the figures.",
)
@output
def command(
    files: tuple[str, ...],
    dialect: str | None,
    id_field: str | None,
    text_field: str | None,
    each: bool,
    form: str,
    output: str | None,
) -> int:
    """Show the structure of plans: components, depth, width, fan-in and fan-out, patterns, shapes.

    FILE is a plan, or an array or lines of records, or - for standard input. One plan gives its own
    figures, many give a summary; several files stand side by side.
    """
    from planner_eval.files import read_file

    sources = [read_file(f, id_field=id_field, text_field=text_field, gold=True) for f in files]
    read = [_read(source, dialect) for source in sources]
    if each or (len(sources) == 1 and not sources[0].many):
        emit(_each(sources, read, form), output)
    else:
        emit(_summaries(sources, read, form), output)
    unread = sum(error is not None for rows in read for _, _, error in rows)
    for rows in read:
        for record, _, error in rows:
            if error is not None:
                note(f"{record.where}: {error}")
    good = any(stats is not None for rows in read for _, stats, _ in rows)
    return 0 if not unread else 1 if good else 3


def _read(source: PlanFile, dialect: str | None) -> list[tuple[Record, Stats | None, str | None]]:
    from planner_eval.errors import ParseError
    from planner_eval.structure import stats

    rows: list[tuple[Record, Stats | None, str | None]] = []
    for record in source.records:
        try:
            rows.append((record, stats(record.plan(dialect=dialect)), None))
        except ParseError as error:
            rows.append((record, None, str(error)))
    return rows


def _each(
    sources: list[PlanFile], read: list[list[tuple[Record, Stats | None, str | None]]], form: str
) -> str:
    from planner_eval.tables import table

    rows: list[dict[str, Any]] = []
    for rows_of_file in read:
        for record, stats, error in rows_of_file:
            row: dict[str, Any] = {"file": record.file} if len(sources) > 1 else {}
            row["record"] = record.id if record.id is not None else record.position + 1
            if stats is not None:
                row |= {k: v for k, v in asdict(stats).items() if form == "json" or k not in _LONG}
                if form != "json":
                    row |= {k: getattr(stats, k) for k in ("shape",)}
            row["error"] = error.split("\n")[0] if error else None
            rows.append(row)
    if len(rows) == 1 and form in ("table", "md") and rows[0]["error"] is None:
        stats = read[0][0][1]
        assert stats is not None
        rows = [{"figure": k.replace("_", " "), "value": _plain(v)} for k, v in asdict(stats).items()]
        return table(rows, form, width=100)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return table([{key: row.get(key) for key in keys} for row in rows], form)


_LONG = ("critical_path", "patterns", "shape")


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return " → ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{k} ×{n}" for k, n in value.items())
    return str(value)


def _summaries(
    sources: list[PlanFile], read: list[list[tuple[Record, Stats | None, str | None]]], form: str
) -> str:
    import json

    from planner_eval.summary import summarise
    from planner_eval.tables import table

    summaries = [
        summarise([s for _, s, _ in rows if s is not None], unread=sum(s is None for _, s, _ in rows))
        for rows in read
    ]
    if form == "json":
        data = [
            {"file": source.name, **asdict(summary)}
            for source, summary in zip(sources, summaries, strict=True)
        ]
        return json.dumps(data[0] if len(data) == 1 else data, ensure_ascii=False, indent=1)
    blocks = [table(_figures(sources, summaries), form)]
    for kind in ("patterns", "shapes"):
        rows = _counts(sources, summaries, kind)
        if rows:
            blocks.append(table(rows, form))
    return "\n\n".join(blocks)


def _figures(sources: list[PlanFile], summaries: list[Summary]) -> list[dict[str, Any]]:
    """One row a figure; with several files one group of columns a file."""
    several = len(sources) > 1
    head: dict[str, Any] = {"figure": "plans"}
    unread: dict[str, Any] = {"figure": "unread"}
    for source, summary in zip(sources, summaries, strict=True):
        for key in _columns(source, several):
            head[key] = unread[key] = None
        head[_columns(source, several)[0]] = summary.plans
        unread[_columns(source, several)[0]] = summary.unread
    rows = [head, unread] if any(s.unread for s in summaries) else [head]
    for k, figure in enumerate(summaries[0].figures):
        row: dict[str, Any] = {"figure": figure.name.replace("_", " ")}
        for source, summary in zip(sources, summaries, strict=True):
            f = summary.figures[k]
            row |= dict(zip(_columns(source, several), (f.total, f.mean, f.median, f.max), strict=True))
        rows.append(row)
    return rows


def _columns(source: PlanFile, several: bool) -> list[str]:
    names = ["total", "mean", "median", "max"]
    return [f"{source.name} {name}" for name in names] if several else names


def _counts(
    sources: list[PlanFile], summaries: list[Summary], kind: str, most: int = 12
) -> list[dict[str, Any]]:
    """The commonest patterns or shapes, a column of counts a file."""
    totals: dict[str, int] = {}
    for summary in summaries:
        for key, count in getattr(summary, kind).items():
            totals[key] = totals.get(key, 0) + count
    ranked = sorted(totals, key=lambda key: (-totals[key], key))[:most]
    return [
        {kind[:-1]: key}
        | {
            (source.name if len(sources) > 1 else "count"): getattr(summary, kind).get(key, 0)
            for source, summary in zip(sources, summaries, strict=True)
        }
        for key in ranked
    ]
