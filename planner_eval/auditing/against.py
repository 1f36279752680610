"""Gold against the tools on offer: what a plan that may only use these could not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from planner_eval.auditing.finding import Confidence, GoldFinding
from planner_eval.catalogs.check import check

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.plan.model import Plan

SURE: dict[str, Confidence] = {
    "check.unknown_tool": "high",
    "check.permission": "high",
    "check.missing_argument": "high",
    "check.unknown_argument": "high",
    "check.unknown_output": "high",
    "check.enum": "high",
    "check.out_of_range": "high",
    "check.format": "medium",
    "check.pattern": "medium",
    "check.repeated_item": "medium",
    "check.not_allowed": "medium",
    "check.wrong_type": "medium",
    "check.output_type": "low",
}
"""How sure gold is wrong where it contradicts its tools; what else a check says is no doubt about gold.

Types are often told carelessly: a number that stands for a text is a fault of the tool's description as
often as one of gold, and what tools return is told worst of all.
"""

CODES = tuple(code.replace("check.", "gold.") for code in SURE)


def contradictions(plan: Plan, catalog: Catalog) -> Iterator[GoldFinding]:
    """Where a gold plan contradicts the tools that were on offer.

    Args:
        plan: The plan.
        catalog: The tools.

    >>> from planner_eval.catalogs.formats import as_catalog
    >>> from planner_eval.dialects.read import parse
    >>> tools = as_catalog([{"name": "pay", "parameters": {}}])
    >>> [found.code for found in contradictions(parse("pay(#to='Ann')"), tools)]
    ['gold.unknown_argument']
    """
    for finding in check(plan, catalog):
        if finding.code in SURE:
            code = finding.code.replace("check.", "gold.")
            yield GoldFinding(code, finding.message, SURE[finding.code], finding.call, finding.argument)
