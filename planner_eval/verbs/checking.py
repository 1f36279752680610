"""Plans against the tools that they may use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from planner_eval.catalogs.check import check as check_plan
from planner_eval.plan.model import Diagnostic
from planner_eval.verbs.catalogs import read_catalog
from planner_eval.verbs.reading import Source, parse

LEVELS = ("error", "warning", "info")
"""How serious a finding is, the worst first."""


def check(
    plan: Source, catalog: Any, *, ignore: Collection[str] = (), level: str = "info"
) -> tuple[Diagnostic, ...]:
    """Everything in a plan that contradicts a catalog, without running anything.

    Args:
        plan: The plan: itself, its text or data, or the path of its file, ``Path("plan.json")``.
        catalog: The tools it may call: a catalog, or what :func:`planner_eval.read_catalog` takes.
        ignore: Codes of findings to leave out.
        level: The least severity that is told: ``"error"``, ``"warning"`` or ``"info"``.

    Returns:
        Findings by call and argument; what the plan's own diagnostics say already is not repeated.

    Raises:
        CatalogError: the catalog cannot be read.
        ParseError: the plan cannot be read.

    >>> [found.code for found in check("f(#x='1')", [{"name": "g", "parameters": {}}])]
    ['check.unknown_tool']
    """
    found = check_plan(parse(plan), read_catalog(catalog))
    return shown(found, ignore=ignore, level=level)


def shown(
    findings: Sequence[Diagnostic], *, ignore: Collection[str] = (), level: str = "info"
) -> tuple[Diagnostic, ...]:
    """The findings that are serious enough and not to be ignored."""
    worst = LEVELS[: LEVELS.index(level) + 1]
    return tuple(one for one in findings if one.severity in worst and one.code not in ignore)
