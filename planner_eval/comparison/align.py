"""Which call of the prediction stands for which call of the gold plan.

Equal calls first; then the cheapest pairing of calls that share app and name; then calls of another
name where something speaks for a replacement. What is left is missing or extra. Of equally cheap pairings the
one is taken that means more, then one by :mod:`planner_eval.comparison.matching.ranks`: where calls are
written plays no part.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

from planner_eval.base.named import NamedTuple
from planner_eval.comparison.matching.blocks import CLOSE, DENSE, Block, least, solve
from planner_eval.comparison.matching.equal import pair_equal_calls, pair_twins_as_written
from planner_eval.comparison.matching.in_place import pair_in_place
from planner_eval.comparison.matching.names import Tool
from planner_eval.comparison.matching.order import Misplaced, find_misplaced
from planner_eval.comparison.matching.pairing import ALONE, FREE, Matcher, Pairing, Side
from planner_eval.comparison.matching.replaced import pair_replaced
from planner_eval.comparison.several import lead_lists
from planner_eval.plan.canonical import Key, Normaliser, Numbered, compare_numbered
from planner_eval.plan.isomorphism import Verdict
from planner_eval.plan.model import Plan
from planner_eval.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms

RECONSIDERED = 60
"""Up to this many calls of gold a pairing that breaks references is asked for again without ties."""


class Alignment(NamedTuple):
    """A one-to-one pairing of calls, and what it leaves over on either side.

    Args:
        pairs: Positions (in pred, in gold), by position in gold.
        missing: Positions in gold that no call of pred stands for.
        extra: Positions in pred that stand for no call of gold.
        proved: The pairing is proved optimal: no other that pairs as many calls of one name has fewer
            differing arguments. False where the search was bounded.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    missing: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()
    proved: bool = True

    @classmethod
    def of(cls, pairing: Pairing) -> Alignment:
        """The alignment of a pairing that is made."""
        partners = pairing.to_pred[: len(pairing.gold.tools)]  # without the answer
        pairs = tuple([(pred, gold) for gold, pred in enumerate(partners) if pred >= 0])
        missing = tuple([gold for gold, pred in enumerate(partners) if pred < 0])
        extra: tuple[int, ...] = ()
        if len(pairs) < len(pairing.pred.tools):
            extra = tuple([p for p in range(len(pairing.pred.tools)) if pairing.to_gold[p] < 0])
        return cls(pairs, missing, extra, pairing.proved)


class Matching(NamedTuple):
    """An alignment with what was worked out on the way, for those who count and explain.

    Args:
        pred: The prediction as it was compared: a policy may take inlined calls out, or merge repeats.
        gold: The gold plan, likewise.
        alignment: The alignment.
        numbered: What was compared of either plan, arguments as the policy leaves them.
        pairing: The costs of pairs; None where the plans are the same but for the order of calls.
        misplaced: Calls that stand against an order that the policy or the gold plan asks for.
        policy: How values were compared.
        terms: What the gold plan leaves open.
        counted: The plans are as figures count them, see :mod:`planner_eval.comparison.counted`.
        by_name: What figures count, where partners are as they are told, see
            :mod:`planner_eval.comparison.apart`; None where both are one.
    """

    pred: Plan
    gold: Plan
    alignment: Alignment
    numbered: tuple[Numbered, Numbered]
    pairing: Pairing | None = None
    misplaced: tuple[Misplaced, ...] = ()
    policy: Policy = DEFAULT_POLICY
    terms: Terms = NO_TERMS
    counted: bool = False
    by_name: Matching | None = None

    @property
    def alike(self) -> bool:
        """Whether pred is gold with its calls in another order, and in none that somebody minds.

        A policy may take for the same what is not, as it was written: lists in another order, a value for
        another.
        """
        if self.pairing is not None or self.misplaced:
            return False
        return self.counted or (self.policy is DEFAULT_POLICY and self.terms is NO_TERMS)

    @property
    def waived(self) -> frozenset[int]:
        """Optional calls of gold that were not made: they count as if gold did not have them."""
        if not self.terms.optional:
            return frozenset()
        calls, optional = self.gold.calls, self.terms.optional
        return frozenset(position for position in self.alignment.missing if calls[position].id in optional)


