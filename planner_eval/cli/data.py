"""planeval data: the published data sets: fetch, verify, look at, check, export."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

import planner_eval as pe
from planner_eval.base.formats import formats_of
from planner_eval.base.text import to_json
from planner_eval.cli.data_check import command as check
from planner_eval.cli.data_make import command as make
from planner_eval.cli.data_overlap import coverage_command as coverage
from planner_eval.cli.data_overlap import duplicates_command as duplicates
from planner_eval.cli.help import Group
from planner_eval.cli.options import (
    COUNT,
    WHOLE,
    add_options,
    as_command,
    dialect_option,
    note,
    option,
    refuse_idle,
)
from planner_eval.cli.output import LIST_ASPECTS, Output, emit, file_option, output_options
from planner_eval.cli.sources import IN_PLACE_REASON, id_option, select_by_id
from planner_eval.cli.terminal import Counter, make_counter

if TYPE_CHECKING:
    from pathlib import Path

    from planner_eval.benchmarks.datasets.fetch import Accept, Progress
    from planner_eval.benchmarks.datasets.published import Dataset, PublishedFile


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
    note(f"{len(lines):,} of {total:,} sample{'s' * (total != 1)} written")
    return 3 if not lines else int(bool(unwritten))


@click.group("data", cls=Group)
def command() -> None:
    """Fetch, verify, show, check and export the published data sets; make data of your own."""


for below in (check, coverage, duplicates, make, fetch, show, export):
    command.add_command(below)
