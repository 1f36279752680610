"""Which call of the prediction stands for which call of the gold plan.

Equal calls first; then the cheapest pairing of calls that share app and name; then calls of another
name where something speaks for a replacement. What is left is missing or extra. Of equally cheap pairings the
one is taken that means more, then one by :mod:`planner_eval.comparison.matching.pairing`: where calls are
written plays no part.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.comparison.matching.blocks import MAX_TABLE_CELLS, TOLERANCE, Block, lower_bound, solve
from planner_eval.comparison.matching.likeness import Tool
from planner_eval.comparison.matching.order import Misplaced, find_misplaced
from planner_eval.comparison.matching.pairing import ALONE, FREE, Argument, Matcher, Pairing, PlanCalls
from planner_eval.comparison.matching.replaced import pair_lists_with_first_call, pair_replaced
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.plan.canonical import Key, Normaliser, NumberedPlan, compare_numbered
from planner_eval.plan.isomorphism import Verdict
from planner_eval.plan.model import Call, Plan

# ----------------------------------------------------------------------
# Equal calls of two plans: partners before anything is searched, and which where nothing tells them.
MAX_TIES = 50
"""Up to this many equal calls it is worth asking which stands for which; more are paired by rank."""


def pair_equal_calls(pairing: Pairing) -> None:
    """Pair calls of equal numbers; those of which there are several only when nobody uses them.

    Where a policy takes unequal values for right, an equal call need not be the best partner, so calls
    of one name are left to be weighed against one another.
    """
    pred_numbers, gold_numbers = pairing.pred.numbered.numbers, pairing.gold.numbered.numbers
    single = dict(zip(pred_numbers, range(len(pred_numbers)), strict=True))
    pairing.settled = (
        pairing.matcher is None
        and len(single) == len(pred_numbers)
        and len({*gold_numbers}) == len(gold_numbers)
        and None not in single
        and None not in gold_numbers
    )
    if not pairing.settled:
        _pair_tied(pairing, pred_numbers, gold_numbers)
        return
    for gold, number in enumerate(gold_numbers):
        if number in single:
            pairing.pair(single[number], gold)


def _pair_tied(pairing: Pairing, pred_numbers: list[int | None], gold_numbers: list[int | None]) -> None:
    """:func:`pair_equal_calls` where some plan has equal calls, or a policy has its say."""
    where: dict[int, list[int]] = {}
    for position, number in reversed([*enumerate(pred_numbers)]):
        if number is not None:
            where.setdefault(number, []).append(position)
    equal: dict[int, list[int]] = {}
    for position, number in enumerate(gold_numbers):
        if number in where:
            equal.setdefault(number, []).append(position)
    counts = Counter((*pairing.pred.tools, *pairing.gold.tools)) if pairing.matcher is not None else None
    for number, golds in equal.items():
        preds = where[number]
        if counts is not None and counts[pairing.gold.tool(golds[0])] > 2:
            if counts[pairing.gold.tool(golds[0])] <= 2 * MAX_TIES:
                continue
            pairing.proved = False
        if len(golds) > 1 or len(preds) > 1:
            used = any(pairing.gold.users[g] for g in golds) or any(pairing.pred.users[p] for p in preds)
            if used and max(len(golds), len(preds)) <= MAX_TIES:
                continue
            pairing.proved = pairing.proved and not used
            preds, golds = _order_equal_calls(pairing, preds, golds, used=used)
        for gold in golds:
            if preds:
                pairing.pair(preds.pop(), gold)


def _order_equal_calls(
    pairing: Pairing, preds: list[int], golds: list[int], *, used: bool
) -> tuple[list[int], list[int]]:
    """Equal calls in an order in which they can be paired; the first of pred is the last of its list.

    Where it does not matter which stands for which, the first of pred do, for later ones repeat them; if gold
    has more of them, those at the same places.
    """
    if used or pairing.open or pairing.gold.numbered.producers(golds[0]):
        preds, golds = pairing.ranks.preds(preds)[::-1], pairing.ranks.golds(golds)
        return preds, sorted(golds, key=pairing.optional.__contains__)
    shared = {*preds}.intersection(golds) if len(golds) > len(preds) else ()
    for position in shared:
        pairing.pair(position, position)
    return [p for p in preds if p not in shared], [p for p in golds if p not in shared]


def pair_twins_as_written(pairing: Pairing) -> None:
    """Exchange partners of calls that nothing tells apart so that they come in one order in both plans.

    Where there are too few partners the first ones have them. No figure depends on it but those of order, and
    these are the better for it.
    """
    if not pairing.ranked:
        return
    for in_gold, groups in enumerate(pairing.ranks.twins()):
        partner = pairing.to_pred if in_gold else pairing.to_gold
        for calls in groups:
            partners = sorted(partner[position] for position in calls if partner[position] >= 0)
            for position, partner_position in zip(calls, partners, strict=False):
                pairing.pair(*((partner_position, position) if in_gold else (position, partner_position)))
            alone = calls[len(partners) :]
            pairing.release(() if in_gold else alone, alone if in_gold else (), ALONE)


# ----------------------------------------------------------------------
# Plans that differ in a call or a few, each where gold has it: the pairing that the search would find.
#
# Most predictions that are wrong are so in one argument. Then the search for the cheapest pairing, which
# fills a table of costs for each name that is called twice, ends where it began, and scoring a plan with one
# planted fault takes 6 % longer.
MAX_CALLS = 50
"""Calls up to which the search looks at each pair of calls of one name."""

MAX_STEPS = 20_000
"""Steps up to which it proves what it finds."""


NO_POSITION = -1
"""The place of no call."""


def pair_in_place(pairing: Pairing) -> bool:
    """Pair each call with the one at its place in gold, where that is what the search would do, and proves.

    It is so where the plans call the same tools in the same order, all references go to the same places, and
    of the calls of one tool at most one differs in anything else. For then

    - the number of arguments that differ is a distance, for it is counted name by name. Let a call of gold
      be the one that differs from its partner. Any other pairing of its tool's calls leads from it, by
      calls that are the same on both sides, to that partner: the distances on this way are no less in sum;
    - so are, counted alike, those of argument names, references and values, by which the search breaks ties,
      and no other pairing has more calls that are right in all: it finds this one for each name by itself,
      and proves it, for no reference of it is broken.

    And where one call is of a tool that gold never calls, and nothing differs in the others: that call and
    gold's at its place stay alone. For it is alone in any pairing, and each argument that takes its output
    counts as much in any, but where it counts more; here nothing else counts.

    A plan may hold equal calls. Then another pairing may be as good in all this, and stands for another order
    of what nothing tells apart: the search ends with the one as written. What would tell equal calls apart
    but does not count in the search, references of arguments that differ, is left to it.

    Args:
        pairing: Plans whose equal calls are paired, as far as nobody uses several of one number.

    Returns:
        Whether it has been done; else nothing more is paired than was.
    """
    pred, gold = pairing.pred, pairing.gold
    count = len(pairing.to_pred)
    if (
        count > MAX_CALLS
        or count != len(pairing.to_gold)
        or pairing.matcher is not None
        or not pairing.proved
    ):
        return False
    renamed = _find_renamed_call(pred.tools, gold.tools)
    if renamed is None or not _can_pair_in_place(pairing, renamed):
        return False
    uses = len(gold.numbered.plan.edges)
    if count > len(gold.tools):  # the answer refers, too
        uses += sum(len(producers) for _, producers, _ in gold.arguments(count - 1).values())
    if count * (count + uses) > MAX_STEPS:
        return False
    pairing.to_gold, pairing.to_pred = [*range(count)], [*range(count)]
    if renamed != NO_POSITION:
        pairing.release([renamed], [renamed], ALONE)
    return True


def _can_pair_in_place(pairing: Pairing, renamed: int) -> bool:
    """Whether each call may be paired with the one at its place, but for one that calls another tool."""
    pred, gold, settled = pairing.pred, pairing.gold, pairing.settled
    if not settled and None in gold.numbered.numbers:
        return False
    changed: set[Tool] = set()
    for position, partner in enumerate(pairing.to_pred):
        if partner == position and settled:
            continue
        if partner != position and (partner != FREE or pairing.to_gold[position] != FREE):
            return False
        same = _has_same_arguments(pred.arguments(position), gold.arguments(position), strict=not settled)
        if same is None:
            return False
        if not same and position != renamed:
            tool = gold.tool(position)
            if tool in changed or renamed != NO_POSITION:
                return False
            changed.add(tool)
    return True


def _find_renamed_call(pred_tools: list[Tool], gold_tools: list[Tool]) -> int | None:
    """The only place at which pred calls another tool, one that gold never calls; None where it is not so."""
    if pred_tools == gold_tools:
        return NO_POSITION
    if len(pred_tools) != len(gold_tools):
        return None
    differing = [
        i
        for i, (pred_tool, gold_tool) in enumerate(zip(pred_tools, gold_tools, strict=True))
        if pred_tool != gold_tool
    ]
    return differing[0] if len(differing) == 1 and pred_tools[differing[0]] not in gold_tools else None


def _has_same_arguments(
    pred_args: dict[Any, Argument], gold_args: dict[Any, Argument], *, strict: bool
) -> bool | None:
    """Whether the arguments of two calls are the same; None where what they refer to is not.

    Args:
        pred_args: Those of pred's call.
        gold_args: Those of gold's.
        strict: Arguments that differ have to refer to the same calls, too, all together.
    """
    same = len(pred_args) == len(gold_args)
    for name, (shape, producers, _) in gold_args.items():
        pred_arg = pred_args.get(name)
        if pred_arg is None or pred_arg[0] != shape:
            same = False
        elif pred_arg[1] != producers:
            return None
    if strict and not same and _producers(pred_args) != _producers(gold_args):
        return None
    return same


def _producers(arguments: dict[Any, Argument]) -> list[int]:
    return sorted(producer for _, producers, _ in arguments.values() for producer in producers)


# ----------------------------------------------------------------------
# Which call of the prediction stands for which call of the gold plan.
MAX_RECONSIDERED = 60
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
        pairs = tuple(pairing.pairs())
        missing = tuple([gold for gold in range(len(pairing.gold.tools)) if pairing.to_pred[gold] < 0])
        extra = tuple([pred for pred in range(len(pairing.pred.tools)) if pairing.to_gold[pred] < 0])
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
        counted: As figures count them, see :mod:`planner_eval.comparison.counted`.
        by_name: What figures count, where partners are as they are told, see
            :mod:`planner_eval.comparison.explanation.partners`; None where both are one.
        failed: The prediction's calls that failed, where these do not count.
    """

    pred: Plan
    gold: Plan
    alignment: Alignment
    numbered: tuple[NumberedPlan, NumberedPlan]
    pairing: Pairing | None = None
    misplaced: tuple[Misplaced, ...] = ()
    policy: Policy = DEFAULT_POLICY
    terms: Terms = NO_TERMS
    counted: bool = False
    by_name: Matching | None = None
    failed: tuple[Call, ...] = ()

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

    >>> from planner_eval.reading.dialects.read import parse
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
    from planner_eval.comparison.matching.rules import Rules, drop_extra_calls, list_failed_calls, prepare

    failed = list_failed_calls(pred, policy)
    pred, gold, terms = prepare(policy, pred, gold, terms)
    rules = Rules(policy, terms)
    matching = _match(pred, gold, rules.normalise, rules.matcher, policy=policy, terms=terms)
    matching = matching._replace(failed=failed)
    if policy.extra == "count" or not matching.alignment.extra:
        return matching
    pred = drop_extra_calls(matching.numbered, [position for position, _ in matching.alignment.pairs], policy)
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
        pred_numbered = gold_numbered = NumberedPlan(pred, None)
        verdict = Verdict(True, mapping=tuple(range(len(pred.calls))))
    else:
        pred_numbered = NumberedPlan(pred, table, normalise)
        gold_numbered = NumberedPlan(gold, table, normalise)
        verdict = compare_numbered(pred_numbered, gold_numbered, table, ordered=policy.order != "free")
    if verdict.mapping is not None:
        pairs = sorted((image, position) for position, image in enumerate(verdict.mapping))
        alignment = Alignment(tuple((position, image) for image, position in pairs))
        pairing = None
    else:
        pairing = Pairing(PlanCalls(pred_numbered), PlanCalls(gold_numbered), matcher)
        pairing.respell(policy.tools)
        pairing.proved = verdict.proved
        if terms.optional:
            pairing.optional = frozenset(i for i, c in enumerate(gold.calls) if c.id in terms.optional)
        if terms is not NO_TERMS:
            pairing.open = {position: terms.of(call.id) for position, call in enumerate(gold.calls)}
        pair_equal_calls(pairing)
        in_place = pair_in_place(pairing)
        if not in_place:
            solve(pairing, _make_blocks(pairing))
            _reconsider(pairing, proved=verdict.proved)
        if pair_replaced(pairing) and not (in_place or pairing.settled):
            _pair_by_replaced(pairing)
        pair_twins_as_written(pairing)
        pair_lists_with_first_call(pairing)
        alignment = Alignment.of(pairing)
    misplaced, proved = find_misplaced(alignment.pairs, (pred_numbered, gold_numbered), policy, terms)
    if not proved:
        alignment = alignment._replace(proved=False)
    return Matching(pred, gold, alignment, (pred_numbered, gold_numbered), pairing, misplaced, policy, terms)


