"""What differs between two plans: edits with a code, a place on either side and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cache

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.resources import service
from planner_eval.comparison.explanation.edits import EDITS, Edit, Place
from planner_eval.comparison.gold_alternatives import (
    NO_ALTERNATIVES,
    AlternativeValues,
    find_alternative_values,
)
from planner_eval.comparison.matching.align import Alignment, Matching, match
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.plan.model import Edge, Path, Plan

__all__ = ["EDITS", "CallRole", "Diff", "EdgeRole", "Edit", "Place", "diff", "diff_any", "explain"]


class CallRole(NamedTuple):
    """One call of the two plans laid over one another.

    Args:
        role: ``"kept"``, ``"changed"``, ``"missing"`` (gold only) or ``"extra"`` (pred only).
        pred: Position in pred, None when missing.
        gold: Position in gold, None when extra.
    """

    role: str
    pred: int | None
    gold: int | None


class Divergence(NamedTuple):
    """The call at which two plans part: its plan (gold where it has it) and its position there."""

    plan: Plan
    position: int


class EdgeRole(NamedTuple):
    """One reference of the two plans laid over one another.

    Args:
        role: ``"kept"`` (in both plans, or in one where the policy lets it be), ``"wrong"`` (both plans
            have a reference there, to another producer or output), ``"missing"`` (gold only), ``"extra"``
            (pred only), or ``"inferred"``: nobody wrote it, and it makes no difference.
        pred: The edge in pred, None when missing.
        gold: The edge in gold, None when extra.
    """

    role: str
    pred: Edge | None
    gold: Edge | None


@fast_frozen
class Diff:
    """Two plans, how their calls pair, and what differs.

    Args:
        pred: The prediction.
        gold: What was wanted.
        alignment: Which call stands for which.
        edits: What differs, causes before consequences.
        matching: What the comparison worked out on the way, for who counts; side data.
        shortest: Whether no other set of edits is known to be cheaper; False where the search was bounded.

    >>> import planner_eval as pe
    >>> found = pe.diff("f(#x='1')", "f(#x='2')")
    >>> found.same, found.edits[0].code, found.alignment.pairs
    (False, 'argument.value', ((0, 0),))
    """

    pred: Plan
    gold: Plan
    alignment: Alignment
    edits: tuple[Edit, ...] = ()
    matching: Matching | None = field(default=None, compare=False, repr=False)
    shortest: bool = field(default=True, compare=False, repr=False)

    def __str__(self) -> str:
        """The comparison as ``planeval diff`` tells it: the verdict, then a line an edit."""
        text: str = service("diff text")(self)
        return text

    @property
    def same(self) -> bool:
        """Whether the two plans mean the same."""
        return not self.edits

    @property
    def roots(self) -> tuple[Edit, ...]:
        """The edits from which all others follow, those first that change most."""
        return tuple(edit for edit in self.edits if edit.cause is None)

    @property
    def first(self) -> Divergence | None:
        """The call at which the first root cause is."""
        for edit in self.roots:
            for plan, location in ((self.gold, edit.gold), (self.pred, edit.pred)):
                if location is not None and location.call is not None:
                    return Divergence(plan, location.call)
        return None

    @property
    def proved(self) -> bool:
        """Whether the pairing is proved optimal."""
        return self.alignment.proved

    def calls(self) -> Iterator[CallRole]:
        """The calls of both plans with their roles: gold's in gold's order, then pred's extra ones."""
        place_pairs = [pair for edit in self.edits for pair in edit.places]
        changed = {gold.call for pred, gold in place_pairs if gold is not None and pred is not None}
        paired = {gold: pred for pred, gold in self.alignment.pairs}
        for gold in range(len(self.gold.calls)):
            if gold in paired:
                yield CallRole("changed" if gold in changed else "kept", paired[gold], gold)
            else:
                yield CallRole("missing", None, gold)
        for pred in self.alignment.extra:
            yield CallRole("extra", pred, None)

    def edges(self) -> Iterator[EdgeRole]:
        """The references of both plans with their roles: gold's in gold's order, then pred's extra ones."""
        to_gold: dict[int, int] = dict(self.alignment.pairs)
        pred, gold = self.pred.written.edges, self.gold.written.edges
        granted = self._granted(to_gold)

        def key(edge: Edge, producer: int | None, consumer: int | None) -> tuple[object, ...]:
            if (consumer, edge.argument) in granted:
                return consumer, edge.argument, producer, edge.path
            return consumer, edge.argument, edge.at

        unmatched: dict[tuple[object, ...], list[Edge]] = {}
        for edge in reversed(pred):
            edge_key = key(edge, to_gold.get(edge.producer), to_gold.get(edge.consumer))
            unmatched.setdefault(edge_key, []).append(edge)
        for edge in gold:
            candidates = unmatched.get(key(edge, edge.producer, edge.consumer))
            if not candidates:
                is_granted = (edge.consumer, edge.argument) in granted
                yield EdgeRole("kept" if is_granted else "missing", None, edge)
                continue
            other = candidates.pop()
            same = to_gold.get(other.producer) == edge.producer and other.path == edge.path
            yield EdgeRole("kept" if same else "wrong", other, edge)
        seen = {id(edge) for edges in unmatched.values() for edge in edges}
        for edge in pred:
            if id(edge) in seen:
                is_granted = (to_gold.get(edge.consumer), edge.argument) in granted
                yield EdgeRole("kept" if is_granted else "extra", edge, None)
        yield from self._inferred(to_gold)

    def _granted(self, to_gold: dict[int, int]) -> set[tuple[int | None, str]]:
        """Arguments, by gold's calls, that are right because the policy or gold's terms say so."""
        matching = self.matching
        if matching is None or (matching.policy is DEFAULT_POLICY and matching.terms is NO_TERMS):
            return set()
        call_pairs = [pair for edit in self.edits for pair in edit.places]
        wrong = {(gold.call, gold.argument) for _, gold in call_pairs if gold}
        wrong |= {
            (to_gold.get(pred.call), pred.argument)
            for pred, _ in call_pairs
            if pred and pred.call is not None
        }
        arguments = (
            (gold, name)
            for pred, gold in to_gold.items()
            for name, _ in (*self.pred.calls[pred].arguments, *self.gold.calls[gold].arguments)
        )
        return {argument for argument in arguments if argument not in wrong}

    def _inferred(self, to_gold: dict[int, int]) -> Iterator[EdgeRole]:
        """The inferred edges of either plan, those that both have once."""
        shared: dict[tuple[int | None, int | None, str, Path], Edge]
        shared = {(e.producer, e.consumer, e.argument, e.at): e for e in self.gold.edges if e.inferred}
        for edge in self.pred.edges:
            if edge.inferred:
                key = to_gold.get(edge.producer), to_gold.get(edge.consumer), edge.argument, edge.at
                yield EdgeRole("inferred", edge, shared.pop(key, None))
        yield from (EdgeRole("inferred", None, edge) for edge in shared.values())

    def _repr_svg_(self) -> str | None:
        """How a notebook shows the diff: a drawing, or None where nothing can draw."""
        drawing: str | None = service("notebook drawing")(self)
        return drawing

    def _repr_html_(self) -> str | None:
        """How a notebook shows the diff where nothing can draw: as the command line tells it."""
        listing: str | None = service("notebook listing")(self)
        return listing


