"""The files that a command writes: none that cannot be written, and none that it reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from typing import Any

import click

from planner_eval.base.errors import InputError
from planner_eval.base.formats import SUFFIX_FORMATS, format_of_suffix
from planner_eval.base.output_files import find_write_problem, silence

SETTINGS_FILES = ("planeval.toml", "pyproject.toml")
"""Files that every command may read."""

READ_METAVARS = frozenset(("FILE", "GOLD", "SPEC", "DIR"))
"""What the metavar of an option says that names something to read, or a file to write."""


class Target(click.ParamType):  # type: ignore[type-arg]  # click takes none before 8.4
    """The type of an option that names a file to write.

    Args:
        folder: Whether it may be a directory.
        unless: An option with which the file is only read.
        forms: The suffixes of what is written, where a file named as anything else is refused.
    """

    name = "file"

    def __init__(self, *, folder: bool = False, unless: str = "", forms: Collection[str] = ()) -> None:
        self.folder = folder
        self.unless = unless
        self.forms = forms


def refuse_targets(context: click.Context) -> None:
    """Refuse, before anything is done, files that cannot be written or that this command reads.

    Args:
        context: The command's context, whose options are read already.

    Raises:
        InputError: names the option and the file, and says why.
    """
    for option in context.command.params:
        target, file = option.type, context.params.get(option.name or "")
        if not isinstance(target, Target) or not file or context.params.get(target.unless):
            continue
        flag = max(option.opts, key=len)
        problem = find_write_problem(file, folder=target.folder)
        if problem is not None:
            raise InputError(f"{flag}: {problem}")
        for other, name in _named_files(context, option):
            if _is_read(context, other, name, file):
                what = "written" if isinstance(other.type, Target) else "read"
                raise InputError(f"{flag}: {file} is {what} by this command too ({name}): name another file")
        if os.path.exists(file) and _is_settings(file):
            raise InputError(f"{flag}: {file} holds the settings of the project: name another file")
        named = (
            format_of_suffix(file, SUFFIX_FORMATS)
            if target.forms and not format_of_suffix(file, target.forms)
            else None
        )
        if named is not None:
            written = " or ".join(target.forms)
            raise InputError(f"{flag}: {file} is named as {named}, and {written} is written")


def _is_settings(file: str) -> bool:
    """Whether a file, or what it links to, is the project's settings."""
    links = (name for name in SETTINGS_FILES if os.path.exists(name) and os.path.samefile(file, name))
    return os.path.basename(os.path.realpath(file)) in SETTINGS_FILES or next(links, None) is not None


def format_of_file(file: str | None, forms: Collection[str], context: click.Context) -> str | None:
    """The format that a file's suffix names; None where it names none.

    Args:
        file: The file to write; None for standard output.
        forms: The formats that the command writes.
        context: The command's context.

    Raises:
        UsageError: it names one, and the command does not write it.
    """
    form = format_of_suffix(file, forms)
    other = format_of_suffix(file, SUFFIX_FORMATS) if form is None else None
    if other is not None:
        message = f"{file} is named as {other}, and {context.command.name} writes {', '.join(forms)}"
        if "form" in {option.name for option in context.command.params}:
            message += "; --format says which of them in a file of any name"
        raise click.UsageError(message, context)
    return form


def _named_files(context: click.Context, but: click.Parameter) -> Iterator[tuple[click.Parameter, str]]:
    """What the other arguments and options name that may be files."""
    for option in context.command.params:
        if option is but or not (isinstance(option, click.Argument) or _can_name_file(option)):
            continue
        value: Any = context.params.get(option.name or "", context.meta.get(option.name or ""))
        for name in (value,) if isinstance(value, str) else value or ():
            yield option, name


def _can_name_file(option: click.Parameter) -> bool:
    return not READ_METAVARS.isdisjoint((option.metavar or "").split("|"))


def _is_read(context: click.Context, option: click.Parameter, name: str, file: str) -> bool:
    """Whether what an option names is this file, or has it among its own."""
    if isinstance(option.type, Target):
        return os.path.realpath(name) == os.path.realpath(file)
    if not os.path.exists(file):
        return False
    kind, _, remainder = name.partition(":")
    candidates = (
        name,
        remainder,
        name.rpartition(":")[0],
        f"{name.replace('.', os.sep)}.py",
    )  # recorded:F, F:NAME
    if any(os.path.exists(c) and os.path.samefile(c, file) for c in candidates if c):
        return True
    reads_folders = isinstance(option, click.Option) or context.params.get("benchmark") is not None
    if any(
        os.path.isdir(folder) and _is_below(folder, file)
        for folder in (name, remainder)
        if reads_folders and folder
    ):
        return True
    if kind == "-" or not (os.path.isdir(name) or any(mark in name for mark in "*?[")):
        return not os.path.exists(name) and _is_below(_cache_folder(context), file)
    return any(os.path.exists(path) and os.path.samefile(path, file) for path in _list_names(name))


def _list_names(name: str) -> tuple[str, ...]:
    from planner_eval.reading.files.several import list_files

    try:
        listing = list_files(name)
    except InputError:
        return ()
    return listing.files if listing is not None else ()


def _cache_folder(context: click.Context) -> str:
    from planner_eval.benchmarks.datasets.published import cache_folder

    return str(cache_folder(context.params.get("cache")))


def _is_below(folder: str, file: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.realpath(file).startswith(os.path.join(real, ""))


def say(text: str) -> None:
    """Say something on standard error; where that cannot be written, what a command found stands."""
    try:
        click.echo(text, err=True)
    except OSError:
        silence(sys.stderr)
