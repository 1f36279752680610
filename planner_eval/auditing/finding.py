"""A finding about gold: what may be wrong in one record, and how sure that is."""

from __future__ import annotations

from typing import Literal

from planner_eval.base.named import NamedTuple

Confidence = Literal["high", "medium", "low"]

CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")
"""How sure a finding is, the surest first: high is right in nine of ten on published data, read by hand."""


class GoldFinding(NamedTuple):
    """One doubt about one record's gold.

    Args:
        code: What kind it is, ``gold.…``; the meanings are in ``planner_eval.base.errors.CODES``.
        message: What was found and why it is doubtful, one sentence with the values.
        confidence: How sure it is that gold is wrong, not how grave that would be.
        call: The position of the call concerned, counted from 0; None where the whole plan is meant.
        argument: The name of the argument concerned.
        related: Names of other records that it is told with, e.g. the twin that gold contradicts.

    >>> GoldFinding("gold.answer", "the plan gives 10.0, which is option a; gold says d", "high").confidence
    'high'
    """

    code: str
    message: str
    confidence: Confidence
    call: int | None = None
    argument: str | None = None
    related: tuple[str, ...] = ()
