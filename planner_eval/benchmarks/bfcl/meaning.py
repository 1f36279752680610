"""Whether a call means a right one, by BFCL's documentation and its languages, and why that is not seen.

Each argument is compared with its accepted values as they are meant: what the published check takes for wrong
although it says the same is right here for a reason, and what it takes for right by accident is wrong.

Source: the leaderboard's pages on AST evaluation and possible answers (optional arguments, defaults, integers
for floats, texts' normal form); the Java Language Specification, section 5.1.2, for literals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from planner_eval.benchmarks.bfcl.call_check import Check, standard_text
from planner_eval.benchmarks.bfcl.typed_values import java_value, javascript_value

DEFAULT = "an optional argument has its documented default, or is left out where that is accepted"
INTEGER = "an integer is in place of a float inside a list or object"
WIDENED = "an integer literal that Java converts to the declared type"
QUOTED = "a string has extra quotation marks around it"
NESTED_TEXT = "a text inside a list or object differs only in case, blanks or punctuation"
NO_VALUE = "gold accepts no value, and the argument is left out"
ASSIGNED = "parallel calls match in another order than the first one tried"
DOTTED = "a tool is called by its documented name"
EMBEDDED = "the calls are in a code fence or within prose"
NUMBERS = "texts that are different numbers are the same without their punctuation"
TRUTH_VALUES = "true or false stands for 1 or 0"
NOT_OFFERED = "the tool that is called is not offered"

Reasons: TypeAlias = frozenset[str]
"""Why the published check sees it otherwise; none where it does not."""
SAME: Reasons = frozenset()


class Strictness(NamedTuple):
    """What the published check takes for right by accident.

    Args:
        numbers: Texts of different numbers are different.
        truth_values: True is not 1.
    """

    numbers: bool = True
    truth_values: bool = True


STRICT = Strictness()


# ----------------------------------------------------------------------
# Calls.
def fit_calls(
    tools: Sequence[Mapping[str, Any]],
    calls: Sequence[Any],
    truth: Sequence[Any],
    category: str,
    how: Check,
    strict: Strictness,
) -> Reasons | None:
    """Whether calls mean the right ones, in any order; None where they do not.

    Args:
        tools: The tools on offer.
        calls: Each ``{name: arguments}``.
        truth: The right calls, with the accepted values of each argument.
        category: The category of the question.
        how: How names and values are written.
        strict: What is not taken for the same.
    """
    if len(calls) != len(truth):
        return None
    by_name = {tool["name"]: tool for tool in tools}
    fits: list[list[Reasons | None]] = []
    for right in truth:
        name = next(iter(right))
        tool = by_name.get(name) or (tools[0] if len(tools) == 1 else None)
        fits.append([fit_call(tool, call, right, how, strict) if tool else None for call in calls])
    if "parallel" not in category:
        return fits[0][0] if fits else SAME
    chosen = _assign(fits)
    if chosen is None:
        return None
    reasons = SAME.union(*(fits[row][column] or SAME for row, column in enumerate(chosen)))
    return reasons if reasons or chosen == _assign_greedily(fits) else frozenset({ASSIGNED})


def _assign(fits: Sequence[Sequence[Any]]) -> list[int] | None:
    """A call for each right one, by augmenting paths; None where there are not enough."""
    owner: dict[int, int] = {}

    def assign_row(row: int, seen: set[int]) -> bool:
        for column, reasons in enumerate(fits[row]):
            if reasons is None or column in seen:
                continue
            seen.add(column)
            if column not in owner or assign_row(owner[column], seen):
                owner[column] = row
                return True
        return False

    if not all(assign_row(row, set()) for row in range(len(fits))):
        return None
    chosen = [0] * len(fits)
    for column, row in owner.items():
        chosen[row] = column
    return chosen


def _assign_greedily(fits: Sequence[Sequence[Any]]) -> list[int] | None:
    """Each right call with the first call left that fits, as published."""
    left = list(range(len(fits)))
    chosen = []
    for row in fits:
        column = next((column for column in left if row[column] is not None), None)
        if column is None:
            return None
        left.remove(column)
        chosen.append(column)
    return chosen


def fit_call(
    tool: Mapping[str, Any], call: Any, right: Mapping[str, Any], how: Check, strict: Strictness = STRICT
) -> Reasons | None:
    """Whether a call means a right one; see :func:`fit_calls`.

    >>> numbers = {"type": "array", "items": {"type": "float"}}
    >>> tool = {"name": "f", "parameters": {"properties": {"a": numbers}, "required": ["a"]}}
    >>> fit_call(tool, {"f": {"a": [1, 2]}}, {"f": {"a": [[1.0, 2.0]]}}, Check()) == {INTEGER}
    True
    """
    ((name, arguments),) = call.items()
    documented = tool["name"]
    written = documented.replace(".", "_") if how.underscores else documented
    if name != written and name not in (documented, documented.replace(".", "_")):
        return None
    reasons = SAME if name == written else frozenset({DOTTED})
    (accepted,) = right.values()
    details = tool["parameters"]["properties"]
    if any(key not in arguments for key in tool["parameters"]["required"]):
        return None
    for key, value in arguments.items():
        if key not in details:
            return None
        found = _fit_argument(value, accepted.get(key, [""]), details[key], how.language, strict)
        if found is None:
            return None
        reasons |= found
    for key, values in accepted.items():
        if key not in arguments and "" not in values:
            detail = details.get(key, {})
            if "default" not in detail or _fit(detail["default"], values, detail, strict) is None:
                return None
            reasons |= {DEFAULT}
    return reasons


# ----------------------------------------------------------------------
# Values.
def _fit_argument(
    value: Any, accepted: Sequence[Any], detail: Mapping[str, Any], language: str, strict: Strictness
) -> Reasons | None:
    if language == "python":
        reasons = _fit(value, accepted, detail, strict)
    else:
        reasons = _fit_written(value, accepted, detail, language, strict)
    if reasons is not None:
        return reasons
    if not accepted and value in ([], {}, ""):
        return frozenset({NO_VALUE})
    default = detail.get("default", _NOTHING)
    if "" in accepted and default is not _NOTHING and type(value) is type(default) and value == default:
        return frozenset({DEFAULT})
    return None


_NOTHING = object()


def _fit_written(
    value: Any, accepted: Sequence[Any], detail: Mapping[str, Any], language: str, strict: Strictness
) -> Reasons | None:
    """A value written in Java or JavaScript."""
    if not isinstance(value, str):
        return None
    declared, items = detail["type"], (detail.get("items") or {}).get("type")
    lists = declared in ("Array", "ArrayList", "array")
    convert = java_value if language == "java" else javascript_value
    try:
        typed = convert(value, declared, items) if lists else convert(value, declared)
    except Exception:
        return None
    reasons = _fit(typed, accepted, detail, strict)
    if reasons is not None:
        return reasons
    if language == "java" and declared in ("long", "float") and re.fullmatch(r"-?\d+", value):
        number = int(value) if declared == "long" else float(value)
        return None if _fit(number, accepted, detail, strict) is None else frozenset({WIDENED})
    bare = [_bare(item) for item in typed] if isinstance(typed, list) else _bare(typed)
    if bare != typed and _fit(bare, accepted, detail, strict) is not None:
        return frozenset({QUOTED})
    return None


def _bare(value: Any) -> Any:
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _fit(
    value: Any, accepted: Sequence[Any], detail: Mapping[str, Any], strict: Strictness, depth: int = 0
) -> Reasons | None:
    """Whether a value means one of the accepted ones; the fewest reasons of those that do."""
    item_reasons = [
        reasons
        for alternative in accepted
        if alternative != "" or value == ""
        if (reasons := _fit_value(value, alternative, detail.get("type"), strict, depth)) is not None
    ]
    return min(item_reasons, key=len) if item_reasons else None


def _fit_value(value: Any, right: Any, declared: Any, strict: Strictness, depth: int) -> Reasons | None:
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool) or isinstance(right, bool):
        same = value is right or (not strict.truth_values and depth > 0 and value == right)
        return SAME if same else None
    if isinstance(value, str) and isinstance(right, str):
        return _fit_text(value, right, strict, depth)
    if isinstance(value, (int, float)) and isinstance(right, (int, float)):
        return _fit_number(value, right, declared, depth)
    if isinstance(value, list) and isinstance(right, list):
        if len(value) != len(right):
            return None
        return _join(_fit_value(a, b, None, strict, depth + 1) for a, b in zip(value, right, strict=True))
    if isinstance(value, dict) and isinstance(right, dict):
        return _fit_object(value, right, strict, depth)
    return SAME if value is None and right is None else None


def _fit_text(value: str, right: str, strict: Strictness, depth: int) -> Reasons | None:
    if standard_text(value) != standard_text(right):
        return None
    numbers = [re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", text) for text in (value, right)]
    different = all(numbers) and len({float(matched[1]) for matched in numbers if matched}) == 2
    if strict.numbers and different:
        return None
    return frozenset({NESTED_TEXT}) if depth > 1 and value != right else SAME


def _fit_number(value: float, right: float, declared: Any, depth: int) -> Reasons | None:
    if value != right:
        return None
    if type(value) is type(right) or (depth == 0 and declared == "float"):
        return SAME
    if isinstance(value, int):
        return frozenset({INTEGER}) if depth else None
    return None if depth == 0 and declared == "integer" else SAME


def _fit_object(
    value: Mapping[Any, Any], right: Mapping[str, Any], strict: Strictness, depth: int
) -> Reasons | None:
    """An object whose members have accepted values, as gold gives them; deeper ones stand as they are."""
    if not all(isinstance(values, list) for values in right.values()):
        right = {key: [values] for key, values in right.items()}
    if any(key not in right for key in value) or any(
        key not in value and "" not in values for key, values in right.items()
    ):
        return None
    return _join(_fit(member, right[key], {}, strict, depth + 1) for key, member in value.items())


def _join(reasons_of_items: Any) -> Reasons | None:
    joined = SAME
    for reasons in reasons_of_items:
        if reasons is None:
            return None
        joined |= reasons
    return joined
