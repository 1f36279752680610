"""planeval data coverage and data duplicates: what plans touch of tools, and which records are alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import View
from planner_eval.base.tables import Rows, Style, md_cell
from planner_eval.base.text import JsonObject, format_count, one_line, to_json
from planner_eval.cli.options import WHOLE, as_command, note, option, query_option, refuse_idle
from planner_eval.cli.output import Output, emit, output_options
from planner_eval.cli.sources import CatalogOptions, Input, catalog_options, input_options
from planner_eval.cli.terminal import Target, make_counter

if TYPE_CHECKING:
    from planner_eval.curation.coverage import Aspect, Coverage
    from planner_eval.curation.duplicates import AlikeRecords, Duplicates


# ----------------------------------------------------------------------
# planeval data coverage: what plans touch of tools, pairs, shapes and depths, and what none does.
_MAX_WIDTH = 100


@as_command("coverage", data="FILE|DATASET")
@catalog_options()
@option("--against FILE|DATASET", "Another set of plans to compare the coverage with.")
@option("--examples", "How many examples to show of each.", type=WHOLE, default=5)
@option(
    "--to-make FILE", "Write what no plan uses to FILE, as JSON for data make --fill.", type=Target("data")
)
@input_options
@output_options("document", "data")
def coverage_command(
    data: str,
    named_tools: CatalogOptions,
    against: str | None,
    examples: int,
    to_make: str | None,
    source: Input,
    output: Output,
) -> int:
    """Show which tools, pairs of tools, edges, shapes, depths and kinds of arguments plans use or never use.

    FILE holds records of plans; DATASET is a name of 'planeval data show'. --catalog adds tools and
    parameters that are never used, and outputs that never feed a parameter of their name and type;
    --against adds what another set uses and this one does not.
    Exit code: 0 all plans read, 1 some unreadable, 2 usage error, 3 none readable.
    """
    catalog = named_tools.read()
    sources = source.open_each(data, against)
    coverage = pe.coverage(
        sources[0], catalog, against=sources[1] if against is not None else None, examples=examples,
        reading=pe.Reading(dialect=source.dialect), progress=make_counter("plans"),
    )  # fmt: skip
    if to_make is not None:
        emit(to_json(coverage.to_make(), 1), to_make, plain=True)
    output.emit_view(
        View(lambda style: [_coverage_text(coverage, style, examples)], lambda: _coverage_data(coverage))
    )
    note(*coverage.notes)
    _say_unread(coverage.sets)
    if catalog is not None and coverage.aspect("edges").never is None:
        note("too many outputs have a parameter's name: unused pairs and edges are not listed")
    _say_unproved(coverage.unproved)
    if not all(s.plans for s in coverage.sets):
        return 3
    return int(any(s.unread for s in coverage.sets))


def _coverage_data(coverage: Coverage) -> JsonObject:
    return {
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


def _aspect_data(aspect: Aspect) -> JsonObject:
    data: dict[str, Any] = {"touched": {str(thing): count for thing, count in aspect.touched.items()}}
    if aspect.never is not None:
        data |= {"never": list(map(str, aspect.never)), "beside": aspect.beside}
    if aspect.others is not None:
        data |= {"missing": list(map(str, aspect.missing)), "alone": list(map(str, aspect.alone))}
    return data


def _coverage_text(coverage: Coverage, style: Style, examples: int) -> str:
    heads = [
        f"{_escape_line(s.name, style)}: {format_count(s.records, 'record')}, {s.plans:,} with a plan"
        for s in coverage.sets
    ]
    if not any(s.plans for s in coverage.sets):
        return "\n".join(heads)
    blocks = [
        "\n".join(heads),
        style.table([_coverage_row(a, coverage) for a in coverage.aspects], width=_MAX_WIDTH),
    ]
    number = len(coverage.aspect("skeletons").touched)
    of = f"of {coverage.commonest:,} of {coverage.sets[0].plans:,} plans"
    head = f"skeletons: {number:,}; the {min(number, 10)} commonest are {of}"
    common = (f"  {s.plans:,} × {_escape_line(s.tools, style) or 'none'}" for s in coverage.skeletons)
    blocks.append("\n".join([head, *common]))
    for aspect in coverage.aspects:
        if aspect.never:
            blocks.append("\n".join(_list_things(f"{aspect.name} never used", aspect.never, examples, style)))
    for aspect in coverage.aspects:
        if aspect.missing and aspect.name != "skeletons":
            head = f"{aspect.name} of {coverage.sets[1].name} that {coverage.sets[0].name} never uses"
            blocks.append("\n".join(_list_things(_escape_line(head, style), aspect.missing, examples, style)))
    return "\n\n".join(blocks)


def _coverage_row(aspect: Aspect, coverage: Coverage) -> dict[str, Any]:
    never = None if aspect.never is None else len(aspect.never)
    row = {"": aspect.name, "used": len(aspect.touched), "unlisted": aspect.beside, "unused": never}
    row |= {"most common": _commonest(aspect)}
    if len(coverage.sets) > 1:
        row |= {"only here": len(aspect.alone), "only there": len(aspect.missing)}
    return row


def _commonest(aspect: Aspect) -> str | None:
    if aspect.name == "skeletons" or not aspect.touched:
        return None
    thing, count = next(iter(aspect.touched.items()))
    return f"{count:,} × {one_line(str(thing), _MAX_WIDTH) or 'none'}"


def _list_things(head: str, things: Iterable[Any], most: int, style: Style) -> Iterator[str]:
    items = list(things)
    yield f"{head}: {len(items):,}"
    yield from (f"  {_escape_line(str(thing), style) or 'none'}" for thing in items[:most])
    if most and len(items) > most:
        yield f"  … and {len(items) - most:,} more"


def _escape_line(text: str, style: Style) -> str:
    """Words of the data on one line."""
    cut = one_line(text, _MAX_WIDTH)
    return md_cell(cut) if style.markup else cut


# ----------------------------------------------------------------------
# planeval data duplicates: records that are alike, and records of one set that stand in another.
CRITERIA = ("same", "template", "words", "query", "values", "plan")
"""What --by takes, the closest first."""

_MAX_NAMES = 6
"""Records of a group that are named."""


@as_command("duplicates", first="FILE|DATASET", second="[FILE|DATASET]?")
@option(
    "--by",
    "What duplicates share (default: template; plan for records without a question).",
    type=click.Choice(CRITERIA),
)
@query_option
@option("--across FIELD", "Count groups that span several values of FIELD, e.g. split.")
@option("--examples", "How many groups to show.", type=WHOLE, default=3)
@option(
    "--clusters FILE",
    "Write the records to FILE as JSON lines, with a field for score --cluster group.",
    type=Target("data", "records"),
)
@input_options
@output_options("document", "data")
def duplicates_command(
    first: str,
    second: str | None,
    by: str | None,
    clusters: str | None,
    source: Input,
    output: Output,
    **options: Any,
) -> int:
    """Find records with the same question, the same plan or both, word for word or up to values.

    Plans are equal up to values if they make the same calls with the same argument names and references;
    questions if only numbers, dates, quoted words and names differ. With a second set, records of the first
    that also occur in it are counted. FILE holds records of gold plans; DATASET is a name of 'planeval data
    show'.
    Exit code: 0 no duplicates by --by; 1 duplicates or an unreadable plan; 2 usage error; 3 nothing to
    compare.
    """
    refuse_idle(("across clusters", second is None, "to one set, but two are named"))
    sources = source.open_each(first, second)
    files = any(plans.file is not None for plans in sources)
    refuse_idle(("query", files, "to files: a data set has its own questions"))
    duplicates = pe.duplicates(
        *sources,
        way=by,
        reading=pe.Reading(dialect=source.dialect),
        progress=make_counter("plans"),
        **options,
    )
    if clusters is not None:
        emit((to_json(record) + "\n" for record in duplicates.clustered()), clusters, plain=True)
    output.emit_view(
        View(lambda style: [_duplicates_text(duplicates, style)], lambda: _duplicates_data(duplicates))
    )
    note(*duplicates.notes)
    if clusters is not None and (lost := duplicates.lost):
        verb = "is not a record" if len(lost) == 1 else "are not records"
        note(
            f"{format_count(len(lost), 'line')} {verb}; {clusters} lists them without their text; "
            f"the first: {lost[0].where}"
        )
    _say_unread(duplicates.sets)
    _say_unproved(duplicates.unproved)
    if not duplicates.compared:
        note(f"no record has anything to compare: {duplicates.chosen.meaning}")
        return 3
    return int(bool(duplicates.chosen.records) or any(s.unread for s in duplicates.sets))


def _say_unproved(count: int) -> None:
    """Say how many plans are taken for equal though nobody knows."""
    if count:
        plans = format_count(count, "plan")
        note(f"{plans} counted as equal without proof: the search took too long")


def _say_unread(sets: Iterable[Any]) -> None:
    """Say which plans of each set cannot be read."""
    for plans in sets:
        note(*plans.reasons)
        if (unnamed := plans.unread - len(plans.reasons)) > 0:
            note(f"… and {unnamed:,} more plans of {plans.name} that cannot be read")


def _duplicates_data(duplicates: Duplicates) -> JsonObject:
    return {
        "sets": [s._asdict() for s in duplicates.sets],
        "by": duplicates.by,
        "compared": duplicates.compared,
        "ways": [
            {key: value for key, value in asdict(likeness).items() if value is not None}
            for likeness in duplicates.ways
        ],
        "groups": [g._asdict() for g in duplicates.groups],
        "unproved": duplicates.unproved,
    }


def _duplicates_text(duplicates: Duplicates, style: Style) -> str:
    heads = [
        f"{source_set.name}: {format_count(source_set.records, 'record')}, {source_set.plans:,} with a plan, "
        f"{source_set.questions:,} with a question"
        for source_set in duplicates.sets
    ]
    blocks = [
        "\n".join(_escape_line(head, style) for head in heads),
        style.table(_rows(duplicates), width=_MAX_WIDTH),
    ]
    if duplicates.groups:
        number = len(duplicates.groups)
        which = "the largest group" if number == 1 else f"the {number} largest groups"
        blocks.append(f"{which} of records alike in {duplicates.chosen.meaning}:")
        blocks += ["\n".join(_group_lines(group, duplicates, style)) for group in duplicates.groups]
    return "\n\n".join(blocks)


def _rows(duplicates: Duplicates) -> Rows:
    if len(duplicates.sets) == 1:
        return [
            {
                "--by": likeness.way,
                "alike in": likeness.meaning,
                "groups": likeness.groups,
                "records": likeness.records,
                "largest": likeness.largest,
                **({} if likeness.across is None else {"across": likeness.across}),
            }
            for likeness in duplicates.ways
        ]
    first, second = (s.name for s in duplicates.sets)
    rows = [
        {"--by": likeness.way, "alike in": likeness.meaning, "groups in both": likeness.groups}
        | {f"of {first}": likeness.records, f"of {second}": likeness.others, "nearest": likeness.nearest}
        for likeness in duplicates.ways
    ]
    left = duplicates.sets[0].records - sum(a.nearest or 0 for a in duplicates.ways)
    empty = dict.fromkeys(rows[0])
    return [*rows, empty | {"--by": "", "alike in": "none of these", "nearest": left}]


def _group_lines(group: AlikeRecords, duplicates: Duplicates, style: Style) -> Iterator[str]:
    yield f"- {_escape_line(_names_text(group.records), style)}"
    if group.others:
        other_set = _escape_line(duplicates.sets[1].name, style)
        yield f"  in {other_set}: {_escape_line(_names_text(group.others), style)}"
    if group.question is not None:
        yield f"  question: {_escape_line(group.question, style)}"
    yield f"  calls: {_escape_line(', '.join(group.tools) or 'none', style)}"


def _names_text(names: tuple[str | int, ...]) -> str:
    text = ", ".join(map(str, names[:_MAX_NAMES]))
    return text if len(names) <= _MAX_NAMES else f"{text} and {len(names) - _MAX_NAMES:,} more"
