"""How commands and their options are declared, which have no effect, and a project's settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import wraps
from math import isfinite
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from planner_eval.base.errors import InputError
from planner_eval.base.formats import formats_of, shows
from planner_eval.base.text import printable
from planner_eval.cli.help import SHARED, Command
from planner_eval.cli.terminal import SETTINGS_FILES, clear_counter_line, say

# ----------------------------------------------------------------------
# How commands and options are declared.
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


WHOLE, COUNT = click.IntRange(min=0), click.IntRange(min=1)
"""The types of whole numbers from 0 and from 1 on."""


def as_command(name: str, /, **arguments: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function.

    Args:
        name: What is typed.
        arguments: The function's parameters that are typed without a flag, each as help shows it; of one with
            ``...`` at its end there may be several, and one with ``?`` at its end may be left out.
    """

    def make(function: Callable[..., Any]) -> Command:
        for parameter, typed in reversed(arguments.items()):
            metavar = typed.removesuffix("?")
            count = -1 if metavar.endswith("...") else 1
            add = click.argument(parameter, metavar=metavar, nargs=count, required=metavar == typed)
            function = add(function)
        return click.command(name, cls=Command)(function)

    return make


def option(typed: str, help: str = "", name: str | None = None, **how: Any) -> Decorator:
    """Add an option, written as help shows it: its flags, then the word for its value.

    A word in brackets lists what the value may be; with ``...`` behind it the option may be given again;
    without a word it is a switch. Defaults are shown.

    Args:
        typed: ``"-o --output FILE"``, ``"--id ID..."``, ``"--engine [ray]"`` or ``"--quiet"``.
        help: What it does; of one that many commands take what the help of ``planeval`` says.
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
    return click.option(*flags, *([name] if name else []), help=help or SHARED[flags[-1]][2], **how)


def add_options(*options: Decorator) -> Decorator:
    """Add several options, in the order in which help lists them."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


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


# ----------------------------------------------------------------------
# Options that commands share.
def dialect_option(flag: str, help: str, name: str | None = None) -> Decorator:
    """Add an option that names a dialect; one that there is not is refused before anything is read."""

    def check_dialect(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value is not None:
            from planner_eval.reading.dialects import get

            get(value)
        return value

    return option(f"{flag} NOTATION", help, name, callback=check_dialect)


compute_option = option("--compute [arithmetic]")
"""Add ``--compute``: what becomes of expressions such as 1/6."""

repair_option = option("--repair", "Repair small syntax errors where strict reading fails, and list them.")
"""Add ``--repair``, which lists what it repairs."""

infer_option = option("--infer")
"""Add ``--infer``: edges that nobody wrote."""

types_option = option("--catalog FILE", "A tool catalog that gives the types of values in untyped notations.")
"""Add ``--catalog``, to commands that look up nothing else there."""

query_option = option(
    "--query FIELD", "The field that holds the question or conversation (default: detected)."
)
"""Add ``--query``: where the question stands."""

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


# ----------------------------------------------------------------------
# Which options have no effect in a call.
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


def split_setting(text: str, example: str = "") -> tuple[str, str]:
    """The name and the value of ``--set NAME=VALUE``.

    Raises:
        InputError: the text is none.
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise InputError(f"--set {text!r}: expected NAME=VALUE{example}")
    return name.strip(), value


def finite_number(text: str) -> float | None:
    """The number that a text is; None where it is none, or no finite one."""
    with suppress(ValueError):
        if isfinite(number := float(text)):
            return number
    return None


def missing_argument(name: str) -> click.UsageError:
    """That an argument is missing, as click says it."""
    context = click.get_current_context()
    parameter = next(p for p in context.command.params if p.name == name)
    return click.MissingParameter(ctx=context, param=parameter)


def note(*texts: str) -> None:
    """Say something beside the result, on standard error."""
    context = click.get_current_context(silent=True)
    command = None if context is None else context.command
    for text in texts:
        clear_counter_line()
        say(printable(command.name_typed_options(text) if isinstance(command, Command) else text))


SETTING_KEYS: dict[str, tuple[str, str]] = {
    "dialect": ("dialects", "from"),
    "gold_dialect": ("dialects", "gold-from"),
    "wrappers": ("dialects", "wrappers"),
    "id_field": ("fields", "id-field"),
    "text_field": ("fields", "text-field"),
    "gold_id_field": ("fields", "gold-id-field"),
    "gold_text_field": ("fields", "gold-text-field"),
    "metrics": ("metrics", ""),
    "fail_under": ("thresholds", ""),
    "policy": ("", ""),
}
"""Options, as commands take them, that a project's settings can stand in for: the table and the key."""

_BENCHMARK_SETTINGS = ("id_field", "text_field")
"""What reads a file of answers under a published benchmark too; the rest is as the benchmark has it."""


class Settings(dict[str, Any]):
    """The settings as click's ``default_map``, read when they are first asked for.

    Args:
        config: The settings' file; ``"none"`` for none, None for the project's own.
    """

    def __init__(self, config: str | None) -> None:
        super().__init__()
        self.config = config
        self.read = False
        self.said = False

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def get(self, name: str, default: Any = None) -> Any:
        """What stands in for an option; says on standard error whose settings are used."""
        context = click.get_current_context()
        if name not in SETTING_KEYS or context.resilient_parsing:  # which help and completion do
            return default
        if context.params.get("benchmark") is not None and name not in _BENCHMARK_SETTINGS:
            return default
        if not self.read:
            self.read = True
            self.path = find_settings_file(self.config)
            if self.path is not None:
                self.update(_options(self.path))
        value = super().get(name)
        if value is None:
            return default  # of click 8.3 a mark of its own for "nothing"
        if not self.said:
            self.said = True
            note(f"settings of {self.path}")
        return value


def find_settings_file(config: str | None) -> str | None:
    """The settings' file from here; None where there is none.

    It is looked for in the current folder and in those above it, up to the one that holds ``.git``; where
    there is none, in the current folder alone.

    Args:
        config: As for :class:`Settings`.

    Raises:
        InputError: the file that is named is not there.
    """
    if config == "none":
        return None
    if config is not None:
        if not os.path.isfile(config):
            raise InputError(f"--config {config}: there is no such file; --config none takes no settings")
        return config
    for folder in _folders(os.getcwd()):
        for name in SETTINGS_FILES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name == SETTINGS_FILES[0] or _has_planeval_table(path)):
                return os.path.relpath(path)
    return None