def align(pred: Plan, gold: Plan, policy: Policy = DEFAULT_POLICY) -> Alignment:
    r"""Pair the calls of two plans.

    Args:
        pred: The prediction.
        gold: What was wanted.
        policy: How values compare.

    Returns:
        The pairing with the fewest differing arguments, and whether that is proved.

    >>> from planner_eval.dialects.read import parse
    >>> align(parse("f(#x='1')\ng(#y='1')"), parse("g(#y='1')\nf(#x='2')\nh(#z='3')"))
    Alignment(pairs=((1, 0), (0, 1)), missing=(2,), extra=(), proved=True)
    """
    return match(pred, gold, policy).alignment


def match(pred: Plan, gold: Plan, policy: Policy = DEFAULT_POLICY, terms: Terms = NO_TERMS) -> Matching:
    """:func:`align` with the costs, for those who count and explain; what was inferred plays no part.

    Args:
        pred: The prediction.
        gold: What was wanted.
        policy: How values compare.
        terms: What the gold plan leaves open.
    """
    pred, gold = pred.written, gold.written
    if policy is DEFAULT_POLICY and terms is NO_TERMS:
        return _match(pred, gold, None, None, policy=policy, terms=terms)
    from planner_eval.comparison.matching.prepare import prepare
    from planner_eval.comparison.matching.rules import Rules

    pred, gold, terms = prepare(policy, pred, gold, terms)
    rules = Rules(policy, terms)
    return _match(pred, gold, rules.normalise, rules.matcher, policy=policy, terms=terms)


def _match(
    pred: Plan,
    gold: Plan,
    normalise: Normaliser | None,
    matcher: Matcher | None,
    *,
    policy: Policy,
    terms: Terms,
) -> Matching:
    table: dict[Key, int] = {}
    if pred is gold and normalise is None:  # of two equal texts one is read; each call stands for itself
        pred_numbered = gold_numbered = Numbered(pred, None)
        verdict = Verdict(True, mapping=tuple(range(len(pred.calls))))
    else:
        pred_numbered = Numbered(pred, table, normalise)
        gold_numbered = Numbered(gold, table, normalise)
        verdict = compare_numbered(pred_numbered, gold_numbered, table, ordered=policy.order != "free")
    if verdict.mapping is not None:
        pairs = sorted((image, position) for position, image in enumerate(verdict.mapping))
        alignment = Alignment(tuple((position, image) for image, position in pairs))
        pairing = None
    else:
        pairing = Pairing(Side(pred_numbered), Side(gold_numbered), matcher)
        pairing.respell(policy.tools)
        pairing.proved = verdict.proved
        if terms.optional:
            pairing.optional = frozenset(i for i, c in enumerate(gold.calls) if c.id in terms.optional)
        if terms is not NO_TERMS:
            pairing.open = {position: terms.of(call.id) for position, call in enumerate(gold.calls)}
        pair_equal_calls(pairing)
        in_place = pair_in_place(pairing)
        if not in_place:
            solve(pairing, _blocks(pairing))
            _reconsider(pairing, proved=verdict.proved)
        if pair_replaced(pairing) and not (in_place or pairing.settled):
            _by_replaced(pairing)
        pair_twins_as_written(pairing)
        lead_lists(pairing)
        alignment = Alignment.of(pairing)
    misplaced = find_misplaced(alignment.pairs, (pred_numbered, gold_numbered), policy, terms)
    return Matching(pred, gold, alignment, (pred_numbered, gold_numbered), pairing, misplaced, policy, terms)


def _blocks(pairing: Pairing) -> list[Block]:
    """The undecided calls by app and name, by rank; what needs no choice is decided here."""
    blocks: dict[Tool, Block] = {}
    for tool, partner, gold in zip(pairing.gold.tools, pairing.to_pred, count()):
        if partner == FREE:
            blocks.setdefault(tool, Block([], [])).golds.append(gold)
    for tool, partner, pred in zip(pairing.pred.tools, pairing.to_gold, count()):
        if partner == FREE:
            if tool in blocks:
                blocks[tool].preds.append(pred)
            else:
                pairing.to_gold[pred] = ALONE
    pred_count, gold_count = len(pairing.pred.tools), len(pairing.gold.tools)
    if len(pairing.to_gold) > pred_count and len(pairing.to_pred) > gold_count:
        pairing.pair(pred_count, gold_count)  # the answers
    open_blocks = []
    for block in blocks.values():
        if len(block.golds) == 1 == len(block.preds):
            pairing.pair(block.preds[0], block.golds[0])
        elif block.preds:
            open_blocks.append(block)
        else:
            pairing.release([], block.golds, ALONE)
    if not open_blocks:
        return []
    ranks = pairing.ranks
    ranked = {
        (golds := ranks.golds(block.golds))[0]: Block(golds, ranks.preds(block.preds))
        for block in open_blocks
    }
    return [ranked[first] for first in ranks.golds(ranked)]


