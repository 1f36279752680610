"""Reading: throughput of every shape, growth up to 10 MB, fast paths against grammars, peers."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from planner_eval import dialects
from planner_eval.base.errors import PlanevalError, WriteError
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.dialects.read import parse, write
from planner_eval.plan.model import Call, Plan
from tests.conftest import reference_folder
from tests.performance.timing import ratio

SIZE = 100_000
"""Characters of the texts whose throughput is measured."""
WIDE = Limits(chars=40_000_000, calls=2_000_000)
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


def exponent(make: Callable[[int], str], sizes: Iterable[int], **options: object) -> tuple[float, float]:
    """The exponent of the time's growth between the first and the last size, and the last time."""
    times = []
    used = []
    for size in sizes:
        text = make(size)
        best = math.inf
        for _ in range(3 if size < 1_000_000 else 1):
            start = time.process_time()
            with suppress(PlanevalError):
                parse(text, limits=WIDE, **options)  # type: ignore[arg-type]
            best = min(best, time.process_time() - start)
        times.append(best)
        used.append(len(text))
    return math.log(times[-1] / times[0]) / math.log(used[-1] / used[0]), times[-1]


HOSTILE: dict[str, Callable[[int], str]] = {
    "an unclosed quote in JSON": lambda n: '[{"name": "f", "arguments": {"a": "' + "x" * n,
    "an unclosed quote in an AppBench line": lambda n: "App: [f(#a='" + "x" * n,
    "an unclosed quote in Python": lambda n: "[f(a='" + "it's " * (n // 5),
    "one open bracket": lambda n: "[" * n, "f( over and over": lambda n: "f(" * (n // 2),
    "fences": lambda n: "```\n" * (n // 4), "fences of JSON": lambda n: "```json\n[]\n" * (n // 11),
    "open tool_call tags": lambda n: "<tool_call>{" * (n // 12),
    "open thoughts": lambda n: "<think>" * (n // 7), "backslashes": lambda n: "\\" * n,
    "apostrophes": lambda n: "'" * n,
    "lines of prose": lambda n: "some words of prose, and more.\n" * (n // 31),
    "lines that begin like calls": lambda n: "f(a=1) is good\n" * (n // 15),
}  # fmt: skip


def growth() -> Iterable[tuple[str, str, str]]:
    """Growth exponents from 10 kB to 10 MB: accepted text of the main shapes, and hostile text."""
    sizes = (10_000, 10_000_000)
    for dialect in ("json", "appbench", "pythonic", "hermes", "qwen3-coder", "mistral-v11"):
        slope, last = exponent(lambda n, d=dialect: plan_of(n, d), sizes, dialect=dialect)  # type: ignore[misc]
        yield f"growth 10 kB to 10 MB, {SHAPES[dialect]}", f"exponent {slope:.2f}, {last:.1f} s", "≤ 1.1"
    for what, make in HOSTILE.items():
        slope, last = exponent(make, sizes)
        yield f"growth 10 kB to 10 MB, {what}", f"exponent {slope:.2f}, {last:.1f} s", "≤ 1.1"


def fast_paths() -> Iterable[tuple[str, str, str]]:
    """The fast path against the Lark grammar on the same text."""
    from planner_eval.dialects.appbench_lines import read_fast, read_grammar

    folder = reference_folder()
    if folder is None:
        texts = [plan_of(2_000, "appbench")] * 50
        what = "lines of our own"
    else:
        texts = []
        for part in ("ss", "sm", "ms", "mm"):
            records = json.loads((folder / f"datasets/appbench/test_{part}.json").read_text(encoding="utf-8"))
            texts += ["\n".join(record["output"]["api_results"]) for record in records]
        texts = [text for text in texts if text]
        what = f"{len(texts)} gold plans"
    ours, other, times = ratio(
        lambda: [read_fast(text) for text in texts], lambda: [read_grammar(text) for text in texts], 3
    )
    said = f"{times:.1f} × ({ours * 1e6 / len(texts):.0f} against {other * 1e6 / len(texts):.0f} µs a plan)"
    yield f"AppBench, {what}: regex against grammar", said, "≥ 4 ×"
    for name, loader in (("nestful", "regex"), ("json", "json.loads")):
        dialect, text = dialects.get(name), plan_of(20_000, name)
        assert dialect.reference is not None
        ours, other, times = ratio(
            lambda d=dialect, t=text: d.read(t, DEFAULT_LIMITS),  # type: ignore[misc]
            lambda d=dialect, t=text: d.reference(t, DEFAULT_LIMITS),  # type: ignore[misc]
            3,
        )
        yield f"{SHAPES[name]}: {loader} against grammar", f"{times:.1f} ×", ""
    from planner_eval.dialects.python_calls import read_calls
    from planner_eval.dialects.python_calls import read_grammar as python_grammar

    text = plan_of(20_000, "pythonic")
    ours, other, times = ratio(lambda: read_calls(text, DEFAULT_LIMITS), lambda: python_grammar(text), 3)
    yield "Python call list: ast.parse against grammar", f"{times:.1f} ×", ""


# ---------------------------------------------------------------- peers
CALL = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {"b": "$var_1.result$"}}]'
BROKEN: dict[str, tuple[str, int]] = {
    "trailing commas": ('[{"name": "f", "arguments": {"a": 1,}}, {"name": "g", "arguments": {"b": 2}},]', 2),
    "Python repr": ("[{'name': 'f', 'arguments': {'a': True, 'b': None}}]", 1),
    "'it's late'": ("[{'name': 'f', 'arguments': {'a': 'it's late'}}]", 1),
    "cut inside a string": ('[{"name": "f", "arguments": {"city": "New Yo', 0),
    "cut after the first call": ('[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "argu', 0),
    "missing brace between calls": (
        '[{"name": "f", "arguments": {"a": 1}, {"name": "g", "arguments": {"b": 2}}]',
        2,
    ),
    "prose, fence and [1]": ('See [1]:\n```json\n[{"name": "f", "arguments": {"a": 1}}]\n```\n', 1),
    "two objects; in a row": ('{"name": "f", "arguments": {"a": 1}}; {"name": "g", "arguments": {}}', 2),
    "pythonic list": ("[f(a=1), g(b=[2, 3])]", 2),
    "AppBench line": ("App: [x = f(#a='1'), g(#b=x)]", 2),
    "unquoted $var_1.result$": (
        '[{"name": "f", "label": "$var_1", "arguments": {}}, '
        '{"name": "g", "label": "$var_2", "arguments": {"b": $var_1.result$}}]',
        2,
    ),
    "two names in one object": (
        '{"name": "f", "arguments": {"a": 1}, "name": "g", "arguments": {"b": 2}}',
        0,
    ),
    "no JSON": ("I cannot do that.", 0),
}
"""Section 2 of the specification: a broken text, and how many calls it says beyond doubt."""

_PEER = """
import json, sys
from importlib import import_module
name = sys.argv[1]
texts = json.load(sys.stdin)
def run(text):
    if name == "json_repair":
        return import_module("json_repair").loads(text)
    if name == "partial_json_parser":
        return import_module("partial_json_parser").loads(text)
    from bfcl_eval.model_handler.utils import default_decode_ast_prompting
    from bfcl_eval.constants.enums import ReturnFormat
    return default_decode_ast_prompting(text, ReturnFormat.PYTHON)
out = []
for text in texts:
    try:
        out.append(json.dumps(run(text), ensure_ascii=False, default=str))
    except BaseException as error:
        out.append("fails: " + type(error).__name__)
print(json.dumps(out))
"""


def peers() -> Iterable[tuple[str, str, str]]:
    """What each makes of broken text; peers run in the environment that PLANEVAL_PEERS names.

    That environment holds json_repair, partial-json-parser and, where it installs, bfcl-eval (with
    ``--no-deps``, tree_sitter 0.21.3, tree-sitter-java 0.21.0, tree-sitter-javascript 0.21.4).
    """
    for what, (text, count) in BROKEN.items():
        yield f"broken: {what}: planeval strict", _ours(text, repair=False), ""
        yield f"broken: {what}: planeval repaired", _ours(text, repair=True), f"{count} calls or an error"
    python = os.environ.get("PLANEVAL_PEERS")
    if not python or not Path(python).exists():
        yield "peers", "set PLANEVAL_PEERS to a Python that has them", ""
        return
    texts = [text for text, _ in BROKEN.values()]
    for name in ("json_repair", "partial_json_parser", "bfcl"):
        done = subprocess.run(
            [python, "-c", _PEER, name], input=json.dumps(texts), capture_output=True, text=True, timeout=300
        )
        if done.returncode:
            yield f"peer {name}", "not there: " + done.stderr.strip().splitlines()[-1][:80], ""
            continue
        for what, said in zip(BROKEN, json.loads(done.stdout), strict=True):
            yield f"broken: {what}: {name}", said[:100], ""


def _ours(text: str, *, repair: bool) -> str:
    try:
        plan = parse(text, repair=repair)
    except PlanevalError as error:
        return f"error: {getattr(error, 'reason', error)}"[:100]
    fixes = [note.code for note in plan.diagnostics if note.code.startswith("repair.")]
    try:
        said = write(plan, "nestful") if plan.calls else "no call"
    except WriteError:
        said = write(plan, "plan")
    return f"{len(plan)} calls {said[:70]} {' '.join(fixes)}"


def rows() -> Iterable[tuple[str, str, str]]:
    """All measurements of reading."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from throughput()
        yield from fast_paths()
        yield from growth()
        yield from peers()


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(" | ".join(row) + "\n")
