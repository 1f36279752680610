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


def structure_text(found: StructureDiff) -> str:
    """The line of figures, then each thing that differs with its calls named.

    Args:
        found: What :func:`planner_eval.compare_structure` gave.
    """
    names = Names.of(found.pred, found.gold, found.pairs)
    lines = [f"structure: {str(found.figures) or ALIKE}"]
    sides = (("pred", names.ours, found.pred_structure), ("gold", names.theirs, found.gold_structure))
    for what in ("components", "generations", "critical"):
        for side, name, structure in sides:
            lines.append(f"  {_said(what, side, name, structure)}")
    lines += (f"  {line}" for line in _differences(found, names))
    return "\n".join(line.replace("\n", "\\n") for line in lines)  # names may hold line ends


def _said(what: str, side: str, name: Name, structure: Structure) -> str:
    if what == "critical":
        return f"longest chain of {side}: {_calls(name, structure.critical, ' → ') or 'none'}"
    groups: Sequence[Group] = getattr(structure, what)
    return f"{what} of {side} ({len(groups)}): {_parts(name, groups) or 'none'}"


def _differences(found: StructureDiff, names: Names) -> Iterator[str]:
    ours, theirs = names.ours, names.theirs
    for parts in found.torn:
        yield f"torn apart: gold's {_parts(theirs, parts)}"
    for parts in found.joined:
        yield f"joined: {_parts(ours, parts)}"
    for at, _, generation, wanted in found.moved:
        yield f"moved: {ours(at)} is in generation {generation}, in gold in {wanted}"
    yield from _links("edge lost: gold's", "takes from", theirs, found.edges_lost)
    yield from _links("edge added:", "takes from", ours, found.edges_added)
    yield from _links("dependency lost: gold's", "needs", theirs, found.lost)
    yield from _links("dependency added:", "needs", ours, found.added)
    yield from _links("order violated: gold's", "is written before", theirs, found.violated)


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