def diff(pred: Plan, gold: Plan, policy: Policy = DEFAULT_POLICY, terms: Terms = NO_TERMS) -> Diff:
    r"""Compare a plan with gold: which call stands for which, what differs, and why.

    Args:
        pred: The prediction.
        gold: What was wanted.
        policy: How values compare.
        terms: What the gold plan leaves open: optional calls, precedences, further accepted values.

    Returns:
        The difference; ``diff.same`` says whether the plans mean the same. Its plans are those that
        were compared: a policy may take inlined calls out or merge repeats.

    >>> from planner_eval.reading.dialects.read import parse
    >>> found = diff(parse("a = f(#x='1')\ng(#y=a)"), parse("a = f(#x='2')\ng(#y=a)"))
    >>> [(edit.code, edit.message) for edit in found.edits]
    [('argument.value', 'f (call 1): argument \'x\' is "1", expected "2"')]
    """
    return _restore_inferred_edges(explain(match(pred, gold, policy, terms)), pred, gold)


def _restore_inferred_edges(diff: Diff, pred: Plan, gold: Plan) -> Diff:
    """The comparison of two plans with what was inferred in them, which plays no part in it."""
    if pred.written is pred and gold.written is gold:
        return diff
    # What was inferred is shown, as far as the policy left the calls as they are.
    plan_pairs = ((pred, diff.pred), (gold, diff.gold))
    plans = [original if original.calls is compared.calls else compared for original, compared in plan_pairs]
    return replace(diff, pred=plans[0], gold=plans[1])


def explain(matching: Matching, alternatives: AlternativeValues = NO_ALTERNATIVES) -> Diff:
    """The edits for a matching that is known already.

    Args:
        matching: What :func:`planner_eval.comparison.matching.align.match` gave.
        alternatives: Values that other gold plans have in the place of this one's, which sentences name.
    """
    if matching.pairing is None and not matching.misplaced:
        return Diff(matching.pred, matching.gold, matching.alignment, (), matching)
    matching, edits, shortest = _load_explanation()(matching, alternatives)
    return Diff(matching.pred, matching.gold, matching.alignment, edits, matching, shortest)


@cache
def _load_explanation() -> Callable[[Matching, AlternativeValues], tuple[Matching, tuple[Edit, ...], bool]]:
    """What explains plans that differ; an import inside a function costs at each call."""
    from planner_eval.comparison.explanation.explain import explain_matching

    return explain_matching


class NearestDiff(NamedTuple):
    """The difference from the nearest of several gold plans, and which one it is, from 0."""

    diff: Diff
    number: int


def diff_any(pred: Plan, golds: Sequence[tuple[Plan, Terms]], policy: Policy = DEFAULT_POLICY) -> NearestDiff:
    """Compare a plan with several acceptable gold plans, and take the one it is nearest to.

    Args:
        pred: The prediction.
        golds: The acceptable gold plans, each with its terms; at least one.
        policy: How values compare.

    Returns:
        The nearest: fewest root causes, then fewest edits, then the first.
    """
    best: NearestDiff | None = None
    for number, (gold, terms) in enumerate(golds):
        difference = diff(pred, gold, policy, terms)
        if best is None or _size(difference) < _size(best.diff):
            best = NearestDiff(difference, number)
        if best.diff.same:
            break
    assert best is not None, "there is no gold plan to compare with"
    if len(golds) > 1 and best.diff.matching is not None and not best.diff.same:
        gold = golds[best.number][0]
        alternatives = find_alternative_values(gold, (plan for plan, _ in golds))
        if alternatives:
            best = best._replace(
                diff=_restore_inferred_edges(explain(best.diff.matching, alternatives), pred, gold)
            )
    return best


def _size(diff: Diff) -> tuple[int, int]:
    return len(diff.roots), len(diff.edits)
