"""In how far two plans have one structure: figures for every pair of a file, and what a pair says of them.

:func:`planner_eval.compare_structure` names the calls, on NetworkX; the figures are
equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from planner_eval.base.named import NamedTuple
from planner_eval.base.text import counted
from planner_eval.comparison.counted import as_counted
from planner_eval.plan.adjacency import BLOCK, closure, leaders, levels, needed, producers

if TYPE_CHECKING:
    from planner_eval.comparison.align import Matching


class Sides(NamedTuple):
    """One figure of either plan."""

    pred: int
    gold: int


_Name = TypeVar("_Name")

Overlap: TypeAlias = tuple[int, int, int]
"""How many items both plans have, pred has, gold has."""


class StructureFigures(NamedTuple):
    """In how far two plans have one structure.

    Optional calls of gold that were not made count as if gold did not have them; calls of a circle
    share a generation.

    Args:
        components: How many weakly connected components there are.
        depth: How many calls the longest chain has.
        width: How many calls the largest topological generation has.
        torn: Components of gold whose partners lie in several components of pred.
        joined: Components of pred whose partners lie in several components of gold.
        lost: Dependencies of gold, by way of others too, that pred does not have.
        added: Dependencies of pred, by way of others too, that gold does not have.
    """

    components: Sides
    depth: Sides
    width: Sides
    torn: int
    joined: int
    lost: int
    added: int

    def __str__(self) -> str:
        """What differs, on one line; empty where nothing does."""
        said = []
        if self.components.pred != self.components.gold:
            said.append(f"{counted(self.components.pred, 'component')} instead of {self.components.gold}")
        elif self.torn or self.joined:
            said.append(f"{self.components.pred} components, grouped otherwise")
        if self.depth.pred != self.depth.gold:
            said.append(f"depth {self.depth.pred} instead of {self.depth.gold}")
        if self.lost:
            added = f", {self.added} added" if self.added else ""
            said.append(f"{counted(self.lost, 'dependency')} lost{added}")
        elif self.added:
            said.append(f"{counted(self.added, 'dependency')} added")
        return "; ".join(said)


class Structures:
    """The graphs of two compared plans as plain lists, without optional calls that were not made.

    Calls of gold are counted on here: ``pairs`` are partners' positions in ``pred`` and ``gold``.

    Args:
        matching: What :func:`planner_eval.comparison.align.match` gave.
    """

    __slots__ = ("gold", "levels", "pairs", "pred")

    def __init__(self, matching: Matching) -> None:
        self.gold = producers(matching.gold)
        self.pairs: Iterable[tuple[int, int]] = matching.alignment.pairs
        if matching.alike:  # one graph, be the calls numbered as in gold
            self.pred, self.pairs = self.gold, [(call, call) for call in range(len(self.gold))]
            level = levels(self.gold)
            self.levels = level, level
            return
        self.pred = producers(matching.pred)
        if matching.waived:
            kept = [at for at in range(len(self.gold)) if at not in matching.waived]
            place = {old: new for new, old in enumerate(kept)}
            self.gold = [[place[p] for p in self.gold[at] if p in place] for at in kept]
            self.pairs = [(pred, place[gold]) for pred, gold in self.pairs]
        self.levels = levels(self.pred), levels(self.gold)

    def depth(self) -> Sides:
        """How many generations either plan has."""
        ours, theirs = self.levels
        return Sides(max(ours, default=-1) + 1, max(theirs, default=-1) + 1)

    def width(self) -> Sides:
        """How many calls the largest generation of either plan has."""
        theirs = max(_sizes(self.levels[1]).values(), default=0)
        if self.pred is self.gold:
            return Sides(theirs, theirs)
        return Sides(max(_sizes(self.levels[0]).values(), default=0), theirs)

    def components(self) -> Components:
        """The components of both plans, and which of them share partners."""
        theirs = leaders(self.gold)
        if self.pred is self.gold:
            sizes = _sizes(theirs)
            return Components(sizes, sizes, {(part, part): size for part, size in sizes.items()})
        ours = leaders(self.pred)
        shared = _sizes([(ours[pred], theirs[gold]) for pred, gold in self.pairs])
        return Components(_sizes(ours), _sizes(theirs), shared)

    def dependencies(self) -> Overlap:
        """Pairs of calls of which one needs the other, by way of others too."""
        if self.pred is self.gold:
            found = closure(self.gold)
            return found, found, found
        number = list(range(len(self.gold), len(self.gold) + len(self.pred)))  # after gold's
        for pred, gold in self.pairs:
            number[pred] = gold
        both = ours = theirs = 0
        for first in range(0, len(self.gold) + len(self.pred), BLOCK):
            last = first + BLOCK
            marks = [1 << at - first if first <= at < last else 0 for at in number]
            mine = needed(self.pred, marks)
            marks = [1 << at - first if first <= at < last else 0 for at in range(len(self.gold))]
            wanted = needed(self.gold, marks)
            ours += sum(map(int.bit_count, mine))
            theirs += sum(map(int.bit_count, wanted))
            both += sum([(mine[pred] & wanted[gold]).bit_count() for pred, gold in self.pairs])
        return both, ours, theirs


class Components:
    """The components of two plans, each named by its first call.

    Args:
        pred: The calls of each component of pred.
        gold: The calls of each component of gold.
        shared: The partners that a component of pred and one of gold have in common.
    """

    __slots__ = ("gold", "pred", "shared")

    def __init__(
        self, pred: Mapping[int, int], gold: Mapping[int, int], shared: Mapping[tuple[int, int], int]
    ) -> None:
        self.pred, self.gold, self.shared = pred, gold, shared

    @property
    def torn(self) -> int:
        """Components of gold whose partners lie in several of pred."""
        return _repeated([gold for _, gold in self.shared])

    @property
    def joined(self) -> int:
        """Components of pred whose partners lie in several of gold."""
        return _repeated([pred for pred, _ in self.shared])

    @property
    def same(self) -> bool:
        """Whether each component has partners in one of the other plan, and that one in no other."""
        found = len(self.shared)
        return found == len(self.pred) == len(self.gold) and not self.torn and not self.joined

    def pairs(self) -> Overlap:
        """Pairs of calls that lie in one component."""
        return _pairs(self.shared), _pairs(self.pred), _pairs(self.gold)


def _sizes(groups: Iterable[_Name]) -> dict[_Name, int]:
    """How often each name stands there; a Counter takes a microsecond to be made."""
    found: dict[_Name, int] = {}
    for name in groups:
        found[name] = found.get(name, 0) + 1
    return found


def _repeated(names: list[int]) -> int:
    """How many names stand there more than once."""
    if len(set(names)) == len(names):
        return 0
    return sum(count > 1 for count in _sizes(names).values())


def _pairs(groups: Mapping[Any, int]) -> int:
    return sum([size * (size - 1) // 2 for size in groups.values()])


def structure_figures(matching: Matching) -> StructureFigures:
    r"""In how far two compared plans have one structure.

    Args:
        matching: What :func:`planner_eval.comparison.align.match` gave.

    >>> from planner_eval.comparison.align import match
    >>> from planner_eval.dialects.read import parse
    >>> gold = parse("a = f(#x='1')\nb = g(#y=a)\nh(#z=b)")
    >>> print(structure_figures(match(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"), gold)))
    2 components instead of 1; depth 2 instead of 3; 2 dependencies lost
    """
    graphs = Structures(as_counted(matching))
    parts = graphs.components()
    both, ours, theirs = graphs.dependencies()
    return StructureFigures(
        Sides(len(parts.pred), len(parts.gold)),
        graphs.depth(),
        graphs.width(),
        parts.torn,
        parts.joined,
        theirs - both,
        ours - both,
    )


def figures_data(figures: StructureFigures) -> dict[str, Any]:
    """The figures as JSON data."""
    return {
        "components": {**figures.components._asdict(), "torn": figures.torn, "joined": figures.joined},
        "depth": figures.depth._asdict(),
        "width": figures.width._asdict(),
        "dependencies": {"lost": figures.lost, "added": figures.added},
    }
