"""The gold plan of a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner_eval.base.errors import InputError, ParseError
from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import parse
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    from planner_eval.plan.inferred import Signatures


def holds_plan(sample: Sample) -> bool:
    """Whether the right answer is a plan, not free text."""
    return bool(sample.dialect) and sample.extra.get("type_of_output", "call") == "call"


def gold_plan(sample: Sample, *, infer: Signatures | bool = False) -> Plan | None:
    """Read a sample's gold plan.

    Args:
        sample: Of any reader.
        infer: Add inferred edges, by what is known of tools.

    Returns:
        The plan; None where the right answer is free text.

    Raises:
        ParseError: no parser reads it.

    >>> plan = gold_plan(Sample("a", gold='[{"name": "f", "arguments": {}}]', dialect="json"))
    >>> plan is not None and plan.calls[0].name
    'f'
    """
    if not holds_plan(sample):
        return None
    try:
        return parse(sample.gold, dialect=sample.dialect, infer=infer)
    except InputError as problem:
        raise ParseError(str(problem), code="parse.shape") from None
