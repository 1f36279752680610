"""Comparing: pairs a second beside other scorers, what each gets wrong, bounded searches.

Peers are measured where $PLANEVAL_PEERS names interpreters (paths with colons between) of environments in
which they are installed, e.g. ``pip install deepdiff agentevals autoevals deepeval networkx`` in one and
``pip install ragas 'langchain-community<0.4.2'`` in another. They take turns with ours on the same pairs.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from planner_eval.base.resources import folder
from planner_eval.comparison.diff import diff
from planner_eval.comparison.matching.align import match
from planner_eval.comparison.metrics import DEFAULT_METRICS, measure
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Call, Plan, Ref
from planner_eval.reading.dialects.notations.plan import to_data
from planner_eval.results.selftest import compare_pairs
from tests.build import edges
from tests.conftest import reference_folder
from tests.plant import KINDS, topological
from tests.real_plans import real_plans

COUNTS = ("exact", "calls", "whole_calls", "argument_names", "argument_values", "references")
MISTAKES = ("call_missing", "call_duplicated", "call_replaced", "argument_value", "reference_literal",
            "reference_producer")  # fmt: skip


def rows() -> Iterator[tuple[str, str, str]]:
    """The figures of comparing."""
    reference = reference_folder()
    if reference is None:
        yield "1,000 perturbed AppBench pairs", "reference material not found", ""
    else:
        yield from _rates(perturbed(real_plans(reference)[:801]))
    yield from _bounded()


def perturbed(plans: tuple[Plan, ...], count: int = 1_000) -> list[tuple[Plan, Plan]]:
    """Pairs (changed, gold): one mistake of several kinds, or only another order, in equal parts."""
    random = Random(1)
    found: list[tuple[Plan, Plan]] = []
    while len(found) < count:
        gold = random.choice(plans)
        kind = random.choice([*MISTAKES, "order"])
        planted = None if kind == "order" else KINDS[kind](gold, random)
        pred = topological(gold, random) if kind == "order" else planted and planted.plan
        if pred is not None:
            found.append((pred, gold))
    return found


def _rates(pairs: list[tuple[Plan, Plan]]) -> Iterator[tuple[str, str, str]]:
    ours: dict[str, Callable[[Plan, Plan], object]] = {
        "verdict": same, "verdict and counts": lambda p, g: measure(match(p, g), COUNTS),
        f"verdict and all {len(DEFAULT_METRICS)} metrics": lambda p, g: measure(match(p, g), DEFAULT_METRICS),
        "full explanation": diff,
    }  # fmt: skip
    rates: dict[str, list[float]] = {name: [] for name in ours}
    peers: dict[str, list[float]] = {}
    wrong: dict[str, list[str]] = {}
    for _ in range(3):
        for name, work in ours.items():
            rates[name].append(best_rate(lambda pair, work=work: work(*pair), pairs))  # type: ignore[misc]
        for row in _peers(pairs):
            peers.setdefault(row["name"], []).append(row["rate"])
            wrong[row["name"]] = row["wrong"]
    right = sum(answer.right for answer in compare_pairs() if not answer.disputed)
    for name in ours:
        yield f"ours: {name}", f"{max(rates[name]):,.0f} pairs/s", ""
    yield "ours: undisputed pairs of the selftest answered right", f"{right} of 30", "30"
    counts, told = max(rates["verdict and counts"]), max(rates["full explanation"])
    if not peers:
        yield "peers", "none: $PLANEVAL_PEERS names no interpreter", ""
    for name, found in sorted(peers.items(), key=lambda item: -max(item[1])):
        rate = max(found)
        missed = f"wrong on {len(wrong[name])} of 30: {' '.join(wrong[name])}"
        target = "≥ 12 × and ≥ 1.5 ×" if name == "deepdiff" else "> 1 ×" if "names" not in name else ""
        shown = f"{rate:,.0f}/s; counts {counts / rate:.1f} ×, explanation {told / rate:.1f} ×"
        yield f"{name}: {missed}", shown, target


def best_rate(work: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Items a second in the quickest of three runs: what the machine does when others leave it alone."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for item in items:
            work(item)
        times.append(time.perf_counter() - start)
    return len(items) / min(times)


def _peers(pairs: list[tuple[Plan, Plan]]) -> Iterator[dict]:  # type: ignore[type-arg]
    """What other interpreters measure on the same pairs."""
    names = [name for name in os.environ.get("PLANEVAL_PEERS", "").split(os.pathsep) if name]
    if not names:
        return
    script = Path(__file__).with_name("peers.py")
    selftest = folder("data") / "selftest" / "plan_pairs.json"
    with TemporaryDirectory() as place:
        file = Path(place) / "pairs.json"
        file.write_text(json.dumps([[to_data(plan)["calls"] for plan in pair] for pair in pairs]))
        for name in names:
            command = [name, str(script), str(file), str(selftest)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
            for line in done.stdout.splitlines():
                if line.startswith('{"name"'):
                    yield json.loads(line)


def _bounded() -> Iterator[tuple[str, str, str]]:
    """Pairs that no search can settle exactly in time: how long they take, and what is said."""
    random = Random(7)
    count = 2_000
    gold = Plan(tuple(Call(f"c{i}", "f", (("x", i % 50), ("y", i))) for i in range(count)))
    drawn = ((("x", random.randint(0, 50)), ("y", -i - 1)) for i in range(count))
    pred = Plan(tuple(Call(f"c{i}", "f", given) for i, given in enumerate(drawn)))
    for name, one, other in (("2,000 calls of one name, all changed", pred, gold), _rings()):
        start = time.perf_counter()
        found = diff(one, other)
        spent = time.perf_counter() - start
        said = "proved" if found.proved else "not proved, and says so"
        yield f"{name}: seconds", f"{spent:.2f} ({said})", "≤ 10"


def _rings() -> tuple[str, Plan, Plan]:
    def rings(sizes: list[int]) -> Plan:
        calls: list[Call] = []
        for size in sizes:
            start = len(calls)
            calls += [Call(f"d{start}_{i}", "roll") for i in range(size)]
            calls += [
                Call(f"a{start}_{i}", "add", (("a", Ref(start + i)), ("b", Ref(start + (i + 1) % size))))
                for i in range(size)
            ]
        return Plan(tuple(calls), edges(tuple(calls)))

    return "a ring of 400 dice against two of 200", rings([400]), rings([200, 200])
