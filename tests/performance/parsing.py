"""Reading: throughput of every shape, fast paths against grammars."""

import ast
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable

from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.plan.model import Call, Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse
from tests.performance.timing import ratio

SIZE = 100_000
"""Characters of the texts whose throughput is measured."""
SHAPES = {
    "json": "JSON calls", "nestful": "JSON with labels", "appbench": "AppBench lines",
    "openai-chat": "messages, arguments as JSON text", "hermes": "token-wrapped JSON",
    "mistral-v11": "name + JSON", "pythonic": "Python call list", "code": "Python program",
    "openai-programmatic": "JavaScript program", "qwen3-coder": "XML parameters",
    "bfcl-xml": "XML parameters, typed", "gemma": "Gemma's calls", "llmcompiler": "numbered plan",
    "t-eval": "#E1 = f(a)", "rewoo": "#E1 = Tool[text]", "taskbench": "nodes and links",
    "worfbench": "nodes and edges", "react": "ReAct", "callnavi-yaml": "YAML",
}  # fmt: skip


def plan_of(size: int, dialect: str) -> str:
    """A text of about `size` characters in a dialect: plain calls of three arguments."""

    def made(count: int) -> Plan:
        calls = []
        for i in range(count):
            named = (("city", f"Rome no. {i}"), ("nights", i), ("price", i / 8))
            given = {"worfbench": (), "rewoo": (("0", f"hotels in Rome, no. {i}"),)}.get(dialect, named)
            calls.append(Call(f"c{i}", f"find_hotels_{i % 7}", given))
        return Plan(tuple(calls))

    target = dialects.get(dialect).write
    assert target is not None
    each = len(target(made(50))) / 50
    return target(made(max(1, int(size / each))))


def processor(work: Callable[[], object], runs: int = 5) -> float:
    """The least processor seconds of some work: other programs on the machine count for little."""
    best = math.inf
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def throughput() -> Iterable[tuple[str, str, str]]:
    """MB/s and calls/s of each shape, beside json.loads or ast.parse of the same text where it can."""
    for dialect, what in SHAPES.items():
        text = plan_of(SIZE, dialect)
        spent = processor(lambda text=text, dialect=dialect: parse(text, dialect=dialect))  # type: ignore[misc]
        megabytes = len(text.encode()) / 1e6
        count = len(parse(text, dialect=dialect))
        beside = ""
        for name, other in (("json.loads", json.loads), ("ast.parse", ast.parse)):
            try:
                other(text)
            except (ValueError, SyntaxError):
                continue
            beside += f"; {name} {megabytes / processor(lambda f=other, t=text: f(t)):.1f} MB/s"  # type: ignore[misc]
        measured = f"{megabytes / spent:.1f} MB/s, {count / spent:,.0f} calls/s{beside}"
        yield f"{what} ({dialect})", measured, "≥ 1 MB/s"


def fast_paths() -> Iterable[tuple[str, str, str]]:
    """The fast path against the Lark grammar on the same text."""
    from planner_eval.reading.dialects.notations.appbench import read_fast, read_grammar

    texts = [plan_of(2_000, "appbench")] * 50
    ours, other, times = ratio(
        lambda: [read_fast(text) for text in texts], lambda: [read_grammar(text) for text in texts], 3
    )
    said = f"{times:.1f} × ({ours * 1e6 / len(texts):.0f} against {other * 1e6 / len(texts):.0f} µs a plan)"
    yield "AppBench lines: regex against grammar", said, "≥ 4 ×"
    for name, loader in (("nestful", "regex"), ("json", "json.loads")):
        dialect, text = dialects.get(name), plan_of(20_000, name)
        assert dialect.reference is not None
        ours, other, times = ratio(
            lambda d=dialect, t=text: d.read(t, DEFAULT_LIMITS),  # type: ignore[misc]
            lambda d=dialect, t=text: d.reference(t, DEFAULT_LIMITS),  # type: ignore[misc]
            3,
        )
        yield f"{SHAPES[name]}: {loader} against grammar", f"{times:.1f} ×", ""
    from planner_eval.reading.dialects.programs.python_calls import read_calls
    from planner_eval.reading.dialects.programs.python_calls import read_grammar as python_grammar

    text = plan_of(20_000, "pythonic")
    ours, other, times = ratio(lambda: read_calls(text, DEFAULT_LIMITS), lambda: python_grammar(text), 3)
    yield "Python call list: ast.parse against grammar", f"{times:.1f} ×", ""


def rows() -> Iterable[tuple[str, str, str]]:
    """All measurements of reading."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from throughput()
        yield from fast_paths()


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(" | ".join(row) + "\n")
