"""Which values are equal, and of the declared type, as the paper means it.

Source: ComplexFuncBench paper, section 3.1: format checking, rule-based matching. Values are equal under the
policy ``complexfuncbench``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import CatalogError
from planner_eval.benchmarks.complexfuncbench.calls import ErrorRecord, FunctionCall, error
from planner_eval.benchmarks.complexfuncbench.matching import Fault, Functions, check_format
from planner_eval.catalogs.schema import type_of
from planner_eval.catalogs.values import problem
from planner_eval.plan.canonical import Key, value_key
from planner_eval.policy.file import load_policy

if TYPE_CHECKING:
    from planner_eval.policy import Policy


@cache
def _policy() -> Policy:
    return load_policy("complexfuncbench")


def argument_key(function: str, parameter: str, value: Any) -> Key:
    """What stands for the value of a parameter: equal keys, equal values.

    >>> argument_key("f", "n", 24.0) == argument_key("f", "n", 24) != argument_key("f", "n", "24")
    True
    """
    rule = _policy().rule(None, function, parameter)
    return value_key(value if rule is None else rule.form.of(value), ())


def call_key(call: FunctionCall) -> Key:
    """What stands for a call: equal keys, identical calls."""
    name, arguments = call["name"], call["arguments"]
    return name, frozenset((key, argument_key(name, key, value)) for key, value in arguments.items())


def difference(prediction: FunctionCall, gold: FunctionCall) -> ErrorRecord | None:
    """The first difference of two calls of one function; None where they are identical.

    >>> gold = {"name": "f", "arguments": {"categories_filter": "a,b", "n": 1}}
    >>> difference({"name": "f", "arguments": {"categories_filter": "b, a", "n": True}}, gold)["content"]
    'Parameter n value do not equal to golden.'
    """
    name, arguments, expected = gold["name"], prediction["arguments"], gold["arguments"]
    for key, value in expected.items():
        if key not in arguments:
            return error("param_missing", f"Missing parameter {key} in prediction.")
        if argument_key(name, key, arguments[key]) != argument_key(name, key, value):
            return error("value_error", f"Parameter {key} value do not equal to golden.")
    for key in arguments:
        if key not in expected:
            return error("param_hallucination", f"Parameter {key} is hallucinated.")
    return None


def find_fault(call: FunctionCall, functions: Functions) -> Fault | None:
    """Why a call is malformed; every declared type counts, and a truth value is no number.

    Args:
        call: The predicted call.
        functions: The sample's functions by name.

    >>> functions = {"f": {"parameters": {"properties": {"n": {"type": "integer"}}}}}
    >>> find_fault({"name": "f", "arguments": {"n": 1.0}}, functions)
    >>> find_fault({"name": "f", "arguments": {"n": "1"}}, functions).text
    "Parameter n of function f: expected integer, found string '1'"
    """
    fault = check_format(call, functions)
    if fault is not None:
        return fault
    name = call["name"]
    properties = (functions[name].get("parameters") or {}).get("properties") or {}
    for key, value in call["arguments"].items():
        try:
            code, message = problem(value, type_of(properties[key])) or ("", "")
        except CatalogError:  # what is no schema declares no type
            continue
        if code == "check.wrong_type":
            return Fault("value_error", f"Parameter {key} of function {name}: {message}")
    return None