def _make_blocks(pairing: Pairing) -> list[Block]:
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
    pred_tools, gold_tools = pairing.pred.tools, pairing.gold.tools
    if len({*pred_tools}) == len(pred_tools) and len({*gold_tools}) == len(gold_tools):
        return  # no name twice, no choice
    cost = pairing.total(range(len(pairing.to_pred)))
    all_paired = ALONE not in pairing.to_pred and ALONE not in pairing.to_gold
    if (
        cost < TOLERANCE
        or (all_paired and cost <= 1 and pairing.matcher is None)
        or not _has_crossed_producers(pairing)
    ):
        return
    counts = Counter(pred_tools)
    if sum(counts[tool] for tool in gold_tools) > MAX_TABLE_CELLS:
        pairing.proved = False
        return
    to_gold, to_pred = list(pairing.to_gold), list(pairing.to_pred)
    pairing.release(range(len(pred_tools)), range(len(gold_tools)))
    blocks = _make_blocks(pairing)
    if lower_bound(pairing, blocks) >= cost - TOLERANCE:
        pairing.proved = True
    elif len(gold_tools) > MAX_RECONSIDERED:
        pairing.proved = False
    else:
        pairing.proved = proved
        solve(pairing, blocks)
        if pairing.total(range(len(to_pred))) < cost - TOLERANCE:
            pairing.settled = False  # an equal call may have another partner now
            return
    pairing.to_gold, pairing.to_pred = to_gold, to_pred


