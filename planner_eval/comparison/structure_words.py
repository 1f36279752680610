"""The structure of two plans with all calls named, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from planner_eval.comparison.sentences import call_name
from planner_eval.plan.model import Plan

if TYPE_CHECKING:
    from planner_eval.comparison.structure_diff import Group, Link, Structure, StructureDiff

ALIKE = "the same components, depth and dependencies"


def structure_text(found: StructureDiff) -> str:
    """The line of figures, then each thing that differs with its calls named.

    Args:
        found: What :func:`planner_eval.compare_structure` gave.
    """
    lines = [f"structure: {str(found.figures) or ALIKE}"]
    sides = (("pred", found.pred, found.pred_structure), ("gold", found.gold, found.gold_structure))
    for what in ("components", "generations", "critical"):
        for side, plan, structure in sides:
            lines.append(f"  {_said(what, side, plan, structure)}")
    lines += (f"  {line}" for line in _differences(found))
    return "\n".join(line.replace("\n", "\\n") for line in lines)  # names may hold line ends


def _said(what: str, side: str, plan: Plan, structure: Structure) -> str:
    if what == "critical":
        return f"longest chain of {side}: {_calls(plan, structure.critical, ' → ') or 'none'}"
    groups: Sequence[Group] = getattr(structure, what)
    return f"{what} of {side} ({len(groups)}): {_parts(plan, groups) or 'none'}"


def _differences(found: StructureDiff) -> Iterator[str]:
    pred, gold = found.pred, found.gold
    for parts in found.torn:
        yield f"torn apart: gold's {_parts(gold, parts)}"
    for parts in found.joined:
        yield f"joined: {_parts(pred, parts)}"
    for at, theirs, generation, wanted in found.moved:
        yield (
            f"moved: {call_name(pred, at)} is in generation {generation}, "
            f"gold's {call_name(gold, theirs)} in {wanted}"
        )
    yield from _links("edge lost: gold's", "takes from", gold, found.edges_lost)
    yield from _links("edge added:", "takes from", pred, found.edges_added)
    yield from _links("dependency lost: gold's", "needs", gold, found.lost)
    yield from _links("dependency added:", "needs", pred, found.added)
    yield from _links("order violated: gold's", "is written before", gold, found.violated)


def _links(head: str, verb: str, plan: Plan, links: Iterable[Link]) -> Iterator[str]:
    """A line for each consumer, with all its producers."""
    needs: dict[int, list[int]] = {}
    for producer, consumer in links:
        needs.setdefault(consumer, []).append(producer)
    for consumer, producers in needs.items():
        yield f"{head} {call_name(plan, consumer)} {verb} {_calls(plan, producers)}"


def _parts(plan: Plan, groups: Iterable[Group]) -> str:
    return " | ".join(_calls(plan, group) for group in groups)


def _calls(plan: Plan, calls: Iterable[int], between: str = ", ") -> str:
    return between.join(call_name(plan, call) for call in calls)


def calls_data(found: StructureDiff) -> dict[str, Any]:
    """The calls that figures of structure are made of as JSON data, by their positions.

    Args:
        found: What :func:`planner_eval.compare_structure` gave.
    """
    calls: dict[str, Any] = {}
    for side, structure in (("pred", found.pred_structure), ("gold", found.gold_structure)):
        calls[side] = {
            "components": structure.components,
            "generations": structure.generations,
            "critical": structure.critical,
        }
    for name in ("torn", "joined"):
        calls[name] = getattr(found, name)
    calls["moved"] = [moved._asdict() for moved in found.moved]
    for name in ("edges_lost", "edges_added", "lost", "added", "violated"):
        calls[name] = [link._asdict() for link in getattr(found, name)]
    return calls
