"""Is this call well formed, does it do what that gold call does, and which values are equal.

Source: ComplexFuncBench paper, section 3.1, and the published code where it does more or less.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from planner_eval.base.errors import CatalogError, InputError
from planner_eval.benchmarks.complexfuncbench.data import (
    EMPTY_OBJECT,
    Api,
    ErrorRecord,
    FunctionCall,
    OfficialFailure,
    compared_response,
    error_record,
)
from planner_eval.catalogs.json_schema.types import type_of
from planner_eval.catalogs.value_errors import find_problem
from planner_eval.comparison.policy.file import load_policy
from planner_eval.plan.canonical import Key, value_key

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planner_eval.comparison.policy.policy import Policy


# ----------------------------------------------------------------------
# Is this call well formed, and does it do what that gold call does? One small function a question.
FILTER_PARAMETER = "categories_filter"

CallPredicate: TypeAlias = Callable[[FunctionCall, FunctionCall], bool]
"""Model-based matching: does the predicted call mean the same as the gold call?"""

Functions: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The sample's functions by name, as released."""

_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "a string"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "a boolean"),
    "array": (list, "an array"),
}
"""The declared types that are checked; ``integer`` and ``object`` are not, and a bool is a number."""


def never_matches(prediction: FunctionCall, gold: FunctionCall) -> bool:
    """Model-based matching without a model: no two calls match."""
    return False


@dataclass(frozen=True, slots=True)
class Rules:
    """What a sample's turns are judged with.

    Args:
        functions: The sample's functions by name.
        free: The sample's free calls: key of ``free_key`` → observation.
        api: Answers calls, for response-based matching.
        embedding: Gives the vectors of the mapping.
        checked: Function → the parameters whose values must be equal (the published
            ``exact_match_values.json``); None leaves the value check out, as the paper does.
        same: Model-based matching.
    """

    functions: Functions
    free: Mapping[str, Any]
    api: Api
    embedding: Embedding
    checked: Mapping[str, Sequence[str]] | None = None
    same: CallPredicate = never_matches


def functions_by_name(functions: Sequence[Mapping[str, Any]]) -> Functions:
    """The released function list by name; of two equal names the first counts."""
    by_name: dict[str, Mapping[str, Any]] = {}
    for function in functions:
        by_name.setdefault(function["name"], function)
    return by_name


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call is malformed.

    Args:
        error_type: The paper's type of error.
        text: The words that the model gets back.
    """

    error_type: str
    text: str


def check_format(call: FunctionCall, functions: Functions) -> Fault | None:
    """Why the call is malformed; None where it is well formed.

    Args:
        call: The predicted call.
        functions: The sample's functions by name.

    Returns:
        The first fault found: an unknown function, missing required parameters, undeclared
        parameters, a value of the wrong type. Several names stand in declared or written order (the
        published text prints a Python set, whose order varies from run to run).

    Source: paper, section 3.1 "Format Checking"; the texts are the published code's.

    >>> check_format({"name": "f", "arguments": {}}, {}).text
    'Function f is not defined in the function list.'
    """
    name, arguments = call["name"], call["arguments"]
    if name not in functions:
        return Fault("func_error", f"Function {name} is not defined in the function list.")
    parameters = functions[name].get("parameters") or {}
    required, declared = list(parameters.get("required") or ()), parameters.get("properties") or {}
    missing = [key for key in dict.fromkeys(required) if key not in arguments]
    if missing:
        lack = f"but {list(arguments)} do not provide {_format_set(missing)}"
        return Fault("param_missing", f"Function {name} requires parameters {required}, {lack}")
    unknown = [key for key in arguments if key not in declared]
    if unknown:
        return Fault(
            "param_hallucination", f"Function {name} does not have parameters {_format_set(unknown)}"
        )
    for key, value in arguments.items():
        kind = declared[key].get("type")
        expected, words = _TYPES.get(kind, (object, "")) if isinstance(kind, str) else (object, "")
        if not isinstance(value, expected):
            problem = f"should be {words}, but {type(value)} is provided."
            return Fault("value_error", f"Parameter {key} of function {name} {problem}")
    return None


def _format_set(names: Sequence[str]) -> str:
    return "{" + ", ".join(map(repr, names)) + "}"


def filter_set(value: Any) -> set[str]:
    """A filter's comma-separated items as a set.

    Raises:
        OfficialFailure: the value is no text; the published code raises AttributeError.

    >>> filter_set("a, b") == filter_set("b,a,a")
    True
    """
    if not isinstance(value, str):
        raise OfficialFailure("AttributeError", f"{type(value).__name__!r} object has no attribute 'split'")
    return {item.strip() for item in value.split(",")}


def _is_equal(key: str, predicted: Any, gold: Any) -> bool:
    if key == FILTER_PARAMETER:
        return filter_set(predicted) == filter_set(gold)
    return bool(predicted == gold)


def rule_match(prediction: FunctionCall, gold: FunctionCall) -> bool:
    """Same name, same keys, equal values; ``categories_filter`` compares as a set of items.

    Source: paper, section 3.1 "Rule-based Matching"; the set is the published code's.
    """
    pred_arguments, gold_arguments = prediction["arguments"], gold["arguments"]
    return (
        prediction["name"] == gold["name"]
        and pred_arguments.keys() == gold_arguments.keys()
        and all(_is_equal(key, pred_arguments[key], gold_arguments[key]) for key in gold_arguments)
    )


def value_check(
    prediction: FunctionCall, gold: FunctionCall, checked: Mapping[str, Sequence[str]]
) -> ErrorRecord | None:
    """The published code's veto before any lenient matching; None where it has no objection.

    Only keys of gold are looked at, and of those only the ones listed for the function.

    Raises:
        OfficialFailure: the function is not in `checked`; the published code raises KeyError.

    Source: published code; the paper has no such step.
    """
    name = gold["name"]
    if prediction["name"] != name:
        return error_record("func_error", "Do not call the correct function.")
    if name not in checked:
        raise OfficialFailure("KeyError", repr(name))
    pred_arguments = prediction["arguments"]
    for key, value in gold["arguments"].items():
        if key not in checked[name]:
            continue
        if key not in pred_arguments:
            return error_record("param_missing", f"Missing parameter {key} in prediction.")
        if not _is_equal(key, pred_arguments[key], value):
            return error_record("value_error", f"Parameter {key} value is not correct in prediction.")
    return None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a predicted call is equivalent to a gold call.

    Args:
        how: ``"rule"``, ``"response"`` or ``"model"``; ``""`` where it is not.
        veto: The value check's record, when that decided.
        failed_response: The predicted call's API response was empty; the published code then
            overwrites its list of errors with a text.
    """

    how: str = ""
    veto: ErrorRecord | None = None
    failed_response: bool = False


