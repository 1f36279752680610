"""The options of commands that take files and published data sets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

import planner_eval as pe
from planner_eval.cli.options import Applies, Decorator, note, refuse_idle
from planner_eval.cli.runs import refuse_runs
from planner_eval.cli.terminal import tell_reading

if TYPE_CHECKING:
    from planner_eval import Reading
    from planner_eval.datasets.sources import Source
    from planner_eval.execution import ToolSource
    from planner_eval.prediction.folder import Predicted
    from planner_eval.records.files import PlanFile

T = TypeVar("T")


def read_plans(names: Sequence[str], **fields: Any) -> list[PlanFile]:
    """Read files, directories, patterns and data sets, and say what the user should know of them.

    Args:
        names: What the user named.
        fields: As :func:`planner_eval.read` takes them: ``id_field``, ``text_field``, ``turn`` and so on.
    """
    refuse_stdin_twice(*names)
    refuse_runs(*names)
    files = []
    for name in names:
        tell_reading(name)
        files.append(pe.read(name, **fields))
    tell_of(*files)
    _refuse_idle_places(any(not file.published for file in files), any(file.published for file in files))
    _refuse_idle_fields(("id_field", "text_field"), files)
    return files


def read_sides(
    answers: Sequence[str], gold: str, how: Reading, predicted: Sequence[Predicted] = ()
) -> tuple[list[PlanFile], PlanFile]:
    """Read predictions and gold plans, and say what the user should know of them.

    Args:
        answers: The files of predictions.
        gold: The file of gold plans.
        how: How they are read.
        predicted: The runs whose answers they are, where they are runs'.
    """
    refuse_stdin_twice(*answers, gold)
    refuse_runs(*answers, gold)
    files = []
    for name in answers:
        tell_reading(name)
        files.append(how.answers(name))
    if predicted:
        from planner_eval.prediction.answers import answers_read

        strict = how.repair is False
        files = [
            answers_read(file, run, dialect=how.dialect, strict=strict)
            for file, run in zip(files, predicted, strict=True)
        ]
    tell_reading(gold)
    if predicted:
        from planner_eval.verbs.predicted_gold import read_run_golds

        golds = read_run_golds(predicted[0], gold, how)
    else:
        golds = how.golds(gold)
    for message in how.notes_of(files, golds):
        note(message)
    if click.get_current_context().info_name != "diff":  # which says it of the plans that it read
        for role, file in [*(("pred", file) for file in files), ("gold", golds)]:
            if count := file.several:
                note(f"{role}: {count:,} with several choices or candidates, of which the first was read")
    all_files = (*files, golds)
    named = golds.published and not os.path.exists(gold)
    _refuse_idle_places(
        any(not file.published for file in all_files), named or any(f.published for f in files)
    )
    _refuse_idle_fields(("id_field", "text_field"), all_files)
    _refuse_idle_fields(("gold_id_field", "gold_text_field"), [golds])
    return files, golds


def tell_of(*files: PlanFile) -> None:
    """Say what was left out of files, and which ids they give twice."""
    for file in files:
        for message in file.notes:
            note(message)


_UNMET = 3
"""Facts that are told one by one."""


def tell_of_facts(tools: ToolSource) -> None:
    """Say which facts a world refuses none the less, and by which rule."""
    for message in tools.notes[:_UNMET]:
        note(f"facts: {message}")
    if (more := len(tools.notes) - _UNMET) > 0:
        note(f"facts: {more:,} more calls that the world does not answer")


def refuse_stdin_twice(*names: str) -> None:
    """Standard input can be read once.

    Raises:
        UsageError: two names are ``-``.
    """
    if names.count("-") > 1:
        raise click.UsageError("- is standard input, which can be read only once: name a file for the other")


IN_PLACE = "which says already where the files lie"
"""Why ``--cache`` beside ``--source`` has no effect, unless files are fetched."""


def refuse_idle_places(sources: Sequence[Source]) -> None:
    """Refuse options on where data sets lie where no data set was named, and on reading files likewise."""
    files = any(source.file is not None for source in sources)
    _refuse_idle_places(files, any(source.dataset is not None for source in sources))


def opened_sets(names: Sequence[str], fields: dict[str, Any]) -> list[Source]:
    """The sets of plans that some names stand for, one each, and what the user should know of them is said.

    Args:
        names: What the user named.
        fields: As :func:`planner_eval.open_sources` takes them: ``id_field``, ``text_field``, ``folder``
            and so on.

    Raises:
        UsageError: a name is a benchmark's that stands for several data sets.
    """
    refuse_stdin_twice(*names)
    refuse_runs(*names)
    opened = []
    for name in names:
        tell_reading(name)
        sources = pe.open_sources([name], **fields, tell=note)
        if len(sources) > 1:
            titles = " and ".join(source.name for source in sources)
            raise click.UsageError(f"{name} stands for {titles}: name one of them")
        opened += sources
    refuse_idle_places(opened)
    return opened


def _refuse_idle_places(files: bool, datasets: bool) -> None:
    folder = click.get_current_context().params["folder"]
    refuse_idle(
        [
            Applies(("folder", "cache"), datasets, "to data sets, and what was named is a file"),
            Applies(("cache",), folder is None, f"without --source, {IN_PLACE}"),
            Applies(
                ("dialect", "id_field", "text_field", "turn"),
                files,
                "to files, and what was named is a data set",
            ),
        ]
    )


def _refuse_idle_fields(options: tuple[str, ...], files: Sequence[PlanFile]) -> None:
    records = any(file.many or file.content for file in files)
    refuse_idle([Applies(options, records, f"to records, and {files[-1].name} is one plan")])


def dataset_places(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where data sets lie: ``--source`` and ``--cache``."""
    command = click.option(
        "--cache", metavar="DIR", type=click.Path(file_okay=False), help="The cache folder of data sets."
    )(command)
    return click.option(
        "--source",
        "folder",
        metavar="DIR",
        type=click.Path(),
        help="Take data sets from DIR instead of the cache folder.",
    )(command)


def ids(what: str) -> Decorator:
    """Add ``--id``, which may be given again; the command takes the ids as ``wanted``, each once.

    Args:
        what: What is done with the record of an id.
    """
    return click.option(
        "--id",
        "wanted",
        metavar="ID",
        multiple=True,
        callback=lambda _context, _option, values: tuple(dict.fromkeys(values)),
        help=f"{what}; may be given again.",
    )


def chosen(
    things: Iterable[T], wanted_ids: Sequence[str], id_of: Callable[[T], str | None], names: str
) -> list[T]:
    """Those whose id is wanted, in their own order.

    Args:
        things: Records, or what was made of them.
        wanted_ids: The ids.
        id_of: The id of one.
        names: What the user named, for the message.

    Raises:
        InputError: no record has one of the ids; says which is closest.
    """
    from planner_eval.records.pairing import refuse_unknown

    all_ids: set[str] = set()
    selected = []
    for thing in things:
        name = id_of(thing)
        if name is not None:
            all_ids.add(name)
            if name in wanted_ids:
                selected.append(thing)
    refuse_unknown(wanted_ids, all_ids, names)
    return selected
