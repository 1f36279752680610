"""Counts that add up, and ratios made from them.

Those of neighbouring parts, put together in their order, are those of all rows.
"""

from __future__ import annotations

import sys
from collections import Counter

TYPE_CHECKING = False  # typing's own costs start-up

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Self

    Highest = int
else:

    class Highest(int):
        """A number of which the highest counts: it does not add up."""


_KINDS = {"Counter": Counter, "set": set, "list": list, "int": int, "bool": bool, "Highest": Highest}


class Counts:
    """Counts whose class says by annotations which there are: counters, sets, lists, numbers and flags.

    A list holds each item once, in the order of its first. What is none of these is of a class of its own,
    made of its data, with ``extend`` and ``data``.

    Args:
        data: Counts to go on from, as :meth:`data` gave them.

    >>> class Seen(Counts):
    ...     states: Counter[str]
    ...     names: list[str]
    >>> seen = Seen({"states": {"same": 1}, "names": ["a"]})
    >>> seen.extend(Seen({"states": {"same": 2}, "names": ["b", "a"]}))
    >>> seen.data()
    {'states': {'same': 3}, 'names': ['a', 'b']}
    """

    _kinds: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        known = vars(sys.modules[cls.__module__]) | _KINDS
        hints = cls.__annotations__.items()
        cls._kinds = {**cls._kinds, **{name: known[hint.partition("[")[0]] for name, hint in hints}}

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        for name, kind in self._kinds.items():
            setattr(self, name, kind(stored[name]) if name in stored else kind())

    def extend(self, other: Self) -> None:
        """Add the counts over the rows that come next."""
        for name, kind in self._kinds.items():
            own, more = getattr(self, name), getattr(other, name)
            if kind is list:
                own += [item for item in more if item not in own]
            elif kind in (int, bool):
                setattr(self, name, kind(own + more))
            elif kind is Highest:
                setattr(self, name, max(own, more))
            else:
                (own.update if kind in (Counter, set) else own.extend)(more)

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        plain: dict[Any, Any] = {Counter: dict, set: sorted}
        dump = {name: plain.get(kind, getattr(kind, "data", kind)) for name, kind in self._kinds.items()}
        return {name: make(getattr(self, name)) for name, make in dump.items()}


# ----------------------------------------------------------------------
# Ratios: of metrics, and of the benchmarks' figures.
def f1_parts(hit: float, pred: float, gold: float) -> tuple[float, float]:
    """The numerator and the denominator of F1: twice the hits, over pred + gold.

    Args:
        hit: What both sides have.
        pred: What the prediction has.
        gold: What gold has.

    >>> f1_parts(1, 2, 2)
    (2, 4)
    """
    return 2 * hit, pred + gold


def round_ratio(value: float, digits: int = 4) -> float:
    """A ratio to some digits; to more where these would say that it is 0 or 1, and it is not.

    Args:
        value: The ratio, or a difference of two.
        digits: Digits after the point.

    >>> round_ratio(2 / 3), round_ratio(1.0), round_ratio(29_999 / 30_000), round_ratio(-0.00002)
    (0.6667, 1.0, 0.99997, -2e-05)
    """
    ratio = round(value, digits)
    while ratio.is_integer() and ratio != value and digits < _DIGITS:
        digits += 1
        ratio = round(value, digits)
    return ratio


def ratio_text(value: float) -> str:
    """A ratio as text, to four digits that count; to more where these would say 0 or 1 of what is not.

    >>> ratio_text(2 / 3), ratio_text(1.0), ratio_text(29_999 / 30_000)
    ('0.6667', '1', '0.99997')
    """
    digits = 4
    text = f"{value:.{digits}g}"
    while text in ("1", "-1") and float(text) != value and digits < _DIGITS:
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def gap_text(value: float) -> str:
    """A difference with its sign, to four digits after the point; to more where these would say that it is 0.

    >>> gap_text(0.5), gap_text(0.0), gap_text(-1 / 30_000)
    ('+0.5000', '+0.0000', '-0.00003')
    """
    digits = 4
    while value and not float(f"{value:.{digits}f}") and digits < _DIGITS:
        digits += 1
    return f"{value:+.{digits}f}"


_DIGITS = 9
"""Digits after which a sum of floats may say of 1 that it is not."""
