"""planeval data duplicates: records that are alike, and records of one set that stand in another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
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
    from planner_eval.curation.duplicates import AlikeCounts, AlikeRecords, Duplicates, SetCounts
    from planner_eval.reading.files.record import Record


CRITERIA = ("same", "template", "words", "query", "values", "plan")
"""What --by takes, the closest first."""

_MAX_NAMES = 6
"""Records of a group that are named."""

_MAX_WIDTH = 100


@click.command("duplicates")
@click.argument("first", metavar="FILE|DATASET")
@click.argument("second", metavar="[FILE|DATASET]", required=False)
@click.option(
    "--by",
    type=click.Choice(CRITERIA),
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
@reading_options
@dataset_options
@format_option("text", "md", "json", help="How to write the result.")
@output_option
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
    refuse_idle([OptionScope(("across", "clusters"), second is None, "to one set, and two are named")])
    sources = open_plan_sets([name for name in (first, second) if name is not None], fields)
    files = any(source.file is not None for source in sources)
    refuse_idle([OptionScope(("query",), files, "to files: a data set says itself what it asks")])
    duplicates = pe.duplicates(
        *sources, by=by, query=query, across=across, examples=examples, dialect=dialect,
        progress=make_counter("plans"),
    )  # fmt: skip
    if clusters is not None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in duplicates.clustered())
        emit(lines, clusters, plain=True)
    emit(_duplicates_json(duplicates) if form == "json" else _duplicates_text(duplicates, form), output)
    for message in duplicates.notes:
        note(message)
    if clusters is not None:
        _say_skipped(duplicates.lost, clusters)
    for source_set in duplicates.sets:
        _say_unread(source_set)
    if duplicates.unproved:
        note(
            f"{format_count(duplicates.unproved, 'plan')} taken for equal unproved: the search took too long"
        )
    if not duplicates.compared:
        note(f"no record has what is compared: {duplicates.chosen.meaning}")
        return 3
    return int(bool(duplicates.chosen.records) or any(s.unread for s in duplicates.sets))


def _say_skipped(skipped: Sequence[Record], clusters: str) -> None:
    if skipped:
        phrase = "is no record and stands" if len(skipped) == 1 else "are no records and stand"
        note(
            f"{format_count(len(skipped), 'line')} {phrase} in {clusters} without the text, under "
            "the id where "
            f"that is known; the first: {skipped[0].where}"
        )


def _say_unread(source_set: SetCounts) -> None:
    for reason in source_set.reasons:
        note(reason)
    if source_set.unread > len(source_set.reasons):
        unnamed = source_set.unread - len(source_set.reasons)
        note(f"… and {unnamed:,} more plans of {source_set.name} that cannot be read")


def _duplicates_json(duplicates: Duplicates) -> str:
    data = {
        "sets": [s._asdict() for s in duplicates.sets],
        "by": duplicates.by,
        "compared": duplicates.compared,
        "ways": [_row(a) for a in duplicates.ways],
        "groups": [g._asdict() for g in duplicates.groups],
        "unproved": duplicates.unproved,
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


def _row(likeness: AlikeCounts) -> dict[str, Any]:
    return {key: value for key, value in asdict(likeness).items() if value is not None}


def _duplicates_text(duplicates: Duplicates, form: str) -> str:
    heads = [
        f"{source_set.name}: {format_count(source_set.records, 'record')}, {source_set.plans:,} with a plan, "
        f"{source_set.questions:,} with a question"
        for source_set in duplicates.sets
    ]
    blocks = [
        "\n".join(_escape_line(head, form) for head in heads),
        table(_rows(duplicates), form, width=_MAX_WIDTH),
    ]
    if duplicates.groups:
        number = len(duplicates.groups)
        which = "the largest group" if number == 1 else f"the {number} largest groups"
        blocks.append(f"{which} of records alike in {duplicates.chosen.meaning}:")
        blocks += ["\n".join(_group_lines(group, duplicates, form)) for group in duplicates.groups]
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


def _group_lines(group: AlikeRecords, duplicates: Duplicates, form: str) -> Iterator[str]:
    yield f"- {_escape_line(_names_text(group.records), form)}"
    if group.others:
        other_set = _escape_line(duplicates.sets[1].name, form)
        yield f"  in {other_set}: {_escape_line(_names_text(group.others), form)}"
    if group.question is not None:
        yield f"  question: {_escape_line(group.question, form)}"
    yield f"  calls: {_escape_line(', '.join(group.tools) or 'none', form)}"


def _names_text(names: tuple[str | int, ...]) -> str:
    text = ", ".join(map(str, names[:_MAX_NAMES]))
    return text if len(names) <= _MAX_NAMES else f"{text} and {len(names) - _MAX_NAMES:,} more"


def _escape_line(text: str, form: str) -> str:
    """Words of the data on one line."""
    cut = one_line(text, _MAX_WIDTH)
    return md_cell(cut) if form == "md" else cut
