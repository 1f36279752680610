"""What a dialect is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from planner_eval.base.jsontext import Places, parse_located
from planner_eval.base.limits import Limits
from planner_eval.plan.model import Plan, RawPlan


class Dialect(NamedTuple):
    """One way to write plans.

    Args:
        name: What ``--from`` and ``--to`` take.
        title: One line for a person.
        example: A short plan in this dialect, of our own writing.
        read: Reads a text, or raises ParseError.
        write: Writes a plan, or raises WriteError; None where the dialect is only read.
        read_data: Reads structure that is JSON already, given the places of its objects where they
            are known; None for dialects that are text.
        typed: Whether values say their types; where they do not, a tool schema gives them.
        reference: Reads a text by its Lark grammar, with places: what `read` must agree with; None where
            the notation has no grammar.
    """

    name: str
    title: str
    example: str
    read: Callable[[str, Limits], RawPlan]
    write: Callable[[Plan], str] | None = None
    read_data: Callable[[Any, Limits, Places | None], RawPlan] | None = None
    typed: bool = True
    reference: Callable[[str, Limits], RawPlan] | None = None


AFTER = ""
"""The argument that holds a dependency which a notation states and no argument says: an edge of a
list of links, for instance. Its value is a reference, or a list of them."""


def by_places(
    name: str, read_values: Callable[[list[Any], Limits, str, Places], RawPlan]
) -> Callable[[str, Limits], RawPlan]:
    """The reference reading of a JSON notation: its values with places, by the grammar of JSON.

    Args:
        name: The dialect's name, for errors.
        read_values: Reads the calls of a text's values, given the limits, the text and the places.
    """

    def reference(text: str, limits: Limits) -> RawPlan:
        places = Places(parse_located(text, name))
        return read_values(places.values, limits, text, places)

    return reference
