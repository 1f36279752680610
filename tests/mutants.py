"""Small faults planted one at a time in the code, and which of them no test notices.

    python -m tests.mutants [--limit N] [--seed S] [--minutes M] [MODULE…]

A deterministic sample of mutants: comparisons, ``and`` and ``or``, ``not``, arithmetic, numbers, truth
values, returned values, statements left out, entries of module tables left out. Each is tried in a copy of
the tree, by its module's own doctests and the test modules that concern it, up to the first that fails; one
that hangs counts as noticed. Survivors are printed as ``file:line: before -> after``. Some are equivalent:
no test can tell them.

mutmut was weighed: it puts a call between each function and its caller, which makes the tests of pairing
several times slower, and it leaves module tables alone.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import NamedTuple

from tests.conftest import ROOT, VARIABLE

COPIED = ("planner_eval", "grammars", "data", "viz", "tests", "docs", "pyproject.toml", "README.md")

PLAN = ("structure", "link", "canonical", "diff", "align", "comparison_docs")
PAIRING = ("align", "diff", "policy", "patch", "edit_distance")
WORDS = ("diff", "patch", "policy", "comparison_docs")
FIGURES = ("metrics", "score", "edit_distance", "policy")
STRUCTURE = ("structure_diff", "metrics", "comparison_docs")
RECORDS = ("files", "diff", "policy", "score", "door", "cli_honest")
TESTS: dict[str, tuple[str, ...]] = {
    "planner_eval/plan/model.py": PLAN,
    "planner_eval/plan/link.py": (*PLAN, "dialect_cases"),
    "planner_eval/plan/structure.py": (*PLAN, "metrics"),
    "planner_eval/plan/statistics.py": ("structure", "stats_datasets", "comparison_docs"),
    "planner_eval/plan/summary.py": ("structure", "stats_datasets", "comparison_docs"),
    "planner_eval/plan/canonical.py": PLAN,
    "planner_eval/plan/isomorphism.py": PLAN,
    "planner_eval/plan/digest.py": ("structure", "canonical", "policy", "stats_datasets"),
    "planner_eval/plan/rewire.py": (*PAIRING, "structure", "metrics"),
    "planner_eval/plan/bag.py": ("policy", "canonical"),
    "planner_eval/plan/walk.py": ("walk", *PLAN),
    "planner_eval/plan/topological.py": ("one_way", *PLAN),
    "planner_eval/plan/adjacency.py": ("structure", "structure_diff", "metrics"),
    "planner_eval/comparison/align.py": PAIRING,
    "planner_eval/comparison/structure_diff.py": STRUCTURE,
    "planner_eval/comparison/structure_figures.py": STRUCTURE,
    "planner_eval/comparison/structure_report.py": STRUCTURE,
    "planner_eval/comparison/structure_words.py": STRUCTURE,
    "planner_eval/comparison/matching": (*PAIRING, "metrics"),
    "planner_eval/comparison/diff.py": WORDS,
    "planner_eval/comparison/explain.py": WORDS,
    "planner_eval/comparison/causes.py": WORDS,
    "planner_eval/comparison/edits.py": WORDS,
    "planner_eval/comparison/sentences.py": (*WORDS, "cli"),
    "planner_eval/comparison/patch.py": ("patch", "diff"),
    "planner_eval/metrics": FIGURES,
    "planner_eval/metrics/edit_distance.py": ("edit_distance", "metrics"),
    "planner_eval/records": RECORDS,
}
"""Module or folder → the test modules that concern it, quick ones first."""

SWAPPED: dict[type, str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
}


class Mutant(NamedTuple):
    """One planted fault."""

    file: str
    line: int
    before: str
    after: str
    source: str


# ---------------------------------------------------------------- planting
def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """Every fault that can be planted in a module."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = source.encode()
    for node, new, shown in _faults(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        changed = (text[:start] + new.encode() + text[end:]).decode()
        try:
            compile(changed, file, "exec")
        except SyntaxError:
            continue
        before, after = (shown, "left out") if shown else (text[start:end].decode(), new)
        yield Mutant(file, node.lineno, before, after, changed)


def _faults(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """What is put in the place of a node; for a table, the entry that is left out."""
    tables = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and "__all__" not in ast.unparse(node)
    ]
    for table in tables:
        yield from _shorter(table)
    for node in _walk(tree):
        if isinstance(node, ast.expr):
            for new in _expressions(node):
                yield node, f"({new})", ""
        elif isinstance(node, ast.stmt):
            yield from ((node, new, "") for new in _statements(node))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but annotations, docstrings, imports, and what stands in formatted texts."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Import | ast.ImportFrom):
                yield from _walk(child)


def _shorter(table: ast.expr) -> Iterator[tuple[ast.expr, str, str]]:
    """A table of a module with one of its entries left out."""
    if isinstance(table, ast.Call) and table.args:  # frozenset({…})
        table = table.args[0]
    if not isinstance(table, ast.Tuple | ast.List | ast.Set | ast.Dict):
        return
    entries = [*table.keys] if isinstance(table, ast.Dict) else table.elts
    for gone, entry in enumerate(entries) if len(entries) > 1 else ():
        kept = [at for at in range(len(entries)) if at != gone]
        if isinstance(table, ast.Dict):
            new: ast.expr = ast.Dict([table.keys[at] for at in kept], [table.values[at] for at in kept])
        else:
            new = type(table)([table.elts[at] for at in kept])  # type: ignore[call-arg]
        yield table, ast.unparse(ast.fix_missing_locations(new)), ast.unparse(entry) if entry else "**"


def _expressions(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in SWAPPED:
            yield f"{_in(left)} {SWAPPED[type(op)]} {_in(right)}"
        case ast.BoolOp(op, values):
            yield (" or " if isinstance(op, ast.And) else " and ").join(map(_in, values))
        case ast.UnaryOp(ast.Not(), operand):
            yield ast.unparse(operand)
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            yield f"{_in(left)} {SWAPPED[type(op)]} {_in(right)}"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int() | float() as value):
            yield from (repr(value + 1), repr(value - 1))


def _in(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _statements(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Return(value) if value is not None and not (
            isinstance(value, ast.Constant) and not value.value
        ):
            yield "return None"
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "pass"
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "pass"


# ---------------------------------------------------------------- trying
def modules(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Every module of the table, or those of these names, with the tests that concern it."""
    found = {}
    for where, tests in TESTS.items():
        path = ROOT / where
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if not names or {file.stem, file.parent.name, where} & set(names):
                found[file.relative_to(ROOT).as_posix()] = tests
    return found


def noticed(tree: Path, file: str, tests: Sequence[str], seconds: float) -> bool:
    """Whether a test fails, or hangs, on the tree as it is now."""
    paths = [file, *(f"tests/test_{name}.py" for name in tests)]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", *paths]
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE}
    environment |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def copy(to: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to / name)


def main() -> int:
    """Print the survivors and the share that was noticed; 1 where the share is below 90 %."""
    parser = argparse.ArgumentParser(description="Which planted faults no test notices.")
    parser.add_argument("--limit", type=int, default=150, help="mutants to try (150)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0)")
    parser.add_argument(
        "--minutes", type=float, default=30, help="begin no further mutant after so long (30)"
    )
    parser.add_argument("modules", nargs="*", help="names of modules or folders; all by default")
    asked = parser.parse_args()
    os.nice(10)
    chosen = modules(asked.modules)
    if not chosen:
        parser.error(f"no module {', '.join(asked.modules)}; there are {', '.join(TESTS)}")
    everything = [m for file in chosen for m in mutants_of(file, (ROOT / file).read_text("utf-8"))]
    sample = Random(asked.seed).sample(everything, min(asked.limit, len(everything)))
    print(
        f"{len(sample)} of {len(everything)} mutants of {len(chosen)} modules, seed {asked.seed}", flush=True
    )
    began, tried, survivors = monotonic(), 0, 0
    limits: dict[tuple[str, ...], float] = {}
    with TemporaryDirectory() as folder:
        tree = Path(folder)
        copy(tree)
        for mutant in sample:
            tests = chosen[mutant.file]
            if tests not in limits:
                start = monotonic()
                if noticed(tree, mutant.file, tests, 600):
                    print(f"{mutant.file}: its tests fail without any mutant: {', '.join(tests)}")
                    return 2
                limits[tests] = 10 + 3 * (monotonic() - start)
            if monotonic() - began > 60 * asked.minutes:
                break
            tried += 1
            (tree / mutant.file).write_text(mutant.source, "utf-8")
            if not noticed(tree, mutant.file, tests, limits[tests]):
                survivors += 1
                before, after = (" ".join(text.split()) for text in (mutant.before, mutant.after))
                print(f"{mutant.file}:{mutant.line}: {before} -> {after}", flush=True)
            shutil.copy(ROOT / mutant.file, tree / mutant.file)
    share = (tried - survivors) / tried if tried else 0.0
    print(f"{tried - survivors} of {tried} noticed ({share:.1%}), {monotonic() - began:.0f} s")
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
