"""The structure of two plans with all calls named, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.comparison.sentences import Names

if TYPE_CHECKING:
    from planner_eval.comparison.structure_diff import Group, Link, Structure, StructureDiff

Name: TypeAlias = Callable[[int], str]
"""The name of the call at a position."""

ALIKE = "the same components, depth and dependencies"


def structure_text(comparison: StructureDiff) -> str:
    """The line of figures, then each thing that differs with its calls named.

    Args:
        comparison: What :func:`planner_eval.compare_structure` gave.
    """
    names = Names.of(comparison.pred, comparison.gold, comparison.pairs)
    lines = [f"structure: {str(comparison.figures) or ALIKE}"]
    structures = (
        ("pred", names.ours, comparison.pred_structure),
        ("gold", names.theirs, comparison.gold_structure),
    )
    for field in ("components", "generations", "critical"):
        for plan_name, name, structure in structures:
            lines.append(f"  {_said(field, plan_name, name, structure)}")
    lines += (f"  {line}" for line in _differences(comparison, names))
    return "\n".join(line.replace("\n", "\\n") for line in lines)  # names may hold line ends


def _said(field: str, plan_name: str, name: Name, structure: Structure) -> str:
    if field == "critical":
        return f"longest chain of {plan_name}: {_calls(name, structure.critical, ' → ') or 'none'}"
    groups: Sequence[Group] = getattr(structure, field)
    return f"{field} of {plan_name} ({len(groups)}): {_parts(name, groups) or 'none'}"


def _differences(comparison: StructureDiff, names: Names) -> Iterator[str]:
    pred_name, gold_name = names.ours, names.theirs
    for groups in comparison.torn:
        yield f"torn apart: gold's {_parts(gold_name, groups)}"
    for groups in comparison.joined:
        yield f"joined: {_parts(pred_name, groups)}"
    for pred, _, generation, gold_generation in comparison.moved:
        yield f"moved: {pred_name(pred)} is in generation {generation}, in gold in {gold_generation}"
    yield from _links("edge lost: gold's", "takes from", gold_name, comparison.edges_lost)
    yield from _links("edge added:", "takes from", pred_name, comparison.edges_added)
    yield from _links("dependency lost: gold's", "needs", gold_name, comparison.lost)
    yield from _links("dependency added:", "needs", pred_name, comparison.added)
    yield from _links("order violated: gold's", "is written before", gold_name, comparison.violated)


def _links(head: str, verb: str, name: Name, links: Iterable[Link]) -> Iterator[str]:
    """A line for each consumer, with all its producers."""
    needs: dict[int, list[int]] = {}
    for producer, consumer in links:
        needs.setdefault(consumer, []).append(producer)
    for consumer, producers in needs.items():
        yield f"{head} {name(consumer)} {verb} {_calls(name, producers)}"


def _parts(name: Name, groups: Iterable[Group]) -> str:
    return " | ".join(_calls(name, group) for group in groups)


def _calls(name: Name, calls: Iterable[int], between: str = ", ") -> str:
    return between.join(map(name, calls))


def calls_data(comparison: StructureDiff) -> dict[str, Any]:
    """The calls that figures of structure are made of as JSON data, by their positions.

    Args:
        comparison: What :func:`planner_eval.compare_structure` gave.
    """
    calls: dict[str, Any] = {}
    for plan_name, structure in (("pred", comparison.pred_structure), ("gold", comparison.gold_structure)):
        calls[plan_name] = {
            "components": structure.components,
            "generations": structure.generations,
            "critical": structure.critical,
        }
    for name in ("torn", "joined"):
        calls[name] = getattr(comparison, name)
    calls["moved"] = [moved._asdict() for moved in comparison.moved]
    for name in ("edges_lost", "edges_added", "lost", "added", "violated"):
        calls[name] = [link._asdict() for link in getattr(comparison, name)]
    return calls
