"""planeval data: published data sets fetched, verified, shown, checked, exported; what plans share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import View, formats_of
from planner_eval.base.tables import Rows, Style, md_cell
from planner_eval.base.text import JsonObject, format_count, format_first, one_line, to_json
from planner_eval.cli.data_check import command as check
from planner_eval.cli.data_make import command as make
from planner_eval.cli.help import Group
from planner_eval.cli.options import (
    COUNT,
    WHOLE,
    add_options,
    as_command,
    dialect_option,
    note,
    option,
    query_option,
    refuse_idle,
)
from planner_eval.cli.output import LIST_ASPECTS, Output, emit, file_option, output_options
from planner_eval.cli.sources import (
    IN_PLACE_REASON,
    CatalogOptions,
    Input,
    catalog_options,
    id_option,
    input_options,
    select_by_id,
)
from planner_eval.cli.terminal import Counter, Target, make_counter

if TYPE_CHECKING:
    from pathlib import Path

    from planner_eval.benchmarks.datasets.fetch import Accept, Progress
    from planner_eval.benchmarks.datasets.published import Dataset, PublishedFile
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
    return format_first([*map(str, names)], _MAX_NAMES)


_cache_option = option("--cache DIR", type=click.Path(file_okay=False))

_location_options = add_options(
    option(
        "--source PATH",
        "Use the files in the folder PATH; show and check also accept a single file.",
        type=click.Path(),
    ),
    _cache_option,
)
"""Add the options that say where data sets lie."""


@as_command("fetch", names="NAME...")
@_location_options
@option("--mirror URL", "Download from URL/NAME/FILE instead of the published addresses.")
@option("--accept-checksum", "Accept files whose checksum is not known.")
def fetch(
    names: tuple[str, ...], cache: str | None, source: str | None, mirror: str | None, accept_checksum: bool
) -> int:
    """Download data sets into the cache folder, or copy them from --source.

    NAME is a data set of 'planeval data show', or all. Existing files are kept, interrupted downloads
    resume, and only files with the published checksum are accepted.
    """
    from planner_eval.benchmarks.datasets.fetch import FetchOptions
    from planner_eval.benchmarks.datasets.published import dataset_folder, find_dataset, published_datasets

    refuse_idle(("mirror", source is None, "without --source, which downloads nothing"))
    datasets = (
        list(published_datasets().values()) if names == ("all",) else [find_dataset(name) for name in names]
    )
    options = FetchOptions(mirror=mirror, accept=_make_accept(accept_checksum), progress=_make_progress())
    for dataset in datasets:
        if dataset.note:
            note(f"{dataset.name}: {dataset.note}")
        for fetched in pe.fetch_dataset(dataset.name, cache=cache, folder=source, fetching=options):
            emit(f"{dataset.name}/{fetched.file.path}: {fetched.what}", None)
        emit(f"{dataset.name} is in {dataset_folder(dataset, cache=cache)}", None)
    return 0


def _make_accept(always: bool) -> Accept:
    def accept(file: PublishedFile, checksum: str) -> bool:
        note(f"{file.path}: sha256 {checksum} (computed; the published one is not known)")
        if always or sys.stdin is None or not sys.stdin.isatty():
            return always
        return click.confirm("Keep it?", err=True)

    return accept


def _make_progress() -> Progress:
    """A count of megabytes for each file in turn."""
    counters: dict[str, Counter] = {}

    def show(path: str, completed: int, total: int | None) -> None:
        if path not in counters:
            counters[path] = make_counter("MB", lead=f"{path}: ", scale=1_000_000)
        counters[path](completed, total)

    return show


@as_command("show", name="[NAME]?")
@_location_options
@option("--verify", "Compare the files of NAME with the published checksums.")
@option("--samples N", "Show only the first N samples.", type=WHOLE, default=0, show_default=False)
@id_option("Show the sample with this id")
@output_options(*LIST_ASPECTS, "records", late=True)
def show(
    name: str | None,
    verify: bool,
    cache: str | None,
    source: str | None,
    samples: int,
    wanted: tuple[str, ...],
    output: Output,
) -> int:
    """List the data sets; with NAME, describe one or show its samples as JSON.

    With --verify: exit code 1 if a required file is missing or differs, 2 if the data set has no file there.
    """
    tables = name is None or verify
    refuse_idle(
        ("cache", source is None, f"without --source, {IN_PLACE_REASON}"),
        ("verify", name is not None, "to the data set NAME"),
        ("samples wanted", not tables, "to the data set NAME without --verify"),
        ("samples", not wanted, "without --id, which names one sample"),
        ("form", tables or output.shows("data"), "to the list and with --verify; or json"),
    )
    output = output.choose(*formats_of(*((*LIST_ASPECTS, "records") if tables else ("plain", "data"))))
    if name is None:
        rows: list[dict[str, object]] = [
            {
                "name": status.dataset.name,
                "records": status.dataset.records,
                "files": f"{status.there}/{status.needed}",
                "licence": status.dataset.licence,
                "title": status.dataset.title,
            }
            for status in pe.list_datasets(cache=cache, folder=source)
        ]
        output.emit_rows(rows, 70)
        return 0
    if verify:
        states = pe.verify_dataset(name, cache=cache, folder=source)
        rows = [{"file": s.file.path, "state": s.state, "sha256": s.sha256} for s in states]
        output.emit_rows(rows, 70)
        return int(any(s.state == "differs" or (s.state == "missing" and s.file.needed) for s in states))
    if not samples and not wanted:
        from planner_eval.benchmarks.datasets.published import dataset_folder, find_dataset

        dataset = find_dataset(name)
        card = _card(dataset, dataset_folder(dataset, cache=cache, source=source))
        lines = (f"{key:<10} {value}" for key, value in card.items())
        output.emit(to_json(card, 1) if output.shows("data") else "\n".join(lines))
        return 0
    all_samples = pe.read_dataset(name, cache=cache, folder=source)
    selected = (
        select_by_id(all_samples, wanted, lambda sample: sample.id, name)
        if wanted
        else islice(all_samples, samples)
    )
    output.emit("\n".join(map(_sample_json, selected)))
    return 0


def _card(dataset: Dataset, folder: Path) -> dict[str, str]:
    sizes = [file.bytes for file in dataset.files if file.bytes]
    size = f", {sum(sizes) / 1e6:.1f} MB" + (" where the size is known" * (len(sizes) < len(dataset.files)))
    present = [file for file in dataset.files if (folder / file.path).is_file()]
    lines = {
        "name": dataset.name,
        "title": dataset.title,
        "paper": dataset.paper,
        "licence": dataset.licence,
        "records": f"{dataset.records:,}",
        "scored by": dataset.benchmark or "no benchmark",
        "address": dataset.address,
        "files": f"{len(dataset.files)}{size if sizes else ', of unknown size'}",
        "folder": f"{folder} ({len(present)} files there)",
        "note": dataset.note,
    }
    return {key: value for key, value in lines.items() if value}


def _sample_json(sample: Any) -> str:
    fields = {name: getattr(sample, name) for name in sample.__dataclass_fields__}
    fields["extra"] = extra = dict(sample.extra)
    if "diagnostics" in extra:
        extra["diagnostics"] = [diagnostic._asdict() for diagnostic in extra["diagnostics"]]
    return to_json(fields, 1)


@as_command("export", samples="DATASET|TASKS")
@option(
    "--to [chat-jsonl|tools-jsonl]",
    "Write gold as the text that a prompt asks for, or as tool calls of the endpoint.",
    "to",
    required=True,
)
@option("--benchmark NAME", "The benchmark whose data DATASET is, if it is a folder or file.")
@option("--catalog FILE", "The tools to offer, if the samples have none.")
@dialect_option("--dialect", "With chat-jsonl: the notation for tasks of your own (default: json).")
@option("--shots K", "With chat-jsonl: show K demonstrations.", type=COUNT)
@option("--limit N", "Only the first N samples.", type=COUNT)
@id_option("Only the sample with this id")
@_cache_option
@file_option("records")
def export(
    samples: str,
    to: str,
    shots: int | None,
    wanted: tuple[str, ...],
    output: str | None,
    **options: Any,
) -> int:
    """Write samples as training records: the prompts of planeval predict, with gold as the answer.

    One line per sample, in the format of OpenAI's fine-tuning. Every answer is read back and must equal
    gold.
    Exit code: 0 all written; 1 some could not be written (each is named); 3 none written.
    """
    chat = to == "chat-jsonl"
    refuse_idle(("dialect shots", chat, "with --to chat-jsonl, whose answers are text"))
    from planner_eval.models.pipelines.demonstrations import ShotOptions

    demonstrations = None if shots is None else ShotOptions(shots)
    exported = pe.export_dataset(samples, ids=wanted, shots=demonstrations, to=to, **options)
    unwritten: dict[str, list[str]] = {}
    lines = []
    for result in exported:
        if result.record is None:
            unwritten.setdefault(result.why, []).append(result.id)
        else:
            lines.append(to_json(result.record) + "\n")
    if lines:
        emit(lines, output, plain=True)
    for why, names in unwritten.items():
        note(f"{why}: {len(names):,} not written, {', '.join(names)}")
    total = len(lines) + sum(map(len, unwritten.values()))
    note(f"{len(lines):,} of {format_count(total, 'sample')} written")
    return 3 if not lines else int(bool(unwritten))


@click.group("data", cls=Group)
def command() -> None:
    """Fetch, verify, show, check and export the published data sets; make data of your own."""


for below in (check, coverage_command, duplicates_command, make, fetch, show, export):
    command.add_command(below)
