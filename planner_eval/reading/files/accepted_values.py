"""Gold as the Berkeley Function Calling Leaderboard writes it: of each argument all values that are right.

``{"f": {"a": [1, 2], "b": ["x", ""]}}`` is a call of f, in which a is 1 or 2, and b is "x" or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.named_tuple import NamedTuple

ACCEPTED_VALUE_FIELDS = ("ground_truth", "possible_answer")
"""The fields that such gold stands in."""

FORM_NOTE = (
    "each argument in {field!r} is a list: read as values of which each is right, as BFCL writes them, and "
    "an empty text says that it may be left out; a field of another name is read as it stands"
)
"""What the user is told of a file of such gold."""
_MAX_OPTIONS = 256
"""How many values one argument may have that are written as lists inside of an object."""


class AcceptedValuesForm(NamedTuple):
    """Whether a file's gold lists accepted values, as most of its records show, and which record breaks that.

    Args:
        lists: Most records that have arguments give a list for each of them.
        listing: How many do.
        broken: How many do not.
        first: The position of the first of these among the records.
    """

    lists: bool = False
    listing: int = 0
    broken: int = 0
    first: int | None = None

    def notes(self, field: str) -> Iterator[str]:
        """What the user is told of it.

        Args:
            field: The field of the gold plans.
        """
        if self.lists:
            yield FORM_NOTE.format(field=field)
        if self.lists and self.first is not None:
            verb = "has" if self.broken == 1 else "have"
            yield (
                f"{self.broken:,} of {self.listing + self.broken:,} records {verb} values in {field!r} that "
                f"are no lists (first: record {self.first + 1}): such a value is the only right one"
            )
        elif self.listing and self.broken:
            yield (
                f"{self.listing:,} of {self.listing + self.broken:,} records give a list for each argument "
                f"in {field!r}, as BFCL lists accepted values, the others do not: all are read as they stand"
            )


def detect_form(records: Iterable[tuple[int, Mapping[str, Any]]], field: str) -> AcceptedValuesForm:
    """Whether most records of a file that have arguments list the accepted values of each.

    Args:
        records: The file's records, each with its position.
        field: The field of the gold plans.

    >>> detect_form(enumerate([{"gold": [{"f": {"a": [1]}}]}, {"gold": []}]), "gold").lists
    True
    >>> detect_form(enumerate([{"gold": {"f": {"a": [1]}}}] * 2 + [{"gold": {"f": {"a": 1}}}]), "gold")
    AcceptedValuesForm(lists=True, listing=2, broken=1, first=2)
    """
    listing = broken = 0
    first = None
    for position, record in records:
        calls = calls_by_tool(record.get(field))
        values = [value for _, arguments in calls or () for value in arguments.values()]
        if calls is not None and all(isinstance(value, list) for value in values):
            listing += bool(values)
        else:
            broken += 1
            first = position if first is None else first
    return AcceptedValuesForm(listing > broken, listing, broken, first)


def calls_by_tool(value: Any) -> list[tuple[str, dict[str, Any]]] | None:
    """The calls of a plan that are objects from a tool's name to its arguments; None where one is not.

    >>> calls_by_tool([{"f": {"a": [1]}}])
    [('f', {'a': [1]})]
    """
    calls = []
    for call in value if isinstance(value, list) else [] if value is None else [value]:
        if not isinstance(call, dict) or len(call) != 1:
            return None
        ((name, arguments),) = call.items()
        if not isinstance(arguments, dict):
            return None
        calls.append((name, arguments))
    return calls


class ExpandedCalls(NamedTuple):
    """Calls with one right value each, and what else is right, as fields of a gold record."""

    calls: list[dict[str, Any]]
    fields: dict[str, Any]


def expand_calls(by_tool: Iterable[tuple[str, dict[str, Any]]]) -> ExpandedCalls:
    """The calls with one right value each, and what else is right, as the fields of a gold record.

    Args:
        by_tool: For each call its tool, and from argument to the list of right values; a value that is no
            list is the only right one.

    Raises:
        ParseError: an argument's nested lists stand for too many values.

    >>> expand_calls([("f", {"a": [1, 2], "b": ["x", ""], "c": 3})])[0]
    [{'name': 'f', 'arguments': {'a': 1, 'b': 'x', 'c': 3}}]
    >>> expand_calls([("f", {"a": [1, 2], "b": ["x", ""]})])[1]
    {'accepted': {'c1': {'a': [2], 'b': ['']}}, 'omittable': {'c1': ['b']}}
    """
    calls: list[dict[str, Any]] = []
    accepted: dict[str, dict[str, list[Any]]] = {}
    omittable: dict[str, list[str]] = {}
    for number, (name, arguments) in enumerate(by_tool, 1):
        chosen = {}
        for key, value in arguments.items():
            values = value if isinstance(value, list) else [value]
            all_values = _expand_values(values, f"{name}: {key}") or [[]]
            first, *alternatives = sorted(all_values, key=lambda v: v == "")
            chosen[key] = first
            if alternatives:
                accepted.setdefault(f"c{number}", {})[key] = alternatives
            if "" in values:
                omittable.setdefault(f"c{number}", []).append(key)
        calls.append({"name": name, "arguments": chosen})
    return ExpandedCalls(calls, {"accepted": accepted, "omittable": omittable})


def _expand_values(values: list[Any], where: str) -> list[Any]:
    """The values that a list of accepted ones stands for, those inside of objects spelled out."""
    options = [option for value in values for option in islice(_expand_value(value), _MAX_OPTIONS + 1)]
    if len(options) > _MAX_OPTIONS:
        raise ParseError(f"{where} accepts more than {_MAX_OPTIONS} values", code="parse.limit")
    return options


def _expand_value(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and value and all(isinstance(item, list) and item for item in value.values()):
        for chosen in product(*(_member_options(value[key]) for key in value)):
            yield {key: member[0] for key, member in zip(value, chosen, strict=True) if member}
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from map(
            list, product(*(list(islice(_expand_value(item), _MAX_OPTIONS + 1)) for item in value))
        )
    else:
        yield value


def _member_options(values: list[Any]) -> list[tuple[Any, ...]]:
    """What may stand under a key: a value, or nothing where the key may be left out."""
    members = [
        (option,)
        for value in values
        if value != ""
        for option in islice(_expand_value(value), _MAX_OPTIONS + 1)
    ]
    return [*members, ()] if "" in values else members
