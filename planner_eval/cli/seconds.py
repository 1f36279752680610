"""Times that options give."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click


class Seconds(click.FloatRange):
    """A time in seconds; ``nan`` and ``inf`` are none, though they are numbers of Python.

    Args:
        zero: Whether it may be 0.
    """

    def __init__(self, *, zero: bool = False) -> None:
        super().__init__(min=0, min_open=not zero)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The time.

        Raises:
            click.BadParameter: it is none.
        """
        found = float(super().convert(value, param, ctx))
        if not isfinite(found):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return found
