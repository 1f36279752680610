"""What the shell offers on Tab for values that are no choice of a few words: names, and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from planner_eval.base.codes import code_meanings
from planner_eval.base.resources import deferred


def _check_codes() -> Iterable[str]:
    return (code for code in code_meanings() if code.startswith("check."))


_dialects = deferred("planner_eval.reading.dialects:names")
_datasets = deferred("planner_eval.benchmarks.datasets.published:published_datasets")

_PARAMETER_VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "dialect": _dialects,
    "gold_dialect": _dialects,
    "target": _dialects,
    "policy": deferred("planner_eval.comparison.policy.file:presets"),
    "theme": deferred("planner_eval.results.drawing.themes:names"),
    "benchmark": deferred("planner_eval.benchmarks.benchmark:BENCHMARKS"),
    "metrics": deferred("planner_eval.comparison.metrics:METRICS"),
    "catalog_format": deferred("planner_eval.catalogs.formats:FORMATS"),
    "ignore": _check_codes,
    **dict.fromkeys(("fetch names", "show name", "check name"), _datasets),
}
"""The names that a parameter takes, by its own name, or with its command's where another has the same."""

_FILE_METAVARS = ("FILE", "SPEC", "GOLD")
"""What stands in the metavar of an option whose value is a file; so is each argument that has no names."""


class _CompletedText(click.ParamType):  # type: ignore[type-arg]  # click 8.1 takes none
    """A text of which the shell knows what it may be."""

    name = "text"

    def __init__(self, names: Callable[[], Iterable[str]] | None, *, files: bool) -> None:
        self.names, self.files = names, files

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so; files where there are none."""
        names = self.names() if self.names is not None else ()
        items = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return items or ([CompletionItem(incomplete, type="file")] if self.files else [])


def add_completion(command: click.Command) -> None:
    """Have a command's parameters offer what they take; of a group those of each of its commands."""
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        add_completion(subcommand)
    for param in command.params:
        if not isinstance(param.type, click.types.StringParamType) or param.name is None:
            continue
        names = _PARAMETER_VALUES.get(f"{command.name} {param.name}", _PARAMETER_VALUES.get(param.name))
        metavar = param.metavar or ""
        argument = isinstance(param, click.Argument) and names is None
        files = argument or any(word in metavar for word in _FILE_METAVARS)
        if names is not None or files:
            param.type = _CompletedText(names, files=files)


def complete_commands(table: dict[str, tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    """The commands that begin so, each with its line of the help; none of them is imported for it."""
    matches = {name: line for name, (_, line) in table.items() if name.startswith(incomplete)}
    return [CompletionItem(name, help=line) for name, line in matches.items()]
