"""Tools of our own, read and never run."""

from __future__ import annotations

from typing import Literal, Optional

raise SystemExit("this file was run")


def get_rate(base: str, quote: Literal["USD", "EUR", "JPY"], day: Optional[str] = None) -> dict[str, float]:
    """What one currency costs in another.

    Args:
        base: The currency that is bought,
            three letters.
        quote (str): The currency that it is paid in.

    Returns:
        The rate.
    """


async def ratio(first: float, second: float = 1.0, *, digits: int | None = None) -> float:
    """One number divided by another.

    Parameters
    ----------
    first : float
        What is divided.
    second : float
        What it is divided by.
    """


def notify(*people: str, **options: object) -> None:
    """Send a note.

    :param str text: Not an argument.
    """


def _hidden() -> None:
    """Not a tool."""
