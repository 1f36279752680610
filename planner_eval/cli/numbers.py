"""Numbers that options give."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click


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
