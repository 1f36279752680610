"""CallNavi's three verdicts on one prediction with parameters, and its verdict on a route.

Every comparison is Python's, as in the published code: ``1 == 1.0 == True``, ``"1" != 1``.

Source: CallNavi's two judging scripts; paper sections 5.1 and 6.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner_eval.base.quick import quick

PLACEHOLDER = "$$$"
"""What stands in a gold plan for a value that only an earlier call or the user can give."""

_ANYTHING: tuple[Any, ...] = (PLACEHOLDER, {})
_STRAY = str.maketrans("", "", "'\"[]\n `\\")


@quick
class Verdict:
    """How far one prediction agrees with its gold plan; each flag implies the one before it.

    Args:
        order: The same API names in the same order, and as many parameter objects.
        structure: Besides, each gold parameter name occurs in its call.
        ast: Besides, each gold value is predicted, or is a wildcard.
        error: The exception that the published code ends with on this prediction; then no flag is set.
    """

    order: bool = False
    structure: bool = False
    ast: bool = False
    error: str | None = None


NO_ORDER, NO_STRUCTURE = Verdict(), Verdict(True)
NO_VALUES, ALL_RIGHT = Verdict(True, True), Verdict(True, True, True)


def judge_parameters(gold: Mapping[str, Any], predicted: Any, *, sort_keys: bool = False) -> Verdict:
    """The verdicts on a washed prediction.

    Predicted parameters that gold does not have are never looked at, and a wildcard is only a gold
    value that is the placeholder or ``{}`` as a whole.

    Args:
        gold: A gold record: ``{"API": [name, …], "parameters": [{key: value}, …]}``.
        predicted: Any data.
        sort_keys: Visit the keys of a gold call alphabetically, as after the YAML washing.

    >>> gold = {"API": ["pay"], "parameters": [{"sum": "5", "to": "$$$"}]}
    >>> judge_parameters(gold, {"API": ["pay"], "parameters": [{"sum": "5", "to": "Ann", "x": 1}]})
    Verdict(order=True, structure=True, ast=True, error=None)
    >>> judge_parameters({"API": ["list"], "parameters": [{}]}, {"API": ["list"], "parameters": {"0": 1}}).ast
    True
    >>> judge_parameters(gold, None).error
    "TypeError: argument of type 'NoneType' is not iterable"
    """
    try:
        return _judge(gold, predicted, sort_keys)
    except (TypeError, KeyError, IndexError, RecursionError) as problem:
        return Verdict(error=f"{type(problem).__name__}: {problem}")


def _judge(gold: Mapping[str, Any], predicted: Any, sort_keys: bool) -> Verdict:
    if predicted == {} or not (_holds(predicted, "API") and _holds(predicted, "parameters")):
        return NO_ORDER
    if predicted["API"] != gold["API"]:
        return NO_ORDER
    entries, gold_entries = predicted["parameters"], gold["parameters"]
    if len(entries) != len(gold_entries):
        return NO_ORDER
    structure = values = True
    for position, keys in enumerate(gold_entries):
        for key in sorted(keys) if sort_keys else keys:
            entry = entries[position]  # looked up for each key, as published: where gold has none, never
            if not (key in entry if type(entry) is dict else _holds(entry, key)):
                structure = False
                break
            value = keys[key]
            if value not in _ANYTHING and entry[key] != value:
                values = False
    return (ALL_RIGHT if values else NO_VALUES) if structure else NO_STRUCTURE


def _holds(where: Any, key: str) -> bool:
    """``key in where`` with one wording of the exception in all versions of Python."""
    if isinstance(where, (dict, list, str)):
        return key in where
    raise TypeError(f"argument of type '{type(where).__name__}' is not iterable")


def clean_route(text: str) -> str:
    """The text without quotes, square brackets, blanks, line ends, backquotes and backslashes; lower case.

    >>> clean_route("['Pay', 'listCards']")
    'pay,listcards'
    """
    return text.translate(_STRAY).lower()


def judge_route(gold: Mapping[str, Any], text: str) -> bool:
    """Whether the text names the gold plan's APIs in their order, once both are cleaned.

    >>> judge_route({"API": ["pay", "listCards"]}, '```["pay", "listcards"]```')
    True
    """
    return clean_route(text) == clean_route(str(gold["API"]))
