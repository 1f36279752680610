"""planeval data coverage: what plans touch of tools, pairs, shapes and depths, and what none does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.tables import md_cell, table
from planner_eval.base.text import counted, one_line
from planner_eval.cli.options import Applies, emit, note, output, reading, refuse_idle, written
from planner_eval.cli.sources import dataset_places, opened_sets
from planner_eval.cli.targets import Target
from planner_eval.cli.terminal import counted as counter

if TYPE_CHECKING:
    from planner_eval.datasets.coverage import Aspect
    from planner_eval.verbs.coverage import Coverage

_WIDE = 100


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
@reading
@dataset_places
@written("text", "md", "json", help="How to write the result.")
@output
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
    refuse_idle([Applies(("catalog_format",), bool(catalogs), "to a catalog, and none is given")])
    catalog = pe.read_catalog(catalogs, catalog_format) if catalogs else None
    sources = opened_sets([name for name in (data, against) if name is not None], fields)
    found = pe.coverage(
        sources[0], catalog, against=sources[1] if against is not None else None, examples=examples,
        dialect=dialect, progress=counter("plans"),
    )  # fmt: skip
    if to_make is not None:
        emit(json.dumps(found.to_make(), ensure_ascii=False, indent=1), to_make, plain=True)
    emit(_json(found) if form == "json" else _shown(found, form, examples), output)
    for doubt in found.notes:
        note(doubt)
    for one in found.sets:
        for reason in one.reasons:
            note(reason)
        if one.unread > len(one.reasons):
            note(f"… and {one.unread - len(one.reasons):,} more plans of {one.name} that cannot be read")
    if catalog is not None and found.aspect("edges").never is None:
        note("too many outputs have a parameter's name: which pairs and edges are never touched is not told")
    if found.unproved:
        note(f"{counted(found.unproved, 'plan')} taken for equal unproved: the search took too long")
    if not all(one.plans for one in found.sets):
        return 3
    return int(any(one.unread for one in found.sets))


def _json(found: Coverage) -> str:
    data = {
        "sets": [one._asdict() for one in found.sets],
        "catalog": found.catalog,
        "aspects": {one.name: _aspect(one) for one in found.aspects if one.name != "skeletons"},
        "skeletons": {
            "number": len(found.aspect("skeletons").touched),
            "commonest": [one._asdict() for one in found.skeletons],
            "plans of the ten commonest": found.commonest,
        },
        "unproved": found.unproved,
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


def _aspect(one: Aspect) -> dict[str, Any]:
    data: dict[str, Any] = {"touched": {str(thing): count for thing, count in one.touched.items()}}
    if one.never is not None:
        data |= {"never": list(map(str, one.never)), "beside": one.beside}
    if one.others is not None:
        data |= {"missing": list(map(str, one.missing)), "alone": list(map(str, one.alone))}
    return data


def _shown(found: Coverage, form: str, examples: int) -> str:
    heads = [
        f"{_told(one.name, form)}: {counted(one.records, 'record')}, {one.plans:,} with a plan"
        for one in found.sets
    ]
    if not any(one.plans for one in found.sets):
        return "\n".join(heads)
    blocks = ["\n".join(heads), table([_row(one, found) for one in found.aspects], form, width=_WIDE)]
    number = len(found.aspect("skeletons").touched)
    of = f"of {found.commonest:,} of {found.sets[0].plans:,} plans"
    head = f"skeletons: {number:,}; the {min(number, 10)} commonest are {of}"
    common = (f"  {one.plans:,} × {_told(one.tools, form) or 'none'}" for one in found.skeletons)
    blocks.append("\n".join([head, *common]))
    for one in found.aspects:
        if one.never:
            blocks.append("\n".join(_listed(f"{one.name} never touched", one.never, examples, form)))
    for one in found.aspects:
        if one.missing and one.name != "skeletons":
            head = f"{one.name} of {found.sets[1].name} that {found.sets[0].name} never touches"
            blocks.append("\n".join(_listed(_told(head, form), one.missing, examples, form)))
    return "\n\n".join(blocks)


def _row(one: Aspect, found: Coverage) -> dict[str, Any]:
    never = None if one.never is None else len(one.never)
    row = {"": one.name, "touched": len(one.touched), "beside": one.beside, "never": never}
    row |= {"commonest": _commonest(one)}
    if len(found.sets) > 1:
        row |= {"only here": len(one.alone), "only there": len(one.missing)}
    return row


def _commonest(one: Aspect) -> str | None:
    if one.name == "skeletons" or not one.touched:
        return None
    thing, count = next(iter(one.touched.items()))
    return f"{count:,} × {one_line(str(thing), _WIDE) or 'none'}"


def _listed(head: str, things: Iterable[Any], most: int, form: str) -> Iterator[str]:
    every = list(things)
    yield f"{head}: {len(every):,}"
    yield from (f"  {_told(str(thing), form) or 'none'}" for thing in every[:most])
    if most and len(every) > most:
        yield f"  … and {len(every) - most:,} more"


def _told(text: str, form: str) -> str:
    """Words of the data on one line."""
    cut = one_line(text, _WIDE)
    return md_cell(cut) if form == "md" else cut
