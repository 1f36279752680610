"""References made comparable, as the published NESTful scorer does it: a label becomes a tool's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MAX_GROUNDED_CHARS = 1 << 24
"""A value that would grow beyond this is refused: labels and names come from the answer."""


def ground(calls: Iterable[Any]) -> list[dict[str, Any]]:
    """Each call as name and arguments, references by tool name instead of by label.

    Only a string, or a string inside a list, that begins with ``$var`` and has a field is rewritten.
    Labels are dropped, and so is the closing pseudo call ``var_result``. Two calls of one tool become
    indistinguishable.

    Args:
        calls: Decoded calls; any of them may turn out to be something else.

    Raises:
        KeyError, TypeError, AttributeError, ValueError: an entry is no call; the published code catches all.

    Source: ``ground_seq_nested_repsonse`` of the published ``output_parsers.py``.

    >>> ground([{"name": "add", "label": "$var_1", "arguments": {"arg_0": 2}},
    ...         {"name": "floor", "label": "$var_2", "arguments": {"arg_0": "$var_1.result$"}}])[1]
    {'name': 'floor', 'arguments': {'arg_0': '$add.result$'}}
    """
    calls = list(calls)
    names: dict[str, Any] = {}
    for call in calls:
        if call["name"] not in ("varResult", "var_result") and "label" in call:
            names[call["label"].replace("$", "")] = call["name"]
    grounded = []
    for call in calls:
        if call["name"] == "var_result":
            continue
        arguments = call["arguments"] if "arguments" in call else call.get("parameters", {})
        values = {key: _ground_value(value, names) for key, value in arguments.items()}
        grounded.append({"name": call["name"], "arguments": values})
    return grounded


def _ground_value(value: Any, names: Mapping[str, Any]) -> Any:
    if type(value) is str:
        return _ground_text(value, names)
    if type(value) is list and names:
        return [_ground_text(item, names) if type(item) is str else item for item in value]
    return value


def _ground_text(text: str, names: Mapping[str, Any]) -> str:
    if not text.startswith("$var"):
        return text
    target = _label_in(text)
    for label, name in names.items():  # in order: a rewritten text may match a later label again
        if target == label:
            if text.count(label) * len(name) > MAX_GROUNDED_CHARS:
                raise ValueError("a reference grows beyond the limit")
            text = text.replace(label, name)
            target = _label_in(text)
    return text


def _label_in(text: str) -> str | None:
    """The label that a text begins with; None of a text that is no reference."""
    head, dot, _ = text.partition(".")
    return head.replace("$", "") if dot and text.startswith("$var") else None
