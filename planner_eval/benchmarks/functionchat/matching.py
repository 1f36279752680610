"""FunctionChat-Bench's comparison of a predicted call with the gold call, before any judge is asked.

Source: repository kakao/FunctionChat-Bench at cb32af3 (version 2); not in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import fast_json_loads

GOLD_ONLY_DIGEST = "61c8df42060accee"
"""Digest of the sentence of the released data which says that gold alone is right."""
NO_ALTERNATIVES_DIGESTS = frozenset({GOLD_ONLY_DIGEST, "c8bcc2aa10758591", "984597481d628267"})
"""Digests of the three sentences that the published code takes for "no alternatives": that gold alone is
right, that "tomorrow" must be said, that no year may be made up. The data's texts stay out of here."""
SKIPPED = "skip evaluation"
"""What is recorded where nothing is compared; it is also the verdict, an undecided one."""
SKIPPED_NULL = "skip evaluation, because model response is None"
FAILED_TEXT = "\n\nfail\nfail\n"
"""How the text of a call that is not right ends."""


@fast_frozen
class ExactMatch:
    """What the comparison says of one answer.

    Args:
        passed: The call is right.
        text: The text that is recorded, whose last lines hold the verdict; "" where it raises.
        error: The exception that the published code ends with.
    """

    passed: bool
    text: str = ""
    error: str | None = None


def match_call(gold: Mapping[str, Any], acceptable: Any, output: Any) -> ExactMatch:
    """Compares the first predicted call with the gold call; later calls and text are not looked at.

    Args:
        gold: The gold call ``{"name", "arguments": JSON text}``, or an assistant message with one.
        acceptable: The alternatives as released: JSON text, object, sentence or None.
        output: The assistant message that the model answered, or None.

    >>> gold = {"name": "weather", "arguments": '{"city": "Seoul"}'}
    >>> call = {"name": "weather", "arguments": '{"city": "s e o u l"}'}
    >>> match_call(gold, None, {"tool_calls": [{"function": call}, {"function": {"name": "more"}}]}).passed
    True
    """
    if output is None:
        return ExactMatch(False, SKIPPED_NULL)
    try:
        alternatives = _read_text(acceptable) if isinstance(acceptable, str) else acceptable
        passed, difference = _compare_calls(gold, {} if alternatives is None else alternatives, output)
    except (TypeError, AttributeError, LookupError, ValueError, RecursionError) as problem:
        return ExactMatch(False, error=f"{type(problem).__name__}: {problem}")
    verdict = "pass" if passed else "fail"
    return ExactMatch(passed, f"exact-eval\n{difference}\n\n{verdict}\n{verdict}\n")


@lru_cache(1024)
def _read_text(acceptable: str) -> Any:
    """The alternatives that a text gives; they are looked up in and never changed.

    Raises:
        ValueError: it is neither JSON nor one of the sentences known to mean "none".
    """
    value: Any = acceptable
    if acceptable:
        try:
            value = json.loads(acceptable)
        except (ValueError, RecursionError):
            value = json.loads(f'"{acceptable}"')
    if value is None or (isinstance(value, str) and digest(value) in NO_ALTERNATIVES_DIGESTS):
        return {}
    return json.loads(value) if isinstance(value, str) else value


def digest(text: str) -> str:
    """A short stable digest of a text."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _compare_calls(gold: Mapping[str, Any], acceptable: Any, output: Any) -> tuple[bool, str]:
    """Whether the call is right, and a line on the difference where there is one."""
    gold_call = gold["tool_calls"][0].get("function", {}) if "tool_calls" in gold else gold
    calls = output.get("tool_calls")
    if not calls:
        return False, ""
    pred_call = calls[0].get("function", {})
    if gold_call.get("name") != pred_call.get("name"):
        return False, f"Function name mismatch: g({gold_call.get('name')}) | p({pred_call.get('name')})\n"
    gold_text, pred_text = gold_call.get("arguments"), pred_call.get("arguments")
    if match_arguments(gold_text, pred_text, acceptable):
        return True, ""
    return False, f"Function arguments mismatch: g({gold_text}) | p({pred_text})\n"


def match_arguments(gold_text: Any, pred_text: Any, acceptable: Any) -> bool:
    """Whether every predicted argument occurs in gold and every gold argument has a right value.

    An alternative that is neither a list nor a string makes any value right, as published.

    Args:
        gold_text: JSON text of the gold arguments.
        pred_text: JSON text of the predicted arguments.
        acceptable: Alternatives by argument.

    >>> match_arguments('{"n": 170}', '{"n": 5}', {"n": 170.0})
    True
    """
    try:
        gold_arguments = (_cached_loads if type(gold_text) is str else fast_json_loads)(gold_text)
        pred_arguments = gold_arguments if pred_text == gold_text else fast_json_loads(pred_text)
    except json.JSONDecodeError:
        return False
    for key, _ in pred_arguments.items():
        if key not in gold_arguments:
            return False
    return all(
        [
            _is_right_value(key, value, pred_arguments.get(key), acceptable)
            for key, value in gold_arguments.items()
        ]
    )


_cached_loads = lru_cache(1024)(fast_json_loads)
"""An item has one gold under all its lists of tools; it is looked up in and never changed."""


def _is_right_value(key: str, gold_value: Any, pred_value: Any, acceptable: Any) -> bool:
    if pred_value == gold_value or is_same_value(pred_value, gold_value):
        return True
    alternatives = acceptable.get(key, [])
    if isinstance(alternatives, list):
        return any(is_same_value(pred_value, alternative) for alternative in alternatives)
    return not isinstance(alternatives, str) or is_same_value(pred_value, alternatives)


def is_same_value(a: Any, b: Any) -> bool:
    """Equality without blanks and case for two strings, Python's equality for anything else.

    >>> is_same_value("New York", "newyork"), is_same_value(3, 3.0), is_same_value("3", 3)
    (True, True, False)
    """
    if isinstance(a, str) and isinstance(b, str):
        a, b = a.replace(" ", "").lower(), b.replace(" ", "").lower()
    return bool(a == b)
