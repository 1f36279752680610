"""What each edit costs, and why: of all that explains a difference a person says the cheapest.

A price of 1 is one thing that a person has to be told. An edit that stands for several is told in their
place where it is cheaper than they are together. Taste is a price here, and no branch anywhere else.
"""

from __future__ import annotations

from planner_eval.base.named_tuple import NamedTuple


class Price(NamedTuple):
    """What an edit costs, and why so much."""

    cost: float
    reason: str


ONE = Price(1, "one thing to say")

PRICES: dict[str, Price] = {
    # Lines in the place of others: what is told of several edits in one sentence.
    "lookup": Price(0.1, "what an agent looks up changes nothing, and gold lists what acts"),
    "items": Price(1.1, "items of one list are wrong in one way"),
    "item": Price(1.2, "an item of which several fields are wrong is another item"),
    "same value": Price(1.1, "one value in the place of several is one slip"),
    "copied value": Price(1.2, "a wrong value that is copied is one wrong value"),
    "missing throughout": Price(1.1, "one argument that is never given is a habit"),
    "missing together": Price(1.2, "arguments that one call leaves out are left out together"),
    "missing answer": Price(1.1, "an answer that names nothing is left out once"),
    "links": Price(1.1, "links without arguments are left out together"),
    "repeated run": Price(1.1, "calls in a row that are made again are one repetition"),
    "tries": Price(1.2, "calls that differ little are tries of one"),
    "end": Price(1.3, "a plan that goes on, or stops, does so once"),
    "run": Price(1.4, "calls of one tool in a row are told in a row"),
}
"""Prices by the name of what is told; any other edit costs :data:`ONE`."""


def cost(name: str) -> float:
    """What an edit of this name costs.

    >>> cost("argument.value"), cost("lookup")
    (1, 0.1)
    """
    return PRICES.get(name, ONE).cost
