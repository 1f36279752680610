"""Small plans of calls that are nearly all equal, drawn at random, and all that is said of pairs of them.

Who uses a call is here what tells it from the others, some calls need one another in a circle, and the limits
of the searches are so small at times that plans of eight calls pass them. What is said of a pair is one line
of tests/cases/tangled.jsonl; ``pytest tests/test_tangled.py --update-cases`` rewrites the file: review its
diff like code.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, replace
from random import Random
from typing import Any

import pytest

from planner_eval.comparison.diff import diff_any, explain
from planner_eval.comparison.matching import align, blocks, ranks, replaced
from planner_eval.comparison.metrics import METRICS, measure
from planner_eval.comparison.metrics.edit_distance import distance_of
from planner_eval.comparison.patch import make_patch
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import structure_data, structure_lines
from planner_eval.plan import isomorphism
from planner_eval.plan.canonical import compare, digest
from planner_eval.plan.model import Call, Plan, Ref, Template
from planner_eval.plan.statistics import stats
from planner_eval.plan.structure import critical_path, topological_generations
from tests.build import edges, summarise
from tests.conftest import ROOT, AsKept
from tests.plant import KINDS, in_order, topological
from tests.test_compared import drawn, text

FILE = ROOT / "tests" / "cases" / "tangled.jsonl"
SEEDS = (*range(160), 2438, 2906, 4699, 5957, 7252, 12631, 25418, 26484, 33329, 36207, 36629, 38221, 38860)
"""The first, and of many others those that tell faults planted in the comparison that the first do not."""
BUDGETS = (1, 2, 5, 12, 30, 80)
NUMBERS: tuple[Any, ...] = (1, 1.05, 0, -2, 10**400, [1, 2], [2, 1.05], [1], {"k": 1}, {"k": 1.1}, {"n": 1})
TEXTS: tuple[Any, ...] = ("a", " A", "b, a", "a,b,c", "c", "7", ["a", "b"], ["B", "a"], ["b"], {"k": "a"}, "")
NEAR = (Rule("*", tolerance=0.1), Rule("g", relative=0.5), Rule("*", "y", default=1),
        Rule("h", "y", accepted=(0, "c")))  # fmt: skip
AMONG = (
    Rule("*", "x", compare=("casefold", "subset"), aliases={"c": "b"}),
    Rule("*", "y", compare=("superset",)), Rule("*", "z", compare=("unordered", "extra")),
    Rule("g", "z", pattern="[ab, ]+"), Rule("A.?", "x", compare=("ignore",)),
    Rule("h", "*", function=lambda ours, theirs: str(ours) < str(theirs)),
)  # fmt: skip
POLICIES = {
    "default": DEFAULT_POLICY, "near": Policy(rules=NEAR, defaults={("f", "x"): 1, ("A.f", "x"): 0}),
    "among": Policy(rules=AMONG, order="free"), "flat": Policy(order="flat", inline=True),
    "once": Policy(order="written", repeats=False, stateful=("g*",)),
}  # fmt: skip
LIMITS: tuple[dict[Any, dict[str, int]], ...] = (
    {}, {blocks: {"MAX_PROOF_STEPS": 3, "MAX_CONSUMER_STEPS": 12}, isomorphism: {"MAX_ROUNDS": 1}},
    {blocks: {"MAX_PLAIN_CELLS": 2, "MAX_TABLE_CELLS": 8, "MAX_HOLDERS": 2},
     replaced: {"MAX_TABLE_CELLS": 1, "MAX_HOLDERS": 1}},
    {blocks: {"MAX_NODES": 12, "MAX_ROUNDS": 1}, align: {"MAX_TIES": 1, "MAX_RECONSIDERED": 6}},
    {blocks: {"MAX_CALLS_FOR_STARTS": 3, "MAX_EXHAUSTIVE_CALLS": 3}, ranks: {"MAX_HOPS": 1}},
    {blocks: {"MAX_CALLS_FOR_STARTS": 0, "MAX_ROUNDS": 1}},
)  # fmt: skip


@contextmanager
def limited(limits: dict[Any, dict[str, int]]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, values in limits.items():
            for name, value in values.items():
                patch.setattr(module, name, value)
        yield


def tangle(random: Random, literals: tuple[Any, ...]) -> Plan:
    """A plan of up to nine calls with few names and values, many of them equal but for their references."""
    count = random.randint(0, 9)
    names = random.choice(("f", "fg", "fgh", "ffff", "fffg"))
    few = random.sample(literals, random.randint(1, 3))
    circles = random.random() < 0.2
    calls = []
    for at in range(count):
        given: list[tuple[str, Any]] = []
        for name in random.sample("xyz", random.choice((0, 1, 1, 2, 3))):
            value = random.choice(few)
            if at and random.random() < 0.6:
                value = Ref(random.randrange(at), random.choice(((), (), ("o",))))
                more: tuple[Any, ...] = ([value, Ref(random.randrange(at))], Template((value, "!")))
                value = random.choice((value,) * 5 + more)
            elif circles and random.random() < 0.4:
                value = Ref(random.randrange(count))
            given.append((name, value))
        if given and random.random() < 0.05:
            given.append((given[0][0], random.choice(few)))
        calls.append(Call(f"c{at}", random.choice(names), tuple(given), random.choice((None,) * 6 + ("A",))))
    answer = (("out", Ref(random.randrange(count))),) if count and random.random() < 0.3 else None
    return Plan(tuple(calls), edges(tuple(calls)), answer)


def pair(seed: int) -> tuple[Plan, Plan, str, Terms]:
    """The prediction, gold, the name of a policy, and what gold leaves open."""
    random = Random(f"tangled {seed}")
    policy = [*POLICIES][seed % len(POLICIES)]
    gold = tangle(random, TEXTS if policy == "among" else NUMBERS)
    pred = gold if random.random() < 0.9 else drawn(random)
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        planted = KINDS[random.choice([*KINDS])](pred, random)
        pred = planted.plan if planted is not None else pred
    if random.random() < 0.3:
        pred = changed(pred, random, TEXTS if policy == "among" else NUMBERS)
    moved = topological(pred, random) if random.random() < 0.6 else None
    if random.random() < 0.2:
        moved = in_order(pred, random.sample(range(len(pred.calls)), len(pred.calls)))
    terms = NO_TERMS
    if gold.calls and seed % 3 == 2:
        ids = [call.id for call in gold.calls]
        terms = Terms(
            optional=frozenset(random.sample(ids, min(2, len(ids)))),
            before=tuple(tuple(random.sample(ids, 2)) for _ in ids[1:3]),  # type: ignore[misc]
            unordered=(frozenset(random.sample(ids, len(ids) // 2)),),
            accepted={one: {"x": (0, "c", [1]), "z": ("a",)} for one in ids[:2]},
        )
    return moved or pred, gold, policy, terms


def changed(plan: Plan, random: Random, literals: tuple[Any, ...]) -> Plan:
    """The plan with other literals in place of some."""

    def other(value: Any) -> Any:
        return random.choice(literals) if not isinstance(value, Ref) and random.random() < 0.4 else value

    given = [tuple((name, other(value)) for name, value in call.arguments) for call in plan.calls]
    calls = tuple(replace(call, arguments=new) for call, new in zip(plan.calls, given, strict=True))
    return Plan(calls, edges(calls), plan.answer)


def said(seed: int) -> dict[str, Any]:
    """All that is said of one pair."""
    pred, gold, policy, terms = pair(seed)
    with limited(LIMITS[seed % 7 % len(LIMITS)]):
        matching = align.match(pred, gold, POLICIES[policy], terms)
        verdicts = [compare(pred, gold, budget=budget) for budget in BUDGETS]
    found = explain(matching)
    golds = [(gold, terms), (pred, NO_TERMS), (gold, NO_TERMS)]
    nearest = diff_any(pred, golds[seed % 2 :], POLICIES[policy])
    figures = {name: tally and list(astuple(tally)) for name, tally in measure(matching, METRICS).items()}
    figures.pop("edit_distance", None)  # its third figure is a time
    distance = distance_of(align.match(pred, gold)) if len(pred.calls) + len(gold.calls) < 9 else None
    return {
        "seed": seed, "policy": policy, "pred": text(pred), "gold": text(gold),
        "verdicts": [[one.same, one.proved, one.mapping] for one in verdicts],
        "edits": [[e.code, e.message, e.cause] for e in found.edits],
        "first": found.first and found.first.position,
        "pairs": [matching.alignment.pairs, matching.alignment.missing, matching.alignment.extra],
        "proved": found.proved, "misplaced": matching.misplaced, "waived": sorted(matching.waived),
        "nearest": [nearest.number, len(nearest.diff.edits)],
        "structure": structure_lines(found, whole=seed % 2 == 0),
        "data": structure_data(found, whole=seed % 2 == 1), "figures": figures if seed % 4 == 1 else None,
        "distance": distance and [distance.value, distance.proved],
        "digests": [digest(gold)[:8], digest(gold, values=False)[:8]],
        "order": [topological_generations(pred), critical_path(pred)],
        "summary": asdict(summarise([stats(gold), stats(pred)])) if seed % 8 == 0 else None,
        "patch": make_patch(found),
    }  # fmt: skip


def test_what_is_said_of_each_pair(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, SEEDS))


def test_a_proof_is_no_matter_of_the_budget() -> None:
    """What is proved with few steps is what many steps find, and a mapping keeps every reference."""
    for seed in SEEDS:
        pred, gold, _, _ = pair(seed)
        whole = compare(pred, gold)
        for budget in BUDGETS:
            verdict = compare(pred, gold, budget=budget)
            assert verdict.same is whole.same or not verdict.proved, seed
            if verdict.mapping is not None:
                order = sorted(range(len(pred.calls)), key=verdict.mapping.__getitem__)
                found = explain(align.match(in_order(pred, order), gold))
                assert {edit.code for edit in found.edits} <= {"order.broken"}, seed
