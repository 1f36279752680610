"""What a dialect is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner_eval.base.jsontext import Places, parse_located
from planner_eval.base.limits import Limits, Span
from planner_eval.base.named import NamedTuple
from planner_eval.plan.model import Plan, RawPlan


class Data(NamedTuple):
    """JSON data as those see it who say which dialect it is in.

    Args:
        value: The data.
        items: The objects of its list, or of its list ``calls``; the data itself where it is no list.
        calls: Those of them that look like calls.
        text: What the data was written as, or its repr: where keys and texts are looked for.
        texts: Whether it is a list of texts.
    """

    value: Any
    items: list[Any]
    calls: list[dict[str, Any]]
    text: str
    texts: bool = False

    @property
    def only_calls(self) -> bool:
        """Whether everything in it looks like a call."""
        return bool(self.calls) and len(self.calls) == len(self.items)


class Recognised(NamedTuple):
    """What was read, before it is linked.

    Args:
        dialect: The notation.
        raw: The calls.
    """

    dialect: str
    raw: RawPlan


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
        read_plain: Reads such structure where it is a list of calls that are a name, arguments and perhaps a
            label (:func:`planner_eval.dialects.messages.is_plain`), and this was seen to.
        read_framed: Reads a text as `read` does, and says where the tokens stand that frame its calls.
        typed: Whether values say their types; where they do not, a tool schema gives them.
        reference: Reads a text by its Lark grammar, with places: what `read` must agree with; None where
            the notation has no grammar.
        answers: Whether it can say what the user gets.
        sign: A regular expression that a text in this dialect holds.
        known: What to say of such a text.
        fits: Why JSON data is in this dialect; None where it is not.
        references, note, rows: For the list of dialects, as in data/wrappers.toml.
    """

    name: str
    title: str
    example: str
    read: Callable[[str, Limits], RawPlan]
    write: Callable[[Plan], str] | None = None
    read_data: Callable[[Any, Limits, Places | None], RawPlan] | None = None
    read_plain: Callable[[list[dict[str, Any]], Limits], RawPlan] | None = None
    read_framed: Callable[[str, Limits], tuple[RawPlan, list[Span]]] | None = None
    typed: bool = True
    reference: Callable[[str, Limits], RawPlan] | None = None
    answers: bool = False
    sign: str = ""
    known: str = ""
    fits: Callable[[Data], str | None] | None = None
    references: str = ""
    note: str = ""
    rows: tuple[int, ...] = ()


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
        locations = Places(parse_located(text, name))
        return read_values(locations.values, limits, text, locations)

    return reference
