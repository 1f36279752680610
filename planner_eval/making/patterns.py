"""Skeletons that have a name, and those that a shape says."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.making.skeletons import Needs, meets
from planner_eval.making.wishes import MOST_CALLS, PATTERNS, Range, Wishes

_LEAST = {"chain": 2, "fan-out": 3, "fan-in": 3, "diamond": 4, "independent": 1}
"""The calls that a pattern needs to be one."""

_LONGEST = 400
"""Characters of a shape at most."""


def every(pattern: str, sizes: Range) -> Iterator[Needs]:
    """The skeletons that a pattern stands for.

    Args:
        pattern: A name of :data:`.wishes.PATTERNS`, or a shape.
        sizes: How many calls they may have; a shape says that itself.

    Raises:
        InputError: it is neither.

    >>> list(every("diamond", Range(4, 4)))
    [((), (0,), (0,), (1, 2))]
    """
    if pattern not in PATTERNS:
        yield read_shape(pattern)
        return
    for size in range(max(sizes.low, _LEAST[pattern]), sizes.high + 1):
        yield _named(pattern, size)


def patterned(wishes: Wishes, most_in: int, random: Random) -> Needs | None:
    """A skeleton of the pattern that is wished for; None where none is what else is wished for.

    Args:
        wishes: What is wanted.
        most_in: How many calls' outputs one call can take.
        random: Where chance comes from.
    """
    fitting = [
        needs
        for needs in every(wishes.pattern or "", wishes.calls)
        if meets(needs, wishes) and max(map(len, needs)) <= most_in
    ]
    return random.choice(fitting) if fitting else None


def _named(pattern: str, size: int) -> Needs:
    middle = range(1, size - 1)
    if pattern == "chain":
        return tuple((index - 1,) if index else () for index in range(size))
    if pattern == "fan-out":
        return tuple((0,) if index else () for index in range(size))
    if pattern == "fan-in":
        return (*(() for _ in range(size - 1)), tuple(range(size - 1)))
    if pattern == "diamond":
        return ((), *((0,) for _ in middle), tuple(middle))
    return tuple(() for _ in range(size))


def read_shape(text: str) -> Needs:
    """The skeleton of a shape, as ``planeval stats`` and ``data coverage`` write it.

    Raises:
        InputError: it is neither a shape nor the name of a pattern.

    >>> read_shape("(a:()) (a)"), read_shape("(()) + ()")
    (((), (0,), (0,)), ((), (0,), ()))
    """
    if len(text) <= _LONGEST and not set(text) - set("()+: abcdefghijklmnopqrstuvwxyz"):
        needs = _Shape(text).read()
        if needs is not None and len(needs) > MOST_CALLS:
            raise InputError(f"pattern {text!r:.80}: a made plan has at most {MOST_CALLS} calls")
        if needs:
            return needs
    hint = did_you_mean(text, PATTERNS, f"the names are {', '.join(PATTERNS)}")
    raise InputError(f"pattern {text!r:.80} is no shape such as '(())', and no name; {hint}")


class _Shape:
    """Reads a shape.

    ``shape = piece (" + " piece)*``, ``piece = call (" " call)*``, ``call = [letter ":"] "(" (call | letter)*
    ")"``; a letter means the call that it stands before.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.needs: list[tuple[int, ...]] = []
        self.known: dict[str, int] = {}

    def read(self) -> Needs | None:
        """The skeleton; None where the text is no shape."""
        try:
            while True:
                self._call()
                if self.at == len(self.text):
                    return tuple(self.needs)
                if self._takes(" + "):
                    self.known.clear()
                elif not self._takes(" "):
                    return None
        except ValueError:
            return None

    def _takes(self, token: str) -> bool:
        is_match = self.text.startswith(token, self.at)
        self.at += len(token) if is_match else 0
        return is_match

    def _call(self) -> int:
        letter = self.text[self.at : self.at + 1]
        if letter.isalpha():
            self.at += 1
            if not self._takes(":"):
                if letter not in self.known:
                    raise ValueError(letter)
                return self.known[letter]
        if not self._takes("("):
            raise ValueError(self.at)
        producers = set()
        while not self._takes(")"):
            producers.add(self._call())
        self.needs.append(tuple(sorted(producers)))
        if letter.isalpha():
            self.known[letter] = len(self.needs) - 1
        return len(self.needs) - 1
