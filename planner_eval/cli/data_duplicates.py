"""planeval data duplicates: records that are alike, and records of one set that stand in another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
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
    from planner_eval.curation.duplicates import Alike, AlikeRecords, Counted, Duplicates
    from planner_eval.reading.files.record import Record


WAYS = ("same", "template", "words", "query", "values", "plan")
"""What --by takes, the closest first."""

_NAMES = 6
"""Records of a group that are named."""

_WIDE = 100


@click.command("duplicates")
@click.argument("first", metavar="FILE|DATASET")
@click.argument("second", metavar="[FILE|DATASET]", required=False)
@click.option(
    "--by",
    type=click.Choice(WAYS),
    help="In which way records of a group are alike; template when left out, plan where nothing is asked.",
)
@click.option(
    "--query",
    metavar="FIELD",
    help="The field of a record that holds the question or conversation; recognised when left out.",
)
@click.option("--across", metavar="FIELD", help="Count the groups with several values of FIELD, e.g. split.")
@click.option("--examples", type=click.IntRange(0), default=3, show_default=True, help="Groups to show.")
@click.option(
    "--clusters",
    metavar="FILE",
    type=Target(forms=("jsonl", "json")),
    help="Write the records to FILE, as JSON lines, with a field for score --cluster group.",
)
@reading
@dataset_places
@written("text", "md", "json", help="How to write the result.")
@output
def command(
    first: str,
    second: str | None,
    by: str | None,
    query: str | None,
    across: str | None,
    examples: int,
    clusters: str | None,
    form: str,
    output: str | None,
    dialect: str | None,
    **fields: Any,
) -> int:
    """Find records that are alike: in their questions, their plans or both, word for word or up to values.

    Plans are equal up to values when they make the same calls with the same argument names and references;
    questions when numbers, dates, quoted words and names alone differ. With a second set, records of the
    first that stand in it are counted. FILE holds records of gold plans; DATASET is a name of 'planeval data
    list'. Exit code: 0 none are alike in the way of --by, 1 some are, or a plan cannot be read, 2 usage, 3
    no record has what is compared.
    """
    refuse_idle([Applies(("across", "clusters"), second is None, "to one set, and two are named")])
    sources = opened_sets([name for name in (first, second) if name is not None], fields)
    files = any(source.file is not None for source in sources)
    refuse_idle([Applies(("query",), files, "to files: a data set says itself what it asks")])
    duplicates = pe.duplicates(
        *sources, by=by, query=query, across=across, examples=examples, dialect=dialect,
        progress=counter("plans"),
    )  # fmt: skip
    if clusters is not None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in duplicates.clustered())
        emit(lines, clusters, plain=True)
    emit(_json(duplicates) if form == "json" else _shown(duplicates, form), output)
    for message in duplicates.notes:
        note(message)
    if clusters is not None:
        _say_lost(duplicates.lost, clusters)
    for source_set in duplicates.sets:
        _say_unread(source_set)
    if duplicates.unproved:
        note(f"{counted(duplicates.unproved, 'plan')} taken for equal unproved: the search took too long")
    if not duplicates.compared:
        note(f"no record has what is compared: {duplicates.chosen.meaning}")
        return 3
    return int(bool(duplicates.chosen.records) or any(s.unread for s in duplicates.sets))


def _say_lost(skipped: Sequence[Record], clusters: str) -> None:
    if skipped:
        phrase = "is no record and stands" if len(skipped) == 1 else "are no records and stand"
        note(
            f"{counted(len(skipped), 'line')} {phrase} in {clusters} without the text, under the id where "
            f"that is known; the first: {skipped[0].where}"
        )


def _say_unread(source_set: Counted) -> None:
    for reason in source_set.reasons:
        note(reason)
    if source_set.unread > len(source_set.reasons):
        unnamed = source_set.unread - len(source_set.reasons)
        note(f"… and {unnamed:,} more plans of {source_set.name} that cannot be read")


def _json(duplicates: Duplicates) -> str:
    data = {
        "sets": [s._asdict() for s in duplicates.sets],
        "by": duplicates.by,
        "compared": duplicates.compared,
        "ways": [_row(a) for a in duplicates.ways],
        "groups": [g._asdict() for g in duplicates.groups],
        "unproved": duplicates.unproved,
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


def _row(likeness: Alike) -> dict[str, Any]:
    return {key: value for key, value in asdict(likeness).items() if value is not None}


def _shown(duplicates: Duplicates, form: str) -> str:
    heads = [
        f"{source_set.name}: {counted(source_set.records, 'record')}, {source_set.plans:,} with a plan, "
        f"{source_set.questions:,} with a question"
        for source_set in duplicates.sets
    ]
    blocks = ["\n".join(_told(head, form) for head in heads), table(_rows(duplicates), form, width=_WIDE)]
    if duplicates.groups:
        number = len(duplicates.groups)
        which = "the largest group" if number == 1 else f"the {number} largest groups"
        blocks.append(f"{which} of records alike in {duplicates.chosen.meaning}:")
        blocks += ["\n".join(_group(group, duplicates, form)) for group in duplicates.groups]
    return "\n\n".join(blocks)


def _rows(duplicates: Duplicates) -> list[dict[str, Any]]:
    if len(duplicates.sets) == 1:
        return [
            {
                "--by": likeness.way,
                "alike in": likeness.meaning,
                "groups": likeness.groups,
                "records": likeness.records,
            }
            | {"largest": likeness.largest}
            | ({} if likeness.across is None else {"across": likeness.across})
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


def _group(group: AlikeRecords, duplicates: Duplicates, form: str) -> Iterator[str]:
    yield f"- {_told(_names(group.records), form)}"
    if group.others:
        yield f"  in {_told(duplicates.sets[1].name, form)}: {_told(_names(group.others), form)}"
    if group.question is not None:
        yield f"  question: {_told(group.question, form)}"
    yield f"  calls: {_told(', '.join(group.tools) or 'none', form)}"


def _names(names: tuple[str | int, ...]) -> str:
    text = ", ".join(map(str, names[:_NAMES]))
    return text if len(names) <= _NAMES else f"{text} and {len(names) - _NAMES:,} more"


def _told(text: str, form: str) -> str:
    """Words of the data on one line."""
    cut = one_line(text, _WIDE)
    return md_cell(cut) if form == "md" else cut