def response_match(prediction: FunctionCall, gold: FunctionCall, api: Api) -> bool | None:
    """Both calls get the same answer from the API; None where the predicted call's answer is empty.

    Two identical failure bodies match too, as in the published code.

    Source: paper, section 3.1 "Response-based Matching".
    """
    pred_response = compared_response(api, prediction)
    if pred_response == EMPTY_OBJECT:
        return None
    return pred_response is not None and bool(pred_response == compared_response(api, gold))


def judge_equivalence(prediction: FunctionCall, gold: FunctionCall, rules: Rules) -> Verdict:
    """Rule, value check, response, model, in the published code's order; the first that decides counts.

    Raises:
        OfficialFailure: the published code would end its run.
    """
    if rule_match(prediction, gold):
        return Verdict("rule")
    if rules.checked is not None and (veto := value_check(prediction, gold, rules.checked)):
        return Verdict(veto=veto)
    answered = response_match(prediction, gold, rules.api)
    if answered:
        return Verdict("response")
    return Verdict("model" if rules.same(prediction, gold) else "", failed_response=answered is None)


def first_difference(
    prediction: FunctionCall,
    gold: FunctionCall,
    key_of: Callable[[str, str, Any], Any] = lambda function, parameter, value: value,
) -> ErrorRecord | None:
    """What is wrong with a call that matches its gold call in no way; names are not looked at.

    Args:
        prediction: The predicted call.
        gold: The gold call.
        key_of: What stands for the value of a function's parameter: plain equality in the published code (the
            filter too), :func:`argument_key` as the paper means it.

    Source: published code. One pass over gold's keys, then keys that gold lacks.

    >>> gold = {"name": "f", "arguments": {"categories_filter": "a,b", "n": 1}}
    >>> prediction = {"name": "f", "arguments": {"categories_filter": "b, a", "n": True}}
    >>> first_difference(prediction, gold, argument_key)["content"]
    'Parameter n value do not equal to golden.'
    """
    name, pred_arguments, gold_arguments = gold["name"], prediction["arguments"], gold["arguments"]
    for key, value in gold_arguments.items():
        if key not in pred_arguments:
            return error_record("param_missing", f"Missing parameter {key} in prediction.")
        if key_of(name, key, pred_arguments[key]) != key_of(name, key, value):
            return error_record("value_error", f"Parameter {key} value do not equal to golden.")
    for key in pred_arguments:
        if key not in gold_arguments:
            return error_record("param_hallucination", f"Parameter {key} is hallucinated.")
    return None


# ----------------------------------------------------------------------
# Which values are equal, and of the declared type, as the paper means it.
#
# Source: ComplexFuncBench paper, section 3.1: format checking, rule-based matching. Values are equal under
# the policy ``complexfuncbench``.
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
            code, message = find_problem(value, type_of(properties[key])) or ("", "")
        except CatalogError:  # what is no schema declares no type
            continue
        if code == "check.wrong_type":
            return Fault("value_error", f"Parameter {key} of function {name}: {message}")
    return None


