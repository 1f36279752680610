"""Partial and full match of the published NESTful scorer: call texts, compared place by place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def gold_text(name: Any, arguments: Iterable[str]) -> str:
    """A call as the scorer compares it; arguments are sorted as texts.

    Args:
        name: Its name.
        arguments: What :func:`pairs` makes of its arguments.

    >>> gold_text("add", ["b = 2", "a = $floor.result$"])
    'add(a = $floor.result$, b = 2)'
    """
    return f"{name!s}({', '.join(sorted(arguments))})"


def predicted_text(call: Any) -> str | None:
    """A predicted entry as the scorer compares it; None for an entry without a name.

    Arguments that are no object give ``name({})``, which equals no gold text.

    >>> predicted_text({"name": "add", "arguments": {"a": "$floor.result"}}), predicted_text({"name": "f"})
    ('add(a = $floor.result$)', 'f({})')
    """
    if type(call) is not dict or "name" not in call:
        return None
    arguments = call.get("arguments")
    if type(arguments) is not dict:
        return f"{call['name']!s}({{}})"
    return f"{call['name']!s}({', '.join(sorted(pairs(arguments, close=True)))})"


def pairs(arguments: Mapping[str, Any], *, close: bool = False) -> list[str]:
    """The arguments as ``key = value`` texts, values by Python's ``str``.

    Args:
        arguments: One call's arguments.
        close: Append a ``$`` to each text that begins with one and does not end with one. The scorer does
            so for predictions alone, which spoils prices such as ``$5-$9``.
    """
    if not close:
        return [f"{key} = {value}" for key, value in arguments.items()]
    return [f"{key} = {_closed(value)}" for key, value in arguments.items()]


def _closed(value: Any) -> Any:
    if type(value) is str and value.startswith("$") and not value.endswith("$"):
        return value + "$"
    return value


def align(gold: Sequence[str], predicted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both lists at one length: calls paired by name in order, the others against "".

    Lists of equal length stay as they are. Otherwise a predicted name that is not next in the gold list
    makes the walk skip all of the gold list, and a predicted call that is named "" is itself the "" of a
    place without a gold call, whatever its arguments.

    Source: ``post_process_api_with_args`` of the published ``utils.py``.

    >>> align(["a(1)", "b(2)"], ["b(2)"])
    (['a(1)', 'b(2)'], ['', 'b(2)'])
    >>> align(["a(1)"], ["x()", "a(1)"])
    (['a(1)', '', ''], ['', 'x()', 'a(1)'])
    >>> align(["a(1)"], ["a(1)", "(b = 2)"])
    (['a(1)', ''], ['a(1)', ''])
    """
    if len(gold) == len(predicted):
        return list(gold), list(predicted)
    pred_names, gold_names = _names(predicted), _names(gold)
    aligned: list[tuple[str, str]] = []
    i = j = 0
    while i < len(gold) or j < len(predicted):
        if i < len(gold) and j < len(predicted) and gold_names[i] == pred_names[j]:
            aligned.append((gold[i], predicted[j]))
            i, j = i + 1, j + 1
        elif i < len(gold):
            aligned.append((gold[i], ""))
            i += 1
        else:
            aligned.append(("", predicted[j] if pred_names[j] else ""))
            j += 1
    return [left for left, _ in aligned], [right for _, right in aligned]


def _names(texts: Iterable[str]) -> list[str]:
    return [text.split("(", 1)[0] for text in texts]


def partial(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of equal places after :func:`align`; 0 where there is nothing to compare.

    >>> partial(["a(1)", "b(2)"], ["a(1)", "x()", "b(2)"])
    0.25
    """
    left, right = align(gold, predicted)
    return sum(map(str.__eq__, left, right)) / len(left) if left else 0.0
