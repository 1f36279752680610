"""The options of charts that stand beside those of the papers, and writing one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from planner_eval.base.formats import PICTURES, of_suffix
from planner_eval.base.named import NamedTuple
from planner_eval.cli.options import Applies, bundled, emit, note, picture

if TYPE_CHECKING:
    from planner_eval.drawing.charts import Chart


class Charted(NamedTuple):
    """What chart is wanted.

    Args:
        plot: The file to draw it into; None for no chart.
        figure: Which; the benchmark's first when None.
        columns: Over how many columns of a paper, as text.
    """

    plot: str | None
    figure: str | None
    columns: str | None

    @property
    def applies(self) -> Applies:
        """Its options help the one that names the file."""
        return Applies(("figure", "columns"), self.plot is not None, "with --plot FILE")

    def write(self, make: Callable[[], Chart]) -> Callable[[], None]:
        """Make the chart, and say how it is written: what cannot be drawn is told before anything is."""
        if self.plot is None:
            return lambda: None
        file, chart = self.plot, make()
        columns = None if self.columns is None else int(self.columns)
        drawn = chart.image(of_suffix(file, PICTURES) or "svg", columns=columns)

        def written() -> None:
            emit(drawn, file)
            note(f"{file}: {'; '.join([chart.name, *chart.notes])}")

        return written


def charting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--plot``, ``--figure`` and ``--columns``; the command takes ``charted``, a `Charted`."""
    for option in reversed(
        (
            picture(
                "--plot",
                PICTURES,
                "Draw the figures of a benchmark into FILE (.svg, .png, .pdf) as its paper has them.",
            ),
            click.option(
                "--figure",
                metavar="NAME",
                help="With --plot: which, e.g. nestful-6; the benchmark's first when left out.",
            ),
            click.option(
                "--columns",
                type=click.Choice(["1", "2"]),
                help="With --plot: how many columns of a paper wide; when left out 1 for one panel, else 2.",
            ),
        )
    ):
        command = option(command)
    return bundled("charted", Charted, Charted._fields)(command)