# ----------------------------------------------------------------------
# Texts as vectors, and the cheapest assignment of predicted calls to gold calls.
#
# This module is imported where a mapping is needed, for it needs numpy; scipy is loaded only when more than
# one assignment is possible.
class Embedding(Protocol):
    """Anything that turns texts into vectors of length one."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """One row a text; rows have length one, so that a dot product is a cosine.

        Args:
            texts: n texts.

        Returns:
            A matrix of n rows.
        """
        ...


@dataclass(frozen=True, slots=True)
class Trigrams:
    """The default: counts of three-character windows, hashed into buckets, scaled to length one.

    It needs no weights and gives the same numbers everywhere. It measures shared spelling, not
    meaning; use :class:`SentenceTransformer` for the model that the paper names.

    Args:
        buckets: The number of columns.

    >>> Trigrams().embed(["New York", "new york"]).shape
    (2, 512)
    """

    buckets: int = 512

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """One row a text; a text of fewer than three characters is a row of zeros."""
        import numpy as np

        matrix = np.zeros((len(texts), self.buckets))
        for row, text in enumerate(texts):
            data = text.encode("utf-8", "surrogatepass")
            if len(data) == len(text):
                windows = [data[start : start + 3] for start in range(len(data) - 2)]
            else:
                windows = [
                    text[start : start + 3].encode("utf-8", "surrogatepass") for start in range(len(text) - 2)
                ]
            counts = np.bincount(
                [_bucket(window, self.buckets) for window in windows], minlength=self.buckets
            )
            length = float(np.linalg.norm(counts))
            matrix[row] = counts / length if length else 0.0
        return matrix


@lru_cache(maxsize=65536)
def _bucket(window: bytes, buckets: int) -> int:
    return zlib.crc32(window) % buckets


class SentenceTransformer:
    """The paper's embedding, through the package ``sentence-transformers`` (the extra ``embed``).

    Args:
        model: A model's name or folder; the paper takes ``BAAI/bge-large-en-v1.5``.

    Raises:
        InputError: the extra is not installed.

    Source: ComplexFuncBench paper, section 3.1 "Hungarian Mapping".
    """

    def __init__(self, model: str = "BAAI/bge-large-en-v1.5") -> None:
        try:
            from sentence_transformers import SentenceTransformer as Model
        except ImportError as error:
            raise InputError(
                "this embedding needs the extra 'embed': pip install 'planner_eval[embed]'"
            ) from error
        self._model: Any = Model(model)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """One row a text, as the model gives it, scaled to length one."""
        import numpy as np

        rows = self._model.encode(list(texts), normalize_embeddings=True)
        return np.asarray(rows, dtype=np.float64)


def assign(predicted: Sequence[str], gold: Sequence[str], embedding: Embedding) -> list[tuple[int, int]]:
    """The one-to-one assignment with the largest sum of similarities, by predicted position.

    Equal vectors give equal results on every machine. Where several assignments are equally good, the
    one that scipy's procedure meets on the distances 1 - similarity counts.

    Args:
        predicted: Texts of the predicted calls.
        gold: Texts of the gold calls.
        embedding: Gives the vectors.

    Returns:
        min(len(predicted), len(gold)) pairs of positions; no similarity is too small.

    Source: ComplexFuncBench paper, section 3.1, equation (1).

    >>> assign(["b", "ab"], ["ab"], Trigrams()) == [(0, 0)]  # nothing in common: the first
    True
    """
    if not predicted or not gold:
        return []
    if len(predicted) == len(gold) == 1:
        return [(0, 0)]
    from scipy.optimize import linear_sum_assignment

    # The published code negates the similarities. Which of two equal calls comes first hangs on such
    # details; with exact similarities the distances meet the recorded choices more often.
    rows, columns = linear_sum_assignment(1 - similarities(predicted, gold, embedding))
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]


def similarities(
    predicted: Sequence[str], gold: Sequence[str], embedding: Embedding
) -> npt.NDArray[np.float64]:
    """One row a predicted text, one column a gold text: the dot products of their vectors.

    Equal texts are embedded once and have equal rows or columns. The products are added exactly and
    rounded once: the order in which a matrix product adds, and so its last digit, differs from
    processor to processor.

    Args:
        predicted: At least one text.
        gold: At least one text.
        embedding: Gives the vectors.

    >>> similarities(["Oslo", "Rome", "Oslo"], ["Rome"], Trigrams()).tolist()
    [[0.0], [0.9999999999999998], [0.0]]
    """
    import numpy as np

    row_of = {text: row for row, text in enumerate(dict.fromkeys([*predicted, *gold]))}
    vectors = embedding.embed(list(row_of))
    pred_vectors, gold_vectors = (vectors[[row_of[text] for text in texts]] for texts in (predicted, gold))
    columns = []
    for vector in gold_vectors:
        filled = vector.nonzero()[0]  # most buckets of a text are empty
        columns.append([fsum(products) for products in (pred_vectors[:, filled] * vector[filled]).tolist()])
    return np.array(columns).T
