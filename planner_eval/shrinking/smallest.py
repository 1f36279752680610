"""The search for the smallest pair that still shows something: delta debugging over all steps.

Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input (IEEE TSE 28, 2002): of each
kind of step many are tried at once, then half as many, down to single ones; here over kinds of steps from
large to small, again and again until none of any kind makes the pair smaller.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.align import match
from planner_eval.shrinking.beside import beside, without_beside
from planner_eval.shrinking.calls import alone, together, without
from planner_eval.shrinking.pairs import Pair, bare, size
from planner_eval.shrinking.texts import cut, cuts, group_cuts, shared_cut, shared_cuts
from planner_eval.shrinking.values import (
    argument_dropped,
    changed,
    changes_alone,
    changes_together,
    dropped,
    literal,
    shorter,
    simple,
)

TRIES = 10_000
"""So many pairs are tried unless the user says otherwise."""

ENDINGS = {
    "smallest": "no step makes it smaller",
    "tries": "the tries ran out",
    "deadline": "the time ran out",
    "interrupted": "it was interrupted",
    "wavers": "what was asked does not answer the same each time",
}
"""Why a search ended, each in words."""

Partners = Sequence[tuple[int, int]]


class Kind(NamedTuple):
    """One kind of step.

    Args:
        units: What can be done to a pair, given which calls stand for one another.
        done: The pair to which some of that is done.
    """

    units: Callable[[Pair, Partners], Sequence[Any]]
    done: Callable[[Pair, Sequence[Any]], Pair]


def _values(simpler: Callable[[Any, bool], Any]) -> Iterator[Kind]:
    for units in (changes_together, changes_alone):
        yield Kind(partial(units, simpler=simpler), changed)


KINDS: tuple[Kind, ...] = (
    Kind(together, partial(without, cut=False)),
    Kind(together, partial(without, cut=True)),
    Kind(alone, partial(without, cut=False)),
    Kind(alone, partial(without, cut=True)),
    *_values(argument_dropped),
    Kind(beside, without_beside),
    *_values(literal),
    *_values(simple),
    *_values(dropped),
    *_values(shorter),
    Kind(shared_cuts, shared_cut),
    Kind(group_cuts, cut),
    *(Kind(partial(cuts, of=of), cut) for of in ("lines", "words", "characters")),
)
"""All kinds of steps, those that take away most first."""


class Shrunk(NamedTuple):
    """The smallest pair that was found.

    Args:
        pair: The pair.
        tries: How many pairs were tried.
        steps: How many of them were smaller and showed it.
        ended: Why the search ended: a key of :data:`ENDINGS`, never ``"wavers"``, for nothing is asked twice.
    """

    pair: Pair
    tries: int
    steps: int
    ended: str


def smaller(pair: Pair) -> Iterator[Pair]:
    """Every pair that is one single step smaller.

    >>> from planner_eval.dialects.read import parse
    >>> one = parse("f(#x='1')")
    >>> [tuple(map(len, each)) for each in smaller(Pair(bare(one), bare(one)))][:3]
    [(0, 0), (1, 0), (0, 1)]
    """
    digests, least = {_digest(pair)}, size(pair)
    partners = _partners(pair)
    for kind in KINDS:
        for unit in kind.units(pair, partners):
            smaller_pair = kind.done(pair, [unit])
            if (digest := _digest(smaller_pair)) not in digests and size(smaller_pair) < least:
                digests.add(digest)
                yield smaller_pair


def shrink(
    pair: Pair,
    shows: Callable[[Pair], bool],
    *,
    tries: int = TRIES,
    deadline: float | None = None,
    progress: Callable[[int, Pair], None] | None = None,
) -> Shrunk:
    r"""Make a pair smaller for as long as a single step leaves one that still shows something.

    Args:
        pair: The pair, which shows it.
        shows: Whether a pair shows it; the same for the same pair.
        tries: How many pairs are tried at most.
        deadline: After how many seconds no further one is tried.
        progress: Is told after each try how many there were, and the smallest pair so far.

    Returns:
        A pair that shows it; where the search ended by itself, no pair of :func:`smaller` does.

    >>> from planner_eval.dialects.read import parse
    >>> plan = parse("a = f(#x='Rome')\nb = g(#y='1')\nh(#z=b)")
    >>> found = shrink(Pair(plan, plan), lambda each: "h" in [call.name for call in each.gold.calls])
    >>> [call.name for call in found.pair.gold.calls], len(found.pair.pred), found.ended
    (['h'], 0, 'smallest')
    """
    work = _Work(pair, shows, tries, deadline, progress)
    try:
        while any([work.reduced(kind) for kind in KINDS]):  # a list: every kind has its turn
            pass
    except _EndedError as error:
        return Shrunk(work.pair, work.tries, work.steps, str(error))
    except KeyboardInterrupt:
        return Shrunk(work.pair, work.tries, work.steps, "interrupted")
    return Shrunk(work.pair, work.tries, work.steps, "smallest")


class _EndedError(Exception):
    """The search ends before its end."""


class _Work:
    """The smallest pair so far, and what was tried."""

    def __init__(
        self,
        pair: Pair,
        shows: Callable[[Pair], bool],
        tries: int,
        deadline: float | None,
        progress: Callable[[int, Pair], None] | None,
    ) -> None:
        self.pair = Pair(
            *(plan_or_text if isinstance(plan_or_text, str) else bare(plan_or_text) for plan_or_text in pair)
        )
        self.size = size(self.pair)
        self.partners = _partners(self.pair)
        self.shows, self.most, self.progress = shows, tries, progress
        self.until = None if deadline is None else time.monotonic() + deadline
        self.tries = self.steps = 0
        self.known = {_digest(self.pair)}

    def reduced(self, kind: Kind) -> bool:
        """Do steps of one kind, many at once, then fewer, down to single ones; whether any was taken."""
        before = self.steps
        units = kind.units(self.pair, self.partners)
        chunk = len(units)
        while chunk:
            index = 0
            while index < len(units):
                if self.takes(kind.done(self.pair, units[index : index + chunk])):
                    units = kind.units(self.pair, self.partners)
                else:
                    index += chunk
            chunk //= 2
        return self.steps > before

    def takes(self, pair: Pair) -> bool:
        """Whether a pair is smaller and shows it, so that it takes the place of the smallest so far."""
        if self.until is not None and time.monotonic() > self.until:
            raise _EndedError("deadline")
        least = size(pair)
        if least >= self.size or (digest := _digest(pair)) in self.known:
            return False
        if self.tries >= self.most:
            raise _EndedError("tries")
        self.known.add(digest)
        self.tries += 1
        shows = self.shows(pair)
        if shows:
            self.pair, self.size, self.steps = pair, least, self.steps + 1
            self.partners = _partners(pair)
        if self.progress is not None:
            self.progress(self.tries, self.pair)
        return shows


def _partners(pair: Pair) -> Partners:
    """Which call of the prediction stands for which of gold."""
    pred, gold = pair
    if isinstance(pred, str) or isinstance(gold, str):
        return ()
    return match(pred, gold).alignment.pairs


def _digest(pair: Pair) -> bytes:
    """What tells a pair from others; of what was tried no more is held."""
    contents = [
        plan_or_text if isinstance(plan_or_text, str) else repr((plan_or_text.calls, plan_or_text.answer))
        for plan_or_text in pair
    ]
    return blake2b(repr(contents).encode("utf-8", "surrogatepass"), digest_size=16).digest()
