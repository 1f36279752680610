"""The options of commands that take files and published data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from planner_eval.cli.options import Applies, refuse_idle

if TYPE_CHECKING:
    from planner_eval.datasets.sources import Source


IN_PLACE = "which says already where the files lie"
"""Why ``--cache`` beside ``--source`` has no effect, unless files are fetched."""


def refuse_idle_places(sources: Sequence[Source]) -> None:
    """Refuse options on where data sets lie where no data set was named, and on reading files likewise."""
    folder = click.get_current_context().params["folder"]
    files = any(source.file is not None for source in sources)
    datasets = any(source.dataset is not None for source in sources)
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
