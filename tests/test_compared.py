"""Small pairs of plans with several mistakes each, drawn at random, and all that is said of them.

What is said of a pair is one line of tests/cases/compared.jsonl, which ``--update-cases`` rewrites. Laws hold
for the same pairs: the pairing is complete, no other costs less, and undoing the edits gives gold.
"""

from dataclasses import astuple
from random import Random
from typing import Any

import pytest

from planner_eval.comparison.diff import explain
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics import METRICS, measure
from planner_eval.comparison.patch import apply_patch, make_patch
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, NO_TERMS, Policy, Terms
from planner_eval.comparison.policy.values import Rule
from planner_eval.comparison.rows import structure_data, structure_lines
from planner_eval.plan.canonical import compare, digest, same
from planner_eval.plan.model import Call, Plan, Ref, Template, Unresolved
from planner_eval.plan.statistics import stats
from tests.build import edges
from tests.conftest import ROOT, AsKept
from tests.plant import KINDS

FILE = ROOT / "tests" / "cases" / "compared.jsonl"
COUNT = 150
POLICIES = {
    "default": DEFAULT_POLICY, "written": Policy(order="written"),
    "flat": Policy(order="flat", inline=True, answer=False),
    "free": Policy(order="free", repeats=False, stateful=("g",)),
    "lenient": Policy(rules=(
        Rule("*", compare=("casefold", "set")), Rule("*.y", tolerance=1), Rule("g.z", compare=("any",)),
        Rule("h.x", compare=("optional",)),
    ), wildcards=("A ",)),
}  # fmt: skip
INLINED = {"name": "f", "arguments": {"x": 1}}
LITERALS: tuple[Any, ...] = (
    *(0, 1, 2, 1.5, "a", "A ", "b, c", "c,b", None, True, [1, "a"], {"k": "a", "n": 2}, INLINED),
)


def drawn(random: Random) -> Plan:
    """A plan of one to seven calls: equal ones, circles, texts around references and an answer at times."""
    count = random.randint(1, 7)
    calls = []
    for at in range(count):
        given: list[tuple[str, Any]] = []
        for name in random.sample("xyz", random.choice((0, 1, 1, 2, 2, 3))):
            value = random.choice(LITERALS)
            if at and random.random() < 0.55:
                value = Ref(random.randrange(at), random.choice(((), ("o",), ("p", 0))))
                value = random.choice((value, value, value, [value, 1], Template(("to ", value, "!"))))
            elif random.random() < 0.06:
                value = random.choice((Ref(random.randrange(count), ("o",)), Unresolved("lost", ("o",))))
            given.append((name, value))
        if given and random.random() < 0.05:
            given.append((given[0][0], 3))
        if calls and random.random() < 0.15:
            calls.append(Call(f"c{at}", calls[-1].name, calls[-1].arguments, calls[-1].app))
        else:
            app = random.choice((None, None, None, "A"))
            calls.append(Call(f"c{at}", random.choice("ffgh"), tuple(given), app))
    answer = None
    if random.random() < 0.4:
        answer = (("out", Ref(random.randrange(count), ("o",))), ("note", random.choice(LITERALS)))
    return Plan(tuple(calls), edges(tuple(calls)), answer)


def pair(seed: int) -> tuple[Plan, Plan, str, Terms]:
    """The prediction, gold, the name of a policy, and what gold leaves open."""
    random = Random(seed)
    gold = drawn(random)
    pred = gold if random.random() < 0.9 else drawn(random)
    for _ in range(random.choice((0, 1, 1, 2, 3, 4))):
        planted = KINDS[random.choice([*KINDS])](pred, random)
        pred = planted.plan if planted is not None else pred
    ids = [call.id for call in gold.calls]
    terms = NO_TERMS
    if seed % 4 == 3:
        terms = Terms(
            optional=frozenset(random.sample(ids, 1)),
            before=(tuple(random.sample(ids, 2)),) if len(ids) > 1 else (),  # type: ignore[arg-type]
            unordered=(frozenset(ids[:2]),),
            accepted={ids[0]: {"x": (0, "a")}},
        )
    return pred, gold, [*POLICIES][seed % len(POLICIES)], terms


def text(plan: Plan) -> str:
    def value(given: Any) -> str:
        if isinstance(given, Ref):
            return ".".join((f"${given.call}", *map(str, given.path)))
        if isinstance(given, Template):
            return "".join(part if isinstance(part, str) else value(part) for part in given.parts)
        if isinstance(given, list):
            return "[" + ", ".join(map(value, given)) + "]"
        return repr(given)

    def arguments(given: Any) -> str:
        return ", ".join(f"{name}={value(item)}" for name, item in given)

    names = [f"{call.app}.{call.name}" if call.app else call.name for call in plan.calls]
    calls = [f"{name}({arguments(call.arguments)})" for name, call in zip(names, plan.calls, strict=True)]
    return "; ".join([*calls, *([f"answer {arguments(plan.answer)}"] if plan.answer else [])])


def said(seed: int) -> dict[str, Any]:
    """All that is said of one pair."""
    pred, gold, policy, terms = pair(seed)
    matching = match(pred, gold, POLICIES[policy], terms)
    found = explain(matching)
    figures = {name: tally and list(astuple(tally)) for name, tally in measure(matching, METRICS).items()}
    figures.pop("edit_distance", None)  # its third figure is a time
    return {
        "seed": seed, "policy": policy, "pred": text(pred), "gold": text(gold),
        "edits": [[e.code, e.message, e.cause] for e in found.edits],
        "pairs": [matching.alignment.pairs, matching.alignment.missing, matching.alignment.extra],
        "proved": found.proved, "misplaced": matching.misplaced,
        "structure": [structure_lines(found, whole=True), structure_data(found)], "figures": figures,
        "digests": [digest(gold)[:8], digest(gold, values=False)[:8]],
        "stats": list(astuple(stats(gold))[:-1]),
        "roles": [[role.role for role in found.calls()], [role.role for role in found.edges()]],
    }  # fmt: skip


def test_what_is_said_of_each_pair(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, (*range(COUNT), 3359)))


def test_undoing_the_edits_gives_gold_and_turned_round_misses_what_was_too_much() -> None:
    for seed in range(COUNT):
        pred, gold, _, _ = pair(seed)
        one, other = match(pred, gold), match(gold, pred)
        assert len(one.alignment.missing) == len(other.alignment.extra), seed
        assert compare(pred, gold, ordered=False).same is compare(gold, pred, ordered=False).same
        if one.alignment.proved and other.alignment.proved and not one.alignment.missing:
            costs = [
                side.pairing.total(at for _, at in side.alignment.pairs) if side.pairing else 0.0
                for side in (one, other)
            ]
            assert costs[0] == pytest.approx(costs[1], abs=1e-2), seed
        found = explain(one)
        if not any(edit.code == "order.broken" for edit in found.edits):
            assert same(apply_patch(pred, make_patch(found)), gold), seed


def test_an_argument_counts_at_most_one() -> None:
    for seed in range(COUNT):
        pairing = match(*pair(seed)[:2]).pairing
        for gold, pred in enumerate(pairing.to_pred) if pairing else ():
            if pred >= 0:
                assert all(0 < counted <= 1 for counted in pairing.differing(pred, gold, True).values()), seed
