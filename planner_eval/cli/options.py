"""Options that commands share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import wraps
from math import isfinite
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from planner_eval.base.errors import InputError
from planner_eval.base.formats import format_of_suffix, formats_of, shows
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.output_files import write
from planner_eval.base.text import json_safe, printable
from planner_eval.cli.help import Command
from planner_eval.cli.terminal import (
    Target,
    clear_counter_line,
    color_output,
    format_of_file,
    refuse_targets,
    say,
    write_out,
)

# ----------------------------------------------------------------------
# Options and habits that commands share.
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


WHOLE, COUNT = click.IntRange(min=0), click.IntRange(min=1)
"""The types of whole numbers from 0 and from 1 on."""


def option(typed: str, help: str, name: str | None = None, **how: Any) -> Decorator:
    """Add an option, written as help shows it: its flags, then the word for its value.

    A word in brackets lists what the value may be; with ``...`` behind it the option may be given again;
    without a word it is a switch. Defaults are shown.

    Args:
        typed: ``"-o --output FILE"``, ``"--id ID..."``, ``"--engine [ray]"`` or ``"--quiet"``.
        help: What it does.
        name: What the command's function calls it, where that is not its longest flag.
        how: What else :func:`click.option` takes.
    """
    flags = [word for word in typed.split() if word.startswith("-")]
    value = "".join(typed.split()[len(flags) :])
    if value.startswith("["):
        how["type"] = click.Choice(value[1:-1].split("|"))
    elif value:
        how["metavar"] = value.removesuffix("...")
        how["multiple"] = value.endswith("...")
    elif not {"type", "flag_value"} & how.keys():
        how["is_flag"] = True
    default = how.get("default")
    how.setdefault("show_default", default is not None and not isinstance(default, bool))
    return click.option(*flags, *([name] if name else []), help=help, **how)


def argument(name: str, typed: str, **how: Any) -> Decorator:
    """Add an argument, which help shows as typed; with ``...`` behind it there may be several."""
    if typed.endswith("..."):
        how = {"nargs": -1, "required": True, **how}
    return click.argument(name, metavar=typed, **how)


def add_options(*options: Decorator) -> Decorator:
    """Add several options, in the order in which help lists them."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def dialect_option(flag: str, help: str, name: str | None = None) -> Decorator:
    """Add an option that names a dialect; one that there is not is refused before anything is read."""

    def check_dialect(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value is not None:
            from planner_eval.reading.dialects import get

            get(value)
        return value

    return option(f"{flag} NOTATION", help, name, callback=check_dialect)


def _parse_turn(_context: click.Context, _option: click.Parameter, value: str | None) -> int | str | None:
    """A turn as the library takes it."""
    if value is None or value in ("first", "last"):
        return value
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise click.BadParameter(f"{value!r} is not first, last or a number from 1")
    return int(value)


compute_option = option(
    "--compute [arithmetic]", "Compute arithmetic expressions (default: keep their text)."
)
"""Add ``--compute``: what becomes of expressions such as 1/6."""

repair_options = add_options(
    option("--repair", "Repair small syntax errors in predictions that cannot be read strictly."),
    compute_option,
)
"""Add ``--repair``, small named repairs of predictions that strict reading refuses, and ``--compute``."""

strict_options = add_options(
    option(
        "--strict",
        "Read predictions strictly: a syntax error counts as wrong.",
        "repair",
        flag_value=False,
        default=True,
    ),
    compute_option,
)
"""Add ``--strict``, which repairs no prediction that strict reading refuses, and ``--compute``."""

infer_option = option(
    "--infer",
    "Infer edges where an argument repeats an earlier result, or where a data set or "
    "catalog says what fills a placeholder; written steps become generations.",
)
"""Add ``--infer``: edges that nobody wrote."""


def bundle_options(
    name: str, make: Callable[..., object], names: Iterable[str], *options: Decorator
) -> Decorator:
    """Have a command take some of its options as one parameter.

    Args:
        name: The parameter.
        make: Makes it of the options' values, which it takes by name.
        names: What the options are called there.
        options: Those of them that are added.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**params: Any) -> Any:
            bundle = make(**{option: params.pop(option) for option in names})
            return command(**{name: bundle}, **params)

        return add_options(*options)(run)

    return add


def format_option(*aspects: str, help: str = "Output format.") -> Decorator:
    """Add ``--format``: by the suffix of ``-o`` when left out, else the first.

    Args:
        aspects: What the command's result shows of itself, see :mod:`planner_eval.base.formats`.
        help: What the option does.
    """
    forms = formats_of(*aspects)

    def chosen(context: click.Context, _option: click.Parameter, value: str | None) -> str:
        return value or format_of_file(context.params.get("output"), forms, context) or forms[0]

    return option(
        "--format",
        f"{help.removesuffix('.')} (default: by the suffix of -o, else {forms[0]}).",
        "form",
        type=click.Choice(forms),
        callback=chosen,
    )


RESULT_ASPECTS = ("document", "data", "records", "table", "cases")
"""What figures and verdicts show of themselves."""

FINDING_ASPECTS = ("annotations", "findings")
"""What is wrong shows of itself to CI servers."""

LIST_ASPECTS = ("document", "data", "table")
"""What a list of things shows of itself."""


def list_format_option(*aspects: str, help: str = "Output format.") -> Decorator:
    """Add ``--format`` to a command that writes lists beside other things, see :func:`list_format`."""
    return option("--format", help, "form", type=click.Choice(formats_of(*aspects)))


def list_format(form: str | None, output: str | None, *forms: str) -> str:
    """The format that is wanted of what is written; by the suffix of ``-o`` when left out, else the first.

    Args:
        form: What the user gave; None where the option is left out or has no effect.
        output: The file that is written.
        forms: What can be written now; a suffix that names another is refused.

    Raises:
        UsageError: the file is named as another format.
    """
    context = click.get_current_context()
    chosen = form or format_of_file(output, forms, context) or forms[0]
    context.params["form"] = chosen  # colours depend on it
    return chosen


def _add_notations(context: click.Context, _option: click.Parameter, files: tuple[str, ...]) -> None:
    context.meta["wrappers"] = files
    for file in files:
        from planner_eval.reading.files.frameworks import add_file

        add_file(file)


reading_options = add_options(
    option(
        "--wrappers FILE...",
        "Notations of your own, as rows of a TOML file.",
        expose_value=False,
        is_eager=True,
        callback=_add_notations,
    ),
    dialect_option("--from", "The notation of the plans (default: detected).", "dialect"),
    option("--id-field NAME", "The field that holds the id, or a path to it."),
    option("--text-field NAME", "The field that holds the plan; a.b.0 is a path into the record."),
    option(
        "--turn first|last|N",
        "Read only this turn of the assistant (default: all turns).",
        callback=_parse_turn,
    ),
)
"""Add the options that say how a file of plans is read: ``--from``, ``--id-field`` and others."""

seed_option = option("--seed", "The random seed of tests and intervals.", type=WHOLE, default=0)
"""Add ``--seed N``, from which permutation tests draw."""

cluster_option = option(
    "--cluster FIELD",
    "The field of a gold record with its conversation, template or domain; "
    "intervals and tests treat samples that share it as dependent.",
)
"""Add ``--cluster FIELD``, in which samples hang together."""

gold_doubts_option = option(
    "--gold-doubts FILE",
    "Show each score also without the records whose gold FILE calls doubtful, as data check "
    "--format json or --fix wrote it.",
)
"""Add ``--gold-doubts FILE``, whose records are also left out of the figures."""


def output_options(
    *aspects: str, folder: bool = False, into: str = "one file per record into a directory"
) -> Decorator:
    """Add ``-o/--output FILE``, and have every file that the command writes refused before the work.

    Args:
        aspects: What is shown, in a command without ``--format``, so that suffixes may name its formats.
        folder: Whether it may be a directory, into which many files are written.
        into: What is written there.
    """

    def named(context: click.Context, _option: click.Parameter, file: str | None) -> str | None:
        if aspects:
            format_of_file(file, formats_of(*aspects), context)
        return None if file == "-" else file

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**params: Any) -> Any:
            refuse_targets(click.get_current_context())
            return command(**params)

        instead = "(default: standard output)." if folder else "instead of standard output."
        return option(
            "-o --output FILE",
            f"Write to FILE, or {into} {instead}" if folder else f"Write to FILE {instead}",
            type=Target(folder=folder),
            is_eager=True,
            callback=named,
        )(run)

    return add


output_option = output_options()
"""Add ``-o/--output FILE`` to a command with ``--format``; (default: standard output)."""


def picture_option(flag: str, aspect: str, help: str) -> Decorator:
    """Add an option that names a file to draw into, whose suffix is that of a format of pictures or plots."""
    forms = formats_of(aspect)

    def named(context: click.Context, _option: click.Parameter, file: str | None) -> str | None:
        if file is not None and format_of_suffix(file, forms) is None:
            suffixes = ", .".join(forms)
            raise click.UsageError(f"{file}: unknown format; use one of .{suffixes}", context)
        return file

    return option(f"{flag} FILE", help, type=Target(), callback=named)


def picture_format(file: str, aspect: str) -> str:
    """The format that the file of a :func:`picture_option` is named as."""
    form = format_of_suffix(file, formats_of(aspect))
    assert form is not None
    return form


Scope: TypeAlias = "tuple[str | Iterable[str], bool, str | Callable[[], str]]"
"""When options have an effect: their names as the command's function takes them, as words or one by one;
whether they have one in this call; when they have one, to follow "applies only", a function where saying it
costs something."""


def refuse_idle(*scopes: Scope) -> None:
    """Refuse options that the user gave and that would have no effect in this call.

    Args:
        scopes: When options have an effect; those that are in none always have one.

    Raises:
        UsageError: names the first such option and says when it applies.
    """
    context = click.get_current_context()
    for names, now, when in scopes:
        for name in names.split() if isinstance(names, str) else names:
            if not now and is_option_passed(name):
                condition = when() if callable(when) else when
                raise click.UsageError(f"{_typed_flag(context, name)} applies only {condition}", context)


def format_condition(form: str, *aspects: str, more: str = "") -> tuple[bool, str]:
    """Whether a format shows one of these aspects, and for a `Scope` which formats do.

    >>> format_condition("csv", "document", "data")
    (False, 'to --format text, json and md')
    """
    *names, last = formats_of(*aspects)
    return shows(form, *aspects), f"to --format {', '.join(names)} and {last}{more}"


def is_option_passed(name: str) -> bool:
    """Whether the user gave an option, named as the command's function takes it."""
    unset = (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)
    return click.get_current_context().get_parameter_source(name) not in unset


def _typed_flag(context: click.Context, name: str) -> str:
    """An option as the user writes it: the one of two flags that was given."""
    option = next(p for p in context.command.params if p.name == name)
    negated = option.secondary_opts and context.params.get(name) is False
    flag = max(option.secondary_opts if negated else option.opts, key=len)
    return str(context.meta.get(f"planeval.typed {flag}", flag))


def emit(data: str | bytes | Iterable[str], output: str | None, *, plain: bool = False) -> None:
    """Write a command's result to a file or to standard output, in colours where they are wanted.

    Where the reader of a pipe has gone (head, less), the rest is let go; the command's code stays the same.

    Args:
        data: The result; a text also in pieces, which are written as they come. The rest of them is not
            asked for where nobody reads it: what else the command says must not hang on them.
        output: The file that it goes to; None for standard output.
        plain: Leave a text as it is, for no person reads it.

    Raises:
        InputError: it cannot be written.
    """
    clear_counter_line()
    if isinstance(data, str):
        data = [data]
    if not isinstance(data, bytes):
        data = _escape_controls(data, people=output is None and sys.stdout.isatty())
        data = data if plain else color_output(data, output)
    with suppress(BrokenPipeError):
        if output is None:
            write_out(data)
        else:
            write(output, data)


def _escape_controls(pieces: Iterable[str], *, people: bool) -> Iterator[str]:
    """A result without what could move a terminal's cursor or hide: JSON says it otherwise, and is the same.

    Another text may be a plan in a notation, which a program is to get as it is.

    Args:
        pieces: The result.
        people: Whether it goes to a terminal.
    """
    shield: Callable[[str], str] | None = None
    for piece in pieces:
        if shield is None and (start := piece.lstrip()[:1]):
            shield = json_safe if start in "{[" else printable if people else str
        yield shield(piece) if shield is not None else piece


def note(text: str) -> None:
    """Say something beside the result, on standard error."""
    context = click.get_current_context(silent=True)
    command = None if context is None else context.command
    clear_counter_line()
    say(printable(command.name_typed_options(text) if isinstance(command, Command) else text))


class Threshold(NamedTuple):
    """A figure and the number that it must reach, as ``--fail-under`` names them."""

    name: str
    least: float


def parse_threshold(text: str) -> Threshold:
    """A threshold of ``--fail-under``.

    Raises:
        InputError: it is no ``NAME=NUMBER``, or the number is none that can be reached.
    """
    name, _, value = text.partition("=")
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not math.isfinite(least):
        raise InputError(f"--fail-under {text!r}: expected METRIC=NUMBER, e.g. exact=0.9")
    return Threshold(name.strip(), least)


# ----------------------------------------------------------------------
# Numbers that options give.
class Number(click.FloatRange):
    """A number in a range; ``nan`` and ``inf`` are none, though Python takes them for numbers."""

    _words = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number.

        Raises:
            click.BadParameter: it is none.
        """
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is no {self._words}", param, ctx)
        return number


class Seconds(Number):
    """A time in seconds.

    Args:
        zero: Whether it may be 0.
    """

    _words = "number of seconds"

    def __init__(self, *, zero: bool = False) -> None:
        super().__init__(min=0, min_open=not zero)
