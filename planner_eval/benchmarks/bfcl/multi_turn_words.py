"""What is wrong in a turn of a multi-turn answer, in words; runs in the worker beside the check."""

from __future__ import annotations

TYPE_CHECKING = False  # typing would add to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from planner_eval.benchmarks.bfcl.multi_turn_calls import Call

_MAX_LINES = 6
_MAX_TEXT = 120
_MAX_DEPTH = 30
_ABSENT = object()


def describe_empty_turn(gold_texts: Sequence[str]) -> list[str]:
    """What to say of a turn without calls."""
    return [f"no call was made; expected {', '.join(map(_cut, gold_texts[:_MAX_LINES]))}"]


def describe_missing_results(
    missing: Sequence[tuple[Call, str]], pred_log: Sequence[tuple[int, Call, str]]
) -> list[str]:
    """What to say of gold's results that no call of the answer returned.

    Args:
        missing: Gold's calls and their results.
        pred_log: The answer's calls so far, with their turns and results.
    """
    lines = []
    for gold_call, gold_result in missing[:_MAX_LINES]:
        results = [(call, result) for _, call, result in pred_log if call.name == gold_call.name]
        if not results:
            lines.append(f"{gold_call.name} was not called; expected {_cut(gold_call.text)}")
            continue
        call, result = results[-1]
        if result == gold_result:
            lines.append(f"{_cut(gold_call.text)} was not called once more")
        else:
            returned = f"returned {_cut(result)}, expected {_cut(gold_result)}"
            of_gold_call = "" if call.text == gold_call.text else f" of {_cut(gold_call.text)}"
            lines.append(f"{_cut(call.text)} {returned}{of_gold_call}")
    return lines


def describe_states(
    name: str, differing: Sequence[tuple[str, Any, Any]], calls: Sequence[Call], gold_calls: Sequence[Call]
) -> list[str]:
    """What to say of a state that is not gold's.

    Args:
        name: The class of tools.
        differing: Each attribute that differs, with its value in the answer and in gold.
        calls: The answer's calls in this turn.
        gold_calls: Gold's.
    """
    lines = []
    for attribute, pred, gold in differing:
        for location, value, expected in _differences(f"{name}.{attribute}", pred, gold, 0):
            if value is _ABSENT:
                lines.append(f"{location} is missing; expected {_show(expected)}")
            elif expected is _ABSENT:
                lines.append(f"{location} is extra: {_show(value)}")
            else:
                lines.append(f"{location} is {_show(value)}, expected {_show(expected)}")
            if len(lines) == _MAX_LINES:
                break
    called = {call.name for call in calls}
    absent = [call for call in gold_calls if call.name not in called]
    return lines[:_MAX_LINES] + [f"{_cut(call.text)} was not called" for call in absent[:_MAX_LINES]]


def _differences(location: str, pred: Any, gold: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """The smallest parts that differ, with where they are."""
    if depth > _MAX_DEPTH or type(pred) is not type(gold):
        yield location, pred, gold
    elif isinstance(gold, dict):
        for key in [*gold, *(key for key in pred if key not in gold)]:
            value, expected = pred.get(key, _ABSENT), gold.get(key, _ABSENT)
            if value is _ABSENT or expected is _ABSENT:
                yield f"{location}[{key!r}]", value, expected
            elif value != expected:
                yield from _differences(f"{location}[{key!r}]", value, expected, depth + 1)
    elif isinstance(gold, list) and len(gold) == len(pred):
        for position, (value, expected) in enumerate(zip(pred, gold, strict=True)):
            if value != expected:
                yield from _differences(f"{location}[{position}]", value, expected, depth + 1)
    elif type(gold).__module__ != "builtins" and hasattr(gold, "__dict__"):
        for attribute, expected in vars(gold).items():
            value = getattr(pred, attribute, _ABSENT)
            if not attribute.startswith("_") and attribute != "parent" and value != expected:
                yield from _differences(f"{location}.{attribute}", value, expected, depth + 1)
    else:
        yield location, pred, gold


def _show(value: Any) -> str:
    if type(value).__module__ != "builtins" and hasattr(value, "__dict__"):
        return f"a {type(value).__name__.lower()}"
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
