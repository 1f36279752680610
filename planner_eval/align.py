"""Which call of the prediction stands for which call of the gold plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alignment:
    """A one-to-one pairing of calls, and what it leaves over on either side.

    Args:
        pairs: Positions (in pred, in gold), by position in gold.
        missing: Positions in gold that no call of pred stands for.
        extra: Positions in pred that stand for no call of gold.
        exact: The pairing is proved optimal; False where the search was bounded.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    missing: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()
    exact: bool = True
