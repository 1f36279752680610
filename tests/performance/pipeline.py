"""Parse, link, compare, diff, score: the fast path beside the grammar, pairs a second, growth, files."""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import planner_eval as pe
from planner_eval.comparison.diff import diff
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.notations.appbench import read_fast, read_grammar
from planner_eval.reading.dialects.read import parse
from tests.conftest import reference_folder
from tests.performance.timing import growth, processor_seconds, ratio, seconds

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
        fast, slow, factor = ratio(lambda: [*map(read_fast, texts)], lambda: [*map(read_grammar, texts)])
        calls = sum(t.count("\n") + 1 for t in texts)
        shown = f"{factor:.1f} × ({fast / calls * 1e6:.1f} against {slow / calls * 1e6:.1f} µs a call)"
        yield f"fast path against the Lark grammar, {calls:,} AppBench lines", shown, "≥ 4 ×"
        plans = [parse(t) for t in texts]
        again = [parse(t) for t in texts]
        time = seconds(lambda: [same(parse(t), p) for t, p in zip(texts, plans, strict=True)])
        both = seconds(lambda: [same(parse(t), parse(t)) for t in texts])
        only = seconds(lambda: [same(p, q) for p, q in zip(plans, again, strict=True)])
        read = seconds(lambda: [json.loads(c) for c in contents])
        n = len(texts)
        yield f"parse + link both, equality: {n} gold pairs", f"{n / both:,.0f} pairs/s", ""
        yield "parse + link one (gold parsed once), equality", f"{n / time:,.0f} pairs/s", ""
        yield "equality alone", f"{n / only:,.0f} pairs/s", ""
        yield "only reading the JSON of the files", f"{n / read:,.0f} records/s", ""
        yield from pairs_and_files(folder, texts)
    for name, kinds in (("12 tools", 12), ("one tool", 1)):
        times = [seconds(lambda s=size, k=kinds: whole(s, k), 3) for size in SIZES]  # type: ignore[misc]
        per_call = ", ".join(f"{t / s * 1e6:.0f}" for t, s in zip(times, SIZES, strict=True))
        exponent = growth(SIZES, times)
        what = f"parse + link + diff, 10 to 10,000 calls of {name}: exponent (µs a call)"
        yield what, f"{exponent:.2f} ({per_call})", "≤ 1.15"


def pairs_and_files(folder: Path, appbench: list[str]) -> Iterator[tuple[str, str, str]]:
    """Texts of AppBench and NESTful against themselves and against one edit; files of pairs, end to end."""
    records = map(json.loads, (folder / "datasets/nestful/v2/nestful_v2_collected.jsonl").open())
    outputs = [record["output"] for record in records]
    golds = [*appbench, *(one if isinstance(one, str) else json.dumps(one) for one in outputs)]
    edited = [(edit(text, Random(at)), text) for at, text in enumerate(golds)]
    mixed = [pair if at % 2 else (pair[1], pair[1]) for at, pair in enumerate(edited)]
    sets = {"equal": [(text, text) for text in golds], "one edit": edited, "half one edit": mixed}
    for what, texts in sets.items():
        time = seconds(lambda texts=texts: [same(parse(a), parse(b)) for a, b in texts])  # type: ignore[misc]
        rate = f"{len(texts) / time:,.0f} pairs/s"
        yield f"parse + link both, equality: AppBench and NESTful, {what}", rate, "≥ 20,000"
    time = seconds(lambda: [pe.same(a, b) for a, b in mixed])
    yield "pe.same of the same texts, half one edit", f"{len(mixed) / time:,.0f} pairs/s", "≥ 20,000"
    lines = (folder / "datasets/raw_outputs/raw_outputs.jsonl").read_text(encoding="utf-8").splitlines()
    raw = [json.loads(line)["text"] for line in lines]
    many = [mixed[at % len(mixed)] for at in range(20_000)]
    neighbours = list(zip(raw, raw[1:] + raw[:1], strict=True))
    for what, pairs, command, target in (
        ("real outputs against their neighbours", neighbours, "diff", 250),
        ("20,000 pairs, half with one edit", many, "diff", 250),
        ("20,000 pairs, half with one edit", many, "score", 170),
    ):
        time = processor_seconds_of_file(pairs, command)
        yield f"planeval {command}, processor time of {what}", f"{time:,.0f} µs a pair", f"≤ {target} µs"


def processor_seconds_of_file(pairs: list[tuple[str, str]], command: str) -> float:
    """Microseconds a pair of a command on two files, less what it takes for the first two pairs."""
    with TemporaryDirectory() as made:
        times = []
        for count in (2, len(pairs)):
            names = [str(Path(made) / f"{side}-{count}.jsonl") for side in ("pred", "gold")]
            for side, name in enumerate(names):
                rows = ({"id": f"r{at}", "output": p[side]} for at, p in enumerate(islice(pairs, count)))
                Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            run = [sys.executable, "-m", "planner_eval", command, *names]
            times.append(min(processor_seconds(run) for _ in range(3)))
        return (times[1] - times[0]) / len(pairs) * 1e6


def edit(text: str, random: Random) -> str:
    """A text with one argument's value changed, or where there is none, with a call left out."""
    if text.startswith("["):
        calls = json.loads(text)
        given = [call["arguments"] for call in calls if call.get("arguments")]
        if given:
            arguments = random.choice(given)
            arguments[random.choice(list(arguments))] = "other"
        return json.dumps(calls if given else calls[1:])
    parts = text.split("='")
    if len(parts) == 1:
        return text.replace("(", "2(", 1)
    at = random.randrange(1, len(parts))
    return "='".join([*parts[:at], f"un{parts[at]}", *parts[at + 1 :]])


def whole(size: int, kinds: int) -> None:
    """Parse, link and compare one changed pair."""
    gold: Plan = parse(chained(size, kinds))
    assert not diff(parse(chained(size, kinds, changed=True)), gold).same
