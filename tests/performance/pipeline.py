"""Parse, link, compare: the fast path beside the grammar, pairs a second, growth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from planner_eval.comparison.diff import diff
from planner_eval.dialects.appbench_lines import read_fast, read_grammar
from planner_eval.dialects.read import parse
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan
from tests.conftest import reference_folder
from tests.performance.timing import growth, ratio, seconds

SIZES = (10, 100, 1_000, 10_000)


def chained(size: int, kinds: int = 12, changed: bool = False) -> str:
    """A NESTful plan of `size` calls of `kinds` tools, each using one earlier call's output."""
    calls = []
    for i in range(size):
        source: Any = f"$v{i - 1 - i % 5}.out$" if i > 5 else i
        value = i + 1 if changed and i % 10 == 0 else i
        arguments = {"source": source, "n": value, "unit": "km"}
        calls.append({"name": f"tool{i % kinds}", "label": f"v{i}", "arguments": arguments})
    return json.dumps(calls)


def rows() -> Iterable[tuple[str, str, str]]:
    """The figures of parsing and comparing."""
    folder = reference_folder()
    if folder is None:
        yield "gold plans of AppBench", "reference material not found", ""
    else:
        parts = [folder / f"datasets/appbench/test_{p}.json" for p in ("ss", "sm", "ms", "mm")]
        contents = [p.read_text() for p in parts]
        texts = ["\n".join(r["output"]["api_results"]) for c in contents for r in json.loads(c)]
        assert all(read_fast(t) == read_grammar(t) for t in texts)
        fast, slow, factor = ratio(each(read_fast, texts), each(read_grammar, texts))
        calls = sum(t.count("\n") + 1 for t in texts)
        shown = f"{factor:.1f} × ({fast / calls * 1e6:.1f} against {slow / calls * 1e6:.1f} µs a call)"
        yield f"fast path against the Lark grammar, {calls:,} AppBench lines", shown, "≥ 4 ×"
        plans = [parse(t) for t in texts]
        time = seconds(lambda: [same(parse(t), p) for t, p in zip(texts, plans, strict=True)])
        both = seconds(lambda: [same(parse(t), parse(t)) for t in texts])
        only = seconds(lambda: [same(p, q) for p, q in zip(plans, plans[:], strict=True)])
        read = seconds(lambda: [json.loads(c) for c in contents])
        n = len(texts)
        yield f"parse + link both, equality: {n} gold pairs", f"{n / both:,.0f} pairs/s", ""
        yield "parse + link one (gold parsed once), equality", f"{n / time:,.0f} pairs/s", ""
        yield "equality alone", f"{n / only:,.0f} pairs/s", ""
        yield "only reading the JSON of the files", f"{n / read:,.0f} records/s", ""
    for name, kinds in (("12 tools", 12), ("one tool", 1)):
        times = [seconds(lambda s=size, k=kinds: whole(s, k), 3) for size in SIZES]  # type: ignore[misc]
        per_call = ", ".join(f"{t / s * 1e6:.0f}" for t, s in zip(times, SIZES, strict=True))
        exponent = growth(SIZES, times)
        yield (
            f"parse + link + diff, 10 to 10,000 calls of {name}: exponent (µs a call)",
            f"{exponent:.2f} ({per_call})",
            "≤ 1.25" if kinds > 1 else "≤ 1.3",
        )


def each(work: Callable[[str], object], texts: list[str]) -> Callable[[], object]:
    """Work over all texts as one piece of work."""
    return lambda: [work(text) for text in texts]


def whole(size: int, kinds: int) -> None:
    """Parse, link and compare one changed pair."""
    gold: Plan = parse(chained(size, kinds))
    assert not diff(parse(chained(size, kinds, changed=True)), gold).same
