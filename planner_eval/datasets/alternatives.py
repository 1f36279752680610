"""What is irregular in the alternatives that FunctionChat-Bench accepts beside its gold arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner_eval.base.jsonfile import value_of
from planner_eval.plan.model import Diagnostic


def read_alternatives(acceptable: Any) -> dict[str, Any] | str | None:
    """The alternatives by argument; the sentence where a sentence stands instead; None for none.

    >>> read_alternatives('{"city": ["Zurich"]}'), read_alternatives("Gold alone."), read_alternatives(None)
    ({'city': ['Zurich']}, 'Gold alone.', None)
    """
    if isinstance(acceptable, str):
        try:
            acceptable = value_of(acceptable)
        except ValueError:
            return str(acceptable)
    return acceptable if isinstance(acceptable, dict) else None


def alternative_findings(acceptable: Any, gold: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is irregular in the alternatives of one gold call.

    Args:
        acceptable: The alternatives as released: JSON text, object, sentence or None.
        gold: The gold call ``{"name", "arguments": JSON text}``.

    >>> gold = {"name": "bmi", "arguments": '{"height": 170}'}
    >>> [d.code for d in alternative_findings('{"height": 170.0, "name": "Ann"}', gold)]
    ['dataset.alternative_unlisted', 'dataset.alternative_type', 'dataset.alternative_argument']
    """
    alternatives = read_alternatives(acceptable)
    if isinstance(acceptable, dict):
        yield Diagnostic(
            "dataset.alternatives_object", "the alternatives are an object, not JSON text", "info"
        )
    if isinstance(alternatives, str):
        yield Diagnostic(
            "dataset.alternatives_text", f"a sentence stands for alternatives: {alternatives}", "info"
        )
    if not isinstance(alternatives, dict):
        return
    gold_arguments = value_of(gold["arguments"])
    for key, value in alternatives.items():
        for code, message in _alternative_findings(key, value, gold_arguments):
            yield Diagnostic(code, f"{gold['name']}.{key} {message}", argument=key)


def _alternative_findings(
    key: str, value: Any, gold_arguments: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if key not in gold_arguments:
        yield "dataset.alternative_argument", "has alternatives, but gold has no such argument"
        return
    if not isinstance(value, (list, str)):
        what = "has an alternative that is neither a text nor a list; the published code then takes any value"
        yield "dataset.alternative_unlisted", what
    values = value if isinstance(value, list) else [value]
    if any(type(alternative) is not type(gold_arguments[key]) for alternative in values):
        yield "dataset.alternative_type", "has an alternative of another type than gold's value"
    if is_instruction(value):
        yield "dataset.alternative_instruction", "has an instruction for an alternative"


def is_instruction(alternative: Any) -> bool:
    """Whether an alternative is a sentence about right values rather than a value.

    >>> is_instruction("Any city is right."), is_instruction("Seoul")
    (True, False)
    """
    text = alternative if isinstance(alternative, str) else ""
    return text.endswith(".") and any(f" {verb} " in text for verb in ("is", "are", "must"))
