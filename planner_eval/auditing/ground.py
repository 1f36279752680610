"""What grounds a value in a question: in which way, and where."""

from __future__ import annotations

from planner_eval.base.limits import Span
from planner_eval.base.named import NamedTuple

FEW = 2_000
"""Of numbers, days, times and kindred words of a question no more are looked at."""


class Ground(NamedTuple):
    """What grounds a value.

    Args:
        how: ``"text"`` (word for word, up to case, accents, inflection and punctuation), ``"words"`` (all
            its words, in other order or by another name), ``"part"`` (half of its words or more),
            ``"number"``, ``"unit"`` (a percentage, or in another unit), ``"sum"`` (of counts), ``"day"``,
            ``"time"``, ``"flag"`` (the words of the argument's name); ``"result"`` (an earlier answer holds
            it); and of what cannot be judged: ``"relative"`` (a day that today's date decides), ``"vague"``
            (a part of the day), ``"absent"`` (a flag that is off and not spoken of), ``"one"`` (a single
            thing), ``"default"`` (the tool takes it anyway), ``"empty"`` (nothing to ground), ``"unread"``
            (the question is not in English, or too long).
        span: Where it stands in the question; None where no place does.
        sure: Whether the question says the value; False where that cannot be judged.
    """

    how: str
    span: Span | None = None
    sure: bool = True
