"""A made record: a gold plan, the tools on offer, what it comes to, and a place for its query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from planner_eval.base.quick import quick

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Tool
    from planner_eval.plan.model import Plan

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@quick
class Made:
    """One made record.

    Args:
        id: Unique among those made together.
        plan: The gold plan.
        tools: The tools on offer: those that it calls, and distractors.
        query: What a user asks that the plan answers; "" until somebody writes it.
        answer: What running the plan came to: the values that it names, else that of the one call that gives
            it; None where nothing was run, or where several calls give it and none is named.
        notes: What else is known of it: seed, pattern, wanted, world, scope.
    """

    id: str
    plan: Plan
    tools: tuple[Tool, ...]
    query: str = ""
    answer: Any = None
    notes: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