def _folders(start: str) -> list[str]:
    """A folder and those above it that belong to the same repository, never above the home folder."""
    home = os.path.expanduser("~")
    above, folder = [start], start
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if folder in (parent, home):
            return [start]
        folder = parent
        above.append(folder)
    return above


def _has_planeval_table(project: str) -> bool:
    """Whether a pyproject.toml may have our table: a look is cheaper than a TOML parser."""
    try:
        with open(project, "rb") as file:
            return b"tool.planeval" in file.read()
    except OSError:
        return False


def _options(path: str) -> dict[str, Any]:
    """The options that a file of settings stands in for, with the values that commands take."""
    from pathlib import Path

    from planner_eval.comparison.policy.file import read_settings

    settings = read_settings(Path(path))
    options: dict[str, Any] = {}
    for option, (table, key) in SETTING_KEYS.items():
        value = settings.kept.get(table)
        options[option] = value.get(key) if key and value is not None else value
    folder = os.path.dirname(path)
    thresholds = _flatten_thresholds(options["fail_under"] or {})
    options |= {
        "wrappers": [os.path.join(folder, file) for file in _as_list(options["wrappers"])],
        "metrics": _as_list(options["metrics"]),
        "fail_under": [f"{name}={least!r}" for name, least in thresholds],
        "policy": path if settings.policy else None,
    }
    return {option: value for option, value in options.items() if value not in (None, [])}


def _as_list(value: str | list[str] | None) -> list[str]:
    """One or several texts as a list."""
    return [value] if isinstance(value, str) else value or []


def _flatten_thresholds(thresholds: dict[str, Any], head: str = "") -> Iterator[tuple[str, float]]:
    """Thresholds by the metrics' whole names: TOML reads calls.recall as a table of its own."""
    for name, value in thresholds.items():
        if isinstance(value, dict):
            yield from _flatten_thresholds(value, f"{head}{name}.")
        else:
            yield head + name, value
