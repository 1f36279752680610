"""The bootstrap of a handful of samples without NumPy, whose import takes longer than all else that is done.

The random numbers are those of NumPy's generator, so that a figure does not depend on who drew it; a test
holds the two equal.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import exp, log1p, sqrt
from operator import mul

MOST = 20
"""Samples up to which drawing here takes half of the time in which NumPy is loaded, all metrics asked."""


def sooner(samples: int) -> bool:
    """Whether so few samples are sooner drawn here than by NumPy, which may be loaded already."""
    return samples <= MOST and "numpy" not in sys.modules


_WORD, _LONG, _STATE = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1


def _seeded(seed: int) -> tuple[int, int]:
    """The generator's state and increment: NumPy's ``SeedSequence``, after O'Neill's ``seed_seq_fe``."""
    words = [seed >> at & _WORD for at in range(0, max(seed.bit_length(), 1), 32)]
    key = 0x43B0D7E5

    def hashed(word: int) -> int:
        nonlocal key
        word ^= key
        key = key * 0x931E8875 & _WORD
        word = word * key & _WORD
        return word ^ word >> 16

    def mixed(one: int, other: int) -> int:
        word = one * 0xCA01F9DD - other * 0x4973F715 & _WORD
        return word ^ word >> 16

    pool = [hashed(words[at] if at < len(words) else 0) for at in range(4)]
    for source in range(4):
        for at in range(4):
            if at != source:
                pool[at] = mixed(pool[at], hashed(pool[source]))
    for word in words[4:]:
        pool = [mixed(each, hashed(word)) for each in pool]
    made, key = [], 0x8B51F9DD
    for at in range(8):
        word = pool[at % 4] ^ key
        key = key * 0x58F38DED & _WORD
        word = word * key & _WORD
        made.append(word ^ word >> 16)
    first, second, third, fourth = (made[at] | made[at + 1] << 32 for at in range(0, 8, 2))
    return first << 64 | second, third << 64 | fourth


def _uniform(seed: int) -> Iterator[float]:
    """Numbers in [0, 1): NumPy's ``PCG64``. Source: O'Neill, PCG (Harvey Mudd College, 2014)."""
    start, sequence = _seeded(seed)
    factor, step = 0x2360ED051FC65DA44385DF649FCCF645, (sequence << 1 | 1) & _STATE
    state = ((step + start) * factor + step) & _STATE
    while True:
        state = (state * factor + step) & _STATE
        turn, word = state >> 122, (state >> 64 ^ state) & _LONG
        word = (word >> turn | word << 64 - turn) & _LONG
        yield (word >> 11) / 9007199254740992.0


@lru_cache((MOST + 1) ** 2)  # a drawing asks for each of a few again and again
def _masses(tries: int, chance: float) -> tuple[float, ...]:
    """The probabilities of 0, 1 and more hits of a few tries, as far as NumPy's ``binomial`` looks."""
    miss = 1 - chance
    mean = tries * chance
    masses = [exp(tries * log1p(-chance))]
    for hits in range(1, min(tries, int(mean + 10 * sqrt(mean * miss + 1))) + 1):
        masses.append((tries - hits + 1) * chance * masses[-1] / (hits * miss))
    return tuple(masses)


def _binomial(tries: int, chance: float, numbers: Iterator[float]) -> int:
    """How many of a few tries hit: NumPy's ``binomial``, by inversion."""
    if chance > 0.5:
        return tries - _binomial(tries, 1 - chance, numbers)
    masses = _masses(tries, chance)
    while True:  # once more where rounding leaves a rest
        left = next(numbers)
        for hits, mass in enumerate(masses):
            if left <= mass:
                return hits
            left -= mass


@lru_cache(MOST)  # groups of a breakdown are of few sizes
def _draws(seed: int, count: int, resamples: int) -> Counter[tuple[int, ...]]:
    """How often samples were drawn how often each, as by NumPy's ``multinomial``."""
    numbers = _uniform(seed)
    chances, rest = [], 1.0
    for _ in range(count - 1):
        chances.append(1 / count / rest)
        rest -= 1 / count
    drawn: Counter[tuple[int, ...]] = Counter()
    for _ in range(resamples):
        left, weights = count, []
        for chance in chances:
            weights.append(_binomial(left, chance, numbers) if left else 0)
            left -= weights[-1]
        drawn[*weights, left] += 1
    return drawn


def middle(parts: Sequence[float], wholes: Sequence[float], seed: int, resamples: int) -> tuple[float, float]:
    """The ends of the middle 95 % of a ratio of sums over samples drawn again.

    Args:
        parts: The numerator of each sample, a whole number; as many as :data:`MOST` at most.
        wholes: The denominator of each, likewise.
        seed: Where the random numbers start.
        resamples: How often samples are drawn again.

    >>> middle([1, 0, 2], [2, 1, 2], seed=0, resamples=1000)
    (0.0, 1.0)
    """
    sums = (_sums(tuple(each), seed, resamples) for each in (parts, wholes))
    figures: list[float] = []
    for part, whole, times in zip(*sums, _draws(seed, len(parts), resamples).values(), strict=True):
        if whole > 0:
            figures += [part / whole] * times
    return ends(figures)


@lru_cache(4 * MOST)  # many figures have their numerators or denominators in common
def _sums(numbers: tuple[float, ...], seed: int, resamples: int) -> Sequence[float]:
    """The sum of some whole numbers over each of the draws.

    All sums are made at once, each in a lane of one long integer, for a loop over a thousand draws takes
    longer than to draw. Lanes hold nothing below 0, so the least number is taken off first: each draw is of
    as many samples.
    """
    count, least = len(numbers), min(numbers)
    if (max(numbers) - least) * count >= _EXACT:
        return [sum(map(mul, weights, numbers)) for weights in _draws(seed, count, resamples)]
    lanes = sum(map(mul, _lanes(seed, count, resamples), [int(number - least) for number in numbers]))
    drawn = len(_draws(seed, count, resamples))
    rest = least * count
    return [one + rest for one in memoryview(lanes.to_bytes(8 * drawn, sys.byteorder)).cast("Q")]


_EXACT = 2**53
"""Below it sums are the same in integers and in floats."""


@lru_cache(MOST)
def _lanes(seed: int, count: int, resamples: int) -> list[int]:
    """For each sample how often each draw has it, 64 bits a draw."""
    columns = zip(*_draws(seed, count, resamples), strict=True)
    return [int.from_bytes(array("Q", column).tobytes(), sys.byteorder) for column in columns]


def ends(figures: list[float]) -> tuple[float, float]:
    """The ends of the middle 95 % of some figures, as NumPy's ``quantile`` has them, which loads more of it.

    >>> ends([0.0, 1.0])
    (0.025, 0.975)
    """
    figures.sort()
    return _quantile(figures, 0.025), _quantile(figures, 0.975)


def _quantile(ascending: Sequence[float], share: float) -> float:
    """Between two neighbours on the line through them, reckoned from the nearer one."""
    place = (len(ascending) - 1) * share
    low = ascending[int(place)]
    high = ascending[min(int(place) + 1, len(ascending) - 1)]
    over = place - int(place)
    return high - (high - low) * (1 - over) if over >= 0.5 else low + (high - low) * over
