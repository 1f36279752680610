"""Calls as a dialect gives them, drawn at random, and the plans that linking makes of them.

Labels given twice, names that several calls bind or none, references forward, to the call itself and in
circles, texts around references, expressions, objects that give a key twice. A plan with all its notes is one
line of tests/cases/linked.jsonl; ``pytest tests/test_linked.py --update-cases`` rewrites the file: review its
diff like code.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from planner_eval.base.errors import LimitError
from planner_eval.base.jsontext import Repeated
from planner_eval.plan.arithmetic import compute
from planner_eval.plan.canonical import compare, same
from planner_eval.plan.digest import digest
from planner_eval.plan.link import link
from planner_eval.plan.model import Plan, RawCall, RawComputed, RawPlan, RawRef, RawTemplate, Ref, Template
from planner_eval.plan.shape import shape
from planner_eval.plan.structure import argument_kinds, nesting_patterns
from planner_eval.plan.walk import holds, leaves, map_leaves
from tests.conftest import ROOT, AsKept

FILE = ROOT / "tests" / "cases" / "linked.jsonl"
COUNT = 100
LITERALS: tuple[Any, ...] = (0, 1.5, "a", None, True, [], {}, [1, {"k": "a"}], {"k": [None, "b"]})


def value(random: Random, names: str, depth: int = 2) -> Any:
    kind = random.randrange(9)
    if kind < 4:
        return RawRef(random.choice(names), random.choice(((), (), ("o",), ("p", 0))))
    if kind == 4:
        return RawTemplate(("to ", RawRef(random.choice(names)), random.choice(("!", RawRef("lost")))))
    if kind == 5:
        return RawComputed(random.choice(("1 + 2", "2 * x", "7 / 2", "x" * 70)))
    if kind == 6 and depth:
        inner = value(random, names, depth - 1)
        pairs = [("k", 1), (random.choice("kn"), inner)]
        return random.choice(([inner, 1], {"k": inner, "n": 2}, Repeated(pairs)))
    return random.choice(LITERALS)


def drawn(random: Random) -> RawPlan:
    """Up to twelve calls that bind few names."""
    count = random.choice((0, 1, 2, 3, 4, 5, 6, 12))
    names = random.choice(("ab", "abc", "abcdef"))
    calls = []
    for at in range(count):
        label = random.choice((None, None, random.choice(names), f"{random.choice(names)}_2", f"c{at}"))
        binds = [(label, ())] if label is not None and random.random() < 0.9 else []
        if random.random() < 0.5:
            binds.append((random.choice(names), random.choice(((), ("r",)))))
        given = [
            (random.choice("xyz"), value(random, names + random.choice(("", "q"))))
            for _ in range(random.choice((0, 1, 1, 2, 3)))
        ]
        calls.append(RawCall(random.choice("fg"), tuple(given), None, label, tuple(binds)))
    if count == 12 and random.random() < 0.5:  # a circle of many
        many = random.choice((9, 10, 11, 12))
        calls = [
            RawCall(
                "f", (("x", RawRef(f"n{(at + 1) % many if at < many else 99}")),), binds=((f"n{at}", ()),)
            )
            for at in range(count)
        ]
    answer = (("out", value(random, names)), ("out", 1)) if random.random() < 0.3 else None
    return RawPlan(tuple(calls), answer)


def said(seed: int) -> dict[str, Any]:
    """The plan that linking makes, with all its notes."""
    random = Random(f"linked {seed}")
    raw = drawn(random)
    found: dict[str, Any] = {"seed": seed, "raw": repr([(c.label, c.name, c.arguments) for c in raw.calls])}
    try:
        plan = link(raw, compute=random.choice((None, compute)), depth=random.choice((1, 2, 200)))
    except LimitError as error:
        return {**found, "refused": str(error)}
    values = [given for call in plan.calls for _, given in call.arguments]
    return {
        **found,
        "calls": [[call.id, call.name, repr(call.arguments)] for call in plan.calls],
        "answer": repr(plan.answer),
        "edges": [[e.producer, e.consumer, e.argument, e.at, e.path] for e in plan.edges],
        "notes": [[n.code, n.severity, n.call, n.argument, n.message] for n in plan.diagnostics],
        "holds": [[holds(one, Ref), holds(one, (Template, str))] for one in values],
        "leaves": [[[at, repr(leaf)] for at, leaf in leaves(one)] for one in values],
        "changed": repr([map_leaves(lambda leaf: "new" if leaf == "a" else leaf, one) for one in values]),
        "shape": [shape(plan), nesting_patterns(plan), argument_kinds(plan)],
        "digest": [digest(plan)[:8], digest(plan, values=False)[:8]],
    }


def test_what_linking_makes_of_each(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, range(COUNT)))


def test_linking_means_the_same_each_time_and_ids_are_unique() -> None:
    plans: list[Plan] = []
    for seed in range(COUNT):
        raw = drawn(Random(f"linked {seed}"))
        plan = link(raw)
        assert len({call.id for call in plan.calls}) == len(plan.calls), seed
        assert same(plan, link(raw)), seed
        plans.append(plan)
    for one, other in pairwise(plans):
        assert compare(one, other).same is (digest(one) == digest(other))
