"""In how far two plans have one structure: figures for every pair of a file, and what a pair says of them.

:func:`planner_eval.compare_structure` names the calls, on NetworkX; the figures are
equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import format_count
from planner_eval.comparison.counted import prepare_for_counting
from planner_eval.plan.graph import BLOCK, closure_size, component_leaders, levels, needed_marks, producers

if TYPE_CHECKING:
    from planner_eval.comparison.matching.align import Matching


class FigurePair(NamedTuple):
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

    components: FigurePair
    depth: FigurePair
    width: FigurePair
    torn: int
    joined: int
    lost: int
    added: int

    def __str__(self) -> str:
        """What differs, on one line; empty where nothing does."""
        clauses = []
        if self.components.pred != self.components.gold:
            clauses.append(
                f"{format_count(self.components.pred, 'component')} instead of {self.components.gold}"
            )
        elif self.torn or self.joined:
            clauses.append(f"{self.components.pred} components, grouped differently")
        if self.depth.pred != self.depth.gold:
            clauses.append(f"depth {self.depth.pred} instead of {self.depth.gold}")
        if self.lost:
            added = f", {self.added} added" if self.added else ""
            clauses.append(f"{format_count(self.lost, 'dependency')} lost{added}")
        elif self.added:
            clauses.append(f"{format_count(self.added, 'dependency')} added")
        return "; ".join(clauses)


class Structures:
    """The graphs of two compared plans as plain lists, without optional calls that were not made.

    Calls of gold are counted on here: ``pairs`` are partners' positions in ``pred`` and ``gold``.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.
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
            counted_calls = [call for call in range(len(self.gold)) if call not in matching.waived]
            new_position = {old: new for new, old in enumerate(counted_calls)}
            self.gold = [
                [new_position[p] for p in self.gold[call] if p in new_position] for call in counted_calls
            ]
            self.pairs = [(pred, new_position[gold]) for pred, gold in self.pairs]
        self.levels = levels(self.pred), levels(self.gold)

    def depth(self) -> FigurePair:
        """How many generations either plan has."""
        pred_levels, gold_levels = self.levels
        return FigurePair(max(pred_levels, default=-1) + 1, max(gold_levels, default=-1) + 1)

    def width(self) -> FigurePair:
        """How many calls the largest generation of either plan has."""
        gold_width = max(_count_names(self.levels[1]).values(), default=0)
        if self.pred is self.gold:
            return FigurePair(gold_width, gold_width)
        return FigurePair(max(_count_names(self.levels[0]).values(), default=0), gold_width)

    def components(self) -> Components:
        """The components of both plans, and which of them share partners."""
        gold_leaders = component_leaders(self.gold)
        if self.pred is self.gold:
            sizes = _count_names(gold_leaders)
            return Components(
                sizes, sizes, {(component, component): size for component, size in sizes.items()}
            )
        pred_leaders = component_leaders(self.pred)
        shared = _count_names([(pred_leaders[pred], gold_leaders[gold]) for pred, gold in self.pairs])
        return Components(_count_names(pred_leaders), _count_names(gold_leaders), shared)

    def dependencies(self) -> Overlap:
        """Pairs of calls of which one needs the other, by way of others too."""
        if self.pred is self.gold:
            count = closure_size(self.gold)
            return count, count, count
        number = list(range(len(self.gold), len(self.gold) + len(self.pred)))  # after gold's
        for pred, gold in self.pairs:
            number[pred] = gold
        shared_count = pred_count = gold_count = 0
        for first in range(0, len(self.gold) + len(self.pred), BLOCK):
            last = first + BLOCK
            marks = [1 << call - first if first <= call < last else 0 for call in number]
            pred_needed = needed_marks(self.pred, marks)
            marks = [1 << call - first if first <= call < last else 0 for call in range(len(self.gold))]
            gold_needed = needed_marks(self.gold, marks)
            pred_count += sum(map(int.bit_count, pred_needed))
            gold_count += sum(map(int.bit_count, gold_needed))
            shared_count += sum(
                [(pred_needed[pred] & gold_needed[gold]).bit_count() for pred, gold in self.pairs]
            )
        return shared_count, pred_count, gold_count


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
        return _count_repeated([gold for _, gold in self.shared])

    @property
    def joined(self) -> int:
        """Components of pred whose partners lie in several of gold."""
        return _count_repeated([pred for pred, _ in self.shared])

    @property
    def same(self) -> bool:
        """Whether each component has partners in one of the other plan, and that one in no other."""
        shared_count = len(self.shared)
        return shared_count == len(self.pred) == len(self.gold) and not self.torn and not self.joined

    def pairs(self) -> Overlap:
        """Pairs of calls that lie in one component."""
        return _count_pairs(self.shared), _count_pairs(self.pred), _count_pairs(self.gold)


def _count_names(groups: Iterable[_Name]) -> dict[_Name, int]:
    """How often each name stands there; a Counter takes a microsecond to be made."""
    sizes: dict[_Name, int] = {}
    for name in groups:
        sizes[name] = sizes.get(name, 0) + 1
    return sizes


def _count_repeated(names: list[int]) -> int:
    """How many names stand there more than once."""
    if len(set(names)) == len(names):
        return 0
    return sum(count > 1 for count in _count_names(names).values())


def _count_pairs(groups: Mapping[Any, int]) -> int:
    return sum([size * (size - 1) // 2 for size in groups.values()])


def structure_figures(matching: Matching) -> StructureFigures:
    r"""In how far two compared plans have one structure.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.

    >>> from planner_eval.comparison.matching.align import match
    >>> from planner_eval.reading.dialects.read import parse
    >>> gold = parse("a = f(#x='1')\nb = g(#y=a)\nh(#z=b)")
    >>> print(structure_figures(match(parse("a = f(#x='1')\nb = g(#y=a)\nh(#z='2')"), gold)))
    2 components instead of 1; depth 2 instead of 3; 2 dependencies lost
    """
    graphs = Structures(prepare_for_counting(matching))
    components = graphs.components()
    shared_count, pred_count, gold_count = graphs.dependencies()
    return StructureFigures(
        FigurePair(len(components.pred), len(components.gold)),
        graphs.depth(),
        graphs.width(),
        components.torn,
        components.joined,
        gold_count - shared_count,
        pred_count - shared_count,
    )


def figures_data(figures: StructureFigures) -> dict[str, Any]:
    """The figures as JSON data."""
    return {
        "components": {**figures.components._asdict(), "torn": figures.torn, "joined": figures.joined},
        "depth": figures.depth._asdict(),
        "width": figures.width._asdict(),
        "dependencies": {"lost": figures.lost, "added": figures.added},
    }
