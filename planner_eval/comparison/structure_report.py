"""The structure of two compared plans for people and programs: a line, the whole in words, JSON data."""

from __future__ import annotations

from typing import Any

from planner_eval.comparison.diff import Diff
from planner_eval.comparison.structure_figures import figures_data, structure_figures


def structure_lines(diff: Diff | None, *, whole: bool = False) -> str:
    """The structure of two plans that were compared, as text.

    Args:
        diff: The comparison, if there was one.
        whole: Tell it call by call, also where the structure is the same.

    Returns:
        One line of what differs; empty where the plans are the same, or differ in nothing of that.
    """
    if diff is None or diff.matching is None or (diff.same and not whole):
        return ""
    if whole:
        from planner_eval.comparison.structure_diff import structure_of

        return str(structure_of(diff.matching))
    figures = str(structure_figures(diff.matching))
    return f"structure: {figures}" if figures else ""


def structure_data(diff: Diff, *, whole: bool = False) -> dict[str, Any] | None:
    """The structure of two plans that were compared, as JSON data.

    Args:
        diff: The comparison.
        whole: Say which calls the figures are made of, also where the structure is the same.

    Returns:
        None where the plans are the same, or differ in nothing of that.
    """
    if diff.matching is None or (diff.same and not whole):
        return None
    if not whole:
        figures = structure_figures(diff.matching)
        return figures_data(figures) if str(figures) else None
    from planner_eval.comparison.structure_diff import structure_of
    from planner_eval.comparison.structure_words import calls_data

    compared = structure_of(diff.matching)
    return {**figures_data(compared.figures), "calls": calls_data(compared)}
