"""What commands take: files of plans, published data sets, folders of runs, catalogs, models and tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.cli.options import (
    COUNT,
    WHOLE,
    Decorator,
    Seconds,
    add_options,
    bundle_options,
    dialect_option,
    note,
    option,
    refuse_idle,
)
from planner_eval.cli.output import is_folder
from planner_eval.cli.terminal import Target, is_same_file, say_reading

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.sources import Source
    from planner_eval.execution.tool_sources import ToolSource
    from planner_eval.models.judges import Endpoint
    from planner_eval.reading.files.files import PlanFile


# ----------------------------------------------------------------------
# Folders of runs, where a command takes files of plans.
def refuse_incomplete_run(path: str) -> None:
    """Refuse a folder that holds parts of a run, and nothing tells of which.

    Raises:
        InputError: says so.
    """
    if os.path.isdir(os.path.join(path, "parts")):
        from planner_eval.results.runs.stored import orphaned_parts_error

        if problem := orphaned_parts_error(path):
            raise problem


def refuse_absent(path: str) -> None:
    """Refuse a folder that is named and is not there, where it may have been meant as a run.

    Raises:
        InputError: says so.
    """
    if os.path.dirname(path) and not os.path.lexists(path) and not any(mark in path for mark in "*?["):
        raise InputError(f"no such file or folder: {path}")


def refuse_runs(*names: str) -> None:
    """Refuse the folder of a run where files of plans are wanted, and say what to name instead.

    Raises:
        InputError: one of the names is such a folder.
    """
    from planner_eval.results.runs.model import is_run, open_run

    for name in filter(is_run, names):
        run = open_run(name)
        kind, operands = run.kind, run.given or ()
        if kind == "predict":
            message = f"pass its answers, {os.path.join(name, 'rows.jsonl')}"
        elif kind == "score":
            message = f"to show it again, use planeval score {name}; to compare it with other runs, "
            message += "planeval compare without --gold"
            message += f"; it was made from {operands[0]}" if operands else ""
        else:
            made_from = " and ".join(map(str, operands)) or "files that it does not name"
            message = f"it was made from {made_from}"
        raise InputError(f"{name} is the folder of a run, expected files of plans: {message}")


def original_names(output: str | None, *names: str) -> tuple[str, ...]:
    """Names of files as the command gave them that began the run in a folder, where these are the same files.

    Rows name files; so a run that goes on under another spelling leaves the same bytes.

    Args:
        output: The folder, where it is one.
        names: What is named now.
    """
    if output is None or not is_folder(output):
        return names
    from planner_eval.results.runs.model import open_run

    operands = open_run(output).given
    if not isinstance(operands, list) or len(operands) != len(names):
        return names
    return tuple(was if is_same_file(was, now) else now for was, now in zip(operands, names, strict=True))


# ----------------------------------------------------------------------
# Files of plans, and published data sets.
T = TypeVar("T")

IN_PLACE_REASON = "which already names the files"
"""Why ``--cache`` beside ``--source`` has no effect, unless files are fetched."""


class Input(NamedTuple):
    """How files of plans are read, and where data sets lie, as the options of :data:`input_options` say."""

    dialect: str | None
    id_field: str | None
    text_field: str | None
    turn: int | str | None
    cache: str | None
    folder: str | None

    @property
    def fields(self) -> dict[str, Any]:
        """The same as :func:`planner_eval.read` takes it."""
        fields = self._asdict()
        del fields["dialect"]
        return fields

    @property
    def decisive(self) -> dict[str, Any]:
        """What decides what is read of a file, as JSON data."""
        return {name: value for name, value in self._asdict().items() if name not in ("cache", "folder")}

    def read(self, *names: str, wanted: Sequence[str] = ()) -> list[PlanFile]:
        """Read files, directories, patterns and data sets, and say what the user should know of them.

        Args:
            names: What the user named.
            wanted: The ids of the records that are read of each; all when empty.
        """
        files: list[PlanFile] = [pe.read(name, **self.fields) for name in self._named(names)]
        note(*(message for file in files for message in file.notes))
        refuse_idle_places(any(not f.published for f in files), any(f.published for f in files))
        refuse_idle_fields(("id_field", "text_field"), files)
        if not wanted:
            return files
        return [
            f._replace(records=tuple(select_by_id(f.records, wanted, lambda r: r.name, f.name)))
            for f in files
        ]

    def open(self, *names: str) -> list[Source]:
        """The sets of plans that some names stand for, and what the user should know of them is said."""
        sources = pe.open_sources([*self._named(names)], **self.fields, tell=note)
        _refuse_idle_of(sources)
        return sources

    def open_each(self, *names: str | None) -> list[Source]:
        """As :meth:`open`, one set a name that is not None.

        Raises:
            UsageError: a name is a benchmark's that stands for several data sets.
        """
        opened = []
        for name in self._named([name for name in names if name is not None]):
            sources = pe.open_sources([name], **self.fields, tell=note)
            if len(sources) > 1:
                titles = " and ".join(source.name for source in sources)
                raise click.UsageError(f"{name} matches {titles}: name one of them")
            opened += sources
        _refuse_idle_of(opened)
        return opened

    def _named(self, names: Sequence[str]) -> Iterator[str]:
        """The names one by one, as they are read."""
        refuse_stdin_twice(*names)
        refuse_runs(*names)
        for name in names:
            say_reading(name)
            yield name


def _add_notations(context: click.Context, _option: click.Parameter, files: tuple[str, ...]) -> None:
    context.meta["wrappers"] = files
    for file in files:
        from planner_eval.reading.files.frameworks import add_file

        add_file(file)


def _parse_turn(_context: click.Context, _option: click.Parameter, value: str | None) -> int | str | None:
    """A turn as the library takes it."""
    if value is None or value in ("first", "last"):
        return value
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise click.BadParameter(f"{value!r} is not first, last or a number from 1")
    return int(value)


reading_options = add_options(
    option(
        "--wrappers FILE...",
        expose_value=False,
        is_eager=True,
        callback=_add_notations,
    ),
    dialect_option("--from", "The notation of the plans (default: detected).", "dialect"),
    option("--id-field NAME", "The field that holds the id, or a path to it."),
    option("--text-field NAME", "The field that holds the plan; a.b.0 is a path into the record."),
    option("--turn first|last|N", callback=_parse_turn),
    option("--source DIR", name="folder", type=click.Path()),
    option("--cache DIR", type=click.Path(file_okay=False)),
)
"""Add the options that say how files of plans are read, and where data sets lie."""

input_options = bundle_options("source", Input, Input._fields, reading_options)
"""Add them; the command takes ``source``, an `Input`."""


def say_unmet_facts(tools: ToolSource) -> None:
    """Say which facts a world refuses none the less, and by which rule."""
    note(*(f"facts: {message}" for message in tools.notes[:_MAX_UNMET_FACTS]))
    if (more := len(tools.notes) - _MAX_UNMET_FACTS) > 0:
        note(f"facts: {more:,} more calls that the world cannot answer")


_MAX_UNMET_FACTS = 3
"""Facts that are told one by one."""


def refuse_stdin_twice(*names: str | None) -> None:
    """Standard input can be read once.

    Raises:
        UsageError: two names are ``-``.
    """
    if names.count("-") > 1:
        raise click.UsageError("- is standard input and can be read only once: name a file for the other")


def _refuse_idle_of(sources: Sequence[Source]) -> None:
    refuse_idle_places(any(s.file is not None for s in sources), any(s.dataset is not None for s in sources))


def refuse_idle_places(files: bool, datasets: bool) -> None:
    """Refuse options on where data sets lie, or on reading files, where none was named."""
    folder = click.get_current_context().params["folder"]
    refuse_idle(
        ("folder cache", datasets, "to data sets, not to files"),
        ("cache", folder is None, f"without --source, {IN_PLACE_REASON}"),
        ("dialect id_field text_field turn", files, "to files, not to data sets"),
    )


def refuse_idle_fields(options: tuple[str, ...], files: Sequence[PlanFile]) -> None:
    """Refuse options that name fields of records where no file holds records."""
    records = any(file.many or file.content for file in files)
    refuse_idle((options, records, f"to records, and {files[-1].name} is one plan"))


def id_option(what: str) -> Decorator:
    """Add ``--id``, which may be given again; the command takes the ids as ``wanted``, each once.

    Args:
        what: What is done with the record of an id.
    """
    return option(
        "--id ID...",
        f"{what}; may be given again.",
        "wanted",
        callback=lambda _context, _option, values: tuple(dict.fromkeys(values)),
    )


def select_by_id(
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
    from planner_eval.reading.files.pairing import refuse_unknown_ids

    all_ids: set[str] = set()
    selected = []
    for thing in things:
        name = id_of(thing)
        if name is not None:
            all_ids.add(name)
            if name in wanted_ids:
                selected.append(thing)
    refuse_unknown_ids(wanted_ids, all_ids, names)
    return selected


# ----------------------------------------------------------------------
# Tools, and models that are asked.
class CatalogOptions(NamedTuple):
    """The tools that a command is given.

    Args:
        catalogs: Files, or worlds.
        catalog_format: The files' format; recognised when left out.
    """

    catalogs: tuple[str, ...]
    catalog_format: str | None

    def read(self) -> pe.Catalog | None:
        """The tools as one catalog; None where none are named.

        Raises:
            UsageError: a format is named, and no catalog.
        """
        refuse_idle(("catalog_format", bool(self.catalogs), "to a catalog, but none is named"))
        return pe.read_catalog(self.catalogs, self.catalog_format) if self.catalogs else None


def catalog_options(more: str = ".") -> Decorator:
    """Add ``--catalog`` and ``--catalog-format``; the command takes them as ``named_tools``.

    Args:
        more: What stands behind the help of the first.
    """
    return bundle_options(
        "named_tools",
        CatalogOptions,
        CatalogOptions._fields,
        option(
            "--catalog FILE...",
            f"The tools: a file in any known format, or world:NAME; repeatable{more}",
            "catalogs",
        ),
        option("--catalog-format FORMAT"),
    )


RECORD_TOOLS = " (default: the tools in each record)."
"""What stands there where records may bring tools."""


def endpoint_options(
    *more: Decorator, prefix: str = "", silence: str = "--timeout", deadline: float = 600.0, retries: int = 5
) -> Decorator:
    """Add the options that say how long a model is waited for.

    The command takes them as ``endpoint``, with those that name its server and the file of its answers.

    Args:
        more: What else is added.
        prefix: What stands before ``url`` and ``cache``, where the latter is another's.
        silence: The option of the server's longest silence, where ``--timeout`` is another's.
        deadline: Seconds for one request in all.
        retries: How many more times to ask.
    """

    def make(silence: float, **named: Any) -> Endpoint:
        from planner_eval.models.judges import Endpoint

        fields = {name.removeprefix(prefix): value for name, value in named.items()}
        return Endpoint(timeout=silence, **fields)

    return bundle_options(
        "endpoint",
        make,
        ("silence", "deadline", "retries", "replay", "prices", f"{prefix}url", f"{prefix}cache"),
        _seconds_option(silence, 60.0, "Time limit for silence of the server.", "silence"),
        _seconds_option("--deadline", deadline, "Time limit for one request."),
        option("--retries N", "Retries after a temporary failure.", type=WHOLE, default=retries),
        *more,
    )


def request_options(what: str, silence: str = "--timeout") -> Decorator:
    """Add the options that say how models are asked many times; the command takes ``endpoint``.

    Args:
        what: What is in progress at a time, in words.
        silence: As for :func:`endpoint_options`.
    """
    return add_options(
        option("--set NAME=VALUE...", "A sampling parameter, e.g. temperature=0.5.", "settings"),
        option("--concurrency N", f"{what} in progress at a time.", type=COUNT, default=8),
        endpoint_options(
            option(
                "--cache FILE",
                "A file that stores every answer; the same command resumes from it.",
                type=Target(unless="replay"),
            ),
            option("--replay", "Use only stored answers of --cache, without a network."),
            option("--prices FILE", "Prices per million tokens of each model: TOML or JSON."),
            silence=silence,
        ),
    )


def _seconds_option(flag: str, default: float, help: str, name: str | None = None) -> Decorator:
    return option(f"{flag} SECONDS", help, name, type=Seconds(), default=default)


isolation_options = add_options(
    option("--isolation [strict|process|inline]"),
    _seconds_option("--timeout", 10.0, "Time limit for one plan (not enforced inline)."),
)
"""Add ``--isolation`` and ``--timeout``: how tools are run."""

binding_option = option(
    "--by [name|position]",
    "Pass arguments by name, or by position as NESTful's executor does.",
    "binding",
    default="name",
)
"""Add ``--by``: how calls pass their arguments."""

read_paths_option = option("--allow-read PATH...", "A file or folder that tools may read.")
"""Add ``--allow-read``."""
