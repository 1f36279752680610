"""What a project keeps for its commands: planeval.toml, or the table tool.planeval of pyproject.toml.

The file is looked for when a command meets an option that it could set and that the user left out, so that a
command without such an option never reads it. What it says stands in for the option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click

from planner_eval.base.errors import InputError
from planner_eval.cli.options import note
from planner_eval.cli.terminal import SETTINGS_FILES

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


def find_settings_file(config: str | None = None) -> str | None:
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
