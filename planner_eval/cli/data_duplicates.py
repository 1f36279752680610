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
    from planner_eval.datasets.duplicates import Alike
    from planner_eval.records.record import Record
    from planner_eval.verbs.duplicates import AlikeRecords, Counted, Duplicates

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
    found = pe.duplicates(
        *sources, by=by, query=query, across=across, examples=examples, dialect=dialect,
        progress=counter("plans"),
    )  # fmt: skip
    if clusters is not None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in found.clustered())
        emit(lines, clusters, plain=True)
    emit(_json(found) if form == "json" else _shown(found, form), output)
    for said in found.notes:
        note(said)
    if clusters is not None:
        _say_lost(found.lost, clusters)
    for one in found.sets:
        _say_unread(one)
    if found.unproved:
        note(f"{counted(found.unproved, 'plan')} taken for equal unproved: the search took too long")
    if not found.compared:
        note(f"no record has what is compared: {found.chosen.meaning}")
        return 3
    return int(bool(found.chosen.records) or any(one.unread for one in found.sets))


def _say_lost(lost: Sequence[Record], clusters: str) -> None:
    if lost:
        each = "is no record and stands" if len(lost) == 1 else "are no records and stand"
        note(
            f"{counted(len(lost), 'line')} {each} in {clusters} without the text, under the id where that is "
            f"known; the first: {lost[0].where}"
        )


def _say_unread(one: Counted) -> None:
    for reason in one.reasons:
        note(reason)
    if one.unread > len(one.reasons):
        note(f"… and {one.unread - len(one.reasons):,} more plans of {one.name} that cannot be read")


def _json(found: Duplicates) -> str:
    data = {
        "sets": [one._asdict() for one in found.sets],
        "by": found.by,
        "compared": found.compared,
        "ways": [_row(one) for one in found.ways],
        "groups": [one._asdict() for one in found.groups],
        "unproved": found.unproved,
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


def _row(one: Alike) -> dict[str, Any]:
    return {key: value for key, value in asdict(one).items() if value is not None}


def _shown(found: Duplicates, form: str) -> str:
    heads = [
        f"{one.name}: {counted(one.records, 'record')}, {one.plans:,} with a plan, "
        f"{one.questions:,} with a question"
        for one in found.sets
    ]
    blocks = ["\n".join(_told(head, form) for head in heads), table(_rows(found), form, width=_WIDE)]
    if found.groups:
        number = len(found.groups)
        which = "the largest group" if number == 1 else f"the {number} largest groups"
        blocks.append(f"{which} of records alike in {found.chosen.meaning}:")
        blocks += ["\n".join(_group(one, found, form)) for one in found.groups]
    return "\n\n".join(blocks)


def _rows(found: Duplicates) -> list[dict[str, Any]]:
    if len(found.sets) == 1:
        return [
            {"--by": one.way, "alike in": one.meaning, "groups": one.groups, "records": one.records}
            | {"largest": one.largest}
            | ({} if one.across is None else {"across": one.across})
            for one in found.ways
        ]
    first, second = (one.name for one in found.sets)
    rows = [
        {"--by": one.way, "alike in": one.meaning, "groups in both": one.groups}
        | {f"of {first}": one.records, f"of {second}": one.others, "nearest": one.nearest}
        for one in found.ways
    ]
    left = found.sets[0].records - sum(one.nearest or 0 for one in found.ways)
    empty = dict.fromkeys(rows[0])
    return [*rows, empty | {"--by": "", "alike in": "none of these", "nearest": left}]


def _group(one: AlikeRecords, found: Duplicates, form: str) -> Iterator[str]:
    yield f"- {_told(_names(one.records), form)}"
    if one.others:
        yield f"  in {_told(found.sets[1].name, form)}: {_told(_names(one.others), form)}"
    if one.question is not None:
        yield f"  question: {_told(one.question, form)}"
    yield f"  calls: {_told(', '.join(one.tools) or 'none', form)}"


def _names(names: tuple[str | int, ...]) -> str:
    shown = ", ".join(map(str, names[:_NAMES]))
    return shown if len(names) <= _NAMES else f"{shown} and {len(names) - _NAMES:,} more"


def _told(text: str, form: str) -> str:
    """Words of the data on one line."""
    cut = one_line(text, _WIDE)
    return md_cell(cut) if form == "md" else cut
