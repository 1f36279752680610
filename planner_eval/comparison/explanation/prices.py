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


HARMLESS = 0.5
"""What costs less does no harm, and is told last."""

ONE = Price(1, "one thing to say")

PRICES: dict[str, Price] = {
    # Edits in the place of others, of which they hold the places.
    "step moved": Price(1.1, "one step in the wrong place is wrong at both its ends"),
    "results swapped": Price(1.2, "two results are taken for one another wherever they are used"),
    "values swapped": Price(1.3, "two calls with one another's values are one slip"),
    "operand": Price(1.4, "an operand that may stand on either side is one wrong value"),
    "arguments swapped": Price(1.5, "an exchange explains two values at once, though one is wrong besides"),
    "arguments joined": Price(1.2, "one text that holds two arguments is one slip"),
    # Lines in the place of others: what is told of several edits in one sentence.
    "lookup": Price(0.1, "what an agent looks up changes nothing, and gold lists what acts"),
    "items": Price(1.1, "items of one list are wrong in one way"),
    "item": Price(1.2, "an item of which several fields are wrong is another item"),
    "same value": Price(1.1, "one value in the place of several is one slip"),
    "copied value": Price(1.2, "a wrong value that is copied is one wrong value"),
    "same type": Price(1.1, "one argument of one type throughout is a habit"),
    "missing throughout": Price(1.1, "one argument that is never given is a habit"),
    "missing together": Price(1.2, "arguments that one call leaves out are left out together"),
    "missing answer": Price(1.1, "an answer that names nothing is left out once"),
    "links": Price(1.1, "links without arguments are left out together"),
    "repeated run": Price(1.1, "calls in a row that are made again are one repetition"),
    "tries": Price(1.2, "calls that differ little are tries of one"),
    "end": Price(1.3, "a plan that goes on, or stops, does so once"),
    "run": Price(1.4, "calls of one tool in a row are one line"),
    # Edits that change nothing of what is meant.
    "form": Price(0.2, "names for positions, or positions for names, call the same"),
    "operands": Price(0.2, "operands in either order give the same result"),
}
"""Prices by the name of what is told; any other edit costs :data:`ONE`."""


def cost(name: str) -> float:
    """What an edit of this name costs.

    >>> cost("argument.value"), cost("lookup") < HARMLESS
    (1, True)
    """
    return PRICES.get(name, ONE).cost
