"""What verdicts are, and what an agreement of two sets of them says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.scoring.intervals import Interval

Cells = Sequence[Sequence[int]]
"""Records by the first's class and, in each row, by the second's."""


class Verdict(NamedTuple):
    """One record of a file of verdicts.

    Args:
        id: The record's name; None where it has none.
        value: The verdict as written; None where there is none.
        where: Its place for a message.
        error: Why it cannot be read.
    """

    id: str | None
    value: str | None
    where: str = ""
    error: str = ""


class Verdicts(NamedTuple):
    """The verdicts of one file.

    Args:
        name: What it is called.
        found: In the file's order.
        said: What was read as the verdicts, in words.
    """

    name: str
    found: tuple[Verdict, ...]
    said: str = ""


class Agreed(NamedTuple):
    """One record under both.

    Args:
        id: Its name, or its number where records have none.
        first: The first's class; None where it has none.
        second: The second's.
        state: ``"same"``, ``"different"``, ``"no verdict"`` (one has none), ``"only in first"``,
            ``"only in second"``, ``"unreadable"`` or ``"repeated"`` (an earlier record has its id).
        error: Why it cannot be read.
    """

    id: str
    first: str | None
    second: str | None
    state: str
    error: str = ""


class Share(NamedTuple):
    """A figure of an agreement.

    Args:
        name: What is counted.
        value: The figure; None where it does not exist.
        hits: What was counted; None where the figure is no share.
        of: Out of how many.
        interval: Of 95 %.
        note: What it is, in a few words.
    """

    name: str
    value: float | None
    hits: int | None
    of: int
    interval: Interval | None
    note: str


class Shift(NamedTuple):
    """How often each gives a class, and whether one gives it more often.

    Args:
        name: The class.
        first: Records to which the first gives it.
        second: Records to which the second does.
        both: Records to which both do.
        p: The exact test of McNemar, with Holm's correction over the classes.
    """

    name: str
    first: int
    second: int
    both: int
    p: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two sets of verdicts agree.

    Args:
        names: What the two are called; the second is the reference.
        by: ``"id"`` or ``"position"``.
        classes: The classes, ``yes`` before ``no``.
        cells: Records with both verdicts, by the first's class and in each row by the second's.
        figures: Agreement, kappa, and of yes or no the false positives and negatives.
        shifts: A row a class.
        rows: A row a record.
        made: How the figures were made.
    """

    names: tuple[str, str]
    by: str
    classes: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]
    figures: tuple[Share, ...]
    shifts: tuple[Shift, ...]
    rows: tuple[Agreed, ...]
    made: str

    @property
    def n(self) -> int:
        """Records with both verdicts."""
        return sum(map(sum, self.cells))

    @property
    def left_over(self) -> int:
        """Records that the figures leave out for want of the other, of a verdict or of a sound record."""
        return len(self.rows) - self.n

    def figure(self, name: str) -> float | None:
        """The value of a figure.

        Raises:
            InputError: there is none of that name.
        """
        values = {figure.name: figure.value for figure in self.figures}
        if name not in values:
            hint = did_you_mean(name, values, f"there are {', '.join(values)}")
            raise InputError(f"an agreement has no figure {name!r}; {hint}")
        return values[name]
