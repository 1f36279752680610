"""planeval data coverage: what plans touch of tools, pairs, shapes and depths, and what none does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.tables import md_cell, table
from planner_eval.base.text import format_count, one_line
from planner_eval.cli.options import (
    OptionScope,
    emit,
    format_option,
    note,
    output_option,
    reading_options,
    refuse_idle,
)
from planner_eval.cli.sources import dataset_options, open_plan_sets
from planner_eval.cli.terminal import Target, make_counter

if TYPE_CHECKING:
    from planner_eval.curation.coverage import Aspect, Coverage


_MAX_WIDTH = 100


@click.command("coverage")
@click.argument("data", metavar="FILE|DATASET")
@click.option(
    "--catalog",
    "catalogs",
    metavar="FILE",
    multiple=True,
    help="The tools that there are: a file in any known format, or world:NAME; several add up.",
)
@click.option("--catalog-format", metavar="FORMAT", help="The catalog's format; recognised when left out.")
@click.option("--against", metavar="FILE|DATASET", help="Another set of plans, which may touch other things.")
@click.option("--examples", type=click.IntRange(0), default=5, show_default=True, help="Examples of each.")
@click.option(
    "--to-make",
    metavar="FILE",
    type=Target(forms=("json",)),
    help="Write what no plan touches to FILE, as JSON for whoever makes plans.",
)
@reading_options
@dataset_options
@format_option("text", "md", "json", help="How to write the result.")
@output_option
def command(
    data: str,
    catalogs: tuple[str, ...],
    catalog_format: str | None,
    against: str | None,
    examples: int,
    to_make: str | None,
    form: str,
    output: str | None,
    dialect: str | None,
    **fields: Any,
) -> int:
    """Say what plans touch, and what none touches: tools, pairs of tools, edges, shapes, depths, kinds.

    FILE holds records of plans; DATASET is a name of 'planeval data list'. With --catalog it is known which
    tools and parameters are never used, and which outputs are never given to a parameter of their name and
    type; with --against what another set touches and this one does not. Exit code: 0 all plans read, 1 some
    could not be, 2 usage, 3 none could be.
    """
    refuse_idle([OptionScope(("catalog_format",), bool(catalogs), "to a catalog, and none is given")])
    catalog = pe.read_catalog(catalogs, catalog_format) if catalogs else None
    sources = open_plan_sets([name for name in (data, against) if name is not None], fields)
    coverage = pe.coverage(
        sources[0], catalog, against=sources[1] if against is not None else None, examples=examples,
        dialect=dialect, progress=make_counter("plans"),
    )  # fmt: skip
    if to_make is not None:
        emit(json.dumps(coverage.to_make(), ensure_ascii=False, indent=1), to_make, plain=True)
    emit(_coverage_json(coverage) if form == "json" else _coverage_text(coverage, form, examples), output)
    for doubt in coverage.notes:
        note(doubt)
    for source_set in coverage.sets:
        for reason in source_set.reasons:
            note(reason)
        if source_set.unread > len(source_set.reasons):
            unnamed = source_set.unread - len(source_set.reasons)
            note(f"… and {unnamed:,} more plans of {source_set.name} that cannot be read")
    if catalog is not None and coverage.aspect("edges").never is None:
        note("too many outputs have a parameter's name: which pairs and edges are never touched is not told")
    if coverage.unproved:
        note(f"{format_count(coverage.unproved, 'plan')} taken for equal unproved: the search took too long")
    if not all(s.plans for s in coverage.sets):
        return 3
    return int(any(s.unread for s in coverage.sets))


def _coverage_json(coverage: Coverage) -> str:
    data = {
        "sets": [s._asdict() for s in coverage.sets],
        "catalog": coverage.catalog,
        "aspects": {a.name: _aspect_data(a) for a in coverage.aspects if a.name != "skeletons"},
        "skeletons": {
            "number": len(coverage.aspect("skeletons").touched),
            "commonest": [s._asdict() for s in coverage.skeletons],
            "plans of the ten commonest": coverage.commonest,
        },
        "unproved": coverage.unproved,
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


def _aspect_data(aspect: Aspect) -> dict[str, Any]:
    data: dict[str, Any] = {"touched": {str(thing): count for thing, count in aspect.touched.items()}}
    if aspect.never is not None:
        data |= {"never": list(map(str, aspect.never)), "beside": aspect.beside}
    if aspect.others is not None:
        data |= {"missing": list(map(str, aspect.missing)), "alone": list(map(str, aspect.alone))}
    return data


def _coverage_text(coverage: Coverage, form: str, examples: int) -> str:
    heads = [
        f"{_escape_line(s.name, form)}: {format_count(s.records, 'record')}, {s.plans:,} with a plan"
        for s in coverage.sets
    ]
    if not any(s.plans for s in coverage.sets):
        return "\n".join(heads)
    blocks = ["\n".join(heads), table([_row(a, coverage) for a in coverage.aspects], form, width=_MAX_WIDTH)]
    number = len(coverage.aspect("skeletons").touched)
    of = f"of {coverage.commonest:,} of {coverage.sets[0].plans:,} plans"
    head = f"skeletons: {number:,}; the {min(number, 10)} commonest are {of}"
    common = (f"  {s.plans:,} × {_escape_line(s.tools, form) or 'none'}" for s in coverage.skeletons)
    blocks.append("\n".join([head, *common]))
    for aspect in coverage.aspects:
        if aspect.never:
            blocks.append(
                "\n".join(_list_things(f"{aspect.name} never touched", aspect.never, examples, form))
            )
    for aspect in coverage.aspects:
        if aspect.missing and aspect.name != "skeletons":
            head = f"{aspect.name} of {coverage.sets[1].name} that {coverage.sets[0].name} never touches"
            blocks.append("\n".join(_list_things(_escape_line(head, form), aspect.missing, examples, form)))
    return "\n\n".join(blocks)


def _row(aspect: Aspect, coverage: Coverage) -> dict[str, Any]:
    never = None if aspect.never is None else len(aspect.never)
    row = {"": aspect.name, "touched": len(aspect.touched), "beside": aspect.beside, "never": never}
    row |= {"commonest": _commonest(aspect)}
    if len(coverage.sets) > 1:
        row |= {"only here": len(aspect.alone), "only there": len(aspect.missing)}
    return row


def _commonest(aspect: Aspect) -> str | None:
    if aspect.name == "skeletons" or not aspect.touched:
        return None
    thing, count = next(iter(aspect.touched.items()))
    return f"{count:,} × {one_line(str(thing), _MAX_WIDTH) or 'none'}"


def _list_things(head: str, things: Iterable[Any], most: int, form: str) -> Iterator[str]:
    items = list(things)
    yield f"{head}: {len(items):,}"
    yield from (f"  {_escape_line(str(thing), form) or 'none'}" for thing in items[:most])
    if most and len(items) > most:
        yield f"  … and {len(items) - most:,} more"


def _escape_line(text: str, form: str) -> str:
    """Words of the data on one line."""
    cut = one_line(text, _MAX_WIDTH)
    return md_cell(cut) if form == "md" else cut