def _pair_by_replaced(pairing: Pairing) -> None:
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
        gold_call: pred_call
        for pred_call, gold_call in pairing.pairs()
        if pred.tools[pred_call] != gold.tools[gold_call]
    }
    golds = [gold_position for gold_position in range(len(gold.tools)) if gold_position not in replaced]
    preds = {*range(len(pred.tools))}.difference(replaced.values())
    counts = Counter(pred.tools)
    if sum(counts[gold.tools[gold_position]] for gold_position in golds) > MAX_TABLE_CELLS:
        return
    all_golds = range(len(pairing.to_pred))
    cost, proved = pairing.total(all_golds), pairing.proved
    to_gold, to_pred = list(pairing.to_gold), list(pairing.to_pred)
    pairing.release(preds, golds)
    solve(pairing, _make_blocks(pairing))
    if pairing.total(all_golds) >= cost - TOLERANCE:
        pairing.to_gold, pairing.to_pred, pairing.proved = to_gold, to_pred, proved


def _has_crossed_producers(pairing: Pairing) -> bool:
    """Whether calls of one tool take, under one argument, from calls of one tool that are not partners.

    One of those has to be held to a partner by being equal to it; without that the search has weighed it.
    """
    pred_producers, gold_producers = (
        _find_producers_by_use(pairing.pred),
        _find_producers_by_use(pairing.gold),
    )
    return any(
        pairing.to_gold[pred] != gold
        for key in pred_producers.keys() & gold_producers.keys()
        for pred in pred_producers[key]
        for gold in gold_producers[key]
    )


def _find_producers_by_use(plan_calls: PlanCalls) -> dict[Any, set[int]]:
    """The calls that are referred to, by their tool, that of the one that refers, and its argument."""
    producers_by_use: dict[Any, set[int]] = {}
    for consumer, arguments in enumerate(plan_calls.all_arguments()):
        for name, (_, producers, _) in arguments.items():
            for producer in producers:
                producers_by_use.setdefault(
                    (plan_calls.tool(consumer), name, plan_calls.tools[producer]), set()
                ).add(producer)
    return producers_by_use
