"""Gold as the Berkeley Function Calling Leaderboard writes it: of each argument all values that are right.

``{"f": {"a": [1, 2], "b": ["x", ""]}}`` is a call of f, in which a is 1 or 2, and b is "x" or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any

from planner_eval.base.errors import ParseError
from planner_eval.base.named import NamedTuple

FIELDS = ("ground_truth", "possible_answer")
"""The fields that such gold stands in."""

SAID = (
    "each argument in {!r} is a list: read as values of which each is right, as BFCL writes them, and an "
    "empty text says that it may be left out; a field of another name is read as it stands"
)
"""What the user is told of such a file."""
_MOST = 256
"""How many values one argument may have that are written as lists inside of an object."""


def lists_values(records: Iterable[Mapping[str, Any]], field: str) -> bool:
    """Whether every record of a file has such gold, and one at least an argument.

    >>> lists_values([{"ground_truth": [{"f": {"a": [1]}}]}, {"ground_truth": []}], "ground_truth")
    True
    >>> lists_values([{"ground_truth": [{"f": {"a": 1}}]}], "ground_truth")
    False
    """
    some = False
    for record in records:
        found = record.get(field)
        for call in found if isinstance(found, list) else [found] if found is not None else ():
            if not isinstance(call, dict) or len(call) != 1:
                return False
            (given,) = call.values()
            if not isinstance(given, dict) or not all(isinstance(value, list) for value in given.values()):
                return False
            some = some or any(given.values())
    return some


class Spelled(NamedTuple):
    """Calls with one right value each, and what else is right, as fields of a gold record."""

    calls: list[dict[str, Any]]
    fields: dict[str, Any]


def spelled(value: Any) -> Spelled:
    """The calls with one right value each, and what else is right, as the fields of a gold record.

    Raises:
        ParseError: an argument's nested lists stand for too many values.

    >>> spelled([{"f": {"a": [1, 2], "b": ["x", ""]}}])[0]
    [{'name': 'f', 'arguments': {'a': 1, 'b': 'x'}}]
    >>> spelled([{"f": {"a": [1, 2], "b": ["x", ""]}}])[1]
    {'accepted': {'c1': {'a': [2], 'b': ['']}}, 'omittable': {'c1': ['b']}}
    """
    calls: list[dict[str, Any]] = []
    accepted: dict[str, dict[str, list[Any]]] = {}
    omittable: dict[str, list[str]] = {}
    for number, call in enumerate(value if isinstance(value, list) else [value], 1):
        ((name, arguments),) = call.items()
        chosen = {}
        for key, values in arguments.items():
            every = _every(values, f"{name}: {key}") or [[]]
            first, *others = sorted(every, key=lambda one: one == "")
            chosen[key] = first
            if others:
                accepted.setdefault(f"c{number}", {})[key] = others
            if "" in values:
                omittable.setdefault(f"c{number}", []).append(key)
        calls.append({"name": name, "arguments": chosen})
    return Spelled(calls, {"accepted": accepted, "omittable": omittable})


def _every(values: list[Any], where: str) -> list[Any]:
    """The values that a list of accepted ones stands for, those inside of objects spelled out."""
    found = [one for value in values for one in islice(_options(value), _MOST + 1)]
    if len(found) > _MOST:
        raise ParseError(f"{where} accepts more than {_MOST} values", code="parse.limit")
    return found


def _options(value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and value and all(isinstance(one, list) and one for one in value.values()):
        for chosen in product(*(_members(value[key]) for key in value)):
            yield {key: one[0] for key, one in zip(value, chosen, strict=True) if one}
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        yield from map(list, product(*(list(islice(_options(one), _MOST + 1)) for one in value)))
    else:
        yield value


def _members(values: list[Any]) -> list[tuple[Any, ...]]:
    """What may stand under a key: a value, or nothing where the key may be left out."""
    found = [(one,) for value in values if value != "" for one in islice(_options(value), _MOST + 1)]
    return [*found, ()] if "" in values else found