def _reconsider(pairing: Pairing, *, proved: bool) -> None:
    """Ask again without holding equal calls together, where that may have cost something.

    Two calls may be equal by mistake: made equal by one wrong reference. Only for the sake of references can
    another pairing be cheaper, and only if it makes one right that holding calls together makes wrong.
    """
    golds = range(len(pairing.gold.tools))
    counts = Counter(pairing.pred.tools)  # no name twice, no choice
    if len(counts) == len(pairing.pred.tools) and len({*pairing.gold.tools}) == len(golds):
        return
    cost = pairing.total(range(len(pairing.to_pred)))
    all_paired = ALONE not in pairing.to_pred and ALONE not in pairing.to_gold
    if cost < CLOSE or (all_paired and cost <= 1 and pairing.matcher is None) or not _crossed(pairing):
        return
    if sum(counts[tool] for tool in pairing.gold.tools) > DENSE:
        pairing.proved = False
        return
    to_gold, to_pred = list(pairing.to_gold), list(pairing.to_pred)
    pairing.release(range(len(pairing.pred.tools)), range(len(golds)))
    blocks = _blocks(pairing)
    if least(pairing, blocks) >= cost - CLOSE:
        pairing.proved = True
    elif len(golds) > RECONSIDERED:
        pairing.proved = False
    else:
        pairing.proved = proved
        solve(pairing, blocks)
        if pairing.total(range(len(to_pred))) < cost - CLOSE:
            pairing.settled = False  # an equal call may have another partner now
            return
    pairing.to_gold, pairing.to_pred = to_gold, to_pred


def _by_replaced(pairing: Pairing) -> None:
    """Pair equal calls anew, by calls of other tools that have partners now.

    Which of equal calls is which their consumers tell. A consumer that had no partner while they were paired
    said nothing: what it takes may have become wrong.
    """
    pred, gold = pairing.pred, pairing.gold
    if all(
        len({*plan_calls.numbered.numbers}) == len(plan_calls.numbered.numbers) for plan_calls in (pred, gold)
    ):
        return
    replaced = {
        g: p for g, p in enumerate(pairing.to_pred[: len(gold.tools)])
        if p >= 0 and pred.tools[p] != gold.tools[g]
    }  # fmt: skip
    golds = [gold_position for gold_position in range(len(gold.tools)) if gold_position not in replaced]
    preds = {*range(len(pred.tools))}.difference(replaced.values())
    counts = Counter(pred.tools)
    if sum(counts[gold.tools[gold_position]] for gold_position in golds) > DENSE:
        return
    all_golds = range(len(pairing.to_pred))
    cost, proved = pairing.total(all_golds), pairing.proved
    to_gold, to_pred = list(pairing.to_gold), list(pairing.to_pred)
    pairing.release(preds, golds)
    solve(pairing, _blocks(pairing))
    if pairing.total(all_golds) >= cost - CLOSE:
        pairing.to_gold, pairing.to_pred, pairing.proved = to_gold, to_pred, proved


def _crossed(pairing: Pairing) -> bool:
    """Whether calls of one tool take, under one argument, from calls of one tool that are not partners.

    One of those has to be held to a partner by being equal to it; without that the search has weighed it.
    """
    pred_producers, gold_producers = _taken(pairing.pred), _taken(pairing.gold)
    for key in pred_producers.keys() & gold_producers.keys():
        for pred in pred_producers[key]:
            if any(pairing.to_gold[pred] != gold for gold in gold_producers[key]):
                return True
    return False


def _taken(plan_calls: Side) -> dict[Any, set[int]]:
    """The calls that are referred to, by their tool, that of the one that refers, and its argument."""
    producers_by_use: dict[Any, set[int]] = {}
    for consumer in range(len(plan_calls.known)):
        for name, (_, producers, _) in plan_calls.arguments(consumer).items():
            for producer in producers:
                producers_by_use.setdefault(
                    (plan_calls.tool(consumer), name, plan_calls.tools[producer]), set()
                ).add(producer)
    return producers_by_use
