"""Calls compared with the accepted values of each argument, as BFCL's code compares them.

A check answers None where nothing is wrong, else the published kind of error and its messages. What the
published code raises is raised here too, in the same words.

Source: package bfcl-eval 2026.3.23, ``eval_checker/ast_eval/ast_checker.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from planner_eval.benchmarks.bfcl.typed_values import (
    JAVA_TYPES,
    JAVASCRIPT_TYPES,
    java_value,
    javascript_value,
)


# ----------------------------------------------------------------------
# What the checkers say of an answer.
@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right, and what is wrong with it in the published words.

    Args:
        valid: The answer counts as right.
        error_type: The published kind of error; None where the answer is right.
        error: The published message as its code writes it: text, or a list's items; () where it is right.
        details: What the published code writes beside the message, e.g. differing states.

    >>> Verdict(False, "multi_turn:force_terminated", ("Model was …",)).valid
    False
    """

    valid: bool
    error_type: str | None = None
    error: str | tuple[Any, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


VALID = Verdict(True)
"""Nothing is wrong."""
RAISED = "raised"
"""The kind of error of a record on which the published code raises, which ends its evaluation."""

PYTHON_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
"""What a value of a declared type has to be."""
_DROPPED = str.maketrans("", "", " ,./-_*^")


class CallError(NamedTuple):
    """What is wrong with a call.

    Args:
        kind: The published kind of error.
        messages: The published messages; of parallel calls the first is text, others are objects.
    """

    kind: str
    messages: list[Any]


@lru_cache(1 << 14)
def standard_text(text: str) -> str:
    """A text as texts are compared: without blanks and some signs, in small letters, with double quotes.

    >>> standard_text("April 1, '24")
    'april1"24'
    """
    return text.translate(_DROPPED).lower().replace("'", '"')


def _standard(value: Any) -> Any:
    return standard_text(value) if type(value) is str else value


# ----------------------------------------------------------------------
# All calls of an answer.
class Check(NamedTuple):
    """How calls are checked.

    Args:
        language: ``"python"``, ``"java"`` or ``"javascript"``.
        underscores: Names of tools are written with ``_`` for ``.``, as endpoints take them.
    """

    language: str = "python"
    underscores: bool = False


def check_calls(
    tools: Sequence[Mapping[str, Any]], calls: Sequence[Any], truth: Sequence[Any], category: str, how: Check
) -> Verdict:
    """Check the calls of an answer.

    Args:
        tools: The descriptions of the tools on offer.
        calls: Each ``{name: arguments}``.
        truth: The right calls, with the accepted values of each argument.
        category: The category of the question; what it is called decides how calls are matched.
        how: How names and values are written.

    Raises:
        Exception: what the published code raises.

    >>> tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    >>> check_calls([tool], [{"f": {"a": 1}}], [{"f": {"a": [1]}}], "simple_python", Check()).valid
    True
    """
    if "parallel" in category:
        error = _check_unordered(tools, calls, truth, how)
    elif "multiple" in category:
        if len(calls) != len(truth):
            error = CallError("multiple_function_checker:wrong_count", ["Wrong number of functions."])
        else:
            error = check_call(_find_tool(tools, _name_of(truth[0])), calls[0], truth[0], how)
    elif len(calls) != 1:
        error = CallError("simple_function_checker:wrong_count", ["Wrong number of functions."])
    else:
        error = check_call(tools[0], calls[0], truth[0], how)
    return Verdict(False, error.kind, tuple(error.messages)) if error else VALID


def _name_of(call: Mapping[str, Any]) -> str:
    return list(call)[0]  # noqa: RUF015 - raises as published where there is none


def _find_tool(tools: Any, name: str) -> Any:
    if type(tools) is not list:
        return tools
    return next((tool for tool in tools if tool["name"] == name), None)


def _check_unordered(
    tools: Sequence[Mapping[str, Any]], calls: Sequence[Any], truth: Sequence[Any], how: Check
) -> CallError | None:
    """Parallel calls in any order: each right call takes the first call left that fits it."""
    if len(calls) != len(truth):
        return CallError("parallel_function_checker_no_order:wrong_count", ["Wrong number of functions."])
    left = list(range(len(calls)))
    for position, right in enumerate(truth):
        tool = _find_tool(tools, _name_of(right))
        errors: list[Any] = []
        for index in left:
            error = check_call(tool, calls[index], right, how)
            if error is None:
                left.remove(index)
                break
            errors.append(
                {
                    f"Model Result Index {index}": {
                        "sub_error": error.messages,
                        "sub_error_type": error.kind,
                        "model_output_item": calls[index],
                        "possible_answer_item": right,
                    }
                }
            )
        else:
            summary = (
                f"Could not find a matching function among index {left} of model output for index "
                f"{position} of possible answers."
            )
            return CallError("parallel_function_checker_no_order:cannot_find_match", [summary, *errors])
    return None


# ----------------------------------------------------------------------
# One call.
def check_call(tool: Any, call: Mapping[str, Any], right: Mapping[str, Any], how: Check) -> CallError | None:
    """Check a call against a right one.

    Args:
        tool: The description of the right call's tool.
        call: ``{name: arguments}``.
        right: ``{name: {argument: accepted values}}``.
        how: How names and values are written.

    Raises:
        Exception: what the published code raises.
    """
    accepted = list(right.values())[0]  # noqa: RUF015 - the same
    name = tool["name"]
    details, required = tool["parameters"]["properties"], tool["parameters"]["required"]
    if how.underscores:
        name = name.replace(".", "_")
    if name not in call:
        return CallError(
            "simple_function_checker:wrong_func_name", [f"Function name {name!r} not found in model output."]
        )
    arguments = call[name]
    for key in required:
        if key not in arguments:
            message = f"Missing required parameter: {key!r}."
            return CallError("simple_function_checker:missing_required", [message])
    for key, value in arguments.items():
        if key not in details or key not in accepted:
            message = f"Unexpected parameter: {key!r}."
            return CallError("simple_function_checker:unexpected_param", [message])
        error = _check_argument(key, value, details[key], accepted, how.language)
        if error is not None:
            return error
    for key in accepted:
        if key not in arguments and "" not in accepted[key]:
            message = f"Optional parameter {key!r} not provided and not marked as optional."
            return CallError("simple_function_checker:missing_optional", [message])
    return None


def _check_argument(
    key: str, value: Any, detail: Mapping[str, Any], accepted: Mapping[str, Any], language: str
) -> CallError | None:
    """Check an argument's type, then its value."""
    values, declared = accepted[key], detail["type"]
    expected, inner, value = _typed(key, value, detail, language)
    if isinstance(inner, CallError):
        return inner
    error, is_variable = check_type(key, value, values, declared, expected, inner)
    if error is not None:
        return error
    if not is_variable and expected is dict:
        return check_object(value, values)
    if not is_variable and expected is str:
        return _check_text(key, value, values)
    if not is_variable and expected is list:
        return _check_objects(value, values) if inner is dict else _check_list(key, value, values)
    if value not in values:
        message = f"Invalid value for parameter {key!r}: {value!r}. Expected one of {values}."
        return CallError("value_error:others", [message])
    return None


def _typed(key: str, value: Any, detail: Mapping[str, Any], language: str) -> tuple[type, Any, Any]:
    """What an argument has to be, what its items, or what is wrong with it; and its value to compare."""
    declared, inner = detail["type"], None
    if language == "python":
        expected = PYTHON_TYPES[declared]
        if declared in ("array", "tuple"):
            inner = PYTHON_TYPES[detail["items"]["type"]]
        if declared == "tuple" and type(value) is tuple:
            value = list(value)
        if declared == "float" and type(value) is int:
            value = float(value)
    else:
        types, convert, kind = _TYPED[language]
        expected = types[declared]
        if type(value) is not str:
            return expected, CallError(kind, [_type_message(key, "String", value)]), value
        if declared in ("Array", "ArrayList", "array"):
            inner = types[detail["items"]["type"]]
            value = convert(value, declared, detail["items"]["type"])
        else:
            value = convert(value, declared)
    return expected, inner, value


_TYPED: Mapping[str, tuple[Mapping[str, type], Callable[..., Any], str]] = {
    "java": (JAVA_TYPES, java_value, "type_error:java"),
    "javascript": (JAVASCRIPT_TYPES, javascript_value, "type_error:js"),
}


# ----------------------------------------------------------------------
# Types.
def _accepted_type(accepted: Sequence[Any]) -> type | None:
    """The type of the first accepted value that is not the empty text; None without one."""
    return next((type(value) for value in accepted if value != ""), None)


def _type_message(key: str, expected: str, value: Any) -> str:
    return (
        f"Incorrect type for parameter {key!r}. Expected type {expected}, got {type(value).__name__}. "
        f"Parameter value: {value!r}."
    )


def check_type(
    key: str, value: Any, accepted: Sequence[Any], declared: str, expected: type, inner: type | None
) -> tuple[CallError | None, bool]:
    """Check an argument's type, one level deep; the type of accepted values is right too.

    Args:
        key: The argument.
        value: Its value.
        accepted: The accepted values.
        declared: The type as declared.
        expected: What it means.
        inner: What the items of a list have to be.

    Returns:
        What is wrong, and whether a variable is meant: accepted values are of another type than declared.
    """
    messages: list[Any] = []
    accepted_type, items = _accepted_type(accepted), value
    if type(value) is expected:
        is_variable = accepted_type is not None and accepted_type is not expected
        if inner is None or any(_fits_items(items, alternative, inner) for alternative in accepted):
            return None, is_variable
        messages.append(
            f"Nested type checking failed for parameter {key!r}. Expected outer type {declared} with inner "
            f"type {inner}. Parameter value: {value!r}."
        )
        if accepted_type is type(value):
            return CallError("type_error:nested", messages), True
    elif accepted_type is not None and type(value) is accepted_type:
        return None, True
    messages.append(_type_message(key, declared, value))
    return CallError("type_error:simple", messages), False


def _fits_items(value: Sequence[Any], alternative: Any, inner: type) -> bool:
    """Whether the items of a list have the declared type, or that of an accepted list's items."""
    if type(alternative) is not list:
        return True
    item_type = _accepted_type(alternative)
    return all(type(item) is inner or type(item) is item_type for item in value)


# ----------------------------------------------------------------------
# Values.


def _check_text(key: str, value: str, accepted: Sequence[Any]) -> CallError | None:
    standard = standard_text(value)
    if any(standard == standard_text(other) for other in accepted if type(other) is str):
        return None
    message = f"Invalid value for parameter {key!r}: {value!r}. Expected one of {accepted}. Case insensitive."
    return CallError("value_error:string", [message])


def _check_list(key: str, value: Sequence[Any], accepted: Sequence[Any]) -> CallError | None:
    standard = [_standard(item) for item in value]
    alternatives = [
        [_standard(alternative[index]) for index in range(len(alternative))] for alternative in accepted
    ]
    if standard in alternatives:
        return None
    message = f"Invalid value for parameter {key!r}: {value!r}. Expected one of {accepted}."
    return CallError("value_error:list/tuple", [message])


def check_object(value: Mapping[Any, Any], accepted: Sequence[Any]) -> CallError | None:
    """Check an object against accepted ones; what is wrong is told of the last of them."""
    error: CallError | None = CallError("dict_checker:unclear", [])
    for alternative in accepted:
        if alternative == "":
            continue
        error = _check_members(value, alternative)
        if error is None:
            return None
    return error


def _check_members(value: Mapping[Any, Any], alternative: Any) -> CallError | None:
    """Check an object's members: the first wrong one, and the first that is missing."""
    kind, messages = "", []
    for key, member in value.items():
        if key not in alternative:
            kind = "value_error:dict_key"
            messages.append(f"Unexpected dict key parameter: '{key}'.")
            break
        values = alternative[key]
        standard = [_standard(values[index]) for index in range(len(values))]
        if _standard(member) not in standard:
            kind = "value_error:dict_value"
            messages.append(f"Invalid value for parameter {key!r}: {member!r}. Expected one of {standard}.")
            break
    for key, values in alternative.items():
        if key not in value and "" not in values:
            kind = "value_error:dict_key"
            messages.append(f"Missing dict key parameter: '{key}'.")
            break
    return CallError(kind, messages) if messages else None


def _check_objects(value: Sequence[Any], accepted: Sequence[Any]) -> CallError | None:
    """Check a list of objects, in order."""
    error: CallError | None = CallError("list_dict_checker:unclear", [])
    for alternative in accepted:
        if len(value) != len(alternative):
            error = CallError("value_error:list_dict_count", ["Wrong number of dictionaries in the list."])
            continue
        error = None
        for index, item in enumerate(value):
            error = check_object(item, [alternative[index]])
            if error is not None:
                break
        if error is None:
            return None
    return error
